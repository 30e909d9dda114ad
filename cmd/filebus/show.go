package main

import (
	"context"

	"filebus/cmd/filebus/cli"
)

type showCommand struct {
	MaxTokens int `flag:"max-tokens" least:"0"`
}

func (o *showCommand) Do(ctx context.Context, w *cli.Work, args []string) error {
	return w.ShowRecord(ctx, args[0], o.MaxTokens)
}

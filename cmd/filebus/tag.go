package main

import (
	"context"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/knowledge"
)

func listTags(ctx context.Context, w *cli.Work, args []string) error {
	counts, err := w.Reader.TagCounts(ctx, append(args, "")[0])
	if err != nil {
		return err
	}
	return w.PresentTable(knowledge.TagRows(counts),
		cli.Presentation{JSON: func(int) any { return knowledge.TagsJSON{Tags: counts} }, None: "no tags"})
}

type tagEdit struct{ remove bool }

func (o *tagEdit) Do(ctx context.Context, w *cli.Work, args []string) error {
	v, err := w.VersionOf(ctx, args[0])
	if err != nil {
		return err
	}
	add, remove := args[1:], []string(nil)
	if o.remove {
		add, remove = remove, add
	}
	result, err := w.Tag(ctx, v.Record.Name, add, remove)
	if err != nil {
		return err
	}
	return printStored(w.Environ, result)
}

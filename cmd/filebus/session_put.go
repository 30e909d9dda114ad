package main

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	sessions "filebus/cmd/filebus/session"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

type sessionPut struct {
	Summary     string `flag:"summary" not:"summary-file"`
	SummaryFile string `flag:"summary-file"`
	Agent       string `flag:"agent"`
	Expect      string `flag:"expect"`
	Format      string `flag:"format"`
}

func (*sessionPut) prepare(cmd *cobra.Command) {
	cmd.Args = cobra.RangeArgs(1, 3) // FILEBUS_SESSION may stand for the ID
}

func (o *sessionPut) run(ctx context.Context, w *workspace, args []string) error {
	if err := checkFormat(o.Format); err != nil {
		return err
	}
	text, rest := w.sessionArg(args)
	if of := w.or("", "FILEBUS_SESSION"); len(args) == 1 || len(args) == 2 && args[1] == "-" && of != "" {
		text, rest = of, args
		if text == "" {
			return coded(record.Usage, "filebus session put ID "+record.ShellWord(args[0])+" FILE", sessions.Unset(""))
		}
	}
	request := sessions.PutRequest{
		Artifact: rest[0], Agent: w.or(o.Agent, "FILEBUS_AGENT"), Summary: o.Summary,
	}
	file := append(rest, "-")[1]
	if o.SummaryFile == "-" && file == "-" {
		return usageError("standard input is the text or the summary, not both")
	}
	in, err := w.openInput(file)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	request.Text = in
	if err := o.readSummary(w.environ, &request); err != nil {
		return err
	}
	f, err := w.findSession(ctx, text, false)
	if err != nil {
		return err
	}
	if request.Expect, err = f.expectation(ctx, o.Expect); err != nil {
		return err
	}
	put, err := f.registry.Put(ctx, f.key, request)
	if err == nil && !put.Unchanged {
		err = f.registry.Reopen(ctx, f.key)
	}
	if err != nil {
		return err
	}
	return w.printReference(o.Format, put.Reference(), put)
}

func (o *sessionPut) readSummary(env *environ, request *sessions.PutRequest) error {
	if o.SummaryFile == "" {
		return nil
	}
	const maxSummaryFile = 1 << 20 // how many bytes a summary has at most before its words are counted
	in, err := env.readFile(o.SummaryFile, maxSummaryFile)
	if err != nil {
		return err
	}
	if !in.whole {
		return sessions.TooLong(markdown.Words(in.text))
	}
	if request.Summary = string(in.text); strings.TrimSpace(request.Summary) == "" {
		return usageError("the summary in %s is empty", o.SummaryFile)
	}
	return nil
}

type sessionPathJSON struct {
	Session sessions.Key `json:"session"`
	File    string       `json:"file"` // absolute
	Exists  bool         `json:"exists"`
}

func printSessionPath(ctx context.Context, w *workspace, args []string) error {
	f, err := w.findSession(ctx, args[0], false)
	if err != nil {
		return err
	}
	file, err := f.registry.Path(ctx, f.key, args[1:]...)
	if err != nil {
		return err
	}
	_, err = os.Lstat(file)
	return w.print(sessionPathJSON{f.key, file, err == nil}, "%s\n", file)
}

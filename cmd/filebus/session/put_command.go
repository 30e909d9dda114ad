package session

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/cli"
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

func (*sessionPut) Prepare(cmd *cobra.Command) {
	cmd.Args = cobra.RangeArgs(1, 3) // FILEBUS_SESSION may stand for the ID
}

func (o *sessionPut) Do(ctx context.Context, w *cli.Work, args []string) error {
	if err := cli.CheckFormat(o.Format); err != nil {
		return err
	}
	text, rest := sessionArg(w.Environ, args)
	if of := w.Or("", "FILEBUS_SESSION"); len(args) == 1 || len(args) == 2 && args[1] == "-" && of != "" {
		text, rest = of, args
		if text == "" {
			return cli.Coded(record.Usage, "filebus session put ID "+record.ShellWord(args[0])+" FILE", Unset(""))
		}
	}
	request := PutRequest{
		Artifact: rest[0], Agent: w.Or(o.Agent, "FILEBUS_AGENT"), Summary: o.Summary,
	}
	file := append(rest, "-")[1]
	if o.SummaryFile == "-" && file == "-" {
		return cli.UsageError("standard input is the text or the summary, not both")
	}
	in, err := w.OpenInput(file)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	request.Text = in
	if err := o.readSummary(w.Environ, &request); err != nil {
		return err
	}
	f, err := findSession(ctx, w.Environ, text, false)
	if err != nil {
		return err
	}
	if request.Expect, err = f.Expectation(ctx, o.Expect); err != nil {
		return err
	}
	put, err := f.sessions.Put(ctx, f.key, request)
	if err == nil && !put.Unchanged {
		err = f.sessions.Reopen(ctx, f.key)
	}
	if err != nil {
		return err
	}
	return w.PrintReference(o.Format, put.Reference(), put)
}

func (o *sessionPut) readSummary(env *cli.Environ, request *PutRequest) error {
	if o.SummaryFile == "" {
		return nil
	}
	const maxSummaryFile = 1 << 20 // how many bytes a summary has at most before its words are counted
	in, err := env.ReadFile(o.SummaryFile, maxSummaryFile)
	if err != nil {
		return err
	}
	if !in.Whole {
		return TooLong(markdown.Words(in.Text))
	}
	if request.Summary = string(in.Text); strings.TrimSpace(request.Summary) == "" {
		return cli.UsageError("the summary in %s is empty", o.SummaryFile)
	}
	return nil
}

// SessionPathJSON is what a command prints with --json.
type SessionPathJSON struct {
	Session Key    `json:"session"`
	File    string `json:"file"` // absolute
	Exists  bool   `json:"exists"`
}

func printSessionPath(ctx context.Context, w *cli.Work, args []string) error {
	f, err := findSession(ctx, w.Environ, args[0], false)
	if err != nil {
		return err
	}
	file, err := f.sessions.Path(ctx, f.key, args[1:]...)
	if err != nil {
		return err
	}
	_, err = os.Lstat(file)
	return w.Print(SessionPathJSON{f.key, file, err == nil}, "%s\n", file)
}

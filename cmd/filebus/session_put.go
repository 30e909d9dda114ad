package main

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/markdown"
	sessions "filebus/materialize/session"
	"filebus/store/record"
)

type sessionPutOptions struct {
	summary, summaryFile, agent, expect, format string
}

func newSessionPutCommand(env *environ) *cobra.Command {
	var opts sessionPutOptions
	cmd := newCommand("put ID ARTIFACT [FILE|-]", cobra.RangeArgs(1, 3), func(ctx context.Context, args []string) error {
		return runSessionPut(ctx, env, opts, args)
	})
	flags := cmd.Flags()
	flags.StringVar(&opts.summary, "summary", "", "")
	flags.StringVar(&opts.summaryFile, "summary-file", "", "")
	flags.StringVar(&opts.agent, "agent", "", "")
	flags.StringVar(&opts.expect, "expect", "", "")
	flags.StringVar(&opts.format, "format", formatJSON, "")
	cmd.MarkFlagsMutuallyExclusive("summary", "summary-file")
	return cmd
}

func runSessionPut(ctx context.Context, env *environ, opts sessionPutOptions, args []string) error {
	if opts.format != formatJSON && opts.format != formatLine {
		return usageError("unknown format %q: a reference is printed as json or as a line", opts.format)
	}
	text, rest := env.sessionArg(args)
	if of := env.or("", "FILEBUS_SESSION"); len(args) == 1 || len(args) == 2 && args[1] == "-" && of != "" {
		text, rest = of, args
		if text == "" {
			return coded(record.Usage, "filebus session put ID "+quote(args[0])+" FILE", sessions.Unset(""))
		}
	}
	request := sessions.PutRequest{Artifact: rest[0], Agent: env.or(opts.agent, "FILEBUS_AGENT"), Summary: opts.summary, Text: env.in}
	fromInput := len(rest) == 1 || rest[1] == "-"
	if opts.summaryFile == "-" && fromInput {
		return usageError("standard input is the text or the summary, not both")
	}
	if !fromInput {
		f, err := openInput(env, rest[1])
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // only read
		request.Text = f
	}
	if err := opts.readSummary(env, &request); err != nil {
		return err
	}
	f, err := env.findSession(ctx, text, false)
	if err != nil {
		return err
	}
	if request.Expect, err = expectation(ctx, env, f.session, opts.expect); err != nil {
		return err
	}
	put, err := f.registry.Put(ctx, f.key, request)
	if err != nil {
		return err
	}
	return printReference(env, opts.format, put.Ref, put.Reference())
}

// maxSummaryFile is how many bytes a summary has at most before its words are
// counted.
const maxSummaryFile = 1 << 20

func (o sessionPutOptions) readSummary(env *environ, request *sessions.PutRequest) error {
	if o.summaryFile == "" {
		return nil
	}
	from := env.in
	if o.summaryFile != "-" {
		f, err := openInput(env, o.summaryFile)
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }() // only read
		from = f
	}
	in, err := readLimited(from, maxSummaryFile)
	if err != nil {
		return err
	}
	if !in.whole {
		return sessions.TooLong(markdown.Words(in.text))
	}
	if request.Summary = string(in.text); strings.TrimSpace(request.Summary) == "" {
		return usageError("the summary in %s is empty", o.summaryFile)
	}
	return nil
}

func newSessionPathCommand(env *environ) *cobra.Command {
	return newCommand("path ID [ARTIFACT]", cobra.RangeArgs(1, 2), func(ctx context.Context, args []string) error {
		return runSessionPath(ctx, env, args)
	})
}

// A sessionPathJSON is the file of an artifact, or the folder, in JSON.
type sessionPathJSON struct {
	Session sessions.Key `json:"session"`
	File    string       `json:"file"` // absolute
	Exists  bool         `json:"exists"`
}

func runSessionPath(ctx context.Context, env *environ, args []string) error {
	f, err := env.findSession(ctx, args[0], false)
	if err != nil {
		return err
	}
	file, err := f.registry.Path(ctx, f.key, args[1:]...)
	if err != nil {
		return err
	}
	if env.global.json {
		_, err := os.Lstat(file)
		return env.printJSON(sessionPathJSON{f.key, file, err == nil})
	}
	env.printf("%s\n", file)
	return nil
}

package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	runs "filebus/materialize/run"
	sessions "filebus/materialize/session"
	"filebus/store/record"
)

func newSessionEndCommand(env *environ) *cobra.Command {
	status := ""
	cmd := &cobra.Command{
		Use:  "end [ID]",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return runSessionEnd(cmd.Context(), env, args, status) },
	}
	cmd.Flags().StringVar(&status, "status", "", "")
	return cmd
}

// A sessionEndJSON is a session that has ended, in JSON.
type sessionEndJSON struct {
	sessionJSON
	AtWork  []string `json:"at_work"`           // agents that have begun and not ended
	GivenUp []string `json:"given_up"`          // old sessions
	Seconds int      `json:"seconds,omitempty"` // from its start
}

func runSessionEnd(ctx context.Context, env *environ, args []string, status string) error {
	text, _ := env.sessionArg(args)
	f, err := env.findSession(ctx, text, true)
	if err != nil {
		return err
	}
	if err := f.registry.TakeInNew(ctx, f.key); err != nil {
		return err
	}
	s, err := f.registry.End(ctx, f.key, status)
	if err != nil {
		return err
	}
	view := sessionEndJSON{sessionJSON: toSessionJSON(env, s), AtWork: []string{}, GivenUp: []string{}}
	for _, a := range s.Open() {
		view.AtWork = append(view.AtWork, cutText(a.Agent))
	}
	if len(view.AtWork) > 0 {
		env.note("begun and not ended: %s; what became of one says filebus session log %s ERROR %s",
			firstNames(view.AtWork), quote(s.Key.String()), quote(view.AtWork[0]))
	}
	if !s.Meta.Started.IsZero() {
		view.Seconds = secondsSince(s.Meta.Started, s.Meta.Ended)
	}
	went, err := env.retain(ctx, f.session, s.Key)
	if err != nil {
		return fmt.Errorf("%s has ended; giving up old sessions: %w", s.Key, err)
	}
	if len(went) > 0 {
		view.GivenUp = went
		env.note("gave up %s, as the configuration says: %s", plural(len(went), "old session"), firstNames(went))
	}
	if env.global.json {
		return env.printJSON(view)
	}
	line := []string{view.Session, view.Status, plural(view.Artifacts, "artifact"), tokenText(view.Tokens)}
	if view.Seconds > 0 {
		line = append(line, runs.DurationText(time.Duration(view.Seconds)*time.Second))
	}
	env.printf("%s\n", strings.Join(line, "  "))
	return nil
}

func withoutSession(old []sessions.OldSession, key sessions.Key) []sessions.OldSession {
	return slices.DeleteFunc(old, func(s sessions.OldSession) bool { return s.Key == key })
}

type sessionArchiveOptions struct {
	to     string
	remove bool
}

func newSessionArchiveCommand(env *environ) *cobra.Command {
	var opts sessionArchiveOptions
	cmd := &cobra.Command{
		Use:  "archive ID",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("to") && opts.to == "" {
				return usageError("--to is empty: is the variable that holds it set?")
			}
			return runSessionArchive(cmd.Context(), env, opts, args[0])
		},
	}
	cmd.Flags().StringVar(&opts.to, "to", "", "")
	cmd.Flags().BoolVar(&opts.remove, "remove", false, "")
	cmd.MarkFlagsOneRequired("to", "remove")
	return cmd
}

// A sessionArchiveJSON is a session that was archived, in JSON.
type sessionArchiveJSON struct {
	Session string   `json:"session"`
	File    string   `json:"file,omitempty"` // absolute
	Files   []string `json:"files"`
	Bytes   int64    `json:"bytes"` // of the texts
	Removed int      `json:"removed"`
}

func runSessionArchive(ctx context.Context, env *environ, opts sessionArchiveOptions, text string) error {
	request := sessions.ArchiveRequest{Remove: opts.remove}
	if opts.to != "" {
		if !strings.HasSuffix(opts.to, ".tar.gz") && !strings.HasSuffix(opts.to, ".tgz") {
			return coded(record.Usage, "filebus materialize --session "+quote(text)+" --to "+quote(opts.to),
				fmt.Errorf("--to %s is no file that ends with .tar.gz", opts.to))
		}
		request.To = env.abs(opts.to)
	}
	f, err := env.findSession(ctx, text, true)
	if err != nil {
		return err
	}
	done, err := f.registry.Archive(ctx, f.key, request)
	if err != nil {
		return err
	}
	view := sessionArchiveJSON{f.key.String(), validText(request.To), done.Files, done.Bytes, done.Removed}
	if view.Files == nil {
		view.Files = []string{}
	}
	if env.global.json {
		return env.printJSON(view)
	}
	if request.To != "" {
		env.printf("%s  %s, %s\n", request.To, plural(len(done.Files), "file"), byteSize(done.Bytes))
	}
	if done.Removed > 0 {
		env.note("took %s off the disk; filebus session replay %s --steps names them, filebus rm --restore NAME brings one back",
			plural(done.Removed, "file"), quote(f.key.String()))
	}
	return nil
}

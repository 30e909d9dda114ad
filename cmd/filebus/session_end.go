package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	runs "filebus/materialize/run"
	sessions "filebus/materialize/session"
	"filebus/store/record"
)

func newSessionEndCommand(env *environ) *cobra.Command {
	status := ""
	cmd := newCommand("end [ID]", cobra.MaximumNArgs(1), func(ctx context.Context, args []string) error {
		return runSessionEnd(ctx, env, args, status)
	})
	cmd.Flags().StringVar(&status, "status", "", "")
	return cmd
}

// A sessionEndJSON is a session that has ended, in JSON.
type sessionEndJSON struct {
	sessions.Session
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
	view := sessionEndJSON{Session: *s}
	for _, a := range s.AtWork {
		view.AtWork = append(view.AtWork, cutText(a.Agent))
	}
	if len(view.AtWork) > 0 {
		env.note("begun and not ended: %s; what became of one says filebus session log %s ERROR %s",
			firstNames(view.AtWork), quote(s.Key.String()), quote(view.AtWork[0]))
	}
	view.Seconds = secondsSince(s.Started, s.Ended)
	if view.GivenUp, err = env.retain(ctx, f.session, s.Key); err != nil {
		return fmt.Errorf("%s has ended; giving up old sessions: %w", s.Key, err)
	}
	if n := len(view.GivenUp); n > 0 {
		env.note("gave up %s, as the configuration says: %s", plural(n, "old session"), firstNames(view.GivenUp))
	}
	if env.global.json {
		return env.printJSON(view)
	}
	line := []string{s.Key.String(), s.Status, plural(s.Count, "artifact"), tokenText(s.Tokens)}
	if view.Seconds > 0 {
		line = append(line, runs.DurationText(time.Duration(view.Seconds)*time.Second))
	}
	env.printf("%s\n", strings.Join(line, "  "))
	return nil
}

func newSessionArchiveCommand(env *environ) *cobra.Command {
	to, remove := "", false
	cmd := &cobra.Command{
		Use:  "archive ID",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("to") && to == "" {
				return usageError("--to is empty: is the variable that holds it set?")
			}
			return runSessionArchive(cmd.Context(), env, args[0], to, remove)
		},
	}
	cmd.Flags().StringVar(&to, "to", "", "")
	cmd.Flags().BoolVar(&remove, "remove", false, "")
	cmd.MarkFlagsOneRequired("to", "remove")
	return cmd
}

func runSessionArchive(ctx context.Context, env *environ, text, to string, remove bool) error {
	if to != "" {
		if !strings.HasSuffix(to, ".tar.gz") && !strings.HasSuffix(to, ".tgz") {
			return coded(record.Usage, "filebus materialize --session "+quote(text)+" --to "+quote(to),
				fmt.Errorf("--to %s is no file that ends with .tar.gz", to))
		}
		to = env.abs(to)
	}
	f, err := env.findSession(ctx, text, true)
	if err != nil {
		return err
	}
	done, err := f.registry.Archive(ctx, f.key, to, remove)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(done)
	}
	if to != "" {
		env.printf("%s  %s, %s\n", to, plural(len(done.Files), "file"), byteSize(done.Bytes))
	}
	if done.Removed > 0 {
		env.note("took %s off the disk; filebus session replay %s --steps names them, filebus rm --restore NAME brings one back",
			plural(done.Removed, "file"), quote(f.key.String()))
	}
	return nil
}

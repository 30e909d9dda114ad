package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/layout"
	sessions "filebus/materialize/session"
)

func newSessionLogCommand(env *environ) *cobra.Command {
	limit := 0
	cmd := newCommand("log [ID] [START|SUCCESS|ERROR AGENT [MESSAGE]...]", nil, func(ctx context.Context, args []string) error {
		return runSessionLog(ctx, env, args, limit)
	})
	cmd.Flags().IntVar(&limit, "limit", 50, "")
	return cmd
}

// A sessionLogJSON is the log of a session in JSON.
type sessionLogJSON struct {
	Session sessions.Key        `json:"session"`
	Events  []layout.AgentEvent `json:"events"`
	Earlier int                 `json:"earlier,omitempty"` // lines that are not shown
}

func isEvent(text string) bool {
	return text == layout.EventStart || text == layout.EventSuccess || text == layout.EventError
}

func runSessionLog(ctx context.Context, env *environ, args []string, limit int) error {
	if limit < 0 {
		return usageError("--limit %d is negative", limit)
	}
	text, rest := env.sessionArg(args)
	if len(args) > 0 && isEvent(args[0]) {
		text, rest = env.or("", "FILEBUS_SESSION"), args
	}
	if len(rest) == 0 {
		return printSessionLog(ctx, env, text, limit)
	}
	if len(rest) < 2 {
		return usageError("who did it? filebus session log ID %s AGENT", rest[0])
	}
	f, err := env.findSession(ctx, text, false)
	if err != nil {
		return err
	}
	put, err := f.registry.Note(ctx, f.key, rest[0], rest[1], strings.Join(rest[2:], " "))
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(storedView{put.Ref.String(), put.Name.String(), put.File, put.Unchanged})
	}
	return nil
}

func printSessionLog(ctx context.Context, env *environ, text string, limit int) error {
	f, s, err := env.findKnown(ctx, []string{text})
	if err != nil {
		return err
	}
	for _, problem := range s.LogProblems[:min(len(s.LogProblems), 5)] {
		env.note("%s", oneLine(problem.Error()))
	}
	view := sessionLogJSON{Session: s.Key, Events: s.Log}
	if limit > 0 {
		view.Earlier = max(0, len(s.Log)-limit)
		view.Events = s.Log[view.Earlier:]
	}
	var lines strings.Builder
	for _, e := range view.Events {
		line := strings.TrimSuffix(string(layout.AppendAgentEvent(nil, e)), "\n")
		lines.WriteString(strings.TrimRight(oneLine(line), " ") + "\n")
	}
	_, err = env.present(f.session, presentation{
		op: "session log", what: s.Key.String(),
		json: func(int) any { return view }, text: func(int) string { return lines.String() },
	})
	switch {
	case err != nil || env.global.json:
		return err
	case len(s.Log) == 0:
		env.note("the log of %s is empty", s.Key)
	case view.Earlier > 0:
		env.note("after %s; --limit 0 prints all", plural(view.Earlier, "earlier line"))
	}
	return nil
}

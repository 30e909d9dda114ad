package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/layout"
	sessions "filebus/materialize/session"
	"filebus/store/record"
)

func newSessionLogCommand(env *environ) *cobra.Command {
	limit := 0
	cmd := &cobra.Command{
		Use:  "log [ID] [START|SUCCESS|ERROR AGENT [MESSAGE]...]",
		RunE: func(cmd *cobra.Command, args []string) error { return runSessionLog(cmd.Context(), env, args, limit) },
	}
	cmd.Flags().IntVar(&limit, "limit", 50, "")
	return cmd
}

// A sessionLogJSON is the log of a session in JSON.
type sessionLogJSON struct {
	Session string         `json:"session"`
	Events  []logEventJSON `json:"events"`
	Earlier int            `json:"earlier,omitempty"` // lines that are not shown
}

// A logEventJSON is a line of the log.
type logEventJSON struct {
	Time    string `json:"time"`
	Event   string `json:"event"`
	Agent   string `json:"agent"`
	Message string `json:"message,omitempty"`
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
	events := s.Log
	if limit > 0 {
		events = events[max(0, len(events)-limit):]
	}
	return printEvents(env, f, s, events)
}

func printEvents(env *environ, f *foundSession, s *sessions.Session, events []layout.AgentEvent) error {
	view := sessionLogJSON{Session: s.Key.String(), Events: []logEventJSON{}, Earlier: len(s.Log) - len(events)}
	var lines []byte
	for _, e := range events {
		view.Events = append(view.Events, logEventJSON{validText(e.Time), e.Event, validText(e.Agent), validText(e.Message)})
		lines = layout.AppendAgentEvent(lines, e)
	}
	if env.global.json {
		return env.printRead(f.session, "session log", s.Key.String(), view)
	}
	for line := range strings.Lines(string(lines)) {
		env.printf("%s\n", strings.TrimRight(oneLine(line), " "))
	}
	env.logRead(f.session, "session log", s.Key.String(), record.EstimateTokens(int64(len(lines))))
	switch {
	case len(s.Log) == 0:
		env.note("the log of %s is empty", s.Key)
	case view.Earlier > 0:
		env.note("after %s; --limit 0 prints all", plural(view.Earlier, "earlier line"))
	}
	return nil
}

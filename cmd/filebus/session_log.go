package main

import (
	"context"
	"strings"

	sessions "filebus/cmd/filebus/session"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type sessionLog struct {
	Limit int `flag:"limit" least:"0"`
}

type sessionLogJSON struct {
	Session sessions.Key        `json:"session"`
	Events  []layout.AgentEvent `json:"events"`
	More    int                 `json:"more,omitempty"` // lines that are not shown
}

func (o *sessionLog) run(ctx context.Context, w *workspace, args []string) error {
	text, rest := w.sessionArg(args)
	if len(args) > 0 && layout.IsAgentEvent(args[0]) {
		text, rest = w.or("", "FILEBUS_SESSION"), args
	}
	if len(rest) == 0 {
		return o.print(ctx, w, text)
	}
	if len(rest) < 2 {
		return usageError("which agent? filebus session log ID %s AGENT", rest[0])
	}
	f, err := w.findSession(ctx, text, false)
	if err != nil {
		return err
	}
	put, err := f.registry.Note(ctx, f.key, rest[0], rest[1], strings.Join(rest[2:], " "))
	if err == nil && rest[0] == "START" {
		err = f.registry.Reopen(ctx, f.key)
	}
	if err != nil {
		return err
	}
	return w.print(put, "")
}

func (o *sessionLog) print(ctx context.Context, w *workspace, text string) error {
	f, s, err := w.findKnown(ctx, []string{text})
	if err != nil {
		return err
	}
	for _, problem := range s.LogProblems[:min(len(s.LogProblems), 5)] {
		w.note("%s", oneLine(problem.Error()))
	}
	view := sessionLogJSON{Session: s.Key, Events: s.Log}
	if o.Limit > 0 {
		view.More = max(0, len(s.Log)-o.Limit)
		view.Events = s.Log[view.More:]
	}
	var lines strings.Builder
	for _, e := range view.Events {
		line := strings.TrimSuffix(string(layout.AppendAgentEvent(nil, e)), "\n")
		lines.WriteString(strings.TrimRight(oneLine(line), " ") + "\n")
	}
	err = f.workspace.presentWhole(s.Key.String(), view, lines.String())
	switch {
	case err != nil:
	case len(s.Log) == 0:
		w.remark("the log of %s is empty", s.Key)
	default:
		w.noteRest(view.More, "--limit 0")
	}
	return err
}

type sessionSummaryJSON struct {
	Session   sessions.Key       `json:"session"`
	Summaries []sessions.Summary `json:"summaries"`
}

func summarizeSession(ctx context.Context, w *workspace, args []string) error {
	f, s, err := w.findKnown(ctx, args)
	if err != nil {
		return err
	}
	all, err := f.registry.Summaries(ctx, s)
	if err != nil {
		return err
	}
	var out strings.Builder
	long := 0
	for _, a := range all {
		out.WriteString(oneLine(summaryLine(a)) + "\n")
		if a.Cut {
			long++
			w.note("the summary of %s has %d words and was cut: it has to have fewer than 200", a.Artifact, a.Words)
		}
	}
	err = f.workspace.presentWhole(s.Key.String(), sessionSummaryJSON{s.Key, all}, out.String())
	if err == nil && long > 0 {
		err = silentError(record.Wanting)
	}
	return err
}

// summaryLine says who wrote what.
func summaryLine(s sessions.Summary) string {
	switch {
	case s.Agent == "":
		return s.Artifact + ": " + s.Text
	case strings.HasPrefix(layout.Slug(s.Artifact), layout.Slug(s.Agent)):
		return s.Agent + ": " + s.Text
	}
	return s.Agent + " (" + s.Artifact + "): " + s.Text
}

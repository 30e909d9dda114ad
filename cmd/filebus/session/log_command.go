package session

import (
	"context"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/store/record"
)

type sessionLog struct {
	Limit int `flag:"limit" least:"0"`
}

// SessionLogJSON is what a command prints with --json.
type SessionLogJSON struct {
	Session Key                 `json:"session"`
	Events  []layout.AgentEvent `json:"events"`
	More    int                 `json:"more,omitempty"` // lines that are not shown
}

func (o *sessionLog) Do(ctx context.Context, w *cli.Work, args []string) error {
	text, rest := sessionArg(w.Environ, args)
	if len(args) > 0 && layout.IsAgentEvent(args[0]) {
		text, rest = w.Or("", "FILEBUS_SESSION"), args
	}
	if len(rest) == 0 {
		return o.print(ctx, w, text)
	}
	if len(rest) < 2 {
		return cli.UsageError("which agent? filebus session log ID %s AGENT", rest[0])
	}
	f, err := findSession(ctx, w.Environ, text, false)
	if err != nil {
		return err
	}
	put, err := f.sessions.Note(ctx, f.key, rest[0], rest[1], strings.Join(rest[2:], " "))
	if err == nil && rest[0] == "START" {
		err = f.sessions.Reopen(ctx, f.key)
	}
	if err != nil {
		return err
	}
	return w.Print(put, "")
}

func (o *sessionLog) print(ctx context.Context, w *cli.Work, text string) error {
	f, s, err := findKnown(ctx, w.Environ, []string{text})
	if err != nil {
		return err
	}
	for _, problem := range s.LogProblems[:min(len(s.LogProblems), 5)] {
		w.Note("%s", cli.OneLine(problem.Error()))
	}
	view := SessionLogJSON{Session: s.Key, Events: s.Log}
	if o.Limit > 0 {
		view.More = max(0, len(s.Log)-o.Limit)
		view.Events = s.Log[view.More:]
	}
	var lines strings.Builder
	for _, e := range view.Events {
		line := strings.TrimSuffix(string(layout.AppendAgentEvent(nil, e)), "\n")
		lines.WriteString(strings.TrimRight(cli.OneLine(line), " ") + "\n")
	}
	err = f.Work.PresentWhole(s.Key.String(), view, lines.String())
	switch {
	case err != nil:
	case len(s.Log) == 0:
		w.Remark("the log of %s is empty", s.Key)
	default:
		w.NoteRest(view.More, "--limit 0")
	}
	return err
}

// SessionSummaryJSON is what a command prints with --json.
type SessionSummaryJSON struct {
	Session   Key       `json:"session"`
	Summaries []Summary `json:"summaries"`
}

func summarizeSession(ctx context.Context, w *cli.Work, args []string) error {
	f, s, err := findKnown(ctx, w.Environ, args)
	if err != nil {
		return err
	}
	all, err := f.sessions.Summaries(ctx, s)
	if err != nil {
		return err
	}
	var out strings.Builder
	long := 0
	for _, a := range all {
		out.WriteString(cli.OneLine(summaryLine(a)) + "\n")
		if a.Cut {
			long++
			w.Note("the summary of %s has %d words and was cut: a summary has fewer than 200", a.Artifact, a.Words)
		}
	}
	err = f.Work.PresentWhole(s.Key.String(), SessionSummaryJSON{s.Key, all}, out.String())
	if err == nil && long > 0 {
		err = cli.SilentError(record.Wanting)
	}
	return err
}

// summaryLine says who wrote what.
func summaryLine(s Summary) string {
	switch {
	case s.Agent == "":
		return s.Artifact + ": " + s.Text
	case strings.HasPrefix(layout.Slug(s.Artifact), layout.Slug(s.Agent)):
		return s.Agent + ": " + s.Text
	}
	return s.Agent + " (" + s.Artifact + "): " + s.Text
}

package main

import (
	"context"
	"strings"

	sessions "filebus/materialize/session"
	"filebus/store/record"
)

type sessionSummary struct{}

// A sessionSummaryJSON is the summaries of a session in JSON.
type sessionSummaryJSON struct {
	Session   sessions.Key       `json:"session"`
	Summaries []sessions.Summary `json:"summaries"`
}

func (sessionSummary) run(ctx context.Context, w *workspace, args []string) error {
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
		if a.Words > sessions.MaxSummary {
			long++
			w.note("the summary of %s has %d words and was cut: it has to have fewer than 200", a.Artifact, a.Words)
		}
	}
	_, err = f.workspace.present(presentation{
		op: "session summary", what: s.Key.String(),
		json: func(int) any { return sessionSummaryJSON{s.Key, all} }, text: func(int) string { return out.String() },
	})
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
	case strings.HasPrefix(s.Artifact, s.Agent):
		return s.Agent + ": " + s.Text
	}
	return s.Agent + " (" + s.Artifact + "): " + s.Text
}

package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	sessions "filebus/materialize/session"
	"filebus/store/record"
)

func newSessionSummaryCommand(env *environ) *cobra.Command {
	return newCommand("summary [ID]", cobra.MaximumNArgs(1), func(ctx context.Context, args []string) error {
		return runSessionSummary(ctx, env, args)
	})
}

// A sessionSummaryJSON is the summaries of a session in JSON.
type sessionSummaryJSON struct {
	Session   sessions.Key       `json:"session"`
	Summaries []sessions.Summary `json:"summaries"`
}

func runSessionSummary(ctx context.Context, env *environ, args []string) error {
	f, s, err := env.findKnown(ctx, args)
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
			env.note("the summary of %s has %d words and was cut: it has to have fewer than 200", a.Artifact, a.Words)
		}
	}
	_, err = env.present(f.session, presentation{
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

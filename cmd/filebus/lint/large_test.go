package lint_test

import (
	"strings"
	"testing"

	"filebus/cmd/filebus/lint"
)

// TestHugeInstructions checks texts for which work that grows with the square of
// their size would take many minutes.
func TestHugeInstructions(t *testing.T) {
	t.Parallel()
	dir := write(t, map[string]string{
		"CLAUDE.md":       strings.Repeat("TaskOutput check poll ", 10_000),
		"AGENTS.md":       strings.Repeat("Never poll, sleep or read every 10 seconds a marker;\n", 5_000),
		"GEMINI.md":       "---\n" + strings.Repeat("- TaskOutput\n", 5_000),
		"CLAUDE.local.md": strings.Repeat("```\nwhile true; do\n", 5_000),
	})
	report, err := lint.Check(t.Context(), dir, lint.Options{Rules: []string{"agent-output", "polling"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := report.Files, 4; got != want {
		t.Errorf("%d files were read, want %d", got, want)
	}
}

package issue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filebus/cmd/filebus/noun"
	"filebus/materialize/layout"

	"github.com/google/go-cmp/cmp"
)

// TestTransitionTable compares the list of docs/issues.md with the code.
func TestTransitionTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "issues.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(text), "\n## Transitions\n")
	if !found {
		t.Fatal("docs/issues.md has no section Transitions")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	got := regexp.MustCompile("(?m)^- `[a-z]+`: from .* to `[a-z_]+`$").FindAllString(section, -1)
	var want []string
	for _, tr := range Verbs() {
		var from []string
		for _, s := range tr.From {
			from = append(from, fmt.Sprintf("`%s`", s))
		}
		want = append(want, fmt.Sprintf("- `%s`: from %s to `%s`", tr.Name, strings.Join(from, ", "), tr.To))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/issues.md, Transitions (-code +document):\n%s", diff)
	}
}

// TestTransitions tries each action from each status.
func TestTransitions(t *testing.T) {
	t.Parallel()
	for _, tr := range Verbs() {
		for _, from := range append(Type().States, "blocked") {
			t.Run(fmt.Sprintf("%s from %s", tr.Name, from), func(t *testing.T) {
				f := newQueue(t)
				f.write(t, "# Issue Queue\n\n"+entry("ISSUE-20260301-001", "Status="+from, "Type=bug")+entry("ISSUE-20260301-002", "Status=pending", "Type=bug"))
				f.sync(t)
				before := f.text(t)
				got, err := f.Do(t.Context(), tr.Name, "ISSUE-20260301-001", noun.Act{Agent: "a", Of: "ISSUE-20260301-002"})
				isDuplicate := tr.Name == "duplicate" && from == duplicate // of another issue
				switch allowed := slices.Contains(tr.From, from) || from == tr.To || from == "blocked"; {
				case allowed && !isDuplicate && (err != nil || got.Status != tr.To):
					t.Errorf("status %s, %v; want %s", got.Status, err, tr.To)
				case (!allowed || isDuplicate) && (!tries(err, "filebus issue {1} {2}") ||
					!strings.Contains(err.Error(), " is "+from+": ") || f.text(t) != before):
					t.Errorf("%v; want status, and the file as it was:\n%s", err, f.text(t))
				case allowed && !isDuplicate && !strings.Contains(f.text(t), "| Status | "+tr.To+" |"):
					t.Errorf("the file has not the status %s:\n%s", tr.To, f.text(t))
				}
				if after, _ := strings.CutPrefix(f.text(t), before); from == tr.To && tr.Name != "claim" && after != "" {
					t.Errorf("%s of an issue that is %s changed the file:\n%s", tr.Name, from, f.text(t))
				}
			})
		}
	}
}

func TestDuplicateOf(t *testing.T) {
	t.Parallel()
	f := newQueue(t)
	var ids []string
	for range 3 {
		ids = append(ids, f.mustAdd(t, layout.Issue{Summary: "same", Type: "bug"}).ID)
	}
	f.mustDo(t, "duplicate", ids[1], noun.Act{Of: ids[0]})
	if got := f.mustDo(t, "duplicate", ids[2], noun.Act{Of: ids[1]}); got.DuplicateOf != ids[0] {
		t.Errorf("a duplicate of a duplicate is one of %s, want %s", got.DuplicateOf, ids[0])
	}
	f.mustDo(t, "duplicate", ids[2], noun.Act{Of: ids[0]}) // again
	for _, of := range ids {
		_, err := f.Do(t.Context(), "duplicate", ids[0], noun.Act{Of: of})
		if !tries(err, "filebus issue show {1}") {
			t.Errorf("duplicate %s of %s: %v, want circle", ids[0], of, err)
		}
	}
	_, err := f.Do(t.Context(), "duplicate", ids[0], noun.Act{Of: "ISSUE-1"})
	if !errors.Is(err, noun.ErrAbsent) || !strings.Contains(err.Error(), "ISSUE-1") {
		t.Errorf("duplicate of what is not there: %v", err)
	}
	if got := f.mustDo(t, "reopen", ids[1], noun.Act{Reason: "it is not"}); got.DuplicateOf != "" ||
		got.Rationale != "it is not" {
		t.Errorf("reopened: duplicate of %q, rationale %q", got.DuplicateOf, got.Rationale)
	}
}

package materialize_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/materialize/release"
	"filebus/store"
	"filebus/store/record"
)

// TestLayOutAfterRelease lays out a time before things were destroyed.
func TestLayOutAfterRelease(t *testing.T) {
	t.Parallel()
	const other = "# Notes\n"
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue, ".claude/agent_tool_results/c/a.md": "a", ".claude/agent_tool_results/c/b.md": other})
	var before time.Time
	view(t, w, func(tx *store.Tx) { before = tx.Now() })
	names := []record.Name{nameOf(t, "issue/ISSUE-20260302-002"), nameOf(t, "result/c/a")}
	if _, err := w.Release(t.Context(), release.Request{Names: names}); err != nil {
		t.Fatal(err)
	}
	for label, test := range map[string]struct {
		pick    materialize.Selection
		files   map[string]string
		missing []string
	}{
		"all": {materialize.Selection{AsOf: before}, map[string]string{
			issueFile: issueQueue[:strings.Index(issueQueue, "### ISSUE-20260302-002")], ".claude/agent_tool_results/c/b.md": other,
		}, []string{"issue/ISSUE-20260302-002", "result/c/a"}},
		"a kind": {materialize.Selection{AsOf: before, Filter: record.Filter{Kinds: []record.Kind{record.KindResult}}},
			map[string]string{".claude/agent_tool_results/c/b.md": other}, []string{"result/c/a"}},
		"another tree": {materialize.Selection{AsOf: before, Filter: record.Filter{Trees: trees("lib")}},
			map[string]string{}, []string{}},
		"before all": {materialize.Selection{AsOf: before.Add(-24 * time.Hour)}, map[string]string{}, []string{}},
	} {
		out := filepath.Join(t.TempDir(), "out")
		report, err := w.LayOut(t.Context(), out, test.pick, nil)
		if err != nil {
			t.Errorf("%s: %v", label, err)
			continue
		}
		if diff := cmp.Diff(test.files, readTree(t, out)); diff != "" {
			t.Errorf("%s: files (-want +got):\n%s", label, diff)
		}
		slices.Sort(report.Missing)
		if diff := cmp.Diff(test.missing, report.Missing); diff != "" {
			t.Errorf("%s: missing (-want +got):\n%s", label, diff)
		}
	}
}

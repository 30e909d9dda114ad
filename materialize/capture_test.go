package materialize_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/store"
	"filebus/store/record"
)

func recordTree(text string) record.Tree { return record.Tree(text) }

func trees(list ...string) []record.Tree {
	var out []record.Tree
	for _, tree := range list {
		out = append(out, record.Tree(tree))
	}
	return out
}

const issueQueue = `# Issue Queue

### ISSUE-20260302-001

| Field | Value |
|-------|-------|
| Status | pending |
| Type | security |
| Priority | high |

**Summary:** Add CSRF protection to all forms

---

### ISSUE-20260302-002

- **Status**: accepted
- **Priority**: low

**Summary:** Tidy the log messages

---
`

const knowledgeGraph = `# Knowledge Graph

## Patterns

### pattern-001
- Type: pattern
- Tags: [react, state]
- Content: Use useReducer for complex state
- Source: task-003
- Confidence: high

## Gotchas

### gotcha-001
- Type: gotcha
- Tags: [typescript]
- Content: Constraints must be repeated
- Confidence: medium
`

// sampleTree holds one file of most formats, and what makes readers stumble.
func sampleTree() map[string]string {
	return map[string]string{
		".claude/issue_queue.md":                                  issueQueue,
		".claude/knowledge_graph.md":                              knowledgeGraph,
		".claude/agent_complete/task-001.done":                    "done",
		".claude/journal/task-001.md":                             "# Task: Login\n\n## Metadata\n- Status: completed\n- Started: 2026-03-02T10:00:00Z\n\n## Handoff\n\n| Field | Value |\n|---|---|\n| Outcome | completed |\n| Summary | It works |\n",
		".claude/agent_tool_results/c1/call1.md":                  "# Finding\n\nA first paragraph.\n",
		".claude/sessions/build/s1/plan.md":                       "# Plan\n",
		".blue/dialogues/x/round-0/muffin.md":                     "[PERSPECTIVE P01: One]\nText.\n",
		"docs/crlf.md":                                            "# Title\r\n\r\ntext\r\n",
		"docs/bom.md":                                             "\ufeff# Title\n",
		"docs/invalid.md":                                         "\xff\xfe\x00binary\x00",
		"docs/empty.md":                                           "",
		"docs/no newline":                                         "no newline at the end",
		"docs/über 🚀 name.md":                                     "text\n",
		"docs/same.md":                                            "# Title\n",
		"docs/same again.md":                                      "# Title\n",
		"b/.claude/issue_queue.md":                                issueQueue,
		".orchestrator/complete/task-001.done":                    "done\n",
		"c/.claude/issue_queue.md":                                "### ISSUE-20260302-001\n\nno table",
		".claude/lessons/testing/notes.md":                        "# Testing\n\n### Run all tests\n**Date:** 2026-03-01\n**Context:** A sync test failed\n**Lesson:** Run the suite\n**Tags:** testing, ci\n",
		".claude/journal/index.md":                                "## Context Map\n\n| Component | Last Modified | Notes |\n|---|---|---|\n| src/auth/ | task-001 | JWT |\n",
		".claude/loop_snapshots/run-2026-03-02-1/loop-1/state.md": "state\n",
	}
}

func TestCaptureComesBack(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	files := sampleTree()
	files["docs/large.bin"] = strings.Repeat("0123456789abcdef", 1<<17)
	dir := t.TempDir()
	writeTree(t, dir, files)
	report := capture(t, w, dir, "sample")
	if report.Files != len(files) || report.Partial() {
		t.Errorf("captured %d of %d files, skipped %v", report.Files, len(files), report.Skipped)
	}
	wantTree(t, w, "sample", files)
	if again := capture(t, w, dir, "sample"); again.Records != 0 || again.Changed != 0 {
		t.Errorf("a second capture stored %d records of %d files", again.Records, again.Changed)
	}
	wantTree(t, w, "sample", files)
}

func TestCaptureRecognises(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	dir := t.TempDir()
	writeTree(t, dir, sampleTree())
	report := capture(t, w, dir, "sample")
	want := map[record.Kind]int{
		record.KindFrame: 6, record.KindIssue: 5, record.KindKnowledge: 3, record.KindComponent: 1, record.KindMarker: 2,
		record.KindHandoff: 1, record.KindResult: 1, record.KindArtifact: 1, record.KindTurn: 1, record.KindSnapshot: 1, record.KindNote: 8,
	}
	if diff := cmp.Diff(want, report.KindCount); diff != "" {
		t.Errorf("kinds (-want +got):\n%s", diff)
	}
	view(t, w, func(tx *store.Tx) {
		v, err := tx.Head(record.Name{Tree: "sample", Kind: record.KindIssue, ID: "ISSUE-20260302-001"})
		if err != nil {
			t.Fatal(err)
		}
		if v.Record.Status != "pending" || tx.Description(v.Ref).Attributes[record.AttributePriority] != "high" {
			t.Errorf("issue: status %q, attributes %v", v.Record.Status, tx.Description(v.Ref).Attributes)
		}
	})
}

func TestCaptureChanges(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	dir := t.TempDir()
	files := sampleTree()
	writeTree(t, dir, files)
	capture(t, w, dir, "sample")
	before := position(t, w)

	files[".claude/issue_queue.md"] = strings.Replace(issueQueue, "| Status | pending |", "| Status | complete |", 1)
	writeTree(t, dir, map[string]string{".claude/issue_queue.md": files[".claude/issue_queue.md"]})
	if err := os.Remove(filepath.Join(dir, "docs", "same.md")); err != nil {
		t.Fatal(err)
	}
	delete(files, "docs/same.md")
	report := capture(t, w, dir, "sample")
	if report.Records != 1 || len(report.Removed) != 1 {
		t.Errorf("after one entry changed and one file went: %d records, removed %v; want 1, docs/same.md", report.Records, report.Removed)
	}
	if after := position(t, w); after != before+2 {
		t.Errorf("the log grew by %d entries, want 2", after-before)
	}
	wantTree(t, w, "sample", files)
}

func TestCaptureTreeTaken(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	a, b := t.TempDir(), t.TempDir()
	writeTree(t, a, map[string]string{"x.md": "a"})
	writeTree(t, b, map[string]string{"x.md": "b"})
	capture(t, w, a, "lib")
	_, err := w.Capture(t.Context(), b, materialize.CaptureOptions{Tree: "lib"})
	if !errors.Is(err, materialize.ErrTreeTaken) || !strings.Contains(err.Error(), a) {
		t.Errorf("capturing another folder as the same tree: %v", err)
	}
	wantTree(t, w, "lib", map[string]string{"x.md": "a"})
}

func TestCaptureSkips(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	dir := t.TempDir()
	writeTree(t, dir, map[string]string{"a.md": "a", ".git/config": "x", "node_modules/x.js": "x", ".filebus/store.db": "x", "sub/.git/HEAD": "x"})
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.md")); err != nil {
		t.Skip("no symbolic links:", err)
	}
	report := capture(t, w, dir, "t")
	want := []mirror.Skipped{{Path: "link.md", Reason: "a symbolic link", Harmless: true}}
	if diff := cmp.Diff(want, report.Skipped); diff != "" || report.Files != 1 {
		t.Errorf("files %d, skipped (-want +got):\n%s", report.Files, diff)
	}
}

func TestCaptureDryRun(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	dir := t.TempDir()
	writeTree(t, dir, sampleTree())
	report, err := w.Capture(t.Context(), dir, materialize.CaptureOptions{Tree: "t", DryRun: true})
	if err != nil || position(t, w) != 0 {
		t.Fatalf("dry run: %v, log at %d", err, position(t, w))
	}
	planned := map[string][]string{}
	for _, p := range report.Planned {
		for _, name := range p.Names {
			planned[p.Path] = append(planned[p.Path], name.String())
		}
	}
	if got := planned[".claude/knowledge_graph.md"]; len(got) != 3 || got[0] != "t:knowledge/pattern-001" {
		t.Errorf("planned for the knowledge graph: %q", got)
	}
	if got := planned[".claude/journal/task-001.md"]; len(got) != 1 || got[0] != "t:handoff/task-001" {
		t.Errorf("planned for the journal: %q", got)
	}
}

func view(t testing.TB, w *materialize.Workspace, fn func(tx *store.Tx)) {
	t.Helper()
	if err := w.Store.View(t.Context(), func(tx *store.Tx) error { fn(tx); return nil }); err != nil {
		t.Fatal(err)
	}
}

func position(t testing.TB, w *materialize.Workspace) (n uint64) {
	t.Helper()
	view(t, w, func(tx *store.Tx) { n = tx.Position() })
	return n
}

// textOf returns the current text of a name.
func textOf(t testing.TB, w *materialize.Workspace, name string) string {
	t.Helper()
	n, err := record.ParseName(name)
	if err != nil {
		t.Fatal(err)
	}
	var content store.Content
	view(t, w, func(tx *store.Tx) {
		v, err := tx.Head(n)
		if err == nil {
			content, err = tx.Content(v.Record)
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	text, err := content.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// A folder captured under another profile: what was a queue is a note now, and
// the other way round.
func TestCaptureKindChanges(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	dir := t.TempDir()
	files := map[string]string{"issue_queue.md": issueQueue, "journal/task-001.md": "# Task: x\n"}
	writeTree(t, dir, files)
	blank := layout.Profile{}
	claude := layout.Claude()
	for i, profile := range []*layout.Profile{nil, &claude, nil, &blank, &claude} {
		if _, err := w.Capture(t.Context(), dir, materialize.CaptureOptions{Tree: "t", Profile: profile}); err != nil {
			t.Fatalf("capture %d: %v", i, err)
		}
		// The text must have changed to be looked at again.
		files["issue_queue.md"] += "\n"
		files["journal/task-001.md"] += "\n"
		writeTree(t, dir, files)
		capture := materialize.CaptureOptions{Tree: "t", Profile: profile}
		if _, err := w.Capture(t.Context(), dir, capture); err != nil {
			t.Fatalf("capture %d: %v", i, err)
		}
		wantTree(t, w, "t", files)
		issues := 0
		view(t, w, func(tx *store.Tx) {
			for _, err := range tx.Lookup(store.FieldKind, string(record.KindIssue)) {
				if err != nil {
					t.Fatal(err)
				}
				issues++
			}
		})
		if want := map[bool]int{true: 2, false: 0}[profile == &claude]; issues != want {
			t.Errorf("capture %d: %d issues, want %d", i, issues, want)
		}
	}
}

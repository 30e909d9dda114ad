package layout

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// TestExamplesAtTheirPlaces reads the examples of the pages as the files that
// they stand for: each is recognised, and nothing in it is reported.
func TestExamplesAtTheirPlaces(t *testing.T) {
	t.Parallel()
	tests := []struct {
		page, file, path string
		name             string
		status           string
	}{
		{"results", "call_8f2c.md", ".claude/agent_tool_results/c1/call_8f2c.md", "result/c1/call_8f2c", ""},
		{"reports", "BUILD-007-loop-002.json", ".orchestrator/reports/BUILD-007-loop-002.json", "handoff/BUILD-007-loop-002", "complete"},
		{"markers", "task-003.done", ".claude/agent_complete/task-003.done", "marker/task-003", "complete"},
		{"markers", "task-004.done", ".claude/agent_complete/task-004.failed", "marker/task-004.failed", "failed"},
		{"journal", "task-003.md", ".claude/journal/task-003.md", "handoff/task-003", "complete"},
		{"journal", "task-004.md", ".claude/journal/task-004.md", "handoff/task-004", "partial"},
		{"session-state", "session_state.md", ".claude/session_state.md", "state/session_state", ""},
		{"session-state", "plain.md", "p/.claude/session_state.md", "state/p/session_state", ""},
		{"session-state", "plain.md", ".orchestrator/session_state.md", "state/.orchestrator/session_state", ""},
		{"snapshots", "diff.patch", ".claude/loop_snapshots/r/loop-1/diff.patch", "snapshot/r/loop-1/diff.patch", ""},
		{"snapshots", "issues_completed.md", ".claude/loop_snapshots/r/loop-1/issues_completed.md", "snapshot/r/loop-1/issues_completed.md", ""},
		{"dialogue", "muffin.md", ".claude/dialogues/s/round-0/muffin.md", "turn/s/round-0/muffin", ""},
		{"dialogue", "retry-policy.dialogue.md", ".blue/docs/dialogues/retry-policy.dialogue.md", "dialogue/.blue/docs/retry-policy.dialogue.md", "Converged"},
		{"sessions", "pr_42_security_report.md", ".claude/sessions/pr_reviews/pr_42_security_report.md", "artifact/pr_reviews/pr_42/security_report", ""},
		{"sessions", ".agent_log", ".claude/sessions/build/k7m2p9/.agent_log", "artifact/build/k7m2p9/.agent_log", "failed"},
		{"sessions", "metadata.json", ".claude/sessions/build/20260306-120000-k7m2-nightly-load-test/metadata.json", "artifact/build/20260306-120000-k7m2-nightly-load-test/metadata.json", "completed"},
		{"notes", "2026-03-02-handover.md", "messages/2026-03-02-handover.md", "note/messages/2026-03-02-handover.md", ""},
	}
	for _, test := range tests {
		text := docExample(t, test.page, test.file)
		place := Recognize(test.path)
		if got := string(place.Kind) + "/" + place.ID; got != test.name {
			t.Errorf("%s is %s, want %s", test.path, got, test.name)
		}
		file, problems := place.Parse(test.path, text)
		if len(problems) > 0 {
			t.Errorf("%s of page %s: problems %v, want none", test.file, test.page, problems)
		}
		if !bytes.Equal(file.Append(nil), text) {
			t.Errorf("%s of page %s: the parts are not the file", test.file, test.page)
		}
		if got := file.Entries()[0].Facts.Status; got != test.status {
			t.Errorf("%s of page %s: status %q, want %q", test.file, test.page, got, test.status)
		}
	}
}

// pageRows returns the cells of the table rows of a page, without code marks.
func pageRows(t *testing.T, page string) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "layouts", page+".md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range markdown.Lines(text) {
		cells, isRow := markdown.Row(l.Text)
		if l.Quiet || !isRow || markdown.IsDelimiter(cells) {
			continue
		}
		var row []string
		for _, cell := range cells {
			row = append(row, strings.ReplaceAll(markdown.UnescapeCell(cell.Text), "`", ""))
		}
		rows = append(rows, row)
	}
	return rows
}

// TestSessionTable holds the table of the page on sessions against Recognize.
func TestSessionTable(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, row := range pageRows(t, "sessions")[1:] {
		id, session := row[1], row[2]
		for file := range strings.SplitSeq(row[0], ", ") {
			want := id
			if id == "the same" {
				want = file
			}
			place := Recognize(".claude/sessions/" + file)
			if place.Kind != record.KindArtifact || place.ID != want || place.Facts.Session != session {
				t.Errorf("%s is %s/%s of session %q, the page says %q of %q", file, place.Kind, place.ID, place.Facts.Session, want, session)
			}
			checked++
		}
	}
	if checked < 8 {
		t.Errorf("the page has %d files in its table, want 8 or more", checked)
	}
}

// TestDialogueTable holds the table of the page on dialogues against Recognize.
func TestDialogueTable(t *testing.T) {
	t.Parallel()
	fill := strings.NewReplacer("{slug}", "retry", "{n}", "2", "{name}", "muffin", "{file}", "summary")
	checked := 0
	for _, row := range pageRows(t, "dialogue")[1:] {
		if !strings.Contains(row[1], "{name}") && !strings.Contains(row[0], "summary") {
			continue // rows of several files
		}
		kind, id, _ := strings.Cut(fill.Replace(row[1]), ", ")
		place := Recognize(".claude/dialogues/retry/" + fill.Replace(row[0]))
		if string(place.Kind) != kind || place.ID != id {
			t.Errorf("%s is %s/%s, the page says %s/%s", row[0], place.Kind, place.ID, kind, id)
		}
		checked++
	}
	if checked != 3 {
		t.Errorf("%d rows of the page are checked, want 3", checked)
	}
}

// TestSnapshotTable holds the table of the page on snapshots against Parse.
func TestSnapshotTable(t *testing.T) {
	t.Parallel()
	checked := 0
	for _, row := range pageRows(t, "snapshots")[1:] {
		parts := strings.Split(row[1], ", ")
		for i, file := range strings.Split(row[0], ", ") {
			parsed, _ := snapshots.Parse("r/loop-1/"+file, []byte("{}"))
			if got := parsed.Entries()[0].Facts.Attributes["part"]; got != parts[i] {
				t.Errorf("%s has the part %q, the page says %q", file, got, parts[i])
			}
			checked++
		}
	}
	if checked != 7 {
		t.Errorf("the page has %d files in its table, want 7", checked)
	}
}

// TestReportKeys holds that every key that the page on reports names is read.
func TestReportKeys(t *testing.T) {
	t.Parallel()
	keys := map[string]func(Facts) string{
		"task_id": func(r Facts) string { return r.Task }, "task": func(r Facts) string { return r.Task }, "id": func(r Facts) string { return r.Task },
		"loop_number": func(r Facts) string { return r.Loop }, "loop": func(r Facts) string { return r.Loop },
		"run_id": func(r Facts) string { return r.Run }, "run": func(r Facts) string { return r.Run },
		"status": func(r Facts) string { return r.Status }, "outcome": func(r Facts) string { return r.Status }, "result": func(r Facts) string { return r.Status },
		"model": func(r Facts) string { return r.Attributes[attributeModel] }, "model_used": func(r Facts) string { return r.Attributes[attributeModel] },
		"title": func(r Facts) string { return r.Title }, "task_title": func(r Facts) string { return r.Title }, "task_name": func(r Facts) string { return r.Title },
		"name": func(r Facts) string { return r.Title }, "objective": func(r Facts) string { return r.Title },
		"summary": func(r Facts) string { return r.Summary }, "notes": func(r Facts) string { return r.Summary }, "description": func(r Facts) string { return r.Summary },
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "layouts", "reports.md"))
	if err != nil {
		t.Fatal(err)
	}
	for key, field := range keys {
		if !bytes.Contains(page, []byte("`"+key+"`")) {
			t.Errorf("the page does not name the key %s", key)
		}
		r, problems := reportFacts("", []byte(`{"`+key+`": "failed"}`))
		if got := field(r); got != "failed" || len(problems) > 0 {
			t.Errorf("the key %s is read as %q, %v, want %q", key, got, problems, "failed")
		}
	}
}

func BenchmarkParseJournal(b *testing.B) {
	text := docExample(b, "journal", "task-003.md")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		journals.Parse("task-003.md", text)
	}
}

func BenchmarkParseMarkers(b *testing.B) {
	text := bytes.Repeat(docExample(b, "dialogue", "muffin.md"), 10)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ParseMarkers(text)
	}
}

func BenchmarkAppendProgress(b *testing.B) {
	text := docExample(b, "journal", "task-003.md")
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		AppendProgress(text, Progress{"2026-03-02T10:00:00Z", "Ran the tests"})
	}
}

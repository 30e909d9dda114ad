package layout

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSnapshotExamples(t *testing.T) {
	t.Parallel()
	text := docExample(t, "snapshots", "issues_completed.md")
	issues := ParseCompletedIssues(text)
	want := []CompletedIssue{
		{"ISSUE-20260302-001", "Add CSRF tokens to all forms"},
		{"ISSUE-20260302-004", "Retry-After is missing on 429"},
	}
	if diff := cmp.Diff(want, issues); diff != "" {
		t.Errorf("issues (-want +got):\n%s", diff)
	}
	if again := string(AppendCompletedIssues(nil, issues)); again != string(text) {
		t.Errorf("written again (-want +got):\n%s", cmp.Diff(string(text), again))
	}
	if got := parseDiff(docExample(t, "snapshots", "diff.patch")); got != (DiffStat{1, 2, 1}) {
		t.Errorf("parseDiff of the example = %v", got)
	}
}

func TestSnapshotFacts(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file, text string
		want       Facts
		problems   []string
	}{
		{"diff.patch", "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
			Facts{Title: "Changes of the loop", Summary: "1 file changed, 1 line added, 1 removed", Attributes: map[string]string{"part": "diff"}}, nil},
		{"state.md", "run_id: other\nloop: 9\nstarted: noon\n",
			Facts{Title: "Session state", Summary: "run other; loop 9; 0 agents running, 0 completed", Attributes: map[string]string{"part": "state", "started": "noon"}}, nil},
		{"issues_completed.md", "None\n", Facts{Summary: "No issues completed.", Attributes: map[string]string{"part": "issues"}}, nil},
		{"issues_completed.md", "## ISSUE-1\n", Facts{Summary: "ISSUE-1", Attributes: map[string]string{"part": "issues"}}, nil},
		{"REVIEW.md", "x", Facts{Attributes: map[string]string{"part": "review"}}, nil},
		{"manifest.json", "{", Facts{Attributes: map[string]string{"part": "manifest"}}, []string{"r/loop-1/manifest.json:1: unexpected end of JSON input"}},
		{"other.bin", "\x00", Facts{}, nil},
	}
	for _, test := range tests {
		got, problems := parseOne(t, snapshots, "r/loop-1/"+test.file, []byte(test.text))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: facts of %q (-want +got):\n%s", test.file, test.text, diff)
		}
		if diff := cmp.Diff(test.problems, problems); diff != "" {
			t.Errorf("%s: problems of %q (-want +got):\n%s", test.file, test.text, diff)
		}
	}
}

func TestParseDiff(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       DiffStat
	}{
		{"empty", "", DiffStat{}},
		{"prose", "+++\n- item\n+ item\n", DiffStat{}},
		{"lines like headers", "+++ b/x\n@@ -1,2 +1,2 @@\n--- a\n+++ b\n c\n", DiffStat{1, 1, 1}},
		{"no newline at the end", "+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", DiffStat{1, 1, 1}},
		{"two files", "+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n--- a/y\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-c\n", DiffStat{2, 2, 1}},
		{"truncated", "+++ b/x\n@@ -1,50 +1,50 @@\n-a\n", DiffStat{1, 0, 1}},
		{"broken hunk", "+++ b/x\n@@ -x,y +z @@\n+a\n", DiffStat{1, 1, 0}},
		{"crlf", "+++ b/x\r\n@@ -1 +1 @@\r\n-a\r\n+b\r\n", DiffStat{1, 1, 1}},
	}
	for _, test := range tests {
		if got := parseDiff([]byte(test.text)); got != test.want {
			t.Errorf("%s: parseDiff(%q) = %v, want %v", test.name, test.text, got, test.want)
		}
	}
}

func TestParseCompletedIssues(t *testing.T) {
	t.Parallel()
	text := strings.Join([]string{
		"# Issues", "- [x] **ISSUE-20260302-001** — Fix login", "### ISSUE-20260302-002", "| ISSUE-3 | Slow query | done |",
		"* `ISSUE-4`: a: b", "Mentions ISSUE-5 only", "ISSUE-", "- ISSUE-6-",
	}, "\r\n")
	want := []CompletedIssue{
		{"ISSUE-20260302-001", "Fix login"}, {"ISSUE-20260302-002", ""}, {"ISSUE-3", "Slow query | done"}, {"ISSUE-4", "a: b"}, {"ISSUE-6", ""},
	}
	if diff := cmp.Diff(want, ParseCompletedIssues([]byte(text))); diff != "" {
		t.Errorf("issues of %q (-want +got):\n%s", text, diff)
	}
}

func FuzzSnapshot(f *testing.F) {
	f.Add(docExample(f, "snapshots", "issues_completed.md"))
	f.Add(docExample(f, "snapshots", "diff.patch"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if d := parseDiff(text); d.Added < 0 || d.Removed < 0 || d.Files < 0 {
			t.Fatalf("parseDiff(%q) = %v", text, d)
		}
		once := ParseCompletedIssues(AppendCompletedIssues(nil, ParseCompletedIssues(text)))
		if diff := cmp.Diff(once, ParseCompletedIssues(AppendCompletedIssues(nil, once))); diff != "" {
			t.Fatalf("%q, written and read again (-want +got):\n%s", text, diff)
		}
	})
}

// TestSnapshotManifests writes start.json and manifest.json and reads them again.
func TestSnapshotManifests(t *testing.T) {
	t.Parallel()
	start := LoopStart{Run: "r", Loop: 2, SnapshotPoint: SnapshotPoint{Position: 7, Commit: "c"},
		LeftOut: []string{"big: too large"}}
	text := AppendLoopStart([]byte("before"), start)
	if !strings.HasPrefix(string(text), "before{\n") {
		t.Fatalf("AppendLoopStart: %q", text)
	}
	start.Version = 1
	again, err := ParseLoopStart(text[len("before"):])
	if diff := cmp.Diff(start, again); diff != "" || err != nil {
		t.Errorf("start.json read again (-want +got):\n%s\nerror %v", diff, err)
	}
	manifest := Manifest{Run: "r", Loop: 2, Method: "git",
		Changed: []SnapshotChange{{Path: "a", Status: "added", Added: 3}}}
	read, err := ParseManifest(AppendManifest(nil, manifest))
	manifest.Version = 1
	if diff := cmp.Diff(manifest, read); diff != "" || err != nil {
		t.Errorf("manifest.json read again (-want +got):\n%s\nerror %v", diff, err)
	}
}

func TestSnapshotManifestsOfOthers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, run, want string }{
		{`{"version": 2, "run": "r"}`, "r", "version 2 instead of 1"},
		{`{"run": "r", "files": [], "unknown": 1}`, "r", "version 0 instead of 1"},
		{`{`, "", "unexpected end of JSON input"},
		{`{"run": 1}`, "", "cannot unmarshal number"},
	} {
		m, err := ParseManifest([]byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) || m.Run != test.run {
			t.Errorf("ParseManifest(%s) = run %q, %v, want %q, %s", test.text, m.Run, err, test.run, test.want)
		}
		s, err := ParseLoopStart([]byte(test.text))
		if err == nil || !strings.Contains(err.Error(), test.want) || s.Run != test.run {
			t.Errorf("ParseLoopStart(%s) = run %q, %v, want %q, %s", test.text, s.Run, err, test.run, test.want)
		}
	}
}

func TestParseDiffWithoutNumbers(t *testing.T) {
	t.Parallel()
	const text = "--- a/x\n+++ b/x\n@@ -1\n+a\n"
	if got, want := parseDiff([]byte(text)), (DiffStat{Files: 1}); got != want {
		t.Errorf("a hunk without its numbers counts as %v, want %v", got, want)
	}
}

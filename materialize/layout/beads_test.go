package layout

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

// parseIssues reads a file of issues, whose parts must be the file again.
func parseIssues(t testing.TB, text string) (entries []*Entry, problems []string) {
	t.Helper()
	file, errs := Recognize(".beads/issues.jsonl").Parse(".beads/issues.jsonl", []byte(text))
	if got := file.Append(nil); string(got) != text {
		t.Fatalf("parsed and written again:\n%q\nwant\n%q", got, text)
	}
	for _, err := range errs {
		problems = append(problems, fmt.Sprintf("%d: %v", err.Line, err.Err))
	}
	return file.Entries(), problems
}

func TestBeadsExample(t *testing.T) {
	t.Parallel()
	entries, problems := parseIssues(t, string(docExample(t, "conventions/beads", ".beads/issues.jsonl")))
	if len(problems) > 0 || len(entries) != 3 {
		t.Fatalf("%d issues, %v", len(entries), problems)
	}
	want := Facts{
		Agent: "kim", Status: "pending", Title: "Größe der Hochladungen begrenzen",
		Tags: []string{"http", "limits"}, Summary: "Uploads of any size are stored. Comments: ada: seen again on Windows",
		Links: []record.Link{{Type: "blocked-by", Target: "issue/shop-a1b2"}, {Type: "parent", Target: "issue/shop-7"}},
		Attributes: map[string]string{
			"type": "bug", "priority": "high", "state": "open", "created": "2026-03-01T08:00:00+01:00",
			"updated": "2026-03-02T09:30:00.123456Z", "assignee": "ada",
		},
	}
	if diff := cmp.Diff(want, entries[0].Facts); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprintf("%s %d %s %s", e.ID, e.Line, e.Facts.Status, e.Facts.Attributes["priority"]))
	}
	if diff := cmp.Diff([]string{"shop-k3.1 1 pending high", "shop-a1b2 2 complete critical", "shop-7 3 deferred backlog"}, got); diff != "" {
		t.Errorf("issues (-want +got):\n%s", diff)
	}
}

// TestBeadsOdd reads lines as other programs and broken merges leave them.
func TestBeadsOdd(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text string
		want       []string // ids with their lines
		problems   string
	}{
		{"empty", "", nil, ""},
		{"BOM, CRLF, blank lines", "\ufeff{\"id\":\"a-1\"}\r\n\r\n  \r\n {\"title\":null,\"id\":\"a-2\"} \r\n", []string{"a-1:1", "a-2:4"}, ""},
		{"an id that is a number, a cut line", "{\"id\":17,\"status\":3,\"labels\":\"x\",\"dependencies\":{}}\n{\"id\":\"a-1\",\"ti", []string{"17:1"},
			"2: the line is no JSON object"},
		{"no ids", "{}\n[1]\n\"a-1\"\n{\"id\":null}\n{\"id\":\"a b\\n\"}\n", []string{"a b:5"},
			"1: the issue has no id at /id|2: the line is no JSON object|3: the line is no JSON object|4: the issue has no id at /id"},
		{"more than an object", "{\"id\":\"a\"}}\n{\"id\":\"b\"} {}\nnull\n", nil, "1: the line is no JSON object|2: the line is no JSON object|3: the line is no JSON object"},
		{"a bad id", `{"id":"../x\u0001"}`, nil, "1: the id has a segment"},
		{"the later one counts", `{"id":"a","updated_at":"2026-01-01T10:00:00Z"}` + "\n" + `{"id":"a","updated_at":"2026-01-01T10:30:00+01:00"}` + "\n" +
			`{"id":"a","updated_at":"2026-01-02T00:00:00Z"}` + "\n", []string{"a:3"},
			"1: entry id a is used again (newer at line 3)|2: entry id a is used again (first at line 1)"},
		{"alike", "{\"id\":\"a\"}\n{\"id\":\"a\"}\n", []string{"a:1"}, "2: entry id a is used again (first at line 1)"},
		{"git", "<<<<<<< HEAD\n{\"id\":\"b\",\"updated_at\":\"2026-01-01T00:00:00Z\"}\n=======\n{\"id\":\"b\",\"updated_at\":\"2026-01-03T00:00:00Z\"}\n" +
			"{\"id\":\"c\"}\n>>>>>>> theirs\n", []string{"b:4", "c:5"},
			"1: a conflict marker of git|2: entry id b is used again (newer at line 4)|3: the line is no JSON|6: a conflict marker of git"},
		{"invalid UTF-8", "{\"id\":\"x-\xff\",\"title\":\"\xff\"}\n{\"id\":\"x-1\",\"title\":\"\xff\"}\n", []string{"x-\ufffd:1", "x-1:2"}, ""},
	} {
		entries, problems := parseIssues(t, test.text)
		var got []string
		for _, e := range entries {
			got = append(got, fmt.Sprintf("%s:%d", e.ID, e.Line))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		want := strings.Split(test.problems, "|")
		if test.problems == "" {
			want = nil
		}
		if len(problems) != len(want) {
			t.Errorf("%s: problems %q, want %q", test.name, problems, want)
			continue
		}
		for i := range want {
			if !strings.HasPrefix(problems[i], want[i]) {
				t.Errorf("%s: problem %q, want %q", test.name, problems[i], want[i])
			}
		}
	}
}

func TestBeadLink(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "blocks": "blocked-by", "Parent-Child": "parent", "related": "relates-to", "discovered-from": "discovered-from",
	} {
		entries, _ := parseIssues(t, fmt.Sprintf(`{"id":"a","dependencies":[{"type":%q,"depends_on_id":"b"}]}`, text))
		if got := entries[0].Facts.Links; want != "" && (len(got) != 1 || got[0].Type != want || got[0].Target != "issue/b") {
			t.Errorf("%q is %v, want %q", text, got, want)
		}
	}
}

func TestIsForeign(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		".beads/issues.jsonl": true, "sub/.beads/beads.jsonl": true, ".beads/interactions.jsonl": false,
		".beads/backup/issues.jsonl": false, "beads/issues.jsonl": false, "issues.jsonl": false, ".claude/issue_queue.md": false,
	} {
		if got := Recognize(path).IsForeign(); got != want {
			t.Errorf("%s is foreign: %t, want %t", path, got, want)
		}
	}
}

func TestReadable(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ path, text, want string }{
		{"a.md", "{\"a\":1}\n", "{\"a\":1}\n"},
		{"a.JSONL", "\ufeff{\"b\":\"x\\ny\\u00e9\",\"a\":[1,null,{\"c\":true,\"d\":\"\"}],\"e\":null}\r\n\nnot json\n[]\n{\"cut\": \n\"s\"",
			"b: x yé  a: 1, c: true\r\n\nnot json\n\n{\"cut\": \n\"s\""},
		{"x/.beads/issues.jsonl", `{"priority":1,"status":"open","description":"a\nb","id":"q-1","title":"T","labels":["l"]}` + "\nbroken\n",
			"q-1  T  open  high  a b  l\nbroken\n"},
	} {
		if got := string(Readable(test.path, []byte(test.text))); got != test.want {
			t.Errorf("%s is read as %q, want %q", test.path, got, test.want)
		}
	}
}

// FuzzReadable checks that lines stay lines, and that no issue is lost.
func FuzzReadable(f *testing.F) {
	f.Add([]byte("{\"id\":\"a\",\"b\":[{}]}\r\n[\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, path := range []string{"a.jsonl", ".beads/issues.jsonl"} {
			if got := Readable(path, text); bytes.Count(got, []byte("\n")) != bytes.Count(text, []byte("\n")) {
				t.Errorf("%q is read as %q", text, got)
			}
		}
		parseIssues(t, string(text))
	})
}

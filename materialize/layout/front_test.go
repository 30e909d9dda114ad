package layout_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/layout"
	"filebus/store/record"
)

func TestFrontFacts(t *testing.T) {
	t.Parallel()
	many := strings.Repeat("x, ", 10_000)
	for front, want := range map[string]layout.Facts{
		"---\ntitle: A stuck lock\ntags: [Locks, '#bbolt', two words]\nseverity: HIGH\ntype: Gotcha\nproject: filebus\nstatus: Open\nrelated:\n  - docs/a.md\n  - note/b\n---\n": {
			Title: "A stuck lock", Tags: []string{"Locks", "bbolt", "two words"}, Status: "open",
			Links:      []record.Link{{Type: "related", Target: "docs/a.md"}, {Type: "related", Target: "note/b"}},
			Attributes: map[string]string{"severity": "high", "type": "gotcha", "project": "filebus"},
		},
		"\ufeff---\r\ntags: one, two\r\nupdated: 2026-02-30\r\ndate: 2026-02-19 # a day\r\n---\r\n": {
			Tags: []string{"one", "two"}, Dates: []time.Time{time.Date(2026, 2, 19, 0, 0, 0, 0, time.UTC)},
		},
		"+++\ntitle = \"In TOML\"\ntags = [\"a\", \"b\"]\ndate = 2026-02-19T10:00:00Z\n+++\n": {
			Title: "In TOML", Tags: []string{"a", "b"}, Dates: []time.Time{time.Date(2026, 2, 19, 10, 0, 0, 0, time.UTC)},
		},
		"---\ntitle: 2026-02-19\ntags: ~\nstatus: null\ntype: {a: b}\nseverity:\nproject: " + strings.Repeat("p", 5000) + "\n---\n": {},
		"---\ntags: [" + many + "]\n---\n":                                {},
		"---\ntags: [" + strings.Repeat("t", 5000) + ", ok]\n---\n":       {Tags: []string{"ok"}},
		"---\ntags: alone\ntitle: \"it never closes\nstatus: done\n---\n": {Tags: []string{"alone"}, Title: "\"it never closes", Status: "done"},
		"---\ntitle: one\nTitle: two\n---\n":                              {Title: "two"},
		"---\ntags: [\"x,y\", z]\nrelated:\n- \"dq, comma\"\nLast Updated: 2026-02-18\ncreatedAt: 2026-02-17\n---\n": {
			Tags: []string{"x,y", "z"}, Links: []record.Link{{Type: "related", Target: "dq, comma"}},
			Dates: []time.Time{time.Date(2026, 2, 18, 0, 0, 0, 0, time.UTC), time.Date(2026, 2, 17, 0, 0, 0, 0, time.UTC)},
		},
		"---\nlast_modified_at: !!timestamp 2026-02-18\n---\n": {Dates: []time.Time{time.Date(2026, 2, 18, 0, 0, 0, 0, time.UTC)}},
		"---\n": {},
		"---\ntags: [a]\n" + strings.Repeat("x: y\n", 200_000): {},
	} {
		file, _ := layout.Note("n.md").Parse("n.md", []byte(front+"The text.\n"))
		got := file.Entries()[0].Facts
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.60q: -want +got\n%s", front, diff)
		}
	}
}

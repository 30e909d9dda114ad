package index

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

func TestHeadings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"none", "text\nmore", ""},
		{"levels", "# One\ntext\n###### Six\n####### Seven", "One|Six"},
		{"closing signs", "## Two ##\n", "Two"},
		{"no space", "#tag\n#\n", ""},
		{"indented", "   # Three\n    # Code", "Three"},
		{"CRLF", "# One\r\n# Two\r\n", "One|Two"},
		{"no final newline", "# One", "One"},
		{"in a fence", "# A\n```sh\n# comment\n```\n# B", "A|B"},
		{"in a longer fence", "````\n```\n# no\n````\n# B", "B"},
		{"tildes", "~~~ x`y\n# no\n```\n~~~\n# B", "B"},
		{"closed only without words", "```\n# no\n``` sh\n# no\n```\n", ""},
		{"never closed", "# A\n```\n# B\n", "A|B"},
		{"in a comment", "<!--\n# no\n-->\n# B", "B"},
		{"code in a line is no fence", "```a``` b\n# B", "B"},
		{"two backticks", "``\n# B", "B"},
	} {
		t.Run(test.name, func(t *testing.T) {
			text := []byte(test.text)
			got := strings.Join(strings.FieldsFunc(string(headings(text)), func(r rune) bool { return r == '\n' }), "|")
			if got != test.want {
				t.Errorf("headings(%q) = %q, want %q", test.text, got, test.want)
			}
			if string(text) != test.text {
				t.Errorf("headings changed %q to %q", test.text, text)
			}
		})
	}
}

func TestIsBinary(t *testing.T) {
	t.Parallel()
	random := make([]byte, 4096)
	generator := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(1 + generator.IntN(255))
	}
	for _, test := range []struct {
		name string
		body []byte
		want bool
	}{
		{"empty", nil, false},
		{"text", []byte("plain text"), false},
		{"UTF-8", []byte("état 検索 🧁"), false},
		{"Latin-1", []byte("un caf\xe9 tr\xe8s bon, d\xe9j\xe0 vu"), false},
		{"NUL", []byte("text\x00text"), true},
		{"NUL far behind", append(bytes.Repeat([]byte("text"), sniff), 0), false},
		{"random bytes", random, true},
		{"one invalid byte", []byte("\xff"), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := isBinary(test.body); got != test.want {
				t.Errorf("isBinary(%.40q) = %v, want %v", test.body, got, test.want)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	document := &Document{
		Record: record.Record{
			Name: record.Name{Tree: "other", Kind: record.KindMarker, ID: "task-003"},
			Time: time.Date(2026, 1, 2, 23, 30, 0, 0, time.FixedZone("", -3600)),
			Task: "003", Tags: []string{"auth", "jwt"}, Session: strings.Repeat("s", 2*maxKey),
		},
	}
	got := document.keys()
	want := []string{
		"day\x002026-01-03", "kind\x00marker", "tree\x00other", "tag\x00auth", "tag\x00jwt",
		"session\x00" + strings.Repeat("s", maxKey), "task\x00003", "quiet\x00",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("keys: -want +got\n%s", diff)
	}
}

func TestQuietKinds(t *testing.T) {
	t.Parallel()
	quiet := []record.Kind{record.KindMarker, record.KindState, record.KindSnapshot, record.KindFrame}
	for _, kind := range record.Kinds() {
		if got, want := IsQuiet(kind), slices.Contains(quiet, kind); got != want {
			t.Errorf("IsQuiet(%s) = %v, want %v", kind, got, want)
		}
	}
}

func TestEntryFields(t *testing.T) {
	t.Parallel()
	document := &Document{
		Record: record.Record{
			Name: record.Name{Kind: record.KindNote, ID: "docs/setup.md"}, Agent: "web_researcher", Time: time.Unix(5, 6),
		},
		Title:   "Setup guide",
		Text:    []byte("# Install\n\nRun it."),
		Preview: "unseen",
	}
	e := NewAnalyzer().entry(document)
	got := map[string][]string{"keys": e.keys, "facts": {e.encoded}}
	slices.Sort(e.keys)
	for i, counts := range e.terms {
		for _, c := range counts {
			got[scored[i].name] = append(got[scored[i].name], e.analyzer.terms[c.term])
		}
		slices.Sort(got[scored[i].name])
	}
	want := map[string][]string{
		"title":    {"guid", "setup"},
		"headings": {"instal"},
		"path":     {"doc", "md", "research", "setup", "setupmd", "web", "webresearch"},
		"body":     {"instal", "run"},
		"keys":     {"agent\x00web_researcher", "day\x001970-01-01", "kind\x00note", "tree\x00"},
		"facts":    {e.facts.encode()},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields of %+v: -want +got\n%s", document, diff)
	}
}

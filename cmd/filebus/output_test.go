package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/knowledge"
	"filebus/query"
)

func TestPrintTable(t *testing.T) {
	rows := [][]string{{"a", "long cell", "x"}, {"bcd", "e\tf\x1b[1m", ""}, {"é", "g", "y"}}
	for _, c := range []struct {
		terminal bool
		want     string
	}{
		{false, "a\tlong cell\tx\nbcd\te f [1m\t\né\tg\ty\n"},
		{true, "a    long cell  x\nbcd  e f [1m\né    g          y\n"},
	} {
		env, out, _ := fakeEnviron(t)
		env.OutTerminal = c.terminal
		env.PrintTable(rows)
		if got := out.String(); got != c.want {
			t.Errorf("terminal %v:\n%q; want\n%q", c.terminal, got, c.want)
		}
	}
}

func TestByteSize(t *testing.T) {
	t.Parallel()
	for n, want := range map[int64]string{
		0: "0 B", 9_999: "9999 B", 10_000: "10 KB", 9_999_499: "9999 KB", 10_000_000: "10 MB", 10_000_000_000: "10.0 GB",
	} {
		if got := cli.ByteSize(n); got != want {
			t.Errorf("byteSize(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestBold(t *testing.T) {
	snippet := query.Snippet{Text: "the heron stands", Marks: []query.ByteRun{{Start: 4, End: 9}}}
	for _, c := range []struct {
		terminal  bool
		variables []string
		want      string
	}{
		{false, nil, "the heron stands"},
		{true, nil, "the \x1b[1mheron\x1b[0m stands"},
		{true, []string{"NO_COLOR", "1"}, "the heron stands"},
		{true, []string{"TERM", "dumb"}, "the heron stands"},
	} {
		env, _, _ := fakeEnviron(t, c.variables...)
		env.OutTerminal = c.terminal
		var out strings.Builder
		writeWrapped(env, &out, "", snippet)
		if got := out.String(); got != "  "+c.want+"\n" {
			t.Errorf("terminal %v, %q: %q; want %q", c.terminal, c.variables, got, c.want)
		}
	}
}

func TestParseLines(t *testing.T) {
	for _, c := range []struct {
		text string
		want query.Span
		bad  bool
	}{
		{"40+9000-", query.Span{From: 40, To: 0}, false},
		{"40+-", query.Span{}, true},
		{"+3-", query.Span{}, true},
		{"", query.Span{}, false},
		{"40-80", query.Span{From: 40, To: 80}, false},
		{"40-", query.Span{From: 40}, false},
		{"-80", query.Span{From: 1, To: 80}, false},
		{"40", query.Span{From: 40, To: 40}, false},
		{"-", query.Span{}, true},
		{"0-3", query.Span{}, true},
		{"0", query.Span{}, true},
		{"5-3", query.Span{}, true},
		{"a-b", query.Span{}, true},
		{"1-2-3", query.Span{}, true},
		{"99999999999999999999", query.Span{}, true},
	} {
		got, skip, err := parseLines(c.text)
		if got != c.want || (skip == 9000) != strings.Contains(c.text, "9000") || (err != nil) != c.bad {
			t.Errorf("parseLines(%q) = %v, %v; want %v, error %v", c.text, got, err, c.want, c.bad)
		}
	}
}

func TestPresentLines(t *testing.T) {
	lines := strings.Split(strings.Repeat("a line of text\n", 100), "\n")
	env, out, _ := fakeEnviron(t)
	show := func(maxTokens int) string {
		out.Reset()
		p := cli.Presentation{
			MaxTokens: maxTokens, Rest: "filebus show X --max-tokens 0",
		}
		if err := (&cli.Work{Environ: env}).PresentLines(lines, p); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if got := show(0); strings.Count(got, "\n") != len(lines) {
		t.Errorf("without a bound: %d lines of %d", strings.Count(got, "\n"), len(lines))
	}
	got := show(60)
	if len(got) > 4*60 || !strings.HasSuffix(got, " more; filebus show X --max-tokens 0\n") || !strings.HasPrefix(got, "a line") {
		t.Errorf("bound of 60 tokens: %q", got)
	}
}

// TestProgress shows a bar on a terminal only, and only for work over a second.
func TestProgress(t *testing.T) {
	for _, c := range []struct {
		name           string
		terminal, json bool
		took           time.Duration
		shown          bool
	}{
		{"long", true, false, 2 * time.Second, true},
		{"short", true, false, time.Second / 2, false},
		{"pipe", false, false, time.Hour, false},
		{"json", true, true, time.Hour, false},
	} {
		env, _, stderr := fakeEnviron(t)
		now := env.Now()
		env.Now = func() time.Time { return now }
		env.ErrTerminal, env.Global.JSON = c.terminal, c.json
		show, clear := env.Progress("working")
		show(100, 200)
		now = now.Add(c.took)
		cli.Counted(show)(120, 200)
		clear()
		const want = "working, 10/s, 8s left" // what was done before does not count
		if shown := bytes.Contains(stderr.Bytes(), []byte(want)); shown != c.shown {
			t.Errorf("%s: bar %q shown: %v; want %v\n%q", c.name, want, shown, c.shown, stderr)
		}
	}
}

func TestNameOfKind(t *testing.T) {
	for text, want := range map[string]string{
		"pattern-001": "knowledge/pattern-001", "lib:pattern-001": "lib:knowledge/pattern-001",
		"note/x": "note/x", "0123456789ab": "0123456789ab",
	} {
		if got := knowledge.NameOfKind(text, "knowledge"); got != want {
			t.Errorf("nameOfKind(%q) = %q; want %q", text, got, want)
		}
	}
}

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"filebus/cmd/filebus/cli"
	"filebus/store/record"
)

func TestTerminal(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"plain\ttext\n", "plain\ttext\n"},
		{"\x1b[31mred\x1b]0;title\x07", `\x1b[31mred\x1b]0;title\x07`},
		{"\u009b31m \x9b31m \xff\xfe", `\u009b31m \x9b31m \xff\xfe`},
		{"over\rwritten\r\nline\r", "over\\rwritten\r\nline\\r"},
		{"\u202eabc\u2066\u200f\u061c\u2028", `\u202eabc\u2066\u200f\u061c\u2028`},
		{"a\u200db \u200c\u200b", `a\u200db \u200c\u200b`},
		{"👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 می\u200cخواهم", "👨\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 می\u200cخواهم"},
		{"tag \U000e0041\u00ad\ufeff", `tag \udb40\udc41\u00ad\ufeff`},
		{cli.BoldOn + "not ours" + cli.BoldOff, `\x1b[1mnot ours\x1b[0m`},
		{"cut \xe2\x80", `cut \xe2\x80`},
		{"\x00\b\x7f", `\x00\x08\x7f`},
	} {
		for _, size := range []int{1, 2, 3, 1000} {
			var out bytes.Buffer
			w := &cli.Terminal{To: &out, Styles: strings.NewReplacer()}
			for text := []byte(c.text); len(text) > 0; text = text[min(size, len(text)):] {
				if n, err := w.Write(text[:min(size, len(text))]); err != nil || n != min(size, len(text)) {
					t.Fatal(n, err)
				}
			}
			if err := w.Flush(); err != nil || out.String() != c.want {
				t.Errorf("%q in pieces of %d: %q, %v; want %q", c.text, size, out.String(), err, c.want)
			}
		}
	}
}

// hostile is what an agent may write anywhere.
const hostile = "a heron\x1b[31m\x1b]0;x\x07\u009b1m\u202egnp\u2066\u200b\u200f\u2028\U000e0041\rz\x7f\x9b"

// TestHostileText stores texts full of what terminals obey, in every place that takes
// them, and looks at what each command shows, its errors and notes too: nothing of it
// gets through, but our own styles do, and all of it where no terminal is.
func TestHostileText(t *testing.T) {
	env, out, stderr := fakeEnviron(t, "NO_GIT", "1")
	env.Now = time.Now
	here := func(name, text string) {
		file := filepath.Join(env.Dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Logf("%q: %v", name, err)
		}
		_ = os.Chtimes(file, time.Time{}, time.Now().Add(-time.Hour)) // a fresh one is left alone for a while
	}
	name := strings.NewReplacer("/", "", "\r", "", "\x00", "").Replace(hostile)
	here("notes/"+name+".md", "# "+hostile+"\n\n"+hostile+" stands.\n")
	here("bad\u202e.md", "---\ntitle: "+hostile+"\n---\n"+hostile)
	here("issues/issue_queue.md", "# Issue Queue\n\n## ISSUE-20260302-001\n**Description**: "+hostile+"\n**Status**: "+hostile+"\n")
	bold := false
	for _, line := range [][]string{
		{"init"}, {"capture", ".", "--tree", "t" + name}, {"capture", "."}, {"sync"},
		{"put", "notes/" + name + ".md", "--agent", hostile, "--tag", hostile},
		{"put", "notes/" + name + ".md", "--agent", name, "--tag", "h\u202eb", "--conversation", "c\u202e" + name},
		{"list"}, {"list", "--json"}, {"list", "--agent", hostile}, {"log"}, {"status"}, {"tag", "list"}, {"conversation", "list"},
		{"search", "heron"}, {"search", hostile}, {"search", "heron", "--lines"}, {"search", "heron", "--json"}, {"search", "heron", "--explain"},
		{"get", "notes/" + name + ".md"}, {"get", hostile}, {"show", "notes/" + name + ".md"}, {"show", hostile},
		{"preview", "notes/" + name + ".md"}, {"lint", "."}, {"issue", "list"}, {"issue", "add", hostile}, {"task", "start", hostile}, {"task", "list"},
		{"knowledge", "add", "--type", "pattern", hostile}, {"knowledge", "list"}, {"context", "heron"}, {"context", hostile}, {"budget"},
		{"materialize", "--to", "out" + name}, {"gc", "--kind", "note", "--dry-run"}, {"rm", hostile}, {"combine", "notes/" + name + ".md"},
		{hostile}, {"search", "--" + hostile}, {"put", hostile}, {"session", "list"}, {"run", "show"}, {"dialogue", "new", hostile},
		{"dialogue", "list"}, {"conflicts"}, {"verify"}, {"snapshot", "list"}, {"guide", hostile}, {"help", hostile}, {"path", hostile},
		{"get", "notes/" + name + ".md", "--store", hostile}, {"get", "--json", hostile}, {"config"},
	} {
		out.Reset()
		stderr.Reset()
		env.OutTerminal, env.ErrTerminal = true, true
		run(t.Context(), env, line)
		shown := out.String() + stderr.String()
		bold = bold || strings.Contains(shown, cli.BoldOn)
		shown = strings.NewReplacer(cli.BoldOn, "", cli.BoldOff, "").Replace(shown)
		before := rune(0)
		for _, r := range shown {
			if !utf8.ValidString(shown) || record.IsHidden(r) && r != '\n' && r != '\t' && !record.Joins(before, r) {
				t.Errorf("filebus %q lets %U through: %.2000q", line, r, shown)
				break
			}
			before = r
		}
	}
	if !bold {
		t.Error("our own styles do not get through")
	}
	out.Reset()
	env.OutTerminal, env.ErrTerminal = false, false
	run(t.Context(), env, []string{"get", "001:note/bad\u202e.md"})
	if !strings.HasSuffix(out.String(), hostile) {
		t.Errorf("a pipe gets %q; want the text as it is", out)
	}
}

package markdown

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scanMarks returns one word for each line of text: its heading level, "quiet",
// "open" or "text".
func scanMarks(text string) string {
	var marks []string
	for _, l := range Lines([]byte(text)) {
		switch {
		case l.Quiet:
			marks = append(marks, "quiet")
		case l.Open:
			marks = append(marks, "open")
		case l.Level > 0:
			marks = append(marks, fmt.Sprint(l.Level))
		default:
			marks = append(marks, "text")
		}
	}
	return strings.Join(marks, " ")
}

func TestLinesMarks(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"empty", "", ""},
		{"headings", "# a\n###### b\n####### c\n#d\n#\n   ## e\n    # f\n", "1 6 text text 1 2 text"},
		{"byte order mark", "\ufeff# a\n\ufeff# b\n", "1 text"},
		{"CRLF", "# a\r\n```\r\n# b\r\n```\r\n# c", "1 quiet quiet quiet 1"},
		{"fence", "```go\n# a\n```\n# b\n", "quiet quiet quiet 1"},
		{"longer fence", "````\n```\n# a\n````\n# b\n", "quiet quiet quiet quiet 1"},
		{"longer end", "```\n# a\n`````  \n# b\n", "quiet quiet quiet 1"},
		{"tildes", "~~~ a`b\n```\n~~~\n# b\n", "quiet quiet quiet 1"},
		{"fence within a fence", "```\n~~~\n```\n# a\n~~~\n# b\n", "quiet quiet quiet 1 open 1"},
		{"end with words", "```\n# a\n``` b\n```\n", "quiet quiet quiet quiet"},
		{"never closed", "```\n# a\n", "open 1"},
		{"closed by a shorter one", "````\n# a\n```\n", "open 1 open"},
		{"backquote in the words", "``` a`b\n# a\n```\n", "text 1 open"},
		{"indented fence", "   ```\n# a\n  ```\n# b\n", "quiet quiet quiet 1"},
		{"code by indent", "    ```\n# a\n", "text 1"},
		{"short fence", "``\n# a\n``\n", "text 1 text"},
		{"comment", "<!--\n# a\n-->\n# b\n", "quiet quiet quiet 1"},
		{"comment of a line", "<!-- a -->\n# b\n", "quiet 1"},
		{"comment never closed", "<!-- a\n# b\n", "open 1"},
		{"comment in text", "a <!-- b\n# c\n-->\n", "text 1 text"},
		{"fence in a comment", "<!--\n```\n-->\n# a\n", "quiet quiet quiet 1"},
		{"comment in a fence", "```\n<!--\n```\n# a\n", "quiet quiet quiet 1"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := scanMarks(test.text); got != test.want {
				t.Errorf("lines of %q are %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestScanLinesPlaces(t *testing.T) {
	t.Parallel()
	const text = "\ufeffa\r\n\nb\rc\n\r\nd"
	var got []string
	for _, l := range Lines([]byte(text)) {
		got = append(got, fmt.Sprintf("%d: %q at %d in %d-%d", l.Number, l.Text, l.At, l.Start, l.End))
	}
	want := []string{
		`1: "a" at 3 in 0-6`, `2: "" at 6 in 6-7`, `3: "b\rc" at 7 in 7-11`, `4: "" at 11 in 11-13`, `5: "d" at 13 in 13-14`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines of %q (-want +got):\n%s", text, diff)
	}
}

func TestScanHeading(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text  string
		level int
		title string
	}{
		{"# a", 1, "a"}, {"##  a b  ", 2, "a b"}, {"### a ##", 3, "a"}, {"### a#", 3, "a#"}, {"### C #", 3, "C"},
		{"#", 1, ""}, {"## ##", 2, ""}, {"#\ta", 1, "a"}, {"#a", 0, ""}, {"####### a", 0, ""}, {"", 0, ""}, {"a # b", 0, ""},
	}
	for _, test := range tests {
		level, title := Heading([]byte(test.text))
		if level != test.level || title != test.title {
			t.Errorf("scanHeading(%q) = %d, %q, want %d, %q", test.text, level, title, test.level, test.title)
		}
	}
}

func TestIsScanRule(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"---": true, "***": true, "_____": true, "- - -": true, "  ---  ": true, "-\t-\t-": true,
		"--": false, "": false, "--- a": false, "-*-": false, "    ---": false, "- --": true, "===": false, "   ": false,
	}
	for text, want := range tests {
		if got := IsRule([]byte(text)); got != want {
			t.Errorf("isScanRule(%q) = %t, want %t", text, got, want)
		}
	}
}

func TestScanRow(t *testing.T) {
	t.Parallel()
	tests := []struct {
		line string
		want []string // nil: no row
	}{
		{"| a | b |", []string{"a", "b"}},
		{"|a|b|", []string{"a", "b"}},
		{"  | a | b", []string{"a", "b"}},
		{"| a |  | c |  ", []string{"a", "", "c"}},
		{"||", []string{""}},
		{`| a \| b | \\| |`, []string{`a \| b`, `\\|`}},
		{`| a \|`, []string{`a \|`}},
		{"|", nil},
		{"a | b", nil},
		{"", nil},
	}
	for _, test := range tests {
		cells, ok := Row([]byte(test.line))
		var got []string
		for _, c := range cells {
			got = append(got, c.Text)
			if test.line[c.Start:c.End] != c.Text {
				t.Errorf("cell %q of %q stands at %q", c.Text, test.line, test.line[c.Start:c.End])
			}
		}
		if diff := cmp.Diff(test.want, got); diff != "" || ok != (test.want != nil) {
			t.Errorf("scanRow(%q), %t (-want +got):\n%s", test.line, ok, diff)
		}
	}
}

func TestIsTableDelimiter(t *testing.T) {
	t.Parallel()
	tests := map[string]bool{
		"|---|---|": true, "| :-- | --: |": true, "|:-:|": true, "|-|": true,
		"| a |---|": false, "|  |---|": false, "|:|": false, "|--- ---|": false,
	}
	for line, want := range tests {
		cells, _ := Row([]byte(line))
		if got := IsDelimiter(cells); got != want {
			t.Errorf("isTableDelimiter(%q) = %t, want %t", line, got, want)
		}
	}
}

func TestEscapeCell(t *testing.T) {
	t.Parallel()
	tests := []struct{ value, cell string }{
		{"a", "a"}, {"a | b", `a \| b`}, {`a\|b`, `a\\|b`}, {`\`, `\`}, {"||", `\|\|`}, {"", ""},
	}
	for _, test := range tests {
		if got := EscapeCell(test.value); got != test.cell {
			t.Errorf("escapeCell(%q) = %q, want %q", test.value, got, test.cell)
		}
		row := "| " + test.cell + " | end |"
		cells, _ := Row([]byte(row))
		if len(cells) != 2 || UnescapeCell(cells[0].Text) != test.value {
			t.Errorf("row %q does not give %q back: %+v", row, test.value, cells)
		}
	}
	if got := EscapeCell(" a\r\n\tb "); got != "a b" {
		t.Errorf("escapeCell of two lines = %q, want one", got)
	}
}

func TestLineEnding(t *testing.T) {
	t.Parallel()
	tests := []struct{ text, want string }{
		{"", "\n"}, {"a", "\n"}, {"a\nb\r\n", "\n"}, {"a\r\nb\n", "\r\n"}, {"\n", "\n"}, {"\r\n", "\r\n"}, {"a\rb", "\n"},
	}
	for _, test := range tests {
		if got := LineEnding([]byte(test.text)); got != test.want {
			t.Errorf("LineEnding(%q) = %q, want %q", test.text, got, test.want)
		}
	}
}

// FuzzLines checks that the lines of any text are all of it, and that each is one thing.
func FuzzLines(f *testing.F) {
	for _, test := range outlineTexts {
		f.Add([]byte(test.text))
	}
	for _, text := range randomTexts(500) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var joined []byte
		for i, l := range Lines(text) {
			joined = append(joined, text[l.Start:l.End]...)
			is := map[bool]int{true: 1}
			if !bytes.HasPrefix(text[l.At:l.End], l.Text) || l.Start != len(joined)-(l.End-l.Start) || l.Number != i+1 ||
				is[l.Quiet]+is[l.Open]+is[l.Level > 0] > 1 || l.Behind > 0 && !l.Quiet {
				t.Errorf("line %d of %q is %+v", i+1, text, l)
			}
		}
		if !bytes.Equal(joined, text) {
			t.Errorf("the lines of %q are %q", text, joined)
		}
	})
}

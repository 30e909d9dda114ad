package finder

import (
	"strings"
	"testing"

	"github.com/gdamore/tcell/v3"
	"github.com/google/go-cmp/cmp"

	"filebus/query"
)

// rows returns the text of rows; marked characters are upper case.
func rows(all [][]cell) []string {
	out := []string{}
	for _, row := range all {
		text := ""
		for _, c := range row {
			if c.marked {
				text += strings.ToUpper(c.text)
			} else {
				text += c.text
			}
		}
		out = append(out, text)
	}
	return out
}

func TestWrap(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text  string
		marks []query.ByteRun
		width int
		want  []string
	}{
		{"", nil, 5, []string{""}},
		{"one two three", nil, 5, []string{"one ", "two ", "three"}},
		{"onetwothree", nil, 5, []string{"onetw", "othre", "e"}},
		{"漢字漢", nil, 5, []string{"漢字", "漢"}},
		{"漢字", nil, 1, []string{"漢", "字"}},
		{"a\tb", nil, 9, []string{"a   b"}},
		{"ab\x00\x1b[1mcd\xff", nil, 20, []string{"ab  [1mcd\ufffd"}},
		{"one two", []query.ByteRun{{Start: 4, End: 7}}, 20, []string{"one TWO"}},
		{"one two", []query.ByteRun{{Start: 0, End: 1}, {Start: 2, End: 5}}, 20, []string{"OnE Two"}},
		{"e\u0301a", nil, 1, []string{"e\u0301", "a"}},
	}
	for _, test := range tests {
		p := newPage(Text{Body: []byte(test.text + "\n"), Marks: test.marks, Line: 1})
		got := rows(wrap(p.cells(0, 1000), test.width))
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%q in %d columns (-want +got):\n%s", test.text, test.width, diff)
		}
	}
}

// TestLongLine shows the word in a line that is longer than the screen.
func TestLongLine(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("é filler", 5000) + " needle " + strings.Repeat("more ", 5000)
	at := strings.Index(text, "needle")
	p := newPage(Text{Body: []byte(text), Marks: []query.ByteRun{{Start: at, End: at + 6}}, Line: 1})
	got := strings.Join(rows([][]cell{p.cells(0, 800)}), "")
	if !strings.HasPrefix(got, "…") || !strings.Contains(got, "NEEDLE") || len(got) > 12000 {
		t.Errorf("cells of a long line, %d bytes: %.300s", len(got), got)
	}
}

func TestLines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want []string
	}{
		{"", nil},
		{"\n", []string{""}},
		{"a", []string{"a"}},
		{"a\r\nb\n", []string{"a", "b"}},
		{"a\n\nb", []string{"a", "", "b"}},
	}
	for _, test := range tests {
		p := newPage(Text{Body: []byte(test.text)})
		var got []string
		for _, run := range p.lines {
			got = append(got, test.text[run.Start:run.End])
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("lines of %q (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	press := func(k tcell.Key) *tcell.EventKey { return tcell.NewEventKey(k, "", tcell.ModNone) }
	tests := []struct {
		name string
		keys []*tcell.EventKey
		want string
		at   int
	}{
		{"nothing", nil, "one two", 7},
		{"backspace", []*tcell.EventKey{press(tcell.KeyBackspace)}, "one tw", 6},
		{"backspace at the start", []*tcell.EventKey{press(tcell.KeyHome), press(tcell.KeyBackspace2)}, "one two", 0},
		{"delete", []*tcell.EventKey{press(tcell.KeyCtrlA), press(tcell.KeyDelete)}, "ne two", 0},
		{"delete at the end", []*tcell.EventKey{press(tcell.KeyDelete)}, "one two", 7},
		{"word", []*tcell.EventKey{press(tcell.KeyCtrlW)}, "one ", 4},
		{"two words", []*tcell.EventKey{press(tcell.KeyCtrlW), press(tcell.KeyCtrlW)}, "", 0},
		{"to the start", []*tcell.EventKey{press(tcell.KeyLeft), press(tcell.KeyCtrlU)}, "o", 0},
		{"to the end", []*tcell.EventKey{press(tcell.KeyCtrlA), press(tcell.KeyRight), press(tcell.KeyCtrlK)}, "o", 1},
		{"insert", []*tcell.EventKey{press(tcell.KeyHome), tcell.NewEventKey(tcell.KeyRune, "é", tcell.ModNone)}, "éone two", 1},
		{"alt letter", []*tcell.EventKey{tcell.NewEventKey(tcell.KeyRune, "x", tcell.ModAlt)}, "one two", 7},
	}
	for _, test := range tests {
		p := newPrompt("one two")
		for _, event := range test.keys {
			p.key(event)
		}
		if p.String() != test.want || p.at != test.at {
			t.Errorf("%s: %q at %d; want %q at %d", test.name, p.String(), p.at, test.want, test.at)
		}
	}
}

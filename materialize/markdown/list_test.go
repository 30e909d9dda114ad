package markdown

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseList(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text string
		want []string
	}{
		{"", nil}, {" , ,", nil}, {"[a, b]", []string{"a", "b"}}, {"a,\r\nb\nc", []string{"a", "b", "c"}},
		{"src/{a,b}.ts, f(x, y)", []string{"src/{a,b}.ts", "f(x, y)"}},
		{"`a,b`, \"c, d\", 'e'", []string{"a,b", "c, d", "e"}},
		{"it's, (a, b", []string{"it's", "(a", "b"}}, // what nothing closes hides no comma
		{"[a], b]", []string{"[a]", "b]"}},
		{"- a\n  * b\r\n  2. c, -d", []string{"a", "b", "c", "-d"}},
		{"größe, 大きさ", []string{"größe", "大きさ"}},
	} {
		if diff := cmp.Diff(test.want, ParseList(test.text)); diff != "" {
			t.Errorf("ParseList(%q) (-want +got):\n%s", test.text, diff)
		}
	}
}

func TestFormatList(t *testing.T) {
	t.Parallel()
	items := []string{"a", "b,  c", "two\nlines", "- d"}
	text := FormatList(items)
	if want := `a, "b, c", two lines, "- d"`; text != want {
		t.Errorf("FormatList(%q) = %q, want %q", items, text, want)
	}
	if diff := cmp.Diff([]string{"a", "b, c", "two lines", "- d"}, ParseList(text)); diff != "" {
		t.Errorf("%q, read again (-want +got):\n%s", text, diff)
	}
}

func TestParseItems(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text   string
		want   []string
		isList bool
	}{
		{"- a\n* b  c\n+ d\n1. e\n2) f\r\n", []string{"a", "b c", "d", "e", "f"}, true},
		{"- a\n  goes on\n\n  - and on\n- b", []string{"a goes on - and on", "b"}, true},
		{"Intro:\n- a", []string{"a"}, true},
		{"one\n\n two\n1.5 three\n-four", []string{"one", "two", "1.5 three", "-four"}, false},
		{"1234567890. a", []string{"1234567890. a"}, false}, {"3.", []string{"3."}, false}, {"", nil, false},
	} {
		got, isList := ParseItems(test.text)
		if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" || isList != test.isList {
			t.Errorf("ParseItems(%q) is a list: %t, want %t (-want +got):\n%s", test.text, isList, test.isList, diff)
		}
	}
}

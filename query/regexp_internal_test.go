package query

import (
	"strings"
	"testing"
)

func TestExpressionWords(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{`connection to db-\w+ refused after \d+s`, "to db\nrefused after"},
		{`timeout`, ""},
		{`^timeout$`, "\ntimeout\n"},
		{`\btimeout\b`, "\ntimeout\n"},
		{`(?i)^(lease) held\s+by (?:x|y) for`, "\nLEASE HELD\nBY"},
		{`don't panic`, ""},
		{` don't panic' `, "don't panic"},
		{` it'`, ""},
		{` C\+`, ""},
		{`v1\.2 is 3.`, "is"},
		{`.5 ms and`, "ms"},
		{` a\x00b c `, "c"},
		{`( (one ))+two `, "one"},
		{`( one )?two `, ""},
		{`[ab] c `, "c"},
		{"x é\u0301tat y", "é\u0301tat"},
	} {
		e, err := NewExpression(test.text)
		if err != nil {
			t.Errorf("NewExpression(%q): %v", test.text, err)
			continue
		}
		if got, want := plain(e.words), plain(test.want); got != want {
			t.Errorf("%q has the words %q; want %q", test.text, got, want)
		}
	}
}

// plain is a text with one space for what stands between its words.
func plain(text string) string { return strings.Join(strings.Fields(text), " ") }

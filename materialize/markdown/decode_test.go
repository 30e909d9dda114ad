package markdown_test

import (
	"testing"

	"filebus/materialize/markdown"
)

func TestDecode(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, text, want string }{
		{"UTF-8", "caf\u00e9 \u20ac", "caf\u00e9 \u20ac"},
		{"Latin-1", "un caf\xe9 na\xefve", "un caf\u00e9 na\u00efve"},
		{"Windows", "he said it\x92s \x93so\x94", "he said it\u2019s \u201cso\u201d"},
		{"one broken byte", "gr\u00fc\xdfe und mehr", "gr\u00fc\u00dfe und mehr"},
		{"little endian", "\xff\xfea\x00\n\x00\xe9\x00", "a\n\u00e9"},
		{"big endian", "\xfe\xff\x00a\x00\n\x20\xac", "a\n\u20ac"},
		{"a pair, and half a unit", "\xff\xfe\x3d\xd8\x00\xdez", "\U0001f600"},
		{"Cyrillic of Windows stays", "\xef\xf0\xe8\xe2\xe5\xf2", "\xef\xf0\xe8\xe2\xe5\xf2"},
		{"bytes stay", "\x00\x01\xff", "\x00\x01\xff"},
		{"UTF-32", "\xff\xfe\x00\x00a\x00\x00\x00\xe9\x00\x00\x00", "a\u00e9"},
		{"UTF-32, big endian", "\x00\x00\xfe\xff\x00\x00\x00a\x00\x01\xf6\x00", "a\U0001f600"},
		{"no unit of UTF-32", "\xff\xfe\x00\x00\xff\xff\xff\xff", "\ufffd"},
		{"no mark", "# \x00a\x00\n\x00", "# \x00a\x00\n\x00"},
		{"no mark, whole", "#\x00 \x00\xe9\x00\n\x00", "# \u00e9\n"},
		{"no mark, big endian", "\x00#\x00 \x20\xac\x00\n", "# \u20ac\n"},
		{"pixels", "\x01\x02\x00\x04\x05\x06\x07\x09\x0a\x0b\x0c\x0d\x0e\x0f", "\x01\x02\x00\x04\x05\x06\x07\x09\x0a\x0b\x0c\x0d\x0e\x0f"},
		{"zeros", "\x00\x00\x00\x00", "\x00\x00\x00\x00"},
	} {
		if got := string(markdown.Decode([]byte(test.text))); got != test.want {
			t.Errorf("%s: Decode(%q) = %q, want %q", test.name, test.text, got, test.want)
		}
	}
}

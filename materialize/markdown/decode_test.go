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
		{"UTF-32 stays", "\xff\xfe\x00\x00a\x00\x00\x00", "\xff\xfe\x00\x00a\x00\x00\x00"},
	} {
		if got := string(markdown.Decode([]byte(test.text))); got != test.want {
			t.Errorf("%s: Decode(%q) = %q, want %q", test.name, test.text, got, test.want)
		}
	}
}

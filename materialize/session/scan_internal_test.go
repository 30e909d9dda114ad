package session

import (
	"strings"
	"testing"

	"filebus/store/record"
)

// TestTailScan reads each text whole, and cut in two at every place.
func TestTailScan(t *testing.T) {
	const code, character = "it ends within a block of code", "it ends within a character"
	tests := []struct{ text, want string }{
		{"", ""},
		{"text", ""},
		{"```go\nx\n```\n", ""},
		{"```go\nx\n```", ""},
		{"```go\nx\n", code},
		{"```go\nx\n``", code},
		{"```go\nx\n```go\n", code},
		{"```go\r\nx\r\n```  \r\n", ""},
		{"````\n```\n````\n", ""},
		{"````\n```\n", code},
		{"~~~\n```\n~~~\n", ""},
		{"~~~ `a`\nx\n", code},
		{"``` `a`\nx\n", ""},
		{"    ```\nx\n", ""},
		{"   ```\nx\n", code},
		{strings.Repeat("a", 300) + "```\n", ""},
		{"caf\u00e9", ""},
		{"caf\xc3", character},
		{"\xf0\x9f\xa7", character},
		{"\xf0\x9f\xa7\x81", ""},
		{"\x00```\ncaf\xc3", ""},
	}
	for _, test := range tests {
		for at := range len(test.text) + 1 {
			s := newTailScan()
			_, _ = s.Write([]byte(test.text[:at])) // never fails
			_, _ = s.Write([]byte(test.text[at:]))
			if got := s.cut(true); got != test.want || s.size != int64(len(test.text)) || s.digest.Digest() != record.DigestOf([]byte(test.text)) {
				t.Errorf("%q cut at %d: %q, %d bytes; want %q", test.text, at, got, s.size, test.want)
			}
		}
	}
}

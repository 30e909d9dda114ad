package session

import (
	"strings"
	"testing"
)

func TestEndsEarly(t *testing.T) {
	t.Parallel()
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
		if got := endsEarly([]byte(test.text), true); got != test.want {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

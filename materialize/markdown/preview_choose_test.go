package markdown

import (
	"strings"
	"testing"
)

// TestPreviewOfBytes has outputs that an editor would not keep as they are.
func TestPreviewOfBytes(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"CRLF", "---\r\nid: 7\r\n---\r\n# T\r\n\r\nStatus: done\r\nOwner: api\r\n\r\nThe first\r\nparagraph.\r\n", "The first paragraph."},
		{"CR alone", "one\rtwo\r", "one two"},
		{"byte order mark", "\ufeff# T\n\nText.\n", "Text."},
		{"byte order mark and JSON", "\ufeff{\"summary\": \"S.\"}", "S."},
		{"Latin-1", "# R\xe9sum\xe9\n\nLe caf\xe9 est ferm\xe9.\n", "Le caf\ufffd est ferm\ufffd."},
		{"cut in a rune", "L\xc3\xa4nge \xe2\x82", "Länge \ufffd"},
		{"NUL", "text\x00", ""},
		{"UTF-16", "\xff\xfeT\x00e\x00x\x00t\x00", ""},
		{"ZIP", "PK\x03\x04\x14\x00\x08\x00", ""},
		{"white space of many kinds", "\u00a0\u2003\n\t\u3000", ""},
		{"no-break spaces", "one\u00a0two", "one two"},
		{"colours in a heading", "\x1b[1;34m## Result\x1b[0m\n\n\x1b[32mAll tests pass.\x1b[0m\n", "All tests pass."},
		{"progress bar", "10%\r50%\r100%\nDone.\n", "Done."},
		{"hard break by spaces", "one  \ntwo\n", "one two"},
		{"summary, the end missing", `{"title": "T", "summary": "S.", "rows": [1, 2`, "S."},
		{"summary after the end that is missing", `{"rows": [1, 2, "summary": "S."`, `{"rows": [1, 2, "summary": "S."`},
		{"JSON lines with summaries", "{\"summary\": \"a\"}\n{\"summary\": \"b\"}\n", `{"summary": "a"} {"summary": "b"}`},
		{"summary in an object, then prose", "{\"summary\": \"a\"}\n\nThe report.\n", "a"},
		{"escaped summary", `{"summary": "a\u0000b\u001b[31m\nc\ud83d"}`, "ab c\ufffd"},
		{"CJK cut by rune", strings.Repeat("令牌桶", 200), strings.Repeat("令牌桶", 166) + "令…"},
	}
	for _, test := range tests {
		if got := Preview([]byte(test.text), 500); got != test.want {
			t.Errorf("%s: Preview(%q)\n got %q\nwant %q", test.name, test.text, got, test.want)
		}
	}
}

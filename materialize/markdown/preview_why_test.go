package markdown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestExplainPreview(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		max        int
		want       PreviewChoice
	}{
		{"front matter, fields, heading", "---\nid: 7\n---\n\n**Status:** done\n\n# T\n\nThe first paragraph.\n\n## More\n", 500,
			PreviewChoice{"The first paragraph.", ruleParagraph, 9, false,
				[]skippedLines{{"front matter", [2]int{1, 3}}, {"fields", [2]int{5, 5}}, {"heading", [2]int{7, 7}}}}},
		{"every kind of block",
			"<answer>\n\n> quote\n> on\n\n- list\n\n- goes on\n\n| a | b |\n|---|---|\n| c | d |\n\n```\ncode\n```\n***\n<div>\nHTML\n</div>\n\n" +
				"![i](i.png)\n\n**Label**\n\nT\n=\n\n[^1]: Foot.\n\nThis is what was found:\n\nText[^1].\n", 500,
			PreviewChoice{"Text.", ruleParagraph, 33, false, []skippedLines{
				{"tag", [2]int{1, 1}}, {"quote", [2]int{3, 4}}, {"list", [2]int{6, 8}}, {"table", [2]int{10, 12}},
				{"code", [2]int{14, 16}}, {"rule", [2]int{17, 17}}, {"HTML", [2]int{18, 21}},
				{"image", [2]int{22, 22}}, {"label", [2]int{24, 24}}, {"heading", [2]int{26, 27}},
				{"footnote", [2]int{29, 29}}, {"lead-in", [2]int{31, 31}}}}},
		{"no paragraph", "# T\n\n- one\n- two\n", 500,
			PreviewChoice{"one", "list item", 3, false, []skippedLines{{"heading", [2]int{1, 1}},
				{"list", [2]int{3, 4}}}}},
		{"list", "# T\n\nWe found:\n\n1. one.\n2. two\n\nText.\n", 500,
			PreviewChoice{"We found: one; two", ruleList, 3, false, []skippedLines{{"heading", [2]int{1, 1}}}}},
		{"list at the end", "We found:\n* one\n    - inner\n", 500, PreviewChoice{"We found: one; inner", ruleList, 1, false, nil}},
		{"cut", "one two three", 8, PreviewChoice{"one two…", ruleParagraph, 1, true, nil}},
		{"no room", "one", 0, PreviewChoice{"", ruleParagraph, 1, true, nil}},
		{"summary", "\n{\n  \"a\": {\"summary\": 1},\n  \"summary\": \"S.\"\n}", 500, PreviewChoice{"S.", ruleSummary, 4, false, nil}},
		{"JSON without summary", "\n{\"a\": 1}", 500, PreviewChoice{`{"a": 1}`, ruleBeginning, 2, false, nil}},
		{"thinking", "---\na: b\n---\n<think>\nHm.\n\nSo.\n</think>\nText.\n", 500,
			PreviewChoice{"Text.", ruleParagraph, 9, false,
				[]skippedLines{{"front matter", [2]int{1, 3}}, {"thinking", [2]int{4, 7}}}}},
		{"empty", " \n", 500, PreviewChoice{Rule: ruleEmpty}},
		{"binary", "\x00", 500, PreviewChoice{Rule: ruleBinary}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, ExplainPreview([]byte(test.text), test.max), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: ExplainPreview(%q, %d) (-want +got):\n%s", test.name, test.text, test.max, diff)
		}
	}
}

func TestExplainPreviewListsTheFirst(t *testing.T) {
	t.Parallel()
	choice := ExplainPreview([]byte(strings.Repeat("# A\n- b\n", 1000)), 500)
	if len(choice.Skipped) != maxSkipped || choice.Text != "b" {
		t.Errorf("1000 headings and lists: %d pieces skipped, preview %q; want %d, %q", len(choice.Skipped), choice.Text, maxSkipped, "b")
	}
}

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

package markdown

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

var previewTexts = []struct {
	name, text     string
	preview, title string
}{
	{"report",
		"# Rate limiters compared\n\n## Summary\n\nToken buckets fit **best**: they allow\nbursts and need _one_ number per tenant.\n\n## Details\n\nMore.\n",
		"Token buckets fit best: they allow bursts and need one number per tenant.", "Rate limiters compared"},
	{"no heading", "The build is green.\n\nThe rest follows.\n", "The build is green.", "The build is green."},
	{"setext title", "Migration plan\n==============\n\nThree steps, one a week.\n", "Three steps, one a week.", "Migration plan"},
	{"second level first", "## Findings\n\nNone.\n\n# Later\n", "None.", "Findings"},
	{"summary of JSON", `{"summary": "Two  of five\nendpoints leak.", "title": "Audit", "n": 3}`, "Two of five endpoints leak.", "Audit"},
	{"JSON without a title", "\n{\n  \"summary\": \"All good.\",\n  \"items\": []\n}\n", "All good.", "All good."},
	{"JSON with a name", `{"name": "scan", "findings": [{"summary": "inner"}]}`, `{"name": "scan", "findings": [{"summary": "inner"}]}`, "scan"},
	{"JSON, summary no string", `{"summary": {"a": 1}}`, `{"summary": {"a": 1}}`, `{"summary": {"a": 1}}`},
	{"JSON in a fence", "```json\n{\"summary\": \"Fenced.\", \"title\": \"T\"}\n```\n", "Fenced.", "T"},
	{"broken JSON", `{"summary": "cut off`, `{"summary": "cut off`, `{"summary": "cut off`},
	{"array of JSON", `[{"summary": "one"}]`, `[{"summary": "one"}]`, `[{"summary": "one"}]`},
	{"front matter",
		"---\ntitle: Weekly notes\ntags: [a]\n---\n\nWe met on Monday.\n",
		"We met on Monday.", "Weekly notes"},
	{"front matter and heading", "---\ntitle: Meta\n---\n# Heading\nText under it.\n", "Text under it.", "Heading"},
	{"front matter and lower heading", "---\ntitle: Meta\n---\n## Part\nText under it.\n", "Text under it.", "Meta"},
	{"TOML front matter", "+++\ntitle = \"Meta\"\n+++\nText.\n", "Text.", "Meta"},
	{"front matter alone", "---\nid: 7\n---\n", "id: 7", ""},
	{"bold metadata",
		"# RFC 12: Quotas\n\n**Status:** Draft\n**Date**: 2026-03-02\n**Author:** planner\n\nTenants get a quota each.\n",
		"Tenants get a quota each.", "RFC 12: Quotas"},
	{"plain metadata", "Status: done\nOwner: api team\n\nThe work is complete.\n", "The work is complete.", "Status: done"},
	{"metadata list", "# Task\n\n## Metadata\n- Status: completed\n- Started: 10:00\n\n## Notes\n\nNothing broke.\n", "Nothing broke.", "Task"},
	{"one short field", "Date: 2026-03-02\n\nWe chose the bucket.\n", "We chose the bucket.", "Date: 2026-03-02"},
	{"a field that is a sentence",
		"**Summary:** The limiter lets through four percent too much.\n\nMore text.\n",
		"Summary: The limiter lets through four percent too much.", "Summary: The limiter lets through four percent too much."},
	{"a clause with a colon", "Conclusion: use token buckets, and nothing else, for every public route.\n",
		"Conclusion: use token buckets, and nothing else, for every public route.",
		"Conclusion: use token buckets, and nothing else, for every public route."},
	{"lesson fields alone",
		"### Freeze the clock\n**Date:** 2026-02-11\n**Context:** The suite failed at midnight.\n**Lesson:** Pass a clock to whatever asks for the time.\n",
		"The suite failed at midnight.", "Freeze the clock"},
	{"fields alone", "**Status:** done\n**Loop:** 2\n", "Status: done Loop: 2", "Status: done"},
	{"details on the next line", "**Details:**\nForms lack tokens.\n", "Details: Forms lack tokens.", "Details:"},
	{"label", "# Review\n\n**Findings**\n\nOne query scans the table.\n", "One query scans the table.", "Review"},
	{"bold sentence", "**Do not merge this before the index is built.**\n", "Do not merge this before the index is built.", "Do not merge this before the index is built."},
	{"table first", "# Scores\n\n| Agent | Score |\n|-------|-------|\n| muffin | 12 |\n\nMuffin leads.\n", "Muffin leads.", "Scores"},
	{"table alone", "| Agent | Score |\n|:--|--:|\n| **muffin** | 12 |\n| scone | 9 |\n", "muffin | 12", "Agent | Score"},
	{"header alone", "| Agent | Score |\n|---|---|\n", "Agent | Score", "Agent | Score"},
	{"table after a line", "The scores:\n| Agent | Score |\n|---|---|\n| muffin | 12 |\n", "muffin | 12", "The scores:"},
	{"prose right before a table", "The scores of both rounds follow:\n| Agent | Score |\n|---|---|\n| muffin | 12 |\n", "The scores of both rounds follow:", "The scores of both rounds follow:"},
	{"code first", "# Patch\n\n```go\nfunc main() {}\n```\n\nIt compiles.\n", "It compiles.", "Patch"},
	{"code alone", "```sh\n\nmake test\nmake lint\n```\n", "make test", "make test"},
	{"indented code alone", "    make test\n", "make test", "make test"},
	{"list first", "- first\n- second\n\nAfter the list.\n", "After the list.", "first"},
	{"list alone", "# Steps\n\n1. Stop the `worker`\n   and wait\n2. Migrate\n", "Stop the worker and wait", "Steps"},
	{"list after fields", "- Status: open\n- Replace the clock in all tests\n", "Replace the clock in all tests", "Status: open"},
	{"list of fields", "# State\n\n- Run: 4\n- Loop: 2\n", "Run: 4", "State"},
	{"task list", "- [x] done\n- [ ] open\n", "[x] done", "[x] done"},
	{"quote alone", "> Ship the *contract*,\n> then the transport.\n", "Ship the contract, then the transport.", "Ship the contract,"},
	{"item before quote", "> quoted\n\n- item\n", "item", "quoted"},
	{"heading alone", "# Only `this` #\n", "Only this", "Only this"},
	{"comment first", "<!-- generated\n\nby hand -->\n\n# T\n\nText.\n", "Text.", "T"},
	{"comment alone", "<!-- nothing -->\n", "<!-- nothing -->", "<!-- nothing -->"},
	{"details element", "<details>\n<summary>Log</summary>\n\nThe log is long.\n\n</details>\n", "The log is long.", "The log is long."},
	{"rule first", "---\n\nText between.\n\n---\n", "Text between.", "Text between."},
	{"image first", "# Logo\n\n![logo](logo.png)\n\n[![build](b.svg)](https://ci) [![docs](d.svg)](https://docs)\n\nA small tool.\n", "A small tool.", "Logo"},
	{"table of contents", "# T\n\n[TOC]\n\nText.\n", "Text.", "T"},
	{"references first", "[1]: https://example.com/a\n[2]: https://example.com/b \"B\"\n\nSee [the first][1].\n", "See [the first][1].", "See [the first][1]."},
	{"inline marks",
		"A [link](https://example.com \"t\"), <https://example.com/x>, `co*de`, **bold _both_**, ~~gone~~, a\\_b, snake_case_name, 2 * 3 &amp; &#52;&copy;.\n",
		"A link, https://example.com/x, co*de, bold both, gone, a_b, snake_case_name, 2 * 3 & 4©.",
		"A link, https://example.com/x, co*de, bold both, gone, a_b, snake_case_name, 2 * 3 & 4©."},
	{"marks in a heading", "# The `Bucket` [type](b.go) &amp; **more**\n\ntext\n", "text", "The Bucket type & more"},
	{"hard breaks", "one  \ntwo\\\nthree<br>four\n", "one two threefour", "one"},
	{"white space", "\n\n  a\t b\u00a0c\u3000d  \n e\n", "a b c d e", "a b c d"},
	{"CRLF and BOM", "\ufeff# T\r\n\r\nFirst line,\r\nsecond line.\r\n\r\nMore\r\n", "First line, second line.", "T"},
	{"invalid UTF-8", "# caf\xe9\n\nna\xefve text\n", "na\ufffdve text", "caf\ufffd"},
	{"terminal colours", "\x1b[1;32mPASS\x1b[0m  ok\x07\n", "PASS ok", "PASS ok"},
	{"terminal sequences", "\x1b]0;title\x07a\x1b[\x01b \x1b[999999999999999999999999999999999mc\x1b", "]0;titleab 999999999999999999999999999999999mc", "]0;titleab 999999999999999999999999999999999mc"},
	{"emoji", "# 🧁 Muffin\n\nAgrees 👍🏽 with 💙.\n", "Agrees 👍🏽 with 💙.", "🧁 Muffin"},
	{"marker of a dialogue", "[PERSPECTIVE P01: retries belong to the caller]\n\nThe callee cannot know.\n", "[PERSPECTIVE P01: retries belong to the caller]", "[PERSPECTIVE P01: retries belong to the caller]"},
	{"bars in cells", "| Sign | Note |\n|---|---|\n| a \\| b | `x \\| y` z |\n", "a | b | x | y z", "Sign | Note"},
	{"number, not a list", "2.5 million rows moved.\n", "2.5 million rows moved.", "2.5 million rows moved."},
	{"Chinese", "# 限流器\n\n令牌桶允许突发流量。\n", "令牌桶允许突发流量。", "限流器"},
	{"Japanese JSON", `{"返信":"これは長い返信です。","数":3}`, "これは長い返信です。", "これは長い返信です。"},
	{"done", "done", "done", "done"},
	{"empty", "", "", ""},
	{"white space alone", " \n\t\n", "", ""},
	{"marks alone", "***\n---\n", "*** ---", "*** ---"},
	{"binary", "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "", ""},
}

func TestPreviewAndTitle(t *testing.T) {
	t.Parallel()
	for _, test := range previewTexts {
		if got := Preview([]byte(test.text), 500); got != test.preview {
			t.Errorf("%s: Preview(%q)\n got %q\nwant %q", test.name, test.text, got, test.preview)
		}
		if got := Title([]byte(test.text)); got != test.title {
			t.Errorf("%s: Title(%q)\n got %q\nwant %q", test.name, test.text, got, test.title)
		}
	}
}

func TestPreviewIsCut(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		max        int
		want       string
	}{
		{"fits", "one two three", 13, "one two three"},
		{"at a word", "one two three four", 13, "one two…"},
		{"before a space", "one two three four", 14, "one two three…"},
		{"punctuation goes", "one, two, three", 9, "one…"},
		{"long word", "see https://example.com/a/very/long/path", 20, "see https://example…"},
		{"one word", strings.Repeat("x", 30), 10, "xxxxxxxxx…"},
		{"Chinese", "令牌桶允许突发流量并限制平均速率", 8, "令牌桶允许突发…"},
		{"Chinese, punctuation goes", "令牌桶允许突，发流量", 8, "令牌桶允许突…"},
		{"mixed", "the 令牌桶 bucket", 6, "the 令…"},
		{"marks stay with their rune", "e\u0301e\u0301e\u0301e\u0301e\u0301e\u0301", 6, "e\u0301e\u0301…"},
		{"one rune", "one two", 1, "…"},
		{"none", "one two", 0, ""},
		{"negative", "one two", -1, ""},
		{"summary", `{"summary": "one two three four"}`, 13, "one two…"},
	}
	for _, test := range tests {
		if got := Preview([]byte(test.text), test.max); got != test.want {
			t.Errorf("%s: Preview(%q, %d) = %q, want %q", test.name, test.text, test.max, got, test.want)
		}
	}
	if got := Title([]byte("# " + strings.Repeat("word ", 50))); utf8.RuneCountInString(got) != maxTitleRunes {
		t.Errorf("a heading of 249 runes gives a title of %d, want %d: %q", utf8.RuneCountInString(got), maxTitleRunes, got)
	}
}

func TestPreviewReadsTheBeginningOfAParagraph(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", maxProse-1) + "ä" + strings.Repeat(" more", 1000)
	if got, want := Preview([]byte(text), 10_000), strings.Repeat("x", maxProse-1); got != want {
		t.Errorf("a paragraph of %d bytes gives a preview of %d, want %d", len(text), len(got), len(want))
	}
}

func TestPreviewGivesUpOnImages(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("![a](b.png)\n\n", maxParsed+1) + "Text.\n"
	if got, want := Preview([]byte(text), 100), "![a](b.png)"; got != want {
		t.Errorf("Preview of %d images = %q, want %q", maxParsed+1, got, want)
	}
	if got, want := Preview([]byte(text[len("![a](b.png)\n\n")*2:]), 100), "Text."; got != want {
		t.Errorf("Preview of %d images = %q, want %q", maxParsed-1, got, want)
	}
}

func TestWords(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", " ", "a", " a b ", "a\tb\nc\r\nd\ve\ff", "a\u0085b\u00a0c", "a\u1680b\u2000c\u200ad\u2028e\u2029f\u202fg\u205fh\u3000i",
		"a\u200bb\u2060c\u180ed", "漢字 かな", "é è", "\xff \xfe", "\xc2", "a\xe2\x80", "\xe1\xc2\x85x", "\xe2\x80\x8a", "a\xe3\x80\x80b\xf0\x9f\xa7\x81c",
	}
	random := rand.New(rand.NewPCG(3, 4))
	bytes := "a \n\xc2\x85\xa0\xe1\x9a\x80\xe2\x80\x81\x9f\xa8\xaf\xe3\xf0"
	for range 20_000 {
		var text []byte
		for range random.IntN(12) {
			text = append(text, bytes[random.IntN(len(bytes))])
		}
		texts = append(texts, string(text))
	}
	for _, text := range append(texts, "这是一个测试。", "Python3を使う", "「使用」 v2-rc1の版 ——", "한국어 문장", "コーヒー,1.5倍") {
		if got, want := Words([]byte(text)), wordsOf(text); got != want {
			t.Errorf("Words(%q) = %d, want %d", text, got, want)
		}
	}
}

// wordsOf cuts a text into what Words counts.
func wordsOf(text string) int {
	n := 0
	isWide := func(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }
	for _, field := range strings.Fields(text) {
		if strings.IndexFunc(field, isWide) < 0 {
			n++
			continue
		}
		for _, part := range strings.FieldsFunc(field, isWide) {
			if strings.ContainsFunc(part, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) {
				n++
			}
		}
		for _, r := range field {
			if isWide(r) {
				n++
			}
		}
	}
	return n
}

func TestWordsOfScripts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{
		"这是一个测试。": 6, "Python3を使う": 4, "한국어 문장을 쓴다": 3, "日本 語 —": 4, "don't stop": 2, "コーヒー": 4, "ไทยไม่มีช่องว่าง": 1,
	} {
		if got := Words([]byte(text)); got != want {
			t.Errorf("Words(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestIsBinary(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       bool
	}{
		{"empty", "", false},
		{"text", "# a\r\n\tb\f\n", false},
		{"UTF-8", "çäöß 漢字 🧁", false},
		{"Latin-1", "caf\xe9 na\xefve", false},
		{"Shift JIS", "\x93\xfa\x96\x7b\x8c\xea", false},
		{"colours", "\x1b[31mred\x1b[0m", false},
		{"overstrike", "b\bbo\bol\bld\bd", false},
		{"NUL", "a\x00b", true},
		{"UTF-16", "\xff\xfea\x00b\x00", true},
		{"NUL far in", strings.Repeat("a", 8<<10) + "\x00", false},
		{"controls", "\x01\x02\x03\x04abc", true},
		{"few controls", strings.Repeat("text ", 100) + "\x01\x02", false},
		{"deflated", "\x78\x9c\x4b\x4c\x4a\x06\x01\x02\x4d\x01\x27\x03\x13", true},
	}
	for _, test := range tests {
		if got := IsBinary([]byte(test.text)); got != test.want {
			t.Errorf("%s: IsBinary(%.60q) = %v, want %v", test.name, test.text, got, test.want)
		}
	}
}

func FuzzPreview(f *testing.F) {
	for _, test := range previewTexts {
		f.Add([]byte(test.text), 20)
	}
	for _, test := range outlineTexts {
		f.Add([]byte(test.text), 3)
	}
	f.Fuzz(func(t *testing.T, text []byte, max int) {
		max %= 1000
		preview := Preview(text, max)
		checkLine(t, "Preview", text, preview, max)
		checkLine(t, "Title", text, Title(text), maxTitleRunes)
		if got, want := Words(text), wordsOf(string(text)); got != want {
			t.Errorf("Words(%q) = %d, want %d", text, got, want)
		}
	})
}

// checkLine checks what holds for the previews and titles of any text.
func checkLine(t *testing.T, what string, text []byte, line string, max int) {
	t.Helper()
	runes := []rune(line)
	bad := slices.IndexFunc(runes, func(r rune) bool { return unicode.IsControl(r) })
	if !utf8.ValidString(line) || bad >= 0 || line != strings.TrimSpace(line) || len(runes) > 0 && len(runes) > max {
		t.Errorf("%s(%q, %d) = %q: not one clean line that fits", what, text, max, line)
	}
}

func BenchmarkPreview(b *testing.B) {
	text := []byte("---\ntitle: x\n---\n# Heading\n\n**Status:** done\n\n| a | b |\n|---|---|\n| c | d |\n\n" +
		"The first paragraph has `code`, a [link](https://example.com) and **some** more\nmarks, as most of them do, and goes on for a few lines so that there is\nsomething to cut.\n\n" + string(benchmarkText()[:8000]))
	for b.Loop() {
		if got := Preview(text, 500); len(got) != 140 {
			b.Fatalf("the preview has %d bytes: %q", len(got), got)
		}
	}
}

func BenchmarkWords(b *testing.B) {
	text := benchmarkText()
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Words(text)
	}
}

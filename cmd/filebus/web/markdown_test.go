package web

import (
	"fmt"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// allowed are the tags that a rendered text may have, with their attributes.
var allowed = map[string]string{
	"p": "", "h1": "id", "h2": "id", "h3": "id", "h4": "id", "h5": "id", "h6": "id", "a": "href title rel class id role",
	"em": "", "strong": "", "del": "", "code": "class", "pre": "", "blockquote": "", "ul": "", "ol": "start", "li": "id",
	"hr": "", "br": "", "table": "", "thead": "", "tbody": "", "tr": "", "th": "align", "td": "align",
	"input": "checked disabled type", "sup": "id", "div": "class id role", "mark": "", "section": "class role",
}

var (
	anyTag    = regexp.MustCompile(`<[^>]*>?`)
	goodTag   = regexp.MustCompile(`^</?([a-z][a-z0-9]*)((?: [a-z]+="[^"<>]*")*) ?/?>$`)
	attribute = regexp.MustCompile(`([a-z]+)="([^"]*)"`)
	goodID    = regexp.MustCompile(`^(h-[0-9]+|passage|text-fn(ref[0-9]*)?:[^ ]*)$`)
	goodLink  = regexp.MustCompile(`^(#|#h-[0-9]+|#text-fn(ref[0-9]*)?:[^ ]*|/record\?name=.*|(?i:https?|mailto):.*)$`)
)

// checkRendered fails where HTML has what no text may bring onto a page.
func checkRendered(t *testing.T, source, out string) {
	t.Helper()
	for _, tag := range anyTag.FindAllString(strings.ReplaceAll(out, "<!-- raw HTML omitted -->", ""), -1) {
		parts := goodTag.FindStringSubmatch(tag)
		if parts == nil {
			t.Fatalf("%q became %q, which is no plain tag", source, tag)
		}
		attributes, known := allowed[parts[1]]
		if !known {
			t.Fatalf("%q became the tag %q", source, tag)
		}
		for _, a := range attribute.FindAllStringSubmatch(parts[2], -1) {
			value := html.UnescapeString(a[2])
			switch {
			case !slices.Contains(strings.Fields(attributes), a[1]):
				t.Fatalf("%q became %q with %s", source, tag, a[1])
			case a[1] == "id" && !goodID.MatchString(value):
				t.Fatalf("%q became the id %q", source, value)
			case a[1] == "href" && !goodLink.MatchString(value):
				t.Fatalf("%q became a link to %q", source, value)
			}
		}
	}
	if strings.ContainsAny(out, "\u202e\u202d\u2066\u200b\u200f\ufeff\x00\x1b\x07") {
		t.Fatalf("%q became %q, with hidden characters", source, out)
	}
}

func TestRendered(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, source, want string }{ // want: a part of it
		{"text", "plain *text*", "<em>text</em>"},
		{"tag", "<script>alert(1)</script>", "raw HTML omitted"},
		{"tag in a line", "a <b onclick=alert(1)>b</b>", "raw HTML omitted"},
		{"style", "<style>*{display:none}</style>", "omitted"},
		{"frame", `<iframe src="https://evil.example"></iframe>`, "omitted"},
		{"form", `<form action="https://evil.example"><input name=q></form>`, "omitted"},
		{"vector picture", `<svg onload="alert(1)"><script>alert(1)</script></svg>`, "omitted"},
		{"unended tag", "<img src=x onerror=alert(1)", "&lt;img src=x"},
		{"unended tag in a block", "<div\nonclick=alert(1)\n", "omitted"},
		{"comment", "a <!-- secret --> b", "omitted"},
		{"comment that ends early", "<!--> <script>alert(1)</script> -->", ""},
		{"processing instruction", "<?php echo 1 ?>", "omitted"},
		{"CDATA", "<![CDATA[ <script>alert(1)</script> ]]>", "omitted"},
		{"declaration", `<!DOCTYPE html [<!ENTITY x "y">]>`, "omitted"},
		{"script link", "[a](javascript:alert(1))", `href="#"`},
		{"in capitals", "[a](JaVaScRiPt:alert(1))", `href="#"`},
		{"by entities", "[a](&#106;avascript:alert(1))", `href="#"`},
		{"by a colon's entity", "[a](javascript&colon;alert(1))", `href="#"`},
		{"with a tab", "[a](<java\tscript:alert(1)>)", `href="#"`},
		{"with a tab's entity", "[a](java&Tab;script:alert(1))", `href="#"`},
		{"with a new line's entity", "[a](java&NewLine;script:alert(1))", `href="#"`},
		{"with a space", "[a](< javascript:alert(1)>)", `href="#"`},
		{"with a control character", "[a](<\x01javascript:alert(1)>)", `href="#"`},
		{"in percents", "[a](javascript%3Aalert(1))", `href="/record?name=javascript%3Aalert%281%29"`},
		{"escaped", `[a](javascript\:alert\(1\))`, `href="#"`},
		{"Visual Basic", "[a](vbscript:msgbox)", `href="#"`},
		{"data", "[a](data:text/html;base64,PHNjcmlwdD4=)", `href="#"`},
		{"data of a picture", "![a](data:image/png;base64,AAAA)", `href="#"`},
		{"file", "[a](file:///etc/passwd)", `href="#"`},
		{"blob", "[a](blob:https://x/y)", `href="#"`},
		{"view source", "[a](view-source:https://x)", `href="#"`},
		{"scheme of the page", "[a](//evil.example/x)", `href="#"`},
		{"backslashes", `[a](\\evil.example\x)`, `href="/record?name=`},
		{"slash and backslash", `[a](/\evil.example)`, `href="/record?name=`},
		{"own page", "[a](/resolve?name=x&take=file)", `href="/record?name=%2Fresolve"`},
		{"above", "[a](../../etc/passwd)", `href="/record?name=..%2F..%2Fetc%2Fpasswd"`},
		{"fragment", "[a](#h-1)", `href="#"`},
		{"empty", "[a]()", `href="#"`},
		{"malformed", "[a](http://[::1)", `href="#"`},
		{"the web", "[a](https://example.org/?a=1&b=2)", `href="https://example.org/?a=1&amp;b=2" rel="noopener noreferrer nofollow"`},
		{"mail", "[a](mailto:a@example.org)", `href="mailto:a@example.org"`},
		{"a record", "[a](docs/plan%20b.md)", `href="/record?name=docs%2Fplan+b.md"`},
		{"quote in a link", `[a](https://x/"onmouseover="alert(1))`, "%22onmouseover=%22"},
		{"quote in a title", `[a](https://x '"onmouseover="alert(1)')`, "&quot;onmouseover="},
		{"foreign picture", "![beacon](https://evil.example/p.png)", `<a href="https://evil.example/p.png" rel="noopener noreferrer nofollow">beacon</a>`},
		{"picture without a text", "![](https://evil.example/p.png)", ">image</a>"},
		{"picture in a link", "[![a](https://x/i.png)](javascript:alert(1))", `href="#"`},
		{"behind a picture", "![a](b) ![c](https://evil.example/p.png) [d](javascript:x)", `nofollow">c</a> <a href="#"`},
		{"behind an autolink", "<data:x> [d](evil:x)", `<a href="#"`},
		{"script picture", "![a](javascript:alert(1))", `href="#"`},
		{"own picture", "![a](docs/a.png)", `href="/record?name=docs%2Fa.png"`},
		{"autolink", "<javascript:alert(1)>", "<p>javascript:alert(1)</p>"},
		{"autolink to the web", "<https://example.org>", `href="https://example.org"`},
		{"bare link", "see https://example.org/<script>", `href="https://example.org/`},
		{"bare address", "www.example.org", `href="http://www.example.org"`},
		{"bare mail", "a@example.org", `href="mailto:a@example.org"`},
		{"FTP", "ftp://example.org/x", "ftp://example.org/x"},
		{"reference", "[a][r]\n\n[r]: javascript:alert(1) 'x'", `href="#"`},
		{"reference of itself", "[a]\n\n[a]: <data:text/html,x>", `href="#"`},
		{"footnote", "a[^1]\n\n[^1]: note", `id="text-fnref:1"`},
		{"footnote with a hostile name", "a[^\"><script>]\n\n[^\"><script>]: note", ""},
		{"table", "|a|b|c|\n|:-|:-:|-:|\n|1|2|3|", `<td align="center">2</td>`},
		{"table with tags", "|a|\n|-|\n|<img src=x>|", "omitted"},
		{"heading with the page's id", "# main\n\n# q\n\n## keys", `<h2 id="h-5">`},
		{"heading with an id", "# a {#main onclick=alert(1)}", `<h1 id="h-1">a {#main onclick=alert(1)}<a`},
		{"underlined heading", "x\n\nmain\n====", `<h1 id="h-3">`},
		{"empty heading", "#\n\n# ", "<h1>"},
		{"language of a fence", "```x\" onclick=\"alert(1)\n<b>\n```", "&lt;b&gt;"},
		{"fence with a tag", "```<script>\nx\n```", "<code"},
		{"tasks", "- [x] done\n- [ ] <b>not</b>", `type="checkbox"`},
		{"bidi", "a \u202egnp.exe\u202c b", "a \ufffdgnp.exe\ufffd b"},
		{"bidi in a link", "[a\u202e](https://x/\u202ey)", "\ufffd"},
		{"isolate", "\u2066x\u2069", "\ufffdx\ufffd"},
		{"zero width", "pass\u200bword\ufeff", "pass\ufffdword\ufffd"},
		{"emoji with joiners", "👩\u200d💻", "👩\u200d💻"},
		{"NUL and escapes", "a\x00b\x1b[31m", "a\ufffdb\ufffd[31m"},
		{"entity of NUL", "a&#0;b &#x202e;c &#8238;d &lrm;e", "a"},
		{"entity of a tag", "&lt;script&gt; &#60;b&#62;", "&lt;script&gt; &lt;b&gt;"},
		{"not UTF-8", "a\xff\xfe<b>", "a\ufffd"},
		{"CRLF", "# a\r\n\r\n# b\r\n", `<h1 id="h-3">b<a href="#h-3" title="link to this section" class="anchor">#</a></h1>`},
		{"emphasis around a tag", "**<a href=x>**", "omitted"},
		{"code", "`<script>` and ``a`b``", "<code>&lt;script&gt;</code>"},
		{"nested quotes", strings.Repeat("> ", 10_000) + "deep", "deep"},
		{"nested lists", strings.Repeat("- ", 5_000) + "deep", "deep"},
		{"brackets", strings.Repeat("[", 50_000) + "x", "[["},
		{"stars", strings.Repeat("*a_ ", 30_000), "*a"},
		{"unended fences", strings.Repeat("```\n", 9_999), "<code>"},
	} {
		t.Run(test.name, func(t *testing.T) {
			marked, _, _ := rendered(test.source, passage{1, 3, "a\nscript"})
			checkRendered(t, fmt.Sprintf("%.80s with a passage", test.source), string(marked))
			out, _, ok := rendered(test.source, passage{})
			if !ok {
				t.Fatalf("%.80q is not rendered", test.source)
			}
			checkRendered(t, fmt.Sprintf("%.80s", test.source), string(out))
			if !strings.Contains(string(out), test.want) {
				t.Errorf("%.200q became\n%.400s\nwithout\n%s", test.source, out, test.want)
			}
		})
	}
	if _, _, ok := rendered(strings.Repeat("long ", maxRendered), passage{}); ok {
		t.Error("a text beyond the bound is rendered")
	}
}

func FuzzRendered(f *testing.F) {
	for _, seed := range []string{
		"# a\n[x](javascript:y) ![i](//h) <b> `c`", "|a|\n|:-:|\n|<i>|", "a[^n]\n\n[^n]: b", "[r]: data:x\n[r] <vb:x> www.a.b",
		"&#x202e; &Tab; [a](<\x01b>)", "- [x] > # q\n\n```l\nm\n```",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, source string) {
		if out, _, ok := rendered(source, passage{2, 4, "b\na"}); ok {
			checkRendered(t, source, string(out))
		}
	})
}

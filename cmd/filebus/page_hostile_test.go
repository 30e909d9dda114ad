package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// A name that would end an attribute, begin elements that act, and turn the order of reading.
const harmful = `"><script>alert(1)</script><img src=x onerror=alert(2)><svg onload=alert(3)>` + "\u202e" + ` ' {{.}} ` + "`${alert(4)}`"

// harmfulText is Markdown with what must not act.
const harmfulText = "---\ntitle: '" + `"><script>alert(5)</script>` + "'\ntags: ['<b onclick=alert(6)>']\n---\n# " + harmful + "\n\n" + `
<script>alert(7)</script><iframe src="javascript:alert(8)"></iframe><object data="http://evil.example/o"></object>
<style>@import url(http://evil.example/a.css); body{display:none}</style><base href="http://evil.example/">
<meta http-equiv="refresh" content="0;url=http://evil.example/"><link rel=stylesheet href=//evil.example/b.css>
![i](http://evil.example/i.png) ![j](data:image/svg+xml,<svg/onload=alert(9)>) ![k](//evil.example/k.png)
[l](javascript:alert(10)) [m]( JaVa	script:alert(11)) [n](data:text/html,<script>alert(12)</script>) <http://evil.example/p>
[PERSPECTIVE P01: ` + harmful + `]
[TENSION T01: ` + harmful + `]

| ` + harmful + ` | b |
|:-:|--:|
| <img src=http://evil.example/t.png> | x |

## main
## q
## keys
` + "```<script>alert(13)</script>\nalert(14)\n```\n"

// hostileWorkspace returns a folder whose store has hostile texts in all fields that take them.
func hostileWorkspace(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"m.md": harmfulText, `src/q"><img src=x onerror=alert(15)>.md`: harmfulText, "src/b\u202edi.md": "# x\n",
		"src/x.svg":       `<svg xmlns="http://www.w3.org/2000/svg" onload="alert(16)"><script>alert(17)</script><image href="http://evil.example/"/></svg>`,
		"src/y.html":      `<html><script>alert(18)</script><img src=http://evil.example/>`,
		"src/b<i>.dat":    "\x89PNG\r\n\x1a\n\xff\x00<script>alert(19)</script>",
		"src/values.json": `[{"<img src=x onerror=alert(31)>":"<script>alert(32)</script>","b":"# x\n\n<svg onload=alert(33)>[l](javascript:alert(34))\u202e"},{"a":{"c\u202e":[null]}}]`,
		"src/head.md":     "---\n<img src=x onerror=alert(35)>: <script>alert(36)</script>\nb\u202e: x\n---\n# alert\n",
		"src/crlf.md":     "\ufeff# a\r\n\r\nb \x00 \x1b[31m\xff\xfe\r\n",
		"src/" + strings.Repeat("long-", 40) + ".md": strings.Repeat("word", 5000),
	} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777))
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	mustRun(t, dir, "init", "--yes")
	for _, args := range [][]string{
		{"capture", "src"},
		{"put", "m.md", "--agent", harmful, "--conversation", "c<b>", "--status", "<b onclick=alert(20)>", "--tag", "<b onclick=alert(21)>", "--from", `note/src/y.html`},
		{"put", "m.md", "--name", `note/a"><script>alert(22)<.md`, "--tag", `<img src=x onerror=alert(23)>`, "--force"},
		{"issue", "add", harmful, "--type", "bug", "--details", harmfulText, "--criteria", harmful, "--agent", harmful, "--file", `a<b>.go`, "--rationale", harmful},
		{"task", "start", "X7", "--title", harmful, "--agent", harmful, "--focus", harmful, "--run", "r<b>"},
		{"task", "start", "X8", "--title", harmful, "--agent", harmful},
		{"task", "done", "X7", "--summary", harmful, "--gotcha", harmful, "--next", harmful},
		{"knowledge", "add", "--type", "gotcha", "--tag", `a<b>`, "--content", harmfulText, "--title", harmful, "--source", "X7"},
		{"dialogue", "new", harmful, "--agents", "anna,zoë", "--judge", "jim", "--question", harmful, "--role", "anna=" + harmful, "--slug", "streit"},
		{"dialogue", "put", "streit", "0", "anna", "m.md"},
		{"dialogue", "put", "streit", "0", "zoë", "--stub", harmful},
		{"session", "start", "build", "--name", harmful},
	} {
		mustRun(t, dir, args...)
	}
	var listed struct{ Sessions []struct{ Session string } }
	must(t, json.Unmarshal([]byte(mustRun(t, dir, "session", "list", "--json")), &listed))
	session := listed.Sessions[0].Session
	mustRun(t, dir, "session", "put", session, "context", "m.md", "--summary", harmful, "--agent", harmful)
	return dir
}

// hostile goes through the pages of hostile texts, from link to link: none of them may do
// anything, or ask another server.
func (b *tab) hostile() {
	b.t.Helper()
	todo := []string{"/", "/search?q=alert", "/issues?closed=1", "/issues?view=board&closed=1", "/issues?what=tasks&closed=1", "/issues?group=label", "/dialogues", "/knowledge", "/review", "/sessions", "/budget", "/health", "/health?verify=1"}
	for path, keys := range map[string]string{
		"/search": "q kind agent tag tree session since until name offset", "/record": "name against source lines related", "/issues": "what view sort group find closed status priority type agent label from waits after", "/dialogue": "name text",
		"/knowledge": "tag type view", "/session": "id at", "/budget": "by id", "/health": "verify", "/nowhere": "q", "/": "x",
	} {
		all := url.Values{}
		for key := range strings.FieldsSeq(keys) {
			all.Set(key, harmful)
			todo = append(todo, path+"?"+url.Values{key: {harmful}}.Encode())
		}
		todo = append(todo, path+"?"+all.Encode())
	}
	shapes := map[string]int{} // how many links are followed to a page, and to it with some conditions
	seen, saved := slices.Clone(todo), 0
	for n := 0; n < len(todo); n++ {
		path := todo[n]
		if strings.HasPrefix(path, "/raw") {
			saved++
			b.inert(path)
			continue
		}
		if status := b.show(path); status >= 500 && status != 503 {
			b.t.Errorf("%s: status %d: %.300s", path, status, get[string](b, `document.body.innerText`))
		}
		if found := get[[]string](b, `[...document.querySelectorAll("main :is(script, iframe, style, object, embed, base, meta, link), [style], `+
			`[onload], [onerror], [onclick], a[href^='javascript' i], a[href^='data' i]")].map((e) => e.outerHTML.slice(0, 200))`); len(found) > 0 {
			b.t.Errorf("%s has elements of content: %q", path, found)
		}
		if turned := get[[]string](b, `[document.querySelector("title"), ...document.querySelectorAll("body *")].filter((e) => `+
			`[...e.childNodes].some((n) => n.nodeType === 3 && /[\u202a-\u202e\u2066-\u2069]/.test(n.data))).map((e) => e.outerHTML.slice(0, 300))`); len(turned) > 0 {
			b.t.Errorf("%s: characters turn the order of reading: %q", path, turned)
		}
		links := get[[]string](b, `[...document.querySelectorAll("a[href]")].filter((a) => a.origin === location.origin).map((a) => a.pathname + a.search)`)
		for _, link := range links {
			u, err := url.Parse(link)
			must(b.t, err)
			shape := fmt.Sprint(u.Path, slices.Sorted(maps.Keys(u.Query())))
			if slices.Contains(seen, link) || shapes[shape] >= 3 || shapes[u.Path] >= 15 {
				continue
			}
			shapes[shape]++
			shapes[u.Path]++
			seen, todo = append(seen, link), append(todo, link)
		}
		b.check(path)
	}
	b.t.Logf("%d pages and files", len(todo))
	if len(todo) < 80 || saved == 0 {
		b.t.Errorf("there are %d pages, and %d files to save: links are missing", len(todo), saved)
	}
}

// inert holds that a browser saves what a record has, or shows it as a picture or text at most.
func (b *tab) inert(path string) {
	b.t.Helper()
	got := get[struct{ Kind, Disposition, Policy, Sniff string }](b, fmt.Sprintf(`fetch(%q).then((r) => ({Kind: r.headers.get("content-type"), `+
		`Disposition: r.headers.get("content-disposition") || "", Policy: r.headers.get("content-security-policy"), `+
		`Sniff: r.headers.get("x-content-type-options")}))`, path))
	if !strings.HasPrefix(got.Disposition, "attachment") && !strings.HasPrefix(got.Kind, "image/") && !strings.HasPrefix(got.Kind, "text/plain") && got.Kind != "application/pdf" {
		b.t.Errorf("%s is shown as %s, %q", path, got.Kind, got.Disposition)
	}
	if !strings.HasPrefix(got.Policy, "default-src 'none'") || got.Sniff != "nosniff" || strings.Contains(got.Kind, "svg") {
		b.t.Errorf("%s comes as %+v", path, got)
	}
}

// watchful makes sure that these tests would notice: a page that does what none may do.
func (b *tab) watchful(axe string) {
	b.t.Helper()
	get[any](b, `alert("x"), fetch("http://evil.example/").catch(() => 0), `+
		`document.body.insertAdjacentHTML("beforeend", "<p style='color:red'>x</p>"), setTimeout(() => { throw Error("y") }), 0`)
	var said string
	b.until(`new Promise((r) => setTimeout(() => r(true), 200))`)
	b.mu.Lock()
	said, b.faults = strings.Join(b.faults, "\n"), nil
	b.mu.Unlock()
	for _, want := range []string{"a dialog: x", "evil.example", "Content Security Policy", "an exception"} {
		if !strings.Contains(said, want) {
			b.t.Errorf("not noticed: %s, but\n%s", want, said)
		}
	}
	get[any](b, axe+`;document.body.insertAdjacentHTML("beforeend", "<img src='/static/icon.svg'>"), 0`)
	if n := get[int](b, `axe.run(document).then((r) => r.violations.filter((v) => v.id === "image-alt").length)`); n != 1 {
		b.t.Errorf("axe finds %d pictures without words, want one", n)
	}
	b.do(chromedp.EmulateViewport(360, 640))
	get[any](b, `document.body.insertAdjacentHTML("beforeend", "<canvas width=900></canvas>"), 0`) // main may change meanwhile
	if width := get[int](b, `document.documentElement.scrollWidth`); width <= 360 {
		b.t.Errorf("a wide page is %d wide", width)
	}
}

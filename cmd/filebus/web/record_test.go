package web

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"
)

// hostileName is a name and a text as no page may take them over.
const hostileName = `note/"><script>alert(1)</script>` + "\u202e\x00,x"

// site returns pages of a store that answers each command with a JSON, by the command's words.
func site(t *testing.T, answers map[string]string, asked *[]string) http.Handler {
	t.Helper()
	s := &Site{
		Now: func() time.Time { return time.Date(2026, 3, 5, 0, 0, 0, 0, time.UTC) },
		Ask: func(_ context.Context, into any, args ...string) error {
			line := strings.Join(args, " ")
			if asked != nil {
				*asked = append(*asked, line)
			}
			for words, answer := range answers {
				if line == words || words == "search" && strings.HasPrefix(line, words) {
					return json.Unmarshal([]byte(answer), into)
				}
			}
			return &Refusal{"not_found", "there is no " + line, "filebus list"}
		},
		Print: func(_ context.Context, out io.Writer, args ...string) error {
			if args[2] == "damaged" {
				_, _ = io.WriteString(out, strings.Repeat("begun", 1<<20))
				return errors.New("damaged")
			}
			_, err := io.WriteString(out, answers[args[2]])
			return err
		},
	}
	return s.handler(http.NotFoundHandler())
}

func ask(pages http.Handler, address string) *httptest.ResponseRecorder {
	w := httptest.NewRecorder()
	pages.ServeHTTP(w, httptest.NewRequest(http.MethodGet, address, nil))
	return w
}

func TestRecordPage(t *testing.T) {
	t.Parallel()
	name, _ := json.Marshal(hostileName)
	detail := fmt.Sprintf(`{"name":%[1]s,"ref":"abc","full_ref":"abc","title":%[1]s,"agent":%[1]s,"session":"s,1","current":false,
"links":["supersedes %[2]s"],"from":["def"],"attributes":{%[1]s:%[1]s},"tags":[%[1]s],"size":1234567,
"versions":[{"position":3,"ref":"0123456789","change":"put"},{"position":7,"ref":"abc","change":"put"}],
"outline":[{"title":%[1]s,"level":2,"lines":[3,4],"tokens":9}]}`, name, strings.Trim(string(name), `"`))
	answers := map[string]string{
		"show --max-tokens=0 -- known": detail, "show --max-tokens=0 -- 0123456789": detail,
		"get --max-tokens=100000 -- abc":   `{"text":"a\n\n# <b>\n","left":7}`,
		"get --max-tokens=100000 -- 01234": `{"text":"a\r\n\n# <i>\n"}`,
		"search":                           fmt.Sprintf(`{"hits":[{"name":%[1]s,"like":["note/twin"]},{"name":"note/citing"}]}`, name),
	}
	pages := site(t, answers, nil)
	for address, wants := range map[string][]string{
		"/record?name=known": {
			`href="#h-3"`, `<h1 id="h-3">`, `/record?name=note%2f%22%3e%3cscript%3e`, "~7 tokens more", "!note/citing",
			"not current", `<option value="0123456789" selected>`, `href="/search?session=s%2c1"`, "1\u202f234\u202f567 bytes", `href="/record?name=def"`,
		},
		"/record?name=known&related=1":        {"note/citing", "note/twin"},
		"/record?name=known&lines=3-3":        {`<div class="passage" id="passage"><h1 id="h-3">`, "lines 3-3 as a command", "--lines 3-3"},
		"/record?name=known&lines=x-%3Cb%3E":  {"!passage\"", "as a command"},
		"/record?name=known&lines=3&source=1": {`<span id="l-3" class="passage">`},
		"/record?name=known&source=1":         {`href="#l-3"`, `<span id="l-3"># &lt;b&gt;`, `source=0">Rendered`},
		"/record?name=known&against=01234":    {"-a␍", "&#43;# &lt;b&gt;", `class="added"`, `<option value="0123456789" selected>`},
		"/record?name=known@3":                {"<h1"},
		"/record?name=known@01234567":         {"<h1"},
		"/record?name=known@0123456":          {"404"},
		"/record?name=known@0123456789":       {"<h1"},
		"/record?name=known@4":                {"404"},
		"/record?name=unknown":                {"404"},
		"/record?name=@":                      {"404"},
		"/search?name=unknown&q=x&session=a,": {"there is no show"},
	} {
		w := ask(pages, address)
		out := fmt.Sprint(w.Code, w.Body)
		for _, want := range wants {
			want, not := strings.CutPrefix(want, "!")
			if strings.Contains(out, want) == not {
				t.Errorf("GET %s: %d without %q\n%s", address, w.Code, want, out)
			}
		}
		if strings.Contains(out, "<script>") || strings.ContainsAny(out, "\x00") || strings.Contains(out, "ZgotmplZ") {
			t.Errorf("GET %s: it has markup of the content\n%s", address, out)
		}
	}
}

func TestSearchCommand(t *testing.T) {
	t.Parallel()
	var asked []string
	pages := site(t, map[string]string{"search": `{"total":3,"next":40,"hits":[],"facets":{"tree":{"values":[{"value":"","count":2}]},
"time":{"values":[{"value":"2026-03","count":1},{"value":"2026-01","count":4}]}}}`}, &asked)
	out := ask(pages, "/search?q=-it%27s&agent=a,%22b%22&since=2d&offset=20").Body.String()
	if want := `search --agent="a,""b""" --since=2d --limit=20 --offset=20 --facets=kind,agent,tag,tree,session,time --no-git -- -it's`; !slices.Equal(asked, []string{want}) {
		t.Errorf("asked %q, want %q", asked, want)
	}
	for _, want := range []string{
		`filebus search &#39;--agent=&#34;a,&#34;&#34;b&#34;&#34;&#34;&#39; --since=2d --limit=20 --offset=20 -- &#39;-it&#39;\&#39;&#39;s&#39;`,
		"tree=.", "offset=40", "offset=0", "since=2026-01-01T00%3A00%3A00Z", "until=2026-02-01T00%3A00%3A00Z", `viewBox="0 0 30 40"`,
		`x="20" y="30" width="9" height="10"`,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("the page is without %q\n%s", want, out)
		}
	}
	var again []string
	ask(site(t, map[string]string{"search": `{"total":0}`}, &again), "/search?q=f%C3%BCr+retr")
	if len(again) != 2 || !strings.HasSuffix(again[1], "-- für retr*") {
		t.Errorf("asked %q for a word that is half typed", again)
	}
	ask(pages, "/search?q=x&name=y&offset=-3")
	if strings.Contains(strings.Join(asked[1:], "\n"), "offset") {
		t.Errorf("asked %q with an offset below 0", asked[1:])
	}
}

func TestRaw(t *testing.T) {
	t.Parallel()
	pages := site(t, map[string]string{
		"png": "\x89PNG\r\n\x1a\n…", "pdf": "%PDF-1.7\n\xff…", "svg": `<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`,
		"page": "<html><script>", "empty": "", hostileName: "x",
	}, nil)
	for _, test := range []struct{ name, kind, how string }{
		{"png", "image/png", "inline"}, {"pdf", "application/pdf", "inline"}, {"svg", "application/octet-stream", "attachment"}, {"page", "application/octet-stream", "attachment"},
		{"empty", "application/octet-stream", "attachment"}, {hostileName, "application/octet-stream", "attachment"},
	} {
		w := ask(pages, "/raw?name="+url.QueryEscape(test.name))
		if kind, how := w.Header().Get("Content-Type"), w.Header().Get("Content-Disposition"); kind != test.kind || !strings.HasPrefix(how, test.how+"; filename") {
			t.Errorf("GET /raw of %q: %q %q, want %q %q", test.name, kind, how, test.kind, test.how)
		}
		if policy := w.Header().Get("Content-Security-Policy"); strings.HasSuffix(policy, "frame-ancestors 'self'") != (test.name == "pdf") {
			t.Errorf("GET /raw of %q may be framed, or not: %q", test.name, policy)
		}
	}
	defer func() {
		if p := recover(); p != http.ErrAbortHandler {
			t.Errorf("a text that is cut short ends with %v, want that the browser is told", p)
		}
	}()
	ask(pages, "/raw?name=damaged")
}

// TestReview shows what is to be decided with the commands that decide; with --write they have buttons.
func TestReview(t *testing.T) {
	t.Parallel()
	item, _ := json.Marshal(map[string]any{"id": hostileName, "why": "alike", "text": hostileName, "other": "gotcha-1", "against": "It is <b>.",
		"try": []string{"filebus knowledge accept '" + hostileName + "'"}})
	var ran []string
	s := &Site{
		Now: time.Now,
		Ask: func(_ context.Context, into any, args ...string) error {
			return json.Unmarshal([]byte(`{"total": 9, "more": 8, "items": [`+string(item)+`]}`), into)
		},
	}
	out := ask(s.handler(http.NotFoundHandler()), "/review").Body.String()
	for _, want := range []string{"9 to decide", "8 more", "It is &lt;b&gt;.", "Commands that decide", "knowledge accept &#39;"} {
		if !strings.Contains(out, want) || strings.Contains(out, "<script>") || strings.Contains(out, "<form method=\"post\"") {
			t.Errorf("the page is without %q, or has more\n%s", want, out)
		}
	}
	s.Change = func(_ context.Context, args ...string) error { ran = append(ran, strings.Join(args, " ")); return nil }
	pages := s.handler(http.NotFoundHandler())
	if out = ask(pages, "/review").Body.String(); !strings.Contains(out, `value="supersede">It supersedes gotcha-1<`) {
		t.Errorf("there is no button: %s", out)
	}
	for _, do := range []string{"accept", "reject", "supersede", "both"} {
		form := url.Values{"do": {do}, "id": {"-a"}, "other": {"b"}, "because": {"c d"}}.Encode()
		r, w := httptest.NewRequest(http.MethodPost, "/decide", strings.NewReader(form)), httptest.NewRecorder()
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		if pages.ServeHTTP(w, r); w.Code != http.StatusSeeOther {
			t.Errorf("%s: %d", do, w.Code)
		}
	}
	want := []string{"knowledge accept -- -a", "knowledge reject --because=c d -- -a", "knowledge supersede -- b -a", "knowledge link -- -a relates-to b"}
	if !slices.Equal(ran, want) {
		t.Errorf("ran %q, want %q", ran, want)
	}
}

func TestResolveOnlyWithWrite(t *testing.T) {
	t.Parallel()
	w := httptest.NewRecorder()
	site(t, nil, nil).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/resolve", strings.NewReader("name=a&take=file")))
	if w.Code != http.StatusForbidden {
		t.Errorf("POST /resolve: %d, want %d", w.Code, http.StatusForbidden)
	}
}

package web

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"filebus/store/record"
)

// functions are what templates can do, beside the methods of what they show.
func (s *Site) functions() template.FuncMap {
	texts := keptTexts{all: map[[sha256.Size]byte]readableText{}}
	return template.FuncMap{
		"ago":      func(t time.Time) string { return age(s.Now().Sub(t)) },
		"age":      func(seconds float64) string { return age(time.Duration(seconds * float64(time.Second))) },
		"count":    count,
		"visible":  visible,
		"short":    func(ref string) string { return fmt.Sprintf("%.12s", ref) },
		"marked":   marked,
		"to":       to,
		"offset":   func(u *url.URL, n int) string { return to(u, "offset", fmt.Sprint(n)) },
		"base":     func(name string) string { return name[strings.LastIndexByte(name, '/')+1:] },
		"shell":    record.ShellWord,
		"iso":      func(t time.Time) string { return t.UTC().Format(time.RFC3339) },
		"part":     func(p any, u *url.URL) map[string]any { return map[string]any{"Part": p, "URL": u} },
		"words":    func(all ...string) []string { return all },
		"readable": texts.readable,
		"kind":     kindOf,
		"columns":  columnsOf,
		"json":     func(v any) string { text, _ := json.Marshal(v); return string(text) }, // it was read from JSON
		"nothing":  func() passage { return passage{} },
		"date":     func(t time.Time) string { return t.Format(time.DateOnly) },
		"lines":    sourceLines,
		"lineKind": lineKind,
		"cut":      func(text, sep string, part int) string { return strings.SplitN(text+sep, sep, 2)[part] },
		"add":      func(a, b int) int { return a + b },
		"minus":    func(a int) int { return -a },
		"query":    func(u *url.URL, key string) string { return u.Query().Get(key) },
	}
}

// age says how long something took, in one unit.
func age(d time.Duration) string {
	switch {
	case d < 0:
		return "in " + age(-d)
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d days", int(d.Hours()/24))
}

// count writes a number with its thousands apart.
func count(n int) string {
	text := fmt.Sprint(n)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "\u202f" + text[i:]
	}
	return text
}

// A readableText is a text as people read it: what stands above it as a table, the rest rendered, or as it stands.
type readableText struct {
	Head   [][2]string
	HTML   template.HTML
	Source string
	Notes  []string
}

// keptTexts are the texts that were rendered last, by their digests: each is rendered once, however many wait for it.
type keptTexts struct {
	mu   sync.Mutex
	all  map[[sha256.Size]byte]readableText
	size int // of their sources, in bytes
}

// mostKept bounds the sources of what is kept: what is rendered has a few times as much.
const mostKept = 4 << 20

func (k *keptTexts) readable(p passage, text string) readableText {
	k.mu.Lock()
	defer k.mu.Unlock()
	digest := sha256.Sum256(fmt.Append([]byte(text), p))
	t, found := k.all[digest]
	if !found {
		if k.size += len(text); k.size > mostKept {
			clear(k.all) // what is looked at now comes again
			k.size = len(text)
		}
		t = readable(text, p)
		k.all[digest] = t
	}
	return t
}

func readable(text string, p passage) readableText {
	head, rest := frontMatter(text)
	out, notes, ok := rendered(rest, p)
	if !ok {
		return readableText{Source: visible(text)}
	}
	return readableText{Head: head, HTML: out, Notes: notes}
}

// frontMatter returns the rows of the front matter of a text, and the text with empty lines in its place.
func frontMatter(text string) (rows [][2]string, rest string) {
	lines := strings.SplitAfter(text, "\n")
	isFence := func(line string) bool { return strings.TrimRight(line, " \r\n") == "---" }
	end := 1 + slices.IndexFunc(lines[1:], isFence)
	if end < 1 || !isFence(lines[0]) {
		return nil, text
	}
	for _, line := range lines[1:end] {
		line = visible(strings.TrimRight(line, "\r\n"))
		key, value, isPair := strings.Cut(line, ":")
		switch last := len(rows) - 1; {
		case isPair && key != "" && !strings.ContainsAny(key[:1], " \t-#"):
			rows = append(rows, [2]string{strings.TrimSpace(key), strings.Trim(strings.TrimSpace(value), `"'`)})
		case last < 0 && strings.TrimSpace(line) != "":
			return nil, text // it is none
		case last >= 0:
			rows[last][1] = strings.TrimSpace(rows[last][1] + " " + strings.TrimSpace(line))
		}
	}
	return rows, strings.Repeat("\n", end+1) + strings.Join(lines[end+1:], "")
}

// A run of text of a snippet, found or not.
type span struct {
	Text   string
	Marked bool
}

// marked cuts a text at its marks, which are pairs of bytes.
func marked(text string, marks [][2]int) (spans []span) {
	at := 0
	for _, m := range marks {
		if m[0] < at || m[1] > len(text) || m[1] < m[0] {
			continue
		}
		spans = append(spans, span{visible(text[at:m[0]]), false}, span{visible(text[m[0]:m[1]]), true})
		at = m[1]
	}
	return append(spans, span{visible(text[at:]), false})
}

// to returns the address of a page with other values of its query, given as pairs; "" takes one
// away, and so does the value that it has.
func to(u *url.URL, pairs ...string) string {
	query := u.Query()
	if pairs[0] != "name" { // of what is beside the hits
		query.Del("offset")
	}
	maps.DeleteFunc(query, func(_ string, values []string) bool { return values[0] == "" }) // of fields that were left empty
	for pair := range slices.Chunk(pairs, 2) {
		if pair[1] == "" || query.Get(pair[0]) == pair[1] {
			query.Del(pair[0])
		} else {
			query.Set(pair[0], pair[1])
		}
	}
	return (&url.URL{Path: u.Path, RawQuery: query.Encode()}).String()
}

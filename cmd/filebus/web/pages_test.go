package web

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// A said is what commands say, by the beginning of their lines, in JSON. Commands without an entry
// have nothing to tell.
type said map[string]string

// open asks for a page of a site whose commands say that, and returns it with the lines that were run.
func (s said) open(t *testing.T, address string, header ...string) (page string, ran []string) {
	t.Helper()
	site := &Site{Now: func() time.Time { return time.Date(2031, 2, 3, 4, 5, 6, 0, time.UTC) }}
	site.Print = func(_ context.Context, out io.Writer, args ...string) error {
		_, err := io.WriteString(out, s[strings.Join(args[:2], " ")])
		return err
	}
	site.Ask = func(ctx context.Context, into any, args ...string) error {
		line := strings.Join(args, " ")
		if line == "log --limit=1" { // for the position
			return nil
		}
		ran = append(ran, line)
		for begin, text := range s {
			if !strings.HasPrefix(line, begin) {
				continue
			}
			if text == "slow" {
				<-ctx.Done()
				return &Refusal{Message: "it took too long"}
			}
			if text, isRefused := strings.CutPrefix(text, "refused: "); isRefused {
				return &Refusal{Code: "usage", Message: text}
			}
			return json.Unmarshal([]byte(text), into)
		}
		return nil
	}
	handler := site.handler(http.NotFoundHandler())
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	for _, name := range header {
		request.Header.Set(name, "true")
	}
	answer := httptest.NewRecorder()
	handler.ServeHTTP(answer, request)
	if answer.Code >= 500 {
		t.Errorf("%s: %d\n%s", address, answer.Code, answer.Body)
	}
	return answer.Body.String(), ran
}

// expect reports texts that a page lacks, and those after "!" that it has.
func expect(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		text, not := strings.CutPrefix(text, "!")
		if strings.Contains(page, text) == not {
			t.Errorf("the page has %q: %t\n%s", text, not, page)
		}
	}
}

const hostile = `<script>alert(1)<\/script>\"'\u202e`

func TestKnowledge(t *testing.T) {
	t.Parallel()
	known := said{
		"knowledge graph": `{"nodes": [
			{"id": "` + hostile + `", "name": "knowledge/` + hostile + `", "type": "<i>", "summary": "` + hostile + `", "tags": ["a&b=c", "日本"]},
			{"id": "lib:x", "name": "lib:knowledge/x", "tags": ["日本"], "superseded_by": "` + hostile + `", "source": "T-1"}],
			"edges": [{"from": "` + hostile + `", "to": "lib:x", "type": "supersedes"}, {"from": "lib:x", "to": "` + hostile + `", "type": "tags"}]}`,
		"component show": `{"components": [{"component": "` + hostile + `", "task": "T-1"}], "more": 7}`,
	}
	page, ran := known.open(t, "/knowledge?type=%3Ci%3E&tag=--limit%3D0")
	expect(t, page, "!<script>alert", "!\u202e<", "!<i>", `tag=a%26b%3Dc`, "/record?name=lib%3aknowledge%2fx", "superseded by", "supersedes <a",
		"2 entries.", "7 more", `data-from="/knowledge.json?type=%3Ci%3E&amp;tag=--limit%3D0"`,
		`hx-get="/knowledge?type=%3Ci%3E&amp;tag=--limit%3D0"`)
	if want := "knowledge graph --tag=--limit=0 --type=<i> --limit=20000"; ran[0] != want {
		t.Errorf("ran %q, want %q", ran[0], want)
	}
	page, _ = known.open(t, "/knowledge.json")
	var g graph
	if err := json.Unmarshal([]byte(page), &g); err != nil || len(g.Nodes) != 2 || len(g.Edges) != 2 || len(g.Clusters) != 1 || g.Clusters[0].Tag != "日本" {
		t.Errorf("%v, %s", err, page)
	}
}

func TestMuchKnowledge(t *testing.T) {
	t.Parallel()
	var nodes []string
	for i := range maxDrawn + 300 {
		nodes = append(nodes, fmt.Sprintf(`{"id":"n%d","name":"knowledge/n%d","tags":["t%d"]}`, i, i, i%40))
	}
	many := said{"knowledge graph": `{"nodes": [` + strings.Join(nodes, ",") + `], "edges": [{"from":"n1","to":"n5299","type":"task"}]}`}
	page, _ := many.open(t, "/knowledge?offset=5250")
	expect(t, page, "5\u202f300 entries: choose a tag", "10 more", "n5299</small>", "!n5249</small>", "!<canvas", "!next ones")
	page, _ = many.open(t, "/knowledge?offset=-1&tag=t3")
	expect(t, page, "n99</small>", "!n100</small>", "offset=100", "<canvas", "5\u202f000 entries of 5\u202f300")
	page, _ = many.open(t, "/knowledge.json")
	expect(t, page, `"n4999"`, "!n5299")

	tooMany := said{"knowledge graph": "refused: the graph has 20001 entries", "knowledge tags": `{"tags": [{"tag": "<b>", "count": 3}]}`}
	page, _ = tooMany.open(t, "/knowledge")
	expect(t, page, "20001 entries. Choose a tag", "tag=%3Cb%3E", "!<canvas")
	page, _ = tooMany.open(t, "/knowledge.json")
	expect(t, page, "the graph has 20001 entries")
}

func TestNow(t *testing.T) {
	t.Parallel()
	var tasks, issues []string
	for i := range 600 {
		tasks = append(tasks, fmt.Sprintf(`{"task":"sub/τ-%[1]d","name":"handoff/sub/τ-%[1]d","status":"%[2]s","seconds":%[3]d,"from":"journal"}`, i, hostile, i*1000))
		issues = append(issues, fmt.Sprintf(`{"id":"I%d","status":"%s","priority":"%s","summary":"%s"}`, i,
			[]string{"weird <b>", "in_progress", "pending"}[i%3], []string{"odd", "low", "critical", ""}[i%4], hostile))
	}
	work := said{
		"status":        `{"sessions": {"in_progress": 1}, "run": "R\u0000", "working": 9, "late": 3, "tasks": [{"agent": "` + hostile + `", "seconds": 7}]}`,
		"run show":      `{"history": ["one", "two"], "completed": [{"id": "x", "task": "t", "outcome": "failed"}]}`,
		"task list":     `{"tasks": [` + strings.Join(tasks, ",") + `]}`,
		"issue list":    `{"issues": [` + strings.Join(issues, ",") + `, {"id":"Z","status":"accepted","blocked_by":["I7"]}]}`,
		"dialogue list": `{"dialogues": [{"dialogue": "d", "status": "converged"}, {"dialogue": "e f", "status": "open", "owed": 2}, {"dialogue": "g", "last": 3, "turns": 1}]}`,
		"session list":  `{"sessions": [{"session": "a/b", "status": "completed"}, {"session": "ü/1", "status": "in_progress"}]}`,
		"log --limit=500": `{"position": 1, "time": "2031-02-03T04:02:10Z", "name": "result/call <i>", "status": "failed", "agent": "` + hostile + `"}
			{"position": 2, "time": "2031-02-03T04:05:05Z", "name": "result/q", "status": "<b>"}`,
		"list": `{"records": [{"name": "result/q", "time": "2031-02-03T04:00:00Z"}], "more": 1234}`,
	}
	page, ran := work.open(t, "/")
	expect(t, page, "!<script>alert", "!<b>", "!\u202e<", "592 more", "9 in all", "two</li><li class=\"entry\">one", "name=e%20f", "!name=d\"",
		"id=%c3%bc%2f1", "!a/b", "<small>open, round 0", "<small>round 3, 1 turns<", "waits for <a href=\"/record?name=issue/I7\"", "1\u202f234 more", "5 min ago",
		"call &lt;i&gt;", "2 changes in 24 h", `<title>03:35: 2</title>`, "all=working")
	for _, line := range ran {
		if strings.Contains(line, "score") || strings.HasPrefix(line, "session summary") {
			t.Errorf("ran %q, which may write", line)
		}
	}
	page, _ = work.open(t, "/?all=tasks")
	expect(t, page, "sub/τ-499", "!sub/τ-500", "100 more are not shown", "Fewer")
	page, _ = said{"list": "slow", "status": `{"results": [{"ref": "abc", "title": "` + hostile + `"}, {"ref": "def"}]}`}.open(t, "/")
	expect(t, page, "name=abc", ">def</a>", "!took too long", "!<script>alert")
	page, ran = said{}.open(t, "/")
	expect(t, page, "No run is going on", "No task has been started", "Nobody is at work", "No result yet", "!Failed last", "!Next, and")
	if slices.ContainsFunc(ran, func(line string) bool {
		return strings.HasPrefix(line, "run show") || strings.HasPrefix(line, "session")
	}) {
		t.Errorf("a run or sessions that are not there were asked for: %q", ran)
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	ill := said{
		"doctor":    `{"checks": [{"rule": "index", "level": "wrong", "message": "` + hostile + `", "remedy": "filebus reindex"}]}`,
		"conflicts": `{"conflicts": [{"name": "note/<b>", "store": "abcdef0123456789", "file": "0123456789abcdef", "time": "2031-02-03T04:00:00Z"}]}`,
		"log --limit=2000": `{"op": "put", "time": "2031-02-03T00:30:00+01:00", "tokens": 2} {"op": "retire", "time": "2031-02-03T00:31:00+01:00"}
			{"op": "put", "time": "2031-02-03T04:00:00Z", "tokens": 40}`,
		"verify": `{"position": 7, "records": 5, "index": "ok", "faults": [""` + strings.Repeat(`, "x"`, 500) +
			`], "findings": [{"rule": "store", "message": "` + hostile + `"}` + strings.Repeat(`, {"rule": "x"}`, 500) + `]}`,
	}
	page, ran := ill.open(t, "/health")
	expect(t, page, "!<script>alert", "!<b>", "filebus reindex", "note/&lt;b&gt;", "2031-02-03", "2031-02-02", ">40<", ">1</td><td class=\"number\">2<", "!Sound")
	if slices.Contains(ran, "verify") {
		t.Error("verify was run unasked")
	}
	page, _ = ill.open(t, "/health?verify=1")
	expect(t, page, "501 faults", "301 more", "up to entry 7 of", "!<script>alert", "!Sound")
	page, ran = ill.open(t, "/health?verify=1", "HX-Request")
	if page != "" || len(ran) > 0 { // the browser keeps what it has
		t.Errorf("a page that is refreshed verifies again: %q, %s", ran, page)
	}
	page, _ = said{"verify": "refused: busy", "conflicts": "refused: x", "log --limit=2000": "}"}.open(t, "/health?verify=1")
	expect(t, page, "busy", "None is open", `<p class="bad">invalid character`, "!Nothing has been stored")
}

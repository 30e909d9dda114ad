package web

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestSessions(t *testing.T) {
	t.Parallel()
	page, _ := said{}.open(t, "/sessions")
	expect(t, page, "There is no session")
	page, _ = said{"session list": `{"sessions": [{"session": "` + hostile + `", "name": "` + hostile + `", "status": "x\" y", "agents": ["` + hostile + `"],
		"changed": "1999-12-31T23:59:59Z", "artifacts": 7, "tokens": 12345}, {"session": "a b/ü", "changed": "2040-01-01T00:00:00Z", "archive": "x.tgz"}], "more": 1}`}.open(t, "/sessions")
	expect(t, page, "!<script>alert", "!\u202e", "/session?id=a%20b%2f%c3%bc", "~12\u202f345", "archived", "1 more", "!x\" y")
}

// A replay shows what there was: changed, kept beside, retired and destroyed.
func TestReplay(t *testing.T) {
	t.Parallel()
	steps := []string{
		`{"position": 3, "time": "2026-03-05T13:00:00Z", "event": "put", "name": "artifact/a b/plan", "ref": "11"}`,
		`{"position": 4, "time": "2026-03-05T13:00:00Z", "event": "put", "name": "artifact/a b/note", "ref": "22", "destroyed": true}`,
		`{"position": 9, "time": "2026-03-05T14:00:00Z", "event": "change", "name": "artifact/a b/plan", "ref": "33", "agent": "` + hostile + `"}`,
		`{"position": 12, "time": "2026-03-05T15:00:00Z", "event": "conflict", "name": "artifact/a b/plan", "ref": "44"}`,
		`{"position": 15, "time": "2026-03-05T16:00:00Z", "event": "retire", "name": "artifact/a b/note", "ref": "22"}`,
		`{"position": 16, "time": "2026-03-05T16:00:00Z", "event": "drop", "name": "artifact/a b/note", "ref": "22"}`,
	}
	until := func(n int) string { return `{"steps": [` + strings.Join(steps[:n], ",") + `]}` }
	show := `{"session": "a b", "status": "completed", "artifacts": 2, "tokens": 9, "files": [{"artifact": "plan", "ref": "33", "tokens": 9}], "log": ["x"]}`
	for at, test := range map[string]struct {
		n    int
		want []string
	}{
		"":     {0, []string{"Artifacts", ">plan</a>", "!As it was", "@16", "/session?id=a%20b&amp;at=3", "When artifacts were stored", `at=12" tabindex="-1"><rect x="66%"`}},
		"@2":   {0, []string{"It had nothing", "!before</a>", "id=a%20b&amp;at=3\">after"}},
		"3":    {2, []string{"As it was at position 4", "name=11\"", "name=22\"", "destroyed since", "!before</a>", "id=a%20b&amp;at=9\">after"}},
		"9":    {3, []string{"at position 9", "<mark>change</mark>", "id=a%20b&amp;at=4\">← before", "id=a%20b&amp;at=12\">after", "!<script>alert"}},
		"2d":   {4, []string{"<mark>conflict</mark>", "id=a%20b&amp;at=9\">← before", "name=44\"", "name=33\""}},
		"1000": {6, []string{"at position 16", "id=a%20b&amp;at=12\">← before", "!after →"}},
	} {
		page, ran := said{
			"session show": show, "session replay --steps --limit=0 -- a b": until(6),
			"session replay --steps --limit=0 --until": until(test.n),
		}.open(t, "/session?id=a+b&at="+at)
		expect(t, page, test.want...)
		state, _, _ := strings.Cut(page, "<h2>Changes")
		if at == "1000" && strings.Contains(state, "note") {
			t.Errorf("a retired artifact is still there:\n%s", state)
		}
		if at != "" && !slices.Contains(ran, "session replay --steps --limit=0 --until="+at+" -- a b") {
			t.Errorf("at %q was asked: %q", at, ran)
		}
	}
	page, _ := said{"session replay --steps --limit=0 --until": "refused: no such step"}.open(t, "/session?id=x&at=%2d%2dto%3d/tmp")
	expect(t, page, "no such step")
}

// Events that tell no time are in the table alone, and what has begun lasts until its end.
func TestTimeline(t *testing.T) {
	t.Parallel()
	page, _ := said{
		"session show": `{"session": "x", "at_work": [{"agent": "` + hostile + `", "seconds": 1.5}]}`,
		"session log": `{"more": 77, "events": [{"time": "yesterday", "event": "START", "agent": "<i>"},
			{"time": "2026-03-05T12:00:00+02:00", "event": "START", "agent": "ぱん"},
			{"time": "2026-03-05T10:30:00Z", "event": "SUCCESS", "agent": "ぱん", "message": "` + hostile + `"},
			{"time": "2026-03-05T11:00:00Z", "event": "ERROR", "agent": "b"}, {"time": "", "event": "SUCCESS", "agent": "b"}]}`,
	}.open(t, "/session?id=x")
	expect(t, page, "!<script>alert", "!<i>", "!\u202e", "2026-03-05 10:00:00", "2026-03-05 11:00:00", `x="0%" y="20%" width="49.5%"`,
		`x="49.5%" y="20%" width="1%"`, "yesterday", "77 earlier")
	page, _ = said{"session log": `{"events": [{"time": "n/a", "event": "START", "agent": "a"}]}`}.open(t, "/session?id=x")
	expect(t, page, "n/a", "!When agents were at work")
}

// The largest are shown, also where one of them is refused.
func TestBudget(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 30 {
		list = append(list, fmt.Sprintf(`{"conversation": "c%d", "tree": "%s", "results": 3, "inline_tokens": %d, "reference_tokens": 494}`, i, map[bool]string{true: "lib"}[i == 29], 3279+i))
	}
	all := said{
		"conversation list":   `{"conversations": [` + strings.Join(list, ",") + `], "more": 500}`,
		"session list":        `{"sessions": [{"session": "` + hostile + `", "tokens": 5}]}`,
		"budget --session=":   `{"artifacts": 0, "agents": [], "content": {"tokens": 0}, "files": {"tokens": 0}}`,
		"snapshot list":       `{"snapshots": [{"run": "läuf 1"}, {"run": "läuf 1"}, {"run": "läuf 2"}]}`,
		"status":              `{"run": "läuf 2", "sessions": {"in_progress": 0}}`,
		"budget --run=läuf 1": "refused: nothing is stored",
		"budget --run=läuf 2": `{"agents": {"count": 0}, "reads": 21, "tokens": 100, "inline": {"tokens": 250}}`,
	}
	page, ran := all.open(t, "/budget")
	expect(t, page, "lib:c29", "510 more", "6.7×", "4\u202f000", "!>c9<", `width="82.7%"`)
	if len(ran) != 1 {
		t.Errorf("asked: %q", ran)
	}
	page, _ = all.open(t, "/budget?by=session")
	expect(t, page, "!<script>alert", "!\u202e", "log of reads", "–")
	page, ran = all.open(t, "/budget?by=run")
	expect(t, page, "läuf 1: nothing is stored", "2.5×")
	if len(ran) != 4 {
		t.Errorf("asked: %q", ran)
	}
	page, ran = all.open(t, "/budget?by=rm")
	expect(t, page, "savings are not counted by")
	if len(ran) != 0 {
		t.Errorf("asked: %q", ran)
	}
	page, _ = said{}.open(t, "/budget")
	expect(t, page, "There is no conversation yet")
}

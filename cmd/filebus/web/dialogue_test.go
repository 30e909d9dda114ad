package web

import (
	"fmt"
	"strings"
	"testing"
)

func TestDialogues(t *testing.T) {
	t.Parallel()
	page, ran := said{}.open(t, "/dialogues")
	expect(t, page, "There is no dialogue")
	if len(ran) != 1 || ran[0] != "dialogue list --limit=200" {
		t.Errorf("asked: %q", ran)
	}
	page, _ = said{"dialogue list": `{"dialogues": [
		{"dialogue": "` + hostile + `", "title": "` + hostile + `", "agents": ["` + hostile + `"], "status": "<i>", "turns": 3, "owed": 4, "last": 0},
		{"dialogue": "lib:größe & co", "title": "Größe"}], "more": 1234}`}.open(t, "/dialogues")
	expect(t, page, "!<script>alert", "!\u202e", "!<i>", "/dialogue?name=lib%3agr%c3%b6%c3%9fe%20%26%20co", "round 0: 3 turns of 4", "1\u202f234 more")
}

func TestDialogue(t *testing.T) {
	t.Parallel()
	all := said{
		"dialogue score --dry-run -- käse": `{"dialogue": "käse", "total": 97, "says": ["` + hostile + `"], "agents": [{"agent": "` + hostile + `", "total": 33}, {"agent": "ぱん", "total": 64}], "rounds": [
			{"round": 2, "score": 9, "cumulative": 9, "open_tensions": 1, "velocity": 3, "given": ["ぱん"]},
			{"round": 4, "open_tensions": 1, "velocity": -2, "given": ["ぱん"], "unjudged": ["ぱん"]},
			{"round": 5, "given": null}], "tensions": [
			{"id": "T01", "tension": "` + hostile + `", "status": "✅ settled", "raised": "", "raised_round": 40, "resolved_round": 44},
			{"id": "T02", "tension": "open", "status": "Open", "raised": "ぱん R2", "raised_round": 2},
			{"id": "T03", "tension": "ended", "status": "Resolved", "raised": "ぱん R2", "raised_round": 2, "resolved_round": 4}]}`,
		"dialogue check --all -- käse": `{"given": 2, "launched": 4, "turns": [
			{"round": 2, "agent": "ぱん", "state": "turn", "name": "turn/käse/round-2/ぱん", "markers": {"tension": 2, "resolved": 1}},
			{"round": 4, "agent": "ぱん", "state": "stub", "name": "turn/käse/round-4/ぱん"},
			{"round": 5, "agent": "` + hostile + `", "state": "missing"}],
			"findings": [{"rule": "missing", "level": "must", "file": "` + hostile + `", "message": "no file", "remedy": "filebus x ` + hostile + `", "line": 3}]}`,
		"dialogue assemble --stdout -- käse": `{"dialogue": "käse", "text": "# Käse\n\n<script>alert(1)<\/script>\n"}`,
	}
	page, _ := all.open(t, "/dialogue?name=k%C3%A4se")
	expect(t, page, "!<script>alert", "!\u202e<", "2 of 4 turns", "ten 2", "res 1", `class="stub">stub`, "#findings", "nobody is judged", "Scores by round", " 33, ぱん 64.",
		"-2", `width="75%" height="60%" rx="2" class="series1"/>`, "raised", "filebus x ")
	page, _ = all.open(t, "/dialogue?name=k%C3%A4se&document=1")
	expect(t, page, "Käse<a", "!<script>alert", "Without the document")

	all["dialogue assemble --stdout -- käse"] = `{"text": "` + strings.Repeat(`word\n`, 100_000) + `"}`
	page, _ = all.open(t, "/dialogue?name=k%C3%A4se&document=1")
	expect(t, page, "bytes more", "--stdout</code>")

	page, _ = said{"dialogue score": `{"dialogue": "leer", "total": 0}`}.open(t, "/dialogue?name=leer")
	expect(t, page, "No round yet", "Nothing is wanting", "!Scores by round", "!From the round")
	page, _ = said{"dialogue score --dry-run -- --force": "refused: there is none"}.open(t, "/dialogue?name=--force")
	expect(t, page, "there is none")
}

// Twenty agents in thirty rounds are one page, in which each turn is a link.
func TestLargeDialogue(t *testing.T) {
	t.Parallel()
	var rounds, turns []string
	for r := range 30 {
		rounds = append(rounds, fmt.Sprintf(`{"round": %d, "score": %d, "cumulative": %d, "given": ["a"]}`, r, r, r*r))
		for a := range 20 {
			turns = append(turns, fmt.Sprintf(`{"round": %d, "agent": "a%d", "state": "turn", "name": "turn/x/round-%d/a%d"}`, r, a, r, a))
		}
	}
	page, _ := said{
		"dialogue score": `{"dialogue": "x", "rounds": [` + strings.Join(rounds, ",") + `]}`,
		"dialogue check": `{"turns": [` + strings.Join(turns, ",") + `]}`,
	}.open(t, "/dialogue?name=x")
	if n := strings.Count(page, "/record?name=turn%2fx%2f"); n != 600 || len(page) > 200_000 {
		t.Errorf("%d turns in %d bytes", n, len(page))
	}
}

func TestAxes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		low, high int
		want      string
	}{
		{0, 0, "0 1"}, {0, 1, "0 1"}, {0, 3308, "0 1\u202f000 2\u202f000 3\u202f000 4\u202f000"}, {-3, 12, "-10 0 10 20"},
		{0, 1_000_002, "0 1 M 2 M"}, {0, 16_000, "0 10 k 20 k"}, {7, 7, "7 8"}, {0, 9, "0 2 4 6 8 10"},
	} {
		var got []string
		for _, tick := range newAxis(test.low, test.high).Ticks() {
			got = append(got, tick.Label)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("axis from %d to %d: got %q, want %q", test.low, test.high, got, test.want)
		}
	}
}

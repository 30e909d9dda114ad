package dialogue

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/materialize/layout"
)

// A scoreHall is a workspace with dialogues, and a clock that tests set.
type scoreHall struct {
	*Dialogues
	work *materialize.Workspace
	now  time.Time
}

// newScoreHall makes a workspace whose dialogues lie where a profile says.
func newScoreHall(t testing.TB, profile layout.Profile) *scoreHall {
	t.Helper()
	h := &scoreHall{now: time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return h.now }
	h.Dialogues, h.work = newDialogues(t, profile, clock, clock)
	return h
}

// write stores files of the dialogue x and returns it.
func (h *scoreHall) write(t testing.TB, files map[string]string) *Dialogue {
	t.Helper()
	putFiles(t, h.work, files)
	return h.readAll(t)
}

func (h *scoreHall) readAll(t testing.TB) *Dialogue {
	t.Helper()
	d, skipped, err := h.ReadFresh(t.Context(), Key{ID: "x"})
	if err = errors.Join(err, skipped); err != nil {
		t.Fatal(err)
	}
	return d
}

func marks(agent string, w, c, truth, r int) layout.JudgedTurn {
	return layout.JudgedTurn{Agent: agent, Marks: layout.Marks{Wisdom: w, Consistency: c, Truth: truth, Relationships: r}}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, profile := range []layout.Profile{layout.Claude(), profileOf("blue"), outside(t)} {
		h := newScoreHall(t, profile)
		key := Key{ID: "x"}
		h.write(t, map[string]string{"round-0/muffin.md": "[PERSPECTIVE P01: a]\n", "round-0/scone.md": "[TENSION T01: b]\n"})
		first, err := h.Judge(t.Context(), key, 0, []layout.JudgedTurn{marks("Scone", 1, 2, 3, 4), marks("muffin", 5, 6, 7, 8)})
		if err != nil || first.Unchanged {
			t.Fatalf("profile %s: judging: %+v, %v", profile.Name, first, err)
		}
		want := "{\n  \"round\": 0,\n  \"agents\": [\n" +
			"    {\"agent\":\"muffin\",\"wisdom\":5,\"consistency\":6,\"truth\":7,\"relationships\":8,\"turn\":\"2b63be0a65c0\"},\n" +
			"    {\"agent\":\"scone\",\"wisdom\":1,\"consistency\":2,\"truth\":3,\"relationships\":4,\"turn\":\"2dd77f16da24\"}\n  ]\n}\n"
		if text, err := os.ReadFile(first.File); err != nil || string(text) != want {
			t.Errorf("profile %s: %s: %v (-want +got):\n%s", profile.Name, first.File, err, cmp.Diff(want, string(text)))
		}
		again, err := h.Judge(t.Context(), key, 0, []layout.JudgedTurn{marks("scone", 1, 2, 3, 4)})
		if err != nil || !again.Unchanged {
			t.Errorf("profile %s: the same again: %+v, %v", profile.Name, again, err)
		}
		other, err := h.Judge(t.Context(), key, 0, []layout.JudgedTurn{marks("scone", 0, 0, 0, 0)})
		if err != nil || other.Unchanged {
			t.Errorf("profile %s: other numbers: %+v, %v", profile.Name, other, err)
		}
		if got, found := h.readAll(t).Round(0).Scores.Find("scone"); !found || got.Marks != (layout.Marks{}) || got.Turn != "2dd77f16da24" {
			t.Errorf("profile %s: scone has %+v", profile.Name, got)
		}
	}
}

func TestJudgeRefuses(t *testing.T) {
	t.Parallel()
	h := newScoreHall(t, layout.Claude())
	h.write(t, map[string]string{
		"expert-pool.json":   `{"experts": [{"name": "muffin"}, {"name": "scone"}, {"name": "donut"}, {"name": "eclair"}]}`,
		"round-0/muffin.md":  "[PERSPECTIVE P01: a]\n",
		"round-0/scone.md":   "[ERROR: out of time]\n",
		"round-0/donut.md":   " \n",
		"round-1/muffin.md":  "[PERSPECTIVE P01: a]\n",
		"round-1/panel.json": "{}",
	})
	key := Key{ID: "x"}
	tests := []struct {
		key   Key
		round int
		given []layout.JudgedTurn
		want  string
		text  string
	}{
		{Key{Tree: "blue", ID: "x"}, 0, []layout.JudgedTurn{marks("muffin", 1, 1, 1, 1)}, "run it again with a dialogue of this project: filebus dialogue list",
			"captured tree"},
		{key, 2, []layout.JudgedTurn{marks("muffin", 1, 1, 1, 1)}, tryPrompt,
			"x has no round 2; it has 0, 1"},
		{key, 0, []layout.JudgedTurn{marks("scone", 1, 1, 1, 1)}, "filebus dialogue check {1} {2}",
			"but a stub: out of time; an absent agent is never scored"},
		{key, 0, []layout.JudgedTurn{marks("donut", 1, 1, 1, 1)}, "filebus dialogue check {1} {2}", "its file is empty"},
		{key, 0, []layout.JudgedTurn{marks("eclair", 1, 1, 1, 1)}, "filebus dialogue check {1} {2}",
			"eclair gave no turn in round 0 of x"},
		{key, 0, []layout.JudgedTurn{marks("muffin", 1, 1, 1, 1), marks("eclair", 1, 1, 1, 1)}, "filebus dialogue check {1} {2}",
			"eclair"},
		{key, 0, []layout.JudgedTurn{marks("muffin", 1, 1, 1, 1), marks("Muffin", 2, 1, 1, 1)}, "is among the agents twice",
			"muffin is among the agents twice"},
		{key, 0, []layout.JudgedTurn{marks("muffin", 1, -1, 1, 1)}, "malformed mark", "consistency -1 is not 0 to 1000000"},
		{key, 0, []layout.JudgedTurn{marks("../muffin", 1, 1, 1, 1)}, "is no name of an agent", "of letters, digits"},
	}
	for _, test := range tests {
		_, err := h.Judge(t.Context(), test.key, test.round, test.given)
		if !refuses(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("Judge(%s, %d, %+v): %v, want %v with %q", test.key, test.round, test.given, err, test.want,
				test.text)
		}
	}
	if scores := h.readAll(t).Round(0).Scores; len(scores.Agents) > 0 {
		t.Errorf("after refusals there are scores: %+v", scores)
	}
}

// TestJudgeBroken judges where the scores were spoiled by hand: they stay as they are.
func TestJudgeBroken(t *testing.T) {
	t.Parallel()
	h := newScoreHall(t, layout.Claude())
	d := h.write(t, map[string]string{"round-0/muffin.md": "[PERSPECTIVE P01: a]\n", "round-0/scores.json": "{\"round\": 0,\n\"agents\": [}"})
	_, err := h.Judge(t.Context(), d.Key, 0, []layout.JudgedTurn{marks("muffin", 1, 1, 1, 1)})
	if err == nil || !strings.Contains(err.Error(), "round-0/scores.json cannot be read") {
		t.Errorf("judging with broken scores: %v", err)
	}
	report, err := Check(d, 0)
	if err != nil || len(report.Findings) != 1 || report.Findings[0].Rule != "broken" || report.Findings[0].Line != 2 {
		t.Errorf("check: %+v, %v; want one broken file, line 2", report, err)
	}
}

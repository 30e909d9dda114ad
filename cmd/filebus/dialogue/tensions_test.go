package dialogue

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// talk makes a dialogue of turns: "0/muffin" is muffin's of round 0. "list" is the
// text of a tensions.md that the judge has written.
func talk(texts map[string]string) *Dialogue {
	d := &Dialogue{Key: Key{ID: "x"}, Pool: layout.Pool{Title: "X"}}
	var keys []string
	for key := range texts {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		text := []byte(texts[key])
		if key == "list" {
			d.judgeFiles = append(d.judgeFiles, judgeFile{tensionsFile, -1, text, true})
			continue
		}
		var round int
		agent := key[strings.IndexByte(key, '/')+1:]
		if _, err := fmt.Sscanf(key, "%d/", &round); err != nil {
			panic(err)
		}
		id := fmt.Sprintf("x/round-%d/%s", round, agent)
		t := &Turn{
			Agent: strings.ToLower(agent), Round: round, Text: text, Markers: layout.ParseMarkers(text),
			Version: store.Version{Record: &record.Record{
				Name: record.Name{Kind: record.KindTurn, ID: id}, Path: ".claude/dialogues/" + id + ".md", Size: int64(len(text)),
			}},
		}
		if t.Stub, t.IsStub = layout.ParseStub(text); t.IsStub {
			t.Markers = nil
		}
		if d.Round(round) == nil {
			d.Rounds = append(d.Rounds, &Round{Number: round})
		}
		r := d.Round(round)
		r.Turns = append(r.Turns, t)
	}
	return d
}

// tracked writes what became of the tensions of a dialogue at the end of a round, a
// line each, and then the references that are unclear.
func tracked(d *Dialogue, round int) []string {
	t := track(d)
	var lines []string
	for _, tension := range t.Tensions {
		if tension.Listed && tension.Agent != "" {
			continue
		}
		status, by := tension.At(round)
		line := fmt.Sprintf("%s %s", tension, status)
		if by != nil {
			line += fmt.Sprintf(" %s R%d %s", by.Agent, by.Round, strings.ToLower(string(by.Kind)))
		}
		lines = append(lines, line)
	}
	for _, u := range t.Unclear {
		lines = append(lines, fmt.Sprintf("%s R%d:%d %s of %d", u.Agent, u.Round, u.Line, u.Text, u.Count))
	}
	return lines
}

func TestTrack(t *testing.T) {
	t.Parallel()
	one := "[TENSION T01: one]\n"
	tests := []struct {
		name  string
		texts map[string]string
		round int
		want  []string
	}{
		{"nothing", map[string]string{"0/a": "text"}, 0, nil},
		{"open", map[string]string{"0/a": one}, 0, []string{"A R0-T01 Open"}},
		{"resolved by another", map[string]string{"0/a": one, "1/b": "[RESOLVED T01]"}, 1, []string{"A R0-T01 Resolved b R1 resolved"}},
		{"not yet", map[string]string{"0/a": one, "1/b": "[RESOLVED T01]"}, 0, []string{"A R0-T01 Open"}},
		{"T1 is T01", map[string]string{"0/a": one, "1/b": "[RESOLVED T1: yes]"}, 1, []string{"A R0-T01 Resolved b R1 resolved"}},
		{"in the same turn", map[string]string{"0/a": one + "[RESOLVED T01]"}, 0, []string{"A R0-T01 Resolved a R0 resolved"}},
		{"before it was raised", map[string]string{"0/a": "[RESOLVED T01]\n" + one}, 0, []string{"A R0-T01 Open", "a R0:1 T01 of 0"}},
		{"at the same time", map[string]string{"0/a": one, "0/b": "[RESOLVED T01]"}, 0, []string{"A R0-T01 Open", "b R0:1 T01 of 0"}},
		{"at the same time, by its key", map[string]string{"0/a": one, "0/b": "[RESOLVED A R0-T01]"}, 0, []string{"A R0-T01 Resolved b R0 resolved"}},
		{"unknown", map[string]string{"0/a": one, "1/b": "[RESOLVED T02]"}, 1, []string{"A R0-T01 Open", "b R1:1 T02 of 0"}},
		{"ambiguous", map[string]string{"0/a": one, "0/b": one, "1/a": "[RESOLVED T01]"}, 1,
			[]string{"A R0-T01 Open", "B R0-T01 Open", "a R1:1 T01 of 2"}},
		{"by agent", map[string]string{"0/muffin": one, "0/scone": one, "1/muffin": "[RESOLVED Scone's T01]"}, 1,
			[]string{"MUFFIN R0-T01 Open", "SCONE R0-T01 Resolved muffin R1 resolved"}},
		{"by round", map[string]string{"0/a": one, "1/a": one, "2/b": "[RESOLVED R0-T01]"}, 2,
			[]string{"A R0-T01 Resolved b R2 resolved", "A R1-T01 Open"}},
		{"by both", map[string]string{"0/muffin": one, "0/scone": one, "1/muffin": one, "2/scone": "[RESOLVED MUFFIN R1-T01]"}, 2,
			[]string{"MUFFIN R0-T01 Open", "SCONE R0-T01 Open", "MUFFIN R1-T01 Resolved scone R2 resolved"}},
		{"by the key of a name with a hyphen", map[string]string{"0/web-fan": one, "0/b": one, "1/b": "[RESOLVED WEB-FAN R0-T01: so be it]"}, 1,
			[]string{"B R0-T01 Open", "WEB-FAN R0-T01 Resolved b R1 resolved"}},
		{"several", map[string]string{"0/a": one + "[TENSION T02: two]", "1/b": "[RESOLVED T01, T02]"}, 1,
			[]string{"A R0-T01 Resolved b R1 resolved", "A R0-T02 Resolved b R1 resolved"}},
		{"refined", map[string]string{"0/a": one, "1/b": "[REFINEMENT on T01: a budget]"}, 1, []string{"A R0-T01 Addressed b R1 refined"}},
		{"conceded", map[string]string{"0/a": one, "1/b": "[CONCESSION: T01]"}, 1, []string{"A R0-T01 Addressed b R1 conceded"}},
		{"conceded to another", map[string]string{"0/muffin": one, "1/scone": "[CONCESSION to Eclair on T01]"}, 1,
			[]string{"MUFFIN R0-T01 Addressed scone R1 conceded"}},
		{"responded", map[string]string{"0/a": one, "1/b": "[TENSION T01-RESPONSE: but why]"}, 1, []string{"A R0-T01 Addressed b R1 responded"}},
		{"a response that is the first", map[string]string{"1/b": "[TENSION T04-R1: new]"}, 1, []string{"B R1-T04 Open"}},
		{"a refinement of nothing", map[string]string{"0/a": one, "1/b": "[REFINEMENT: a budget]"}, 1, []string{"A R0-T01 Open"}},
		{"refined after it was resolved", map[string]string{"0/a": one, "1/b": "[RESOLVED T01]", "2/b": "[REFINEMENT on T01]"}, 2,
			[]string{"A R0-T01 Resolved b R1 resolved"}},
		{"resolved twice", map[string]string{"0/a": one, "1/b": "[RESOLVED T01]", "2/a": "[RESOLVED T01]"}, 2,
			[]string{"A R0-T01 Resolved b R1 resolved"}},
		{"resolved and refined at once", map[string]string{"0/a": one, "1/a": "[RESOLVED T01]", "1/b": "[REFINEMENT on T01]"}, 1,
			[]string{"A R0-T01 Resolved a R1 resolved"}},
		{"a part resolved", map[string]string{"0/a": one, "1/b": "[RESOLVED T1.2]"}, 1, []string{"A R0-T01 Addressed b R1 responded"}},
		{"the same id in two rounds", map[string]string{"0/a": one, "1/a": one}, 1, []string{"A R0-T01 Open", "A R1-T01 Open"}},
		{"an id twice in a turn", map[string]string{"0/a": one + one}, 0, []string{"A R0-T01 Open"}},
		{"an id of nothing", map[string]string{"0/a": "[TENSION T-NEW: x]"}, 0, nil},
		{"reopened", map[string]string{"0/a": one, "1/a": "[RESOLVED T01]", "2/b": "[RE:REOPEN T01]"}, 2, []string{"A R0-T01 Reopened b R2 reopened"}},
		{"reopened and resolved at once", map[string]string{"0/a": one, "1/a": "[RESOLVED T01]", "2/a": "[RE:REOPEN T01]", "2/b": "[RE:RESOLVE T01]"}, 2,
			[]string{"A R0-T01 Reopened a R2 reopened"}},
		{"reopened and resolved again", map[string]string{"0/a": one, "1/a": "[RESOLVED T01]", "2/b": "[RE:REOPEN T01]", "3/b": "[RESOLVED T01]"}, 3,
			[]string{"A R0-T01 Resolved b R3 resolved"}},
		{"reopened before it was resolved", map[string]string{"0/a": one, "1/b": "[RE:REOPEN T01]"}, 1, []string{"A R0-T01 Open"}},
		{"addressed", map[string]string{"0/a": one, "1/b": "[RE:ADDRESS T01: so]"}, 1, []string{"A R0-T01 Addressed b R1 responded"}},
		{"acknowledged", map[string]string{"0/a": one, "1/b": "[ACKNOWLEDGED T01: so]"}, 1, []string{"A R0-T01 Addressed b R1 responded"}},
		{"depended on", map[string]string{"0/a": one, "1/b": "[RE:DEPEND T01]"}, 1, []string{"A R0-T01 Open"}},
		{"a perspective supported", map[string]string{"0/a": one, "1/b": "[RE:SUPPORT P07]"}, 1, []string{"A R0-T01 Open"}},
		{"the second generation", map[string]string{"0/muffin": "[MUFFIN-T0001: a]", "0/scone": "[SCONE-T0001: b]", "1/scone": "[RE:RESOLVE MUFFIN-T0001]\n[RE:REFINE SCONE-T0001]\n[RE:RESOLVE MUFFIN-T0002]"}, 1,
			[]string{"MUFFIN-T0001 Resolved scone R1 resolved", "SCONE-T0001 Addressed scone R1 refined", "scone R1:3 MUFFIN-T0002 of 0"}},
		{"a stub", map[string]string{"0/a": "[ERROR: died]\n" + one}, 0, nil},
		{"the file in lower case counts", map[string]string{"0/Muffin": "[TENSION T07: no]", "0/muffin": one}, 0, []string{"MUFFIN R0-T01 Open"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := tracked(talk(test.texts), test.round)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("tracking of %q at the end of round %d (-want +got):\n%s", test.texts, test.round, diff)
			}
		})
	}
}

// TestTrackListed follows tensions that the judge has merged into a list by hand: its
// rows stand for all that was raised in the rounds that it covers.
func TestTrackListed(t *testing.T) {
	t.Parallel()
	head := "| ID | Tension | Status | Raised | Resolved |\n|---|---|---|---|---|\n"
	one := "[TENSION T01: one]\n"
	tests := []struct {
		name  string
		texts map[string]string
		round int
		want  []string
	}{
		{"an id alone is a row", map[string]string{
			"list": head + "| T01 | both | Open | R0 | — |\n", "0/a": one, "0/b": one, "1/a": "[RESOLVED T01]",
		}, 1, []string{"T01 Resolved a R1 resolved"}},
		{"what came later is not covered", map[string]string{
			"list": head + "| T1 | both | Open | R0 | — |\n", "0/a": one, "1/a": "[TENSION T05: new]",
		}, 1, []string{"T01 Open", "A R1-T05 Open"}},
		{"the judge's word", map[string]string{
			"list": head + "| T01 | both | **Resolved** | R0 | R1 |\n| T02 | later | **Deferred** | R1 | — |\n", "0/a": one, "1/a": "[REFINEMENT on T01]",
		}, 1, []string{"T01 Resolved  R1 resolved", "T02 Deferred  R1 deferred"}},
		{"before the judge's word", map[string]string{
			"list": head + "| T01 | both | **Resolved** | R0 | R1 |\n", "0/a": one, "1/a": "text",
		}, 0, []string{"T01 Open"}},
		{"another is answered", map[string]string{
			"list": head + "| T04 | fan-out | Open | R0 | — |\n", "0/macaron": one, "1/a": "[CONCESSION to Macaron on T04]",
		}, 1, []string{"T04 Addressed a R1 conceded"}},
		{"a row that is not there", map[string]string{
			"list": head + "| T04 | fan-out | Open | R0 | — |\n", "0/a": one, "1/a": "[RESOLVED T05]",
		}, 1, []string{"T04 Open", "a R1:1 T05 of 0"}},
		{"a derived table that was changed", map[string]string{
			"list": head + "| A R0-T01 | one | **Deferred** | A R0 | — |\n| B R0-T01 | two | Open | B R0 | — |\n",
			"0/a":  one, "0/b": one, "1/a": "[RESOLVED B R0-T01]",
		}, 1, []string{"A R0-T01 Deferred  R1 deferred", "B R0-T01 Resolved a R1 resolved"}},
		{"in words", map[string]string{
			"list": "| ID | Tension | Raised by | Status | Resolved in |\n|---|---|---|---|---|\n| T01 | a | muffin, round 0 | resolved | round 1, muffin |\n| T02 | b | scone, round 1 | refined | round 1, scone |\n",
			"0/a":  one, "1/a": "[MOVE:CONVERGE]",
		}, 1, []string{"T01 Resolved  R1 resolved", "T02 Addressed  R1 refined"}},
		{"without rounds", map[string]string{
			"list": "| ID | Tension | Status | Resolution |\n|---|---|---|---|\n| T01 | a | **Resolved R1** | Both. |\n| T02 | b | **Deferred** | Later. |\n",
			"0/a":  one, "1/a": "[RESOLVED T01]", "2/a": "text",
		}, 1, []string{"T01 Resolved  R1 resolved", "T02 Open"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := tracked(talk(test.texts), test.round)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("tracking of %q at the end of round %d (-want +got):\n%s", test.texts, test.round, diff)
			}
		})
	}
}

// FuzzTrack scores what agents may write, twice: the numbers are the same, and each
// sum is one.
func FuzzTrack(f *testing.F) {
	f.Add("[TENSION T01: a]", "[RESOLVED T01]", "| ID | Tension |\n|---|---|\n| T01 | x |\n")
	f.Add("[PERSPECTIVE P01: a]\n[TENSION T01-R1: b]", "[CONCESSION to A on T01.1]\n[MOVE:CONVERGE]", "")
	f.Fuzz(func(t *testing.T, first, second, list string) {
		texts := map[string]string{"0/a": first, "0/b-c": second, "2/a": second, "2/b-c": first, "list": list}
		board := NewBoard(talk(texts))
		again := NewBoard(talk(texts))
		for i, r := range board.Rounds {
			if r.Velocity != r.OpenTensions+r.NewPerspectives || r.Converge < 0 || r.Converge > 100 || r.OpenTensions != len(board.Open(r.Round)) {
				t.Fatalf("round %+v of %q", r, texts)
			}
			if diff := cmp.Diff(r, again.Rounds[i]); diff != "" {
				t.Fatalf("round of %q again (-first +second):\n%s", texts, diff)
			}
		}
		files, same := board.derive(), again.derive()
		for i, file := range files {
			if !bytes.Equal(file.Text, same[i].Text) {
				t.Fatalf("%s of %q differs:\n%s\n%s", file.Path, texts, file.Text, same[i].Text)
			}
			if strings.HasSuffix(file.Path, ".summary.md") && len(file.Text) > 2600 {
				t.Fatalf("%s has %d bytes:\n%s", file.Path, len(file.Text), file.Text)
			}
		}
	})
}

package dialogue

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"filebus/cmd/filebus/rule"
	"filebus/materialize"
	"filebus/materialize/layout"
)

// mixed is a dialogue with turns of every kind: one with headings and an open fence,
// a stub with details, an empty file, one that is not there, one of somebody who was
// not asked, and files that the judge has written.
func mixed() map[string]string {
	return map[string]string{
		"expert-pool.json": `{"title": "Retry policy", "created": "2026-03-02T09:30:00Z", "judge": "Ada, the judge", "experts": [
			{"name": "Muffin", "label": "Muffin", "role": "Designer", "tier": "core", "relevance": 0.9, "emoji": "🥮"},
			{"name": "data-architect", "emoji": "💙"}, {"name": "eclair"}, {"name": "unasked"}]}`,
		"round-0/panel.json":        `{"round": 0, "experts": [{"name": "muffin"}, {"name": "data-architect"}, {"name": "eclair"}]}`,
		"round-0/muffin.md":         "[PERSPECTIVE P01: a **bold** one | with a bar]\n\n# Round 7\n\n### Eclair 🧁\n\n[TENSION T01: x]\n\n```go\nfor {\n",
		"round-0/data-architect.md": "[TENSION T01: y]\r\n\r\n<!-- end of turn data-architect round 0 -->\r\n---\r\n",
		"round-0/eclair.md":         "[ERROR: timed out]\n\nafter 600 s\n",
		"round-0/scores.json":       `{"round": 0, "agents": [{"agent": "muffin", "wisdom": 3, "consistency": 2, "truth": 3, "relationships": 1}]}`,
		"round-0.summary.md":        "## By hand\n\n# Round 1\n",
		"round-1/panel.json":        `{"round": 1, "experts": [{"name": "muffin"}, {"name": "eclair"}]}`,
		"round-1/muffin.md":         " \n",
		"round-1/guest.md":          "[RESOLVED MUFFIN R0-T01: yes]",
		"verdict.md":                "The caller.\n",
	}
}

// wantRounds is what the document of mixed says in its rounds.
func wantRounds() []string {
	files := mixed()
	return []string{
		"0 muffin Muffin 🥮 " + files["round-0/muffin.md"],
		"0 data-architect Data-architect 🧁 " + files["round-0/data-architect.md"],
		"0 eclair Eclair 🧁 (timed out) " + files["round-0/eclair.md"],
		"0 after 💙 Judge: Round 0 Summary: ## By hand\n\n# Round 1\n",
		"1 muffin Muffin 🥮 (the file is empty) ",
		"1 eclair Eclair 🧁 (there is no file) ",
		"1 after May be a turn, and is not counted: Round 1 Guest: " + files["round-1/guest.md"],
		"1 after 💙 Judge: Verdict: The caller.\n",
	}
}

func roundLines(doc layout.DialogueDocument) []string {
	var lines []string
	for _, r := range doc.Rounds {
		for _, turn := range r.Turns {
			line := fmt.Sprintf("%d %s %s %s ", r.Number, turn.Name, turn.Label, turn.Emoji)
			if turn.Absent != "" {
				line += "(" + turn.Absent + ") "
			}
			lines = append(lines, line+turn.Text)
		}
		for _, s := range r.After {
			lines = append(lines, fmt.Sprintf("%d after %s: %s", r.Number, s.Title, s.Text))
		}
	}
	return lines
}

// readBack reads the files of a document from disk.
func readBack(t *testing.T, done *Assembled) layout.DialogueDocument {
	t.Helper()
	text, err := os.ReadFile(done.Files[0].File)
	if err != nil {
		t.Fatal(err)
	}
	doc, found, err := ReadDocument(text, func(name string) ([]byte, error) {
		return os.ReadFile(filepath.Join(filepath.Dir(done.Files[0].File), name))
	})
	if !found || err != nil {
		t.Fatalf("reading back: found %t, %v", found, err)
	}
	return doc
}

func TestAssemble(t *testing.T) {
	t.Parallel()
	profiles := map[string]func() layout.Profile{
		"claude": layout.Claude, "blue": func() layout.Profile { return profileOf("blue") }, "outside": func() layout.Profile { return outside(t) },
	}
	for name, profile := range profiles {
		for _, split := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s %t", name, split), func(t *testing.T) {
				h := newScoreHall(t, profile())
				h.write(t, mixed())
				opts := AssembleOptions{Split: split}
				done, err := h.Assemble(t.Context(), Key{ID: "x"}, opts)
				if err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, f := range done.Files {
					names = append(names, f.Name)
				}
				want := []string{"dialogue/docs/2026-03-02T0930Z-x.dialogue.draft.md"}
				if split {
					want = append(want, "dialogue/docs/2026-03-02T0930Z-x.dialogue.round-0.draft.md", "dialogue/docs/2026-03-02T0930Z-x.dialogue.round-1.draft.md")
				}
				if diff := cmp.Diff(want, names); diff != "" {
					t.Errorf("files (-want +got):\n%s", diff)
				}
				doc := readBack(t, done)
				if diff := cmp.Diff(wantRounds(), roundLines(doc)); diff != "" {
					t.Errorf("rounds (-want +got):\n%s", diff)
				}
				wantHead := layout.DialogueHead{
					Title: "Retry policy", Draft: "Dialogue x", Date: "2026-03-02 09:30Z", Status: "In Progress",
					Participants: []string{"💙 Ada the judge", "🥮 Muffin", "🧁 Data-architect", "🧁 Eclair"},
					Extra:        []layout.Property{{Key: layout.PropertyFindings, Value: "no row in the scoreboard for Data-architect"}},
				}
				if diff := cmp.Diff(wantHead, doc.Head); diff != "" {
					t.Errorf("head (-want +got):\n%s", diff)
				}
				if n := len(doc.Scores.Agents); n != 1 || doc.Scores.Total != 9 || len(doc.Perspectives) != 1 || len(doc.Tensions) != 2 {
					t.Errorf("%d agents with scores, total %d, perspectives %+v, tensions %+v", n, doc.Scores.Total, doc.Perspectives, doc.Tensions)
				}
				again, err := h.Assemble(t.Context(), Key{ID: "x"}, opts)
				if err != nil {
					t.Fatal(err)
				}
				for _, f := range again.Files {
					if !f.Unchanged {
						t.Errorf("assembled again, %s is changed", f.Name)
					}
				}
				keys, err := h.keys(t.Context())
				if diff := cmp.Diff([]Key{{ID: "x"}}, keys); diff != "" || err != nil {
					t.Errorf("dialogues, %v (-want +got):\n%s", err, diff)
				}
			})
		}
	}
}

// TestAssembleStatus renames a document, splits it, and makes it one again.
func TestAssembleStatus(t *testing.T) {
	t.Parallel()
	h := newScoreHall(t, profileOf("blue"))
	h.write(t, mixed())
	folder := filepath.Join(h.work.Root, ".blue", "docs", "dialogues")
	steps := []struct {
		opts AssembleOptions
		want []string
	}{
		{AssembleOptions{}, []string{"draft"}},
		{AssembleOptions{Status: "accepted"}, []string{"accepted"}},
		{AssembleOptions{Split: true}, []string{"accepted", "round-0.accepted", "round-1.accepted"}},
		{AssembleOptions{Status: "wip", Split: true}, []string{"round-0.wip", "round-1.wip", "wip"}},
		{AssembleOptions{}, []string{"wip"}},
	}
	for _, step := range steps {
		done, err := h.Assemble(t.Context(), Key{ID: "x"}, step.opts)
		if err != nil {
			t.Fatalf("%+v: %v", step.opts, err)
		}
		var want []string
		for _, middle := range step.want {
			want = append(want, "2026-03-02T0930Z-x.dialogue."+middle+".md")
		}
		if diff := cmp.Diff(want, filesIn(t, folder)); diff != "" {
			t.Errorf("%+v: files (-want +got):\n%s", step.opts, diff)
		}
		if diff := cmp.Diff(wantRounds(), roundLines(readBack(t, done))); diff != "" {
			t.Errorf("%+v: rounds (-want +got):\n%s", step.opts, diff)
		}
	}
}

func filesIn(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestAssembleByHand makes sure that what somebody has changed is not lost.
func TestAssembleByHand(t *testing.T) {
	t.Parallel()
	for _, status := range []string{"", "accepted"} {
		h := newScoreHall(t, layout.Claude())
		h.write(t, mixed())
		done, err := h.Assemble(t.Context(), Key{ID: "x"}, AssembleOptions{})
		if err != nil {
			t.Fatal(err)
		}
		file := done.Files[0].File
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text = bytes.Replace(text, []byte("Retry policy"), []byte("By hand"), 1)
		if err := os.WriteFile(file, text, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := h.work.Sync(t.Context(), h.work.Root, materialize.SyncOptions{Announced: true}); err != nil {
			t.Fatal(err)
		}
		opts := AssembleOptions{Status: status}
		if _, err := h.Assemble(t.Context(), Key{ID: "x"}, opts); !errors.Is(err, errEdited) ||
			!refuses(err, tryForce) || !strings.Contains(err.Error(), file) {
			t.Errorf("status %q over a file changed by hand: %v", status, err)
		}
		if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, text) {
			t.Errorf("status %q: the file is\n%s\n%v", status, now, err)
		}
		opts.Force = true
		if _, err := h.Assemble(t.Context(), Key{ID: "x"}, opts); err != nil {
			t.Errorf("status %q with force: %v", status, err)
		}
	}
}

// TestAssembleLong splits a document that is too long to be read at once, and keeps a
// turn that is too long to be read for its markers.
func TestAssembleLong(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	h := newScoreHall(t, layout.Claude())
	long := "[PERSPECTIVE P01: x]\n" + strings.Repeat("line of text\n", MaxTurn/10)
	h.write(t, map[string]string{"round-0/muffin.md": long, "round-0/scone.md": "[PERSPECTIVE P01: y]\n"})
	for i := range 2 {
		done, err := h.Assemble(t.Context(), Key{ID: "x"}, AssembleOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if len(done.Files) != 2 || done.Files[0].Tokens > maxDocument/4 || done.Files[1].Unchanged != (i > 0) {
			t.Errorf("run %d: %d files, the first of %d tokens, the second unchanged: %t", i, len(done.Files),
				done.Files[0].Tokens, done.Files[1].Unchanged)
		}
		doc := readBack(t, done)
		if turns := doc.Rounds[0].Turns; len(turns) != 2 || turns[0].Text != long {
			t.Errorf("run %d: %d turns, the first with %d bytes, want %d", i, len(turns), len(turns[0].Text), len(long))
		}
	}
}

// TestAssembleAtOnce assembles one dialogue many times at the same time.
func TestAssembleAtOnce(t *testing.T) {
	t.Parallel()
	h := newScoreHall(t, layout.Claude())
	h.write(t, mixed())
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			if _, err := h.Assemble(t.Context(), Key{ID: "x"}, AssembleOptions{}); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

// TestAssembleWritten takes the scores that a judge has written by hand where none
// were recorded, and invents none.
func TestAssembleWritten(t *testing.T) {
	t.Parallel()
	board := "# Scoreboard\n\n| Round | W | C | T | R | Score | S | Open T | New P | Velocity | Converge % |\n|--|--|--|--|--|--|--|--|--|--|--|\n" +
		"| 0 | 1 | 2 | 3 | 4 | 10 | 10 | 0 | 1 | 1 | 0% |\n\n| Agent | R0 | Total |\n|--|--|--|\n| Muffin | 10 | **10** |\n\n**Total ALIGNMENT**: 10\n"
	tests := []struct {
		files map[string]string
		want  layout.Scoreboard
	}{
		{map[string]string{"scoreboard.md": board}, layout.Scoreboard{
			Rounds: []layout.RoundScore{{Judged: true, Marks: layout.Marks{Wisdom: 1, Consistency: 2, Truth: 3, Relationships: 4}, Score: 10, Cumulative: 10, NewPerspectives: 1, Velocity: 1}},
			Agents: []layout.AgentScore{{Agent: "🧁 Muffin", Rounds: []layout.AgentRound{{Round: 0, Score: 10}}, Total: 10}},
			Total:  10, HasTotal: true,
		}},
		{nil, layout.Scoreboard{Rounds: []layout.RoundScore{{NewPerspectives: 1, Velocity: 1}}}},
	}
	for _, test := range tests {
		h := newScoreHall(t, layout.Claude())
		h.write(t, map[string]string{"round-0/muffin.md": "[PERSPECTIVE P01: x]\n"})
		d := h.write(t, test.files)
		doc, err := h.Document(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		for i := range doc.Scores.Rounds {
			doc.Scores.Rounds[i].Line = 0
		}
		for i := range doc.Scores.Agents {
			doc.Scores.Agents[i].Line = 0
		}
		doc.Scores.TotalLine = 0
		if diff := cmp.Diff(test.want, doc.Scores, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("scores with %q (-want +got):\n%s", test.files, diff)
		}
	}
}

func TestReadDocumentErrors(t *testing.T) {
	t.Parallel()
	index := func(file string) []byte {
		return layout.AppendDialogueDocument(nil, layout.DialogueDocument{
			Head: layout.DialogueHead{Title: "A"}, Rounds: []layout.DocumentRound{{Number: 0, File: file}},
		})
	}
	part := layout.AppendDialogueRound(nil, "A", "index.md", layout.DocumentRound{Number: 1})
	for _, file := range []string{"missing.md", "../escape.md", "part.md"} {
		var opened []string
		doc, found, err := ReadDocument(index(file), func(name string) ([]byte, error) {
			opened = append(opened, name)
			if name == "part.md" {
				return part, nil
			}
			return nil, os.ErrNotExist
		})
		if !found || err == nil || len(doc.Rounds) != 1 || slices.Contains(opened, "../escape.md") {
			t.Errorf("%s: found %t, %v, rounds %+v, opened %q", file, found, err, doc.Rounds, opened)
		}
	}
}

// TestWriteDocument writes a document in parts, each once, the document last; one that
// somebody has changed is replaced by force alone.
func TestWriteDocument(t *testing.T) {
	t.Parallel()
	h := newScoreHall(t, layout.Claude())
	h.write(t, mixed())
	d, err := h.Read(t.Context(), Key{ID: "x"})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := h.Document(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	var written []string
	write := func(file string, text []byte, replaces bool) error {
		written = append(written, fmt.Sprintf("%s %t", filepath.Base(file), replaces))
		return os.WriteFile(file, text, 0o666)
	}
	change := func() error { return os.WriteFile(filepath.Join(dir, "d.round-1.md"), []byte("mine\n"), 0o666) }
	for _, step := range []struct {
		before func() error
		force  bool
		want   []string
		err    error
	}{
		{nil, false, []string{"d.round-1.md false", "d.round-0.md false", "d.md false"}, nil},
		{nil, false, nil, nil},
		{change, false, nil, errEdited},
		{nil, true, []string{"d.round-1.md true"}, nil},
	} {
		if step.before != nil {
			if err := step.before(); err != nil {
				t.Fatal(err)
			}
		}
		written = nil
		done, err := WriteDocument(d.Key, doc, filepath.Join(dir, "d.md"), true, step.force, write)
		if diff := cmp.Diff(step.want, written); diff != "" || !errors.Is(err, step.err) || err == nil && len(done.Files) != 3 {
			t.Errorf("force %t: %v, %+v, written (-want +got):\n%s", step.force, err, done, diff)
		}
	}
}

// TestAssembleReal assembles dialogues that agents have held, and reads them back.
func TestAssembleReal(t *testing.T) {
	t.Parallel()
	corpus := os.Getenv("FILEBUS_REAL")
	if corpus == "" {
		t.Skip("FILEBUS_REAL names no folder with real dialogues")
	}
	h := newScoreHall(t, layout.Claude())
	if _, err := h.work.Capture(t.Context(), corpus, materialize.CaptureOptions{Tree: "blue"}); err != nil {
		t.Fatal(err)
	}
	keys, err := h.keys(t.Context())
	if err != nil || len(keys) == 0 {
		t.Fatalf("%d dialogues: %v", len(keys), err)
	}
	for _, key := range keys {
		d, err := h.Read(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := h.Document(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{}
		for _, f := range renderDocument(doc, "d.md", false) {
			files[f.Name] = f.Text
		}
		again, found, err := ReadDocument(files["d.md"], func(name string) ([]byte, error) { return files[name], nil })
		if diff := cmp.Diff(roundLines(doc), roundLines(again)); diff != "" || !found || err != nil {
			t.Errorf("%s: found %t, %v, read back (-want +got):\n%s", key, found, err, diff)
		}
		if r := LintDocument("d.md", &again, found); rule.Count(r.Findings, rule.Must) > 0 {
			t.Errorf("%s: findings %q", key, findingLines(r))
		}
		turns := 0
		for i, r := range again.Rounds {
			for _, turn := range r.Turns {
				stored := d.Rounds[i].Turn(turn.Name)
				if stored == nil || string(stored.Text) != turn.Text || len(layout.ParseMarkers([]byte(turn.Text))) != len(stored.Markers) {
					t.Errorf("%s: the turn of %s in round %d is not the one that is stored", key, turn.Name, r.Number)
				}
				turns++
			}
		}
		t.Logf("%s: %d turns", key, turns)
	}
}

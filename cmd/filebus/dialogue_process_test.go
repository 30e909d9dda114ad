package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/dialogue"
	"filebus/materialize/layout"
)

// A debate is a dialogue of five stand-in agents, each of which has a habit of its
// own.
type debate struct {
	dir     string
	speaker string // a program for exec: see speak
	hands   sync.WaitGroup
}

// debaters are the agents, in the order of the panel.
func debaters() []string { return []string{"muffin", "scone", "eclair", "donut", "cannoli"} }

func newDebate(t *testing.T) *debate {
	t.Helper()
	d := &debate{dir: t.TempDir()}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	d.speaker = filepath.Join(t.TempDir(), "speaker")
	if err := os.Symlink(self, d.speaker); err != nil {
		t.Skipf("links: %v", err)
	}
	mustRun(t, d.dir, "dialogue", "new", "Who retries?", "--slug", "retry", "--agents", strings.Join(debaters(), ","))
	return d
}

func (d *debate) file(round int, agent string) string {
	return filepath.Join(d.dir, ".claude", "dialogues", "retry", fmt.Sprintf("round-%d", round), agent+".md")
}

func turnOfAgent(round int, agent string) string {
	return fmt.Sprintf("[PERSPECTIVE P01: Of %s]\nIn round %d the caller retries.\n", agent, round)
}

// write writes a file by hand in pieces. What is there at the end was left alone for
// long enough.
func (d *debate) write(t *testing.T, round int, agent, text string, pieces int) {
	file := d.file(round, agent)
	f, err := os.Create(file)
	for i := 0; i < pieces && err == nil; i++ {
		_, err = f.WriteString(text[len(text)*i/pieces : len(text)*(i+1)/pieces])
		if i+1 < pieces {
			time.Sleep(100 * time.Millisecond)
		}
	}
	if err == nil {
		err = f.Close()
	}
	at := time.Now().Add(-time.Minute)
	if err = errors.Join(err, os.Chtimes(file, at, at)); err != nil {
		t.Errorf("writing %s: %v", file, err)
	}
}

// play has the agents do in a round what they do.
func (d *debate) play(t *testing.T, round int) {
	d.hands.Go(func() { // runs by command; in round 1 its filebus is killed
		args := []string{"exec", "--conversation", "c1", "--dialogue", "retry", "--round", fmt.Sprint(round), "--agent", "muffin", "--", d.speaker, "Half a turn,"}
		if round == 1 {
			d.killExec(t, args)
			return
		}
		if out, err := filebusCommand(t, d.dir, append(args, "and a half")...).CombinedOutput(); err != nil {
			t.Errorf("exec: %v: %s", err, out)
		}
	})
	d.hands.Go(func() { d.write(t, round, "scone", "[ERROR: I have no opinion]\n", 1) })
	d.hands.Go(func() {
		if round == 2 { // until then it is dead
			d.write(t, round, "eclair", turnOfAgent(round, "eclair"), 1)
		}
	})
	d.hands.Go(func() { d.write(t, round, "donut", turnOfAgent(round, "donut"), 14) })
	d.hands.Go(func() {
		cmd := filebusCommand(t, d.dir, "dialogue", "put", "retry", fmt.Sprint(round), "cannoli")
		cmd.Stdin = strings.NewReader(turnOfAgent(round, "cannoli"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("put: %v: %s", err, out)
		}
	})
}

// killExec starts an exec and kills filebus while the command runs, which then ends
// by itself.
func (d *debate) killExec(t *testing.T, args []string) {
	cmd := filebusCommand(t, d.dir, args...)
	input, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Errorf("exec: %v", err)
		return
	}
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(time.Millisecond) {
		running, _ := filepath.Glob(filepath.Join(d.dir, ".filebus", "spool", "*", "output")) // the pattern is sound
		if len(running) > 0 {
			if text, err := os.ReadFile(running[0]); err == nil && len(text) > 0 {
				break
			}
		}
	}
	_ = cmd.Process.Kill() // it waits for its command
	_ = input.Close()      // the command's input ends
	_ = cmd.Wait()         // it was killed
}

// A roundView is what is read of what dialogue wait prints.
type roundView struct{ Agents []dialogue.Standing }

// wait waits for a round, and returns what stands there: for those who write as long
// as it takes, for the dead a moment.
func (d *debate) wait(t *testing.T, round int, writers ...string) (view roundView, exit int) {
	t.Helper()
	if len(writers) > 0 {
		args := []string{"dialogue", "wait", "retry", fmt.Sprint(round), "--timeout", "5m", "--no-stubs", "--agents", strings.Join(writers, ",")}
		if out, err := filebusCommand(t, d.dir, args...).CombinedOutput(); err != nil && !strings.Contains(string(out), "no opinion") {
			t.Errorf("waiting for %q: %v: %s", writers, err, out)
		}
	}
	cmd := filebusCommand(t, d.dir, "dialogue", "wait", "retry", fmt.Sprint(round), "--timeout", "1s", "--json")
	out, err := cmd.Output()
	var code *exec.ExitError
	if err != nil && !errors.As(err, &code) {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &view); err != nil {
		t.Fatalf("round %d: %v: %s%s", round, err, out, exitText(err))
	}
	return view, cmd.ProcessState.ExitCode()
}

// statesOf returns what stands in a round, a word for each agent.
func statesOf(view roundView) []string {
	var all []string
	for _, a := range view.Agents {
		state := string(a.State)
		if a.Late {
			state += " late"
		}
		all = append(all, state)
	}
	return all
}

// TestDebate plays three rounds of a dialogue with five agents: one runs by command
// and is killed once, one writes stubs itself, one dies and comes late, one writes in
// slow pieces, one puts by command. No step takes their texts out of anything.
func TestDebate(t *testing.T) {
	t.Parallel()
	d := newDebate(t)
	want := [][]string{
		{"turn", "stub", "stub", "turn", "turn"},
		{"stub", "stub", "stub", "turn", "turn"},
		{"turn", "stub", "turn", "turn", "turn"},
	}
	writers := [][]string{{"muffin", "scone", "donut", "cannoli"}, {"scone", "donut", "cannoli"}, debaters()}
	for round := range want {
		mustRun(t, d.dir, "dialogue", "prompt", "retry", fmt.Sprint(round), "--all")
		d.play(t, round)
		view, exit := d.wait(t, round, writers[round]...)
		if diff := gocmp.Diff(want[round], statesOf(view)); diff != "" || exit != cli.ExitWanting {
			t.Errorf("round %d: exit code %d (-want +got):\n%s", round, exit, diff)
		}
		d.hands.Wait()
		if round == 1 { // the dead one comes after all
			d.write(t, round, "eclair", turnOfAgent(round, "eclair"), 1)
		}
	}
	want[1][2] = "turn late"
	for round := range want {
		view, _ := d.wait(t, round)
		if diff := gocmp.Diff(want[round], statesOf(view)); diff != "" {
			t.Errorf("round %d in the end (-want +got):\n%s", round, diff)
		}
	}
	d.checkFiles(t)
	d.checkDocument(t)
	if list := mustRun(t, d.dir, "list", "result", "--json"); strings.Count(list, `"status":"interrupted"`) != 1 || strings.Count(list, `"agent":"muffin"`) != 3 {
		t.Errorf("results of muffin, one of them recovered: %s", list)
	}
}

// checkFiles compares the files of all turns with the store, and with what the agents
// have written.
func (d *debate) checkFiles(t *testing.T) {
	t.Helper()
	if out := mustRun(t, d.dir, "verify"); !strings.Contains(out, "sound") {
		t.Errorf("verify: %s", out)
	}
	mustRun(t, d.dir, "materialize", "--tree", ".", "--to", "copy")
	log := mustRun(t, d.dir, "log", "--limit", "0", "--json")
	files := 0
	for round := range 3 {
		for _, agent := range debaters() {
			file := d.file(round, agent)
			rel, err := filepath.Rel(d.dir, file)
			if err != nil {
				t.Fatal(err)
			}
			if _, same, err := sameFile(file, filepath.Join(d.dir, "copy", rel)); err != nil || !same {
				t.Errorf("%s is that of the store: %t, %v", rel, same, err)
			}
			files++
			if agent != "donut" && agent != "cannoli" {
				continue
			}
			text, err := os.ReadFile(file)
			versions := strings.Count(log, fmt.Sprintf(`"turn/retry/round-%d/%s"`, round, agent))
			if err != nil || string(text) != turnOfAgent(round, agent) || versions != 1 {
				t.Errorf("%s has %d versions, and %q, %v", rel, versions, text, err)
			}
		}
	}
	if all, err := filepath.Glob(d.file(0, "*")); err != nil || files != 15 || len(slices.DeleteFunc(all, func(f string) bool { return strings.HasSuffix(f, ".prompt.md") })) != 5 {
		t.Errorf("%d turns and stubs, %q, %v", files, all, err)
	}
}

// checkDocument judges, scores and assembles the dialogue, and reads its document back:
// the turns of all, to the byte, and nothing of those who gave none.
func (d *debate) checkDocument(t *testing.T) {
	t.Helper()
	for round, agents := range [][]string{{"muffin", "donut", "cannoli"}, {"eclair", "donut", "cannoli"}, {"muffin", "eclair", "donut", "cannoli"}} {
		for _, agent := range agents {
			mustRun(t, d.dir, "dialogue", "judge", "retry", fmt.Sprint(round), agent, "--wisdom", "3", "--consistency", "2", "--truth", "4", "--relationships", "1")
		}
	}
	if out, err := filebusCommand(t, d.dir, "dialogue", "judge", "retry", "0", "scone", "--wisdom", "1", "--consistency", "1", "--truth", "1", "--relationships", "1").CombinedOutput(); err == nil {
		t.Errorf("an agent that left a stub is judged: %s", out)
	}
	if score := mustRun(t, d.dir, "dialogue", "score", "retry"); !strings.Contains(score, "ALIGNMENT 100") {
		t.Errorf("ten turns of 10 are scored\n%s", score)
	}
	mustRun(t, d.dir, "dialogue", "assemble", "retry", "--out", "document.md")
	text, err := os.ReadFile(filepath.Join(d.dir, "document.md"))
	if err != nil {
		t.Fatal(err)
	}
	document, found := layout.ParseDialogueDocument(text)
	if !found || len(document.Rounds) != 3 || document.Scores.Total != 100 {
		t.Fatalf("the document has %d rounds and %d points:\n%s", len(document.Rounds), document.Scores.Total, text)
	}
	for round, r := range document.Rounds {
		if len(r.Turns) != 5 {
			t.Errorf("round %d of the document has %d turns and stubs, want 5", round, len(r.Turns))
		}
		for _, turn := range r.Turns {
			file, err := os.ReadFile(d.file(round, turn.Name))
			reason, isStub := layout.ParseStub(file)
			if err != nil || turn.Absent != reason || !isStub && string(file) != turn.Text {
				t.Errorf("%s in round %d of the document: %q, absent %q; the file %q, %v", turn.Name, round, turn.Text, turn.Absent, file, err)
			}
		}
	}
}

// TestManyTurns puts turns of one round from many processes at once, and then one turn
// from many, each with another text.
func TestManyTurns(t *testing.T) {
	t.Parallel()
	processes := manyProcesses(t)
	dir := t.TempDir()
	var agents []string
	for i := range processes {
		agents = append(agents, fmt.Sprintf("agent-%d", i))
		if err := os.WriteFile(filepath.Join(dir, agents[i]+".txt"), []byte(turnOfAgent(0, agents[i])), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, dir, "dialogue", "new", "Many", "--agents", strings.Join(agents, ",")+",last")
	mustRun(t, dir, "dialogue", "prompt", "many", "0", "--all")
	inProcesses(t, dir, processes, func(i int) []string {
		return []string{"dialogue", "put", "many", "0", agents[i], agents[i] + ".txt"}
	})
	var mu sync.Mutex
	exits := map[int]int{}
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			cmd := filebusCommand(t, dir, "dialogue", "put", "many", "0", "last", agents[i]+".txt", "--lock-wait", "3m")
			_ = cmd.Run() // the exit code tells
			mu.Lock()
			defer mu.Unlock()
			exits[cmd.ProcessState.ExitCode()]++
		})
	}
	wg.Wait()
	if diff := gocmp.Diff(map[int]int{cli.ExitDone: 1, cli.ExitConflict: 4}, exits); diff != "" {
		t.Errorf("exit codes of five who put one turn (-want +got):\n%s", diff)
	}
	var view roundView
	if err := json.Unmarshal([]byte(mustRun(t, dir, "dialogue", "wait", "many", "0", "--json")), &view); err != nil || len(view.Agents) != processes+1 {
		t.Fatalf("%+v, %v", view, err)
	}
	for i, a := range view.Agents[:processes] {
		if text, err := os.ReadFile(a.File); err != nil || string(text) != turnOfAgent(0, agents[i]) || a.State != "turn" {
			t.Errorf("%+v has %q, %v", a, text, err)
		}
	}
	if out := mustRun(t, dir, "verify"); !strings.Contains(out, "sound") {
		t.Errorf("verify: %s", out)
	}
}

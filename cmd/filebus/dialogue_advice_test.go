package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const adviceFolder = ".claude/dialogues/oats/"

// adviceTurns are the turns of the dialogue whose files the test disturbs. Each ends with a
// word that nothing else has.
func adviceTurns() map[string]string {
	turns := map[string]string{
		"round-0/spelt.md": "[PERSPECTIVE P01: Quern first]\n[TENSION T01: who mills]\nWhoever is near. ",
		"round-0/emmer.md": "\ufeff[TENSION T01: Wasser]\r\nZu wenig davon.\r\n",
		"round-0/rye.md":   "I have a word. [REFINEMENT: less salt] ",
		"round-1/spelt.md": "[RESOLVED EMMER R0-T01]\n[MOVE:CONVERGE]\n",
		"round-1/emmer.md": "[CONCESSION to Spelt on T01]\n",
	}
	for file, text := range turns {
		turns[file] = text + adviceWord(file) + "\n"
	}
	return turns
}

// adviceWord returns the word of a turn.
func adviceWord(file string) string {
	return strings.ToUpper(strings.NewReplacer("round-", "kept", "/", "by", ".md", "").Replace(file))
}

// adviceFiles are all files of the dialogue, below its folder.
func adviceFiles() map[string]string {
	files := map[string]string{
		"expert-pool.json":        `{"title":"Oats","question":"How?","experts":[{"name":"spelt"},{"name":"emmer"},{"name":"rye"}]}`,
		"round-0/panel.json":      `{"round":0,"launched":"2026-01-02T10:00:00Z","experts":[{"name":"spelt"},{"name":"emmer"},{"name":"rye"}]}`,
		"round-1/panel.json":      `{"round":1,"launched":"2026-01-02T12:00:00Z","experts":[{"name":"spelt"},{"name":"emmer"}]}`,
		"round-0/emmer.prompt.md": "Write to round-0/emmer.md.\n",
		"round-0/scores.json":     `{"round":0,"agents":[{"agent":"spelt","wisdom":2,"consistency":1,"truth":1,"relationships":1,"judge":"j"}]}`,
		"scoreboard.md":           "# Scores\n\n| Agent | W | C | T | R | Σ |\n|---|---|---|---|---|---|\n| Spelt | 2 | 1 | 1 | 1 | 5 |\n",
		"tensions.md":             "# T\n\n| ID | Tension | Status |\n|---|---|---|\n| T01 | who mills | Open |\n",
		"round-0.summary.md":      "# Round 0\n\nThey began.\n",
		"verdict.md":              "Mill.\n",
	}
	maps.Copy(files, adviceTurns())
	return files
}

// A disturbance is what happens to the files of a dialogue.
type disturbance struct {
	name string
	file string // below the dialogue's folder
	do   func(t *testing.T, dir string)
}

// disturbances returns what happens to each file: it is deleted, renamed, doubled, emptied,
// and, if it is a turn, exchanged with that of another round and of another agent.
func disturbances() (all []disturbance) {
	add := func(file, what string, do func(t *testing.T, from string)) {
		all = append(all, disturbance{what + " " + file, file, func(t *testing.T, dir string) { do(t, filepath.Join(dir, adviceFolder, file)) }})
	}
	for _, file := range slices.Sorted(maps.Keys(adviceFiles())) {
		ext := filepath.Ext(file)
		stem := strings.TrimSuffix(filepath.Base(file), ext)
		to := func(name string) func(*testing.T, string) {
			return func(t *testing.T, from string) { must(t, os.Rename(from, filepath.Join(filepath.Dir(from), name))) }
		}
		double := func(name string) func(*testing.T, string) {
			return func(t *testing.T, from string) { copyAdvised(t, from, filepath.Join(filepath.Dir(from), name)) }
		}
		add(file, "deleted", func(t *testing.T, from string) { must(t, os.Remove(from)) })
		add(file, "emptied", func(t *testing.T, from string) { must(t, os.WriteFile(from, nil, 0o666)) })
		if _, isTurn := adviceTurns()[file]; !isTurn || file == "round-0/emmer.md" || file == "round-1/spelt.md" {
			continue // three of the turns are enough
		}
		add(file, "in another case", to(strings.ToUpper(stem[:1])+stem[1:]+ext))
		add(file, "under another name", to(stem+"-final.md"))
		add(file, "with another ending", to(stem+".txt"))
		add(file, "copied beside", double(stem+" copy.md"))
		add(file, "doubled in another case", double(strings.ToUpper(stem)+".md"))
		other := "../round-1/" + stem + ".md"
		if strings.HasPrefix(file, "round-1/") {
			other = "../round-0/" + stem + ".md"
		}
		add(file, "moved to the other round", to(other))
		add(file, "copied to the other round", double(other))
		add(file, "exchanged with the other round", exchange(other))
		add(file, "given to another agent", to("oat.md"))
		for _, agent := range []string{"spelt", "emmer"} {
			if agent != stem {
				add(file, "exchanged with "+agent, exchange(agent+".md"))
				add(file, "moved over "+agent, to(agent+".md"))
			}
		}
	}
	return all
}

// exchange swaps a file with another, seen from its folder, or moves it if there is none.
func exchange(name string) func(*testing.T, string) {
	return func(t *testing.T, from string) {
		to := filepath.Join(filepath.Dir(from), name)
		text, err := os.ReadFile(to)
		must(t, os.Rename(from, to))
		if err == nil {
			must(t, os.WriteFile(from, text, 0o666))
		}
	}
}

func copyAdvised(t *testing.T, from, to string) {
	text, err := os.ReadFile(from)
	must(t, err)
	must(t, os.WriteFile(to, text, 0o666))
}

// An advised is what one command says to do.
type advised struct{ by, line string }

// TestAdviceOnDialogues follows whatever is advised about a dialogue with one file out of
// place, each line in a copy of it: then the text of every turn is still in a file or in the
// store, and stands where no other agent's or round's turn stood.
func TestAdviceOnDialogues(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("quoted paths, as a shell has them")
	}
	sound := t.TempDir()
	for name, text := range adviceFiles() {
		writeAdvised(t, filepath.Join(sound, adviceFolder, name), text)
	}
	for _, agent := range []string{"spelt", "emmer", "rye"} {
		const said = `{"type":"assistant","message":{"id":"a","role":"assistant","content":[{"type":"text","text":"[PERSPECTIVE P01: said by %s]"}]}}`
		writeAdvised(t, filepath.Join(sound, agent+".jsonl"), fmt.Sprintf(said+"\n", agent))
		writeAdvised(t, filepath.Join(sound, agent+".new"), "[PERSPECTIVE P01: written by "+agent+"]\n")
	}
	mustRun(t, sound, "init")
	stored := t.TempDir() // else the store has not seen the files before
	must(t, os.CopyFS(stored, os.DirFS(sound)))
	mustRun(t, stored, "sync")
	for _, d := range disturbances() {
		sound := sound
		if strings.HasPrefix(d.name, "deleted") || strings.HasPrefix(d.name, "emptied") {
			sound = stored
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			dir := d.in(t, sound)
			before, held := turnPlaces(t, dir), turnsHeld(t, dir)
			if sound == stored {
				held[d.file] = true
			}
			for _, a := range adviceIn(t, dir, d) {
				there := d.in(t, sound)
				out := a.follow(t, there)
				for _, loss := range lost(t, there, before, held) {
					t.Errorf("%s, %s says: %s\n%s\n%s", d.name, a.by, a.line, loss, out)
				}
			}
		})
	}
}

func writeAdvised(t *testing.T, name, text string) {
	t.Helper()
	must(t, os.MkdirAll(filepath.Dir(name), 0o777))
	must(t, os.WriteFile(name, []byte(text), 0o666))
}

// in makes a copy of a workspace in which it has happened.
func (d disturbance) in(t *testing.T, sound string) string {
	t.Helper()
	to := t.TempDir()
	must(t, os.CopyFS(to, os.DirFS(sound)))
	d.do(t, to)
	agePlaces(t, to)
	return to
}

// agePlaces makes the files of the dialogue an hour old, so that nobody waits for them.
func agePlaces(t *testing.T, dir string) {
	t.Helper()
	then := time.Now().Add(-time.Hour)
	must(t, filepath.WalkDir(filepath.Join(dir, adviceFolder), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return os.Chtimes(name, then, then)
	}))
}

// adviceIn returns what the commands advise, each line once.
func adviceIn(t *testing.T, dir string, d disturbance) (all []advised) {
	t.Helper()
	seen := map[string]bool{}
	commands := []string{"dialogue check oats", "dialogue score oats", "dialogue assemble oats", "dialogue lint oats"}
	if slot := regexp.MustCompile(`^round-(.)/([a-z]*)\.md$`).FindStringSubmatch(d.file); slot != nil {
		commands = []string{"dialogue check oats", "dialogue wait oats " + slot[1] + " --timeout 30ms",
			"dialogue recover oats " + slot[1] + " " + slot[2] + " --transcript " + slot[2] + ".jsonl"}
	}
	for _, line := range commands {
		out := runAdvised(t, dir, strings.Fields(line)...)
		for _, m := range regexp.MustCompile(`(?m)try: (.*)$|(?:^  |; )(filebus .*)$`).FindAllStringSubmatch(out, -1) {
			if advice := m[1] + m[2]; !seen[advice] {
				seen[advice] = true
				all = append(all, advised{line, advice})
			}
		}
	}
	return all
}

// runAdvised runs a command line, whatever comes of it.
func runAdvised(t *testing.T, dir string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	env := docEnviron(dir, &out)
	store := filepath.Join(dir, ".filebus")
	env.Now, env.Variables = time.Now, append(os.Environ(), "FILEBUS_STORE="+store)
	env.Getenv = func(name string) string {
		if name == "FILEBUS_STORE" {
			return store
		}
		return os.Getenv(name)
	}
	code := run(t.Context(), env, args)
	return fmt.Sprintf("%s$ filebus %s: exit code %d\n", out.String(), strings.Join(args, " "), code)
}

// follow does all that a line says, with files of the agents for the words in capitals.
func (a advised) follow(t *testing.T, dir string) (out string) {
	t.Helper()
	for _, line := range regexp.MustCompile(`; if [^,]*, |, or |, then |; |, and `).Split(a.line, -1) {
		if line == "run it again with --force" {
			line = "filebus " + a.by + " --force"
		}
		words := adviceWords(line)
		if len(words) < 2 || words[0] != "filebus" && words[0] != "mv" && words[0] != "cp" {
			continue
		}
		agent := "rye"
		for i, word := range words {
			if slices.Contains([]string{"spelt", "emmer"}, strings.ToLower(word)) {
				agent = strings.ToLower(word)
			}
			switch word {
			case "FILE.jsonl", "TRANSCRIPT":
				words[i] = agent + ".jsonl"
			case "FILE":
				words[i] = agent + ".new"
				if words[i-1] == "--transcript" {
					words[i] = agent + ".jsonl"
				}
			case "REASON":
				words[i] = "gone"
			}
		}
		if at := slices.Index(words, "|"); at > 0 { // what the first prints is the file of the other
			text, _, _ := strings.Cut(runAdvised(t, dir, words[1:at]...), "$ filebus get")
			writeAdvised(t, filepath.Join(dir, "piped.new"), text)
			words = append(words[at+1:], "piped.new")
		}
		switch {
		case words[0] == "filebus":
			out += runAdvised(t, dir, words[1:]...)
		case len(words) > 3 && words[1] == "-n":
			if _, err := os.Lstat(filepath.Join(dir, words[3])); err != nil {
				exchange(words[3])(t, filepath.Join(dir, words[2]))
			}
		default:
			t.Errorf("%s: %s may replace a file", a.line, line)
		}
	}
	return out
}

// adviceWords cuts a line as a shell does, with single quotes.
func adviceWords(line string) (words []string) {
	for _, m := range regexp.MustCompile(`'([^']*)'|[^\s']+`).FindAllStringSubmatch(line, -1) {
		words = append(words, strings.Trim(m[0], "'"))
	}
	return words
}

// turnPlaces returns which turn each place of one holds: that of its own agent, even if it
// is another text, as the place itself.
func turnPlaces(t *testing.T, dir string) map[string]string {
	t.Helper()
	places := map[string]string{}
	for place := range adviceTurns() {
		text, _ := os.ReadFile(filepath.Join(dir, adviceFolder, place))
		if strings.Contains(string(text), "by "+strings.TrimSuffix(filepath.Base(place), ".md")) {
			places[place] = place
		}
		for file := range adviceTurns() {
			if strings.Contains(string(text), adviceWord(file)) {
				places[place] = file
			}
		}
	}
	return places
}

// lost says which turns are gone, or stand no longer where they rightly stood.
func lost(t *testing.T, dir string, before map[string]string, held map[string]bool) (all []string) {
	t.Helper()
	after, now := turnPlaces(t, dir), turnsHeld(t, dir)
	for file, text := range adviceTurns() {
		if before[file] == file && after[file] != file {
			all = append(all, fmt.Sprintf("%s had its turn, and has %q now", file, after[file]))
		}
		if other := after[file]; other != file && other != before[file] && before[other] == other {
			all = append(all, fmt.Sprintf("%s has the turn %s, which stood in its own place", file, other))
		}
		if now[file] {
			continue
		}
		stands := runAdvised(t, dir, "get", "turn/oats/"+strings.TrimSuffix(file, ".md"))
		if held[file] && after[file] == "" && !strings.HasPrefix(stands, text) {
			all = append(all, fmt.Sprintf("%s was in a file, and nothing stands in its place", file))
		}
		if held[file] && !isStored(t, dir, text) {
			all = append(all, fmt.Sprintf("%s is in no file and not in the store", file))
		}
	}
	return all
}

// turnsHeld returns the turns that are in a file, to the byte.
func turnsHeld(t *testing.T, dir string) map[string]bool {
	t.Helper()
	held := map[string]bool{}
	must(t, filepath.WalkDir(filepath.Join(dir, adviceFolder), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		for file, turn := range adviceTurns() {
			held[file] = held[file] || turn == string(text)
		}
		return err
	}))
	return held
}

// isStored reports whether a version in the store has a text.
func isStored(t *testing.T, dir, text string) bool {
	t.Helper()
	for line := range strings.Lines(mustRun(t, dir, "log")) {
		if fields := strings.Fields(line); len(fields) > 3 && strings.HasPrefix(runAdvised(t, dir, "get", fields[3]), text) {
			return true
		}
	}
	return false
}

package main

import (
	"bytes"
	"context"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"filebus/cmd/filebus/cli"
	"filebus/store/record"
)

// Each refusal in a script is followed: what it says to try is run in a copy of the script's folder. The program must take
// the command line, must not say the same again, and must lose nothing: no content is destroyed, and no file goes, unless
// that is what the hint says. Hints with a word for the user to fill in are only read.

// hintSeen has the refusals that were followed, without what differs from script to script.
var hintSeen sync.Map

var (
	hintLine    = regexp.MustCompile(`(?m)^(?:  try: |       )(.+)$`)
	hintDiffers = regexp.MustCompile(`[0-9a-f]{8,}|[0-9]+|/\S+|'[^']*'`)
	hintToFill  = regexp.MustCompile(`(^|[ =@/])[A-Z]{2,}[A-Z_]*\b|\.\.\.|…`)
	hintAgain   = regexp.MustCompile(`^run it again with (--[a-z][^,;:]*?)(?:,|;|:| or | if | that |$)`)
	hintRemoves = regexp.MustCompile(`filebus (rm|backup --fresh|purge|gc|restore|uninstall|session archive|conflicts resolve|tree rm|task start|sync|init)|--force|--drop`)
	hintWaits   = regexp.MustCompile(`filebus (wait|watch|serve|mcp|replicate|dialogue wait|issue wait|search -i|log .*--follow)`)
)

// hintCommands returns the command lines of a hint to a command line.
func hintCommands(stderr, again string) (lines []string) {
	if regexp.MustCompile("unknown (command|flag|shorthand)|is not a file").MatchString(stderr) {
		return nil // it says what is meant, in place of what was given
	}
	for _, m := range hintLine.FindAllStringSubmatch(stderr, -1) {
		for _, part := range regexp.MustCompile(`, (?:or|then|and) |; | && | \| `).Split(m[1], -1) {
			if m := hintAgain.FindStringSubmatch(part); m != nil {
				lines = append(lines, again+" "+m[1])
			}
			if part, isOurs := strings.CutPrefix(strings.TrimSpace(part), "filebus "); isOurs {
				line, _, _ := strings.Cut(part, ", ")
				line, _, _ = strings.Cut(line, " # ")
				lines = append(lines, "filebus "+strings.TrimSuffix(line, ","))
			}
		}
	}
	return lines
}

// hintsKey is where the scripts whose hints are followed keep the list of them.
type hintsKey struct{}

// A hintList has hints to follow once all scripts have ended: by then nothing in a copy leads back to what it is of.
type hintList struct {
	mu   sync.Mutex
	todo []func(t *testing.T)
}

// follow runs all hints.
func (h *hintList) follow(t *testing.T) {
	for _, todo := range h.todo {
		todo(t)
	}
	t.Logf("%d hints were followed", len(h.todo))
	if len(h.todo) < 100 && !testing.Short() && flag.Lookup("test.run").Value.String() == "" {
		t.Errorf("only %d hints were followed", len(h.todo))
	}
}

// keepHints copies the script's folder for what a refusal says to try.
func keepHints(ts *testscript.TestScript, args []string, stderr string) {
	list, isKept := ts.Value(hintsKey{}).(*hintList)
	if !isKept || testing.Short() {
		return
	}
	again := "filebus"
	for _, arg := range args {
		again += " " + record.ShellWord(arg)
	}
	for _, line := range hintCommands(stderr, again) {
		kind := strings.Join(args[:min(2, len(args))], " ") + ": " + hintDiffers.ReplaceAllString(line, "X")
		if _, seen := hintSeen.LoadOrStore(kind, true); seen || hintWaits.MatchString(line) || hintToFill.MatchString(line) {
			continue
		}
		words := adviceWords(line)[1:]
		if slices.Equal(words, args) {
			ts.Fatalf("filebus %v is refused with itself as the hint", args)
		}
		todo := hintIn(ts, line, words)
		list.mu.Lock()
		list.todo = append(list.todo, todo)
		list.mu.Unlock()
	}
}

// hintIn returns what runs one command line in a copy of the script's folder as it is now.
func hintIn(ts *testscript.TestScript, line string, words []string) func(t *testing.T) {
	from, err := filepath.Abs(ts.Getenv("WORK"))
	to, tmpErr := os.MkdirTemp("", "hint")
	if err != nil || tmpErr != nil {
		ts.Fatalf("%v, %v", err, tmpErr)
	}
	copyErr := os.CopyFS(to, os.DirFS(from))
	moved := func(text string) string { return strings.ReplaceAll(text, from, to) }
	env, variables := scriptEnviron(ts), map[string]string{}
	for i, variable := range env.Variables {
		env.Variables[i] = moved(variable)
		name, value, _ := strings.Cut(env.Variables[i], "=")
		variables[name] = value
	}
	for _, name := range []string{"FILEBUS_STORE", "FILEBUS_STATE", "FILEBUS_AGENT", "FILEBUS_SESSION", "FILEBUS_TASK", "FILEBUS_RUN", "HOME", "TZ"} {
		variables[name] = moved(ts.Getenv(name))
	}
	env.Getenv = func(name string) string { return variables[name] }
	env.Dir = moved(env.Dir)
	for i := range words {
		words[i] = moved(words[i])
	}
	name := ts.Name()
	return func(t *testing.T) {
		defer func() { _ = os.RemoveAll(to) }()
		if copyErr == nil { // else there is a pipe, or what nobody can read
			followHint(t, env, name+": the hint "+strconv.Quote(line), words, to)
		}
	}
}

// followHint runs one command line in a folder.
func followHint(t *testing.T, env *cli.Environ, about string, words []string, dir string) {
	var out bytes.Buffer
	env.Out, env.Err, env.In = &out, &out, strings.NewReader("")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	drops := func() int { // content that was destroyed
		var log bytes.Buffer
		look := *env
		look.Out, look.Err = &log, &log
		run(ctx, &look, []string{"log", "--limit", "0", "--no-sync"})
		return strings.Count(log.String(), "\tdrop\t")
	}
	dropped, before := drops(), hintFiles(dir)
	if code := run(ctx, env, words); code == cli.ExitUsage && !strings.Contains(out.String(), "is the home folder") {
		t.Errorf("%s is not taken: %s", about, out.String())
	}
	if hintRemoves.MatchString("filebus " + strings.Join(words, " ")) {
		return
	}
	after := hintFiles(dir)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if !after[name] {
			t.Errorf("%s loses the file %s: %s", about, name, out.String())
		}
	}
	if drops() > dropped {
		t.Errorf("%s destroys content", about)
	}
}

// hintFiles returns the files of a folder, but those below .filebus.
func hintFiles(dir string) map[string]bool {
	files := map[string]bool{}
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && (d.Name() == ".filebus" || d.Name() == ".tmp") {
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() {
			files[name] = true
		}
		return nil // what cannot be seen was not seen before
	})
	return files
}

// TestHintCommands holds how hints are read.
func TestHintCommands(t *testing.T) {
	got := hintCommands("filebus: x\n  try: filebus get --stored a, or filebus rm --restore a\n       filebus show b # c\n       by hand\n       run it again with --force, if\n", "filebus put 'a b'")
	if want := []string{"filebus get --stored a", "filebus rm --restore a", "filebus show b", "filebus put 'a b' --force"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

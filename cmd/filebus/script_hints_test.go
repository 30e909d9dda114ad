package main

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
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

// followHints runs what a refusal says to try.
func followHints(ts *testscript.TestScript, args []string, stderr string) {
	again := "filebus"
	for _, arg := range args {
		again += " " + record.ShellWord(arg)
	}
	for _, line := range hintCommands(stderr, again) {
		kind := strings.Join(args[:min(2, len(args))], " ") + ": " + hintDiffers.ReplaceAllString(line, "X")
		if _, seen := hintSeen.LoadOrStore(kind, true); seen || hintWaits.MatchString(line) {
			continue
		}
		words := adviceWords(line)[1:]
		if hintToFill.MatchString(line) {
			continue
		}
		if slices.Equal(words, args) {
			ts.Fatalf("filebus %v is refused with itself as the hint", args)
		}
		followHint(ts, line, words)
	}
}

// followHint runs one command line in a copy of the script's folder.
func followHint(ts *testscript.TestScript, line string, words []string) {
	from, err := filepath.Abs(ts.Getenv("WORK"))
	to, tmpErr := os.MkdirTemp("", "hint")
	if err != nil || tmpErr != nil {
		ts.Fatalf("%v, %v", err, tmpErr)
	}
	defer func() { _ = os.RemoveAll(to) }()
	if os.CopyFS(to, os.DirFS(from)) != nil {
		return // a pipe, or what nobody can read
	}
	moved := func(text string) string { return strings.ReplaceAll(text, from, to) }
	env := scriptEnviron(ts)
	var out bytes.Buffer
	env.Out, env.Err, env.In, env.Dir = &out, &out, strings.NewReader(""), moved(env.Dir)
	env.Getenv = func(name string) string { return moved(ts.Getenv(name)) }
	for i := range env.Variables {
		env.Variables[i] = moved(env.Variables[i])
	}
	for i := range words {
		words[i] = moved(words[i])
	}
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	drops := func() int { // content that was destroyed
		var log bytes.Buffer
		look := *env
		look.Out, look.Err = &log, &log
		run(ctx, &look, []string{"log", "--limit", "0", "--no-sync"})
		return strings.Count(log.String(), "\tdrop\t")
	}
	dropped, before := drops(), hintFiles(to)
	if code := run(ctx, env, words); code == cli.ExitUsage && !strings.Contains(out.String(), "is the home folder") {
		ts.Fatalf("the hint %q is not taken: %s", line, out.String())
	}
	if hintRemoves.MatchString(line) {
		return
	}
	after := hintFiles(to)
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if !after[name] {
			ts.Fatalf("the hint %q loses the file %s: %s", line, name, out.String())
		}
	}
	if drops() > dropped {
		ts.Fatalf("the hint %q destroys content", line)
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

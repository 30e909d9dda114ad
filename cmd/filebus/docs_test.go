package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"filebus"
	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/store/record"
)

// The tests in this file compare docs/cli.md, docs/config.md and the README
// with the program: commands, flags, JSON, exit codes, variables, settings, and
// the output of every example.

func readDocument(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(name)))
	if err != nil {
		t.Fatalf("reading: %v", err)
	}
	return string(text)
}

// sectionsOf returns the texts below the headings of a level, by heading.
func sectionsOf(text string, level int) map[string]string {
	found := map[string]string{}
	heading := ""
	fenced := false
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		marks := len(line) - len(strings.TrimLeft(line, "#"))
		switch {
		case fenced || marks == 0 || marks > level:
			found[heading] += line
		case marks < level:
			heading = ""
		default:
			heading = strings.Trim(strings.TrimSpace(line[marks:]), "`")
		}
	}
	delete(found, "")
	return found
}

// docEnviron returns an environment without variables, in a folder.
func docEnviron(dir string, out *bytes.Buffer) *cli.Environ {
	return &cli.Environ{
		SyncBudget: time.Minute, // a busy machine must not change what the examples print
		In:         strings.NewReader(""), Out: out, Err: out, Dir: dir,
		Getenv: func(string) string { return "" },
		Now:    func() time.Time { return time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC) },
		Hooks:  usualHooks(),
	}
}

// commandTree returns all commands by their path, those of cobra included.
func commandTree(t *testing.T) map[string]*cobra.Command {
	t.Helper()
	root := newRootCommand(docEnviron(t.TempDir(), &bytes.Buffer{}), nil)
	root.InitDefaultCompletionCmd()
	all := map[string]*cobra.Command{}
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		cmd.InitDefaultHelpFlag()
		all[cmd.CommandPath()] = cmd
		for _, sub := range cmd.Commands() {
			add(sub)
		}
	}
	add(root)
	return all
}

var flagName = regexp.MustCompile(`(?m)^ +(?:-\w, )?--([a-z-]+)`)

// ownFlags returns the names of a set's flags, sorted, without help.
func ownFlags(set interface{ FlagUsages() string }) []string {
	names := []string{}
	for _, m := range flagName.FindAllStringSubmatch(set.FlagUsages(), -1) {
		if m[1] != "help" {
			names = append(names, m[1])
		}
	}
	slices.Sort(names)
	return names
}

// documentedFlags returns the flags that the manual has below a heading, sorted.
func documentedFlags(m *manual, heading string) []string {
	names := []string{}
	for _, row := range m.flags(heading) {
		names = append(names, row.name)
	}
	slices.Sort(names)
	return names
}

// usageOf returns how a command is called, without the word for its flags.
func usageOf(cmd *cobra.Command) string {
	usage := strings.ReplaceAll(cmd.UseLine(), " [flags]", "")
	return strings.TrimSuffix(usage, " [command]")
}

func TestDocumentedCommands(t *testing.T) {
	m := readManual()
	commands := commandTree(t)
	for path, cmd := range commands {
		s, found := m.sections[path]
		if strings.HasPrefix(path, "filebus completion ") {
			continue
		}
		if !found {
			t.Errorf("docs/cli.md has no heading ### %s", path)
			continue
		}
		if usage := usageOf(cmd); usage != path && path != "filebus" && !strings.Contains(s.text, "    "+usage+"\n") {
			t.Errorf("docs/cli.md, %s: no line %q", path, "    "+usage)
		}
		if s.short == "" || len(s.short) > 100 || !strings.Contains(s.text, "\n\n"+s.short+".\n") {
			t.Errorf("docs/cli.md, %s: %q is not a paragraph of one short line that ends with a full stop", path,
				s.short)
		}
		heading, flags := path, cmd.LocalNonPersistentFlags()
		if path == "filebus" {
			heading, flags = globalFlags, cmd.PersistentFlags()
		}
		if diff := gocmp.Diff(ownFlags(flags), documentedFlags(m, heading)); diff != "" {
			t.Errorf("docs/cli.md, %s: flags (-program +document):\n%s", path, diff)
		}
		for _, row := range m.flags(heading) {
			checkRow(t, path, cmd, row)
		}
	}
	for _, path := range append(m.paths, m.first...) {
		if commands[path] == nil {
			t.Errorf("docs/cli.md describes %s, which is no command", path)
		}
	}
	if n := len(m.first); n < 12 || n > 18 {
		t.Errorf("docs/cli.md, Which command: %d commands, want some fifteen", n)
	}
}

// checkRow holds that an item says what a flag means, what its value is called, whether
// it may be repeated, and what it is if it is not given.
func checkRow(t *testing.T, path string, cmd *cobra.Command, row flagRow) {
	t.Helper()
	if row.meaning == "" || row.meaning == "shared" || strings.HasPrefix(row.meaning, "as for ") {
		t.Errorf("docs/cli.md, %s: the meaning of --%s is %q", path, row.name, row.meaning)
	}
	flag := cmd.Flag(row.name)
	if flag == nil {
		return
	}
	if isSwitch := flag.Value.Type() == "bool"; isSwitch != (row.value == "") {
		t.Errorf("docs/cli.md, %s: the value of --%s is called %q", path, row.name, row.value)
	}
	if _, isList := flag.Value.(pflag.SliceValue); isList != strings.HasSuffix(row.value, "...") {
		t.Errorf("docs/cli.md, %s: the value of --%s is called %q; that it may be repeated is %t", path, row.name, row.value, isList)
	}
	usual := strings.Replace(flag.DefValue, "m0s", "m", 1)
	if slices.Contains([]string{"", "0", "0s", "-1", "false", "[]"}, usual) {
		return
	}
	if !strings.Contains(row.meaning, usual) || !strings.Contains(row.meaning, "default") {
		t.Errorf("docs/cli.md, %s: --%s does not say that its default is %s: %s", path, row.name, usual, row.meaning)
	}
}

// TestManualReferences follows each "as for" of a flag: that command has the flag.
func TestManualReferences(t *testing.T) {
	m := readManual()
	for _, path := range m.paths {
		for _, row := range m.sections[path].flags {
			if other := asFor().FindStringSubmatch(row.meaning); other != nil &&
				!slices.Contains(documentedFlags(m, "filebus "+other[1]+other[2]), row.name) {
				t.Errorf("docs/cli.md, %s: %s has no flag --%s", path, other[0], row.name)
			}
		}
	}
}

// TestOtherWords follows what is said of each word that is no command: these commands
// there are.
func TestOtherWords(t *testing.T) {
	commands := commandTree(t)
	rows := strings.Split(strings.TrimSpace(cli.OtherWords), "\n")
	for _, row := range rows {
		words, meant, _ := strings.Cut(row, " | ")
		for _, word := range strings.Split(words, ", ") {
			if commands["filebus "+word] != nil {
				t.Errorf("%s is a command", word)
			}
		}
		for _, line := range regexp.MustCompile(`filebus [a-z -]+[a-z]`).FindAllString(meant, -1) {
			cmd, rest, err := commands["filebus"].Find(strings.Fields(line)[1:])
			if err != nil || cmd == commands["filebus"] || cmd.HasSubCommands() && len(rest) > 0 {
				t.Errorf("%s: there is no %q", words, line)
			}
		}
	}
	if len(rows) < 30 {
		t.Errorf("%d rows", len(rows))
	}
}

// TestExampleLines finds commands and flags in the examples of the manual that there
// are not.
func TestExampleLines(t *testing.T) {
	m, commands := readManual(), commandTree(t)
	for _, path := range append(m.paths, "filebus") {
		for _, line := range m.sections[path].examples {
			_, line, found := strings.Cut(" "+line, "filebus ")
			if !found {
				t.Errorf("docs/cli.md, %s: the example %q does not call filebus", path, line)
				continue
			}
			cmd, _, err := commands["filebus"].Find(strings.Fields(line))
			if err != nil {
				t.Errorf("docs/cli.md, %s: the example %q: %v", path, line, err)
				continue
			}
			line, _, _ = strings.Cut(line, " -- ")
			for _, m := range regexp.MustCompile(` --([a-z-]+)`).FindAllStringSubmatch(line, -1) {
				if cmd.Flag(m[1]) == nil && m[1] != "help" {
					t.Errorf("docs/cli.md, %s: the example %q: no flag --%s", path, line, m[1])
				}
			}
		}
	}
}

// TestCommandsPage holds docs/commands.md to the command tree; with -update it writes the page anew.
func TestCommandsPage(t *testing.T) {
	m, commands := readManual(), commandTree(t)
	var page strings.Builder
	page.WriteString("# Commands\n\nMade from the command tree: what a command does, or the commands below it. `filebus COMMAND --help` shows each with an example, [cli.md](cli.md) says all of it.\n")
	group := ""
	for _, path := range m.paths {
		cmd := commands[path]
		if cmd == nil || strings.Count(path, " ") != 1 {
			continue
		}
		if m.groups[path] != group {
			group = m.groups[path]
			fmt.Fprintf(&page, "\n## %s\n\n", group)
		}
		about := []string{m.short(cmd)}
		for i, sub := range m.below(cmd) {
			about = append(about[:i], "`"+sub.Name()+"`")
		}
		fmt.Fprintf(&page, "- [`%s`](cli.md#%s): %s\n", cmd.Name(), strings.ReplaceAll(path, " ", "-"), strings.Join(about, ", "))
	}
	if *update {
		must(t, os.WriteFile(filepath.Join("..", "..", "docs", "commands.md"), []byte(page.String()), 0o644))
	}
	if diff := gocmp.Diff(page.String(), readDocument(t, "docs/commands.md")); diff != "" {
		t.Errorf("docs/commands.md (-program +document); go test ./cmd/filebus -run CommandsPage -update writes it anew:\n%s", diff)
	}
}

// TestBriefHelp holds what --help prints of each command to a screen, with an example first.
func TestBriefHelp(t *testing.T) {
	m := readManual()
	for path, cmd := range commandTree(t) {
		text := m.sections[path]
		if text == nil || path == "filebus" {
			continue
		}
		help := m.help(cmd, 100, briefLines, false)
		if n := strings.Count(help, "\n"); n > briefLines || !strings.Contains(help, ".\n\nExample:\n  ") || !strings.Contains(help, path) {
			t.Errorf("%s --help has %d lines:\n%s", path, n, help)
		}
		if line := m.examples(cmd)[0]; !strings.Contains(line+" ", path+" ") {
			t.Errorf("samples.txt has no line for %s, but %q", path, line)
		}
	}
}

// TestSamples runs the lines of samples.txt in the sample workspace, but for those that go on: the program takes each.
func TestSamples(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "shop")
	sample, err := filebus.Sample()
	if err == nil {
		err = os.CopyFS(dir, sample)
	}
	if err != nil {
		t.Fatal(err)
	}
	goesOn := regexp.MustCompile("^filebus (watch|serve|mcp|replicate|wait|issue wait|dialogue wait)")
	for line := range strings.Lines(strings.TrimSpace(samples)) {
		if goesOn.MatchString(line) {
			continue
		}
		var out bytes.Buffer
		if code := run(t.Context(), docEnviron(dir, &out), commandWords(strings.TrimSpace(line))[1:]); code == cli.ExitUsage {
			t.Errorf("%s: exit code %d: %s", strings.TrimSpace(line), code, out.String())
		}
	}
}

// TestMentionedFlags finds flags in the documents that no command has.
func TestMentionedFlags(t *testing.T) {
	known := map[string]bool{"help": true, "version": true}
	for _, cmd := range commandTree(t) {
		for _, name := range append(ownFlags(cmd.Flags()), ownFlags(cmd.PersistentFlags())...) {
			known[name] = true
		}
	}
	mention := regexp.MustCompile("[ `]--([a-z][a-z-]*)")
	for _, name := range []string{"README.md", "docs/cli.md", "docs/config.md", "docs/architecture.md",
		"docs/dialogues.md", "docs/search.md", "docs/sessions.md"} {
		for i, line := range strings.Split(readDocument(t, name), "\n") {
			for _, m := range mention.FindAllStringSubmatch(line, -1) {
				if !known[m[1]] {
					t.Errorf("%s:%d: no command has the flag --%s", name, i+1, m[1])
				}
			}
		}
	}
}

func TestDocumentedExitCodes(t *testing.T) {
	section := sectionsOf(readDocument(t, "docs/cli.md"), 2)["Exit codes"]
	documented := map[int]string{}
	for _, m := range regexp.MustCompile("(?m)^- ([0-9]+)(?: `([a-z_]+)`)?: ").FindAllStringSubmatch(section, -1) {
		code, _ := strconv.Atoi(m[1])
		documented[code] = m[2]
	}
	want := map[int]string{cli.ExitDone: ""}
	text := readDocument(t, "docs/cli.md")
	finer := []record.Code{ // than that of the exit code
		record.Ambiguous, record.NoStore, record.Dropped, record.Timeout, record.NewerStore, record.UnsafeFS,
	}
	for _, code := range record.Codes() {
		if !slices.Contains(finer, code) {
			want[cli.ExitOf(code)] = string(code)
		}
		if !strings.Contains(text, "`"+string(code)+"`") {
			t.Errorf("docs/cli.md does not have the word `%s` of an error", code)
		}
	}
	if got := documented[cli.ExitDone]; got != "" {
		t.Errorf("docs/cli.md: code %d has the word %q", cli.ExitDone, got)
	}
	documented[cli.ExitDone] = ""
	if diff := gocmp.Diff(want, documented); diff != "" {
		t.Errorf("docs/cli.md, Exit codes (-program +document):\n%s", diff)
	}
}

// TestDocumentedVariables compares the environment variables that the program's
// sources name with those in docs/config.md.
func TestDocumentedVariables(t *testing.T) {
	names := regexp.MustCompile(`"((?:FILEBUS|CLAUDE|CODEX)_[A-Z_]+|NO_COLOR|PAGER|TERM|SUDO_UID|HOME|USERPROFILE|XDG_STATE_HOME|LOCALAPPDATA)"`)
	files, err := filepath.Glob("*.go")
	rooms, roomsErr := filepath.Glob("cli/*.go") // rooms pass others on to what they run
	rooms = append(rooms, filepath.Join("result", "call_flags.go"))
	if files = append(files, rooms...); err != nil || roomsErr != nil || len(rooms) == 0 {
		t.Fatalf("listing sources: %d, %v, %v", len(files), err, roomsErr)
	}
	used := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("reading: %v", err)
		}
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		for _, m := range names.FindAllStringSubmatch(string(text), -1) {
			used[m[1]] = true
		}
	}
	documented := map[string]bool{}
	section := sectionsOf(readDocument(t, "docs/config.md"), 2)["Environment"]
	for _, m := range regexp.MustCompile("`([A-Z_]{4,})`").FindAllStringSubmatch(section, -1) {
		documented[m[1]] = true
	}
	if diff := gocmp.Diff(used, documented); diff != "" {
		t.Errorf("docs/config.md, Environment (-program +document):\n%s", diff)
	}
}

func TestDocumentedSettings(t *testing.T) {
	section := sectionsOf(readDocument(t, "docs/config.md"), 2)["Settings"]
	var want, got []string
	settings := reflect.TypeFor[cli.Configuration]()
	for i := range settings.NumField() {
		want = append(want, settings.Field(i).Tag.Get("toml"))
	}
	for _, m := range regexp.MustCompile("(?m)^- `([a-z_]+)`").FindAllStringSubmatch(section, -1) {
		got = append(got, m[1])
	}
	if diff := gocmp.Diff(want, got); diff != "" {
		t.Errorf("docs/config.md, Settings (-program +document):\n%s", diff)
	}
}

func TestDocumentedProfiles(t *testing.T) {
	section := sectionsOf(readDocument(t, "docs/config.md"), 2)["Profiles"]
	for _, p := range layout.Profiles() {
		row := fmt.Sprintf("| `%s` | `%s` | `%s` | `%s` | `%s` | `%s` |", p.Name, p.Results, p.Markers, p.Dialogues, p.Sessions, p.Root)
		if !strings.Contains(section, row+"\n") {
			t.Errorf("docs/config.md, Profiles: no row\n%s", row)
		}
	}
}

// An example is a command of a document with the output that it shows.
type example struct {
	line int
	args []string
	want string
}

// examplesOf returns the commands in the blocks of a document that are marked as
// console.
func examplesOf(text string) []example {
	var all []example
	inside := false
	for i, line := range strings.Split(text, "\n") {
		command, isCommand := strings.CutPrefix(line, "$ filebus ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = line == "```console"
		case inside && isCommand:
			all = append(all, example{i + 1, commandWords(command), ""})
		case inside && len(all) > 0:
			all[len(all)-1].want += line + "\n"
		}
	}
	return all
}

// commandWords splits a command line at spaces that are not quoted.
func commandWords(line string) []string {
	var all []string
	for _, m := range regexp.MustCompile(`'([^']*)'|"([^"]*)"|(\S+)`).FindAllStringSubmatch(line, -1) {
		all = append(all, m[1]+m[2]+m[3])
	}
	return all
}

// TestExamples runs the examples of each document one after another in a copy
// of the sample workspace, and compares what they print with what the document
// shows: a line of dots there stands for any lines.
func TestExamples(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"README.md", "docs/cli.md", "docs/config.md", "docs/dialogues.md", "docs/sessions.md"} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			all := examplesOf(readDocument(t, name))
			if len(all) < 3 {
				t.Fatalf("%s has %d examples", name, len(all))
			}
			dir := filepath.Join(t.TempDir(), "shop")
			sample, err := filebus.Sample()
			if err == nil {
				err = os.CopyFS(dir, sample)
			}
			if err != nil {
				t.Fatalf("copying the sample: %v", err)
			}
			for _, e := range all {
				var out bytes.Buffer
				code := run(t.Context(), docEnviron(dir, &out), e.args)
				got, want := normalLines(out.String(), dir), normalLines(e.want, dir)
				if !matchesLines(got, want) {
					t.Errorf("%s:%d: filebus %q (exit code %d) prints\n%s\nthe document shows\n%s",
						name, e.line, e.args, code, strings.Join(got, "\n"), strings.Join(want, "\n"))
				}
			}
		})
	}
}

// normalLines returns the lines of an output without what differs from run to run:
// the place of the workspace, refs, the form of white space.
func normalLines(text, dir string) []string {
	text = strings.ReplaceAll(text, dir, "/src/shop")
	text = strings.ReplaceAll(text, filepath.Dir(dir), "/src")
	text = regexp.MustCompile(`\b(?:[0-9a-f]{64}|[0-9a-f]{12})\b`).ReplaceAllString(text, "REF")
	var lines []string
	for line := range strings.Lines(strings.TrimRight(text, "\n")) {
		lines = append(lines, strings.Join(strings.Fields(line), " "))
	}
	return lines
}

// matchesLines compares lines; a line … of want stands for one or more lines.
func matchesLines(got, want []string) bool {
	for i, line := range want {
		if line == "…" {
			for skip := i + 1; skip <= len(got); skip++ {
				if matchesLines(got[skip:], want[i+1:]) {
					return true
				}
			}
			return false
		}
		if i >= len(got) || got[i] != line {
			return false
		}
	}
	return len(got) == len(want)
}

func TestMatchesLines(t *testing.T) {
	tests := []struct {
		got, want string
		ok        bool
	}{
		{"a b", "a b", true},
		{"a b", "a", false},
		{"a", "a b", false},
		{"a b c", "a … c", true},
		{"a b c", "… c", true},
		{"a c", "a … c", false},
		{"a b c d", "a …", true},
		{"a", "a …", false},
		{"a b c", "… d", false},
	}
	for _, test := range tests {
		if ok := matchesLines(strings.Fields(test.got), strings.Fields(test.want)); ok != test.ok {
			t.Errorf("matchesLines(%q, %q) = %t, want %t", test.got, test.want, ok, test.ok)
		}
	}
}

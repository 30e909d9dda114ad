package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/lint"
	"filebus/cmd/filebus/rule"
)

// A remedyCase is a workspace with one finding of a rule. What is printed to mend it is
// followed, with words in the place of those in capitals, and edits where it says so.
type remedyCase struct {
	check  string // what finds it; "": lint
	setup  string // what a shell runs before
	stays  bool   // nobody but an agent can mend it
	rule   string
	files  map[string]string
	links  map[string]string
	remedy string
	words  map[string]string // for the words in capitals
	edit   [3]string         // a file, and what is written there in place of what
	add    [2]string         // a file that is made by hand, and its text
}

const (
	anEnd  = "# Task: Log out\n\n## Metadata\n- Status: completed\n- Started: 2026-03-01T10:00:00Z\n- Completed: 2026-03-01T11:00:00Z\n\nkeep this\n"
	aFail  = "# Task: Log out\n\n## Metadata\n- Status: failed\n- Started: 2026-03-01T10:00:00Z\n- Completed: 2026-03-01T11:00:00Z\n\nkeep this\n"
	goesOn = "# Task: Log out\n\n## Metadata\n- Status: in_progress\n- Started: 2026-03-01T10:00:00Z\n\nkeep this\n"
	aHand  = "\n## Handoff\n\n| Field | Value |\n|-------|-------|\n| Outcome | completed |\n| Summary | All done |\n"
	anItem = "### ISSUE-20260301-001\n\n| Field | Value |\n|-------|-------|\n| Status | pending |\n| Type | bug |\n| Priority | high |\n" +
		"| Created | 2026-03-01T10:00:00Z |\n\n**Summary:** keep this\n\n---\n"
)

func remedyCases() []remedyCase {
	markers, journals := ".claude/agent_complete/", ".claude/journal/"
	summary := map[string]string{"SUMMARY": "'It works'", "NEXT": "'Look again'", "BLOCKER": "'No key'"}
	texts := map[string]string{"TASK": "fix-login"}
	done := map[string]string{journals + "task-fix-login.md": anEnd + aHand, markers + "fix-login.done": "done"}
	with := func(name, text string) map[string]string {
		files := map[string]string{name: text}
		for name, text := range done {
			files[name] = text
		}
		return files
	}
	return []remedyCase{
		{rule: "state-output", files: map[string]string{".claude/session_state.md": "# Session State\n\n## Current Run\n- Run ID: r\n- final_output: keep this\n"},
			remedy: "filebus put FILE --agent NAME, and its reference in place of the text", words: map[string]string{"FILE": "-", "NAME": "builder"},
			edit: [3]string{".claude/session_state.md", "- final_output: keep this", "- Agent: builder"}},
		{rule: "journal-handoff", files: map[string]string{journals + "task-fix-login.md": anEnd, markers + "fix-login.done": ""},
			remedy: "filebus task handoff task-fix-login --summary SUMMARY --outcome completed", words: summary},
		{rule: "journal-handoff", files: map[string]string{journals + "task-7.md": aFail, markers + "7.done": ""},
			remedy: "filebus task handoff task-7 --summary SUMMARY --outcome failed --next NEXT", words: summary},
		{rule: "journal-handoff", files: map[string]string{journals + "task-007.md": strings.Replace(aFail, "failed", "blocked", 1), markers + "007.done": ""},
			remedy: "filebus task handoff task-007 --summary SUMMARY --outcome blocked --blocker BLOCKER", words: summary},
		{rule: "handoff-incomplete", files: map[string]string{journals + "task-V01.md": anEnd + strings.Replace(aHand, "All done", "", 1), markers + "V01.done": "done"},
			remedy: "by hand: complete status and Handoff in .claude/journal/task-V01.md", edit: [3]string{journals + "task-V01.md", "| Summary |", "| Summary | It works"}},
		{rule: "handoff-incomplete", files: map[string]string{journals + "task-7.md": aFail + strings.Replace(aHand, "completed", "failed", 1), markers + "7.done": "FAILED"},
			remedy: "by hand: complete status and Handoff in .claude/journal/task-7.md", edit: [3]string{journals + "task-7.md", "All done |\n", "All done |\n| Blockers | disk |\n"}},
		{rule: "journal-marker", files: map[string]string{journals + "task-V01.md": anEnd + aHand}, remedy: "filebus task done V01"},
		{rule: "journal-marker", files: map[string]string{journals + "task-V02.md": anEnd}, remedy: "filebus task done V02 --summary SUMMARY", words: summary},
		{rule: "journal-marker", files: map[string]string{journals + "task-V03.md": aFail}, remedy: "filebus task fail V03 --summary SUMMARY --next NEXT",
			words: summary},
		{rule: "journal-marker", files: map[string]string{journals + "task-V05.md": strings.Replace(anEnd, "completed", "partial", 1)},
			remedy: "filebus task done V05 --summary SUMMARY --outcome partial --blocker BLOCKER", words: summary},
		{rule: "journal-marker", files: map[string]string{journals + "task-4.md": "# 修复\r\n\r\n**Status**: Blocked\r\n"},
			remedy: "filebus task block 4 --summary SUMMARY --blocker BLOCKER", words: summary},
		{rule: "journal-name", files: map[string]string{journals + "修-login.md": "keep this\n\n" + goesOn},
			remedy: "mv -n '.claude/journal/修-login.md' '.claude/journal/task-修-login.md'"},
		{rule: "marker-journal", files: map[string]string{markers + "lonely.done": "FAILED: keep this"},
			remedy: "by hand: write a journal for lonely that says what is written in .claude/agent_complete/lonely.done", add: [2]string{journals + "task-lonely.md", aFail}},
		{rule: "marker-name", files: map[string]string{journals + "task-V01.md": anEnd + aHand, markers + "analysis-V01.done": "keep this"},
			remedy: "mv -n .claude/agent_complete/analysis-V01.done .claude/agent_complete/V01.done"},
		{rule: "marker-name", files: map[string]string{journals + "task-V01.md": goesOn, markers + "analysis-V01.done": "keep this"},
			remedy: "by hand: write the marker of V01 in .claude/agent_complete/analysis-V01.done", add: [2]string{markers + "V01.done", "keep this"}},
		{rule: "marker-name", files: map[string]string{journals + "task-V01.md": anEnd + aHand, markers + "V01.txt": "keep this"},
			remedy: "by hand: write the marker of V01 in .claude/agent_complete/V01.txt", add: [2]string{markers + "V01.done", "keep this"}},
		{rule: "marker-name", files: map[string]string{journals + "task-V01.md": anEnd, ".claude/ended/V01.done": "FAILED: keep this"},
			remedy: "by hand: write the marker of V01 in .claude/ended/V01.done", add: [2]string{markers + "V01.done", "FAILED: keep this"}},
		{rule: "marker-file", files: map[string]string{markers + "V01.done/notes.md": "keep this"},
			remedy: "mv -n .claude/agent_complete/V01.done .claude/agent_complete/V01.done.old"},
		{rule: "marker-file", files: map[string]string{"a file.txt": "keep this"}, links: map[string]string{markers + "a b.done": "../../a file.txt"},
			remedy: "mv -n '.claude/agent_complete/a b.done' '.claude/agent_complete/a b.done.old'"},
		{rule: "marker-status", files: map[string]string{journals + "task-V01.md": goesOn, markers + "V01.done": "FAILED: done"},
			remedy: "by hand: correct the status, once you have read filebus wait V01, in .claude/journal/task-V01.md", edit: [3]string{journals + "task-V01.md", "in_progress", "failed"}},
		{rule: "large-file", files: map[string]string{".claude/agents/a.md": "# One\n\nkeep this\n" + strings.Repeat("A line of it.\n", 8000) + "# Two\n"},
			remedy: "by hand: make several smaller files of what is in .claude/agents/a.md",
			edit:   [3]string{".claude/agents/a.md", strings.Repeat("A line of it.\n", 8000), "See b.txt.\n"}},
		{rule: "duplicate-id", files: map[string]string{".claude/issue_queue.md": "# Issue Queue\n\n" + anItem + "\n" + strings.Replace(anItem, "keep", "also", 1)},
			remedy: "by hand: give the second entry another id in .claude/issue_queue.md",
			edit:   [3]string{".claude/issue_queue.md", "\n\n### ISSUE-20260301-001", "\n\n### ISSUE-20260301-002"}},
		{rule: "duplicate-id", files: map[string]string{".claude/knowledge_graph.md": "### gotcha-001\n- Content: keep this\n", ".orchestrator/knowledge_graph.md": "### gotcha-001\n- Content: y\n"},
			remedy: "by hand: give the second entry another id in .orchestrator/knowledge_graph.md",
			edit:   [3]string{".orchestrator/knowledge_graph.md", "gotcha-001", "gotcha-002"}},
		{rule: "layout", files: map[string]string{".claude/knowledge_graph.md": "### gotcha-001\n- Type: gotcha\n- Confidence: high\n- Note: keep this\n"},
			remedy: "filebus knowledge edit gotcha-001 --content CONTENT", words: map[string]string{"CONTENT": "'A clock is needed'"}},
		{rule: "layout", files: map[string]string{".claude/knowledge_graph.md": "### gotcha-001\n- Type: gotcha\n- Content: keep this\n- Content: and this\n"},
			remedy: "by hand: correct the line in .claude/knowledge_graph.md",
			edit:   [3]string{".claude/knowledge_graph.md", "- Content: and", "- Note: and"}},
		{rule: "layout", files: map[string]string{".claude/issue_queue.md": "# Issue Queue\n\n" + strings.Replace(anItem, "pending", "odd", 1)},
			remedy: "by hand: correct the line in .claude/issue_queue.md", edit: [3]string{".claude/issue_queue.md", "odd", "pending"}},
		{rule: "layout", files: map[string]string{journals + "task-9.md": "keep this\n"},
			remedy: "by hand: correct the line in .claude/journal/task-9.md", edit: [3]string{journals + "task-9.md", "keep", goesOn + "keep"}},
		{rule: "agent-output", files: with("CLAUDE.md", "keep this\n\nUse TaskOutput.\n"), remedy: "filebus wait TASK, then filebus task show TASK",
			words: texts, edit: [3]string{"CLAUDE.md", "Use TaskOutput", "filebus wait TASK, then filebus task show TASK"}},
		{rule: "polling", files: with("AGENTS.md", "keep this\n\nCheck the marker file every 10 seconds.\n"), remedy: "filebus wait TASK; for the issue queue filebus issue wait",
			words: texts, edit: [3]string{"AGENTS.md", "Check the marker file every 10 seconds", "filebus wait TASK"}},
		{rule: "whole-journal", files: with(".claude/agents/a.md", "keep this\n\nRead all files in journal/.\n"),
			remedy: "filebus task show TASK; filebus list --kind handoff has all of them", words: texts,
			edit: [3]string{".claude/agents/a.md", "Read all files in journal/", "filebus list --kind handoff"}},
	}
}

// TestRemediesOfLint follows each remedy as it is printed: then the finding is gone, and no
// text.
func TestRemediesOfLint(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("mv")
	}
	var known, tested []string
	for _, r := range lint.Rules() {
		known = append(known, r.ID)
	}
	for _, test := range remedyCases() {
		if !slices.Contains(tested, test.rule) {
			tested = append(tested, test.rule)
		}
		t.Run(test.rule, func(t *testing.T) { test.run(t) })
	}
	if diff := cmp.Diff(known, tested); diff != "" {
		t.Errorf("rules (-known +tested):\n%s", diff)
	}
}

// thePlan tells a shell where the plan of the session of TestRemediesOfSessions is.
const thePlan = "plan=$(echo .claude/sessions/build/*-one)/plan.md; "

// TestRemediesOfSessions follows the remedies of session check in the same way.
func TestRemediesOfSessions(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("mv")
	}
	const file, put = ".claude/sessions/build/ID-one/plan.md", "filebus session put build/ID-one plan"
	for _, test := range []remedyCase{
		{rule: "missing", remedy: put + " FILE", words: map[string]string{"FILE": "-"}},
		{rule: "deleted", setup: "filebus session put one plan - && rm $plan", remedy: "filebus sync --restore " + file},
		{rule: "retired", setup: "filebus session put one plan - && filebus rm $plan",
			remedy: "filebus rm --restore artifact/build/ID-one/plan"},
		{rule: "irregular", setup: "filebus session put one plan - && rm $plan && mkdir $plan",
			remedy: "mv -n " + file + " " + file + ".old && filebus sync --restore " + file},
		{rule: "empty", setup: "filebus session put one plan - && : >$plan", remedy: "filebus get ID | " + put},
		{rule: "truncated", setup: "filebus session put one plan - && printf keep >$plan", remedy: "filebus get ID | " + put},
		{rule: "cut", setup: "printf 'keep this\n```go\nx' >$plan", remedy: put + " FILE", words: map[string]string{"FILE": "-"}},
		{rule: "changed", check: "session check --no-sync --files $plan",
			setup:  "filebus session put one plan - && echo other >$plan && touch -t 202001010000 $plan",
			remedy: "filebus sync"},
		{rule: "growing", check: "session check --no-sync --files $plan", setup: "echo keep this >$plan",
			remedy: "sleep 2 && filebus session check --files " + file, stays: true},
		{rule: "awaited", setup: "filebus session log one START builder", remedy: "check again when builder has ended", stays: true},
		{rule: "open", setup: "printf -- '---\nagent: builder\n---\nkeep this\n' >$plan && filebus sync && " +
			"filebus session log one START builder", remedy: "check again when builder has ended", stays: true},
	} {
		test.setup = "filebus session start build --name one && " + thePlan + test.setup
		if test.check == "" {
			test.check = "session check one plan"
		}
		t.Run(test.rule, func(t *testing.T) { test.run(t) })
	}
}

// TestRemediesOfStores follows the remedies of verify, doctor and scan.
func TestRemediesOfStores(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("mv")
	}
	const put = "echo 'body to break, keep this' | filebus put --name note/a.md - && "
	const index = "mv .filebus/index .filebus/moved-index, then run it again"
	breakIt := put + "LC_ALL=C sed -i.old 's/body to break/BODY to break/' .filebus/store.db"
	secret := "echo 'keep this' >n.md && echo 'ghp_R4nd0mKq9ZtVbWx7''LsYd3FgHjP2mNc5TuA8e' | filebus put --name note/s.md - && "
	for _, test := range []remedyCase{
		{rule: "text", check: "verify", setup: breakIt, remedy: "filebus verify --repair, or put or capture the same text again"},
		{rule: "index", check: "verify", setup: put + "rm -rf .filebus/index && echo >.filebus/index", remedy: index},
		{rule: "index", check: "doctor", setup: put + "rm -rf .filebus/index && echo >.filebus/index", remedy: index},
		{rule: "store", check: "verify", setup: "echo junk >.filebus/store.db", remedy: "filebus verify --repair"},
		{rule: "store", check: "doctor", setup: put + "rm .filebus/store.db", remedy: "filebus verify --repair"},
		{rule: "github-pat", check: "scan --history", setup: secret + "cp n.md s.md && filebus sync && filebus put --name note/s.md n.md",
			remedy: "filebus purge --files ID"},
	} {
		t.Run(test.rule, func(t *testing.T) { test.run(t) })
	}
}

func (test remedyCase) run(t *testing.T) {
	dir := t.TempDir()
	for name, text := range test.files {
		test.write(t, filepath.Join(dir, name), text)
	}
	for name, to := range test.links {
		test.write(t, filepath.Join(dir, filepath.Dir(name), "x"), "")
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, dir, "init")
	if out, err := test.shell(t, dir, test.setup).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", test.setup, err, out)
	}
	remedies := test.remedies(t, dir)
	ids := regexp.MustCompile(`\b[0-9a-f]{12}\b|\d{8}-\d{6}-[a-z0-9]{4}`)
	got := ids.ReplaceAllString(strings.ReplaceAll(strings.Join(remedies, "\n"), dir+"/", ""), "ID")
	if diff := cmp.Diff(test.remedy, got); diff != "" {
		t.Fatalf("remedies (-want +got):\n%s", diff)
	}
	for _, line := range regexp.MustCompile(`, then |, and |; |, or `).Split(remedies[0], -1) {
		line = strings.TrimSuffix(line, " has all of them")
		if strings.Contains(line, " --") && len(test.words) > 0 && test.edit[0] == "" {
			test.refused(t, dir, line)
		}
		for word, text := range test.words {
			line = regexp.MustCompile(`\b`+word+`\b`).ReplaceAllString(line, text)
		}
		test.follow(t, dir, line)
	}
	if test.add[0] != "" {
		test.write(t, filepath.Join(dir, test.add[0]), test.add[1])
	}
	if name := filepath.Join(dir, test.edit[0]); test.edit[0] != "" {
		text, err := os.ReadFile(name)
		if err != nil || !strings.Contains(string(text), test.edit[1]) {
			t.Fatalf("%s: %v", name, err)
		}
		at := strings.LastIndex(string(text), test.edit[1])
		test.write(t, name, string(text[:at])+test.edit[2]+string(text[at+len(test.edit[1]):]))
	}
	if left := test.remedies(t, dir); (len(left) > 0) != test.stays {
		t.Errorf("after %q there is still %q", test.remedy, left)
	}
	test.keeps(t, dir)
}

func (test remedyCase) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func (test remedyCase) remedies(t *testing.T, dir string) (remedies []string) {
	t.Helper()
	check := test.check
	if check == "" {
		check = "lint --rule " + test.rule
	}
	out, err := test.shell(t, dir, thePlan+"filebus --json "+check).Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || !slices.Contains([]int{4, 7, 8}, exit.ExitCode())) {
		t.Fatalf("%v\n%s", err, out)
	}
	var said map[string]json.RawMessage
	var found []rule.Finding
	err = json.Unmarshal(out, &said)
	for _, list := range []string{"findings", "files", "checks", "secrets"} {
		if said[list] != nil && found == nil {
			err = errors.Join(err, json.Unmarshal(said[list], &found))
		}
	}
	if err != nil || found == nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, f := range found {
		if f.Remedy != "" && !slices.Contains(remedies, f.Remedy) {
			remedies = append(remedies, f.Remedy)
		}
	}
	return remedies
}

// refused runs a line as it is printed, words in capitals and all: nothing changes.
func (test remedyCase) refused(t *testing.T, dir, line string) {
	t.Helper()
	before := filesOf(t, dir)
	if out, err := test.shell(t, dir, line).CombinedOutput(); err == nil {
		t.Errorf("%s was taken as it is:\n%s", line, out)
	}
	if diff := cmp.Diff(before, filesOf(t, dir)); diff != "" {
		t.Errorf("files after %s (-before +after):\n%s", line, diff)
	}
}

// filesOf returns the text of each file below a folder, but for those of the store.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".filebus":
			return filepath.SkipDir
		case d.Type().IsRegular():
			text, err := os.ReadFile(name)
			files[name] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// follow runs a command line of a remedy as a shell does. A line that it keeps of a journal
// is each that the agent wrote.
func (test remedyCase) follow(t *testing.T, dir, line string) {
	t.Helper()
	if !regexp.MustCompile(`^(filebus|mv) `).MatchString(line) {
		return // by hand
	}
	before := filesOf(t, dir)
	out, err := test.shell(t, dir, line).CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 9) { // it has done a part
		t.Fatalf("%s: %v\n%s", line, err, out)
	}
	after := filesOf(t, dir)
	for name, text := range before {
		if !strings.Contains(line, " task ") {
			break
		}
		for kept := range strings.Lines(text) {
			if !strings.Contains(after[name], kept) {
				t.Errorf("%s: %s lost %q of %s", test.rule, line, kept, name)
			}
		}
	}
}

func (test remedyCase) shell(t *testing.T, dir, line string) *exec.Cmd {
	t.Helper()
	bin := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(bin, "filebus")); err != nil {
		t.Fatal(err)
	}
	cmd := filebusCommand(t, dir)
	cmd.Path, cmd.Args = "/bin/sh", []string{"sh", "-c", line}
	cmd.Env = append(cmd.Env, "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.Stdin = strings.NewReader("keep this")
	return cmd
}

// keeps checks that what the user wrote is in a file or in the store.
func (test remedyCase) keeps(t *testing.T, dir string) {
	t.Helper()
	out, err := exec.Command("grep", "-rls", "--exclude-dir=.filebus", "keep this", dir).Output()
	if err == nil && len(out) > 0 {
		return
	}
	for line := range strings.Lines(mustRun(t, dir, "log")) {
		if fields := strings.Fields(line); len(fields) > 3 && strings.Contains(mustRun(t, dir, "get", fields[3]), "keep this") {
			return
		}
	}
	for name, text := range test.files {
		if strings.Contains(text, "keep this") {
			t.Errorf("%s: what the user wrote is in no file and not in the store", name)
		}
	}
}

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/lint"
	runs "filebus/cmd/filebus/run"
	"filebus/query"
	"filebus/store/record"
)

// TestGuide holds that each guide has 500 tokens at most, and that each command and
// flag in it exists.
func TestGuide(t *testing.T) {
	commands := commandTree(t)
	for _, r := range roles() {
		text := guideText(commands["filebus"], r)
		if tokens := record.EstimateTokens(int64(len(text))); tokens > 500 {
			t.Errorf("the guide of %s has %d tokens, more than 500", r.name, tokens)
		}
		for _, s := range r.steps {
			cmd := commands["filebus "+s.path]
			if cmd == nil {
				t.Errorf("the guide of %s names filebus %s, which is no command", r.name, s.path)
				continue
			}
			if cmd.HasSubCommands() && !cmd.Runnable() {
				t.Errorf("the guide of %s: filebus %s does nothing itself", r.name, s.path)
			}
			for _, m := range regexp.MustCompile(`--([a-z-]+)`).FindAllStringSubmatch(s.args, -1) {
				if !slices.Contains(ownFlags(cmd.Flags()), m[1]) {
					t.Errorf("the guide of %s: filebus %s has no flag --%s", r.name, s.path, m[1])
				}
			}
			if !strings.Contains(text, cmd.CommandPath()+" "+s.args) && !strings.Contains(text, cmd.CommandPath()+"\n") {
				t.Errorf("the guide of %s lacks filebus %s", r.name, s.path)
			}
		}
	}
}

// TestGuideWithout leaves out what the command tree does not have.
func TestGuideWithout(t *testing.T) {
	text := guideText(commandTree(t)["filebus"], role{"x", []string{"Rule."}, []step{{"nothing", "ID", ""}, {"put", "FILE", "Store it"}}})
	want := "Rule.\n\nfilebus put FILE\n  Store it\n\nfilebus COMMAND --help says more; --json prints one JSON value. Errors name the next command.\n"
	if text != want {
		t.Errorf("guideText = %q, want %q", text, want)
	}
}

// TestBudgetRunShape compares the JSON of a run's budget with docs/cli.md.
func TestBudgetRunShape(t *testing.T) {
	section := sectionsOf(readDocument(t, "docs/cli.md"), 3)
	for path, value := range map[string]any{
		"filebus budget": runs.Budget{}, "filebus lint": lint.Report{}, "filebus guide": guideJSON{},
	} {
		if want := jsonShape(reflect.TypeOf(value)); !strings.Contains(section[path], "`"+want+"`") {
			t.Errorf("docs/cli.md, %s: does not have\n`%s`", path, want)
		}
	}
}

// TestReadsAreNoted runs the commands that an orchestrator reads with, as text and
// as JSON, and looks for each in the log of reads, under its channel.
func TestReadsAreNoted(t *testing.T) {
	t.Parallel()
	for _, form := range [][]string{nil, {"--json"}} {
		dir := t.TempDir()
		do := func(args ...string) (printed int) {
			t.Helper()
			var out bytes.Buffer
			if code := run(t.Context(), docEnviron(dir, &out), args); code != cli.ExitDone {
				t.Fatalf("filebus %q: exit code %d: %s", args, code, out.String())
			}
			return record.EstimateTokens(int64(out.Len()))
		}
		do("init")
		do("run", "start", "--id", "run-1")
		do("task", "start", "001", "--title", "Log out")
		do("task", "done", "001", "--summary", "It works", "--files", "src/a.go", "--gotcha", "Sessions outlive the process")
		do("issue", "add", "Logging out twice fails", "--type", "bug")
		do("knowledge", "add", "--type", "pattern", "--content", "One table of sessions", "--tag", "auth")
		do("knowledge", "add", "--type", "gotcha", "--content", "Sessions outlive the process", "--tag", "auth")
		do("component", "touch", "src/", "--task", "001", "--notes", "sessions")
		tests := []struct {
			args []string
			want string
		}{
			{[]string{"wait", "001"}, "waits"},
			{[]string{"task", "show", "001"}, "handoffs"},
			{[]string{"task", "list"}, "handoffs"},
			{[]string{"issue", "list"}, "issue queue"},
			{[]string{"issue", "next"}, "issue queue"},
			{[]string{"issue", "wait", "--since", "@0"}, "issue queue"},
			{[]string{"run", "show"}, "session state"},
			{[]string{"status"}, "session state"},
			{[]string{"knowledge", "list", "auth"}, "knowledge graph"},
			{[]string{"knowledge", "show", "pattern-001"}, "knowledge graph"},
			{[]string{"knowledge", "tags"}, "knowledge graph"},
			{[]string{"knowledge", "related", "pattern-001"}, "knowledge graph"},
			{[]string{"knowledge", "harvest", "001"}, "knowledge graph"},
			{[]string{"component", "show"}, "context map"},
			{[]string{"component", "for", "src/a.go"}, "context map"},
			{[]string{"context", "sessions"}, "context"},
		}
		for _, test := range tests {
			before := len(readsOf(t, dir))
			printed := do(append(test.args, form...)...)
			reads := readsOf(t, dir)
			if len(reads) == before {
				t.Errorf("filebus %q %q notes no read", test.args, form)
				continue
			}
			if got := reads[len(reads)-1]; got.Channel() != test.want || got.Tokens <= 0 {
				t.Errorf("filebus %q %q notes a read of the channel %q with %d tokens, want %q with some", test.args, form, got.Channel(), got.Tokens, test.want)
			} else if 2*got.Tokens < printed {
				t.Errorf("filebus %q %q notes %d tokens, and prints %d", test.args, form, got.Tokens, printed)
			}
		}
	}
}

// readsOf returns the reads that the store of a folder has noted.
func readsOf(t *testing.T, dir string) []query.Read {
	t.Helper()
	var reads []query.Read
	text, err := os.ReadFile(filepath.Join(dir, ".filebus", "reads.log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var read query.Read
		if err := json.Unmarshal(line, &read); err != nil {
			t.Fatalf("the line %q of the log of reads: %v", line, err)
		}
		reads = append(reads, read)
	}
	return reads
}

// TestInstructions holds that the block and the skill have 300 tokens at most, and that
// what they and the permissions name exists.
func TestInstructions(t *testing.T) {
	commands := commandTree(t)
	text := instructionsText(commands["filebus"])
	skill, err := os.ReadFile(filepath.Join("setup", "templates", "skill.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"block": text, "skill": string(skill) + text} {
		if tokens := record.EstimateTokens(int64(len(text))); tokens > 300 {
			t.Errorf("the %s has %d tokens, more than 300", name, tokens)
		}
	}
	lines := regexp.MustCompile("(?m)^- `(filebus .+)`: .+$").FindAllStringSubmatch(text, -1)
	if len(lines) != len(roles()[0].steps) { // which TestGuide resolves
		t.Errorf("the block has %d of %d commands", len(lines), len(roles()[0].steps))
	}
	for _, line := range lines {
		words := strings.Fields(line[1])
		cmd, rest, err := commands["filebus"].Find(words[1:])
		if err != nil || !cmd.Runnable() {
			t.Fatalf("%s: no command: %v", line[1], err)
		}
		if err := cmd.ParseFlags(slices.Clone(rest)); err != nil {
			t.Errorf("%s: %v", line[1], err)
		}
		if err := cmd.ValidateArgs(cmd.Flags().Args()); err != nil {
			t.Errorf("%s: %v", line[1], err)
		}
	}
	rules, err := os.ReadFile(filepath.Join("setup", "templates", "allow.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for rule := range strings.SplitSeq(string(rules), "\n") {
		if path, is := strings.CutPrefix(rule, `"Bash(`); is {
			if cmd := commands[strings.TrimSuffix(path, ` *)"`)]; cmd == nil || !cmd.Runnable() {
				t.Errorf("the permission %s is of no command", rule)
			}
		}
	}
}

package main

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/cli"
	"filebus/migrations"
	"filebus/store/record"
)

// The tests in this file hold docs/compatibility.md against the program. What one of them
// finds is a promise that would be broken: the program has to change, not the page.

func compatibilityPart(t *testing.T, heading string) string {
	t.Helper()
	part := sectionsOf(readDocument(t, "docs/compatibility.md"), 3)[heading]
	if part == "" {
		t.Fatalf("docs/compatibility.md has no part %q", heading)
	}
	return part
}

// quoted returns what stands in backquotes, in order.
func quoted(text string) []string {
	var all []string
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
		all = append(all, m[1])
	}
	return all
}

func TestKeptFormats(t *testing.T) {
	steps := migrations.Steps()
	newest := steps[len(steps)-1].Version
	for document, want := range map[string]string{
		"docs/compatibility.md": fmt.Sprintf("the store, now schema %d ", newest),
		"docs/format.md":        fmt.Sprintf("# The store's format, schema %d\n", newest),
	} {
		if !strings.Contains(readDocument(t, document), want) {
			t.Errorf("%s does not say %q", document, want)
		}
	}
	dir := t.TempDir()
	mustRun(t, dir, "init")
	first, _, _ := strings.Cut(mustRun(t, dir, "bundle", "create", "-"), "\n")
	if !slices.Contains(quoted(readDocument(t, "docs/compatibility.md")), first) {
		t.Errorf("docs/compatibility.md does not name bundles that begin with %q", first)
	}
}

func TestKeptExitCodes(t *testing.T) {
	codes := map[string]bool{"0": true}
	words := map[string]bool{}
	for _, code := range record.Codes() {
		words[string(code)] = true
		codes[fmt.Sprint(cli.ExitOf(code))] = true
	}
	part, _, _ := strings.Cut(compatibilityPart(t, "Exit codes"), "`exec`")
	kept := map[string]bool{}
	for _, word := range regexp.MustCompile(`\d+`).FindAllString(part, -1) {
		kept[word] = true
	}
	if diff := gocmp.Diff(codes, kept); diff != "" {
		t.Errorf("docs/compatibility.md, exit codes (-program +document):\n%s", diff)
	}
	if diff := gocmp.Diff(slices.Sorted(maps.Keys(words)), slices.Sorted(slices.Values(quoted(part)))); diff != "" {
		t.Errorf("docs/compatibility.md, words of errors (-program +document):\n%s", diff)
	}
}

// TestKeptHooks compares the command lines of hooks with those that install writes for clients,
// which may trust exactly these.
func TestKeptHooks(t *testing.T) {
	arguments := regexp.MustCompile(`(?m)^\+.*"command": "filebus", "args": \[(.*?)\]`)
	line := regexp.MustCompile(`(?m)^\+command = "(filebus .*)"$`)
	called := regexp.MustCompile(`(?m)^\+.*\bhook\("(\w+)"`) // by the plugin
	lines := map[string]bool{}
	for _, client := range []string{"claude", "codex", "opencode"} {
		var out bytes.Buffer
		env := docEnviron(t.TempDir(), &out)
		if code := run(t.Context(), env, []string{"install", client, "--project", "--dry-run"}); code != cli.ExitDone {
			t.Fatalf("install %s: exit code %d: %s", client, code, out.String())
		}
		for _, m := range arguments.FindAllStringSubmatch(out.String(), -1) {
			lines["filebus "+strings.Join(regexp.MustCompile(`\w+`).FindAllString(m[1], -1), " ")] = true
		}
		for _, m := range line.FindAllStringSubmatch(out.String(), -1) {
			lines[m[1]] = true
		}
		for _, m := range called.FindAllStringSubmatch(out.String(), -1) {
			lines["filebus hook --client "+client+" "+m[1]] = true
		}
	}
	kept := map[string]bool{}
	for line := range strings.Lines(compatibilityPart(t, "Hooks")) {
		words := quoted(line)
		for i, word := range words {
			if strings.HasPrefix(line, "- ") && (i > 0 || len(words) == 1) {
				kept[strings.Join(slices.Compact([]string{words[0], word}), " ")] = true
			}
		}
	}
	if diff := gocmp.Diff(lines, kept); diff != "" {
		t.Errorf("docs/compatibility.md, hooks (-program +document):\n%s", diff)
	}
}

func TestKeptTools(t *testing.T) {
	var tools []string
	for _, tool := range mcpTools() {
		tools = append(tools, tool.Name)
	}
	if diff := gocmp.Diff(tools, quoted(compatibilityPart(t, "Tools"))); diff != "" {
		t.Errorf("docs/compatibility.md, tools (-program +document):\n%s", diff)
	}
}

package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

// An exampleRun is what the review article of docs/examples prints, and where.
type exampleRun struct {
	dir        string
	references []record.Reference
	context    int    // tokens of all references, about
	rest       string // what is printed behind them
}

// runExample plays the example in a folder of its own, or again in one that is given.
func runExample(t *testing.T, preview, dir string) exampleRun {
	t.Helper()
	if dir == "" {
		dir = t.TempDir()
	}
	for _, tool := range []string{"sh", "awk", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("the stand-in agents of the example need %s", tool)
		}
	}
	script, err := filepath.Abs(filepath.Join("..", "..", "docs", "examples", "review-article", "run.sh"))
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	run := exampleRun{dir: dir}
	bin := t.TempDir()
	if err := os.Symlink(self, filepath.Join(bin, "filebus")); err != nil {
		t.Skipf("no symbolic links: %v", err)
	}
	cmd := exec.Command("sh", script)
	cmd.Dir = run.dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"),
		"FILEBUS_STORE="+filepath.Join(run.dir, ".filebus"), "PREVIEW="+preview)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run.sh: %v\n%s%s", err, out, said.String())
	}
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "{") {
			run.rest += line
			continue
		}
		run.context += record.EstimateTokens(int64(len(line)))
		run.references = append(run.references, readReference(t, line))
	}
	return run
}

// readReference reads a reference, which has four keys and never a fifth.
func readReference(t *testing.T, line string) record.Reference {
	t.Helper()
	var r record.Reference
	var keys map[string]any
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	if err := json.Unmarshal([]byte(line), &keys); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	want := []string{"agent", "preview", "result_file", "word_count"}
	if diff := gocmp.Diff(want, slices.Sorted(maps.Keys(keys))); diff != "" {
		t.Errorf("the keys of %s (-want +got):\n%s", line, diff)
	}
	if info, err := os.Stat(r.ResultFile); err != nil || info.Size() == 0 {
		t.Errorf("the file of %s: %v", line, err)
	}
	return r
}

// TestExample plays the review article twice: once with the usual previews and
// once with short ones.
func TestExample(t *testing.T) {
	t.Parallel()
	long, short := runExample(t, "500", ""), runExample(t, "40", "")
	for _, test := range []struct {
		run    exampleRun
		tokens int
	}{{long, 2700}, {short, 1000}} {
		agents := map[string]int{}
		words := 0
		for _, r := range test.run.references {
			agents[r.Agent]++
			if r.Agent != "combine_files" && r.Agent != "pdf" {
				words += r.WordCount
			}
		}
		want := map[string]int{
			"source_deep_diver": 1, "web_researcher": 2, "academic_researcher": 1, "paper_outliner": 1, "section_writer": 5,
			"combine_files": 1, "paper_editor": 1, "citation_formatter": 1, "pdf": 1,
		}
		if diff := gocmp.Diff(want, agents); diff != "" {
			t.Errorf("references by agent (-want +got):\n%s", diff)
		}
		if words < 59_000 || words > 60_200 {
			t.Errorf("the agents wrote %d words, want about 59,600", words)
		}
		if test.run.context > test.tokens {
			t.Errorf("the parent's context holds ≈%d tokens, want at most %d", test.run.context, test.tokens)
		}
		if out := mustRun(t, test.run.dir, "verify"); !strings.Contains(out, "sound") {
			t.Errorf("verify: %s", out)
		}
	}
	checkSameBytes(t, filepath.Join(long.dir, "Review Article.pdf"), filepath.Join(short.dir, "Review Article.pdf"))
	checkReadmeExample(t, long)
	before := mustRun(t, long.dir, "verify")
	again := runExample(t, "500", long.dir)
	if diff := gocmp.Diff(long.references, again.references); diff != "" {
		t.Errorf("the references of the second time (-first +second):\n%s", diff)
	}
	if after := mustRun(t, long.dir, "verify"); after != before {
		t.Errorf("verify says %s before the second time, %s behind it: something was stored", before, after)
	}
}

func checkSameBytes(t *testing.T, a, b string) {
	t.Helper()
	if _, same, err := sameFile(a, b); err != nil || !same {
		t.Errorf("%s and %s are the same: %t, %v", a, b, same, err)
	}
}

// checkReadmeExample compares the output that the README shows with the run's. A
// "…" stands for anything within a line; lines of parallel calls have no order.
func checkReadmeExample(t *testing.T, run exampleRun) {
	t.Helper()
	_, block, _ := strings.Cut(readDocument(t, "docs/examples/review-article/README.md"), "$ sh docs/examples/review-article/run.sh\n")
	block, _, found := strings.Cut(block, "```")
	if !found {
		t.Fatal("the README does not show the example")
	}
	var printed []string
	for _, r := range run.references {
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		printed = append(printed, string(line))
	}
	printed = append(printed, strings.Split(run.rest, "\n")...)
	for line := range strings.Lines(block) {
		line = strings.TrimSpace(line)
		if line == "…" || line == "" {
			continue
		}
		if !slices.ContainsFunc(printed, func(p string) bool { return matchesLine(line, strings.TrimSpace(p)) }) {
			t.Errorf("the README shows %q, which is not printed:\n%s", line, strings.Join(printed, "\n"))
		}
	}
}

// matchesLine reports whether a line is what a pattern with "…" for anything
// says; runs of spaces count as one.
func matchesLine(pattern, line string) bool {
	pattern, line = strings.Join(strings.Fields(pattern), " "), strings.Join(strings.Fields(line), " ")
	parts := strings.Split(pattern, "…")
	if len(parts) == 1 {
		return pattern == line
	}
	rest, found := strings.CutPrefix(line, parts[0])
	for _, part := range parts[1 : len(parts)-1] {
		if found {
			_, rest, found = strings.Cut(rest, part)
		}
	}
	return found && strings.HasSuffix(rest, parts[len(parts)-1])
}

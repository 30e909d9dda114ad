package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

// TestSmallRun runs every suite on a handful of texts: each must give rows
// without a failure. Which limits are met says nothing at this size.
func TestSmallRun(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the program")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go tool to build the program")
	}
	collection := t.TempDir()
	for name, body := range map[string]string{
		"docs/D1.html": "<html><pre>A lock that is fair to writers.</pre></html>",
		"docs/D2.html": "<html><pre>Sorting numbers on tape.</pre></html>",
		"topics.txt":   "<DOC><DOCNO>1</DOCNO> fair locks </DOC>",
		"qrels.txt":    "1 Q0 D1 1\n",
		"index.md":     "- 2026-03-02 Fairness to writers [lock](lock.md)\n",
		"lock.md":      "A lock that is fair to writers.\n",
	} {
		if err := writeFile(filepath.Join(collection, name), []byte(body)); err != nil {
			t.Fatal(err)
		}
	}
	var out, progress bytes.Buffer
	made := t.TempDir()
	svg, cpu, memory := filepath.Join(made, "curves.svg"), filepath.Join(made, "cpu"), filepath.Join(made, "memory")
	args := []string{"-json", "-runs", "1", "-docs", "30", "-large-size", "3000000", "-growth-max", "1", "-small", "-dir", t.TempDir(), "-ir", collection,
		"-svg", svg, "-cpuprofile", cpu, "-memprofile", memory, "-known", filepath.Join(collection, "index.md"),
		"startup", "put", "agents", "capture", "sync", "materialize", "search", "index", "size", "large", "growth", "relevance", "known", "tokens"}
	if err := run(t.Context(), args, &out, &progress); err != nil {
		t.Fatalf("%v\n%s", err, progress.String())
	}
	var got struct{ Rows []row }
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, r := range got.Rows {
		seen[r.Suite]++
		if r.Verdict == failed {
			t.Errorf("%s failed: %s", r.Suite, r.What)
		}
		if (r.What == "MAP" || r.What == "success@5") && r.Median != 1 {
			t.Errorf("%s of one topic whose document comes first: got %v, want 1", r.What, r.Median)
		}
	}
	for _, name := range args[len(args)-14:] {
		if seen[name] == 0 {
			t.Errorf("suite %s gave no rows", name)
		}
	}
	for _, file := range []string{svg, cpu, memory} {
		if info, err := os.Stat(file); err != nil || info.Size() == 0 {
			t.Errorf("%s: got %v, %v, want bytes", file, info, err)
		}
	}
	if got := functionsOf(t, memory); !strings.Contains(got, "main.runPut") || !strings.Contains(got, "main.run ") {
		t.Errorf("the profile has neither this process nor filebus:\n%s", got)
	}
}

// functionsOf lists the functions of a profile.
func functionsOf(t *testing.T, profile string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "tool", "pprof", "-raw", "-symbolize=none", profile).Output()
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestPutsAtOnceOfTheProgram lets a few real processes put at once.
func TestPutsAtOnceOfTheProgram(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and runs the program")
	}
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no Go tool to build the program")
	}
	b, err := newBench(t.Context(), options{dir: t.TempDir(), runs: 1, seed: 1}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := b.putAtOnce(t.Context(), 18, 1, 6)
	if err != nil {
		t.Fatal(err)
	}
	if got := find(t, rows, "records lost by 6 "); got.Verdict != met || got.Runs == 0 {
		t.Errorf("got %+v, want nothing lost", got)
	}
	if err := b.close(); err != nil {
		t.Error(err)
	}
}

func TestShellTimes(t *testing.T) {
	output := "3\nRun Time: real 0.005 user 0.004321 sys 0.000100\n7\n8\nRun Time: real 0.000 user 0.000050 sys 0.000000\nRun Time: real - user x sys y\n"
	got := shellTimes(output)
	if len(got) != 2 || got[0] < 4.42 || got[0] > 4.43 || got[1] < 0.049 || got[1] > 0.051 {
		t.Errorf("times in %q: got %v, want 4.421 and 0.05", output, got)
	}
}

func TestQuoteSQL(t *testing.T) {
	for in, want := range map[string]string{"a": "'a'", "it's": "'it''s'", "": "''"} {
		if got := quoteSQL(in); got != want {
			t.Errorf("quoteSQL(%q): got %s, want %s", in, got, want)
		}
	}
}

func TestBeyondPreview(t *testing.T) {
	line := `{"agent":"a","result_file":"/f.md","word_count":3,"preview":"some \"words\""}`
	want := int64(len(`{"agent":"a","result_file":"/f.md","word_count":3,"preview":""}`))
	if got, err := beyondPreview([]byte(line)); err != nil || got != want {
		t.Errorf("%s: got %d, %v, want %d", line, got, err, want)
	}
	for _, line := range []string{`{"agent":"a"}`, "no JSON"} {
		if got, err := beyondPreview([]byte(line)); err == nil {
			t.Errorf("%s: got %d, want an error", line, got)
		}
	}
}

func TestWriteRandom(t *testing.T) {
	file := filepath.Join(t.TempDir(), "random")
	digest, err := writeRandom(file, 100_000, 5)
	if err != nil {
		t.Fatal(err)
	}
	body, err := os.ReadFile(file)
	if err != nil || len(body) != 100_000 || record.DigestOf(body) != digest {
		t.Errorf("got %d bytes, %v, digest %s, want 100000 of %s", len(body), err, record.DigestOf(body), digest)
	}
	if other, err := writeRandom(file, 100_000, 6); err != nil || other == digest {
		t.Errorf("another seed: got %s, %v, want another digest", other, err)
	}
}

func TestDocuments(t *testing.T) {
	c := &corpus{dir: t.TempDir()}
	for _, name := range []string{"a.md", filepath.Join("b", "c.md")} {
		if err := c.add(name, []byte("text of "+name)); err != nil {
			t.Fatal(err)
		}
	}
	documents, err := c.documents()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i, d := range documents {
		got = append(got, d.Name.String())
		if d.Position != uint64(i+1) || len(d.Text) == 0 {
			t.Errorf("document %d: got position %d and %d bytes", i, d.Position, len(d.Text))
		}
	}
	if diff := cmp.Diff([]string{"made:note/a.md", "made:note/b/c.md"}, got); diff != "" {
		t.Errorf("names: -want +got\n%s", diff)
	}
}

func TestFolderSize(t *testing.T) {
	dir := t.TempDir()
	if err := writeFile(filepath.Join(dir, "a", "b"), make([]byte, 10_000)); err != nil {
		t.Fatal(err)
	}
	got, err := folderSize(dir)
	if err != nil || got < 4096 || got > 1<<16 {
		t.Errorf("a file of 10000 bytes: got %d, %v, want a few blocks", got, err)
	}
	if _, err := folderSize(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that is not there: got no error")
	}
}

package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// queueOf and noteOf are the files of a step: with every step all entries change,
// and move.
func queueOf(step int) string {
	text := "# Issue Queue\n\n" + strings.Repeat("A line before.\n", step%17) + "\n## Pending\n\n"
	for i := range 3 {
		text += fmt.Sprintf("### ISSUE-20260302-00%d\n\n%s- **Status**: pending\n\n**Summary:** The heron of step %d is too wide.\n\n",
			i+1, strings.Repeat("Filler.\n\n", (step+i)%5), step)
	}
	return text
}

func noteOf(step int) string {
	return "# Birds\n\n" + strings.Repeat("A line before.\n", step%13) + fmt.Sprintf("\n## Found\n\nThe heron of step %d.\n\n## More\n\nNothing.\n", step)
}

// TestSearchWhileFilesChange searches while the files change all the time: the
// lines of each hit are those of the version that it names, in the body and in the
// file as it was then.
func TestSearchWhileFilesChange(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	step := 0
	change := func() {
		d.write("tree/.claude/issue_queue.md", queueOf(step))
		d.write("tree/note.md", noteOf(step))
		d.run("capture", "tree")
		step++
	}
	change()
	stop := make(chan struct{})
	var changes sync.WaitGroup
	changes.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				change()
			}
		}
	})
	defer changes.Wait()
	defer close(stop)
	checked := 0
	for i := range 40 {
		flags := []string{"search", "--json", "heron", "--duplicates"}
		if i%4 == 0 {
			flags = append(flags, "--history")
		}
		out, _ := d.run(flags...)
		checked += d.checkLines(out)
	}
	if checked < 40 {
		t.Errorf("%d hits checked; want some in each search", checked)
	}
}

var stepOf = regexp.MustCompile(`heron of step (\d+)`)

// checkLines compares the lines of hits with the version that they name and with
// the file of its step. It returns how many hits had lines in a file.
func (d *desk) checkLines(answer string) (checked int) {
	d.Helper()
	var value struct{ Hits []hitLines }
	if err := json.Unmarshal([]byte(answer), &value); err != nil {
		d.Fatalf("reading %s: %v", answer, err)
	}
	for _, h := range value.Hits {
		text, _ := d.run("get", h.Ref, "--lines", fmt.Sprintf("%d-%d", h.Lines[0], h.Lines[1]))
		m := stepOf.FindStringSubmatch(text)
		if m == nil || !strings.Contains(h.Snippet, m[0]) {
			d.Errorf("hit %+v: its lines of that version are %q", h, text)
			continue
		}
		if h.Older {
			continue // its file has another text
		}
		step, _ := strconv.Atoi(m[1])
		lines := h.FileLines
		if lines[0] == 0 {
			lines = h.Lines
		}
		file := queueOf(step)
		if h.Path == "note.md" {
			file = noteOf(step)
		}
		got := ""
		if all := strings.SplitAfter(file, "\n"); lines[0] >= 1 && lines[1] <= len(all) {
			got = strings.Join(all[lines[0]-1:lines[1]], "")
		}
		if strings.TrimSpace(got) != strings.TrimSpace(text) {
			d.Errorf("hit %+v: lines %v of its file are %q; want %q", h, lines, got, text)
		}
		checked++
	}
	return checked
}

type hitLines struct {
	Ref, Path, Snippet string
	Lines              [2]int
	FileLines          [2]int `json:"file_lines"`
	Older              bool
}

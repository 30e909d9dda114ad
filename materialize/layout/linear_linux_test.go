package layout

import (
	"fmt"
	"maps"
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"filebus/materialize/markdown"
)

// readers are all that read a file whole; whatever an agent writes may become the
// input of each.
func readers() map[string]func(text []byte) {
	all := map[string]func(text []byte){
		"Outline":      func(text []byte) { markdown.Outline(text) },
		"Preview":      func(text []byte) { markdown.Preview(text, 500) },
		"Title":        func(text []byte) { markdown.Title(text) },
		"Words":        func(text []byte) { markdown.Words(text) },
		"Tables":       func(text []byte) { markdown.Tables(markdown.Lines(text)) },
		"FrontMatter":  func(text []byte) { markdown.FrontMatter(text) },
		"YAML":         func(text []byte) { markdown.ParseYAML(string(text), 1) },
		"Unclosed":     func(text []byte) { markdown.Unclosed(text) },
		"markers":      func(text []byte) { ParseMarkers(text) },
		"completion":   func(text []byte) { ParseCompletion(text) },
		"handoff":      func(text []byte) { ParseHandoff(text) },
		"progress":     func(text []byte) { AppendProgress(text, Progress{Text: "x"}) },
		"scores":       func(text []byte) { ParseScores(text) },
		"tensions":     func(text []byte) { ParseTensions(text) },
		"stub":         func(text []byte) { ParseStub(text) },
		"diff":         func(text []byte) { parseDiff(text) },
		"report facts": func(text []byte) { reportFacts("", text) },
	}
	for _, path := range []string{
		".claude/issue_queue.md", ".claude/task_queue.md", ".claude/knowledge_graph.md", ".claude/knowledge_graph.json",
		".claude/lessons/testing.md", ".claude/context_map.md", ".claude/journal/task-001.md", ".claude/session_state.md",
		".claude/dialogues/s/round-1/scone.md", ".claude/dialogues/s/scoreboard.md", ".claude/dialogues/s/tensions.md",
		".claude/dialogues/s/round-0/panel.json", ".blue/docs/dialogues/s.md", ".orchestrator/reports/B-007-loop-002.json",
		".claude/sessions/build/k7/.agent_log", ".claude/sessions/build/k7/context.md",
		".claude/loop_snapshots/r/loop-1/issues_completed.md", ".claude/agent_tool_results/c/k.md", "note.md",
	} {
		place := Recognize(path)
		all[path] = func(text []byte) { place.Parse(path, text) }
	}
	return all
}

// slowUnits are texts which, repeated, have taken readers quadratic time, or would.
func slowUnits() []string {
	return []string{
		"> ", "[a](", "- ", "* a\n ", "*a **b ", "[", "`a``b", "<!--", "</pre", "[a]: b\n", "word ", "c,\n", " c\n", `{"a":"`,
		"a:\n", "a: \"\n", "'x, ", "a: |\n", " y\n", "# x\n", "- a:\n   - b:\n", "|a", "|b|\n", "| a | b |\n", "|", "\n", " ", "\t", "\r", "é",
		"[TENSION T01: ", "[RESOLVED T01]", "[TENSION T01: a]\n", "[[TENSION ", "`[RESOLVED T01]", "<!-- [RESOLVED ", "```\n[TENSION T01: ", "---\n",
		"[MUFFIN-P0101: ", "[MUFFIN-P0101]", "[M-", "[A", "[RE:SUPPORT T01, ", "[MOVE:", "[ACK T01]\n", "`", "` `` ", "``[", "<!-- ", "<!-- \n",
		"<!-- a -->[RESOLVED T01]", "- ```x\n", "> ```\n", "    ```\n- ~~~\n", "\n> ```x\n\na\n", "```\n", "~~~\n```\n",
		"## Running Agents\n- a\n", "run_id: x\n", "- [09:00] step\n", "## Handoff\noutcome: done\n", "## Metadata\n- Status: x\n",
		"### ISSUE-20260302-001\n", "- **Status**: pending\n", "### pattern-001\n- Tags: [a, b]\n", "**Summary:** a\n", "1. a\n", "- [ ] a\n",
		"+a\n", "@@ -1,99 +1,99 @@\n", "- ISSUE-1: x\n", `{"a":`, `{"notes":[`, `"x",`, "[{}],", "\\", `"`, "'", "](", "\x00", "\xff",
	}
}

// slowShapes are those of which not just one part grows.
func slowShapes() map[string]func(n int) string {
	return map[string]func(n int) string{
		"a wide table":  func(n int) string { return table(n/8, n/8) },
		"rows too long": func(n int) string { return table(2, 2) + strings.Repeat("|"+strings.Repeat("a|", n/64), 16) },
		"nested YAML":   func(n int) string { return nestedYAML(int(math.Sqrt(float64(n)))) },
		"a long block":  func(n int) string { return "a: |\n" + strings.Repeat(" ", n/4) + "x\n" + strings.Repeat(" y\n", n/4) },
		"far to the right": func(n int) string {
			return strings.Repeat(strings.Repeat(" ", n/16)+"a\n", 16)
		},
		"lists and nothing": func(n int) string { return strings.Repeat("- ", n/4) + "\n" + strings.Repeat("\n", n/2) },
		"a long heading":    func(n int) string { return "# " + strings.Repeat("ä", n/2) },
	}
}

func table(columns, rows int) string {
	return strings.Repeat("|a", columns) + "|\n" + strings.Repeat("|-", columns) + "|\n" + strings.Repeat("|b|\n", rows)
}

// starts are what a repeated text may stand behind.
var starts = []string{"", "---\na: [b,\n", "## Handoff\n", "## Progress Log\n", "| Outcome ", `{"notes": [`, "@@ -1,2000000000 +1,2000000000 @@\n", "- a: "}

// work returns how long the processor was busy with one reading, in nanoseconds, the
// least of several: not what a clock on the wall shows, which depends on whatever
// else the machine does.
func work(read func(text []byte), text []byte, tries int) int64 {
	least := int64(-1)
	for range tries {
		if tries > 1 {
			runtime.GC() // memory that was never used costs more
		}
		before := busy()
		read(text)
		if took := busy() - before; least < 0 || took < least {
			least = took
		}
	}
	return least
}

// busy returns how long the processor has been busy with this thread.
func busy() int64 {
	const thisThread = 3 // CLOCK_THREAD_CPUTIME_ID
	var at syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, thisThread, uintptr(unsafe.Pointer(&at)), 0); errno != 0 {
		panic(errno)
	}
	return at.Nano()
}

// TestWorkGrowsWithTheText gives every reader texts of one length and of sixteen
// times that. What is linear has sixteen times the work, a square 256 times; between
// them lies all that memory and other programs can do. FILEBUS_LINEAR=1 takes all
// starts, and texts eight times as long.
func TestWorkGrowsWithTheText(t *testing.T) {
	length, from := 1<<10, starts[:1]
	if os.Getenv("FILEBUS_LINEAR") != "" {
		length, from = 8<<10, starts
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(256 << 20)) // it may not come to that between two lengths
	texts := slowShapes()
	for _, start := range from {
		for _, unit := range slowUnits() {
			texts[start+unit] = func(n int) string { return start + strings.Repeat(unit, n/len(unit)) }
		}
	}
	all := readers()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for label, text := range texts {
			if grows, by := tooFast(all[name], text, length); grows {
				t.Errorf("%s: %q has %.0f times the work for %d times the text", name, label, by, times)
			}
		}
		runtime.GC()
	}
}

// times is how much longer the long text is, most how much more work it may take.
const times, most = 16, 64

// tooFast reports whether the work grows faster than the text. What is suspicious is
// looked at again, with care and four times as long. What takes next to nothing says
// nothing.
func tooFast(read func(text []byte), text func(n int) string, length int) (bool, float64) {
	const nothing = 2_000_000
	by := 0.0
	for tries := 1; tries <= 3; tries += 2 {
		took := work(read, []byte(text(times*length)), tries)
		by = float64(took) / float64(max(work(read, []byte(text(length)), tries), 1))
		if took < nothing || by < most {
			return false, by
		}
		length *= 4
	}
	return true, by
}

// TestWorkIsMeasured holds that the measure tells a square from a line.
func TestWorkIsMeasured(t *testing.T) {
	t.Parallel()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sum := 0
	text := func(n int) string { return strings.Repeat("a", n) }
	line := func(text []byte) { sum += len(fmt.Sprintf("%q", text)) }
	square := func(text []byte) {
		for i := range text {
			for _, c := range text[i:] {
				sum += int(c)
			}
		}
	}
	if grows, by := tooFast(line, text, 1<<10); grows {
		t.Errorf("a line is taken for a square: %.0f times the work", by)
	}
	if grows, by := tooFast(square, text, 1<<9); !grows {
		t.Errorf("a square is not found: %.0f times the work", by)
	}
}

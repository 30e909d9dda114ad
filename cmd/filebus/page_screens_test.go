package main

import (
	"bytes"
	"flag"
	"fmt"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

var screens = flag.String("screens", "", "write what the pages look like into this `folder`")

// crowded writes files as agents leave them: results of many conversations, notes, a queue of issues, knowledge, each with words that
// come often and words that come once.
func crowded(t *testing.T, dir string, results, notes, issues, knowledge int) {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	common := strings.Fields("limiter retry bucket token webhook invoice ledger replica deadline backoff jitter cache index segment merge snapshot cursor schema migration rollout")
	word := func() string {
		if random.IntN(3) > 0 {
			return common[int(random.ExpFloat64()*4)%len(common)]
		}
		return fmt.Sprintf("%c%c%s", 'a'+random.IntN(26), 'a'+random.IntN(26), []string{"ora", "emi", "uto", "ile", "anda"}[random.IntN(5)])
	}
	words := func(n int) string {
		var all []string
		for range n {
			all = append(all, word())
		}
		return strings.ToUpper(all[0][:1]) + strings.Join(all, " ")[1:]
	}
	write := func(text string, format string, args ...any) {
		name := filepath.Join(dir, fmt.Sprintf(format, args...))
		must(t, os.MkdirAll(filepath.Dir(name), 0o777))
		must(t, os.WriteFile(name, []byte(text), 0o666))
	}
	text := func() string {
		var b strings.Builder
		fmt.Fprintf(&b, "# %s\n\n%s.\n", words(5), words(30))
		for range random.IntN(5) {
			fmt.Fprintf(&b, "\n## %s\n\n%s. %s.\n\n- %s\n- %s\n", words(4), words(25), words(15), words(8), words(6))
		}
		return b.String()
	}
	for i := range results {
		write(text(), ".claude/agent_tool_results/conv-%04d/call-%05d.md", i/12, i)
	}
	for i := range notes {
		head := fmt.Sprintf("---\ndate: 2026-%02d-%02d\ntags: [%s, %s]\nowner: anna\n---\n", 1+i%12, 1+i%28, word(), word())
		write(head+text(), "docs/notes/area-%02d/note-%04d.md", i%20, i)
	}
	var queue, graph strings.Builder
	queue.WriteString("# Issue Queue\n")
	graph.WriteString("# Knowledge Graph\n\n## Patterns\n")
	for i := range issues {
		fmt.Fprintf(&queue, "\n### ISSUE-202603%02d-%03d\n\n| Field | Value |\n|---|---|\n| Status | %s |\n| Type | %s |\n| Priority | %s |\n| Created | 2026-03-%02dT08:00:00Z |\n"+
			"\n**Summary:** %s\n\n**Details:**\n%s.\n\n---\n", 1+i/200, 1+i%200, []string{"pending", "accepted", "in_progress", "complete"}[random.IntN(4)],
			[]string{"bug", "feature", "docs"}[random.IntN(3)], []string{"critical", "high", "medium", "low"}[random.IntN(4)], 1+i%28, words(6), words(20))
	}
	for i := range knowledge {
		fmt.Fprintf(&graph, "\n### pattern-%03d\n- Type: %s\n- Tags: [%s, %s]\n- Content: %s\n- Source: task-%03d\n- Confidence: high\n", i+1,
			[]string{"pattern", "gotcha", "decision", "insight"}[random.IntN(4)], word(), common[random.IntN(8)], words(14), i/4)
	}
	write(queue.String(), ".claude/issue_queue.md")
	write(graph.String(), ".claude/knowledge_graph.md")
}

// crowdViews are the pages of a crowd.
func crowdViews() map[string]string {
	return map[string]string{
		"now": "/", "search": "/search?q=limiter+webhook", "record": "/record?name=result/conv-0001/call-00012&lines=1-5", "issues": "/issues?group=priority",
		"board": "/issues?view=board", "knowledge": "/knowledge", "review": "/review", "sessions": "/sessions", "dialogues": "/dialogues", "budget": "/budget", "health": "/health",
	}
}

// TestScreens makes a picture of each page on a screen and on a telephone, in the light and in the dark, of the sample and of 5,000
// records, and holds that none of them is blank or wider than its screen. They are kept with -screens FOLDER, to be looked at.
func TestScreens(t *testing.T) {
	t.Parallel()
	chrome, many := browser(t), t.TempDir()
	crowded(t, many, 3500, 500, 700, 300)
	mustRun(t, many, "init", "--yes")
	mustRun(t, many, "search", "limiter", "--limit", "1")
	for store, of := range map[string]struct {
		dir   string
		views map[string]string
	}{"sample": {sampleWorkspace(t), sampleViews()}, "crowd": {many, crowdViews()}} {
		b := openTab(t, chrome, served(t, of.dir))
		for name, path := range of.views {
			for _, size := range [][2]int64{{1280, 800}, {390, 800}} {
				b.do(chromedp.EmulateViewport(size[0], size[1]))
				for _, scheme := range []string{"light", "dark"} {
					b.prefer(scheme, "reduce")
					b.screen(fmt.Sprintf("%s-%s-%d-%s", store, name, size[0], scheme), path, int(size[0]))
				}
			}
		}
	}
}

func (b *tab) screen(name, path string, width int) {
	b.t.Helper()
	if status := b.show(path); status != 200 {
		b.t.Errorf("%s = %d", path, status)
	}
	b.until(`document.readyState === "complete"`)
	if name := "knowledge"; strings.Contains(path, name) {
		time.Sleep(300 * time.Millisecond) // until it is drawn
	}
	if got := get[int](b, `document.documentElement.scrollWidth`); got > width {
		b.t.Errorf("%s is %d wide on a screen of %d", name, got, width)
	}
	shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
	must(b.t, err)
	picture, err := png.Decode(bytes.NewReader(shot))
	must(b.t, err)
	if n := len(palette(picture)); n < 16 {
		b.t.Errorf("%s has %d colours: it is blank", name, n)
	}
	if *screens != "" {
		must(b.t, os.MkdirAll(*screens, 0o777))
		must(b.t, os.WriteFile(filepath.Join(*screens, name+".png"), shot, 0o666))
	}
}

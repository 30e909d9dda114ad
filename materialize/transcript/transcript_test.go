package transcript_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"filebus/materialize/transcript"
)

// rows of a sub-agent of Claude Code.
const (
	prompted = `{"type":"user","agentId":"a1","isSidechain":true,"sessionId":"s-1","cwd":"/w","timestamp":"2026-11-02T10:00:00.5Z","message":{"role":"user","content":"\n# Look into the *cache*\nand tell."}}`
	thinking = `{"type":"assistant","agentId":"a1","isSidechain":true,"message":{"id":"m1","role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}}`
	looking  = `{"type":"assistant","agentId":"a1","isSidechain":true,"message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"Let me look."}]}}`
	reading  = `{"type":"assistant","agentId":"a1","isSidechain":true,"message":{"id":"m1","role":"assistant","stop_reason":"tool_use","content":[{"type":"tool_use","id":"t1","name":"Read","input":{"file_path":"/w/a.md","limit":7}}]}}`
	answered = `{"type":"user","agentId":"a1","isSidechain":true,"timestamp":"2026-11-02T10:00:02Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"12345"}]}]},"toolUseResult":"Error: odd"}`
	first    = `{"type":"assistant","agentId":"a1","isSidechain":true,"timestamp":"2026-11-02T10:00:03Z","message":{"id":"m2","role":"assistant","stop_reason":null,"content":[{"type":"text","text":"It is stale."}]}}`
	second   = `{"type":"assistant","agentId":"a1","isSidechain":true,"timestamp":"2026-11-02T10:00:04Z","message":{"id":"m2","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"So mend it."}]}}`
	handed   = `{"type":"assistant","agentId":"a1","isSidechain":true,"timestamp":"2026-11-02T10:00:05Z","message":{"id":"m3","role":"assistant","content":[{"type":"text","text":"Sending."},{"type":"tool_use","id":"t9","name":"SubagentHandback","input":{"message":"# Findings\nÄ \ud83d\ude00"}}]}}`
	closing  = `{"type":"assistant","agentId":"a1","isSidechain":true,"message":{"id":"m4","role":"assistant","stop_reason":"end_turn","content":[{"type":"text","text":"Report sent."}]}}`
	failed   = `{"type":"assistant","agentId":"a1","isApiErrorMessage":true,"message":{"id":"m5","model":"<synthetic>","role":"assistant","content":[{"type":"text","text":"API Error: 529"}]}}`
	odd      = `{"type":"attachment","message":7,"agentId":{},"cwd":["x"],"payload":null}`
)

// rows of a sub-agent of Codex.
const (
	child     = `{"timestamp":"2026-10-01T08:00:00Z","type":"session_meta","payload":{"id":"child-7","session_id":"root-1","cwd":"/w","source":{"subagent":{"thread_spawn":{"parent_thread_id":"root-1","depth":1,"agent_path":"{lead}/reviewer"}}},"thread_source":"subagent"}}`
	parent    = `{"timestamp":"2026-10-01T07:00:00Z","type":"session_meta","payload":{"id":"root-1","session_id":"root-1","cwd":"/w","source":"cli","thread_source":"user"}}`
	context_  = `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"<environment_context>x</environment_context>"}]}}`
	asked     = `{"type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"Review it"}]}}`
	copied    = `{"timestamp":"2026-10-01T08:00:01Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":"The parent's own"}}`
	begun     = `{"timestamp":"2026-10-01T08:00:02Z","type":"event_msg","payload":{"type":"task_started"}}`
	commented = `{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I will look"}]}}`
	called    = `{"type":"response_item","payload":{"type":"function_call","name":"shell","arguments":"{}"}}`
	completed = `{"timestamp":"2026-10-01T08:00:09Z","type":"event_msg","payload":{"type":"task_complete","last_agent_message":"Looks good."}}`
	mail      = `{"type":"response_item","payload":{"type":"agent_message","author":"{lead}/reviewer","recipient":"{lead}","content":[{"type":"input_text","text":"Message Type: FINAL_ANSWER\nSender: x\nPayload:\nLooks good."}]}}`
)

func rows(all ...string) string { return strings.Join(all, "\n") + "\n" }

func read(t testing.TB, text string) *transcript.Run {
	t.Helper()
	run := &transcript.Run{}
	if err := run.Read(t.Context(), strings.NewReader(text), 1<<20); err != nil {
		t.Fatal(err)
	}
	return run
}

func TestReport(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text, want string
		ended            bool
	}{
		{"the rows of one reply", rows(prompted, thinking, looking, reading, answered, first, second), "It is stale.\n\nSo mend it.", true},
		{"a reply that may go on", rows(prompted, first), "It is stale.", false},
		{"a hand-back before closing words", rows(prompted, first, handed, closing), "# Findings\nÄ 😀", true},
		{"an error in its name", rows(prompted, first, second, failed), "It is stale.\n\nSo mend it.", true},
		{"at work", rows(prompted, thinking, looking, reading), "", false},
		{"at work again", rows(prompted, first, second, looking, reading), "It is stale.\n\nSo mend it.", true},
		{"a half last line", rows(prompted, second) + first[:90], "So mend it.", true},
		{"a last line without its end", rows(prompted) + second, "So mend it.", true},
		{"unknown rows, a mark, other line ends", "\ufeff" + strings.ReplaceAll(rows(prompted, odd, "", "[]", second), "\n", "\r\n"), "So mend it.", true},
		{"nothing", "", "", false},
		{"no JSON", "hello\n\xff\xfe\n", "", false},
		{"Codex", rows(child, context_, begun, asked, commented, called, completed), "Looks good.", true},
		{"Codex at work", rows(child, begun, asked, commented, called), "", false},
		{"a fork of Codex at work", rows(child, parent, copied, begun, asked), "", false},
	} {
		run := read(t, test.text)
		if run.Text != test.want || run.Ended != test.ended {
			t.Errorf("%s: report = %q, ended %v, want %q, %v", test.name, run.Text, run.Ended, test.want, test.ended)
		}
	}
}

func TestRun(t *testing.T) {
	t.Parallel()
	got := read(t, rows(prompted, reading, answered, "{oops", handed)+first[:40])
	want := &transcript.Run{Session: "s-1", ID: "a1", Cwd: "/w", Prompt: "\n# Look into the *cache*\nand tell.",
		Text: "# Findings\nÄ 😀", Ended: true, Rows: 4}
	ignored := cmp.Options{cmpopts.IgnoreUnexported(transcript.Run{}), cmpopts.IgnoreFields(transcript.Run{}, "Time", "Reads", "Offset")}
	if diff := cmp.Diff(want, got, ignored); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	if got.Title() != "Look into the *cache" || got.Time.Second() != 5 {
		t.Errorf("title %q, written %v", got.Title(), got.Time)
	}
	if len(got.Reads) != 1 || got.Reads[0].File != "/w/a.md" || got.Reads[0].Size != 5 {
		t.Errorf("reads = %+v", got.Reads)
	}
	if before := len(rows(prompted, reading, answered, "{oops")); int(got.Offset) != before {
		t.Errorf("offset = %d, want %d: the last reply may go on", got.Offset, before)
	}
}

func TestCodexRun(t *testing.T) {
	t.Parallel()
	got := read(t, rows(child, context_, begun, asked, completed))
	if got.Session != "root-1" || got.ID != "child-7" || got.Agent != "default" || got.Title() != "Review it" {
		t.Errorf("child = %+v", got)
	}
	got = read(t, rows(parent, asked, mail, completed))
	if got.Session != "root-1" || got.ID != "" || got.Received != 1 {
		t.Errorf("parent = %+v", got)
	}
}

func TestReadFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "agent-a1.jsonl")
	write(t, file, rows(prompted, strings.Replace(second, "So mend it.", strings.Repeat("é", 600), 1)))
	if err := new(transcript.Run).ReadFile(t.Context(), file, 1000); !errors.Is(err, transcript.ErrTooLong) {
		t.Errorf("a long report = %v", err)
	}
	if err := new(transcript.Run).ReadFile(t.Context(), file+".gone", 1000); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no file = %v", err)
	}
}

func TestFolderName(t *testing.T) {
	t.Parallel()
	for project, want := range map[string]string{
		"/w/my_app.v2":                  "-w-my-app-v2",
		"/é😀/x":                         "-----x",
		"/" + strings.Repeat("ab", 120): "-" + strings.Repeat("ab", 99) + "a", // a hash follows
	} {
		if got := transcript.FolderName(project); got != want {
			t.Errorf("FolderName(%.20s) = %s, want %s", project, got, want)
		}
	}
}

func write(t testing.TB, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	config, project := filepath.Join(t.TempDir(), "[a-z]*"), t.TempDir() // no pattern
	at := func(cwd string) string {
		return rows(strings.Replace(prompted, `"/w"`, `"`+filepath.ToSlash(cwd)+`"`, 1), second)
	}
	mine := filepath.Join(config, "projects", transcript.FolderName(project))
	write(t, filepath.Join(mine, "s-1.jsonl"), strings.ReplaceAll(at(project), `"isSidechain":true,`, ""))
	write(t, filepath.Join(mine, "s-1", "subagents", "agent-a1.jsonl"), at(project))
	write(t, filepath.Join(mine, "s-1", "subagents", "agent-a1.meta.json"), `{"agentType":"Explore","spawnDepth":1}`)
	write(t, filepath.Join(mine, "s-1", "subagents", "workflows", "w", "agent-b2.jsonl"), at(project))
	write(t, filepath.Join(mine, "s-1", "subagents", "agent-c3.jsonl"), at(project))
	write(t, filepath.Join(mine, "s-1", "subagents", "agent-c3.meta.json"), `{"agentType":""}`)
	// Of a link nobody knows where it leads.
	_ = os.Symlink(filepath.Join(mine, "s-1", "subagents", "agent-c3.meta.json"), filepath.Join(mine, "s-1", "subagents", "workflows", "w", "agent-b2.meta.json"))
	write(t, filepath.Join(mine, "s-2", "subagents", "agent-d4.jsonl"), at(filepath.Join(project, "sub")))
	write(t, filepath.Join(mine+"-other", "s-3.jsonl"), at(project+"-other"))
	write(t, filepath.Join(config, "sessions/2026/10/01/rollout-1.jsonl"), rows(strings.Replace(child, `"/w"`, `"`+filepath.ToSlash(project)+`"`, 1)))
	write(t, filepath.Join(config, "sessions/2026/10/01/rollout-2.jsonl"), rows(parent))
	var got []string
	all, err := transcript.Claude(t.Context(), config, project)
	for _, f := range all {
		foreign := map[bool]string{true: " foreign"}[f.IsForeign]
		got = append(got, f.Session+" "+f.ID+" "+f.Agent+foreign)
	}
	want := []string{"s-1 a1 Explore", "s-1 c3  foreign", "s-1 b2 ", "s-1  ", "s-2 d4 "}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Claude = %v (-want +got):\n%s", err, diff)
	}
	got = nil
	if all, err = transcript.Codex(t.Context(), config, project); err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		got = append(got, f.Session+" "+f.ID+" "+f.Agent)
	}
	if diff := cmp.Diff([]string{"root-1 child-7 default"}, got); diff != "" {
		t.Errorf("Codex (-want +got):\n%s", diff)
	}
}

// TestAskedForLine leaves the report of an agent that was asked for a line, whatever it said then.
func TestAskedForLine(t *testing.T) {
	t.Parallel()
	row := func(kind, id, text string) string {
		return fmt.Sprintf(`{"type":%q,"isSidechain":true,"agentId":"a","sessionId":"s","cwd":"/w","message":{"id":%q,"role":%q,"content":[{"type":"text","text":%q}]}}`,
			kind, id, kind, text)
	}
	asked := "Stop hook feedback:\nIt is stored. " + transcript.AskedForLine + "\nx 2w: Otters (filebus get 0123)"
	for _, c := range []struct{ then, want string }{
		{row("assistant", "m2", "It is stored."), "Otters swim."},
		{row("assistant", "m2", strings.Repeat("More. ", 100)), strings.Repeat("More. ", 100)},
		{row("assistant", "m2", "It is stored.") + "\n" + row("user", "", "And bears?") + "\n" + row("assistant", "m3", "They climb."), "They climb."},
	} {
		var r transcript.Run
		text := rows(row("user", "", "Look"), row("assistant", "m1", "Otters swim."), row("user", "", asked), c.then)
		if err := r.Read(t.Context(), strings.NewReader(text), transcript.MaxText); err != nil || r.Text != c.want {
			t.Errorf("after %s\nthe report is %q, %v, not %q", c.then, r.Text, err, c.want)
		}
	}
}

// TestManyTexts takes no longer than their bytes ask for.
func TestManyTexts(t *testing.T) {
	t.Parallel()
	const n = 300_000
	content := "[" + strings.Repeat(`{"type":"text","text":"a"},`, n) + `{"type":"text","text":"b"}]`
	began := time.Now()
	if text := transcript.TextOf([]byte(content)); len(text) != 3*n+1 || !strings.HasSuffix(text, "a\n\nb") {
		t.Errorf("TextOf = %d bytes", len(text))
	}
	if took := time.Since(began); took > 30*time.Second {
		t.Errorf("it took %v", took)
	}
}

func FuzzRead(f *testing.F) {
	for _, text := range []string{rows(prompted, looking, reading, answered, second), rows(child, asked, mail, completed), "{", "\xff{}\r\n" + odd} {
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, line int) {
		whole := read(t, text)
		lines := strings.SplitAfter(text, "\n")
		cut := len(strings.Join(lines[:min(max(line, 0), len(lines)-1)], ""))
		begun := read(t, text[:cut]) // as it was while it grew
		if begun.Offset > int64(cut) || whole.Offset > int64(len(text)) || whole.Ended && whole.Text == "" {
			t.Errorf("offset %d of %d, then %d of %d", begun.Offset, cut, whole.Offset, len(text))
		}
		if err := begun.Read(t.Context(), strings.NewReader(text[begun.Offset:]), 1<<20); err != nil {
			t.Fatal(err)
		}
	})
}

func TestGrown(t *testing.T) {
	t.Parallel()
	text := rows(prompted, reading, answered, first, second, looking, reading, answered, handed)
	for cut := range len(text) {
		begun := read(t, text[:cut])
		rest := &transcript.Run{Offset: begun.Offset}
		if err := rest.Read(t.Context(), strings.NewReader(text[begun.Offset:]), 1<<20); err != nil || rest.Text != "# Findings\nÄ 😀" {
			t.Errorf("cut at %d: report = %q, %v", cut, rest.Text, err)
		}
		if n := len(rest.Reads); n > 2 || n == 0 && cut < len(text)-900 {
			t.Errorf("cut at %d: %d reads", cut, n)
		}
	}
}

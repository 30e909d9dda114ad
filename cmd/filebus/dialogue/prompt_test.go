package dialogue

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/layout"
)

// promptFor returns what one agent is told.
func (h *parlour) promptFor(t testing.TB, key Key, round int, agent string) Prompt {
	t.Helper()
	prompts, err := h.Prompts(t.Context(), key, PromptRequest{Round: round, Agents: []string{agent}})
	if err != nil || len(prompts) != 1 {
		t.Fatalf("Prompts(%s, %d, %s) = %d, %v", key, round, agent, len(prompts), err)
	}
	return prompts[0]
}

// TestExample reads the example as a turn is read: each marker must follow the
// grammar, and each kind must be shown.
func TestExample(t *testing.T) {
	t.Parallel()
	kinds := map[layout.MarkerKind]int{}
	for _, m := range layout.ParseMarkers([]byte(exampleTurn)) {
		kinds[m.Kind]++
		if !m.Exact {
			t.Errorf("%s does not follow the grammar", m.Raw)
		}
	}
	for _, kind := range []layout.MarkerKind{
		layout.MarkerPerspective, layout.MarkerTension, layout.MarkerRefinement, layout.MarkerConcession, layout.MarkerResolved,
	} {
		if kinds[kind] != 1 {
			t.Errorf("the example shows %s %d times", kind, kinds[kind])
		}
	}
}

func TestPrompt(t *testing.T) {
	t.Parallel()
	for _, profile := range []layout.Profile{layout.Claude(), profileOf("blue")} {
		h := newParlour(t, profile)
		made, err := h.New(t.Context(), NewRequest{
			Title: "Retry policy", Question: "Who retries?\n\n```\nfunc retry()", Agents: []string{"muffin", "scone"},
			Roles: map[string]string{"scone": "Site reliability"},
		})
		if err != nil {
			t.Fatal(err)
		}
		p := h.promptFor(t, made.Key, 0, "Scone")
		if want := filepath.Join(made.Round, "scone.md"); p.Output != want {
			t.Errorf("the output is %s, want %s", p.Output, want)
		}
		for _, want := range []string{
			"You are Scone in round 0 of the dialogue " + made.Key.ID + ", with Muffin.", "Your role: Site reliability\n", "> Who retries?\n>\n> ```\n",
			"WRITE YOUR OUTPUT: use the Write tool to write your complete response to:\n  " + p.Output + "\n", "This is MANDATORY.", "then stop.",
			exampleTurn, "`[ERROR: the reason]`", "FILE_WRITTEN: " + p.Output + "\n",
		} {
			if !strings.Contains(p.Text, want) {
				t.Errorf("the prompt lacks %q:\n%s", want, p.Text)
			}
		}
		if len(p.Text) > 4*700 {
			t.Errorf("the prompt has %d bytes, more than 700 tokens", len(p.Text))
		}
		if markers := layout.ParseMarkers([]byte(p.Text)); len(markers) > 0 {
			t.Errorf("the prompt itself has the marker %s", markers[0].Raw)
		}
		if panel := h.read(t, made.Key).Round(0).Panel; panel == nil || len(panel.Experts) != 1 || panel.Experts[0].Name != "scone" {
			t.Errorf("the panel is %+v, want scone alone", panel)
		}
	}
}

// TestPromptSize gives the longest texts that a dialogue may have.
func TestPromptSize(t *testing.T) {
	t.Parallel()
	h := newParlour(t, layout.Claude())
	agents := []string{"muffin"}
	for c := 'a'; c <= 'z'; c++ {
		agents = append(agents, strings.Repeat(string(c), 60))
	}
	made, err := h.New(t.Context(), NewRequest{
		Title: strings.Repeat("word ", 99), Question: strings.Repeat("Why is it so? ", 1100), Agents: agents,
		Roles: map[string]string{"muffin": strings.Repeat("role ", 1000)},
	})
	if err != nil {
		t.Fatal(err)
	}
	p := h.promptFor(t, made.Key, 0, "muffin")
	if len(p.Text) > 4*1200 {
		t.Errorf("the prompt has %d bytes", len(p.Text))
	}
	if pool := filepath.Join(made.Folder, poolFile); !strings.Contains(p.Text, "The whole question is in "+pool+"\n") {
		t.Errorf("the prompt does not say where the question is:\n%s", p.Text)
	}
}

// TestPromptReads has agents told to read what there is of the round before, and
// nothing else.
func TestPromptReads(t *testing.T) {
	t.Parallel()
	h := newParlour(t, layout.Claude())
	made := h.make(t, "Retry", "muffin", "scone", "eclair", "donut", "late")
	for _, name := range []string{"muffin", "scone", "late"} {
		h.put(t, "turn/retry/round-0/"+name, "[PERSPECTIVE P01: secret]\n")
	}
	h.put(t, "turn/retry/round-0/eclair", "[ERROR: died]\n")
	h.put(t, "turn/retry/round-0/donut", " \n")
	h.put(t, "dialogue/retry/tensions.md", "secret")
	h.put(t, "dialogue/retry/round-1.summary.md", "secret, and of another round")
	if err := os.Remove(filepath.Join(made.Round, "late.md")); err != nil {
		t.Fatal(err)
	}
	p := h.promptFor(t, made.Key, 1, "muffin")
	want := []string{filepath.Join(made.Folder, "tensions.md"), filepath.Join(made.Round, "muffin.md"), filepath.Join(made.Round, "scone.md")}
	if diff := cmp.Diff(want, p.Reads); diff != "" {
		t.Errorf("the files to read (-want +got):\n%s", diff)
	}
	for _, file := range want {
		if !strings.Contains(p.Text, "  "+file) {
			t.Errorf("the prompt does not name %s:\n%s", file, p.Text)
		}
	}
	if strings.Contains(p.Text, "secret") || !strings.Contains(p.Text, "muffin.md  (yours)\n") || !strings.Contains(p.Text, "[MOVE:CONVERGE]") {
		t.Errorf("the prompt of round 1:\n%s", p.Text)
	}
	h.put(t, "dialogue/retry/round-0.summary.md", "secret")
	want = append([]string{want[0], filepath.Join(made.Folder, "round-0.summary.md")}, want[1:]...)
	if diff := cmp.Diff(want, h.promptFor(t, made.Key, 1, "muffin").Reads); diff != "" {
		t.Errorf("the files to read with a summary (-want +got):\n%s", diff)
	}
}

func TestPromptAll(t *testing.T) {
	t.Parallel()
	h := newParlour(t, layout.Claude())
	made := h.make(t, "Retry", "muffin", "scone")
	var first []Prompt
	for range 2 { // the second time nothing changes
		prompts, err := h.Prompts(t.Context(), made.Key, PromptRequest{Save: true})
		if err != nil || len(prompts) != 2 {
			t.Fatalf("Prompts = %d, %v", len(prompts), err)
		}
		for i, p := range prompts {
			want := filepath.Join(made.Round, []string{"muffin", "scone"}[i]+".prompt.md")
			if p.File != want || textOf(t, p.File) != p.Text {
				t.Errorf("the prompt is in %s, want %s with its text", p.File, want)
			}
		}
		if first != nil {
			if diff := cmp.Diff(first, prompts); diff != "" {
				t.Errorf("again (-first +second):\n%s", diff)
			}
		}
		first = prompts
	}
	d := h.read(t, made.Key)
	if r := d.Round(0); len(r.Turns) > 0 || len(r.Files) != 3 || len(r.Panel.Experts) != 2 {
		t.Errorf("the round has %d turns, %d files", len(r.Turns), len(r.Files))
	}
	h.put(t, "dialogue/foreign/expert-pool.json", `{"experts":[{"role":"Caller"}]}`)
	_, err := h.Prompts(t.Context(), Key{ID: "foreign"}, PromptRequest{Save: true})
	if !refuses(err, "filebus dialogue panel SLUG ROUND --add NAME") {
		t.Errorf("a pool without names = %v", err)
	}
	h.put(t, "turn/foreign/round-0/eclair", "[PERSPECTIVE P01: One]\n")
	prompts, err := h.Prompts(t.Context(), Key{ID: "foreign"}, PromptRequest{Round: 1})
	if err != nil || len(prompts) != 1 || prompts[0].Agent != "eclair" {
		t.Errorf("the round after one that eclair wrote = %+v, %v", prompts, err)
	}
	if _, err = h.Prompts(t.Context(), Key{Tree: "lib", ID: "x"}, PromptRequest{}); !errors.Is(err,
		ErrCaptured) {
		t.Errorf("a captured dialogue = %v", err)
	}
}

package result_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/store/record"
)

// TestBudgetOfBytes counts no tokens for bytes that are no text: they have no words that could stand inline.
func TestBudgetOfBytes(t *testing.T) {
	t.Parallel()
	d := deskIn(t, materialize.Settings{Home: t.TempDir()}, ticking())
	d.put("c1/a", "painter", "%PDF-1.4\n\x00\xff\xfe"+strings.Repeat("\x00\x01", 5000))
	d.put("c1/b", "writer", strings.Repeat("abc ", 100))
	b, err := result.BudgetOf(t.Context(), d.Workspace, d.read, "c1")
	if err != nil || b.Words != 100 || b.Tokens != 100 || b.Calls != 2 {
		t.Errorf("%d calls of %d words and %d tokens (%v), want 2 of 100 and 100", b.Calls, b.Words, b.Tokens, err)
	}
	all, _, err := result.Conversations(t.Context(), d.Workspace, d.read, record.Filter{}, 0, 0)
	if err != nil || len(all) != 1 || all[0].Tokens != 100 {
		t.Errorf("conversations: %+v, %v", all, err)
	}
}

// TestBudget counts the seed's steps: parallel calls of one agent are one, a
// combine returns a path.
func TestBudget(t *testing.T) {
	t.Parallel()
	d := deskIn(t, materialize.Settings{Home: t.TempDir()}, ticking())
	reference := 0 // tokens
	put := func(call, agent string, words int) {
		stored := d.put("c1/"+call, agent, strings.Repeat("abc ", words))
		line, err := json.Marshal(stored.Reference())
		if err != nil {
			t.Fatal(err)
		}
		reference += (len(line) + 1 + 3) / 4
	}
	put("a", "Web Researcher", 100)
	put("b", "Web Researcher", 50)
	two := reference
	put("s1", "section_writer", 200)
	three := reference
	combined := d.mustCombine(result.CombineRequest{Inputs: []string{"result/c1/*"}})
	line, _ := json.Marshal(combined.Reference())
	reference += (len(line) + 1 + 3) / 4
	four := reference
	put("c", "Web Researcher", 10)
	// What comes later changes neither the order nor what a step is.
	for _, name := range []record.Name{combined.Name, {Kind: record.KindResult, ID: "c1/a"}} {
		if _, err := d.Tag(t.Context(), name, []string{"read"}, nil); err != nil {
			t.Fatal(err)
		}
	}
	got, err := result.BudgetOf(t.Context(), d.Workspace, d.read, "c1")
	if err != nil {
		t.Fatal(err)
	}
	want := &result.Budget{
		Steps: []result.Step{
			{Agent: "web_researcher", Calls: 2, Words: 150, Tokens: 150, ReferenceTokens: two, WordsInline: 150, TokensInline: 150, TokensByReference: two},
			{Agent: "section_writer", Calls: 1, Words: 200, Tokens: 200, ReferenceTokens: three - two, WordsInline: 350, TokensInline: 350, TokensByReference: three},
			{Agent: "combine_files", Calls: 1, ReferenceTokens: four - three, WordsInline: 350, TokensInline: 350, TokensByReference: four},
			{Agent: "web_researcher", Calls: 1, Words: 10, Tokens: 10, ReferenceTokens: reference - four, WordsInline: 360, TokensInline: 360, TokensByReference: reference},
		},
		Calls: 5, Words: 360, Tokens: 360, ReferenceTokens: reference,
	}
	for i := range want.Steps {
		s := &want.Steps[i]
		s.Ratio = result.Ratio(s.TokensInline) / result.Ratio(s.TokensByReference)
		want.Ratio = s.Ratio
	}
	options := []cmp.Option{cmpopts.IgnoreUnexported(result.Step{}), cmpopts.IgnoreFields(result.Budget{}, "Conversation")}
	if diff := cmp.Diff(want, got, options...); diff != "" {
		t.Errorf("Budget (-want +got):\n%s", diff)
	}
	if ratio := float64(got.Ratio); ratio != 360/float64(reference) {
		t.Errorf("Ratio = %f, want %f", ratio, 360/float64(reference))
	}
}

// promised returns the bound of a row of testdata/promises.txt.
func promised(t *testing.T, name string) float64 {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "promises.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if fields := strings.Split(line, "\t"); fields[0] == name {
			bound, err := strconv.ParseFloat(fields[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			return bound
		}
	}
	t.Fatalf("testdata/promises.txt has no row %s", name)
	return 0
}

// TestReferenceSize holds what a reference costs beyond its preview, while the path
// is no longer than 150 bytes.
func TestReferenceSize(t *testing.T) {
	t.Parallel()
	for _, length := range []int{60, 150} {
		file := filepath.Join("/", strings.Repeat("d", length-len("/.md/0123456789abcdef.md")), "0123456789abcdef.md")
		for len(file) < length {
			file += "x"
		}
		r := record.Reference{Agent: "academic_researcher", ResultFile: file, WordCount: 123456}
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if tokens := record.EstimateTokens(int64(len(line) + 1)); float64(tokens) > promised(t, "tokens/reference") {
			t.Errorf("the reference of a path of %d bytes costs %d tokens beyond its preview", len(file), tokens)
		}
	}
}

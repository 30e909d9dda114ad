package knowledge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/knowledge"
	"filebus/materialize/layout"
	"filebus/query"
)

var update = flag.Bool("update", false, "write the golden files")

// hostileGraph has titles and tags that mean something in every format.
const hostileGraph = "# Knowledge Graph\n\n## Patterns\n\n" +
	"### pattern-001: \"]; --> `a` \\ #1; <script>alert(1)</script> %% &amp; ]]>\n- Type: pattern\n- Tags: [a<b, c&d]\n- Content: one\n- Source: task-001\n- Confidence: high\n\n" +
	"### pattern-002\n- Type: pattern\n- Tags: [a<b]\n- Content: two\x01\u202e lines\n- Links: supersedes pattern-001\n- Source: task-001\n\n" +
	"## Gotchas\n\n### gotcha-001: Ends with a backslash \\\n- Type: gotcha\n- Content: three\n- Links: contradicts pattern-002, derived-from handoff/task-001\n\n" +
	"### gotcha-002: Alone\n- Type: gotcha\n- Content: four\n"

func (f *fixture) part(t testing.TB, request query.PartRequest) query.Part {
	t.Helper()
	g, err := f.read.Graph(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	part, err := g.Part(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	return part
}

func TestWriteGraph(t *testing.T) {
	t.Parallel()
	f := newFixture(t, layout.Claude(), map[string]string{".claude/knowledge_graph.md": hostileGraph})
	part := f.part(t, query.PartRequest{})
	for _, format := range knowledge.Formats() {
		var first, second bytes.Buffer
		if err := errors.Join(knowledge.WriteGraph(&first, part, format), knowledge.WriteGraph(&second, part, format)); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		if !bytes.Equal(first.Bytes(), second.Bytes()) {
			t.Errorf("%s: the same graph gives other bytes", format)
		}
		checkSyntax(t, format, first.Bytes())
		golden := filepath.Join("testdata", "graph."+format)
		if *update {
			if err := os.WriteFile(golden, first.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if diff := cmp.Diff(string(want), first.String()); diff != "" || err != nil {
			t.Errorf("%s, %v (-want +got):\n%s", golden, err, diff)
		}
	}
	if err := knowledge.WriteGraph(io.Discard, part, "png"); err == nil {
		t.Error("a graph was written as png")
	}
}

// checkSyntax reads what was written with a reader of its format, as far as there
// is one.
func checkSyntax(t *testing.T, format string, text []byte) {
	t.Helper()
	switch format {
	case "json":
		if !json.Valid(text) {
			t.Errorf("broken JSON: %s", text)
		}
	case "dot":
		quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
		for line := range bytes.Lines(text) {
			if rest := quoted.ReplaceAll(line, nil); bytes.ContainsAny(rest, `"\`) {
				t.Errorf("dot: quotes do not match in %s", line)
			}
		}
	}
}

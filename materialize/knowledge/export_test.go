package knowledge_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/knowledge"
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
		if format == knowledge.FormatSVG && runtime.GOARCH != "amd64" {
			continue // the last digits of forces may differ
		}
		golden := filepath.Join("testdata", "graph."+string(format))
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
func checkSyntax(t *testing.T, format knowledge.Format, text []byte) {
	t.Helper()
	switch format {
	case knowledge.FormatJSON:
		if !json.Valid(text) {
			t.Errorf("broken JSON: %s", text)
		}
	case knowledge.FormatGraphML, knowledge.FormatSVG:
		d := xml.NewDecoder(bytes.NewReader(text))
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				t.Fatalf("%s is broken: %v", format, err)
			}
			if start, ok := token.(xml.StartElement); ok && start.Name.Local == "script" {
				t.Errorf("%s has an element of a title: %v", format, start)
			}
		}
	case knowledge.FormatDOT:
		quoted := regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)
		for line := range bytes.Lines(text) {
			if rest := quoted.ReplaceAll(line, nil); bytes.ContainsAny(rest, `"\`) {
				t.Errorf("dot: quotes do not match in %s", line)
			}
		}
	}
}

// TestSVGPlaces holds that the boxes of a picture lie within it, and not over each
// other, whatever the graph: a star, a ring, pairs and single ones.
func TestSVGPlaces(t *testing.T) {
	text := "# K\n\n"
	for i := range 40 {
		links := "star-01"
		switch {
		case i >= 30:
			links = fmt.Sprintf("ring-%02d", 30+(i+1-30)%10)
		case i >= 25:
			links = "none-1"
		}
		name := map[bool]string{true: "star", false: "ring"}[i < 30]
		text += fmt.Sprintf("### %s-%02d\n- Type: insight\n- Content: c %d\n- Links: relates-to %s\n\n", name, i, i, links)
	}
	f := newFixture(t, layout.Claude(), map[string]string{".claude/knowledge_graph.md": text})
	var out bytes.Buffer
	if err := knowledge.WriteGraph(&out, f.part(t, query.PartRequest{}), knowledge.FormatSVG); err != nil {
		t.Fatal(err)
	}
	size := regexp.MustCompile(`<svg [^>]*width="(\d+)" height="(\d+)"`).FindStringSubmatch(out.String())
	boxes := regexp.MustCompile(`<rect x="(-?\d+)" y="(-?\d+)" width="(\d+)" height="(\d+)"`).FindAllStringSubmatch(out.String(), -1)
	if len(size) == 0 || len(boxes) != 40 {
		t.Fatalf("a picture of size %v with %d boxes, want 40", size, len(boxes))
	}
	number := func(text string) int {
		n, _ := strconv.Atoi(text)
		return n
	}
	for i, a := range boxes {
		x, y, w, h := number(a[1]), number(a[2]), number(a[3]), number(a[4])
		if x < 0 || y < 0 || x+w > number(size[1]) || y+h > number(size[2]) {
			t.Errorf("box %v lies outside of %v", a[1:], size[1:])
		}
		for _, b := range boxes[i+1:] {
			if dx, dy := number(b[1])-x, number(b[2])-y; max(dx, -dx) < w && max(dy, -dy) < h {
				t.Errorf("box %v lies over %v", a[1:], b[1:])
			}
		}
	}
}

package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// withoutNodes takes the nodes away from a JSON knowledge graph whose turn the
// bits of mask give, and returns the text and the ids that are left.
func withoutNodes(t testing.TB, text []byte, mask uint64) (out []byte, kept []string) {
	t.Helper()
	file, _ := layout.Recognize(".claude/knowledge_graph.json").Parse("g.json", text)
	file = Detach(file)
	s := &State{Entries: map[record.Name]Entry{}}
	gone := map[record.Name]bool{}
	var names []record.Name
	for i, e := range file.Entries() {
		name := record.Name{Kind: record.KindKnowledge, ID: e.ID}
		names = append(names, name)
		s.Entries[name] = Entry{Text: e.Text}
		if gone[name] = mask>>(i%64)&1 == 1; !gone[name] {
			kept = append(kept, string(e.Text))
		}
	}
	f := frameOf(file, names).Without(func(slot record.Name) bool { return gone[slot] }, true)
	return s.Text(f), kept
}

func nodesOf(text []byte) (nodes []string) {
	file, _ := layout.Recognize(".claude/knowledge_graph.json").Parse("g.json", text)
	for _, e := range Detach(file).Entries() {
		nodes = append(nodes, string(e.Text))
	}
	return nodes
}

func TestWithoutNodes(t *testing.T) {
	t.Parallel()
	const lines = "{\n  \"nodes\": [\n    {\"id\": \"a\"},\n    {\"id\": \"b\"},\n    {\"id\": \"c\"}\n  ],\n  \"x\": 1\n}\n"
	for _, test := range []struct {
		label, text string
		mask        uint64
		want        string
	}{
		{"first", lines, 1, strings.Replace(lines, "    {\"id\": \"a\"},\n", "", 1)},
		{"middle", lines, 2, strings.Replace(lines, "    {\"id\": \"b\"},\n", "", 1)},
		{"last", lines, 4, strings.Replace(lines, ",\n    {\"id\": \"c\"}", "", 1)},
		{"first and last", lines, 5, "{\n  \"nodes\": [\n    {\"id\": \"b\"}\n  ],\n  \"x\": 1\n}\n"},
		{"last two", lines, 6, "{\n  \"nodes\": [\n    {\"id\": \"a\"}\n  ],\n  \"x\": 1\n}\n"},
		{"all", lines, 7, "{\n  \"nodes\": [\n  ],\n  \"x\": 1\n}\n"},
		{"on one line", `{"nodes":[{"id":"a"},{"id":"b"}]}`, 1, `{"nodes":[{"id":"b"}]}`},
		{"the only one", `{"nodes":[{"id":"a"}]}`, 1, `{"nodes":[]}`},
		{"beside what is no node", `{"nodes":[1, {"id":"a"}, 2]}`, 1, `{"nodes":[1, 2]}`},
		{"behind what is no node", `{"nodes":[1 , {"id":"a"} ]}`, 1, `{"nodes":[1  ]}`},
		{"text with commas", `{"m": "], ", "nodes":[{"id":"a,"} , {"id":"b"}], "z": ","}`, 2, `{"m": "], ", "nodes":[{"id":"a,"} ], "z": ","}`},
		{"none", lines, 0, lines},
	} {
		got, _ := withoutNodes(t, []byte(test.text), test.mask)
		if diff := cmp.Diff(test.want, string(got)); diff != "" {
			t.Errorf("%s of %q (-want +got):\n%s", test.label, test.text, diff)
		}
	}
}

// TestWithoutNodesRandom takes random nodes of random graphs away: what is left is
// JSON with the other nodes byte for byte, and the text around the array as it was.
func TestWithoutNodesRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 2))
		pick := func(list ...string) string { return list[random.IntN(len(list))] }
		space := func() string { return pick("", " ", "\n    ", "\r\n\t", "\n\n") }
		head := pick("", "\ufeff") + "{" + space() + pick("", `"m": ["]", ","],`) + space() + `"nodes":` + space() + "["
		tail := "]" + space() + pick("", `, "tag_index": {"x": ["[,]"]}`) + space() + "}" + pick("", "\n")
		var elements []string
		for i := range random.IntN(7) {
			elements = append(elements, space()+pick(
				fmt.Sprintf(`{"id": "n%d"}`, i), fmt.Sprintf("{\n\"id\": \"n%d\", \"tags\": [\",\"]}", i), "1", `"],"`, "[[]]", "{}")+space())
		}
		text := []byte(head + strings.Join(elements, ",") + tail)
		got, kept := withoutNodes(t, text, random.Uint64())
		if !json.Valid(bytes.TrimPrefix(got, []byte("\ufeff"))) {
			t.Fatalf("seed %d: %q became broken JSON %q", seed, text, got)
		}
		if diff := cmp.Diff(kept, nodesOf(got)); diff != "" {
			t.Errorf("seed %d: nodes of %q (-want +got):\n%s", seed, got, diff)
		}
		if !bytes.HasPrefix(got, []byte(head)) || !bytes.HasSuffix(got, []byte(tail)) {
			t.Errorf("seed %d: %q became %q: the text around the array changed", seed, text, got)
		}
	}
}

// FuzzWithoutNodes checks that a JSON graph stays one when nodes are taken away.
func FuzzWithoutNodes(f *testing.F) {
	f.Add([]byte(`{"nodes": [{"id": "a"}, {"id": "b"}]}`), uint64(2))
	f.Add([]byte("{\"x\": [1, \"]\"],\n\t\"nodes\": [ {\"id\":\"a\"} , 1 ]\n}"), uint64(1))
	f.Add([]byte(`{"nodes": 1, "nodes": [{"id":"a"},{"id":"a"}]}`), uint64(3))
	f.Fuzz(func(t *testing.T, text []byte, mask uint64) {
		if !json.Valid(bytes.TrimPrefix(text, []byte("\ufeff"))) {
			return
		}
		got, kept := withoutNodes(t, text, mask)
		if !json.Valid(bytes.TrimPrefix(got, []byte("\ufeff"))) {
			t.Fatalf("%q without the nodes of %b is broken JSON %q", text, mask, got)
		}
		for _, node := range kept {
			if !slices.Contains(nodesOf(got), node) {
				t.Errorf("%q without the nodes of %b lost %q: %q", text, mask, node, got)
			}
		}
	})
}

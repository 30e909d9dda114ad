package layout

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

func TestKnowledgeLinks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, fields string
		want         []record.Link
	}{
		{"bullet", "- Links: supersedes pattern-001, relates-to gotcha-002\n",
			[]record.Link{{Type: "supersedes", Target: "knowledge/pattern-001"}, {Type: "relates-to", Target: "knowledge/gotcha-002"}}},
		{"spellings", "- Links: [Supersedes: `pattern-001`, derived_from handoff/task-003]\n",
			[]record.Link{{Type: "supersedes", Target: "knowledge/pattern-001"}, {Type: "derived-from", Target: "handoff/task-003"}}},
		{"list", "- Links:\n  - contradicts gotcha-1\n  - superseded-by pattern-2\n",
			[]record.Link{{Type: "contradicts", Target: "knowledge/gotcha-1"}, {Type: "superseded-by", Target: "knowledge/pattern-2"}}},
		{"target alone", "- Links: gotcha-1, gotcha-1\n", []record.Link{{Type: "relates-to", Target: "knowledge/gotcha-1"}}},
		{"fields of types", "- Supersedes: decision-000, decision-001\n- Derived From: None\n",
			[]record.Link{{Type: "supersedes", Target: "knowledge/decision-000"}, {Type: "supersedes", Target: "knowledge/decision-001"}}},
		{"captured tree", "- Links: contradicts lib:knowledge/pattern-001\n", []record.Link{{Type: "contradicts", Target: "lib:knowledge/pattern-001"}}},
		{"lesson", "- Links: relates-to my lessons/a.md#b-c\n", []record.Link{{Type: "relates-to", Target: "knowledge/my lessons/a.md#b-c"}}},
		{"no links", "- Links: https://example.org/a, see the wiki, conflict pattern-001, relates-to ../x, -\n", nil},
		{"a sentence", "- Related: it is all one thing\n", nil},
	}
	for _, test := range tests {
		k, _ := parseEntry(knowledgeFields, []byte("### pattern-009\n- Content: c\n"+test.fields))
		if diff := cmp.Diff(test.want, k.Links()); diff != "" {
			t.Errorf("%s: links of %q (-want +got):\n%s", test.name, test.fields, diff)
		}
	}
	f, _ := knowledgeGraph.Parse("g.md", []byte("### pattern-009\n- Content: c\n- Links: supersedes pattern-001\n"))
	if got := f.Entries()[0].Facts.Links; len(got) != 1 {
		t.Errorf("facts have the links %v, want one", got)
	}
}

func TestAddAndDropKnowledgeLink(t *testing.T) {
	t.Parallel()
	supersedes := record.Link{Type: LinkSupersedes, Target: "knowledge/pattern-001"}
	tests := []struct{ name, text, added, dropped string }{
		{"none yet", "### p-1\n- Content: c\n", "### p-1\n- Content: c\n- Links: supersedes pattern-001\n", "### p-1\n- Content: c\n- Links:\n"},
		{"some", "### p-1\n- Links: see the wiki, gotcha-1\n", "### p-1\n- Links: see the wiki, gotcha-1, supersedes pattern-001\n",
			"### p-1\n- Links: see the wiki, gotcha-1\n"},
		{"brackets", "### p-1\r\n- Links: [gotcha-1]\r\n", "### p-1\r\n- Links: gotcha-1, supersedes pattern-001\r\n", "### p-1\r\n- Links: gotcha-1\r\n"},
		{"list", "### p-1\n- Links:\n  - gotcha-1\n", "### p-1\n- Links:\n  - gotcha-1\n  - supersedes pattern-001\n", "### p-1\n- Links: gotcha-1\n"},
		{"stated elsewhere", "### p-1\n- Supersedes: pattern-001\n", "### p-1\n- Supersedes: pattern-001\n", "### p-1\n- Supersedes: pattern-001\n"},
	}
	for _, test := range tests {
		added := linked.AddLink([]byte(test.text), supersedes)
		if diff := cmp.Diff(test.added, string(added)); diff != "" {
			t.Errorf("%s: AddLink(%q) (-want +got):\n%s", test.name, test.text, diff)
		}
		if again := linked.AddLink(added, supersedes); string(again) != string(added) {
			t.Errorf("%s: adding the link again gives %q", test.name, again)
		}
		if diff := cmp.Diff(test.dropped, string(linked.DropLink(added, supersedes))); diff != "" {
			t.Errorf("%s: DropLink(%q) (-want +got):\n%s", test.name, added, diff)
		}
	}
}

func TestLessonLink(t *testing.T) {
	t.Parallel()
	l := record.Link{Type: LinkSupersedes, Target: "knowledge/lessons/a.md#b"}
	for _, text := range []string{
		"### T\n**Lesson:** Two\nlines.\n**Tags:** a\n", "### T\n**Date:** 2026-01-01\n**Lesson:** x\n**Contradicts:** gotcha-2\n**Links:** gotcha-1\n",
	} {
		added := knowledgeTable{lessonFields}.AddLink([]byte(text), l)
		k, errs := parseEntry(lessonFields, added)
		if got := k.Links(); len(errs) > 0 || len(got) == 0 || got[len(got)-1] != l {
			t.Errorf("knowledgeTable{lessonFields}.AddLink(%q) = %q has the links %v, errors %v", text, added, got, errs)
		}
		dropped, _ := parseEntry(lessonFields, knowledgeTable{lessonFields}.DropLink(added, l))
		before, _ := parseEntry(lessonFields, []byte(text))
		if diff := cmp.Diff(before.Links(), dropped.Links()); diff != "" {
			t.Errorf("links of %q after adding and dropping one (-want +got):\n%s", text, diff)
		}
	}
}

var linked = knowledgeTable{knowledgeFields}

func TestKnowledgeNodeLinks(t *testing.T) {
	t.Parallel()
	text := []byte(`{"id": "a", "connections": ["b", "c"], "links": [{"type": "contradicts", "target": "c"}, {"type": "odd", "target": "d"}]}`)
	node, err := parseNode(text)
	if err != nil {
		t.Fatal(err)
	}
	want := []record.Link{{Type: "contradicts", Target: "knowledge/c"}, {Type: "relates-to", Target: "knowledge/b"}}
	if diff := cmp.Diff(want, node.links()); diff != "" {
		t.Errorf("links of %s (-want +got):\n%s", text, diff)
	}
	l := record.Link{Type: LinkSupersedes, Target: "knowledge/e"}
	added := nodeFields.AddLink(text, l)
	node, err = parseNode(added)
	if err != nil || !cmp.Equal(node.Connections, []string{"b", "c", "e"}) || len(node.Links) != 3 {
		t.Errorf("AddLink = %s, %v", added, err)
	}
	if again := nodeFields.AddLink(added, l); string(again) != string(added) {
		t.Errorf("adding the link again gives %s", again)
	}
	node, _ = parseNode(nodeFields.DropLink(added, l))
	if diff := cmp.Diff(want, node.links()); diff != "" {
		t.Errorf("links after adding and dropping one (-want +got):\n%s", diff)
	}
	if got := nodeFields.AddLink([]byte("[1]"), l); string(got) != "[1]" {
		t.Errorf("AddLink of no node = %s", got)
	}
}

func TestAddComponentColumn(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, text, want string }{
		{"table", "## Context Map\n\n| Component | Notes |\n|---|---|\n| a | n |\n| b\n\nText\n",
			"## Context Map\n\n| Component | Notes | Location |\n|---|---|----------|\n| a | n | |\n| b |  | |\n\nText\n"},
		{"CRLF, open rows", "# Context Map\r\n| Component\r\n|-\r\n| a", "# Context Map\r\n| Component | Location |\r\n|- |----------|\r\n| a | |"},
		{"no table", "# Context Map\n", "# Context Map\n"},
	}
	for _, test := range tests {
		got := components.addColumn([]byte(test.text), "Location")
		if diff := cmp.Diff(test.want, string(got)); diff != "" {
			t.Errorf("%s: addColumn(%q) (-want +got):\n%s", test.name, test.text, diff)
		}
		file, errs := contextMap{}.Parse("i.md", got)
		if len(errs) > 0 {
			t.Errorf("%s: %q has errors %v in %v", test.name, got, errs, file)
		}
	}
}

func TestParseLinkType(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Supersede": LinkSupersedes, "replaces": LinkSupersedes, "contradict": "contradicts", "See also": LinkRelatesTo,
		"derived": "derived-from", "Derives_From": "derived-from", "replaced by": LinkSupersededBy, "superseded-by": LinkSupersededBy,
	} {
		if got, known := ParseLinkType(text); got != want || !known {
			t.Errorf("ParseLinkType(%q) = %q, %t, want %q", text, got, known, want)
		}
	}
	if got, known := ParseLinkType("blocks"); known {
		t.Errorf("ParseLinkType(blocks) = %q, which is known", got)
	}
}

// TestDropLinkOfSeveral leaves the other items of a list as they were written.
func TestDropLinkOfSeveral(t *testing.T) {
	t.Parallel()
	const text = "### p-1\n- Links:\n  - gotcha-1\n  - see the wiki\n  - supersedes pattern-001\n"
	l := record.Link{Type: LinkSupersedes, Target: "knowledge/pattern-001"}
	want := "### p-1\n- Links:\n  - gotcha-1\n  - see the wiki\n"
	if got := string(linked.DropLink([]byte(text), l)); got != want {
		t.Errorf("DropLink(%q) = %q, want %q", text, got, want)
	}
	l.Target = "knowledge/other"
	if got := string(linked.DropLink([]byte(text), l)); got != text {
		t.Errorf("DropLink of a link that %q lacks = %q", text, got)
	}
}

// TestNodeLinkUnchanged adds and drops links where there is nothing to do, and adds
// one whose target is connected already.
func TestNodeLinkUnchanged(t *testing.T) {
	t.Parallel()
	related := record.Link{Type: LinkRelatesTo, Target: "knowledge/b"}
	superseded := record.Link{Type: LinkSupersededBy, Target: "knowledge/b"}
	for _, test := range []struct {
		label string
		edit  func([]byte, record.Link) []byte
		text  string
		l     record.Link
		want  string
	}{
		{"add to what is no node", nodeFields.AddLink, "[1", related, "[1"},
		{"add a link that is there", nodeFields.AddLink, `{"id": "a", "connections": ["b"]}`, related,
			`{"id": "a", "connections": ["b"]}`},
		{"drop from what is no node", nodeFields.DropLink, "[1", related, "[1"},
		{"drop a link that is not there", nodeFields.DropLink, `{"id": "a", "connections": ["c"]}`, related,
			`{"id": "a", "connections": ["c"]}`},
		{"drop a connection", nodeFields.DropLink, `{"id": "a", "connections": ["b"]}`, related,
			`{"id": "a", "connections": []}`},
	} {
		if got := string(test.edit([]byte(test.text), test.l)); got != test.want {
			t.Errorf("%s: %s becomes %s, want %s", test.label, test.text, got, test.want)
		}
	}
	got := nodeFields.AddLink([]byte(`{"id": "a", "connections": ["c"]}`), superseded)
	node, err := parseNode(got)
	if err != nil || len(node.Links) != 1 || len(node.Connections) != 1 {
		t.Errorf("what supersedes a node is no connection of it: %s, %v", got, err)
	}
}

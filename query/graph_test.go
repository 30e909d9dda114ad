package query_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// linked gives a record links, from types and targets in turn.
func linked(pairs ...string) edit {
	return with(func(r *record.Record) {
		for i := 0; i < len(pairs); i += 2 {
			r.Links = append(r.Links, record.Link{Type: pairs[i], Target: pairs[i+1]})
		}
		record.SortLinks(r.Links)
	})
}

func fromTask(task string) edit { return with(func(r *record.Record) { r.Task = task }) }

// handoffText is a journal whose handoff names files.
func handoffText(files ...string) string {
	return "# Task: x\n\n## Handoff\n\n| Field | Value |\n|---|---|\n| Outcome | completed |\n| Files Changed | " + strings.Join(files, ", ") + " |\n"
}

func (b *bench) graph(trees ...record.Tree) *query.Graph {
	b.Helper()
	g, err := b.Graph(b.Context(), trees...)
	if err != nil {
		b.Fatalf("Graph: %v", err)
	}
	return g
}

// related returns, for each entry, its distance, id and edges.
func (b *bench) related(g *query.Graph, of string, depth, limit int) (list []string, more bool) {
	b.Helper()
	found, left, err := g.Related(b.Context(), name(b, of), depth, limit)
	if err != nil {
		b.Fatalf("Related(%s): %v", of, err)
	}
	for _, r := range found {
		line := fmt.Sprint(r.Depth, " ", r.Version.Record.Name.ID)
		if r.Depth > 1 {
			line += " via " + r.Via.ID
		}
		for _, e := range r.Edges {
			line += fmt.Sprintf(" %s:%s>%s%v", e.Type, e.From.ID, e.To.ID, e.Shared)
		}
		list = append(list, line)
	}
	return list, left > 0
}

func TestRelated(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("knowledge/a", "A", tagged("go", "rare"), fromTask("task-1"))
	b.put("knowledge/b", "B", tagged("go"), linked("contradicts", "knowledge/a", "relates-to", "knowledge/gone"))
	b.put("knowledge/c", "C", tagged("go", "rare"))
	b.put("knowledge/d", "D", fromTask("task-1"))
	b.put("knowledge/e", "E", fromTask("task-2"))
	b.put("knowledge/f", "F", linked("derived-from", "knowledge/e"))
	b.put("knowledge/g", "G")
	b.put("handoff/task-1", handoffText("src/a.go", "src/b.go"), fromTask("task-1"))
	b.put("handoff/task-2", handoffText("src/b.go"), fromTask("task-2"))
	b.put("lib:knowledge/a", "other", fromTask("task-1"))
	g := b.graph()
	got, more := b.related(g, "knowledge/a", 2, 0)
	want := []string{
		"1 b contradicts:b>a[] tags:a>b[go]",
		"1 d task:a>d[task-1]",
		"1 c tags:a>c[rare go]",
		"1 e files:a>e[src/b.go]",
		"2 f via e derived-from:f>e[]",
	}
	if diff := cmp.Diff(want, got); diff != "" || more {
		t.Errorf("related to a, more %t (-want +got):\n%s", more, diff)
	}
	got, more = b.related(g, "knowledge/f", 3, 1)
	if diff := cmp.Diff([]string{"1 e derived-from:f>e[]"}, got); diff != "" || !more {
		t.Errorf("related to f, more %t (-want +got):\n%s", more, diff)
	}
	got, more = b.related(g, "knowledge/b", 9, 5)
	if len(got) != 5 || more {
		t.Errorf("related to b, all that there is: %q, more %t", got, more)
	}
	if got, more := b.related(g, "knowledge/g", 5, 0); len(got) > 0 || more {
		t.Errorf("related to g: %q, %t", got, more)
	}
	_, _, err := g.Related(t.Context(), name(t, "knowledge/gone"), 0, 0)
	if !errors.Is(err, query.ErrNoKnowledge) || !errors.Is(err, store.ErrNotFound) {
		t.Errorf("related to what is not there: %v", err)
	}
	if g := b.graph("lib"); !g.Has(name(t, "lib:knowledge/a")) || g.Has(name(t, "knowledge/a")) {
		t.Error("the graph of a tree has not only its entries")
	}
}

func TestSuperseded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("knowledge/old", "old", tagged("x"), attributes("confidence", "high"))
	b.put("knowledge/new", "new", tagged("x"), linked("supersedes", "knowledge/old"))
	b.put("knowledge/told", "told", tagged("x"), linked("superseded-by", "knowledge/new"))
	b.put("knowledge/left", "left", tagged("x"), linked("superseded-by", "knowledge/gone"))
	b.put("knowledge/p", "p", tagged("y"), linked("supersedes", "knowledge/q"))
	b.put("knowledge/q", "q", tagged("y"), linked("supersedes", "knowledge/p"))
	for _, c := range []struct {
		request query.KnowledgeRequest
		want    []string
	}{
		{query.KnowledgeRequest{Wanted: []string{"x"}}, []string{"left", "new"}},
		{query.KnowledgeRequest{Wanted: []string{"x"}, Old: true},
			[]string{"left", "new", "old by new", "told by new"}},
		{query.KnowledgeRequest{Wanted: []string{"y"}}, []string{"q", "p"}},
	} {
		b.wantPages(c.request)
		found, total, err := b.Knowledge(t.Context(), c.request)
		var got []string
		for _, k := range found {
			line := k.Version.Record.Name.ID
			if !k.By.IsZero() {
				line += " by " + k.By.ID
			}
			got = append(got, line)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil || total != len(c.want) {
			t.Errorf("Knowledge(%+v): %d, %v (-want +got):\n%s", c.request, total, err, diff)
		}
	}
	if by := b.graph().SupersededBy(name(t, "knowledge/old")); by.ID != "new" {
		t.Errorf("old is superseded by %v", by)
	}
	b.retire("knowledge/new") // as an older checkout does: what was said stays said
	if by := b.graph().SupersededBy(name(t, "knowledge/old")); by.ID != "new" {
		t.Errorf("old is superseded by %v", by)
	}
}

func TestGraphPart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 6 {
		b.put(fmt.Sprintf("knowledge/n%d", i), "text", tagged("all", fmt.Sprintf("t%d", i/2)), attributes("type", []string{"pattern", "gotcha"}[i%2]))
	}
	b.put("knowledge/z", "text", linked("relates-to", "knowledge/n0"), attributes("type", "pattern"))
	g := b.graph()
	for _, c := range []struct {
		request query.PartRequest
		want    string
	}{
		{query.PartRequest{Stated: true}, "n0 n1 n2 n3 n4 n5 z | relates-to:z>n0"},
		{query.PartRequest{Filter: record.Filter{Tags: []string{"t0"}}}, "n0 n1 | tags:n0>n1"},
		{query.PartRequest{Types: []string{"gotcha"}, Filter: record.Filter{Tags: []string{"all", "t1"}}}, "n3 | "},
		{query.PartRequest{From: name(t, "knowledge/z")}, "n0 z | relates-to:z>n0"},
		{query.PartRequest{From: name(t, "knowledge/z"), Depth: 2, Stated: true}, "n0 n1 n2 n3 n4 n5 z | relates-to:z>n0"},
		{query.PartRequest{Filter: record.Filter{Tags: []string{"none"}}}, "| "},
	} {
		part, err := g.Part(t.Context(), c.request)
		var nodes, edges []string
		for _, k := range part.Nodes {
			nodes = append(nodes, k.Version.Record.Name.ID)
		}
		for _, e := range part.Edges {
			edges = append(edges, e.Type+":"+e.From.ID+">"+e.To.ID)
		}
		got := strings.TrimLeft(strings.Join(nodes, " ")+" | "+strings.Join(edges, " "), " ")
		if err != nil || got != c.want {
			t.Errorf("Part(%+v) = %q, %v; want %q", c.request, got, err, c.want)
		}
	}
	_, err := g.Part(t.Context(), query.PartRequest{Limit: 3})
	if nodes, _ := record.Detail[int](err); nodes != 7 || !errors.Is(err, query.ErrTooMany) {
		t.Errorf("Part of three at most: %v", err)
	}
	if _, err := g.Part(t.Context(), query.PartRequest{From: name(t, "knowledge/gone")}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Part from what is not there: %v", err)
	}
}

// TestRelatedCommonTags holds that a tag which nearly all entries have leads
// nowhere, and that a rare one does.
func TestRelatedCommonTags(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var drafts []store.Draft
	for i := range 300 {
		drafts = append(drafts, b.draft(fmt.Sprintf("knowledge/n%d", i), fmt.Sprint("text ", i), tagged("all")))
	}
	drafts = append(drafts, b.draft("knowledge/x", "x", tagged("all", "rare")), b.draft("knowledge/y", "y", tagged("all", "rare")))
	if _, err := b.store.Put(t.Context(), drafts...); err != nil {
		t.Fatal(err)
	}
	got, more := b.related(b.graph(), "knowledge/x", 3, 0)
	if diff := cmp.Diff([]string{"1 y tags:x>y[rare]"}, got); diff != "" || more {
		t.Errorf("related to x, more %t (-want +got):\n%s", more, diff)
	}
}

// BenchmarkRelated walks a graph of 10,000 entries.
func BenchmarkRelated(b *testing.B) {
	bench := newBench(b)
	random := rand.New(rand.NewPCG(1, 1))
	for from := 0; from < 10_000; from += 500 {
		var drafts []store.Draft
		for i := from; i < from+500; i++ {
			drafts = append(drafts, bench.draft(fmt.Sprintf("knowledge/n%d", i), fmt.Sprint("text ", i),
				tagged("all", fmt.Sprint("t", random.IntN(300)), fmt.Sprint("u", random.IntN(3000))), fromTask(fmt.Sprint("task-", i/5))))
		}
		if _, err := bench.store.Put(b.Context(), drafts...); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		bench.related(bench.graph(), "knowledge/n77", 2, 0)
	}
}

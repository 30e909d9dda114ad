package query_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

func listed(entries []query.Summary) []string {
	names := []string{}
	for _, e := range entries {
		names = append(names, e.Version.Record.Name.String())
	}
	return names
}

func (b *bench) list(request query.ListRequest) query.Listing {
	b.Helper()
	listing, err := b.List(b.Context(), request)
	if err != nil {
		b.Fatalf("List(%+v): %v", request, err)
	}
	return listing
}

func TestList(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/a", "1", tagged("x"))
	b.put("result/c/1", "2", tagged("x", "y"), with(func(r *record.Record) { r.Conversation, r.Agent = "c", "web" }))
	b.put("handoff/t", "3", with(func(r *record.Record) { r.Task, r.Session, r.Run, r.Status = "t", "s", "r", "blocked" }))
	b.put("lib:note/a", "4")
	b.put("note/a", "5", tagged("x"))
	b.put("note/gone", "6", tagged("x"))
	b.retire("note/gone")
	for _, c := range []struct {
		request query.ListRequest
		want    []string
	}{
		{query.ListRequest{}, []string{"note/a", "lib:note/a", "handoff/t", "result/c/1"}},
		{query.ListRequest{Filter: record.Filter{Kinds: []record.Kind{"note"}}}, []string{"note/a", "lib:note/a"}},
		{query.ListRequest{Filter: record.Filter{Kinds: []record.Kind{"note", "handoff"}, Trees: []record.Tree{""}}},
			[]string{"note/a", "handoff/t"}},
		{query.ListRequest{Filter: record.Filter{Trees: []record.Tree{"lib"}}}, []string{"lib:note/a"}},
		{query.ListRequest{Filter: record.Filter{Tags: []string{"x"}}}, []string{"note/a", "result/c/1"}},
		{query.ListRequest{Filter: record.Filter{Tags: []string{"X", "y"}}}, []string{"result/c/1"}},
		{query.ListRequest{Filter: record.Filter{Tasks: record.Any("t")}}, []string{"handoff/t"}},
		{query.ListRequest{Filter: record.Filter{Sessions: record.Any("s"), Runs: record.Any("r"),
			Statuses: record.Any("blocked")}}, []string{"handoff/t"}},
		{query.ListRequest{Filter: record.Filter{Sessions: record.Any("s"), Runs: record.Any("other")}}, []string{}},
		{query.ListRequest{Filter: record.Filter{Conversations: record.Any("c")}}, []string{"result/c/1"}},
		{query.ListRequest{Filter: record.Filter{Agents: record.Any("web")}}, []string{"result/c/1"}},
		{query.ListRequest{Filter: record.Filter{Statuses: record.Any("blocked")}}, []string{"handoff/t"}},
		{query.ListRequest{At: 2}, []string{"result/c/1", "note/a"}},
		{query.ListRequest{At: 6, Filter: record.Filter{Tags: []string{"x"}}},
			[]string{"note/gone", "note/a", "result/c/1"}},
	} {
		if diff := cmp.Diff(c.want, listed(b.list(c.request).Entries)); diff != "" {
			t.Errorf("List(%+v) (-want +got):\n%s", c.request, diff)
		}
	}
}

func TestListPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var want []string
	for i := range 9 {
		b.put(fmt.Sprintf("note/%d", i), "text", tagged("x"))
		want = append([]string{fmt.Sprintf("note/%d", i)}, want...)
	}
	of := record.Filter{Tags: []string{"x"}, Kinds: []record.Kind{record.KindNote}}
	for _, request := range []query.ListRequest{
		{}, {Filter: record.Filter{Tags: []string{"x"}}}, {At: 9},
		{ByDate: true}, {ByDate: true, Filter: record.Filter{Tags: []string{"x"}}}, {ByDate: true, Filter: of},
	} {
		var got []string
		for request.Offset = 0; ; request.Offset += 4 {
			request.Limit = 4
			listing := b.list(request)
			got = append(got, listed(listing.Entries)...)
			if left := max(9-request.Offset-4, 0); request.ByDate && listing.More != left {
				t.Errorf("behind offset %d of %+v: %d more, want %d", request.Offset, request, listing.More, left)
			}
			if listing.More == 0 {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("pages of %+v = %v; want %v", request, got, want)
		}
	}
}

// What was stored last need not have been written last: each of many is on the page of its date, once, whatever names
// of agents are asked for.
func TestListByDate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	random := rand.New(rand.NewPCG(7, 7))
	byDate := map[time.Time]string{}
	var drafts []store.Draft
	for i := range 2500 {
		id, agent, written := fmt.Sprintf("note/%d", i), []string{"web-one", "web_one"}[i%2], time.Date(2020, 1, 1, 0, 0, random.IntN(1e8), 0, time.UTC)
		drafts = append(drafts, b.draft(id, id, with(func(r *record.Record) { r.Agent, r.Written = agent, written })))
		byDate[written] = id
	}
	if _, err := b.store.Put(t.Context(), drafts...); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, written := range slices.SortedFunc(maps.Keys(byDate), func(a, b time.Time) int { return b.Compare(a) }) {
		want = append(want, byDate[written])
	}
	for _, agents := range [][]string{nil, {"web-one"}, {"web_one", "web-one", "web_one"}} {
		for _, offset := range []int{0, 700, 2400} {
			page := b.list(query.ListRequest{Filter: record.Filter{Agents: agents}, ByDate: true, Limit: 150, Offset: offset})
			if diff := cmp.Diff(want[offset:min(offset+150, len(want))], listed(page.Entries)); diff != "" {
				t.Errorf("List(%v) from %d (-want +got):\n%s", agents, offset, diff)
			}
			if left := max(len(want)-offset-150, 0); page.More != left {
				t.Errorf("List(%v) from %d: %d more; want %d", agents, offset, page.More, left)
			}
		}
	}
}

func TestKnowledge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	entry := func(id, kind, confidence string, tags ...string) {
		b.put(id, "### "+id, tagged(tags...), attributes("type", kind, "confidence", confidence))
	}
	entry("knowledge/p1", "pattern", "low", "auth", "jwt")
	entry("knowledge/p2", "pattern", "high", "auth")
	entry("knowledge/p3", "pattern", "", "auth")
	entry("knowledge/g1", "gotcha", "medium", "auth")
	entry("knowledge/g2", "gotcha", "medium", "auth")
	entry("knowledge/g3", "gotcha", "high", "auth-jwt")
	entry("lib:knowledge/p1", "pattern", "high", "jwt", "auth")
	entry("knowledge/other", "insight", "high", "css")
	b.put("note/tagged", "no knowledge", tagged("auth", "jwt"))
	at := time.Date(2026, 2, 1, 0, 0, 0, 5, time.UTC)
	for _, id := range []string{"e", "a", "d", "b", "c"} {
		b.put("knowledge/same-"+id, "of one file "+id, tagged("same", "same-"+id), with(func(r *record.Record) { r.Written = at }))
	}
	for _, q := range []query.KnowledgeRequest{
		{}, {Wanted: []string{"same"}}, {Wanted: []string{"same", "jwt", "auth"}}, {Wanted: []string{"same-"}, Prefix: true},
		{Wanted: []string{"jwt"}, Filter: record.Filter{Tags: []string{"jwt"}}}, {MinConfidence: "low"},
	} {
		b.wantPages(q)
	}
	for _, c := range []struct {
		name    string
		request query.KnowledgeRequest
		want    []string
	}{
		{"shared, confidence, newest", query.KnowledgeRequest{Wanted: []string{"jwt", "auth"}},
			[]string{"lib:knowledge/p1", "knowledge/p1", "knowledge/p2", "knowledge/g2", "knowledge/g1", "knowledge/p3"}},
		{"all tags", query.KnowledgeRequest{Wanted: []string{"jwt", "auth"}, AllTags: true},
			[]string{"lib:knowledge/p1", "knowledge/p1"}},
		{"tags of the filter", query.KnowledgeRequest{Wanted: []string{"jwt", "auth", "css"}, Filter: record.Filter{Tags: []string{"JWT", "auth"}}},
			[]string{"lib:knowledge/p1", "knowledge/p1"}},
		{"two beginnings of one tag", query.KnowledgeRequest{Wanted: []string{"jw", "jwt"}, Prefix: true, AllTags: true},
			[]string{"lib:knowledge/p1", "knowledge/p1"}},
		{"types", query.KnowledgeRequest{Wanted: []string{"auth"}, Types: []string{"gotcha"}},
			[]string{"knowledge/g2", "knowledge/g1"}},
		{"confidence", query.KnowledgeRequest{Wanted: []string{"auth"}, MinConfidence: "medium"},
			[]string{"lib:knowledge/p1", "knowledge/p2", "knowledge/g2", "knowledge/g1"}},
		{"prefix", query.KnowledgeRequest{Wanted: []string{"auth"}, Prefix: true, Types: []string{"gotcha"}},
			[]string{"knowledge/g3", "knowledge/g2", "knowledge/g1"}},
		{"own tree", query.KnowledgeRequest{Wanted: []string{"jwt"}, Filter: record.Filter{Trees: []record.Tree{""}}},
			[]string{"knowledge/p1"}},
		{"no tags", query.KnowledgeRequest{Types: []string{"insight"}}, []string{"knowledge/other"}},
		{"page", query.KnowledgeRequest{Wanted: []string{"auth"}, Offset: 1, Limit: 2},
			[]string{"knowledge/p2", "knowledge/g2"}},
		{"behind the end", query.KnowledgeRequest{Wanted: []string{"auth"}, Offset: 99}, []string{}},
		{"unknown", query.KnowledgeRequest{Wanted: []string{"nothing"}}, []string{}},
	} {
		found, _, err := b.Knowledge(t.Context(), c.request)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, k := range found {
			got = append(got, k.Version.Record.Name.String())
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
		b.wantPages(c.request)
	}
}

// wantPages compares the pages of a request with the whole, which reads all entries.
func (b *bench) wantPages(request query.KnowledgeRequest) {
	b.Helper()
	request.Offset, request.Limit = 0, 0
	all, total, err := b.Knowledge(b.Context(), request)
	if err != nil || total != len(all) {
		b.Fatalf("Knowledge(%+v): %d of %d, %v", request, len(all), total, err)
	}
	for request.Limit = 1; request.Limit <= 4; request.Limit++ {
		request.First = !request.First && request.Limit%2 == 0
		for request.Offset = 0; request.Offset <= len(all); request.Offset += request.Limit {
			page, total, err := b.Knowledge(b.Context(), request)
			want := all[request.Offset:min(request.Offset+request.Limit, len(all))]
			name := func(k query.Knowledge) string { return k.Version.Record.Name.String() + k.Stand.String() }
			if diff := cmp.Diff(markdown.Each(want, name), markdown.Each(page, name)); diff != "" || err != nil || total != len(all) && !request.First {
				b.Errorf("Knowledge(%+v): %d, %v; want %d (-want +got):\n%s", request, total, err, len(all), diff)
			}
		}
	}
}

func TestTagCounts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("knowledge/a", "1", tagged("auth", "api"))
	b.put("note/b", "2", tagged("auth", "web"))
	for _, c := range []struct {
		prefix string
		kinds  []record.Kind
		want   []query.TagCount
	}{
		{"", nil, []query.TagCount{{Tag: "api", Count: 1}, {Tag: "auth", Count: 2}, {Tag: "web", Count: 1}}},
		{"A", nil, []query.TagCount{{Tag: "api", Count: 1}, {Tag: "auth", Count: 2}}},
		{"", []record.Kind{"note"}, []query.TagCount{{Tag: "auth", Count: 1}, {Tag: "web", Count: 1}}},
		{"x", nil, nil},
	} {
		got, err := b.TagCounts(t.Context(), c.prefix, c.kinds...)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("TagCounts(%q, %v) (-want +got):\n%s", c.prefix, c.kinds, diff)
		}
	}
}

func TestShow(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.put("note/a", "one")
	b.put("note/a", "side", func(d *store.Draft) {
		d.Record.Links = []record.Link{{Type: record.LinkConflict, Target: first.Ref.String()}}
	})
	b.put("note/a", "# Top\n\ntext\n\n## Sub\n\nmore\n", with(func(r *record.Record) { r.Agent = "scout" }))
	v, err := b.Resolve(t.Context(), "note/a", query.ResolveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.drop(first.Ref)
	d, err := b.Show(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	var changes []string
	for _, e := range d.Versions {
		changes = append(changes, fmt.Sprint(e.Position, " ", e.Change, " ", e.Agent, e.Tokens))
	}
	if diff := cmp.Diff([]string{"1 drop 0", "2 conflict 1", "3 put scout7"}, changes); diff != "" {
		t.Errorf("versions (-want +got):\n%s", diff)
	}
	want := []query.Heading{{Title: "Top", Level: 1, Lines: query.Span{From: 1, To: 7}, Tokens: 7}, {Title: "Sub", Level: 2, Lines: query.Span{From: 5, To: 7}, Tokens: 4}}
	if diff := cmp.Diff(want, d.Outline); diff != "" {
		t.Errorf("outline (-want +got):\n%s", diff)
	}
	if !d.Current || d.Description.Title != "Top" {
		t.Errorf("current %v, title %q; want the head, Top", d.Current, d.Description.Title)
	}
}

func TestShowFrame(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.putFile("q.md", "# Queue\n\n", "slot issue/A", "### A\n\ntext\n", "slot issue/B", "### B\n")
	v, err := b.Resolve(t.Context(), "q.md", query.ResolveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := b.Show(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	got := []string{}
	for _, e := range d.Entries {
		got = append(got, fmt.Sprintf("%s at %d", e.Version.Record.Name, e.Line))
	}
	if diff := cmp.Diff([]string{"issue/A at 3", "issue/B at 6"}, got); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func TestListPeriod(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/first", "1")
	b.clock.advance(24 * time.Hour)
	second := b.put("note/second", "2")
	b.clock.advance(24 * time.Hour)
	b.put("note/third", "3")
	at := second.Record.Time
	for _, c := range []struct {
		name         string
		since, until time.Time
		want         []string
	}{
		{"since", at, time.Time{}, []string{"note/third", "note/second"}},
		{"until is not included", time.Time{}, at, []string{"note/first"}},
		{"both", at, at.Add(time.Nanosecond), []string{"note/second"}},
		{"nothing between", at.Add(1), at.Add(2), []string{}},
	} {
		for _, kinds := range [][]record.Kind{nil, {record.KindNote}} {
			got := listed(b.list(query.ListRequest{Filter: record.Filter{Kinds: kinds, Since: c.since,
				Until: c.until}}).Entries)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("%s, kinds %v (-want +got):\n%s", c.name, kinds, diff)
			}
		}
	}
}

func TestOutline(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"text", "# A\n\n## B\n", 2},
		{"no heading", "words\n", 0},
		{"empty", "", 0},
		{"binary", "# A\n\x00\n# B\n", 0},
		{"large", "# A\n" + strings.Repeat("some words in a line\n", 100_000) + "# B\n", 2},
	} {
		d, err := b.Show(t.Context(), b.put("note/x", c.text))
		if err != nil || len(d.Outline) != c.want {
			t.Errorf("%s: %d headings, %v; want %d", c.name, len(d.Outline), err, c.want)
		}
	}
}

// TestShowOfGone shows a version that is current no more, by its ref.
func TestShowOfGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	old := b.put("note/a", "one")
	b.put("note/a", "two")
	gone := b.put("note/b", "three")
	b.retire("note/b")
	for _, v := range []store.Version{old, gone} {
		found, err := b.Resolve(t.Context(), v.Ref.String(), query.ResolveOptions{})
		if err != nil {
			t.Fatal(err)
		}
		d, err := b.Show(t.Context(), found)
		if err != nil || d.Current || len(d.Versions) != 2 {
			t.Errorf("Show(%s): current %v, %d versions, %v; want not current, two", v.Record.Name, d.Current, len(d.Versions), err)
		}
	}
}

package query_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/index"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
	"filebus/store/turnstile"
)

const report = `# Report on tokens

The service signs tokens.

## Rotation

Keys are rotated every night by the scheduler.

## Storage

Session cookies live in the browser.
A second line about cookies.
`

func TestSearchFindsTheSection(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/a.md", report, at("a.md"), with(func(r *record.Record) { r.Agent = "scout" }))
	b.put("note/b.md", "# Other\n\nNothing to see.\n", at("b.md"))
	answer := b.search(query.SearchRequest{Request: index.Request{Query: "rotating keys"}})
	if len(answer.Hits) != 1 {
		t.Fatalf("hits = %v; want one", found(answer))
	}
	h := answer.Hits[0]
	if got, want := h.Name.String(), "note/a.md"; got != want {
		t.Errorf("name = %s; want %s", got, want)
	}
	if h.Section != "Rotation" || h.Lines != (query.Span{From: 5, To: 8}) || h.FileLines != h.Lines {
		t.Errorf("section %q lines %v file %v; want Rotation 5-8 in both", h.Section, h.Lines, h.FileLines)
	}
	if h.Title != "Report on tokens" || h.Agent != "scout" || h.Tokens != record.EstimateTokens(int64(len(report))) || h.Path != "a.md" {
		t.Errorf("title %q agent %q tokens %d path %q", h.Title, h.Agent, h.Tokens, h.Path)
	}
	want := []string{"Keys", "rotated"}
	if got := marked(h.Snippet); !slices.Equal(got, want) {
		t.Errorf("marked words of %q = %q; want %q", h.Snippet.Text, got, want)
	}
}

func marked(s query.Snippet) []string {
	var words []string
	for _, m := range s.Marks {
		words = append(words, s.Text[m.Start:m.End])
	}
	return words
}

// TestSearchHistories changes names in every way, searching at every step or
// only at the end, and wants what a new index would answer.
func TestSearchHistories(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	var first record.Ref
	steps := []struct {
		name string
		do   func(b *bench)
		want []string // names that have "falcon"
	}{
		{"put", func(b *bench) { first = b.put("note/a", "falcon one").Ref }, []string{"note/a"}},
		{"another", func(b *bench) { b.put("note/b", "falcon two and more words") }, []string{"note/a", "note/b"}},
		{"update", func(b *bench) { b.put("note/a", "sparrow") }, []string{"note/b"}},
		{"update back", func(b *bench) { b.put("note/a", "falcon three") }, []string{"note/a", "note/b"}},
		{"conflict", func(b *bench) {
			b.put("note/b", "falcon falcon falcon", func(d *store.Draft) {
				d.Record.Links = []record.Link{{Type: record.LinkConflict, Target: first.String()}}
			})
		}, []string{"note/a", "note/b"}},
		{"retire", func(b *bench) { b.retire("note/b") }, []string{"note/a"}},
		{"put again", func(b *bench) { b.put("note/b", "falcon four") }, []string{"note/a", "note/b"}},
		{"drop an old version", func(b *bench) { b.drop(first) }, []string{"note/a", "note/b"}},
		{"drop a head", func(b *bench) { b.drop(b.put("note/c", "falcon five").Ref) }, []string{"note/a", "note/b"}},
		{"drop an indexed head", func(b *bench) {
			v := b.put("note/d", "falcon six")
			b.search(query.SearchRequest{Request: index.Request{Query: "falcon"}})
			b.drop(v.Ref)
		}, []string{"note/a", "note/b"}},
		{"retire, then drop", func(b *bench) {
			v := b.put("note/e", "falcon seven")
			b.search(query.SearchRequest{Request: index.Request{Query: "falcon"}})
			b.retire("note/e")
			b.drop(v.Ref)
		}, []string{"note/a", "note/b"}},
		{"put under a dropped name", func(b *bench) { b.put("note/e", "falcon eight") }, []string{"note/a", "note/b", "note/e"}},
	}
	for _, every := range []bool{true, false} {
		t.Run(fmt.Sprintf("every=%v", every), func(t *testing.T) {
			b := newBench(t)
			for i, step := range steps {
				step.do(b)
				if !every && i < len(steps)-1 {
					continue
				}
				answer := b.search(query.SearchRequest{Request: index.Request{Query: "falcon"}})
				got := found(answer)
				slices.Sort(got)
				if diff := cmp.Diff(step.want, got); diff != "" {
					t.Errorf("after %q (-want +got):\n%s", step.name, diff)
				}
				if int(answer.Total) != len(step.want) {
					t.Errorf("after %q: total %d; want %d", step.name, answer.Total, len(step.want))
				}
				before := ranked(answer)
				b.deleteIndexFolder()
				if diff := cmp.Diff(ranked(b.search(query.SearchRequest{Request: index.Request{Query: "falcon"}})), before); diff != "" {
					t.Errorf("after %q: new index against old (-new +old):\n%s", step.name, diff)
				}
			}
		})
	}
}

func TestSearchFilters(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/plain", "owl", tagged("x", "y"))
	b.put("result/c1/call", "owl owl", tagged("x"), with(func(r *record.Record) { r.Agent, r.Conversation = "web", "c1" }))
	b.put("handoff/task-1", "owl", with(func(r *record.Record) { r.Task, r.Session, r.Status, r.Run = "task-1", "s1", "completed", "r1" }))
	b.put("lib:note/plain", "owl")
	b.put("state/s", "owl")
	b.put("turn/d/round-0/muffin.prompt", "owl", attributes("part", "prompt"))
	b.clock.advance(48 * time.Hour)
	b.put("note/late", "owl")
	day := time.Date(2026, 3, 3, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		request query.SearchRequest
		want    []string
	}{
		{"all", query.SearchRequest{}, []string{"handoff/task-1", "lib:note/plain", "note/late", "note/plain", "result/c1/call"}},
		{"kind", query.SearchRequest{Request: index.Request{Filter: record.Filter{Kinds: []record.Kind{"note", "state"}}}},
			[]string{"lib:note/plain", "note/late", "note/plain", "state/s"}},
		{"prompts", query.SearchRequest{Request: index.Request{Filter: record.Filter{Kinds: []record.Kind{"turn"}}}},
			[]string{"turn/d/round-0/muffin.prompt"}},
		{"tags", query.SearchRequest{Request: index.Request{Filter: record.Filter{Tags: []string{"Y ", "x"}}}}, []string{"note/plain"}},
		{"own tree", query.SearchRequest{Request: index.Request{Filter: record.Filter{Trees: []record.Tree{""}, Kinds: []record.Kind{"note"}}}},
			[]string{"note/late", "note/plain"}},
		{"tree", query.SearchRequest{Request: index.Request{Filter: record.Filter{Trees: []record.Tree{"lib"}}}}, []string{"lib:note/plain"}},
		{"agent", query.SearchRequest{Request: index.Request{Filter: record.Filter{Agents: []string{"web", "other"}}}},
			[]string{"result/c1/call"}},
		{"conversation", query.SearchRequest{Request: index.Request{Filter: record.Filter{Conversations: []string{"c1"}}}},
			[]string{"result/c1/call"}},
		{"session", query.SearchRequest{Request: index.Request{Filter: record.Filter{Sessions: []string{"s1"}}}}, []string{"handoff/task-1"}},
		{"not session", query.SearchRequest{Request: index.Request{Filter: record.Filter{NotSessions: []string{"s1"}, Trees: []record.Tree{""}}}}, []string{"note/late", "note/plain", "result/c1/call"}},
		{"task", query.SearchRequest{Request: index.Request{Filter: record.Filter{Tasks: []string{"task-1"}}}}, []string{"handoff/task-1"}},
		{"status and run", query.SearchRequest{Request: index.Request{Filter: record.Filter{Statuses: []string{"completed"},
			Runs: []string{"r1"}}}}, []string{"handoff/task-1"}},
		{"since", query.SearchRequest{Request: index.Request{Filter: record.Filter{Since: day}}}, []string{"note/late"}},
		{"until", query.SearchRequest{Request: index.Request{Filter: record.Filter{Until: day, Kinds: []record.Kind{"note"},
			Trees: []record.Tree{""}}}}, []string{"note/plain"}},
		{"none", query.SearchRequest{Request: index.Request{Filter: record.Filter{Agents: []string{"nobody"}}}}, []string{}},
	} {
		for _, text := range []string{"owl", ""} {
			// Ranked, and scanned by a reader that has no time for the index.
			for _, wait := range []time.Duration{0, 1} {
				request := c.request
				request.Query = text
				if wait == 1 {
					b.deleteIndexFolder()
				}
				answer, err := b.reader(query.Options{MaxWait: wait}).Search(t.Context(), request)
				if err != nil {
					t.Fatal(err)
				}
				got := found(answer)
				slices.Sort(got)
				if diff := cmp.Diff(c.want, got); diff != "" {
					t.Errorf("%s, query %q, wait %d (-want +got):\n%s", c.name, text, wait, diff)
				}
				if scanned := answer.Unindexed > 0; scanned != (wait == 1) {
					t.Errorf("%s, wait %d: unindexed = %d", c.name, wait, answer.Unindexed)
				}
			}
		}
	}
}

func TestSearchPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 25 {
		b.put(fmt.Sprintf("note/%02d", i), fmt.Sprintf("heron number %d", i))
	}
	for _, wait := range []time.Duration{0, 1} {
		b.deleteIndexFolder()
		var all []string
		for offset := 0; offset < 30; offset += 7 {
			answer, err := b.reader(query.Options{MaxWait: wait}).Search(t.Context(), query.SearchRequest{Request: index.Request{Query: "heron", Limit: 7, Offset: offset}})
			if err != nil {
				t.Fatal(err)
			}
			if answer.Total != 25 {
				t.Errorf("wait %d, offset %d: total %d; want 25", wait, offset, answer.Total)
			}
			all = append(all, found(answer)...)
		}
		slices.Sort(all)
		if len(slices.Compact(all)) != 25 || len(all) != 25 {
			t.Errorf("wait %d: pages hold %d hits; want each of 25 once", wait, len(all))
		}
	}
}

func TestSearchUnindexed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/old", "kestrel kestrel")
	b.search(query.SearchRequest{})
	b.put("note/new", "# Title\n\nthe kestrel came")
	b.put("note/other", "nothing")
	hurried := b.reader(query.Options{MaxWait: 1})
	answer, err := hurried.Search(t.Context(), query.SearchRequest{Request: index.Request{Query: "kestrels"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := found(answer), []string{"note/old", "note/new"}; !slices.Equal(got, want) {
		t.Fatalf("found %v; want %v, the scanned one last", got, want)
	}
	if answer.Unindexed != 2 || answer.Total != 2 || answer.Hits[0].Scanned || !answer.Hits[1].Scanned || answer.ScanIncomplete {
		t.Errorf("answer = %+v; want 2 unindexed, the second hit scanned", answer)
	}
	if got := marked(answer.Hits[1].Snippet); !slices.Equal(got, []string{"kestrel"}) || answer.Hits[1].Lines.From != 1 {
		t.Errorf("scanned hit marks %q at %v", got, answer.Hits[1].Lines)
	}
	if answer = b.search(query.SearchRequest{Request: index.Request{Query: "kestrels"}}); answer.Unindexed != 0 || answer.Hits[1].Scanned {
		t.Errorf("with time to wait: %+v", answer)
	}
}

func TestSearchHistory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	old := b.put("note/a", "the pelican was here")
	b.put("note/a", "the stork is here")
	b.put("note/gone", "a pelican too")
	b.retire("note/gone")
	b.put("note/now", "pelican")
	request := query.SearchRequest{Request: index.Request{Query: "pelican"}}
	if got, want := found(b.search(request)), []string{"note/now"}; !slices.Equal(got, want) {
		t.Errorf("found %v; want %v", got, want)
	}
	request.History = true
	answer := b.search(request)
	if got, want := found(answer), []string{"note/now", "note/gone", "note/a"}; !slices.Equal(got, want) {
		t.Fatalf("with history: found %v; want %v", got, want)
	}
	if h := answer.Hits[2]; h.Ref != record.ShortRef(old.Ref) || !h.Older || h.FileLines != (query.Span{}) ||
		answer.Hits[0].Older {
		t.Errorf("with history: %+v; want the old version, marked", h)
	}
}

func TestSearchEntries(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.putFile(".claude/issue_queue.md",
		"# Issue Queue\n\n", "slot issue/ISSUE-1", "### ISSUE-1\n\nThe lapwing.\n\n",
		"slot issue/ISSUE-2", "### ISSUE-2\n\nThe plover.\n", "\n---\n")
	answer := b.search(query.SearchRequest{Request: index.Request{Query: "plover"}})
	if len(answer.Hits) != 1 {
		t.Fatalf("found %v", found(answer))
	}
	if h := answer.Hits[0]; h.Lines != (query.Span{From: 1, To: 3}) || h.FileLines != (query.Span{From: 7, To: 9}) {
		t.Errorf("lines %v, in the file %v; want 1-3 and 7-9", h.Lines, h.FileLines)
	}
}

func TestSearchBodies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	filler := strings.Repeat("Some filler line of no interest.\n", 40000) // 1.3 MB
	b.put("note/large", "# Big\n\nThe avocet at the start.\n"+filler+"The bittern at the end.\n")
	b.put("note/binary", "avocet\x00\x01\x02"+strings.Repeat("\x00\xff", 3000))
	b.put("note/invalid", "avocet \xff\xfe and more text here, mostly plain\n")
	b.put("note/empty", "")
	if got, want := found(b.search(query.SearchRequest{Request: index.Request{Query: "bittern"}})), []string{}; !slices.Equal(got, want) {
		t.Errorf("behind the first MiB: found %v", got)
	}
	answer := b.search(query.SearchRequest{Request: index.Request{Query: "avocet"}})
	got := found(answer)
	slices.Sort(got)
	if want := []string{"note/invalid", "note/large"}; !slices.Equal(got, want) {
		t.Errorf("found %v; want %v", got, want)
	}
	for _, h := range answer.Hits {
		if len(h.Snippet.Text) > 200 || h.Lines.To-h.Lines.From >= 40 {
			t.Errorf("%s: lines %v, snippet of %d bytes", h.Name, h.Lines, len(h.Snippet.Text))
		}
	}
	if got := found(b.search(query.SearchRequest{Request: index.Request{Query: "", Limit: 20}})); len(got) != 4 {
		t.Errorf("without a query: found %v; want all four", got)
	}
}

func TestSearchDamagedIndex(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 30 {
		b.put(fmt.Sprintf("note/%d", i), strings.Repeat(fmt.Sprintf("curlew number %d. ", i), 20))
	}
	request := query.SearchRequest{Request: index.Request{Query: "curlew", Limit: 50}}
	want := ranked(b.search(request))
	for _, damage := range []struct {
		pattern string
		do      func(path string) error
	}{
		{"CURRENT", os.Remove},
		{"CURRENT", func(path string) error { return os.WriteFile(path, []byte("g000099\n"), 0o666) }},
		{"g*/manifest.json", func(path string) error { return os.WriteFile(path, []byte("{"), 0o666) }},
		{"g*/*/root.bolt", func(path string) error { return os.Truncate(path, 100) }},
		{"g*/*/*.zap", func(path string) error { return os.Truncate(path, 10) }},
	} {
		paths, err := filepath.Glob(filepath.Join(b.store.Dir(), "index", damage.pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("no file %s: %v", damage.pattern, err)
		}
		if err := damage.do(paths[0]); err != nil {
			t.Fatal(err)
		}
		answer, err := b.Search(t.Context(), request)
		if err != nil {
			t.Errorf("after damage to %s: %v", damage.pattern, err)
			continue
		}
		if diff := cmp.Diff(want, ranked(answer)); diff != "" {
			t.Errorf("after damage to %s (-want +got):\n%s", damage.pattern, diff)
		}
	}
}

// TestSearchAhead puts an older store back under a newer index.
func TestSearchAhead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/a", "godwit")
	database := filepath.Join(b.store.Dir(), "store.db")
	old, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	b.put("note/b", "godwit")
	b.search(query.SearchRequest{Request: index.Request{Query: "godwit"}})
	if err := os.WriteFile(database, old, 0o666); err != nil {
		t.Fatal(err)
	}
	// That the store has gone back is said; here it is meant.
	if err := os.Remove(filepath.Join(b.store.Dir(), "signoff")); err != nil {
		t.Fatal(err)
	}
	answer := b.search(query.SearchRequest{Request: index.Request{Query: "godwit"}})
	if got, want := found(answer), []string{"note/a"}; !slices.Equal(got, want) || answer.Total != 1 {
		t.Errorf("found %v of %d; want %v", got, answer.Total, want)
	}
}

func TestSearchBusy(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/a", "snipe")
	b.search(query.SearchRequest{})
	hold, err := turnstile.New(folder.At(filepath.Join(b.store.Dir(), "index")), "a long rebuild").Acquire(t.Context(), turnstile.Exclusive, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	_, err = b.reader(query.Options{Wait: 20 * time.Millisecond}).Search(t.Context(), query.SearchRequest{Request: index.Request{Query: "snipe"}})
	if !errors.Is(err, turnstile.ErrBusy) || !strings.Contains(err.Error(), "a long rebuild") {
		t.Errorf("Search of a busy index: %v; want busy with its holder", err)
	}
	if err := hold.Release(); err != nil {
		t.Fatal(err)
	}
	if got := found(b.search(query.SearchRequest{Request: index.Request{Query: "snipe"}})); len(got) != 1 {
		t.Errorf("after the release: found %v", got)
	}
}

func TestReindex(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 5 {
		b.put(fmt.Sprintf("note/%d", i), fmt.Sprintf("dunlin %d", i))
	}
	var last, total uint64
	r := b.reader(query.Options{Progress: func(done, of uint64) { last, total = done, of }})
	if err := r.Reindex(t.Context()); err != nil {
		t.Fatal(err)
	}
	if last != 5 || total != 5 {
		t.Errorf("progress ended at %d of %d; want 5 of 5", last, total)
	}
	answer, err := b.reader(query.Options{MaxWait: 1}).Search(t.Context(), query.SearchRequest{Request: index.Request{Query: "dunlin"}})
	if err != nil || answer.Unindexed != 0 || answer.Total != 5 {
		t.Errorf("after Reindex: %d hits, %d unindexed, %v", answer.Total, answer.Unindexed, err)
	}
}

func TestVerifyIndex(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/a", strings.Repeat("a ruff among the reeds. ", 50))
	if err := b.VerifyIndex(t.Context()); err != nil {
		t.Errorf("without an index: %v", err)
	}
	b.search(query.SearchRequest{})
	if err := b.VerifyIndex(t.Context()); err != nil {
		t.Errorf("sound index: %v", err)
	}
	paths, err := filepath.Glob(filepath.Join(b.store.Dir(), "index", "g*", "*", "*.zap"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no segment: %v", err)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/3] ^= 1
	if err := os.WriteFile(paths[0], data, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := b.VerifyIndex(t.Context()); !errors.Is(err, index.ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(paths[0])) {
		t.Errorf("flipped bit: %v; want damaged, with the file", err)
	}
	b.forgetIndex()
}

// TestSearchDamagedSegment overwrites the inside of a segment, which opening it
// does not notice.
func TestSearchDamagedSegment(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.putMany("", 200, birds)
	request := query.SearchRequest{Request: index.Request{Query: "heron ibis curlew", Limit: 50}}
	want := ranked(b.search(request))
	paths, err := filepath.Glob(filepath.Join(b.store.Dir(), "index", "g*", "*", "*.zap"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no segment: %v", err)
	}
	data, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(data) * 9 / 10 {
		data[i] = 0xff
	}
	if err := os.WriteFile(paths[0], data, 0o666); err != nil {
		t.Fatal(err)
	}
	answer, err := b.Search(t.Context(), request)
	if err != nil {
		t.Fatalf("Search of a damaged index: %v; want a new index", err)
	}
	if diff := cmp.Diff(want, ranked(answer)); diff != "" {
		t.Errorf("after the damage (-want +got):\n%s", diff)
	}
}

// A page may begin and end anywhere, in what is ranked and in what is scanned.
func TestSearchFarPage(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/a", "heron")
	b.put("note/b", "heron")
	hurried := b.hurried()
	for _, test := range []struct {
		request query.SearchRequest
		want    int
	}{
		{query.SearchRequest{Request: index.Request{Query: "heron", Offset: math.MaxInt}}, 0},
		{query.SearchRequest{Request: index.Request{Query: "heron", Offset: math.MaxInt}, History: true}, 0},
		{query.SearchRequest{Request: index.Request{Query: "heron", Offset: math.MaxInt, Limit: math.MaxInt}}, 0},
		{query.SearchRequest{Request: index.Request{Query: "heron", Offset: 1, Limit: math.MaxInt}}, 1},
		{query.SearchRequest{Request: index.Request{Query: "heron", Offset: math.MinInt, Limit: math.MinInt}, History: true}, 2},
	} {
		for _, r := range []*query.Reader{hurried, b.Reader} {
			test.request.Duplicates = true
			answer, err := r.Search(t.Context(), test.request)
			if err != nil || len(answer.Hits) != test.want || answer.Total != 2 {
				t.Errorf("Search(%+v): %d hits of %d, %v; want %d of 2", test.request, len(answer.Hits), answer.Total, err, test.want)
			}
		}
	}
}

package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/index"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A specimen is a record that an oracle knows by heart.
type specimen struct {
	name, text, agent string
	tags              []string
}

// An oracle answers requests by reading all specimens. Its texts are words of
// the vocabulary, so that it needs no analyser.
type oracle struct {
	random    *rand.Rand
	specimens []specimen
}

func (o *oracle) word() string { return vocabulary[o.random.IntN(len(vocabulary))] }

// specimen makes one up, now and then of the text of another.
func (o *oracle) specimen(n int) specimen {
	s := specimen{name: fmt.Sprintf("note/n%03d.md", n), agent: []string{"ada", "bob", "cid"}[o.random.IntN(3)]}
	for range o.random.IntN(3) {
		s.tags = append(s.tags, []string{"red", "green", "blue"}[o.random.IntN(3)])
	}
	slices.Sort(s.tags)
	s.tags = slices.Compact(s.tags)
	var text strings.Builder
	for range 1 + o.random.IntN(60) {
		if o.random.IntN(12) == 0 {
			text.WriteString("\n\n## " + o.word() + "\n\n")
		}
		text.WriteString(o.word() + []string{" ", " ", ", ", "\n"}[o.random.IntN(4)])
	}
	s.text = text.String()
	if n > 0 && o.random.IntN(4) == 0 {
		s.text = o.specimens[o.random.IntN(n)].text
	}
	return s
}

// fill puts specimens into benches by turns.
func (o *oracle) fill(count int, benches ...*bench) {
	for n := range count {
		s := o.specimen(n)
		o.specimens = append(o.specimens, s)
		benches[n%len(benches)].put(s.name, s.text, at(strings.TrimPrefix(s.name, "note/")), tagged(s.tags...),
			with(func(r *record.Record) { r.Agent = s.agent }), func(d *store.Draft) { d.Description.Title = "" })
	}
}

// ask makes up a request.
func (o *oracle) ask() query.SearchRequest {
	var q query.SearchRequest
	var words []string
	for range 1 + o.random.IntN(3) {
		words = append(words, o.word())
	}
	q.Query = strings.Join(words, " ")
	if o.random.IntN(3) == 0 {
		q.Phrases = append(q.Phrases, o.word()+" "+o.word())
		q.Query += " " + q.Phrases[0]
	}
	if o.random.IntN(4) == 0 {
		q.Without = append(q.Without, o.word())
	}
	if o.random.IntN(5) == 0 {
		q.WithoutPhrases = append(q.WithoutPhrases, o.word()+" "+o.word())
	}
	if o.random.IntN(4) == 0 {
		q.Tags = []string{[]string{"red", "green", "blue"}[o.random.IntN(3)]}
	}
	if o.random.IntN(4) == 0 {
		q.Agents = []string{"ada", "cid"}[:1+o.random.IntN(2)]
	}
	if o.random.IntN(4) == 0 {
		q.HalfLife = 30 * 24 * time.Hour
	}
	q.Duplicates = o.random.IntN(2) == 0
	return q
}

// wanted reports whether s answers q.
func (s *specimen) wanted(q *query.SearchRequest) bool {
	words := strings.Fields(strings.NewReplacer(",", " ", "#", " ").Replace(s.text))
	plain := " " + strings.Join(words, " ") + " "
	has := func(text string) bool { return strings.Contains(plain, " "+text+" ") }
	return slices.ContainsFunc(strings.Fields(q.Query), has) &&
		!slices.ContainsFunc(q.Phrases, func(text string) bool { return !has(text) }) &&
		!slices.ContainsFunc(slices.Concat(q.Without, q.WithoutPhrases), has) &&
		!slices.ContainsFunc(q.Tags, func(tag string) bool { return !slices.Contains(s.tags, tag) }) &&
		(len(q.Agents) == 0 || slices.Contains(q.Agents, s.agent))
}

// wanted returns the names of what answers q, sorted.
func (o *oracle) wanted(q *query.SearchRequest) []string {
	names := []string{}
	for i := range o.specimens {
		if o.specimens[i].wanted(q) {
			names = append(names, o.specimens[i].name)
		}
	}
	slices.Sort(names)
	return names
}

// checkHit compares what a hit says of its text with the text.
func (o *oracle) checkHit(t *testing.T, q *query.SearchRequest, h *query.Hit) {
	t.Helper()
	i := slices.IndexFunc(o.specimens, func(s specimen) bool { return s.name == h.Name.String() })
	lines := strings.Split(strings.TrimSuffix(o.specimens[i].text, "\n"), "\n")
	if h.Lines.From < 1 || h.Lines.To < h.Lines.From || h.Lines.To > len(lines) || h.FileLines != h.Lines {
		t.Fatalf("%+v: %s: lines %v, in the file %v, of %d", q, h.Name, h.Lines, h.FileLines, len(lines))
	}
	passage := strings.Fields(strings.Join(lines[h.Lines.From-1:h.Lines.To], " "))
	shown := strings.Fields(strings.Trim(h.Snippet.Text, "…"))
	if !strings.Contains(strings.Join(passage, " "), strings.Join(shown, " ")) {
		t.Fatalf("%+v: %s: snippet %q is not in %q", q, h.Name, shown, passage)
	}
	if len(h.Snippet.Marks) == 0 && !strings.Contains(" "+q.Query+" ", " "+h.Section+" ") {
		t.Errorf("%+v: %s: nothing is marked in %q", q, h.Name, h.Snippet.Text)
	}
	for _, m := range h.Snippet.Marks {
		marked := h.Snippet.Text[m.Start:m.End]
		for _, word := range strings.Fields(strings.NewReplacer(",", " ", "#", " ").Replace(marked)) {
			if !slices.Contains(strings.Fields(q.Query), word) {
				t.Errorf("%+v: %s: %q is marked in %q", q, h.Name, marked, h.Snippet.Text)
			}
		}
	}
}

// all returns all hits of a request, page by page.
func (o *oracle) all(t *testing.T, q query.SearchRequest, size int, benches []*bench) (hits []query.Hit, total uint64) {
	for q.Limit = size; ; q.Offset += size {
		var answer query.SearchAnswer
		if len(benches) == 1 {
			answer = benches[0].search(q)
		} else {
			answer = everywhere(t, q, benches...)
		}
		hits = append(hits, answer.Hits...)
		if len(answer.Hits) < size {
			return hits, answer.Total
		}
	}
}

// TestAgainstAnOracle compares random searches, of one store and of several, with
// what reading everything gives.
func TestAgainstAnOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	for stores := 1; stores <= 3; stores++ {
		o := &oracle{random: rand.New(rand.NewPCG(uint64(stores), 6))}
		var benches []*bench
		for range stores {
			benches = append(benches, newBench(t))
		}
		o.fill(90, benches...)
		for range 12 {
			q := o.ask()
			want := o.wanted(&q)
			var first []string
			for _, size := range []int{1000, 1 + o.random.IntN(40), 7} {
				hits, total := o.all(t, q, size, benches)
				order, got := []string{}, []string{}
				for i := range hits {
					o.checkHit(t, &q, &hits[i])
					order = append(order, fmt.Sprintf("%s %.9f", hits[i].Name, hits[i].Score))
					got = append(got, hits[i].Name.String())
					for _, like := range hits[i].Like {
						got = append(got, like.String())
					}
				}
				slices.Sort(got)
				if size == 1000 {
					first = order
				}
				if diff := cmp.Diff(first, order); diff != "" {
					t.Fatalf("%d stores, %+v: pages of %d (-one page +these):\n%s", stores, q, size, diff)
				}
				if diff := cmp.Diff(want, got); size == 1000 && (diff != "" || int(total) != len(want)) {
					t.Fatalf("%d stores, %+v: total %d, want %d (-want +got):\n%s", stores, q, total, len(want), diff)
				}
			}
			o.checkFacets(t, q, benches)
		}
	}
}

// checkFacets compares counts, of requests without phrases.
func (o *oracle) checkFacets(t *testing.T, q query.SearchRequest, benches []*bench) {
	t.Helper()
	if len(q.Phrases)+len(q.WithoutPhrases) > 0 {
		return
	}
	q.Facets = []index.Facet{"agent", "tag"}
	want := map[string]uint64{}
	for _, s := range o.specimens {
		if s.wanted(&q) {
			want[s.agent]++
			for _, tag := range s.tags {
				want[tag]++
			}
		}
	}
	got := map[string]uint64{}
	answer := everywhere(t, q, benches...)
	for _, counts := range answer.Facets {
		for _, c := range counts {
			got[c.Value] += c.Count
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%+v: facets (-want +got):\n%s", q, diff)
	}
}

package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/index"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A model is what a store should hold, kept in plain maps beside it.
type model struct {
	*bench
	random *rand.Rand
	heads  map[string]string     // name to text
	refs   []record.Ref          // every version that was not dropped
	of     map[record.Ref]string // name of each
}

func newModel(t *testing.T, seed uint64) *model {
	return &model{bench: newBench(t), random: rand.New(rand.NewPCG(seed, 1)), heads: map[string]string{}, of: map[record.Ref]string{}}
}

// vocabulary is small, so that texts share words.
var vocabulary = strings.Fields("avocet bittern curlew dunlin egret falcon godwit heron ibis jackdaw kestrel lapwing")

func (m *model) text() string {
	var words []string
	for range 1 + m.random.IntN(8) {
		words = append(words, vocabulary[m.random.IntN(len(vocabulary))])
	}
	return strings.Join(words, " ")
}

func (m *model) name() string {
	return fmt.Sprintf("%snote/%d", []string{"", "lib:"}[m.random.IntN(2)], m.random.IntN(6))
}

// step changes the store and the model alike.
func (m *model) step() {
	of := m.name()
	switch m.random.IntN(10) {
	case 0:
		if _, is := m.heads[of]; is {
			m.retire(of)
			delete(m.heads, of)
		}
	case 1:
		m.dropOne()
	case 2:
		if _, is := m.heads[of]; is {
			v := m.put(of, m.text(), func(d *store.Draft) {
				d.Record.Links = []record.Link{{Type: record.LinkConflict, Target: "side"}}
			})
			m.remember(v)
		}
	default:
		text := m.text()
		m.remember(m.put(of, text))
		m.heads[of] = text
	}
}

func (m *model) remember(v store.Version) {
	if _, known := m.of[v.Ref]; !known {
		m.refs = append(m.refs, v.Ref)
		m.of[v.Ref] = v.Record.Name.String()
	}
}

// dropOne destroys a version, a head as often as another.
func (m *model) dropOne() {
	if len(m.refs) == 0 {
		return
	}
	i := m.random.IntN(len(m.refs))
	ref := m.refs[i]
	m.refs = slices.Delete(m.refs, i, i+1)
	wasHead := false
	m.update(func(tx *store.Tx) error {
		head, err := tx.Head(name(m, m.of[ref]))
		wasHead = err == nil && head.Ref == ref
		return tx.Drop(ref)
	})
	if wasHead {
		delete(m.heads, m.of[ref])
	}
}

// matches returns the names whose text has any word of a query, sorted.
func (m *model) matches(words []string) []string {
	found := []string{}
	for of, text := range m.heads {
		if slices.ContainsFunc(strings.Fields(text), func(word string) bool { return slices.Contains(words, word) }) {
			found = append(found, of)
		}
	}
	slices.Sort(found)
	return found
}

// check asks the index, and a scan, for a query, and compares with the model.
func (m *model) check(step int) {
	words := []string{vocabulary[m.random.IntN(len(vocabulary))], vocabulary[m.random.IntN(len(vocabulary))]}
	request := query.SearchRequest{Request: index.Request{Query: strings.Join(words, " "), Limit: 100}}
	want := m.matches(words)
	for _, wait := range []string{"hurried", "patient"} {
		r := m.reader(query.Options{})
		if wait == "hurried" {
			r = m.reader(query.Options{MaxWait: 1})
		}
		answer, err := r.Search(m.Context(), request)
		if err != nil {
			m.Fatalf("step %d: %v", step, err)
		}
		got := found(answer)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			m.Fatalf("step %d, %s search for %q (-want +got):\n%s", step, wait, words, diff)
		}
	}
}

// TestRandomHistories lets the index follow random changes and wants, in the
// end, the names and scores of a new one.
func TestRandomHistories(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			m := newModel(t, seed)
			for step := range 60 {
				m.step()
				if m.random.IntN(3) == 0 {
					m.check(step)
				}
			}
			m.check(60)
			request := query.SearchRequest{Request: index.Request{Query: strings.Join(vocabulary, " "), Limit: 100}}
			grown := ranked(m.search(request))
			m.deleteIndexFolder()
			if diff := cmp.Diff(ranked(m.search(request)), grown); diff != "" {
				t.Errorf("new index against the one that grew (-new +old):\n%s", diff)
			}
		})
	}
}

// TestListsAgree asks for the same records through look-ups, through the log
// and through the names' histories.
func TestListsAgree(t *testing.T) {
	t.Parallel()
	m := newModel(t, 42)
	for range 80 {
		m.step()
	}
	var end uint64
	if err := m.store.View(t.Context(), func(tx *store.Tx) error { end = tx.Position(); return nil }); err != nil {
		t.Fatal(err)
	}
	for _, trees := range [][]record.Tree{nil, {""}, {"lib"}} {
		log := listed(m.list(query.ListRequest{Filter: record.Filter{Trees: trees}}).Entries)
		lookup := listed(m.list(query.ListRequest{Filter: record.Filter{Trees: trees,
			Kinds: []record.Kind{record.KindNote}}}).Entries)
		names := listed(m.list(query.ListRequest{Filter: record.Filter{Trees: trees}, At: end}).Entries)
		if !slices.Equal(log, lookup) || !slices.Equal(log, names) {
			t.Errorf("lists of trees %q differ:\nlog     %v\nlook-up %v\nnames   %v", trees, log, lookup, names)
		}
		if trees == nil && len(log) != len(m.heads) {
			t.Errorf("%d records listed; want %d", len(log), len(m.heads))
		}
	}
}

// TestLinesAgree compares ranges of lines, read from bodies of any shape, with
// what cutting the text gives.
func TestLinesAgree(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	random := rand.New(rand.NewPCG(3, 3))
	for range 40 {
		var text strings.Builder
		for range random.IntN(30) {
			text.WriteString(strings.Repeat("é", random.IntN(5)))
			if random.IntN(3) > 0 {
				text.WriteString([]string{"\n", "\r\n", "\n\n"}[random.IntN(3)])
			}
		}
		if random.IntN(10) == 0 {
			text.WriteString(strings.Repeat("x", 200_000)) // longer than any buffer
		}
		v := b.put("note/x", text.String())
		lines := strings.SplitAfter(text.String(), "\n")
		if lines[len(lines)-1] == "" {
			lines = lines[:len(lines)-1]
		}
		from := 1 + random.IntN(len(lines)+3)
		to := from + random.IntN(5)
		want := strings.Join(lines[min(from-1, len(lines)):min(to, len(lines))], "")
		got, _, err := b.body(v, query.BodyRequest{Lines: query.Span{From: from, To: to}})
		if wantErr := from > len(lines) && from > 1; got != want || (err != nil) != wantErr {
			t.Errorf("lines %d-%d of %d: %q, %v; want %q, an error: %v", from, to, len(lines), got, err, want, wantErr)
		}
	}
}

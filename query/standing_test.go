package query_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/index"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

func (b *bench) superseded() map[record.Name]record.Name {
	b.Helper()
	superseded, err := b.Superseded(b.Context())
	if err != nil {
		b.Fatalf("Superseded: %v", err)
	}
	return superseded
}

// wantSuperseded compares with what all versions of entries say that are left, and with the graph.
func (b *bench) wantSuperseded(ids []string, when string) {
	b.Helper()
	type claim struct{ newer, older string }
	stated, current, ever := map[claim]bool{}, map[string]record.Name{}, map[string]record.Name{}
	for _, id := range ids {
		err := b.store.View(b.Context(), func(tx *store.Tx) error {
			events, err := tx.History(name(b, id))
			for _, e := range events {
				v, err := tx.Get(e.Ref)
				if err != nil { // destroyed
					continue
				}
				ever[id] = v.Record.Name
				for _, l := range v.Record.Links {
					switch l.Type {
					case "supersedes":
						stated[claim{id, l.Target}] = id != l.Target
					case "superseded-by":
						stated[claim{l.Target, id}] = id != l.Target
					}
				}
			}
			if _, headErr := tx.Head(name(b, id)); headErr == nil {
				current[id] = ever[id]
			}
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	got, g := b.superseded(), b.graph()
	for id, of := range current {
		want := record.Name{}
		for _, newer := range slices.Sorted(maps.Keys(ever)) { // which is that of names
			by, found := ever[newer]
			if found && want.IsZero() && stated[claim{newer, id}] && !stated[claim{id, newer}] {
				want = by
			}
		}
		if inGraph := g.SupersededBy(of); got[of] != want || inGraph != want {
			b.Fatalf("%s: %s is superseded by %q, in the graph by %q, want %q", when, id, got[of], inGraph, want)
		}
	}
}

func (b *bench) supersededFile() string { return filepath.Join(b.store.Dir(), "index", "standing") }

// TestSupersededFollowsTheLog changes entries at random. What is kept of them is
// now used, now written, and now lost.
func TestSupersededFollowsTheLog(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	b := newBench(t)
	var ids []string
	for i := range 12 {
		ids = append(ids, fmt.Sprintf("knowledge/e\xff %d", i))
	}
	ids = append(ids, "lib:knowledge/e")
	kept := false
	for n := range 400 {
		of := ids[random.IntN(len(ids))]
		switch random.IntN(12) {
		case 0, 1:
			if err := b.store.Update(t.Context(), func(tx *store.Tx) error { return tx.Retire(name(t, of), store.Expect{}) }); err != nil && !errors.Is(err, store.ErrNotFound) {
				t.Fatal(err)
			}
		case 2:
			dropped := b.put(of, fmt.Sprint("dropped ", n), linked("supersedes", ids[random.IntN(len(ids))]))
			if random.IntN(2) == 0 {
				b.wantSuperseded(ids, "before a drop")
			}
			b.drop(dropped.Ref)
		case 3:
			b.put(fmt.Sprint("note/", n), "a note")
		case 4, 5:
			b.put(of, fmt.Sprint("plain ", n))
		default:
			kind := []string{"supersedes", "superseded-by", "relates-to"}[random.IntN(3)]
			target := append(ids, "knowledge/never", "note/x")[random.IntN(len(ids)+2)]
			b.put(of, fmt.Sprint("linked ", n), linked(kind, target))
		}
		if random.IntN(3) == 0 {
			b.wantSuperseded(ids, fmt.Sprint("after change ", n))
		}
		if _, err := os.Stat(b.supersededFile()); err == nil {
			kept = true
			if random.IntN(40) == 0 {
				if err := os.Remove(b.supersededFile()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	b.wantSuperseded(ids, "at the end")
	if !kept {
		t.Error("nothing was ever kept")
	}
}

// What is kept may be damaged, of another store, or of another history.
func TestSupersededKeptIsWrong(t *testing.T) {
	t.Parallel()
	other := newBench(t)
	b := newBench(t)
	for _, c := range []*bench{b, other} {
		c.putMany("n", 100, func(i int) string { return fmt.Sprint(i) })
		c.put("knowledge/old", "old")
	}
	other.put("knowledge/old2", "old", linked("superseded-by", "knowledge/old"))
	b.put("knowledge/new", "new", linked("supersedes", "knowledge/old"))
	want := map[record.Name]record.Name{name(t, "knowledge/old"): name(t, "knowledge/new")}
	if got := b.superseded(); !cmp.Equal(got, want) {
		t.Fatalf("Superseded = %v, want %v", got, want)
	}
	other.superseded()
	good, err := os.ReadFile(b.supersededFile())
	foreign, foreignErr := os.ReadFile(other.supersededFile())
	if err := errors.Join(err, foreignErr); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(string(good), `{"format":3,`) {
		t.Fatalf("the form has another number: %.20s", good)
	}
	ref := b.put("note/x", "x").Ref.String()
	for _, text := range []string{
		"", "{", string(good[:len(good)/2]), string(foreign), `{"format":7}`, "[]", "\x00",
		fmt.Sprintf(`{"format":3,"store":%q,"position":100,"ref":%q,"told":{},"said":{}}`, origin(b), ref),
		fmt.Sprintf(`{"format":3,"store":%q,"position":1000,"ref":%q,"told":{},"said":{}}`, origin(b), ref),
		fmt.Sprintf(`{"format":3,"store":%q,"position":101,"ref":%q,"told":{"x":{}},"said":{}}`, origin(b), ref),
		fmt.Sprintf(`{"format":3,"store":%q,"position":101,"ref":%q,"told":{"\"knowledge/a\"":["supersedes"]},"said":{}}`, origin(b), ref),
		fmt.Sprintf(`{"format":3,"store":%q,"position":101,"ref":%q,"told":{"\"knowledge/a\"":{"links":[{"newer":"x","older":"x"}]}},"said":{}}`,
			origin(b), ref),
		fmt.Sprintf(`{"format":3,"store":%q,"position":101,"ref":%q,"told":{"\"knowledge/a\"":null},"said":{}}`, origin(b), ref),
	} {
		if err := os.WriteFile(b.supersededFile(), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if got := b.superseded(); !cmp.Equal(got, want) {
			t.Errorf("with %q kept: %v, want %v", text, got, want)
		}
	}
	if err := errors.Join(os.Remove(b.supersededFile()), os.Mkdir(b.supersededFile(), 0o777)); err != nil {
		t.Fatal(err)
	}
	if got := b.superseded(); !cmp.Equal(got, want) {
		t.Errorf("with a folder in place of the file: %v, want %v", got, want)
	}
}

func origin(b *bench) record.StoreID {
	b.Helper()
	ids, err := b.store.Origins(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	return ids[0]
}

// BenchmarkKnowledgeByTag looks up one tag of two entries, among more and more
// entries that others have.
func BenchmarkKnowledgeByTag(b *testing.B) {
	for _, n := range []int{100, 1000, 10_000} {
		bench := newBench(b)
		var drafts []store.Draft
		for i := range n {
			d := bench.draft(fmt.Sprintf("knowledge/e%d", i), fmt.Sprint("text ", i), tagged(fmt.Sprintf("tag%d", i/2)), linked("relates-to", fmt.Sprintf("knowledge/e%d", i/20)))
			drafts = append(drafts, d)
		}
		if _, err := bench.store.Put(b.Context(), drafts...); err != nil {
			b.Fatal(err)
		}
		bench.superseded() // the first reads them all
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				found, _, err := bench.Knowledge(b.Context(), query.KnowledgeRequest{Wanted: []string{"tag7"}})
				if err != nil || len(found) != 2 {
					b.Fatalf("%d entries, %v; want 2", len(found), err)
				}
			}
		})
	}
}

// TestSupersededAlone asks for what only a superseded text has: no other has it word by word, however well what supersedes
// it and others have parts of it.
func TestSupersededAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for n := range 40 {
		b.put(fmt.Sprint("note/", n), "quokka quokka managed")
	}
	b.put("knowledge/old", "the wallaby is quokka-bound here")
	b.put("knowledge/new", "a quokka, among much else: "+strings.Repeat("sand and stone and sun. ", 80), linked("supersedes", "knowledge/old"))
	request := query.SearchRequest{Request: index.Request{Limit: 2}}
	request.Parse("quokka-bound")
	if got, want := found(b.search(request)), []string{"knowledge/new", "knowledge/old"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSupersededAcrossPages wants what is superseded behind what supersedes it, however much better it has the words,
// and on whatever page each of them is.
func TestSupersededAcrossPages(t *testing.T) {
	t.Parallel()
	for _, others := range []int{3, 25, 70} {
		b := newBench(t)
		b.put("knowledge/oldest", "quokka quokka quokka wallaby", linked("supersedes", "knowledge/never"))
		b.put("knowledge/old", "quokka wallaby quokka wallaby", linked("supersedes", "knowledge/oldest"))
		much := "a quokka, among much else: " + strings.Repeat("sand and stone and sun. ", 80)
		b.put("knowledge/new", much, linked("supersedes", "knowledge/old"))
		for i := range others {
			b.put(fmt.Sprintf("note/other %d", i), fmt.Sprintf("quokka number %d of some wallaby or other", i))
		}
		for _, text := range []string{"quokka wallaby", "quokka", `"quokka wallaby" quokka`} {
			var found []string
			for more := true; more; {
				request := query.SearchRequest{Request: index.Request{Limit: 2, Offset: len(found)}}
				request.Parse(text)
				answer, err := b.Search(t.Context(), request)
				if err != nil {
					t.Fatal(err)
				}
				for _, h := range answer.Hits {
					found = append(found, h.Name.ID)
				}
				more = len(answer.Hits) == 2
			}
			of := func(id string) int { return slices.Index(found, id) } // -1: it is no hit
			if last := of("new"); of("old") < last || of("oldest") < last || of("oldest") < 0 {
				t.Errorf("%s among %d: new %d, old %d, oldest %d", text, others, last, of("old"), of("oldest"))
			}
		}
	}
}

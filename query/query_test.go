package query_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"filebus/index"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// clock moves one second with every look.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Second)
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// A bench is a store with its reader.
type bench struct {
	testing.TB
	*query.Reader
	store *store.Store
	clock *clock
}

// newBench returns a new store, whose Check must find nothing when the test
// ends, and its reader.
func newBench(t testing.TB) *bench {
	t.Helper()
	c := &clock{now: benchStart()}
	s, err := store.Create(t.Context(), filepath.Join(t.TempDir(), ".filebus"), store.Options{
		Now: c.Now, Random: rand.NewChaCha8([32]byte{1}), Wait: time.Minute, Command: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{TB: t, store: s, clock: c}
	b.Reader = b.reader(query.Options{})
	t.Cleanup(func() { mustCheck(t, s) })
	return b
}

func benchStart() time.Time { return time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC) }

func (b *bench) reader(opts query.Options) *query.Reader {
	opts.Now, opts.Command = b.clock.Now, "test"
	if opts.Wait == 0 {
		opts.Wait = time.Minute
	}
	return query.New(b.store, opts)
}

func mustCheck(t testing.TB, s *store.Store) {
	t.Helper()
	report, err := s.Check(context.Background(), nil)
	if err != nil {
		t.Fatalf("Check: %v", err)
	}
	for _, fault := range report.Faults {
		t.Errorf("Check: %s", fault)
	}
}

func name(t testing.TB, text string) record.Name {
	t.Helper()
	n, err := record.ParseName(text)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

type edit func(*store.Draft)

func tagged(tags ...string) edit {
	return func(d *store.Draft) { d.Record.Tags = record.NormalizeTags(tags) }
}

func with(set func(*record.Record)) edit { return func(d *store.Draft) { set(&d.Record) } }

func at(path string) edit { return func(d *store.Draft) { d.Record.Path = path } }

func attributes(pairs ...string) edit {
	return func(d *store.Draft) {
		d.Description.Attributes = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			d.Description.Attributes[pairs[i]] = pairs[i+1]
		}
	}
}

func (b *bench) draft(of, text string, edits ...edit) store.Draft {
	b.Helper()
	body, err := b.store.Prepare(b.Context(), []byte(text))
	if err != nil {
		b.Fatal(err)
	}
	d := store.Draft{
		Body:   body,
		Record: record.Record{Name: name(b, of), Source: record.SourceCapture},
		Description: record.Description{
			Title: markdown.Title([]byte(text)), Preview: markdown.Preview([]byte(text),
				300), Tokens: record.EstimateTokens(body.Size),
		},
	}
	for _, e := range edits {
		e(&d)
	}
	return d
}

// put stores text under a name.
func (b *bench) put(of, text string, edits ...edit) store.Version {
	b.Helper()
	outcomes, err := b.store.Put(b.Context(), b.draft(of, text, edits...))
	if err != nil {
		b.Fatalf("Put(%s): %v", of, err)
	}
	return outcomes[0].Version
}

func (b *bench) update(fn func(tx *store.Tx) error) {
	b.Helper()
	if err := b.store.Update(b.Context(), fn); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) retire(of string) {
	b.Helper()
	b.update(func(tx *store.Tx) error { return tx.Retire(name(b, of), store.Expect{}) })
}

func (b *bench) drop(ref record.Ref) {
	b.Helper()
	b.update(func(tx *store.Tx) error { return tx.Drop(ref) })
}

// putFile stores an aggregate file: pieces that are names stand for entries,
// whose texts follow them.
func (b *bench) putFile(path string, pieces ...string) {
	b.Helper()
	var drafts []store.Draft
	frame := "filebus frame 1\n"
	for i := 0; i < len(pieces); i++ {
		of, isEntry := strings.CutPrefix(pieces[i], "slot ")
		if !isEntry {
			frame += fmt.Sprintf("text %d %s\n", len(pieces[i]), pieces[i])
			continue
		}
		i++
		frame += fmt.Sprintf("slot %d %s\n", len(of), of)
		drafts = append(drafts, b.draft(of, pieces[i], at(path)))
	}
	drafts = append(drafts, b.draft("frame/"+path, frame, at(path)))
	if _, err := b.store.Put(b.Context(), drafts...); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) search(request query.SearchRequest) query.SearchAnswer {
	b.Helper()
	answer, err := b.Search(b.Context(), request)
	if err != nil {
		b.Fatalf("Search(%+v): %v", request, err)
	}
	return answer
}

// found returns the names of the hits, in order.
func found(answer query.SearchAnswer) []string {
	names := []string{}
	for _, h := range answer.Hits {
		names = append(names, h.Name.String())
	}
	return names
}

// ranked returns names and scores.
func ranked(answer query.SearchAnswer) []string {
	var lines []string
	for _, h := range answer.Hits {
		lines = append(lines, fmt.Sprintf("%s %.9f", h.Name, h.Score))
	}
	return lines
}

func (b *bench) forgetIndex() {
	b.Helper()
	if err := index.Remove(filepath.Join(b.store.Dir(), "index")); err != nil {
		b.Fatal(err)
	}
}

func (b *bench) deleteIndexFolder() {
	b.Helper()
	if err := os.RemoveAll(filepath.Join(b.store.Dir(), "index")); err != nil {
		b.Fatal(err)
	}
}

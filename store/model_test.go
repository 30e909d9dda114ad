package store_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store"
	"filebus/store/record"
)

// A model is what a store should hold, kept in memory in the plainest way: the
// heads after every log position, and a line of events for each name.
type model struct {
	random *rand.Rand
	heads  map[record.Name]version
	last   map[record.Name]version // the newest that was not dropped; head or not
	past   []map[record.Name]record.Ref
	lines  map[record.Name][]store.Event
	stored []version // all that were put and not dropped, conflict versions too
	gone   map[record.Ref]bool
	open   []version // conflict versions that are not settled
}

type version struct {
	store.Version
	body string
}

func newModel(seed uint64) *model {
	return &model{
		random: rand.New(rand.NewPCG(seed, 0)),
		heads:  map[record.Name]version{}, last: map[record.Name]version{},
		past:  []map[record.Name]record.Ref{{}},
		lines: map[record.Name][]store.Event{}, gone: map[record.Ref]bool{},
	}
}

// entry notes a log entry and what is current after it.
func (m *model) entry(name record.Name, change store.Change, ref record.Ref) {
	position := uint64(len(m.past))
	now := map[record.Name]record.Ref{}
	for n, v := range m.heads {
		now[n] = v.Ref
	}
	m.past = append(m.past, now)
	if change != store.ChangeDrop {
		m.lines[name] = append(m.lines[name], store.Event{Position: position, Change: change, Ref: ref})
	}
}

// The names and texts are few, so that the same ones meet again and again.
func (m *model) pick(t *testing.T) record.Name {
	return name(t, pickOne(m.random, "note/a", "note/a b", "issue/I-1", "result/c/1", "lib:note/a", "lib:result/c/1"))
}

func pickOne[T any](random *rand.Rand, from ...T) T { return from[random.IntN(len(from))] }

// draft makes a random draft and what is expected of its name.
func (m *model) draft(t *testing.T, s *store.Store) (store.Draft, string) {
	text := pickOne(m.random, "", "one", "two", "three", randomText(400))
	d := draft(t, s, m.pick(t).String(), text, tagged(pickOne(m.random, "", "red", "blue"), pickOne(m.random, "", "green")))
	d.Record.Agent = pickOne(m.random, "", "", "planner")
	d.Record.Path = pickOne(m.random, "", "folder/file.md")
	switch m.random.IntN(6) {
	case 0:
		d.Expect = store.Absent()
	case 1:
		d.Expect = store.Current(m.heads[d.Record.Name].Ref) // the zero Ref stands for no version
	case 2:
		d.Expect = store.Current(record.RefOf([]byte("another")))
	}
	return d, text
}

// outcome says what a put of d must do: the record that must be stored, or nil
// if nothing may be, and the error.
func (m *model) outcome(d store.Draft) (want *record.Record, wrong error) {
	head, known := m.heads[d.Record.Name]
	if d.Expect != (store.Expect{}) && d.Expect != store.Current(head.Ref) && (known || d.Expect != store.Absent()) {
		return nil, store.ErrConflict
	}
	r := d.Record
	r.Body, r.Size, r.Prev = d.Body.Digest, d.Body.Size, m.last[r.Name].Ref
	if known && r.Name.Kind == record.KindResult {
		if r.Body != head.Record.Body {
			return nil, store.ErrConflict
		}
		if r.Agent == "" {
			r.Agent = head.Record.Agent
		}
		if r.Path == "" {
			r.Path = head.Record.Path
		}
		r.Tags = record.NormalizeTags(append(r.Tags, head.Record.Tags...))
	}
	same := known && r.Body == head.Record.Body && r.Agent == head.Record.Agent && r.Path == head.Record.Path && slices.Equal(r.Tags, head.Record.Tags)
	if same {
		return nil, nil
	}
	return &r, nil
}

func (m *model) put(t *testing.T, tx *store.Tx, d store.Draft, text string) {
	t.Helper()
	want, wrong := m.outcome(d)
	got, err := tx.Put(d)
	if !errors.Is(err, wrong) {
		t.Fatalf("Put(%s, %.10q) = %v, want %v", d.Record.Name, text, err, wrong)
	}
	m.accept(t, got, want, err, text)
}

// accept compares what a put did with what was wanted, and takes it over.
func (m *model) accept(t *testing.T, got store.Outcome, want *record.Record, err error, text string) {
	t.Helper()
	if err != nil {
		return
	}
	if want == nil {
		if head := m.heads[got.Record.Name]; !got.Unchanged || got.Ref != head.Ref {
			t.Fatalf("a put of what is there: unchanged %v, %v; want %v", got.Unchanged, got.Ref, head.Ref)
		}
		return
	}
	want.Origin, want.Time = got.Record.Origin, got.Record.Time
	if diff := cmp.Diff(want, got.Record); diff != "" || got.Position != uint64(len(m.past)) {
		t.Fatalf("Put at %d, want %d (-want +got):\n%s", got.Position, len(m.past), diff)
	}
	v := version{got.Version, text}
	m.heads[v.Record.Name], m.last[v.Record.Name] = v, v
	m.stored = append(m.stored, v)
	m.entry(v.Record.Name, store.ChangePut, v.Ref)
}

// putConflict puts a side version of a name.
func (m *model) putConflict(t *testing.T, tx *store.Tx, d store.Draft, text string) {
	t.Helper()
	head, known := m.heads[d.Record.Name]
	d.Expect = store.Expect{}
	d.Record.Links = []record.Link{{Type: record.LinkConflict, Target: head.Ref.String()}}
	at := slices.IndexFunc(m.open, func(v version) bool { return v.Record.Name == d.Record.Name && v.Record.Body == d.Body.Digest })
	got, err := tx.Put(d)
	if err != nil {
		t.Fatalf("Put of a conflict version of %s: %v", d.Record.Name, err)
	}
	if at >= 0 {
		if !got.Unchanged || got.Ref != m.open[at].Ref {
			t.Fatalf("the same conflict again: unchanged %v, %v; want %v", got.Unchanged, got.Ref, m.open[at].Ref)
		}
		return
	}
	if got.Unchanged || got.Record.Prev != head.Ref || known == head.Ref.IsZero() {
		t.Fatalf("a conflict version after %v has prev %v", head.Ref, got.Record.Prev)
	}
	v := version{got.Version, text}
	m.stored, m.open = append(m.stored, v), append(m.open, v)
	m.entry(d.Record.Name, store.Change('c'), v.Ref)
}

func (m *model) retire(t *testing.T, tx *store.Tx, of record.Name) {
	t.Helper()
	head, known := m.heads[of]
	err := tx.Retire(of, store.Expect{})
	if known != (err == nil) || !known && !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("Retire(%s) = %v; it has a head: %v", of, err, known)
	}
	if known {
		delete(m.heads, of)
		m.entry(of, store.ChangeRetire, head.Ref)
	}
}

func (m *model) settle(t *testing.T, tx *store.Tx) {
	t.Helper()
	if len(m.open) == 0 {
		return
	}
	at := m.random.IntN(len(m.open))
	v := m.open[at]
	if err := tx.Settle(v.Ref); err != nil {
		t.Fatalf("Settle: %v", err)
	}
	m.open = slices.Delete(m.open, at, at+1)
	m.entry(v.Record.Name, store.Change('s'), v.Ref)
	if err := tx.Settle(v.Ref); !errors.Is(err, store.ErrNotFound) {
		t.Fatalf("Settle again = %v, want not found", err)
	}
}

// drop destroys any version that is left.
func (m *model) drop(t *testing.T, tx *store.Tx) {
	t.Helper()
	if len(m.stored) == 0 {
		return
	}
	at := m.random.IntN(len(m.stored))
	v := m.stored[at]
	of := v.Record.Name
	if err := tx.Drop(v.Ref); err != nil {
		t.Fatalf("Drop(%v): %v", v.Ref, err)
	}
	m.stored = slices.Delete(m.stored, at, at+1)
	m.gone[v.Ref] = true
	if m.heads[of].Ref == v.Ref {
		delete(m.heads, of)
		m.entry(of, store.ChangeRetire, v.Ref)
	}
	m.entry(of, store.ChangeDrop, v.Ref)
	if v.Record.IsConflict() {
		m.open = slices.DeleteFunc(m.open, func(o version) bool { return o.Ref == v.Ref })
		return
	}
	for i, e := range m.lines[of] {
		if e.Position == v.Position {
			m.lines[of][i].Change = store.ChangeDrop
		}
	}
	m.newest(of, v.Ref)
}

// newest finds the version of a name that is the last one when ref is gone.
func (m *model) newest(of record.Name, ref record.Ref) {
	if m.last[of].Ref != ref {
		return
	}
	delete(m.last, of)
	for _, v := range m.stored {
		if v.Record.Name == of && !v.Record.IsConflict() {
			m.last[of] = v // stored is in the order of positions
		}
	}
}

// edit appends to a name's text in a transaction of its own.
func (m *model) edit(t *testing.T, s *store.Store) {
	t.Helper()
	of := m.pick(t)
	text := m.heads[of].body + "+"
	d := store.Draft{Record: record.Record{Name: of, Source: "mcp"}}
	d.Body.Digest, d.Body.Size = record.DigestOf([]byte(text)), int64(len(text))
	want, wrong := m.outcome(d)
	got, err := appendTo(t.Context(), s, of, "+")
	if !errors.Is(err, wrong) {
		t.Fatalf("appending to %s = %v, want %v", of, err, wrong)
	}
	m.accept(t, got, want, err, text)
}

// step does one to five random things in one transaction; now and then the
// transaction fails at its end, and nothing may have happened.
func (m *model) step(t *testing.T, s *store.Store) {
	t.Helper()
	switch m.random.IntN(8) {
	case 0:
		m.edit(t, s)
		return
	case 1:
		m.fail(t, s)
		return
	}
	update(t, s, func(tx *store.Tx) error {
		for range 1 + m.random.IntN(5) {
			d, text := m.draft(t, s)
			switch m.random.IntN(10) {
			case 0:
				m.retire(t, tx, m.pick(t))
			case 1:
				m.drop(t, tx)
			case 2:
				m.settle(t, tx)
			case 3:
				m.putConflict(t, tx, d, text)
			default:
				m.put(t, tx, d, text)
			}
		}
		return nil
	})
}

func (m *model) fail(t *testing.T, s *store.Store) {
	t.Helper()
	stop := errors.New("stop")
	err := s.Update(t.Context(), func(tx *store.Tx) error {
		for _, v := range m.heads {
			if err := tx.Drop(v.Ref); err != nil {
				return err
			}
		}
		d, _ := m.draft(t, s)
		d.Expect = store.Expect{}
		_, err := tx.Put(d)
		return errors.Join(err, stop)
	})
	if !errors.Is(err, stop) || errors.Is(err, store.ErrDamaged) {
		t.Fatalf("a transaction that fails = %v, want %v", err, stop)
	}
}

// compare holds the store against the model.
func (m *model) compare(t *testing.T, s *store.Store) {
	t.Helper()
	view(t, s, func(tx *store.Tx) {
		if got, want := tx.Position(), uint64(len(m.past)-1); got != want {
			t.Fatalf("Position = %d, want %d", got, want)
		}
		m.compareHeads(t, tx)
		m.compareLookups(t, tx)
		for of, want := range m.lines {
			got, err := tx.History(of)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Errorf("history of %s, %v (-want +got):\n%s", of, err, diff)
			}
		}
		for ref := range m.gone {
			if _, err := tx.Get(ref); !errors.Is(err, store.ErrDropped) {
				t.Errorf("Get of the dropped %v = %v", ref, err)
			}
		}
		for range 5 {
			m.compareAt(t, tx, m.random.IntN(len(m.past)))
		}
	})
	for of, head := range m.heads {
		wantText(t, s, of.String(), head.body)
	}
	report := mustCheck(t, s)
	if report.Records != len(m.stored) || report.Dropped != len(m.gone) {
		t.Errorf("Check counts %d records and %d dropped, want %d and %d", report.Records, report.Dropped, len(m.stored), len(m.gone))
	}
}

func (m *model) compareHeads(t *testing.T, tx *store.Tx) {
	t.Helper()
	for of := range m.lines {
		want, known := m.heads[of]
		got, err := tx.Head(of)
		if got.Ref != want.Ref || known != (err == nil) {
			t.Errorf("Head(%s) = %v, %v; want %v", of, got.Ref, err, want.Ref)
		}
		last, known := m.last[of]
		got, _, err = tx.Last(of)
		if got.Ref != last.Ref || known != (err == nil) {
			t.Errorf("Last(%s) = %v, %v; want %v", of, got.Ref, err, last.Ref)
		}
	}
	listed := map[record.Name]record.Ref{}
	for _, n := range collect(t, tx.Names(record.Name{})) {
		listed[n.Name] = n.Ref
	}
	if diff := cmp.Diff(m.past[len(m.past)-1], listed); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
}

// compareAt looks at the heads of an earlier position: those of that time, but
// for what was dropped since.
func (m *model) compareAt(t *testing.T, tx *store.Tx, position int) {
	t.Helper()
	want := maps.Clone(m.past[position])
	maps.DeleteFunc(want, func(_ record.Name, ref record.Ref) bool { return m.gone[ref] })
	got := map[record.Name]record.Ref{}
	for of := range m.lines {
		if v, err := tx.HeadAt(of, uint64(position)); err == nil {
			got[of] = v.Ref
		} else if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("HeadAt(%s, %d): %v", of, position, err)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("heads at position %d (-want +got):\n%s", position, diff)
	}
	listed := map[record.Name]record.Ref{}
	for _, n := range collect(t, tx.NamesAt(record.Name{}, uint64(position))) {
		listed[n.Name] = n.Ref
	}
	// A name of which every version was dropped is gone.
	if diff := cmp.Diff(want, listed); diff != "" {
		t.Errorf("NamesAt(%d) (-want +got):\n%s", position, diff)
	}
}

// compareLookups computes every look-up from the heads.
func (m *model) compareLookups(t *testing.T, tx *store.Tx) {
	t.Helper()
	want := map[store.Field]map[string][]version{}
	add := func(field store.Field, value string, v version) {
		if value != "" {
			if want[field] == nil {
				want[field] = map[string][]version{}
			}
			want[field][value] = append(want[field][value], v)
		}
	}
	for _, v := range m.heads {
		add(store.FieldKind, string(v.Record.Name.Kind), v)
		add("agent", v.Record.Agent, v)
		for _, tag := range v.Record.Tags {
			add(store.FieldTag, tag, v)
		}
		if v.Record.Path != "" && v.Record.Name.Kind != record.KindIssue {
			add(store.FieldPath, store.PathValue(v.Record.Name.Tree, v.Record.Path), v)
		}
	}
	for _, v := range m.open {
		add(store.FieldConflict, v.Record.Name.String(), v)
	}
	for _, field := range []store.Field{store.FieldKind, "agent", store.FieldTag, store.FieldPath, store.FieldConflict, store.FieldSession} {
		var values []store.Value
		for _, value := range slices.Sorted(maps.Keys(want[field])) {
			versions := want[field][value]
			slices.SortFunc(versions, func(a, b version) int { return int(b.Position) - int(a.Position) })
			values = append(values, store.Value{Text: value, Count: len(versions), Newest: versions[0].Position})
			var places []store.Place
			for _, v := range versions {
				values[len(values)-1].Places += v.Position
				places = append(places, store.Place{Ref: v.Ref, Position: v.Position})
			}
			var got []store.Place
			for i, at := range collect(t, tx.Lookup(field, value)) {
				got = append(got, store.Place{Ref: at.Ref, Position: at.Position})
				rank, err := tx.Rank(at)
				if r := versions[min(i, len(versions)-1)].Record; err != nil || !rank.Date.Equal(r.Date()) || rank.Kind != r.Name.Kind {
					t.Errorf("Rank of %s = %v, %v; want %v, %s", r.Name, rank, err, r.Date(), r.Name.Kind)
				}
			}
			if diff := cmp.Diff(places, got, cmp.AllowUnexported(store.Place{})); diff != "" {
				t.Errorf("Lookup(%s, %q), newest first (-want +got):\n%s", field, value, diff)
			}
		}
		if diff := cmp.Diff(values, collect(t, tx.Values(field, ""))); diff != "" {
			t.Errorf("Values(%s) (-want +got):\n%s", field, diff)
		}
	}
}

// TestModel does the same random things to a store and to a model of it.
func TestModel(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	for seed := range uint64(6) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			s, _ := testStore(t)
			m := newModel(seed)
			for step := range 75 {
				m.step(t, s)
				if step%15 == 14 {
					m.compare(t, s)
				}
				if t.Failed() {
					t.Fatalf("first wrong at step %d", step)
				}
			}
		})
	}
}

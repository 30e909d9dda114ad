package remote_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/release"
	"filebus/materialize/remote"
	"filebus/store"
	"filebus/store/record"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // tests leave much garbage, and little of it at a time
	m.Run()
}

var long = flag.Duration("long", 0, "how long TestFiveStores goes on, with random seeds; 0: two seeds, always the same")

// errCut is what happens to a call of a transport that is cut off.
var errCut = errors.New("cut off")

// TestFiveStores lets five stores with wrong clocks do random things, and exchange them over a folder,
// cut off at random moments. Then all that was acknowledged is everywhere, or destroyed everywhere. FILEBUS_SEED repeats
// a run.
func TestFiveStores(t *testing.T) {
	t.Parallel()
	seed, seeds, steps := uint64(1), uint64(3), 70
	if *long > 0 {
		seed, seeds, steps = uint64(time.Now().UnixNano()), math.MaxUint64, 250
	}
	if given := os.Getenv("FILEBUS_SEED"); given != "" {
		_, _ = fmt.Sscan(given, &seed)
		seeds = 1
	}
	for end := time.Now().Add(*long); seeds > 0; seed, seeds = seed+1, seeds-1 {
		ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := newFive(t, seed)
			for range steps {
				f.step()
			}
			f.settle()
		})
		if !ok || *long > 0 && time.Now().After(end) {
			return
		}
	}
}

// A five is five machines and what they were told.
type five struct {
	*rand.Rand
	t        testing.TB
	dir      string
	machines []*machine
	token    int
	acked    map[string][]record.Ref // tokens, and the records that had them then
	did      []string
}

func newFive(t testing.TB, seed uint64) *five {
	f := &five{Rand: rand.New(rand.NewPCG(seed, 5)), t: t, dir: filepath.Join(t.TempDir(), "shared"), acked: map[string][]record.Ref{}}
	for i := range 5 { // ids and times decide between versions
		id := fmt.Sprintf("%016x%016x", f.Uint64(), f.Uint64())
		now := time.Unix(0, int64(seed)).Add(time.Duration(i-2) * 3 * 365 * 24 * time.Hour)
		f.machines = append(f.machines, newMachineOf(t, id, fmt.Sprintf("m%d", i), &flaky{Transport: openFolder(t, f.dir)}, now))
	}
	trusts(f.machines...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("what was done:\n%s", strings.Join(f.did, "\n"))
		}
	})
	return f
}

// newToken returns a word that is written once.
func (f *five) newToken() string { f.token++; return fmt.Sprintf("token%04dx", f.token) }

// step does one thing on one machine, and cuts it off now and then.
func (f *five) step() {
	m := f.machines[f.IntN(5)]
	through := m.through.(*flaky)
	*through = flaky{Transport: through.Transport}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	watched := &impatient{Context: ctx, cancel: cancel}
	how := f.cut(through, watched)
	what, token, err := f.act(watched, m)
	*through = flaky{Transport: through.Transport}
	f.did = append(f.did, fmt.Sprintf("%s: %s%s %s: %v", m.label, what, how, token, err))
	expected := errors.Is(err, errCut) || errors.Is(err, context.Canceled) || errors.Is(err, store.ErrConflict) || errors.Is(err, store.ErrNotFound)
	switch {
	case err != nil && !expected:
		f.t.Errorf("%s: %s%s: %v", m.label, what, how, err)
	case err == nil && token != "":
		if f.acked[token] = tokens(m)[token]; len(f.acked[token]) == 0 {
			f.t.Errorf("%s: %s %s is acknowledged, and not there", m.label, what, token)
		}
	}
}

// An impatient context is cancelled when it was looked at so often.
type impatient struct {
	context.Context
	cancel func()
	looks  atomic.Int64 // that are left; 0: any number
}

func (c *impatient) look() {
	if c.looks.Add(-1) == 0 {
		c.cancel()
	}
}

func (c *impatient) Err() error { c.look(); return c.Context.Err() }

func (c *impatient) Done() <-chan struct{} { c.look(); return c.Context.Done() }

// cut lets the next operation be cut off, or not.
func (f *five) cut(through *flaky, ctx *impatient) string {
	n := f.IntN(8)
	at := func() error {
		if n--; n < 0 {
			return errCut
		}
		return nil
	}
	switch f.IntN(10) {
	case 0:
		through.before = at
		return " (fails before call)"
	case 1:
		through.after = at
		return " (fails after call)"
	case 2:
		hidden := map[remote.Name]bool{}
		through.hide = func(name remote.Name) bool {
			if _, known := hidden[name]; !known {
				hidden[name] = f.IntN(3) == 0
			}
			return hidden[name]
		}
		return " (half synchronised)"
	case 3:
		through.before = func() error {
			if n--; n < 0 {
				ctx.cancel()
			}
			return nil
		}
		return " (cancelled at call)"
	case 4:
		ctx.looks.Store(int64(1 + f.IntN(60)))
		return " (cancelled)"
	}
	return ""
}

// act does something, and returns what, and the token that was stored if it has gone well.
func (f *five) act(ctx context.Context, m *machine) (what, token string, err error) {
	token = f.newToken()
	switch f.IntN(16) {
	case 0, 1, 2:
		return "put", token, f.put(ctx, m, token)
	case 3, 4:
		return "hand", token, f.byHand(ctx, m, token)
	case 5:
		return "entry", token, f.putEntry(ctx, m, token)
	case 6:
		return "knowledge", token, f.knowledge(ctx, m, token)
	case 7:
		_, err = m.Tag(ctx, f.pickNote(), []string{fmt.Sprint("tag", f.IntN(4))}, nil)
		return "tag", "", err
	case 8:
		return "retire", "", m.Remove(ctx, f.pick(m))
	case 9:
		return f.destroy(ctx, m)
	case 10:
		return "resolve", "", f.resolve(ctx, m)
	case 11, 12, 13:
		if err = m.sync(ctx); err == nil {
			_, err = m.replica().Push(ctx)
		}
		return "push", "", err
	}
	if err = m.sync(ctx); err == nil {
		_, err = m.replica().Pull(ctx)
	}
	if err == nil {
		err = m.sync(ctx)
	}
	return "pull", "", err
}

func (f *five) pickNote() record.Name { return note(fmt.Sprintf("n%d.md", f.IntN(4))) }

// pick returns some name, but none of ownIssue.
func (f *five) pick(m *machine) record.Name {
	var all []record.Name
	m.view(func(tx *store.Tx) error {
		for n, err := range tx.Names(record.Name{}) {
			if err != nil {
				return err
			}
			v, err := tx.Get(n.Ref)
			if err == nil && v.Record.Name.Kind != record.KindFrame && !strings.HasPrefix(v.Record.Name.ID, "ISSUE-20260302-1") {
				all = append(all, v.Record.Name)
			}
		}
		return nil
	})
	if len(all) == 0 {
		return f.pickNote()
	}
	return all[f.IntN(len(all))]
}

func (f *five) put(ctx context.Context, m *machine, token string) error {
	name := f.pickNote()
	var tags []string
	if f.IntN(4) == 0 {
		tags = []string{"t" + fmt.Sprint(f.IntN(3))}
	}
	_, err := m.Put(ctx, materialize.PutRequest{
		Kind: name.Kind, ID: name.ID, Text: strings.NewReader("a note\n\n" + token + "\n"), Source: record.SourcePut, Facts: layout.Facts{Tags: tags},
	})
	return err
}

// entryText returns the text of an issue. Like all texts here it is too short for a mark, which keeps a copy out of one store alone.
func entryText(id, token string) string {
	return "### " + id + "\n\n- **Status**: pending\n\n" + token + "\n"
}

func (f *five) issueID() string { return fmt.Sprintf("ISSUE-20260302-%03d", 1+f.IntN(6)) }

func (f *five) putEntry(ctx context.Context, m *machine, token string) error {
	id := f.issueID()
	_, err := m.Put(ctx, materialize.PutRequest{Kind: record.KindIssue, ID: id, Text: strings.NewReader(entryText(id, token)), Source: record.SourcePut})
	return err
}

// byHand edits the issue queue as an agent does.
func (f *five) byHand(ctx context.Context, m *machine, token string) error {
	if err := m.sync(ctx); err != nil {
		return err
	}
	at := filepath.Join(m.Root, queueFile)
	text, _ := os.ReadFile(at) // may not be there
	file, _ := layout.Recognize(queueFile).Parse(queueFile, text)
	id, out, done := f.issueID(), "", false
	for _, p := range file.Parts {
		if p.Entry != nil && p.Entry.ID == id {
			out, done = out+entryText(id, token)+"\n", true
			continue
		}
		if p.Entry != nil {
			out += string(p.Entry.Text)
			continue
		}
		out += string(p.Text)
	}
	if len(text) == 0 {
		out = "# Issue Queue\n\n"
	}
	if words := strings.Index(out, "\n"); f.IntN(4) == 0 && words > 0 { // the words around them
		out, done = "# Issue Queue "+token+out[words:], true
	}
	if !done {
		out = strings.TrimRight(out, "\n") + "\n\n" + entryText(id, token)
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(at, []byte(out), 0o666); err != nil {
		return err
	}
	err := m.sync(ctx)
	if err != nil { // the file is taken in later, or never if it is written over
		return err
	}
	return nil
}

func (f *five) knowledge(ctx context.Context, m *machine, token string) error {
	id := fmt.Sprint("pattern-", 1+f.IntN(4))
	return m.EditEntriesIn(ctx, graphFile, record.SourcePut, func(e *materialize.Entries) error {
		text := fmt.Appendf(nil, `{"id": %q, "summary": %q}`, id, token)
		for _, entry := range e.List() {
			if entry.Name.ID == id {
				e.Set(entry.Name, text)
				return nil
			}
		}
		e.Add(record.KindKnowledge, id, text)
		return nil
	})
}

// destroy purges a version, or drops all of a name.
func (f *five) destroy(ctx context.Context, m *machine) (string, string, error) {
	name := f.pick(m)
	if f.IntN(2) == 0 {
		_, err := m.Release(ctx, release.Request{Names: []record.Name{name}})
		if errors.Is(err, release.ErrStillNeeded) {
			err = nil
		}
		return "drop " + name.String(), "", err
	}
	var refs []record.Ref
	m.view(func(tx *store.Tx) error {
		events, err := tx.History(name)
		for _, e := range events {
			if v, getErr := tx.Get(e.Ref); getErr == nil && f.IntN(2) == 0 {
				refs = append(refs, v.Ref)
			}
		}
		return err
	})
	_, err := m.Release(ctx, release.Request{Versions: refs, Files: true})
	if errors.Is(err, release.ErrStillNeeded) {
		err = nil
	}
	return fmt.Sprintf("purge %s %d", name, len(refs)), "", err
}

func (f *five) resolve(ctx context.Context, m *machine) error {
	open, err := m.Conflicts(ctx)
	if err != nil || len(open) == 0 {
		return err
	}
	c := open[f.IntN(len(open))]
	take := []string{"store", "file"}[f.IntN(2)]
	_, err = m.Resolve(ctx, c, take)
	return err
}

// settle lets all exchange what they have, and looks whether that is the same everywhere.
func (f *five) settle() {
	for _, m := range f.machines {
		*m.through.(*flaky) = flaky{Transport: m.through.(*flaky).Transport}
	}
	exchange(f.t, f.machines...)
	wantSame(f.t, f.machines...)
	kept, gone := tokens(f.machines[0]), f.machines[0].known().Dropped
	for token, refs := range f.acked {
		isGone := func(ref record.Ref) bool { return slices.Contains(gone, ref.Short()) }
		if len(kept[token]) == 0 && !slices.ContainsFunc(refs, isGone) {
			f.t.Errorf("%s is nowhere, and was not destroyed", token)
		}
	}
	for n := range f.token {
		token := fmt.Sprintf("token%04dx", n+1)
		if len(kept[token]) > 0 {
			continue
		}
		if files := blobs(f.t, f.dir, token); len(files) > 0 {
			f.t.Errorf("%s is destroyed, and still in %q", token, files)
		}
	}
}

// tokens returns the records of a store that have each token.
func tokens(m *machine) map[string][]record.Ref {
	all := map[string][]record.Ref{}
	m.view(func(tx *store.Tx) error {
		for e, err := range tx.Log(1) {
			if err != nil {
				return err
			}
			v, err := tx.Get(e.Ref)
			if err != nil || e.Op != store.OpPut {
				continue
			}
			text, err := textOf(tx, v.Record)
			if err != nil {
				return err
			}
			for _, token := range aToken.FindAllString(text, -1) {
				all[token] = append(all[token], e.Ref)
			}
		}
		return nil
	})
	return all
}

var aToken = regexp.MustCompile(`token\d{4}x`)

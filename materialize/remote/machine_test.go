package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/materialize/release"
	"filebus/materialize/remote"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// The files of the own tree that machines edit.
const (
	queueFile = ".claude/issue_queue.md"
	graphFile = ".claude/knowledge_graph.json"
)

// A clock goes on by a millisecond whenever it is looked at.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(time.Millisecond)
	return c.now
}

// A machine is a workspace with its keys, and one remote.
type machine struct {
	*materialize.Workspace
	t       testing.TB
	label   string
	clock   *clock
	keys    remote.Keys
	through remote.Transport
	filter  record.Filter
	seed    string // of the store's id; "": a random one
}

// newMachine returns a machine whose clock is wrong by some time. Its store must be sound when the test ends.
func newMachine(t testing.TB, label string, through remote.Transport, wrong time.Duration) *machine {
	t.Helper()
	return newMachineOf(t, "", label, through, time.Now().Add(time.Hour+wrong))
}

// newMachineOf returns a machine at some time, whose store has an id by a seed, if there is one.
func newMachineOf(t testing.TB, seed, label string, through remote.Transport, now time.Time) *machine {
	t.Helper()
	m := &machine{t: t, label: label, clock: &clock{now: now}, through: through, seed: seed}
	m.keys = remote.Keys{Dir: filepath.Join(t.TempDir(), "keys")}
	m.openIn(filepath.Join(t.TempDir(), label))
	t.Cleanup(func() {
		report, err := m.Store.Check(context.Background(), nil)
		if err = errors.Join(err, report.Err()); err != nil {
			t.Errorf("the store of %s after the test: %v", label, err)
		}
	})
	return m
}

// openIn opens the workspace in a folder, or makes it.
func (m *machine) openIn(dir string) {
	m.t.Helper()
	at := materialize.Location{Store: filepath.Join(dir, ".filebus"), Main: dir, Root: dir}
	options := store.Options{Now: m.clock.Now, Wait: time.Minute}
	if m.seed != "" {
		options.Random = strings.NewReader(m.seed)
	}
	err := os.MkdirAll(dir, 0o777)
	if err == nil {
		m.Workspace, err = materialize.Create(context.Background(), at, materialize.Settings{Home: m.t.TempDir()}, options)
	}
	if err != nil {
		m.t.Fatal(err)
	}
}

// copyTo returns the same machine with a copy of its folder.
func (m *machine) copyTo(label string) *machine {
	m.t.Helper()
	other := *m
	other.label = label
	other.clock = &clock{now: m.clock.Now().Add(time.Second)}
	dir := filepath.Join(m.t.TempDir(), label)
	if err := os.CopyFS(dir, os.DirFS(m.Main)); err != nil {
		m.t.Fatal(err)
	}
	other.openIn(dir)
	return &other
}

func (m *machine) id() record.StoreID {
	ids, err := m.Store.Origins(context.Background())
	if err != nil {
		m.t.Fatal(err)
	}
	return ids[0]
}

func (m *machine) key() remote.Key {
	key, err := m.keys.Of(m.id())
	if err != nil {
		m.t.Fatal(err)
	}
	return key
}

func (m *machine) trusted() *remote.Trust {
	trust, err := remote.LoadTrust(folder.At(m.Store.Dir()).Sub(remote.Folder))
	if err != nil {
		m.t.Fatal(err)
	}
	return trust
}

// trusts lets machines trust each other.
func trusts(all ...*machine) {
	for _, m := range all {
		trust := m.trusted()
		for _, other := range all {
			if other.id() == m.id() {
				continue
			}
			if err := trust.Set(remote.Trustee{Teller: other.id(), Key: other.key().Public(), Label: remote.Label(other.label)}); err != nil {
				m.t.Fatal(err)
			}
		}
	}
}

func (m *machine) replica() *remote.Replica {
	return &remote.Replica{
		Workspace: m.Workspace, Transport: m.through, Keys: m.keys, Trust: m.trusted(), Label: remote.Label(m.label),
		Filter: m.filter, Now: m.clock.Now,
	}
}

func (m *machine) push() *remote.Pushed {
	m.t.Helper()
	out, err := m.replica().Push(context.Background())
	if err != nil {
		m.t.Fatalf("push of %s: %v", m.label, err)
	}
	return out
}

func (m *machine) pull() *remote.Pulled {
	m.t.Helper()
	out, err := m.replica().Pull(context.Background())
	if err != nil {
		m.t.Fatalf("pull of %s: %v", m.label, err)
	}
	m.obey()
	return out
}

// obey destroys what others have destroyed of its own, as its user does.
func (m *machine) obey() {
	m.t.Helper()
	var asked []record.Ref
	m.view(func(tx *store.Tx) error { asked = tx.Asked(); return nil })
	if len(asked) > 0 {
		m.purge(asked...)
	}
}

// sync brings files and store in step.
func (m *machine) sync(ctx context.Context) error {
	_, err := m.Sync(ctx, m.Root, materialize.SyncOptions{Announced: true})
	return err
}

// put puts a note and returns its ref.
func (m *machine) put(id, text string, tags ...string) record.Ref {
	m.t.Helper()
	body, err := m.Store.Prepare(context.Background(), []byte(text))
	var done []store.Outcome
	if err == nil {
		r := record.Record{Name: note(id), MediaType: "text/markdown", Source: record.SourcePut, Tags: record.NormalizeTags(tags)}
		done, err = m.Store.Put(context.Background(), store.Draft{Record: r, Body: body})
	}
	if err != nil {
		m.t.Fatalf("put of %s: %v", m.label, err)
	}
	return done[0].Ref
}

func note(id string) record.Name { return record.Name{Kind: record.KindNote, ID: id} }

func (m *machine) purge(refs ...record.Ref) {
	m.t.Helper()
	if _, err := m.Release(context.Background(), release.Request{Versions: refs, Files: true}); err != nil {
		m.t.Fatalf("purge of %s: %v", m.label, err)
	}
}

// forget leaves nothing on unused pages of what others have destroyed.
func (m *machine) forget() {
	m.t.Helper()
	_, _, err := m.Store.Compact(context.Background(), 0)
	if err == nil {
		err = m.Store.Update(context.Background(), func(tx *store.Tx) error { return tx.SetWaiting(0) })
	}
	if err != nil {
		m.t.Fatalf("compacting the store of %s: %v", m.label, err)
	}
}

// view reads the store.
func (m *machine) view(read func(*store.Tx) error) {
	m.t.Helper()
	if err := m.Store.View(context.Background(), read); err != nil {
		m.t.Fatalf("reading the store of %s: %v", m.label, err)
	}
}

// head returns the text of a note, "" if it has none.
func (m *machine) head(id string) (text string) {
	m.t.Helper()
	m.view(func(tx *store.Tx) error {
		v, err := tx.Head(note(id))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err == nil {
			text, err = textOf(tx, v.Record)
		}
		return err
	})
	return text
}

func textOf(tx *store.Tx, r *record.Record) (string, error) {
	content, err := tx.Content(r)
	if err != nil {
		return "", err
	}
	text, err := content.Bytes()
	return string(text), err
}

// A known is what a store knows, in a form that is the same on all machines.
type known struct {
	Records   []string          // that users have made
	Heads     map[string]string // by name: the ref of the version that counts, and text and tags of what each store has made of it
	Conflicts []string          // names and refs
	Dropped   []string
}

func (m *machine) known() known {
	m.t.Helper()
	k := known{Heads: map[string]string{}}
	records, dropped := map[string]bool{}, map[string]bool{}
	m.view(func(tx *store.Tx) error {
		for e, err := range tx.Log(1) {
			if err != nil {
				return err
			}
			if t, _ := tx.Trace(e.Ref); t.Merged {
				continue
			}
			if tx.IsDropped(e.Ref) {
				dropped[e.Ref.Short()] = true
			} else if e.Op == store.OpPut {
				records[e.Ref.Short()] = true
			}
		}
		for n, err := range tx.Names(record.Name{}) {
			if err != nil {
				return err
			}
			v, err := tx.Get(n.Ref)
			if err != nil {
				return err
			}
			first, _, _, err := tx.Leaves(v.Record.Name)
			text, textErr := textOf(tx, v.Record)
			if err = errors.Join(err, textErr); err != nil {
				return err
			}
			k.Heads[v.Record.Name.String()] = fmt.Sprintf("%s %q %q", first.Ref.Short(), text, v.Record.Tags)
		}
		for n, err := range tx.NamesEver(record.Name{}) {
			_, _, isLive, leavesErr := tx.Leaves(n)
			if err = errors.Join(err, leavesErr); err != nil {
				return err
			}
			if _, isThere := k.Heads[n.String()]; isLive != isThere {
				m.t.Errorf("%s of %s is current: %v, and has a version that counts: %v", n, m.label, isThere, isLive)
			}
		}
		return nil
	})
	open, err := m.Conflicts(context.Background())
	if err != nil {
		m.t.Fatal(err)
	}
	for _, c := range open {
		k.Conflicts = append(k.Conflicts, c.Name.String()+" "+c.File.Ref.Short())
	}
	slices.Sort(k.Conflicts)
	k.Records, k.Dropped = slices.Sorted(maps.Keys(records)), slices.Sorted(maps.Keys(dropped))
	return k
}

// exchange lets machines push and pull until nothing is new for any.
func exchange(t testing.TB, all ...*machine) {
	t.Helper()
	for range 12 {
		isNew := false
		for _, m := range all {
			if err := m.sync(context.Background()); err != nil {
				t.Fatalf("sync of %s: %v", m.label, err)
			}
			pulled := m.pull()
			if len(pulled.Refused) > 0 {
				t.Fatalf("pull of %s refused %+v", m.label, pulled.Refused)
			}
			if err := m.sync(context.Background()); err != nil {
				t.Fatalf("sync of %s: %v", m.label, err)
			}
			pushed := m.push()
			isNew = isNew || pulled.Segments+pushed.Segments+pushed.Erased > 0
		}
		if !isNew {
			return
		}
	}
	t.Fatal("the machines exchange something new for ever")
}

// wantSame holds that machines know the same, and have the same texts in their files.
func wantSame(t testing.TB, all ...*machine) {
	t.Helper()
	want := all[0].known()
	for _, m := range all[1:] {
		if diff := cmp.Diff(want, m.known()); diff != "" {
			t.Errorf("%s and %s do not know the same (-%[1]s +%[2]s):\n%.4000s", all[0].label, m.label, diff)
		}
		for _, p := range []string{queueFile, graphFile} {
			a, errA := os.ReadFile(filepath.Join(all[0].Root, p))
			b, errB := os.ReadFile(filepath.Join(m.Root, p))
			if !bytes.Equal(a, b) || (errA == nil) != (errB == nil) {
				t.Errorf("%s of %s and %s (-%[2]s +%[3]s):\n%.3000s", p, all[0].label, m.label, cmp.Diff(string(a), string(b)))
			}
		}
	}
	for _, m := range all {
		report, err := m.Store.Check(context.Background(), nil)
		if err = errors.Join(err, report.Err()); err != nil {
			t.Errorf("the store of %s: %v", m.label, err)
		}
	}
}

// A flaky transport is one that fails now and then.
type flaky struct {
	remote.Transport
	before, after func() error                     // what they return is the error of a call
	hide          func(remote.Name) bool           // what has not been synchronised yet
	damage        func(remote.Name, []byte) []byte // what Get reads instead
}

func (f *flaky) call(do func() error) (err error) {
	if f.before != nil {
		err = f.before()
	}
	if err == nil {
		err = do()
	}
	if err == nil && f.after != nil {
		err = f.after()
	}
	return err
}

func (f *flaky) List(ctx context.Context) (l *remote.Listing, err error) {
	err = f.call(func() error {
		if l, err = f.Transport.List(ctx); err != nil || f.hide == nil {
			return err
		}
		l.Blobs = slices.DeleteFunc(l.Blobs, f.hide)
		return nil
	})
	return l, err
}

func (f *flaky) Get(ctx context.Context, name remote.Name) (blob io.ReadCloser, err error) {
	err = f.call(func() error {
		if f.hide != nil && f.hide(name) {
			return &fs.PathError{Op: "get", Path: name.String(), Err: fs.ErrNotExist}
		}
		blob, err = f.Transport.Get(ctx, name)
		if err != nil || f.damage == nil {
			return err
		}
		text, err := io.ReadAll(blob)
		blob = io.NopCloser(bytes.NewReader(f.damage(name, text)))
		return err
	})
	if err != nil {
		return nil, err
	}
	return blob, nil
}

func (f *flaky) Put(ctx context.Context, name remote.Name, size int64, from io.Reader) error {
	return f.call(func() error { return f.Transport.Put(ctx, name, size, from) })
}

func (f *flaky) Remove(ctx context.Context, name remote.Name) error {
	return f.call(func() error { return f.Transport.Remove(ctx, name) })
}

// blobs returns all files of a folder remote that hold a text.
func blobs(t testing.TB, dir, text string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if bytes.Contains(content, []byte(text)) || strings.Contains(name, text) {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func openFolder(t testing.TB, dir string) remote.Transport {
	t.Helper()
	through, err := remote.Open(context.Background(), dir, remote.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	return through
}

// Package noun is the engine of what agents keep as the entries of files: issues, knowledge, and
// whatever else has a table of fields. A noun is a value of Type, whose rows and functions say what
// is special to it. All else is here: an entry is found, checked, compared with those that are
// there, added, changed, and moved from one state to another.
//
// A Collection is the entries of one noun in a workspace. It keeps no state of its own: each change is
// one edit of the file that holds the entry, in which what an agent has written there by hand is
// imported first. Only the fields that change get other bytes. Ids are made within the edit, so
// that no two processes get the same.
package noun

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"filebus/index"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Type says what a noun is. T has the fields of an entry.
type Type[T any] struct {
	Kind   record.Kind
	Word   string // for one of them: issue
	Group  string // of its commands: issue
	Place  string // where they are kept: the queue
	Homes  string // the files that hold them, as an error names these
	Max    int    // bounds what is said of one, in bytes
	Fields *layout.FieldTable[T]
	// Form returns how the entries of a file are written; nil: the file has none.
	Form func(layout.Location) layout.EntryForm[T]
	// IDs returns what a user's id may mean, the literal text first.
	IDs func(id string) []string
	// New completes an entry that is to be added, and returns how its id begins; "": the
	// file makes the id.
	New func(f layout.EntryForm[T], v *T, now time.Time) (prefix string)
	// Words returns what an entry is compared and searched by.
	Words func(*T) string
	// Alike compares a new entry, of whose words so many more are not in one that is there, with that one, of whose words
	// so many others are not in the new one. It returns the share from which on they are likely to be the same; 0: never.
	Alike func(draft *T, e Entry[T], more, others int) (l Likeness, need index.Share)
	// Known says what to do in place of adding one that is known, the first of the ids: {1}.
	Known string

	States []string // in the order of an entry's life; the first is that of one which names none
	Open   []string // those of them in which something is to be done; nil: all
	Verbs  []Verb
	// May returns why a verb is refused whatever the state; nil: nothing is.
	May func(e Entry[T], v Verb, a Act) error
	// Set returns the values that fields get, by their names, when a verb is done; "" takes a
	// field away.
	Set func(e Entry[T], v Verb, a Act) [][2]string
}

// A Verb takes an entry from one state to another. One of a state that is none of the Type's
// may be taken to any. A verb that leads to the state which an entry has changes nothing.
type Verb struct {
	Name  string
	Args  string   // of its command: "ID"
	Flags []string // of its command
	From  []string
	To    string
	Again bool // it is done also where the state is To already
}

// An Act says who does something, and what there is to say of it.
type Act struct {
	Agent  string
	Force  bool          // also where another agent holds the entry
	Lease  time.Duration // how long a claim holds; 0: as long as is usual
	Task   string        // the task that is made of the entry
	Reason string        // why; added to what the entry says already
	Of     string        // another entry that the verb is about
	Now    time.Time
}

// DefaultLease is how long a claim holds unless it is made again.
const DefaultLease = 30 * time.Minute

// An Entry is one of a noun's, with its fields as they are written.
type Entry[T any] struct {
	Name   record.Name
	Path   string     // of its file, slash-separated, below the workspace
	Ref    record.Ref // zero while its file is edited
	Text   []byte
	Fields T
	Facts  layout.Facts
}

// A Collection is the entries of one noun in a workspace.
type Collection[T any] struct {
	Type[T]
	Work *materialize.Workspace
	Read *query.Reader // of the same store
	Now  func() time.Time
	Kept *sync.Map // of a process that goes on: by kind, the entries that were listed last, by their versions; or nil
}

// ErrAbsent is the reason of an error that an entry is not there.
const ErrAbsent record.Reason = "no such entry"

func (c *Collection[T]) absent(id string) error {
	return record.NotFound.Errorf("there is no %s %s", c.Word, id).Try("filebus " + c.Group + " list" + c.onlyOpen()).Because(ErrAbsent)
}

// onlyOpen returns the flag of lists that leaves out what is done, if something can be.
func (t *Type[T]) onlyOpen() string {
	if t.Open == nil {
		return ""
	}
	return " --open"
}

// form returns how the entries of a file are written.
func (c *Collection[T]) form(path string) (layout.EntryForm[T], error) {
	f := c.Form(c.Work.Settings.Profile.Recognize(path))
	if f == nil {
		err := record.Usage.Errorf("%s is no file of %s: those are %s", path, c.Place, c.Homes)
		return nil, err.Try("run it again without --into")
	}
	return f, nil
}

// Entry reads the text of an entry.
func (c *Collection[T]) Entry(name record.Name, path string, text []byte) (e Entry[T], err error) {
	f, err := c.form(path)
	if err != nil {
		return e, err
	}
	fields := f.Read(text)
	return Entry[T]{Name: name, Path: path, Text: text, Fields: fields, Facts: f.Facts(fields)}, nil
}

// read reads a version of an entry.
func (c *Collection[T]) read(tx *store.Tx, v store.Version) (e Entry[T], err error) {
	content, err := tx.Content(v.Record)
	if err != nil {
		return e, err
	}
	text, err := content.Bytes()
	if err != nil {
		return e, fmt.Errorf("reading %s: %w", v.Record.Name, err)
	}
	if e, err = c.Entry(v.Record.Name, v.Record.Path, text); err == nil {
		e.Ref = v.Ref
	}
	return e, err
}

// Head returns the entry with a name, of any tree. One that is not there is query.IsAbsent.
func (c *Collection[T]) Head(tx *store.Tx, name record.Name) (Entry[T], error) {
	v, err := tx.Head(name)
	if err != nil {
		return Entry[T]{}, err
	}
	return c.read(tx, v)
}

// Get returns the entry of the own tree that a user's id means.
func (c *Collection[T]) Get(ctx context.Context, id string) (Entry[T], error) {
	return query.View(ctx, c.Work.Store, func(tx *store.Tx) (e Entry[T], err error) {
		for _, form := range c.IDs(id) {
			name, err := record.NewName("", c.Kind, form)
			if err != nil {
				continue // no entry has such an id
			}
			if e, err = c.Head(tx, name); !errors.Is(err, store.ErrNotFound) {
				return e, err
			}
		}
		return e, c.absent(id)
	})
}

// List returns the entries of the own tree, by their ids.
func (c *Collection[T]) List(ctx context.Context) (all []Entry[T], err error) {
	var unread error
	kept, listed := map[record.Ref]Entry[T]{}, map[record.Ref]Entry[T]{}
	keep := cmp.Or(c.Kept, &sync.Map{}) // c is never changed: others may list at once
	if was, found := keep.Load(c.Kind); found {
		kept = was.(map[record.Ref]Entry[T])
	}
	add := func(ref record.Ref, e Entry[T]) {
		if listed[ref] = e; e.Name.Tree == "" {
			all = append(all, e)
		}
	}
	isKept := func(ref record.Ref) bool {
		e, is := kept[ref]
		if is {
			add(ref, e)
		}
		return is
	}
	err = c.Read.EachBut(ctx, store.FieldKind, string(c.Kind), isKept, func(tx *store.Tx, v store.Version) (enough bool) {
		e := Entry[T]{Name: v.Record.Name}
		if e.Name.Tree == "" {
			e, unread = c.read(tx, v)
		}
		add(v.Ref, e)
		return unread != nil
	})
	if err == nil && unread == nil {
		keep.Store(c.Kind, listed)
	}
	slices.SortStableFunc(all, func(a, b Entry[T]) int { return strings.Compare(a.Name.ID, b.Name.ID) })
	return all, errors.Join(err, unread)
}

// In returns the entries of a file that is being edited, in its order.
func (c *Collection[T]) In(file *materialize.Entries) (all []Entry[T]) {
	for _, stored := range file.List() {
		if e, err := c.Entry(stored.Name, file.Path, stored.Text); err == nil && e.Name.Kind == c.Kind {
			all = append(all, e)
		}
	}
	return all
}

// Import imports the file that new entries go to, if it was changed just now.
func (c *Collection[T]) Import(ctx context.Context) error {
	return c.Work.ImportNew(ctx, c.Kind, "new")
}

// Files returns the files that hold entries, and at last the one that new ones go to.
func (c *Collection[T]) Files(ctx context.Context) (paths []string, err error) {
	frames, err := c.Read.Own(ctx, record.Filter{Kinds: []record.Kind{record.KindFrame}})
	for _, f := range frames {
		if c.Work.Settings.Profile.Recognize(f.Path).Entries == c.Kind {
			paths = append(paths, f.Path)
		}
	}
	own, noPath := c.Work.Settings.Profile.Path(c.Kind, "new")
	return With(paths, own), errors.Join(err, noPath)
}

// Problems returns what keeps parts of files, or of all that hold entries, from being read as
// entries, such as an id that is used twice. What an entry itself lacks shows in its fields.
func (c *Collection[T]) Problems(ctx context.Context, paths ...string) (all []*layout.SyntaxError) {
	if len(paths) == 0 {
		paths, _ = c.Files(ctx) // those that can be listed
	}
	for _, p := range paths {
		text, err := os.ReadFile(c.Work.FilePath(p))
		format, isAggregate := c.Work.Settings.Profile.Recognize(p).Layout.(layout.Aggregate)
		if err != nil || !isAggregate {
			continue // the store has the entries all the same
		}
		_, problems := format.Parse(p, text)
		isOfValue := func(p *layout.SyntaxError) bool { return errors.Is(p, layout.ErrValue) }
		all = append(all, slices.DeleteFunc(problems, isOfValue)...)
	}
	return all
}

// A Filter picks entries. Of several values of one fact any is enough; different facts must all
// match. The zero Filter picks all.
type Filter struct {
	Facts map[string][]string // "status", or attributes
	Open  bool                // only those with something to be done
}

// Picks reports whether a filter picks an entry.
func (t *Type[T]) Picks(f Filter, e Entry[T]) bool {
	for name, wanted := range f.Facts {
		value := e.Facts.Attributes[name]
		if name == "status" {
			value = t.State(e)
		}
		if len(wanted) > 0 && !slices.Contains(wanted, value) {
			return false
		}
	}
	return !f.Open || t.IsOpen(t.State(e))
}

// With returns a list with the items of another that it lacks.
func With(list []string, more ...string) []string {
	all := slices.Clone(list)
	for _, item := range more {
		if item != "" && !slices.Contains(all, item) {
			all = append(all, item)
		}
	}
	return all
}

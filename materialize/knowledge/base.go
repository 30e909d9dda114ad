package knowledge

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Base is the knowledge of a workspace. It reads that of all trees and changes
// that of the workspace's own.
type Base struct {
	work *materialize.Workspace
	read *query.Reader
	now  func() time.Time
}

// New returns the knowledge of a workspace. The reader is of the same store; now
// is the clock of the dates in entries.
func New(w *materialize.Workspace, r *query.Reader, now func() time.Time) *Base {
	return &Base{w, r, now}
}

// An Entry is a pattern, gotcha, decision, insight, task or lesson.
type Entry struct {
	Name   record.Name
	Ref    record.Ref
	Path   string // of its file, slash-separated, below its tree
	Fields layout.Knowledge
	Type   string // in lower case; that of its id where the field is missing
	Links  []record.Link
	Text   []byte
}

// newEntry reads the text of an entry.
func newEntry(f form, name record.Name, path string, text []byte) Entry {
	e := Entry{Name: name, Path: path, Fields: f.read(text), Links: f.links(text), Text: text}
	e.Type = word(e.Fields.Type)
	if first, _, _ := strings.Cut(name.ID, "-"); e.Type == "" && slices.Contains(Types(), first) {
		e.Type = first
	}
	return e
}

// Get returns the entry with a name. It returns query.ErrNoKnowledge if
// there is none.
func (b *Base) Get(ctx context.Context, name record.Name) (e Entry, err error) {
	if name.Kind != record.KindKnowledge {
		return e, query.NoKnowledge(name)
	}
	var v store.Version
	var content store.Content
	err = b.work.Store.View(ctx, func(tx *store.Tx) (err error) {
		if v, err = tx.Head(name); err == nil {
			content, err = tx.Content(v.Record)
		}
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return e, query.NoKnowledge(name)
	}
	if err != nil {
		return e, err
	}
	text, err := content.Head(store.InlineLimit)
	if err != nil {
		return e, fmt.Errorf("reading %s: %w", name, err)
	}
	f, found := formOf(b.work.Settings.Profile, v.Record.Path)
	if !found {
		return e, &FileError{v.Record.Path}
	}
	e = newEntry(f, name, v.Record.Path, text)
	e.Ref = v.Ref
	return e, nil
}

// A FileError says that a path is not that of a file of knowledge.
type FileError struct{ Path string }

func (e *FileError) Error() string {
	return fmt.Sprintf("%s is no file of knowledge: those are knowledge_graph.md, knowledge_graph.json and lessons/NAME.md", e.Path)
}

// A CapturedError says that an entry cannot be changed here, as it is in a tree
// that was captured.
type CapturedError struct{ Name record.Name }

func (e *CapturedError) Error() string {
	return fmt.Sprintf("%s is in a captured tree: change its file and capture that again", e.Name)
}

// A BrokenError says that a file is in no state to be added to.
type BrokenError struct{ Path string }

func (e *BrokenError) Error() string {
	return fmt.Sprintf("%s cannot take an entry as it is: it is broken, or holds conflict markers of git", e.Path)
}

// file returns the path and form of the file that a new entry goes to.
func (b *Base) file(into string) (string, form, error) {
	if into == "" {
		p, err := b.work.Settings.Profile.Path(record.KindKnowledge, "new")
		if err != nil {
			return "", nil, err
		}
		into = p
		sibling := strings.TrimSuffix(p, path.Ext(p)) + ".json"
		if !b.isFile(p) && b.isFile(sibling) {
			into = sibling
		}
	}
	f, found := formOf(b.work.Settings.Profile, into)
	if !found {
		return "", nil, &FileError{into}
	}
	return into, f, nil
}

func (b *Base) isFile(p string) bool {
	info, err := os.Stat(b.work.FilePath(p))
	return err == nil && info.Mode().IsRegular()
}

// A DuplicateError says that a new entry was not added, as it is likely to be
// known already.
type DuplicateError struct{ Like []Likeness }

func (e *DuplicateError) Error() string {
	like := e.Like[0].Entry
	return fmt.Sprintf("not added: %s is likely to be the same: %s", like.Name.ID, firstWords(like.Fields.Content, maxTitle))
}

// Add adds an entry with an id that none has or had, such as pattern-012. With
// strict set one that is likely to be known is refused with a *DuplicateError,
// also when two processes add the same at once.
func (b *Base) Add(ctx context.Context, d Draft, strict bool) (Entry, error) {
	p, f, err := b.file(d.Into)
	if err != nil {
		return Entry{}, err
	}
	d = d.clean()
	if _, isLesson := f.(lesson); d.Confidence == "" && !isLesson {
		d.Confidence = "medium"
	}
	if err := d.checkNew(f); err != nil {
		return Entry{}, err
	}
	var name record.Name
	err = b.work.EditEntriesIn(ctx, p, record.SourcePut, func(e *materialize.Entries) error {
		if like := d.likeIn(f, e); strict && len(like) > 0 {
			return &DuplicateError{like}
		}
		var err error
		name, err = b.insert(e, f, d)
		return err
	})
	if err != nil {
		return Entry{}, err
	}
	return b.added(ctx, name, p)
}

// added reads an entry that was just added. If it is not there, the file has taken
// its text as no entry.
func (b *Base) added(ctx context.Context, name record.Name, p string) (Entry, error) {
	e, err := b.Get(ctx, name)
	if errors.Is(err, query.ErrNoKnowledge) {
		err = &BrokenError{p}
	}
	return e, err
}

// insert adds an entry to a file that is being edited, and returns its name.
func (b *Base) insert(e *materialize.Entries, f form, d Draft) (record.Name, error) {
	id := ""
	if _, isLesson := f.(lesson); !isLesson {
		var err error
		if id, err = e.NextID(record.KindKnowledge, d.Type+"-"); err != nil {
			return record.Name{}, err
		}
	}
	text := f.write(d.entry(id, b.now().UTC().Format(time.DateOnly)))
	made, err := b.idIn(e, id, text)
	if err != nil {
		return record.Name{}, err
	}
	e.Add(record.KindKnowledge, made, text)
	return record.Name{Kind: record.KindKnowledge, ID: made}, nil
}

// idIn returns the id that a new entry has in its file; a lesson gets it from its
// title.
func (b *Base) idIn(e *materialize.Entries, id string, text []byte) (string, error) {
	format, _ := b.work.Settings.Profile.Recognize(e.Path).Layout.(layout.Aggregate) // formOf has seen it
	file, _ := format.Parse(e.Path, e.Text())
	known := map[string]bool{}
	for _, old := range file.Entries() {
		known[old.ID] = true
	}
	file = format.Insert(file, layout.Entry{Kind: record.KindKnowledge, ID: id, Text: text})
	file, _ = format.Parse(e.Path, file.Append(nil))
	for _, entry := range file.Entries() {
		if !known[entry.ID] && (id == "" || entry.ID == id) {
			return entry.ID, nil
		}
	}
	return "", &BrokenError{e.Path}
}

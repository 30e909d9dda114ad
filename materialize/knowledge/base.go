// Package knowledge has the rules of what outlives a task: the entries of a
// knowledge graph, the links between them, and the rows of the context map.
//
// A Base adds and changes entries in the file that holds them, in the form that
// the file has: Markdown, JSON or lessons. Ids are allocated within the change, so
// that no two processes get the same, and none is given twice. What connects
// entries is read by package query; WriteGraph writes a part of that graph for
// other programs, and as a picture.
//
// It also touches rows of the context map, and finds those that concern some files.
// A Harvest takes from the handoff of a task what both of them should keep.
//
// The package keeps no state of its own: all it knows stands in the files.
package knowledge

import (
	"cmp"
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
	"filebus/materialize/markdown"
	"filebus/materialize/secrets"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Base is the knowledge of a workspace, and the context map of its own tree. It
// reads the knowledge of all trees and changes that of its own.
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
	ID     string           `json:"id"`
	Type   string           `json:"type"` // in lower case; that of its id where the field is missing
	Ref    record.Ref       `json:"ref"`
	File   string           `json:"file"` // absolute
	Path   string           `json:"-"`    // slash-separated, below its tree
	Name   record.Name      `json:"-"`
	Fields layout.Knowledge `json:"-"`
	Text   []byte           `json:"-"`
}

// entry reads the text of an entry.
func (b *Base) entry(f form, name record.Name, path string, text []byte) Entry {
	e := Entry{ID: name.ID, Name: name, Path: path, File: b.work.FilePath(path), Fields: f.Read(text), Text: text}
	e.Type = word(e.Fields.Type)
	if first, _, _ := strings.Cut(name.ID, "-"); e.Type == "" && slices.Contains(types(), first) {
		e.Type = first
	}
	return e
}

// entriesIn reads the entries of a file that is being edited.
func (b *Base) entriesIn(f form, e *materialize.Entries) (all []Entry) {
	for _, stored := range e.List() {
		all = append(all, b.entry(f, stored.Name, e.Path, stored.Text))
	}
	return all
}

// Get returns the entry with a name. It returns query.ErrNoKnowledge if
// there is none.
func (b *Base) Get(ctx context.Context, name record.Name) (e Entry, err error) {
	if name.Kind != record.KindKnowledge {
		return e, query.NoKnowledge(name)
	}
	head, err := b.read.Head(ctx, name)
	if errors.Is(err, store.ErrNotFound) {
		return e, query.NoKnowledge(name)
	}
	if err != nil {
		return e, err
	}
	text, err := b.work.TextOf(ctx, head.Version)
	if err != nil {
		return e, fmt.Errorf("reading %s: %w", name, err)
	}
	f, err := b.formOf(head.Path)
	if err != nil {
		return e, err
	}
	e = b.entry(f, name, head.Path, text)
	e.Ref = head.Version.Ref
	return e, nil
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
	f, err := b.formOf(into)
	return into, f, err
}

func (b *Base) isFile(p string) bool {
	info, err := os.Stat(b.work.FilePath(p))
	return err == nil && info.Mode().IsRegular()
}

// Problems returns what keeps parts of a file from being read as entries, such as
// an id that is used twice, in the order of its lines. The path is slash-separated,
// below the workspace. A file that is not there has none.
func (b *Base) Problems(path string) []*layout.SyntaxError {
	text, err := os.ReadFile(b.work.FilePath(path))
	format, isAggregate := b.work.Settings.Profile.Recognize(path).Layout.(layout.Aggregate)
	if err != nil || !isAggregate {
		return nil // the store has the entries all the same
	}
	_, problems := format.Parse(path, text)
	return problems
}

// Add adds an entry with an id that none has or had, such as pattern-012, to a file:
// a path below the workspace, or "" for the knowledge graph of the profile. With
// strict set one that is likely to be known is refused: as one of those
// that Similar has found, or by what is in the file by now.
func (b *Base) Add(ctx context.Context, d Draft, into string, strict bool, known ...Likeness) (Entry, error) {
	if strict && len(known) > 0 {
		return Entry{}, errKnown(known)
	}
	p, f, err := b.file(into)
	if err != nil {
		return Entry{}, err
	}
	d = d.clean()
	if d.Confidence == "" && !f.IsLesson() {
		d.Confidence = "medium"
	}
	if err := d.checkNew(f); err != nil {
		return Entry{}, err
	}
	var name record.Name
	err = b.work.EditEntriesIn(ctx, p, record.SourcePut, func(e *materialize.Entries) (err error) {
		if like := d.among(b.entriesIn(f, e)); strict && len(like) > 0 {
			return errKnown(like)
		}
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
		err = errBroken(p)
	}
	return e, err
}

// insert adds an entry to a file that is being edited, and returns its name.
func (b *Base) insert(e *materialize.Entries, f form, d Draft) (name record.Name, err error) {
	id := ""
	if !f.IsLesson() {
		if id, err = e.NextID(record.KindKnowledge, d.Type+"-"); err != nil {
			return name, err
		}
	}
	k := layout.Knowledge(d)
	k.ID, k.Created = id, b.now().UTC().Format(time.DateOnly)
	if f.IsLesson() {
		k.Title = cmp.Or(k.Title, markdown.FirstWords(k.Content, layout.MaxKnowledgeTitle))
	}
	if f.IsLesson() && b.work.Settings.Secrets == secrets.Redact { // its id is made from it
		k.Title = secrets.Text(k.Title)
	}
	text := f.Append(nil, k)
	if id, err = b.idIn(e, id, text); err != nil {
		return name, err
	}
	e.Add(record.KindKnowledge, id, text)
	return record.Name{Kind: record.KindKnowledge, ID: id}, nil
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
	return "", errBroken(e.Path)
}

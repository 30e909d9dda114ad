// Package knowledge has the commands and the rules of what outlives a task: the entries of a
// knowledge graph, the links between them, and the rows of the context map.
//
// Entries adds and changes entries in the file that holds them, in the form that
// the file has: Markdown, JSON or lessons; package noun does so. What connects
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
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/noun"
	"filebus/index"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/secrets"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// Entries is the knowledge of a workspace, and the context map of its own tree. It
// reads the knowledge of all trees and changes that of its own.
type Entries struct {
	noun.Collection[layout.Knowledge]
}

// New returns the knowledge of a workspace. The reader is of the same store; now
// is the clock of the dates in entries.
func New(w *materialize.Workspace, r *query.Reader, now func() time.Time) *Entries {
	redacts := w.Settings.Secrets == secrets.Redact
	return &Entries{noun.Collection[layout.Knowledge]{Type: typeOf(redacts), Work: w, Read: r, Now: now}}
}

// typeOf returns what an entry of knowledge is. What a title has of secrets is taken out
// before an id is made of it if redacts is set.
func typeOf(redacts bool) noun.Type[layout.Knowledge] {
	return noun.Type[layout.Knowledge]{
		Kind: record.KindKnowledge, Word: "entry", Group: "knowledge", Place: "the knowledge graph",
		Homes:  "knowledge_graph.md, knowledge_graph.json and lessons/NAME.md",
		Max:    8 << 10, // about 2,000 tokens, twenty times what one usually has
		Fields: layout.KnowledgeFields(),
		Form: func(at layout.Location) layout.EntryForm[layout.Knowledge] {
			if f := at.KnowledgeForm(); f != nil {
				return f
			}
			return nil
		},
		IDs: func(id string) []string { return []string{id} },
		New: func(f layout.EntryForm[layout.Knowledge], k *layout.Knowledge, now time.Time) string {
			k.Created = now.UTC().Format(time.DateOnly)
			if !isLesson(f) {
				k.Confidence = cmp.Or(k.Confidence, "medium")
				return k.Type + "-"
			}
			if k.Title = cmp.Or(k.Title, markdown.FirstWords(k.Content, layout.MaxKnowledgeTitle)); redacts {
				k.Title = secrets.Text(k.Title)
			}
			return ""
		},
		Words:  func(k *layout.Knowledge) string { return k.Title + " " + k.Content },
		Alike:  alike,
		States: []string{""},
	}
}

// isLesson reports whether a file makes the ids of its entries from their titles.
func isLesson(f layout.EntryForm[layout.Knowledge]) bool {
	k, is := f.(layout.KnowledgeForm)
	return is && k.IsLesson()
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

// made returns what an entry of a file is.
func (b *Entries) made(e noun.Entry[layout.Knowledge], err error) (Entry, error) {
	if err != nil {
		return Entry{}, err
	}
	return Entry{
		ID: e.Name.ID, Type: e.Facts.Attributes[record.AttributeType], Ref: e.Ref, File: b.Work.FilePath(e.Path), Path: e.Path,
		Name: e.Name, Fields: e.Fields, Text: e.Text,
	}, nil
}

// Get returns the entry with a name. It returns query.ErrNoKnowledge if
// there is none.
func (b *Entries) Get(ctx context.Context, name record.Name) (Entry, error) {
	if name.Kind != record.KindKnowledge {
		return Entry{}, query.NoKnowledge(name)
	}
	e, err := query.View(ctx, b.Work.Store, func(tx *store.Tx) (noun.Entry[layout.Knowledge], error) { return b.Head(tx, name) })
	if errors.Is(err, store.ErrNotFound) {
		err = query.NoKnowledge(name)
	}
	return b.made(e, err)
}

// own reports what keeps an entry from being changed: that it is in a captured tree, or not there.
func (b *Entries) own(ctx context.Context, name record.Name) error {
	if name.Tree != "" {
		err := record.Usage.Errorf("%s is in a captured tree: change its file and capture that again", name)
		return err.Try("filebus show {1}", name.String())
	}
	_, err := b.Get(ctx, name)
	return err
}

// file returns the path of the file that a new entry goes to: a path below the workspace,
// or "" for the knowledge graph of the profile.
func (b *Entries) file(into string) (string, error) {
	if into != "" {
		return into, nil
	}
	p, err := b.Work.Settings.Profile.Path(record.KindKnowledge, "new")
	if sibling := strings.TrimSuffix(p, path.Ext(p)) + ".json"; err == nil && !b.isFile(p) && b.isFile(sibling) {
		p = sibling
	}
	return p, err
}

func (b *Entries) isFile(p string) bool {
	info, err := os.Stat(b.Work.FilePath(p))
	return err == nil && info.Mode().IsRegular()
}

// Add adds an entry with an id that none has or had, such as pattern-012, to a file:
// see file and [noun.Collection.Add].
func (b *Entries) Add(ctx context.Context, draft layout.Knowledge, into string, strict bool, known ...noun.Likeness) (Entry, error) {
	p, err := b.file(into)
	if err != nil {
		return Entry{}, err
	}
	return b.made(b.Collection.Add(ctx, p, draft, strict, known...))
}

// Edit sets fields of an entry to what a draft says: see [noun.Collection.Edit].
func (b *Entries) Edit(ctx context.Context, name record.Name, draft layout.Knowledge, flags []string) (Entry, error) {
	if err := b.own(ctx, name); err != nil {
		return Entry{}, err
	}
	e, err := b.Get(ctx, name)
	if err == nil && e.Fields.ID == "" && slices.Contains(flags, "title") {
		err = record.Usage.Errorf("the title of %s cannot be changed: its id is made from it", name.ID)
	}
	if err == nil && b.at(e.Path).Sets("status") {
		err = b.editStatus(ctx, e, &draft, flags)
	} else if err == nil {
		_, err = b.Collection.Edit(ctx, name.ID, draft, flags)
	}
	if err != nil {
		return Entry{}, err
	}
	return b.Get(ctx, name)
}

// The shares of words from which on two entries of one type are likely to say the same: where one
// has all words of the other, and where each has some that the other lacks. Where those are few, they
// tell two things apart, of which the same is said.
const (
	likelyShare = 0.6
	likelyApart = 0.8
	fewWords    = 2
)

// alike says of an entry whether it may say the same as a new one.
func alike(draft *layout.Knowledge, e noun.Entry[layout.Knowledge], more, others int) (l noun.Likeness, need index.Share) {
	if e.Facts.Attributes[record.AttributeType] != cmp.Or(draft.Type, "lesson") {
		return l, 0
	}
	const maxSummary = 100 // bounds the summary of a likeness, in characters
	l.Summary = markdown.Clip(markdown.OneLine(e.Fields.Content), maxSummary)
	have := record.NormalizeTags(e.Fields.Tags)
	l.Tags = slices.DeleteFunc(slices.Clone(draft.Tags), func(tag string) bool { return !slices.Contains(have, tag) })
	switch {
	case min(more, others) == 0:
		return l, likelyShare
	case max(more, others) <= fewWords:
		return l, 0
	}
	return l, likelyApart
}

// Similar returns the entries of the workspace's own tree that a draft is likely
// to say the same as, the most alike first. Entries that others supersede are left out.
func (b *Entries) Similar(ctx context.Context, draft layout.Knowledge) ([]noun.Likeness, error) {
	like, err := b.Likely(ctx, draft)
	if err != nil || len(like) == 0 {
		return nil, err
	}
	superseded, err := b.Read.Superseded(ctx)
	return slices.DeleteFunc(like, func(l noun.Likeness) bool {
		by := superseded[record.Name{Kind: record.KindKnowledge, ID: l.ID}]
		return !by.IsZero()
	}), err
}

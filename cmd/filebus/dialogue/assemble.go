package dialogue

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// lifecycles returns how far a document can be, in this order: the last word of the name
// of its file.
func lifecycles() []string { return []string{"draft", "wip", "accepted", "recorded"} }

// ParseLifecycle reads one of the lifecycles; "" stays so.
func ParseLifecycle(text string) (string, error) {
	l := strings.ToLower(text)
	if l != "" && !slices.Contains(lifecycles(), l) {
		return "", fmt.Errorf("%q is no status of a document: draft, wip, accepted or recorded", text)
	}
	return l, nil
}

// maxDocument is how long a document may become, in bytes, before its rounds are
// files of their own: 20,000 tokens, less than agents read at once.
const maxDocument = 4 * 20_000

// AssembleOptions say how a document is written.
type AssembleOptions struct {
	Status string // "": the one that it has; of a new one, draft
	Split  bool   // each round in a file of its own, however short
	Force  bool   // also over what somebody has changed by hand
}

// A documentFile is one file of a document.
type documentFile struct {
	Name string // of the file, without folders
	Text []byte
}

// An Assembled says what was written.
type Assembled struct {
	Dialogue Key             `json:"dialogue"`
	Status   string          `json:"status,omitempty"`  // "": it was not stored
	Files    []assembledFile `json:"files"`             // the document first, then its rounds
	Removed  []string        `json:"removed,omitempty"` // files of another status that are no more, absolute
	Rounds   int             `json:"rounds"`
	Turns    int             `json:"turns"`
	Absent   int             `json:"absent"` // agents that owed a turn and gave none
	Skipped  error           `json:"-"`      // what was written just now and could not be imported
}

// An assembledFile is a file of a document that was written.
type assembledFile struct {
	File      string `json:"file"`           // absolute
	Name      string `json:"name,omitempty"` // of its record; "": it was not stored
	Ref       string `json:"ref,omitempty"`
	Tokens    int    `json:"tokens"`
	Unchanged bool   `json:"unchanged"`
}

// newAssembled counts what is in a document, of which no file was written yet.
func newAssembled(key Key, doc layout.DialogueDocument) *Assembled {
	a := &Assembled{Dialogue: key, Rounds: len(doc.Rounds)}
	for _, r := range doc.Rounds {
		for _, t := range r.Turns {
			if t.Absent != "" {
				a.Absent++
			} else {
				a.Turns++
			}
		}
	}
	return a
}

// renderDocument returns the files of a document, whose own is called name: one, or
// with its rounds beside it if the document would pass maxDocument, or anyway.
func renderDocument(doc layout.DialogueDocument, name string, split bool) []documentFile {
	whole := layout.AppendDialogueDocument(nil, doc)
	if len(doc.Rounds) == 0 || !split && len(whole) <= maxDocument {
		return []documentFile{{name, whole}}
	}
	files := []documentFile{{Name: name}}
	index := doc
	index.Rounds = slices.Clone(doc.Rounds)
	for i, r := range doc.Rounds {
		part := roundName(name, r.Number)
		files = append(files, documentFile{part, layout.AppendDialogueRound(nil, doc.Head.Title, name, r)})
		index.Rounds[i].File, index.Rounds[i].Turns = part, nil
	}
	files[0].Text = layout.AppendDialogueDocument(nil, index)
	return files
}

// roundName returns the name of a round's file, beside that of the document.
func roundName(name string, round int) string {
	stem := strings.TrimSuffix(name, ".md")
	part := ".round-" + strconv.Itoa(round)
	for _, l := range lifecycles() {
		if head, found := strings.CutSuffix(stem, "."+l); found {
			return head + part + "." + l + ".md"
		}
	}
	return stem + part + ".md"
}

// tryForce is what helps where a file of the store is not replaced.
const tryForce = "run it again with --out FILE, or with --force, after which filebus get {1} still gives the text"

// checkOverwrite returns errEdited if old, the text of a file, is neither the
// new one nor as dialogue assemble has written it.
func checkOverwrite(file string, old, text []byte, hint string, names ...string) error {
	if sealed, intact := layout.CheckSeal(old); len(old) == 0 || sealed && intact || bytes.Equal(old, text) {
		return nil
	}
	err := record.Conflict.Errorf("%s was not written by dialogue assemble, or was changed since", file)
	return err.Try(hint, names...).Because(errEdited, file)
}

// WriteDocument writes a document to a file, absolute, and its rounds beside it if they
// are files of their own. It returns errEdited, having written nothing, where a file was
// changed by hand, unless force is set. How a file is written, and whether one is
// replaced, is the caller's.
func WriteDocument(
	key Key, doc layout.DialogueDocument, file string, split, force bool,
	write func(file string, text []byte, replaces bool) error,
) (*Assembled, error) {
	files := renderDocument(doc, filepath.Base(file), split)
	done := newAssembled(key, doc)
	var olds [][]byte
	for _, part := range files {
		size := int64(len(part.Text))
		one := assembledFile{File: filepath.Join(filepath.Dir(file), part.Name), Tokens: record.EstimateTokens(size)}
		old, err := os.ReadFile(one.File)
		if err == nil && !force {
			err = checkOverwrite(one.File, old, part.Text, "run it again with another --out FILE")
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		one.Unchanged = err == nil && bytes.Equal(old, part.Text)
		done.Files, olds = append(done.Files, one), append(olds, old)
	}
	for i, one := range slices.Backward(done.Files) { // the document last: it names the others
		if one.Unchanged {
			continue
		}
		if err := write(one.File, files[i].Text, olds[i] != nil); err != nil {
			return nil, err
		}
	}
	return done, nil
}

// Assemble writes the document of a dialogue below the folder for documents, as
// {time}-{slug}.dialogue.{status}.md: the same records give the same bytes. A
// document of another status is renamed. It returns ErrCaptured for a dialogue of a
// captured tree, and errEdited, having written nothing, where a file was
// changed by hand.
func (f *Dialogues) Assemble(ctx context.Context, key Key, opts AssembleOptions) (*Assembled, error) {
	if err := key.checkOwn(); err != nil {
		return nil, err
	}
	const assembleTries = 5 // how often a document is assembled anew because another process was faster
	for try := 1; ; try++ {
		done, err := f.assemble(ctx, key, opts)
		if !errors.Is(err, store.ErrConflict) || errors.Is(err, errEdited) || try == assembleTries {
			return done, err
		}
	}
}

func (f *Dialogues) assemble(ctx context.Context, key Key, opts AssembleOptions) (*Assembled, error) {
	d, skipped, err := f.ReadFresh(ctx, key)
	if err != nil {
		return nil, err
	}
	doc, err := f.Document(ctx, d)
	if err != nil {
		return nil, err
	}
	folder, base := d.documentBase()
	old, err := f.documentFiles(ctx, folder, base)
	if err != nil {
		return nil, err
	}
	done := newAssembled(key, doc)
	done.Status, done.Skipped = cmp.Or(opts.Status, statusOf(old)), skipped
	files := renderDocument(doc, base+".dialogue."+done.Status+".md", opts.Split)
	for _, o := range old {
		err := checkOverwrite(f.w.FilePath(o.Record.Path), o.text, textIn(files, path.Base(o.Record.Name.ID)),
			tryForce, o.Ref.Short())
		if err != nil && !opts.Force {
			return nil, err
		}
	}
	return done, f.writeFiles(ctx, d, done, folder, files, old)
}

// documentBase returns the folder of a dialogue's documents, as the ids of records
// begin, and what the names of its files begin with: the time that the dialogue was
// made, and its slug.
func (d *Dialogue) documentBase() (folder, base string) {
	slug := d.Key.Slug()
	folder = strings.TrimSuffix(d.Key.ID, slug) + "docs/"
	if created := d.Pool.Created; !created.IsZero() && !stamp().MatchString(slug) {
		return folder, created.UTC().Format("2006-01-02T1504Z") + "-" + slug
	}
	return folder, slug
}

// documentName is what follows the base in the name of a document's file.
var documentName = layout.Pattern(`^\.dialogue(\.round-\d+)?\.(draft|wip|accepted|recorded)\.md$`)

// A documentRecord is a file of a document that is stored.
type documentRecord struct {
	store.Version
	status  string
	isRound bool
	text    []byte
}

// documentFiles returns the files that a document has now, in all statuses, as they
// are on disk.
func (f *Dialogues) documentFiles(ctx context.Context, folder, base string) ([]documentRecord, error) {
	stored, err := f.storedDocument(ctx, folder, base)
	if err != nil {
		return nil, err
	}
	ids := markdown.Each(stored, func(file documentRecord) string { return file.Record.Name.ID })
	for _, l := range lifecycles() {
		ids = append(ids, folder+base+".dialogue."+l+".md")
	}
	slices.Sort(ids)
	for _, id := range slices.Compact(ids) {
		if err := f.w.ImportNew(ctx, record.KindDialogue, id); err != nil {
			return nil, err
		}
	}
	return f.storedDocument(ctx, folder, base)
}

// Documents returns the names of the documents that are stored of a dialogue, one for
// each status, without the files of their rounds. One of a captured tree has none.
func (f *Dialogues) Documents(ctx context.Context, d *Dialogue) ([]record.Name, error) {
	folder, base := d.documentBase()
	if !d.Key.IsOwn() {
		return nil, nil
	}
	stored, err := f.storedDocument(ctx, folder, base)
	var names []record.Name
	for _, file := range stored {
		if !file.isRound {
			names = append(names, file.Record.Name)
		}
	}
	return names, err
}

// storedDocument returns the files of a document that are stored, by name.
func (f *Dialogues) storedDocument(ctx context.Context, folder, base string) ([]documentRecord, error) {
	entries, err := f.startingWith(ctx, record.Name{Kind: record.KindDialogue, ID: folder + base})
	if err != nil {
		return nil, err
	}
	var files []documentRecord
	for _, e := range entries {
		m := documentName().FindStringSubmatch(e.Version.Record.Name.ID[len(folder+base):])
		if m == nil {
			continue
		}
		text, err := f.w.TextOf(ctx, e.Version)
		if err != nil {
			return nil, err
		}
		files = append(files, documentRecord{e.Version, m[2], m[1] != "", text})
	}
	slices.SortFunc(files, func(a, b documentRecord) int { return strings.Compare(a.Record.Name.ID, b.Record.Name.ID) })
	return files, nil
}

// statusOf returns the status of the document that there is: the furthest one.
func statusOf(files []documentRecord) string {
	furthest := 0
	for _, f := range files {
		if !f.isRound {
			furthest = max(furthest, slices.Index(lifecycles(), f.status))
		}
	}
	return lifecycles()[furthest]
}

// textIn returns the text of a file by its name, nil if it is none of these.
func textIn(files []documentFile, name string) []byte {
	for _, file := range files {
		if file.Name == name {
			return file.Text
		}
	}
	return nil
}

// writeFiles stores the files of a document, and removes those that it has no more.
func (f *Dialogues) writeFiles(
	ctx context.Context, d *Dialogue, done *Assembled, folder string, files []documentFile, old []documentRecord,
) error {
	from := markdown.Each(d.versions(), func(v store.Version) record.Ref { return v.Ref })
	for _, file := range slices.Backward(files) { // the document never names a file that is not there
		request := materialize.PutRequest{
			Kind: record.KindDialogue, ID: folder + file.Name, Text: bytes.NewReader(file.Text), From: from,
			Source: record.SourceCombine, Expect: store.Absent(),
			Facts: layout.Facts{Attributes: map[string]string{layout.AttributeDialogue: d.Key.Slug()}},
		}
		for _, o := range old {
			if o.Record.Name.ID != request.ID {
				continue
			}
			request.Expect = store.Current(o.Ref)
			if bytes.Equal(o.text, file.Text) { // made from other versions that say the same
				request.From = o.Record.From
			}
		}
		put, err := f.w.Put(ctx, request)
		if err != nil {
			return err
		}
		done.Files = append(done.Files, assembledFile{
			put.File, put.Name.String(), put.Ref.String(), record.EstimateTokens(put.Record.Size), put.Unchanged,
		})
	}
	slices.Reverse(done.Files)
	for _, o := range old {
		if textIn(files, path.Base(o.Record.Name.ID)) != nil {
			continue
		}
		if err := f.w.Remove(ctx, o.Record.Name); err != nil {
			return err
		}
		done.Removed = append(done.Removed, f.w.FilePath(o.Record.Path))
	}
	return nil
}

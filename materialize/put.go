package materialize

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/store"
	"filebus/store/record"
)

// A PutRequest is a text to be stored under a name of the project's own tree.
// The facts that are given win over what the text says.
type PutRequest struct {
	Kind  record.Kind
	ID    string // may be empty for a result: see NewID
	Text  io.Reader
	Facts layout.Facts // Status, Tags, Agent, ... ; a zero field says nothing
	Exit  *int
	// Preview is the most characters of the preview; 0: what the settings say.
	Preview int
	// About describes the text where it cannot say itself what it says: the
	// Markdown that a PDF was made from. Nil: the text itself.
	About  []byte
	From   []record.Ref
	Links  []record.Link
	Source record.Source
	Expect store.Expect
	// Keep stores a result whose name is taken by another text under a call of
	// its own, which the error names, so that a text which nobody else has is not lost.
	Keep bool
	// NewSession is a session that nothing may belong to yet: else store.ErrConflict.
	NewSession string

	newConversation string // one that must be nobody else's
}

// A PutResult says what a put did. The file holds the text when it is returned.
type PutResult struct {
	Name        record.Name
	Ref         record.Ref
	File        string // absolute; empty for a record that has no file
	Unchanged   bool
	Record      *record.Record
	Description record.Description
}

// Reference returns what a parent agent gets in place of the text.
func (r *PutResult) Reference() record.Reference {
	return record.Reference{
		Agent: r.Record.Agent, ResultFile: r.File, WordCount: r.Description.Words, Preview: r.Description.Preview,
	}
}

// Put stores a text and then writes its file. A text of a kind that lives in an
// aggregate file must be one entry of it, with the id of the request.
func (w *Workspace) Put(ctx context.Context, r PutRequest) (*PutResult, error) {
	if r.Kind == record.KindFrame {
		return nil, fmt.Errorf("a frame is stored with its file: put the entries, or capture the file")
	}
	if r.Kind.IsEntry() {
		return w.putEntry(ctx, r)
	}
	if r.Kind == record.KindResult {
		return w.putResult(ctx, r)
	}
	name, p, err := w.locationOf(r.Kind, r.ID)
	if err != nil {
		return nil, err
	}
	text, err := prepareStream(ctx, w.Store, r.Text)
	if err != nil {
		return nil, err
	}
	defer func() { _ = text.body.Discard() }() // a temporary file, swept later if it stays
	var result *PutResult
	err = w.withMirror(ctx, w.Root, func(rec *reconciler) error {
		if err := rec.takeIn(ctx, p); err != nil { // what an agent wrote there comes first
			return err
		}
		if result, err = w.store(ctx, r, text, name, p); err != nil {
			return err
		}
		return rec.putOut(ctx, p)
	})
	return result, err
}

// locationOf returns the name of a kind and id, and the path that its file has.
func (w *Workspace) locationOf(kind record.Kind, id string) (record.Name, string, error) {
	name, err := record.NewName("", kind, id)
	if err != nil {
		return name, "", err
	}
	p, err := w.RecordPath(kind, id)
	if err != nil {
		return name, "", err
	}
	if place := w.recognise(p); kind == record.KindNote && place.Kind != record.KindNote {
		if place.Kind == record.KindFrame {
			return name, "", record.Conflict.Errorf("%s is a file of entries, not a note: put them one by one", p)
		}
		there := record.Name{Kind: place.Kind, ID: place.ID}
		return name, "", record.Conflict.Errorf("%s is the place of %s, not of a note", p, there)
	}
	isLong := func(segment string) bool { return len(segment) > maxName }
	if kind == record.KindResult && slices.ContainsFunc(strings.Split(p, "/"), isLong) {
		return name, "", fmt.Errorf("the id of a result becomes the names of its folder and file, which have at most %d bytes", maxName)
	}
	return name, p, checkWritable(p)
}

// entryLocation returns the name of an entry, and the path of the file that holds it
// or held it last; a new one goes where the profile says.
func (w *Workspace) entryLocation(ctx context.Context, kind record.Kind, id string) (record.Name, string, error) {
	name, p, err := w.locationOf(kind, id)
	if err != nil {
		return name, p, err
	}
	err = w.Store.View(ctx, func(tx *store.Tx) error {
		last, _, err := tx.Last(name)
		switch {
		case errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrDropped):
			return nil
		case err == nil && last.Record.Path != "":
			p = last.Record.Path
		}
		return err
	})
	return name, p, err
}

// A preparedText is a text that was read, hashed and compressed, ready to be put
// under any name.
type preparedText struct {
	sample
	body store.Body
}

// store puts a record that is a whole file.
func (w *Workspace) store(ctx context.Context, r PutRequest, text preparedText, name record.Name, p string) (*PutResult, error) {
	file, _ := w.recognise(p).Parse(p, text.text) // what departs from the layout is stored all the same
	facts := r.Facts
	if entries := file.Entries(); len(entries) == 1 {
		facts = facts.Or(entries[0].Facts)
	}
	draft := store.Draft{
		Record: envelope(name, p, facts, r.Source), Body: text.body, Expect: r.Expect,
	}
	draft.Record.Exit, draft.Record.From, draft.Record.Links = r.Exit, r.From, slices.Clone(r.Links)
	draft.Description = w.describePut(r, text, facts)
	record.SortLinks(draft.Record.Links)
	var outcome store.Outcome
	var description record.Description
	err := w.Store.Update(ctx, func(tx *store.Tx) (err error) {
		err = errors.Join(checkNew(tx, store.FieldConversation, r.newConversation), checkNew(tx, store.FieldSession, r.NewSession))
		if err != nil {
			return err
		}
		outcome, err = tx.Put(draft)
		description = tx.Description(outcome.Ref) // of what was there, if nothing is new
		return err
	})
	if err != nil {
		return nil, err
	}
	return &PutResult{
		Name: name, Ref: outcome.Ref, File: w.FilePath(p), Unchanged: outcome.Unchanged,
		Record: outcome.Record, Description: description,
	}, nil
}

// checkNew returns a store.ErrConflict if something belongs already to a
// conversation or session that was just made up; "" is none.
func checkNew(tx *store.Tx, field store.Field, id string) error {
	if id == "" {
		return nil
	}
	for _, err := range tx.Lookup(field, id) {
		return errors.Join(err, store.ErrConflict)
	}
	return nil
}

// takeIn stores what stands on disk at a path, if it is not stored yet, so that a
// write to the same path builds on it. It is remembered before that write begins:
// a process that dies in it leaves a file that is behind, not one that looks as if
// somebody had put an older version back.
func (r *reconciler) takeIn(ctx context.Context, p string) error {
	r.opts = SyncOptions{Announced: true, CaptureOnly: true}
	done, err := r.settle(ctx, p)
	if errors.Is(err, mirror.ErrRaced) {
		return fmt.Errorf("taking in %s: %w; try again", p, err)
	}
	return errors.Join(conflictOr(p, done, err), r.Memory.Save())
}

// putOut writes what the store has at a path, also over a file that was rolled
// back: its text is one that the store has.
func (r *reconciler) putOut(ctx context.Context, p string) error {
	r.opts = SyncOptions{Announced: true, Repair: true}
	done, err := r.settle(ctx, p)
	if errors.Is(err, mirror.ErrRaced) {
		return fmt.Errorf("writing %s: %w; the store has the change, and filebus sync writes it", p, err)
	}
	return conflictOr(p, done, err)
}

// IsRace reports whether somebody else was faster, so that the same can succeed when
// it is tried again. A link in the way stays there.
func IsRace(err error) bool {
	return errors.Is(err, store.ErrConflict) && !errors.Is(err, mirror.ErrLink)
}

// conflictOr returns err, or the error of a file that is in conflict.
func conflictOr(p string, done SyncedFile, err error) error {
	if err == nil && done.Action == ActionConflict {
		err = fmt.Errorf("%s: %w: %s; see filebus conflicts", p, store.ErrConflict, done.Detail)
	}
	return err
}

// putEntry puts an entry into its aggregate file.
func (w *Workspace) putEntry(ctx context.Context, r PutRequest) (*PutResult, error) {
	name, p, err := w.entryLocation(ctx, r.Kind, r.ID)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r.Text, store.InlineLimit+1))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", name, err)
	}
	entry, err := w.parseEntry(name, p, text)
	if err != nil {
		return nil, err
	}
	if err := w.editAggregate(ctx, p, r.Source, setEntry(name, entry, r.Expect)); err != nil {
		return nil, err
	}
	return w.putResultOf(ctx, name, p)
}

// putResultOf describes the head of a name.
func (w *Workspace) putResultOf(ctx context.Context, name record.Name, p string) (*PutResult, error) {
	result := &PutResult{Name: name, File: w.FilePath(p)}
	err := w.Store.View(ctx, func(tx *store.Tx) error {
		v, err := tx.Head(name)
		if err == nil {
			result.Ref, result.Record, result.Description = v.Ref, v.Record, tx.Description(v.Ref)
		}
		return err
	})
	return result, err
}

// parseEntry makes sure that a text is one entry of a file, with the id that its
// name says.
func (w *Workspace) parseEntry(name record.Name, p string, text []byte) (*layout.Entry, error) {
	if len(text) > store.InlineLimit {
		return nil, fmt.Errorf("%s: an entry of more than %d bytes", name, store.InlineLimit)
	}
	aggregate, ok := w.recognise(p).Layout.(layout.Aggregate)
	if !ok {
		return nil, fmt.Errorf("%s: the file %s has no entries", name, p)
	}
	if isList(w.recognise(p)) {
		text = slices.Concat([]byte(`{"nodes": [`), bytes.TrimSpace(text), []byte("]}"))
	}
	file, _ := aggregate.Parse(p, text) // an entry that departs from its layout is stored all the same
	entries := detachSpace(file).Entries()
	if len(entries) == 0 { // a row is one only in its table
		file = aggregate.Insert(layout.File{Path: p}, layout.Entry{Kind: name.Kind, ID: name.ID, Text: text})
		file, _ = aggregate.Parse(p, file.Append(nil))
		entries = detachSpace(file).Entries()
	}
	if len(entries) != 1 || !isEntryID(p, entries[0].ID, name.ID) {
		return nil, fmt.Errorf("%s: the text is not one entry with this id; an entry of %s begins with its heading or is its row", name, p)
	}
	return entries[0], nil
}

// isEntryID reports whether a text whose id reads as id can be the entry of that
// name: "~2" and, for an id made from the title, "-2" tell it from others.
func isEntryID(p, id, name string) bool {
	number, found := strings.CutPrefix(name, id+"-")
	if found && strings.HasPrefix(id, p+"#") && number != "" && strings.Trim(number, "0123456789") == "" {
		return true
	}
	return id == baseID(name)
}

// An edit sets the text of an aggregate file, given what the store has of it: nil
// if that is nothing.
type edit func(f *sourceFile, now *seated) error

// editAggregate changes an aggregate file of the own tree: what stands on disk is
// taken in, the file is edited, stored, and written again.
func (w *Workspace) editAggregate(ctx context.Context, p string, source record.Source, change edit) error {
	return w.withMirror(ctx, w.Root, func(r *reconciler) error {
		if err := r.takeIn(ctx, p); err != nil {
			return err
		}
		for try := 1; ; try++ {
			var refusal error // of the edit: a conflict that is no race
			err := w.tryEdit(ctx, p, source, func(f *sourceFile, now *seated) error {
				refusal = change(f, now)
				return refusal
			})
			if refusal != nil || !IsRace(err) || try == raceTries {
				return errors.Join(err, r.putOut(ctx, p))
			}
		}
	})
}

func (w *Workspace) tryEdit(ctx context.Context, p string, source record.Source, change edit) error {
	now, err := view(ctx, w.Store, func(tx *store.Tx) (*seated, error) { return seatedAt(tx, "", p) })
	if err != nil {
		return err
	}
	f := sourceFile{path: p, place: w.recognise(p), source: source}
	if err := change(&f, frameOnly(now)); err != nil {
		return err
	}
	_, err = w.storeOver(ctx, f, now)
	return err
}

// setEntry returns the edit that puts an entry in place of the one that has its
// name, or else as a new one.
func setEntry(name record.Name, entry *layout.Entry, expect store.Expect) edit {
	return func(f *sourceFile, now *seated) error {
		if expect != (store.Expect{}) {
			f.expect = map[record.Name]store.Expect{name: expect}
		}
		e := newEntries(f.path, now)
		e.added = []layout.Entry{*entry}
		if now != nil && slices.Contains(now.frame.slots(), name) {
			e.Set(name, entry.Text)
			e.added = nil
		}
		return e.apply(f)
	}
}

// endLike returns text with a newline at its end if the text that it replaces
// has one: something may follow.
func endLike(text, old []byte) []byte {
	if bytes.HasSuffix(old, []byte("\n")) && !bytes.HasSuffix(text, []byte("\n")) {
		return slices.Concat(text, []byte(markdown.LineEnding(old)))
	}
	return text
}

// The alphabet of made ids: digits and letters in the order of their bytes,
// without those that are easily misread.
const idAlphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// NewID returns an id of 10 characters that is safe as a file name: 7 for the
// time in eighths of a second since 2020, so that ids sort by time, and 3 at
// random. Whoever uses it must expect that the name is absent.
func (w *Workspace) NewID() string {
	since := w.now().Sub(time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC))
	var random [8]byte
	_, _ = rand.Read(random[:]) // documented never to fail
	n := uint64(since/(time.Second/8))<<15 | binary.BigEndian.Uint64(random[:])>>49
	var id [10]byte
	for i := len(id) - 1; i >= 0; i-- {
		id[i] = idAlphabet[n&31]
		n >>= 5
	}
	return string(id[:])
}

// Remove retires a name: it is found no more, its file goes, its versions stay
// readable by ref.
func (w *Workspace) Remove(ctx context.Context, name record.Name) error {
	return w.RemoveVersion(ctx, name, store.Expect{})
}

// RemoveVersion is Remove of a name that has an expected version. Another one, also
// of its file, is a store.ErrConflict.
func (w *Workspace) RemoveVersion(ctx context.Context, name record.Name, expect store.Expect) error {
	if name.Kind == record.KindFrame {
		return fmt.Errorf("%s is the frame of a file: remove its entries, or delete the file", name)
	}
	head, err := view(ctx, w.Store, func(tx *store.Tx) (store.Version, error) {
		head, err := tx.Head(name)
		if err == nil {
			err = tx.Meets(name, expect)
		}
		return head, err
	})
	if err != nil {
		return err
	}
	retire := func() error {
		return w.Store.Update(ctx, func(tx *store.Tx) error { return tx.Retire(name, store.Current(head.Ref)) })
	}
	switch {
	case name.Tree != "" && name.Kind.IsEntry():
		return fmt.Errorf("%s is an entry of a captured file: change the file and capture it again", name)
	case name.Tree != "" || head.Record.Path == "":
		return retire()
	case name.Kind.IsEntry():
		return w.editAggregate(ctx, head.Record.Path, record.SourcePut, func(f *sourceFile, now *seated) error {
			if now == nil || !slices.Contains(now.frame.slots(), name) {
				return fmt.Errorf("%s: %w", name, store.ErrNotFound)
			}
			e := newEntries(f.path, now)
			e.Remove(name)
			return e.apply(f)
		})
	}
	return w.withMirror(ctx, w.Root, func(r *reconciler) error { return r.removeWhole(ctx, head.Record, retire) })
}

// removeWhole retires a record that is a whole file and deletes the file. What an
// agent has made of a write-once file was kept as a note when it was taken in, and
// a file that holds an older version was left alone: it has to be as the store has
// it before it can go.
func (r *reconciler) removeWhole(ctx context.Context, of *record.Record, retire func() error) error {
	if err := r.takeIn(ctx, of.Path); err != nil {
		return err
	}
	if err := r.putOut(ctx, of.Path); err != nil {
		return err
	}
	if err := retire(); err != nil {
		return err
	}
	if err := r.putOut(ctx, of.Path); err != nil || of.Name.Kind != record.KindResult {
		return err
	}
	return r.removeFolder(ctx, path.Dir(of.Path))
}

// Restore makes the last version of a retired name current again.
func (w *Workspace) Restore(ctx context.Context, name record.Name) (*PutResult, error) {
	var last store.Version
	var text []byte
	err := w.Store.View(ctx, func(tx *store.Tx) (err error) {
		var current bool
		if last, current, err = tx.Last(name); err != nil {
			return err
		}
		if current {
			return fmt.Errorf("%s was not removed: %w", name, store.ErrConflict)
		}
		content, err := tx.Content(last.Record)
		if err == nil && last.Record.Size <= store.InlineLimit {
			text, err = content.Bytes()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if name.Kind.IsEntry() {
		return w.putEntry(ctx, PutRequest{Kind: name.Kind, ID: name.ID, Text: bytes.NewReader(text), Source: record.SourcePut})
	}
	if err := w.restoreFile(ctx, last); err != nil {
		return nil, err
	}
	return w.putResultOf(ctx, name, last.Record.Path)
}

func (w *Workspace) restoreFile(ctx context.Context, last store.Version) error {
	draft, err := w.again(ctx, last)
	if err != nil {
		return err
	}
	draft.Record.Source, draft.Expect = record.SourcePut, store.Absent()
	if _, err := w.Store.Put(ctx, draft); err != nil {
		return err
	}
	if last.Record.Name.Tree != "" || last.Record.Path == "" {
		return nil
	}
	return w.withMirror(ctx, w.Root, func(r *reconciler) error { return r.putOut(ctx, last.Record.Path) })
}

func (w *Workspace) contentOf(ctx context.Context, v store.Version) (content store.Content, d record.Description, err error) {
	err = w.Store.View(ctx, func(tx *store.Tx) (err error) {
		d = tx.Description(v.Ref)
		content, err = tx.Content(v.Record)
		return err
	})
	return content, d, err
}

// again returns a draft of a version, its body prepared for another put.
func (w *Workspace) again(ctx context.Context, v store.Version) (store.Draft, error) {
	content, description, err := w.contentOf(ctx, v)
	if err != nil {
		return store.Draft{}, err
	}
	r, err := content.Open()
	if err != nil {
		return store.Draft{}, err
	}
	body, err := w.Store.PrepareReader(ctx, r)
	return store.Draft{Record: *v.Record, Body: body, Description: description}, errors.Join(err, r.Close())
}

// Tag adds and removes tags of a name: a new version with the same body.
func (w *Workspace) Tag(ctx context.Context, name record.Name, add, remove []string) (*PutResult, error) {
	add, remove = record.NormalizeTags(add), record.NormalizeTags(remove)
	head, err := view(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Head(name) })
	if err != nil {
		return nil, err
	}
	draft, err := w.again(ctx, head)
	if err != nil {
		return nil, err
	}
	tagged := &draft.Record
	tagged.Source, draft.Expect = record.SourcePut, store.Current(head.Ref)
	tagged.Tags = record.NormalizeTags(append(slices.Clone(tagged.Tags), add...))
	tagged.Tags = slices.DeleteFunc(tagged.Tags, func(tag string) bool { return slices.Contains(remove, tag) })
	if _, err := w.Store.Put(ctx, draft); err != nil {
		return nil, err
	}
	return w.putResultOf(ctx, name, tagged.Path)
}

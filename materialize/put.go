package materialize

import (
	"bytes"
	"cmp"
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
	"unicode"

	"filebus/materialize/layout"
	"filebus/materialize/plan"
	"filebus/materialize/secrets"
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
	// Note is what the preview of a result begins with: what is missing, in a few words.
	Note string
	// Replaces lets a result follow another text, that of Expect.
	Replaces bool
	Again    bool // it is stored also if it was destroyed before
	// Keep stores a result whose name is taken by another text under a call of
	// its own, which the error names, so that a text which nobody else has is not lost.
	Keep    bool
	Careful bool // refuses a path at which filebus has nothing to write unasked: see mayPut
	Listed  bool // and also one that no layout and no note folder has, as an agent names it
	// NewSession is a session that nothing may belong to yet: else store.ErrConflict.
	NewSession string
	// Secrets is what is done about secrets in the text; "": what the settings say.
	Secrets secrets.Mode

	newConversation string // one that must be nobody else's
}

// A PutResult says what a put did. The file holds the text when it is returned.
type PutResult struct {
	Ref         record.Ref         `json:"ref"`
	Name        record.Name        `json:"name"`
	File        string             `json:"file,omitempty"` // absolute; empty for a record that has no file
	Unchanged   bool               `json:"unchanged"`
	Healed      bool               `json:"healed,omitempty"`  // what was stored of the text was damaged, and is whole again
	Secrets     []secrets.Match    `json:"secrets,omitempty"` // that were found in the text, the first of them
	Record      *record.Record     `json:"-"`
	Description record.Description `json:"-"`
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
	switch {
	case r.Kind == record.KindFrame:
		return nil, fmt.Errorf("a frame is stored with its file: put the entries, or capture the file")
	case r.Kind.IsEntry():
		return w.putEntry(ctx, r)
	case r.Kind == record.KindResult:
		return w.putResult(ctx, r)
	}
	name, p, err := w.locationOf(r.Kind, r.ID)
	if err != nil {
		return nil, err
	}
	text, err := w.prepare(ctx, &r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = text.Body.Discard() }() // a temporary file, swept later if it stays
	f := w.fileOf(r, text, name, p)
	may := func(rec *reconciler) error {
		rec.again = r.Again // also as it lies on disk
		return rec.mayPut(ctx, r, p, text.Body.Digest)
	}
	result, err := w.change(ctx, p, may, func(*plan.State) (*plan.File, error) { return f, nil })
	if result != nil {
		w.tellSecrets(r, f, result)
	}
	return result, err
}

// ErrForeignFile says that a file is not for filebus to write, unless somebody insists.
const ErrForeignFile record.Reason = "not filebus's file"

const whyObeyed = "is a file that clients or builds obey"

// mayPut refuses a careful put where somebody else's file stands, unless it has the
// same text, or the caller says which version it takes the place of; and a new note
// where nobody expects one: as a hidden file, or outside of the note folders, if the
// settings name any.
func (r *reconciler) mayPut(ctx context.Context, put PutRequest, p string, text record.Digest) error {
	r.ReadAgain(p)
	s, err := r.compare(ctx, p)
	if err == nil && s.now == nil {
		err = r.mayStand(ctx, p)
	}
	if err != nil || !put.Careful {
		return err
	}
	why, at, below := "", r.w.realPath(p), strings.TrimPrefix(p, r.w.Settings.Profile.Root+"/")
	isNote := put.Kind == record.KindNote
	isObeyed := isNote && (layout.IsObeyed(p) || layout.IsObeyed(at))
	switch {
	case isObeyed && (put.Listed || !s.disk.Exists):
		why = whyObeyed
	case put.Listed && !(r.w.isMirrored(p) && r.w.isMirrored(at)) && !(p == at && r.w.isPlainNote(p)):
		why = "is in no folder for notes; filebus config set notes FOLDER names one"
	case s.disk.Exists && (s.disk.Digest == text || put.Expect != store.Expect{} || r.hasWritten(ctx, s)):
	case s.disk.Exists:
		why = "has a text that filebus did not write"
	case !isNote || r.w.isMirrored(p) && !strings.HasPrefix(path.Base(p), "."):
	case strings.HasPrefix(below, ".") || strings.Contains(below, "/."):
		why = "would be a hidden file"
	case len(r.w.Settings.NoteFolders) > 0:
		why = "is outside of the note folders, " + strings.Join(r.w.Settings.NoteFolders, ", ")
	}
	if why != "" {
		err = record.Conflict.Errorf("%s %s; nothing was stored", p, why).Because(ErrForeignFile)
	}
	return err
}

// isPlainNote reports whether an agent may call a note so where no folder for notes is set: words in small letters with
// hyphens between, at the top, as no program calls what it obeys.
func (w *Workspace) isPlainNote(p string) bool {
	words, _ := strings.CutSuffix(p, ".md")
	isOther := func(c rune) bool { return !unicode.IsLower(c) && !unicode.IsDigit(c) && c != '-' }
	return len(w.noteFolders()) == 0 && strings.Contains(words, "-") && strings.IndexFunc(words, isOther) < 0
}

// mayStand refuses a new path below that of a record or a file, and one that is a folder.
func (r *reconciler) mayStand(ctx context.Context, p string) error {
	if err := r.CheckWay(ctx, p); err != nil {
		return err
	}
	return r.w.Store.View(ctx, func(tx *store.Tx) error {
		for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
			if at, err := plan.At(tx, "", dir); err != nil || at != nil {
				return cmp.Or(err, error(record.Conflict.Errorf("%s is a file, so there is none below it: %s", dir, p)))
			}
		}
		for _, err := range tx.Values(store.FieldPath, store.PathValue("", p+"/")) {
			return cmp.Or(err, error(record.Conflict.Errorf("%s is the folder of other files", p)))
		}
		return nil
	})
}

// hasWritten reports whether a file has the text of a version that a command brought and not a file.
func (r *reconciler) hasWritten(ctx context.Context, s sides) (is bool) {
	if s.now == nil {
		return false
	}
	_ = r.w.Store.View(ctx, func(tx *store.Tx) (err error) { // as far as it can be read
		found, v := false, s.now.Version
		for ; err == nil && (!found || v.Record.Body == s.disk.Digest); v, err = tx.Get(v.Record.Prev) {
			found = v.Record.Body == s.disk.Digest
			is = found && v.Record.Source != record.SourceSync && v.Record.Source != record.SourceCapture
		}
		return err
	})
	return is
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
	if there := w.nameAt(p); kind == record.KindNote && there.Kind != record.KindNote {
		return name, "", record.Conflict.Errorf("%s is the place of %s, not of a note", p, there)
	}
	isLong := func(segment string) bool { return len(segment) > maxName }
	if kind == record.KindResult && slices.ContainsFunc(strings.Split(p, "/"), isLong) {
		return name, "", fmt.Errorf("the id of a result becomes the names of its folder and file, which have at most %d bytes", maxName)
	}
	if kind != record.KindNote && layout.IsObeyed(path.Join(path.Dir(p), "x")) || kind == record.KindKnowledge && layout.IsObeyed(p) {
		return name, "", record.Usage.Errorf("%s %s, and no place of a %s", p, whyObeyed, kind)
	}
	return name, p, w.checkOwn(p)
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
	return name, p, cmp.Or(err, w.checkOwn(p))
}

// fileOf returns the whole file that a request proposes.
func (w *Workspace) fileOf(r PutRequest, text plan.Content, name record.Name, p string) *plan.File {
	f := plan.File{
		Path: p, Location: w.recognise(p), Content: text, About: r.About, Source: r.Source, From: r.From, Facts: r.Facts,
		Name: name, Preview: cmp.Or(r.Preview, w.Settings.Preview), Again: r.Again,
	}
	f.Check = func(tx *store.Tx) error {
		err := checkNew(tx, store.FieldConversation, r.newConversation)
		return cmp.Or(err, checkNew(tx, store.FieldSession, r.NewSession), tx.Meets(name, r.Expect))
	}
	f.Complete = func(d *store.Draft) {
		d.Replaces, d.Record.Exit, d.Record.Links = r.Replaces, r.Exit, slices.Clone(r.Links)
		record.SortLinks(d.Record.Links)
		if name.Kind == record.KindResult {
			d.Description.Preview = resultPreview(*d, f, f.Preview, r.Note)
		}
	}
	return &f
}

// resultOf says what storing a text at a path did.
func (w *Workspace) resultOf(ctx context.Context, p string, done *plan.Plan) (result *PutResult, err error) {
	put := done.Put
	result = &PutResult{
		File: w.FilePath(p), Ref: put.Ref, Unchanged: put.Unchanged, Healed: put.Healed, Record: put.Record, Description: done.Said,
	}
	if put.Record != nil {
		result.Name = put.Record.Name
	}
	if put.Unchanged {
		result.Description, err = view(ctx, w.Store, func(tx *store.Tx) (record.Description, error) {
			return tx.Description(put.Ref), nil // of what was there
		})
	}
	return result, err
}

// tellSecrets remembers the secrets of a text that is stored, and says so in the result.
func (w *Workspace) tellSecrets(r PutRequest, f *plan.File, result *PutResult) {
	w.guard.note(Secret{Name: f.Name.String(), Taken: r.Secrets == secrets.Redact}, f.Secrets, f.SecretCount)
	result.Secrets = f.Secrets
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

// putEntry puts an entry into its aggregate file: in place of the one that has its
// name, or else as a new one.
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
	err = w.EditEntriesIn(ctx, p, r.Source, func(e *Entries) error {
		e.secrets, e.again = cmp.Or(r.Secrets, e.secrets), r.Again
		e.check = func(tx *store.Tx) error { return tx.Meets(name, r.Expect) }
		if _, found := e.now.Entry(name); found {
			e.Set(name, entry.Text)
		} else {
			e.added = append(e.added, *entry)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return w.PutResultOf(ctx, name, p)
}

// PutResultOf describes the head of a name, whose record has a path.
func (w *Workspace) PutResultOf(ctx context.Context, name record.Name, p string) (*PutResult, error) {
	var done plan.Plan
	err := w.Store.View(ctx, func(tx *store.Tx) (err error) {
		if done.Put.Version, err = tx.Head(name); err == nil {
			done.Said = tx.Description(done.Put.Ref)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return w.resultOf(ctx, p, &done)
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
	if plan.IsList(w.recognise(p)) {
		text = slices.Concat([]byte(`{"nodes": [`), bytes.TrimSpace(text), []byte("]}"))
	}
	file, _ := aggregate.Parse(p, text) // an entry that departs from its layout is stored all the same
	entries := plan.Detach(file).Entries()
	if len(entries) == 0 { // a row is one only in its table
		file = aggregate.Insert(layout.File{Path: p}, layout.Entry{Kind: name.Kind, ID: name.ID, Text: text})
		file, _ = aggregate.Parse(p, file.Append(nil))
		entries = plan.Detach(file).Entries()
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
	return id == plan.BaseID(name)
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

// NewConversation returns the id of a conversation that nobody has named: NewID in the lane of
// the store, as what several machines give at random in one moment is not enough.
func (w *Workspace) NewConversation(ctx context.Context) (string, error) {
	lane, err := w.Lane(ctx)
	return layout.WithLane(w.NewID(), lane), err
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
	case name.Tree != "" && name.IsEntry():
		return fmt.Errorf("%s is an entry of a captured file: change the file and capture it again", name)
	case name.Tree != "" || head.Record.Path == "":
		return retire()
	case name.IsEntry():
		return w.EditEntriesIn(ctx, head.Record.Path, record.SourcePut, func(e *Entries) error {
			if _, found := e.now.Entry(name); !found {
				return fmt.Errorf("%s: %w", name, store.ErrNotFound)
			}
			e.remove(name)
			return nil
		})
	}
	return w.withMirror(ctx, w.Root, func(r *reconciler) error { return r.removeWhole(ctx, head.Record, retire) })
}

// removeWhole retires a record that is a whole file and deletes the file. What an
// agent has made of a write-once file was kept as a note when it was imported, and
// a file that holds an older version was left alone: it has to be as the store has
// it before it can go.
func (r *reconciler) removeWhole(ctx context.Context, of *record.Record, retire func() error) error {
	write := func() error { return r.writeFile(ctx, of.Path) }
	err := firstError(func() error { return r.importFile(ctx, of.Path) }, write, retire, write)
	if err != nil || of.Name.Kind != record.KindResult {
		return err
	}
	return r.removeFolder(ctx, path.Dir(of.Path))
}

// Restore makes the last version of a retired name current again.
func (w *Workspace) Restore(ctx context.Context, name record.Name) (*PutResult, error) {
	last, err := view(ctx, w.Store, func(tx *store.Tx) (store.Version, error) {
		last, current, err := tx.Last(name)
		if err == nil && current {
			err = record.Conflict.Errorf("%s was not removed: it is current", name).Try("filebus get {1}", name.String())
		}
		return last, err
	})
	if err != nil {
		return nil, err
	}
	if name.IsEntry() {
		text, err := w.TextOf(ctx, last)
		if err != nil {
			return nil, err
		}
		return w.putEntry(ctx, PutRequest{Kind: name.Kind, ID: name.ID, Text: bytes.NewReader(text), Source: record.SourcePut, Secrets: secrets.Off})
	}
	p := last.Record.Path
	put := func() error {
		return w.putAgain(ctx, last, func(draft *store.Draft) {
			draft.Record.Source, draft.Expect = record.SourcePut, store.Absent()
		})
	}
	if name.Tree != "" || p == "" {
		err = put()
	} else {
		err = w.withMirror(ctx, w.Root, func(r *reconciler) error {
			return firstError(func() error { return r.mayStand(ctx, p) }, put, func() error { return r.writeFile(ctx, p) })
		})
	}
	if err != nil {
		return nil, err
	}
	return w.PutResultOf(ctx, name, p)
}

// putAgain puts what change makes of a version, with the same body.
func (w *Workspace) putAgain(ctx context.Context, v store.Version, change func(*store.Draft)) error {
	return w.Store.Update(ctx, func(tx *store.Tx) error {
		_, err := tx.Get(v.Ref)
		if err != nil { // it was destroyed meanwhile
			return err
		}
		draft := store.Draft{Record: *v.Record, Body: store.BodyOf(v.Record), Description: tx.Description(v.Ref)}
		w.fill(tx, &draft)
		change(&draft)
		_, err = tx.Put(draft)
		return err
	})
}

// firstError does some steps, up to the first that fails.
func firstError(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// IsTaggedHere reports whether a record has a tag that somebody has given its name in this store: what other stores
// say of a name, and what a version took over from one of theirs, does not count. A text that follows one of theirs
// may still say what that said of itself: TagPublic counts only once it is given to the text as it stands.
func IsTaggedHere(tx *store.Tx, of *record.Record, tag string) bool {
	has := func(ref record.Ref, body record.Digest) bool { // as what is destroyed may have had
		v, err := tx.Get(ref)
		return err != nil || slices.Contains(v.Record.Tags, tag) ||
			tag == TagPublic && v.Record.Body != body && (v.Record.IsMerged() || !tx.IsOwn(v.Record.Origin))
	}
	events, _ := tx.History(of.Name) // else nobody has
	return slices.Contains(of.Tags, tag) && slices.ContainsFunc(events, func(e store.Event) bool {
		v, err := tx.Get(e.Ref)
		if err != nil || e.Change != store.ChangePut {
			return false
		}
		r := v.Record
		return tx.IsOwn(r.Origin) && !r.IsMerged() && slices.Contains(r.Tags, tag) &&
			(r.Prev.IsZero() || !has(r.Prev, r.Body)) && !slices.ContainsFunc(r.From, func(from record.Ref) bool { return has(from, record.Digest{}) })
	})
}

// The tags that count only where somebody has given them in this store: of what leaves no store, and of what leaves it although it
// looks like having a secret.
const (
	TagPrivate = "private"
	TagPublic  = "public"
)

// maxTagTries bounds how often tags are set anew because another process was faster. Tags
// do not get in each other's way, so nobody has to decide.
const maxTagTries = 100

// Tag adds and removes tags of a name: a new version with the same body.
func (w *Workspace) Tag(ctx context.Context, name record.Name, add, remove []string) (put *PutResult, err error) {
	tag := func(add, remove []string) error {
		return again(maxTagTries, func() (err error) {
			put, err = w.tag(ctx, name, add, remove)
			return err
		})
	}
	theirs, err := view(ctx, w.Store, func(tx *store.Tx) (tags []string, err error) {
		head, err := tx.Head(name)
		for _, tag := range []string{TagPrivate, TagPublic} {
			if err == nil && slices.Contains(add, tag) && slices.Contains(head.Record.Tags, tag) && !IsTaggedHere(tx, head.Record, tag) {
				tags = append(tags, tag)
			}
		}
		return tags, err
	})
	if len(theirs) > 0 { // it is this store's word from now on
		err = tag(nil, theirs)
	}
	if err == nil {
		err = tag(add, remove)
	}
	return put, err
}

// Stand says the standing of an entry of knowledge by the link that is made of a time, in place of what was said of it so
// before. Its text and its file stay as they are.
func (w *Workspace) Stand(ctx context.Context, name record.Name, linkOf func(at time.Time) record.Link) error {
	return again(maxTagTries, func() error {
		head, err := view(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Head(name) })
		if err != nil {
			return err
		}
		at := w.now()
		if at.Before(head.Record.Time) { // what its text says is older
			at = head.Record.Time
		}
		return w.putAgain(ctx, head, func(draft *store.Draft) {
			link := linkOf(at)
			isOther := func(l record.Link) bool { return l.Type == link.Type }
			draft.Record.Links = append(slices.DeleteFunc(slices.Clone(draft.Record.Links), isOther), link)
			record.SortLinks(draft.Record.Links)
			draft.Record.Source, draft.Expect = record.SourcePut, store.Current(head.Ref)
		})
	})
}

func (w *Workspace) tag(ctx context.Context, name record.Name, add, remove []string) (*PutResult, error) {
	add, remove = record.NormalizeTags(add), record.NormalizeTags(remove)
	head, err := view(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Head(name) })
	facts := layout.Facts{Tags: add}
	if err == nil {
		err = w.guardFacts(name.String(), w.secretMode(record.SourcePut), &facts)
	}
	if err != nil {
		return nil, err
	}
	add = record.NormalizeTags(facts.Tags)
	err = w.putAgain(ctx, head, func(draft *store.Draft) {
		draft.Record.AddTags(add)
		draft.Record.Tags = slices.DeleteFunc(draft.Record.Tags, func(tag string) bool { return slices.Contains(remove, tag) })
		draft.Record.Source, draft.Expect = record.SourcePut, store.Current(head.Ref)
	})
	if err != nil {
		return nil, err
	}
	return w.PutResultOf(ctx, name, head.Record.Path)
}

// Package plan turns the bytes of a file and its place into drafts of records. A
// Planner compares a File with the State that the store has at its path, and makes
// a Plan of it: the puts and retires of one transaction. It merges an aggregate file
// that both sides have changed. It reads the store, and never a file.
package plan

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// A Plan is what storing one file means: puts and retires that go into one
// transaction, so that a frame and its entries never disagree.
type Plan struct {
	Puts      []store.Draft
	Names     []record.Name // of what then stands in the file; that of a frame is the last
	Problems  []*layout.SyntaxError
	Conflicts []string           // what of the file is kept beside the store's
	Changed   int                // records that were stored or retired
	Position  uint64             // of the log after that; 0: nothing had to be done
	Put       store.Outcome      // of the last of the puts
	Said      record.Description // by its draft
	retires   []retirement
	check     func(*store.Tx) error
}

// A Refusal is the error of a File's Check. It is none of a race, so the same fails again.
type Refusal struct{ error }

// Unwrap returns the error of the Check.
func (r Refusal) Unwrap() error { return r.error }

type retirement struct {
	name   record.Name
	expect store.Expect
}

func (p *Plan) retire(v store.Version) {
	p.retires = append(p.retires, retirement{v.Record.Name, store.Current(v.Ref)})
}

// retireAll plans that what stood at a path is there no more.
func (p *Plan) retireAll(old *State) {
	p.retire(old.Version)
	for _, name := range old.Frame.Slots() {
		p.retire(old.Entries[name].Version)
	}
}

// Apply carries the plan out. What it expects was read in an earlier
// transaction; if that has changed, the error is a store.ErrConflict.
func (p *Plan) Apply(tx *store.Tx) error {
	p.Changed = 0
	if p.check != nil {
		if err := p.check(tx); err != nil {
			return Refusal{err}
		}
	}
	for _, r := range p.retires {
		if err := tx.Retire(r.name, r.expect); err != nil {
			return err
		}
		p.Changed++
	}
	for _, d := range p.Puts {
		outcome, err := tx.Put(d)
		if err != nil {
			return err
		}
		if p.Put, p.Said = outcome, d.Description; !outcome.Unchanged {
			p.Changed++
		}
	}
	p.Position = tx.Position()
	return nil
}

// Admits returns the store.ErrBarred of what is planned, if something of it was destroyed before and stays out.
func (p *Plan) Admits(tx *store.Tx) (err error) {
	for _, d := range p.Puts {
		err = cmp.Or(err, tx.Admits(d))
	}
	return err
}

// CarryOut is Apply in a transaction of its own, if there is anything to do.
func (p *Plan) CarryOut(ctx context.Context, s *store.Store) error {
	if len(p.Puts)+len(p.retires) == 0 {
		return nil
	}
	return s.Update(ctx, p.Apply)
}

// A File is a file to be stored: its place and its text.
type File struct {
	Tree     record.Tree
	Path     string
	Location layout.Location
	Content
	About  []byte      // describes the text where it cannot say itself what it says; nil: the text
	Mode   fs.FileMode // of a file on disk
	Source record.Source
	From   []record.Ref // what it was made from
	Facts  layout.Facts // win over what the text says
	Edited *State       // what an edit made of the file's entries: their names are known
	// A command that stores a text knows its Name, else what stands at the place has it; how long its preview may be, if
	// not as usual; what else its draft says; and what must hold in the store, else nothing is stored.
	Name     record.Name
	Again    bool // it is stored also if it was destroyed before
	Preview  int
	Complete func(*store.Draft)
	Check    func(*store.Tx) error
	// Changed tells when the file on disk was changed, zero if nobody knows. It is asked
	// only where neither the text nor its path say it; nil: nobody knows.
	Changed func() time.Time

	wasThere bool // an entry that has another text in the store
}

// A Planner makes plans for a store.
type Planner struct {
	Store   *store.Store
	Preview int  // the longest preview, in characters
	Review  bool // knowledge is proposed, unless its text says how it stands
	Now     func() time.Time
}

// A Single says what the store has for a file that is one record.
type Single struct {
	Old     *State
	fresh   record.Name // the name of a file that is new there; else that of Old
	started string      // when the old version's task began, as its text says
	tags    []string    // of the old version, that a command gave it
}

// SingleOf reads what the store has for a file, given what stands at its path.
func SingleOf(tx *store.Tx, f File, old *State) (Single, error) {
	s := Single{Old: old, fresh: f.Name}
	if f.Name.IsZero() {
		name, err := record.NewName(f.Tree, f.Location.Kind, f.Location.ID)
		if err != nil {
			return s, err
		}
		if s.fresh = old.Name(); s.fresh.Kind == record.KindHandoff {
			s.started = tx.Description(old.Version.Ref).Attributes[layout.AttributeStarted]
		}
		if s.fresh.Kind != name.Kind || s.started != "" {
			s.fresh = freeName(name, taken(tx))
		}
	} else if head, err := tx.Head(f.Name); err == nil {
		s.Old = &State{Version: head}
	} else { // what else is wrong with it, the put says
		s.Old = nil
	}
	if s.Old != nil {
		s.tags = commandTags(tx, s.Old.Version, f.Location)
	}
	return s, nil
}

// Single plans a file that is a single record, and prepared.
func (w Planner) Single(f File, at Single) *Plan {
	d, problems := w.Draft(at.fresh, f)
	d.Expect = store.Absent()
	p := &Plan{Problems: problems, check: f.Check}
	old := at.Old
	if old != nil && !startsAnew(old.Version.Record, at.started, d.Description.Attributes[layout.AttributeStarted]) {
		d.Record.AddTags(at.tags)
		if old.Name().Kind != at.fresh.Kind {
			p.retireAll(old)
		} else {
			d.Record.Name, d.Expect = old.Name(), store.Current(old.Version.Ref)
		}
	}
	if f.Complete != nil {
		f.Complete(&d)
	}
	p.Puts, p.Names = []store.Draft{d}, []record.Name{d.Record.Name}
	return p
}

// Again plans to put the text of a version once more, which heals what is damaged of
// it in the store and changes nothing else.
func (w Planner) Again(ctx context.Context, f File, old *State) (*Plan, error) {
	if err := f.Prepare(ctx, w.Store); err != nil {
		return nil, err
	}
	d, _ := w.Draft(old.Name(), f)
	d.Record, d.Expect = *old.Version.Record, store.Current(old.Version.Ref)
	return &Plan{Puts: []store.Draft{d}, Names: []record.Name{old.Name()}}, nil
}

// Draft returns the draft of a record that is a whole file, and prepared, with the
// places where the file departs from its layout.
func (w Planner) Draft(name record.Name, f File) (store.Draft, []*layout.SyntaxError) {
	text := f.Text
	if f.Size() > int64(len(text)) && layout.IsJSONLines(f.Path) { // a line may be cut
		text = text[:bytes.LastIndexByte(text, '\n')+1]
	}
	if f.Location.Kind == record.KindNote {
		text = markdown.Decode(text)
	}
	file, problems := f.Location.Parse(f.Path, text)
	if entries := file.Entries(); len(entries) == 1 {
		f.Facts = f.Facts.Or(entries[0].Facts)
	}
	d := w.draft(name, f)
	d.Record.From = f.From
	return d, problems
}

// draft returns the draft of a record for a text of which only the facts are known.
func (w Planner) draft(name record.Name, f File) store.Draft {
	if w.Review && name.Kind == record.KindKnowledge {
		f.Facts.Status = cmp.Or(f.Facts.Status, "proposed")
	}
	d := store.Draft{Record: envelope(name, f), Body: f.Body, Description: describe(f, cmp.Or(f.Preview, w.Preview)), Again: f.Again}
	if d.Record.Written = w.written(f); name.IsEntry() {
		d.Content = f.said
	}
	return d
}

// said returns the digest of what an entry says, without its heading and fields; zero if it is too short.
func (f File) said() record.Digest {
	text := f.Facts.Summary
	if form := f.Location.KnowledgeForm(); form != nil {
		text = form.Read(f.Text).Content
	}
	if text = markdown.SingleSpaced(text); len(text) < store.LeastBarred || strings.HasSuffix(text, "…") { // that is cut
		return record.Digest{}
	}
	return record.DigestOf([]byte("said\x00" + text))
}

// Beside returns the draft of a text that is kept beside what the store has, which its
// links name.
func (w Planner) Beside(ctx context.Context, name record.Name, f File, links ...record.Link) (store.Draft, error) {
	if err := f.Prepare(ctx, w.Store); err != nil {
		return store.Draft{}, err
	}
	d := w.draft(name, f)
	d.Record.Source = record.SourceSync
	d.Record.Links = append(d.Record.Links, links...)
	record.SortLinks(d.Record.Links)
	return d, nil
}

// Conflict is the link of a conflict version to target: the ref of the store's version,
// or the name if there is none.
func Conflict(target string) record.Link {
	return record.Link{Type: record.LinkConflict, Target: target}
}

// startsAnew reports whether the place of a finished journal was taken by a new
// task: that is a new thing, not a version of the old one.
func startsAnew(old *record.Record, oldStarted, started string) bool {
	if old.Name.Kind != record.KindHandoff || oldStarted == "" {
		return false
	}
	switch old.Status {
	case "", "in_progress", "pending":
		return false
	}
	return started != "" && started != oldStarted
}

// FreeName returns name, or name~2, name~3, ... if the store has or had it.
func FreeName(tx *store.Tx, name record.Name) record.Name { return freeName(name, taken(tx)) }

func freeName(name record.Name, taken func(record.Name) bool) record.Name {
	base := name.ID
	for n := 2; taken(name); n++ {
		name.ID = base + "~" + strconv.Itoa(n)
	}
	return name
}

// BaseID takes the "~2" of a second thing with one id away.
func BaseID(id string) string {
	at := strings.LastIndexByte(id, '~')
	if at <= 0 {
		return id
	}
	if _, err := strconv.ParseUint(id[at+1:], 10, 31); err != nil {
		return id
	}
	return id[:at]
}

// taken reports names that exist in the store, retired ones too, or that this
// plan has given away already.
func taken(tx *store.Tx) func(record.Name) bool {
	given := map[record.Name]bool{}
	return func(name record.Name) bool {
		_, current, err := tx.Last(name)
		taken := given[name] || err == nil && current || err != nil && !errors.Is(err, store.ErrNotFound)
		given[name] = given[name] || !taken
		return taken
	}
}

// File plans a file against what find says stands at its place.
func (w Planner) File(ctx context.Context, f File, find func(tx *store.Tx) (*State, error)) (*Plan, error) {
	if f.Location.Kind == record.KindFrame {
		return w.entries(ctx, f, find)
	}
	if err := f.Prepare(ctx, w.Store); err != nil {
		return nil, err
	}
	var at Single
	err := w.Store.View(ctx, func(tx *store.Tx) error {
		old, err := find(tx)
		if err == nil {
			at, err = SingleOf(tx, f, old)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return w.Single(f, at), nil
}

// entries plans a file of many entries: those that changed, those that are gone,
// and the frame.
func (w Planner) entries(ctx context.Context, f File, find func(tx *store.Tx) (*State, error)) (*Plan, error) {
	file, problems := parseAggregate(f)
	p := &Plan{Problems: problems, check: f.Check}
	var at, old *State // old: if that is an aggregate too
	var a *aggregate
	err := w.Store.View(ctx, func(tx *store.Tx) (err error) {
		if at, err = find(tx); err == nil {
			old = at.Aggregate()
			a, err = nameEntries(tx, f.Tree, file, old, f.Edited)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	for _, name := range a.frame.Slots() {
		e := a.entries[name]
		expect := store.Absent()
		was, found := old.Entry(name)
		if found {
			if bytes.Equal(was.Text, e.Text) {
				continue
			}
			expect = store.Current(was.Version.Ref)
		}
		if err := w.put(ctx, p, f, name, e, expect); err != nil {
			return nil, err
		}
		if found && len(was.Version.Record.Tags) > 0 {
			p.Puts[len(p.Puts)-1].Record.AddTags(old.givenTags(f, was))
		}
	}
	switch {
	case old != nil:
		for _, name := range old.Frame.Slots() {
			if a.entries[name] == nil {
				p.retire(old.Entries[name].Version)
			}
		}
	case at != nil:
		p.retireAll(at)
	}
	p.Names = append(a.frame.Slots(), record.Name{Tree: f.Tree, Kind: record.KindFrame, ID: f.Path})
	return p, w.frame(ctx, p, f, a.frame, old)
}

// Over stores a file in place of what was seen at its place. If that has changed in a
// way that matters, the error is a store.ErrConflict.
func (w Planner) Over(ctx context.Context, f File, old *State) (*Plan, error) {
	p, err := w.File(ctx, f, func(*store.Tx) (*State, error) { return old, nil })
	if err != nil {
		return nil, err
	}
	if old.IsFrame() && len(old.Entries) > 0 && len(p.Names) == 1 && len(p.Problems) > 0 {
		return nil, fmt.Errorf("%w: %w", errNoEntries, p.Problems[0])
	}
	return p, p.CarryOut(ctx, w.Store)
}

// errNoEntries keeps a file that a slip has made unreadable from retiring all
// that it held.
var errNoEntries = errors.New("its entries cannot be read any more")

// put adds an entry to a plan.
func (w Planner) put(
	ctx context.Context, p *Plan, f File, name record.Name, e *layout.Entry, expect store.Expect,
) error {
	f.Content, f.Facts = Content{Text: e.Text}, e.Facts
	f.wasThere = expect != store.Absent() // changed since its text was begun
	err := f.Prepare(ctx, w.Store)
	d := w.draft(name, f)
	d.Expect = expect
	p.Puts = append(p.Puts, d)
	return err
}

// frame adds the frame to a plan if it changed.
func (w Planner) frame(ctx context.Context, p *Plan, f File, fr Frame, old *State) error {
	encoded := record.Frame(fr).Encode()
	expect := store.Absent()
	if old != nil {
		expect = store.Current(old.Version.Ref)
		if old.Version.Record.Body == record.DigestOf(encoded) {
			return nil
		}
	}
	body, err := w.Store.Prepare(ctx, encoded)
	if err != nil {
		return err
	}
	f.Body = body
	d := frameDraft(f)
	f.Facts = layout.Facts{}
	d.Expect, d.Record.Written = expect, w.written(f)
	p.Puts = append(p.Puts, d)
	return nil
}

// frameDraft returns the draft of a frame that is prepared.
func frameDraft(f File) store.Draft {
	f.Facts = layout.Facts{}
	name := record.Name{Tree: f.Tree, Kind: record.KindFrame, ID: f.Path}
	d := record.Description{Version: describerVersion, Title: f.Path, Tokens: record.EstimateTokens(f.Body.Size)}
	return store.Draft{Record: envelope(name, f), Body: f.Body, Description: d}
}

// An aggregate is a parsed aggregate file whose entries have their names.
type aggregate struct {
	frame   Frame
	entries map[record.Name]*layout.Entry
}

// parseAggregate parses an aggregate file. A file with conflict markers of git
// has no entries: nothing in it can be trusted to be whole, unless its lines can.
func parseAggregate(f File) (layout.File, []*layout.SyntaxError) {
	if line := MergeMarker(f.Text); line > 0 && !f.Location.IsForeign() {
		whole := layout.File{Path: f.Path, Parts: []layout.Part{{Text: f.Text}}}
		return whole, []*layout.SyntaxError{{File: f.Path, Line: line, Err: ErrGitConflict}}
	}
	file, problems := f.Location.Parse(f.Path, f.Text)
	return Detach(file), problems
}

// Detach moves the blank lines at the end of each entry into the text around
// the entries. They separate it from what follows: an entry that is appended to a
// file must not be a change of the one before it.
func Detach(file layout.File) layout.File {
	parts := make([]layout.Part, 0, 2*len(file.Parts))
	for _, part := range file.Parts {
		if part.Entry == nil {
			parts = append(parts, part)
			continue
		}
		text := part.Entry.Text
		end := endOfWords(text)
		entry := *part.Entry
		entry.Text = text[:end]
		parts = append(parts, layout.Part{Entry: &entry})
		if end < len(text) {
			parts = append(parts, layout.Part{Text: text[end:]})
		}
	}
	file.Parts = parts
	return file
}

// endOfWords returns where the blank lines at the end of an entry begin.
func endOfWords(text []byte) int {
	end := len(bytes.TrimRight(text, " \t\r\n"))
	if newline := bytes.IndexByte(text[end:], '\n'); newline >= 0 {
		end += newline + 1
	}
	return end
}

// nameEntries gives the entries of a parsed file their names: an entry keeps the
// name it has in the frame that stands at the path. Ids that are made from titles
// depend on the order of the file, so those entries are first known by their
// texts, as they are now or were in base, which may be nil.
func nameEntries(tx *store.Tx, tree record.Tree, file layout.File, old, base *State) (*aggregate, error) {
	known := knownSlots(file.Path, old, base)
	entries := file.Entries()
	names := markdown.Each(entries, known.byText)
	taken := taken(tx)
	a := &aggregate{entries: map[record.Name]*layout.Entry{}}
	for i, e := range entries {
		id := e.ID
		if strings.HasPrefix(id, record.WholeFile) {
			id = "~" + id // no id of an entry
		}
		name, err := record.NewName(tree, e.Kind, id)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file.Path, e.Line, err)
		}
		if names[i].IsZero() {
			names[i] = known.byID(name)
		}
		if names[i].IsZero() {
			names[i] = freeName(name, taken)
		}
		a.entries[names[i]] = e
	}
	a.frame = frameOf(file, names)
	return a, nil
}

// slotNames finds the names that entries have in a frame, each once.
type slotNames struct {
	made  string                      // what an id begins with that is made from a title
	texts map[string][]record.Name    // slots with such ids by their texts
	ids   map[record.Name]record.Name // slots by their names without "~2"
	given map[record.Name]bool
}

func knownSlots(path string, old, base *State) *slotNames {
	k := &slotNames{path + "#", map[string][]record.Name{}, map[record.Name]record.Name{}, map[record.Name]bool{}}
	if old == nil {
		return k
	}
	for _, slot := range old.Frame.Slots() {
		k.ids[record.Name{Tree: slot.Tree, Kind: slot.Kind, ID: BaseID(slot.ID)}] = slot
		if !strings.HasPrefix(slot.ID, k.made) {
			continue
		}
		text := string(old.Entries[slot].Text)
		k.texts[text] = append(k.texts[text], slot)
		if base != nil && base.Entries[slot].Text != nil {
			text = string(base.Entries[slot].Text)
			k.texts[text] = append(k.texts[text], slot)
		}
	}
	return k
}

func (k *slotNames) byText(e *layout.Entry) record.Name {
	if !strings.HasPrefix(e.ID, k.made) {
		return record.Name{}
	}
	for _, slot := range k.texts[string(e.Text)] {
		if !k.given[slot] {
			k.given[slot] = true
			return slot
		}
	}
	return record.Name{}
}

func (k *slotNames) byID(name record.Name) record.Name {
	slot := k.ids[name]
	if k.given[slot] {
		return record.Name{}
	}
	k.given[slot] = !slot.IsZero()
	return slot
}

// ErrGitConflict is what a file is reported with that git could not merge.
var ErrGitConflict = errors.New("holds conflict markers of git")

// MergeMarker returns the line of the first conflict marker of git, or 0: the
// opening and the closing one must both stand at the beginning of a line.
func MergeMarker(text []byte) int {
	number, opening, closing := 0, 0, 0
	for line := range bytes.Lines(text) {
		number++
		switch {
		case opening == 0 && bytes.HasPrefix(line, []byte("<<<<<<< ")):
			opening = number
		case closing == 0 && bytes.HasPrefix(line, []byte(">>>>>>> ")):
			closing = number
		}
	}
	if closing < opening {
		return 0
	}
	return opening
}

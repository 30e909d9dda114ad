package materialize

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/store"
	"filebus/store/record"
)

// A plan is what storing one file means: puts and retires that go into one
// transaction, so that a frame and its entries never disagree.
type plan struct {
	puts     []store.Draft
	retires  []retirement
	problems []*layout.SyntaxError
}

type retirement struct {
	name   record.Name
	expect store.Expect
}

// retire plans that what stood at a path is there no more.
func (p *plan) retire(old *seated) {
	p.retires = append(p.retires, retirement{old.name(), store.Current(old.version.Ref)})
	for _, name := range old.frame.slots() {
		p.retires = append(p.retires, retirement{name, store.Current(old.entries[name].version.Ref)})
	}
}

// apply carries the plan out. What it expects was read in an earlier
// transaction; if that has changed, the error is a store.ErrConflict.
func (p *plan) apply(tx *store.Tx) (changed int, err error) {
	for _, r := range p.retires {
		if err := tx.Retire(r.name, r.expect); err != nil {
			return changed, err
		}
		changed++
	}
	for _, d := range p.puts {
		outcome, err := tx.Put(d)
		if err != nil {
			return changed, err
		}
		if !outcome.Unchanged {
			changed++
		}
	}
	return changed, nil
}

// A sourceFile is a file to be stored: its place, and its text or prepared body.
type sourceFile struct {
	tree   record.Tree
	path   string
	stat   mirror.Stat // as it was listed, if it was
	place  layout.Place
	text   []byte     // all of it, or its beginning when body is large
	words  int        // of all of it
	body   store.Body // prepared
	source record.Source
	origin *Origin                      // what else is known of where it comes from; nil: nothing
	edited *seated                      // what an edit made of the file's entries: their names are known
	expect map[record.Name]store.Expect // of entries of which a caller said what it read
}

// A placeState says what the store has for the place of a file that is a single
// record.
type placeState struct {
	old     *seated     // nil when nothing stands there
	started string      // when the old version's task began, as its text says
	fresh   record.Name // the name of a file that is new there
}

// stateOf reads what the store has for a file, given what stands at its path.
func stateOf(tx *store.Tx, f sourceFile, old *seated) (placeState, error) {
	name, err := record.NewName(f.tree, f.place.Kind, f.place.ID)
	if err != nil {
		return placeState{}, err
	}
	state := placeState{old: old, fresh: freeName(name, takenIn(tx))}
	if old != nil && old.name().Kind == record.KindHandoff {
		state.started = tx.Description(old.version.Ref).Attributes[layout.AttributeStarted]
	}
	return state, nil
}

// planWhole plans a file that is a single record.
func (w *Workspace) planWhole(f sourceFile, state placeState) *plan {
	file, problems := f.place.Parse(f.path, f.text)
	var facts layout.Facts
	if entries := file.Entries(); len(entries) == 1 {
		facts = entries[0].Facts
	}
	var from []record.Ref
	if f.origin != nil {
		facts, from = f.origin.Facts.Or(facts), f.origin.From
	}
	p := &plan{problems: problems}
	name, expect := state.fresh, store.Absent()
	switch old := state.old; {
	case old == nil || startsAnew(old.version.Record, state.started, facts):
	case old.name().Kind != name.Kind:
		p.retire(old)
	default:
		name, expect = old.name(), store.Current(old.version.Ref)
	}
	p.puts = []store.Draft{{
		Record:      envelope(name, f.path, facts, f.source),
		Body:        f.body,
		Description: describe(sample{f.text, f.words}, f.body.Size, facts, w.Settings.Preview),
		Expect:      expect,
	}}
	p.puts[0].Record.From = from
	return p
}

// startsAnew reports whether the place of a finished journal was taken by a new
// task: that is a new thing, not a version of the old one.
func startsAnew(old *record.Record, oldStarted string, facts layout.Facts) bool {
	if old.Name.Kind != record.KindHandoff || oldStarted == "" {
		return false
	}
	started := facts.Attributes[layout.AttributeStarted]
	switch old.Status {
	case "", "in_progress", "pending":
		return false
	}
	return started != "" && started != oldStarted
}

// freeName returns name, or name~2, name~3, ... if it is taken.
func freeName(name record.Name, taken func(record.Name) bool) record.Name {
	base := name.ID
	for n := 2; taken(name); n++ {
		name.ID = base + "~" + strconv.Itoa(n)
	}
	return name
}

// baseID takes the "~2" of a second thing with one id away.
func baseID(id string) string {
	at := strings.LastIndexByte(id, '~')
	if at <= 0 {
		return id
	}
	if _, err := strconv.ParseUint(id[at+1:], 10, 31); err != nil {
		return id
	}
	return id[:at]
}

// takenIn reports names that exist in the store, retired ones too, or that this
// plan has given away already.
func takenIn(tx *store.Tx) func(record.Name) bool {
	given := map[record.Name]bool{}
	return func(name record.Name) bool {
		_, current, err := tx.Last(name)
		taken := given[name] || err == nil && current || err != nil && !errors.Is(err, store.ErrNotFound)
		given[name] = given[name] || !taken
		return taken
	}
}

// An aggregate is a parsed aggregate file whose entries have their names.
type aggregate struct {
	frame   frame
	entries map[record.Name]*layout.Entry
}

// parseAggregate parses an aggregate file. A file with conflict markers of git
// has no entries: nothing in it can be trusted to be whole.
func parseAggregate(f sourceFile) (layout.File, []*layout.SyntaxError) {
	if line := mergeMarker(f.text); line > 0 {
		whole := layout.File{Path: f.path, Parts: []layout.Part{{Text: f.text}}}
		return whole, []*layout.SyntaxError{{File: f.path, Line: line, Err: errGitConflict}}
	}
	file, problems := f.place.Parse(f.path, f.text)
	return detachSpace(file), problems
}

// detachSpace moves the blank lines at the end of each entry into the text around
// the entries. They separate it from what follows: an entry that is appended to a
// file must not be a change of the one before it.
func detachSpace(file layout.File) layout.File {
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
func nameEntries(tx *store.Tx, tree record.Tree, file layout.File, old, base *seated) (*aggregate, error) {
	known := knownSlots(file.Path, old, base)
	entries := file.Entries()
	names := make([]record.Name, len(entries))
	for i, e := range entries {
		names[i] = known.byText(e)
	}
	taken := takenIn(tx)
	a := &aggregate{entries: map[record.Name]*layout.Entry{}}
	for i, e := range entries {
		name, err := record.NewName(tree, e.Kind, e.ID)
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

func knownSlots(path string, old, base *seated) *slotNames {
	k := &slotNames{path + "#", map[string][]record.Name{}, map[record.Name]record.Name{}, map[record.Name]bool{}}
	if old == nil {
		return k
	}
	for _, slot := range old.frame.slots() {
		k.ids[record.Name{Tree: slot.Tree, Kind: slot.Kind, ID: baseID(slot.ID)}] = slot
		if !strings.HasPrefix(slot.ID, k.made) {
			continue
		}
		text := string(old.entries[slot].text)
		k.texts[text] = append(k.texts[text], slot)
		if base != nil && base.entries[slot].text != nil {
			text = string(base.entries[slot].text)
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

// errGitConflict is what a file is reported with that git could not merge.
var errGitConflict = errors.New("holds conflict markers of git")

// mergeMarker returns the line of the first conflict marker of git, or 0: the
// opening and the closing one must both stand at the beginning of a line.
func mergeMarker(text []byte) int {
	opening, closing := lineWith(text, "<<<<<<< "), lineWith(text, ">>>>>>> ")
	if opening == 0 || closing < opening {
		return 0
	}
	return opening
}

// lineWith returns the number of the first line that begins with prefix, or 0.
func lineWith(text []byte, prefix string) int {
	at := bytes.Index(text, []byte("\n"+prefix)) + 1
	if at == 0 && !bytes.HasPrefix(text, []byte(prefix)) {
		return 0
	}
	if bytes.HasPrefix(text, []byte(prefix)) {
		at = 0
	}
	return bytes.Count(text[:at], []byte("\n")) + 1
}

// planAggregate plans a file of many entries: those that changed, those that are
// gone, and the frame.
func (w *Workspace) planAggregate(ctx context.Context, f sourceFile, a *aggregate, old *seated) (*plan, error) {
	p := new(plan)
	for _, name := range a.frame.slots() {
		e := a.entries[name]
		expect := store.Absent()
		if old != nil {
			if was, found := old.entries[name]; found {
				if bytes.Equal(was.text, e.Text) {
					continue
				}
				expect = store.Current(was.version.Ref)
			}
		}
		d, err := w.entryDraft(ctx, f, name, e.Text, e.Facts)
		if err != nil {
			return nil, err
		}
		d.Expect = expect
		if stated, found := f.expect[name]; found {
			d.Expect = stated
		}
		p.puts = append(p.puts, d)
	}
	if old != nil {
		for _, name := range old.frame.slots() {
			if a.entries[name] == nil {
				p.retires = append(p.retires, retirement{name, store.Current(old.entries[name].version.Ref)})
			}
		}
	}
	return p, w.planFrame(ctx, f, a.frame, old, p)
}

// planFrame adds the frame to the plan if it changed.
func (w *Workspace) planFrame(ctx context.Context, f sourceFile, fr frame, old *seated, p *plan) error {
	encoded := record.Frame(fr).Encode()
	expect := store.Absent()
	if old != nil {
		expect = store.Current(old.version.Ref)
		if old.version.Record.Body == record.DigestOf(encoded) {
			return nil
		}
	}
	body, err := w.Store.Prepare(ctx, encoded)
	if err != nil {
		return err
	}
	name := record.Name{Tree: f.tree, Kind: record.KindFrame, ID: f.path}
	p.puts = append(p.puts, store.Draft{
		Record:      envelope(name, f.path, layout.Facts{}, f.source),
		Body:        body,
		Description: record.Description{Version: DescriberVersion, Title: f.path, Tokens: record.EstimateTokens(body.Size)},
		Expect:      expect,
	})
	return nil
}

func (w *Workspace) entryDraft(ctx context.Context, f sourceFile, name record.Name, text []byte, facts layout.Facts) (store.Draft, error) {
	body, err := w.Store.Prepare(ctx, text)
	if err != nil {
		return store.Draft{}, err
	}
	return store.Draft{
		Record:      envelope(name, f.path, facts, f.source),
		Body:        body,
		Description: describe(sampleOf(text), body.Size, facts, w.Settings.Preview),
	}, nil
}

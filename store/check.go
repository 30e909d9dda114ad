package store

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"filebus/store/record"
	"filebus/store/turnstile"
)

// A Report is what Check found.
type Report struct {
	Position uint64  `json:"position"`          // the log was checked up to here
	Records  int     `json:"records"`           // that are stored
	Dropped  int     `json:"dropped"`           // whose content was destroyed on purpose
	Bodies   int     `json:"bodies"`            // distinct ones
	Bytes    int64   `json:"bytes"`             // of all bodies, uncompressed
	Faults   []Fault `json:"faults"`            // each breaks an invariant; none in a sound store
	Remarks  []Fault `json:"remarks,omitempty"` // what costs space or can be rebuilt

	GoneBack bool `json:"-"` // a fault says that the store has gone back

	others int // faults of other things than bodies and descriptions
}

// A Fault is one thing that Check has found. In JSON it is its String.
type Fault struct {
	Rule  string // FaultOfText, FaultOfStore, or "remark"
	Place string // a record's name, an entry of the log or a part of the database; "": the whole store
	Text  string // what is wrong there
}

// What faults are about: a body or a description, which putting the text again heals, or anything else.
const FaultOfText, FaultOfStore = "text", "store"

// String returns the place and what is wrong there, in one line.
func (f Fault) String() string {
	if f.Place == "" {
		return f.Text
	}
	return f.Place + ": " + f.Text
}

// MarshalText returns String.
func (f Fault) MarshalText() ([]byte, error) { return []byte(f.String()), nil }

// Err returns ErrDamaged if there are faults.
func (r *Report) Err() error {
	if len(r.Faults) == 0 {
		return nil
	}
	return damaged("%d faults, the first: %s", len(r.Faults), r.Faults[0])
}

// Heals reports whether putting texts again heals all that is wrong.
func (r *Report) Heals() bool { return r.others == 0 }

// slice is how long Check holds the read lock at a time.
const slice = 50 * time.Millisecond

// Check looks at every page of the database, recomputes every digest and the chain of the
// log, and compares names, histories and look-ups with it. It reads in slices of at most
// 50 ms, up to the position that the log had when it began, so that writers go on
// meanwhile, and takes about 60 bytes of memory for each body, and what one record takes.
// The progress function, if not nil, is told how far it is.
func (s *Store) Check(ctx context.Context, progress func(done, total uint64)) (*Report, error) {
	return s.checkIn(ctx, slice, progress)
}

func (s *Store) checkIn(ctx context.Context, slice time.Duration, progress func(done, total uint64)) (*Report, error) {
	s.told.Do(func() {}) // the report says it
	c := &checker{store: s, ctx: ctx, progress: progress, slice: slice}
	c.bodies, c.conflicts = map[record.Digest]uint32{}, map[record.Ref]bool{}
	for _, pass := range []func() error{
		c.checkPages, c.begin, c.checkLog, c.checkConflicts, c.checkNames, c.checkHistory, c.checkLookups,
		c.checkBodies, c.checkFiles,
	} {
		err := pass()
		if errors.Is(err, ErrDamaged) {
			c.fault("%v", err)
			break
		}
		if err != nil {
			return &c.report, err
		}
	}
	return &c.report, nil
}

type checker struct {
	store    *Store
	ctx      context.Context
	report   Report
	progress func(done, total uint64)
	slice    time.Duration

	chain     record.Digest
	last      Entry
	drops     int
	bodies    map[record.Digest]uint32 // how many records have each
	conflicts map[record.Ref]bool      // conflict versions that are open
	large     []largeBody
}

type largeBody struct {
	name    record.Name
	content Content
}

func (c *checker) fault(format string, args ...any) {
	c.report.others++
	c.report.Faults = withFault(c.report.Faults, FaultOfStore, format, args...)
}

// bodyFault is the fault of a body or description: all else may be sound.
func (c *checker) bodyFault(format string, args ...any) {
	c.report.Faults = withFault(c.report.Faults, FaultOfText, format, args...)
}

func (c *checker) remark(format string, args ...any) {
	c.report.Remarks = withFault(c.report.Remarks, "remark", format, args...)
}

// withFault appends a fault, whose place ends with the first colon of the format.
func withFault(all []Fault, rule, format string, args ...any) []Fault {
	f := Fault{Rule: rule, Text: fmt.Sprintf(format, args...)}
	if place, _, found := strings.Cut(format, ": "); found {
		f.Place = fmt.Sprintf(place, args[:strings.Count(place, "%")]...)
		f.Text = strings.TrimPrefix(f.Text, f.Place+": ")
	}
	const maxFaults = 100 // bounds the report of a store that is beyond repair
	if len(all) == maxFaults && rule != "remark" {
		return all
	}
	return append(all, f)
}

// inSlices calls step again and again, in a new transaction whenever a slice of
// time is over, until step says that it is done.
func (c *checker) inSlices(step func(tx *Tx) (done bool, err error)) error {
	for done := false; !done; {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		err := c.store.View(c.ctx, func(tx *Tx) (err error) {
			end := time.Now().Add(c.slice)
			for done, err = step(tx); !done && err == nil && time.Now().Before(end); {
				done, err = step(tx)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// errStop ends a pass over a bucket, errChanged one for which the store must not change.
var errStop, errChanged = errors.New("stop"), errors.New("changed")

// inKeys calls step with each key of a bucket, in slices. What is damaged there is one
// fault; no key is met twice, whatever the bucket holds.
func (c *checker) inKeys(of func(*Tx) *bbolt.Bucket, step func(tx *Tx, key, value []byte) error) error {
	var from []byte
	err := c.inSlices(func(tx *Tx) (bool, error) {
		k, v := of(tx).Cursor().Seek(from)
		if k == nil {
			return true, nil
		}
		if bytes.Compare(k, from) < 0 {
			return true, damaged("the key %.100q comes after %.100q", k, from)
		}
		from = append(bytes.Clone(k), 0)
		err := step(tx, k, v)
		if errors.Is(err, ErrDamaged) {
			c.fault("%v", err)
			err = nil
		}
		return false, err
	})
	if errors.Is(err, errStop) {
		return nil
	}
	return err
}

// checkPages looks at every page of the database. It needs no transaction of bbolt, which
// must not meet what it may find. The next slice goes on with the key after the last one,
// in the database as it is by then.
func (c *checker) checkPages() error {
	w, err := (*walker)(nil), errPaused
	for errors.Is(err, errPaused) {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		err = c.store.locked(c.ctx, turnstile.Shared, func() (err error) {
			w, err = c.walkSlice(w)
			return err
		})
	}
	switch {
	case err != nil:
		return err
	case w.faults > 0:
		if o, known := c.store.readSignoff(); known {
			o.modified = 0 // so that others look too, where the file seems to be untouched
			c.store.sign(o)
		}
		return damaged("pages of the database: nothing else was checked")
	case w.changed:
		c.remark("the store changed while it was checked: the list of free pages was not compared")
	}
	return nil
}

// walkSlice goes on where the walk before paused, and takes over what that has found.
func (c *checker) walkSlice(before *walker) (*walker, error) {
	file, err := c.store.own.Open(databaseFile)
	if err != nil {
		return nil, c.store.openError(err)
	}
	defer func() { _ = file.Close() }() // was only read
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	w, err := newWalker(file, info.Size(), func(page uint64, why string) { c.fault("database: page %d: %s", page, why) })
	if err != nil {
		return nil, c.store.openError(err)
	}
	end := time.Now().Add(c.slice)
	w.pause = func() bool { return c.ctx.Err() != nil || time.Now().After(end) }
	if before == nil {
		before = &walker{meta: w.meta}
	}
	w.from, w.changed = before.from, before.changed || before.meta != w.meta
	err = w.walk()
	w.faults += before.faults
	for i := 0; i < len(before.seen) && !w.changed; i++ {
		w.seen[i] |= before.seen[i]
	}
	if err == nil && w.faults == 0 && !w.changed {
		if err := w.checkFree(true); err != nil {
			c.fault("database: %v", err)
		}
	}
	return w, err
}

// begin fixes how far the log is checked.
func (c *checker) begin() error {
	_, err := c.store.own.Stat(signoffFile)
	if _, known := c.store.readSignoff(); !errors.Is(err, fs.ErrNotExist) && !known {
		c.remark("%s cannot be read: nobody would notice if the store went back", c.store.own.Path(signoffFile))
	}
	return c.store.View(c.ctx, func(tx *Tx) error {
		if n := len(tx.past); n > 0 && tx.past[n-1].end > tx.position {
			c.fault("meta: an earlier origin wrote up to position %d, the log ends at %d", tx.past[n-1].end, tx.position)
		}
		c.report.Position, c.chain = tx.position, FirstChain(tx.first())
		if tx.before != nil {
			c.report.GoneBack = true
			c.fault("%v", c.store.GoneBack(tx.before.position, tx.position))
		}
		return nil
	})
}

// checkLog follows the chain and reads every record and body that it names.
func (c *checker) checkLog() error {
	err := c.inKeys(func(tx *Tx) *bbolt.Bucket { return tx.log }, func(tx *Tx, key, value []byte) error {
		if len(key) != positionSize {
			return damaged("malformed log key %.100x", key)
		}
		position := readPosition(key)
		if position > c.report.Position {
			return errStop
		}
		if c.progress != nil {
			c.progress(position, c.report.Position)
		}
		if position != c.last.Position+1 {
			c.fault("the log entries from %d on are missing, the next one is %d", c.last.Position+1, position)
		}
		c.last.Position = position
		return c.checkEntry(tx, position, value)
	})
	if err != nil {
		return err
	}
	for _, l := range c.large {
		if err := c.checkLarge(l); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) checkEntry(tx *Tx, position uint64, value []byte) error {
	link, e, err := readLink(position, value)
	if err != nil {
		return err
	}
	c.chain = NextChain(c.chain, e)
	if link != c.chain {
		c.fault("log entry %d: the chain is broken", position)
		c.chain = link
	}
	c.checkTime(tx, e)
	c.last = e
	switch e.Op {
	case OpPut:
		return c.checkRecord(tx, e)
	case OpRetire:
		delete(c.conflicts, e.Ref)
		return c.checkRetired(tx, e)
	}
	c.drops++
	delete(c.conflicts, e.Ref)
	if !bytes.Equal(tx.dropped.Get(e.Ref[:]), appendPosition(nil, position)) {
		c.fault("log entry %d drops %s, which is not listed as dropped there", position, e.Ref)
	}
	return nil
}

// checkRetired looks for what a retire did to the history of its name. Of a ref
// that was dropped since, the name is not known any more.
func (c *checker) checkRetired(tx *Tx, e Entry) error {
	v, err := tx.Get(e.Ref)
	if err != nil {
		return nil // the log entry that put it says so
	}
	resolved := Event{e.Position, changeResolve, e.Ref}
	if !bytes.Equal(tx.history.Get(historyKey(nameKey(v.Record.Name), e.Position)), resolved.encode()) {
		c.checkEvent(tx, v.Record.Name, Event{e.Position, ChangeRetire, e.Ref})
	}
	return nil
}

func (c *checker) checkEvent(tx *Tx, name record.Name, e Event) {
	if !bytes.Equal(tx.history.Get(historyKey(nameKey(name), e.Position)), e.encode()) {
		c.fault("%s: its history lacks the change %q at position %d", name, e.Change, e.Position)
	}
}

func (c *checker) checkRecord(tx *Tx, e Entry) error {
	v, err := tx.Get(e.Ref)
	if errors.Is(err, ErrDropped) {
		c.report.Dropped++
		return nil
	}
	if err != nil {
		c.fault("log entry %d: %v", e.Position, err)
		return nil
	}
	c.report.Records++
	c.bodies[v.Record.Body]++
	if v.Position != e.Position { // its time is another one, if another store has made it
		c.fault("record %s stands at position %d, its log entry at %d", e.Ref, v.Position, e.Position)
	}
	c.checkPlace(tx, e, v.Record)
	if _, sound := tx.description(e.Ref); !sound {
		c.bodyFault("%s: the description of its version %s is damaged or missing", v.Record.Name, e.Ref.Short())
	}
	return c.checkBody(tx, v.Record)
}

// checkPlace looks for the record's line in the history of its name, and for
// the name.
func (c *checker) checkPlace(tx *Tx, e Entry, r *record.Record) {
	if r.IsConflict() {
		c.checkEvent(tx, r.Name, Event{e.Position, changeConflict, e.Ref})
		c.conflicts[e.Ref] = true
		return
	}
	line := tx.history.Get(historyKey(nameKey(r.Name), e.Position))
	isLine := func(c Change) bool { return bytes.Equal(line, Event{e.Position, c, e.Ref}.encode()) }
	if !isLine(ChangeAdopt) && !isLine(ChangeVoid) {
		c.checkEvent(tx, r.Name, Event{e.Position, ChangePut, e.Ref})
	}
	if tx.names.Get(nameKey(r.Name)) == nil {
		c.fault("%s: the name is missing, while its version %s is there", r.Name, e.Ref.Short())
	}
}

func (c *checker) checkBody(tx *Tx, r *record.Record) error {
	if c.bodies[r.Body] > 1 {
		return nil
	}
	tx.likely = 0 // what leads to the body is looked at, too
	content, err := tx.Content(r)
	if err != nil {
		c.bodyFault("%v", err)
		return nil
	}
	c.report.Bodies++
	c.report.Bytes += r.Size
	if content.IsLarge() {
		c.large = append(c.large, largeBody{r.Name, content})
		return nil
	}
	text, err := content.Bytes()
	if err != nil {
		c.bodyFault("%s: %v", r.Name, err)
	} else if int64(len(text)) != r.Size {
		c.fault("%s: the body has %d bytes, the record says %d", r.Name, len(text), r.Size)
	}
	return nil
}

// checkLarge reads a body that is a file, without the lock.
func (c *checker) checkLarge(l largeBody) error {
	switch err := l.content.Verify(c.ctx); {
	case errors.Is(err, ErrDamaged):
		c.bodyFault("%s: %v", l.name, err)
	case !errors.Is(err, ErrDropped): // meanwhile
		return err
	}
	return nil
}

// checkConflicts looks for the look-ups of the conflict versions that are open, if
// nothing was written meanwhile.
func (c *checker) checkConflicts() error {
	open := slices.SortedFunc(maps.Keys(c.conflicts), func(a, b record.Ref) int { return bytes.Compare(a[:], b[:]) })
	return ViewEach(c.ctx, c.store, open, func(tx *Tx, ref record.Ref) error {
		v, err := tx.Get(ref)
		if err != nil || tx.position != c.report.Position {
			return nil // the log entry that put it says so
		}
		c.checkKeys(tx, v)
		return nil
	})
}

// checkKeys compares the look-ups of a version with what its record says.
func (c *checker) checkKeys(tx *Tx, v Version) {
	for _, key := range lookupKeys(v.Record, v.Position) {
		if !bytes.Equal(tx.lookups.Get(key), valueOf(key, tx.encodePlace(v))) {
			c.fault("%s: the look-up %q is missing or wrong", v.Record.Name, key)
		}
	}
}

// checkNames compares each name with its history, and the look-ups of its head
// with what its record says.
func (c *checker) checkNames() error {
	return c.inKeys(func(tx *Tx) *bbolt.Bucket { return tx.names }, func(tx *Tx, key, value []byte) error {
		name, err := parseNameKey(key)
		if err != nil {
			return err
		}
		entry, err := decodeNameEntry(value)
		if err != nil {
			return err
		}
		return c.checkName(tx, name, entry)
	})
}

func (c *checker) checkName(tx *Tx, name record.Name, entry nameEntry) error {
	events, err := tx.History(name)
	if err != nil {
		return err
	}
	ref, current, _ := tx.StateAt(events, tx.position)
	if current != (entry.state == stateHead) || current && ref != entry.ref {
		c.fault("%s: the name does not agree with its history", name)
	}
	v, err := tx.Get(entry.ref)
	if err != nil || v.Record.Name != name {
		c.fault("%s: its version %s is missing or of another name", name, entry.ref.Short())
		return nil
	}
	if last := endOf(events); entry.position != last {
		c.fault("%s: the name stands at position %d, its history ends at %d", name, entry.position, last)
	}
	if entry.state == stateHead {
		c.checkKeys(tx, v)
	}
	if !slices.ContainsFunc(events, func(e Event) bool { return e.Change == ChangeAdopt }) {
		return nil
	}
	l, err := tx.lineage(name)
	if err != nil {
		return err
	}
	for _, n := range l.rivals {
		if !bytes.Equal(tx.lookups.Get(tx.rivalKey(name, n.ref)), n.ref[:]) {
			c.fault("%s: its version %s is in conflict, and not listed", name, n.ref.Short())
		}
	}
	return nil
}

// opOf says which operation of the log a line of a history stands for.
var opOf = map[Change]Op{
	ChangePut: OpPut, ChangeAdopt: OpPut, changeConflict: OpPut, ChangeDrop: OpPut, ChangeRetire: OpRetire, changeResolve: OpRetire,
	changeOver: OpDrop, changeUnder: OpDrop, changeHeir: OpDrop, ChangeVoid: OpPut,
}

// checkHistory compares each line of a history with the log.
func (c *checker) checkHistory() error {
	return c.inKeys(func(tx *Tx) *bbolt.Bucket { return tx.history }, func(tx *Tx, key, value []byte) error {
		name, e, err := decodeHistory(key, value)
		if err != nil {
			return err
		}
		entry, err := tx.Entry(e.Position)
		dropped := tx.dropped.Get(e.Ref[:]) != nil
		if err != nil || entry.Ref != e.Ref && e.Change != changeHeir || entry.Op != opOf[e.Change] ||
			dropped && e.Change == ChangePut || !dropped && slices.Contains([]Change{ChangeDrop, changeOver, changeUnder}, e.Change) {
			c.fault("%s: its history has the change %q at position %d, which the log has not", name, e.Change, e.Position)
		}
		return nil
	})
}

// checkLookups finds look-ups that lead to something that is no head.
func (c *checker) checkLookups() error {
	return c.inKeys(func(tx *Tx) *bbolt.Bucket { return tx.lookups.settled() }, func(tx *Tx, key, value []byte) error {
		at, err := decodePlace(value, 0)
		if err != nil {
			return err
		}
		found, err := tx.Get(at.Ref)
		if err != nil {
			c.fault("look-up %.100q: %v", key, err)
			return nil
		}
		isHead, err := tx.isHead(found)
		if err != nil {
			return err
		}
		if field, _, _, err := parseLookupKey(key); err == nil && field == FieldConflict && !found.Record.IsConflict() {
			l, err := tx.lineage(found.Record.Name)
			if err == nil && !l.isRival(found.Ref) {
				c.fault("%s: its version %s is listed as in conflict, and is not", found.Record.Name, found.Ref.Short())
			}
			return err
		}
		keys := lookupKeys(found.Record, found.Position)
		expected := slices.ContainsFunc(keys, func(k []byte) bool { return bytes.Equal(k, key) })
		if !expected || !found.Record.IsConflict() && !isHead {
			c.fault("look-up %.100q leads to %s, which is not current", key, found.Ref.Short())
		}
		return nil
	})
}

// checkBodies compares bodies, the counts of their uses, and what is listed as dropped
// with the log, if nothing was written meanwhile.
func (c *checker) checkBodies() error {
	listed := 0
	err := cmp.Or(
		c.inUnchanged(func(tx *Tx) *bbolt.Bucket { return tx.bodies }, c.checkStored),
		c.inUnchanged(func(tx *Tx) *bbolt.Bucket { return cmp.Or(tx.digests.Bucket, tx.meta) }, c.checkDigest),
		c.inUnchanged(func(tx *Tx) *bbolt.Bucket { return tx.uses }, func(_ *Tx, key, _ []byte) {
			if c.records(key) == 0 {
				c.fault("the use count of body %.100x belongs to no record", key)
			}
		}),
		c.inUnchanged(func(tx *Tx) *bbolt.Bucket { return tx.dropped }, func(*Tx, []byte, []byte) { listed++ }),
	)
	switch {
	case errors.Is(err, errChanged):
		c.remark("the store changed while it was checked: body counts were not compared")
		return nil
	case err == nil && listed != c.drops:
		c.fault("%d refs are listed as dropped, the log drops %d", listed, c.drops)
	}
	return err
}

// checkStored compares a body with the records that have it.
func (c *checker) checkStored(tx *Tx, key, value []byte) {
	digest, isPlace := key, true
	if tx.schema >= schemaOrdered {
		digest = value[:min(len(value), len(record.Digest{}))]
	}
	records := c.records(digest)
	if records > 0 && tx.schema >= schemaOrdered {
		at, _ := tx.findBody(record.Digest(digest))
		isPlace = bytes.Equal(key, appendPosition(nil, at))
	}
	if records == 0 || !isPlace {
		c.fault("body %.100x belongs to no record", digest)
	} else if uses, err := tx.useCount(record.Digest(digest)); err != nil || uses != records {
		c.fault("body %x: %d records have it, its use count is %d", digest, records, uses)
	}
}

// checkDigest looks for what a digest leads to.
func (c *checker) checkDigest(tx *Tx, key, _ []byte) {
	if tx.schema < schemaOrdered { // there is none
		return
	}
	if len(key) != digestKey {
		c.fault("malformed look-up of a digest %.100x", key)
		return
	}
	prefix, at := key[positionSize:][:8], key[digestKey-positionSize:]
	if !bytes.Equal(key, keyIn(tx.digests.runs, prefix, readPosition(at))) ||
		!bytes.HasPrefix(tx.records.Get(at), prefix) && !bytes.HasPrefix(tx.bodies.Get(at), prefix) {
		c.fault("the look-up of the digest %x leads to nothing at position %d", prefix, readPosition(at))
	}
}

// records returns how many records have the body with a key.
func (c *checker) records(key []byte) uint64 {
	if len(key) != len(record.Digest{}) {
		return 0
	}
	return uint64(c.bodies[record.Digest(key)])
}

// inUnchanged is inKeys as long as nobody writes; then it returns errChanged.
func (c *checker) inUnchanged(of func(*Tx) *bbolt.Bucket, look func(tx *Tx, key, value []byte)) error {
	return c.inKeys(of, func(tx *Tx, key, value []byte) error {
		if tx.position != c.report.Position {
			return errChanged
		}
		look(tx, key, value)
		return nil
	})
}

// checkFiles finds files of bodies that no record has.
func (c *checker) checkFiles() error {
	stray, err := c.store.strayBodies(c.ctx)
	for _, name := range slices.Sorted(maps.Keys(stray)) {
		c.remark("%s belongs to no record", c.store.own.Path(name))
	}
	return err
}

package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"filebus/store/record"
)

// A Report is what Check found.
type Report struct {
	Position uint64   `json:"position"`          // the log was checked up to here
	Records  int      `json:"records"`           // that are stored
	Dropped  int      `json:"dropped"`           // whose content was destroyed on purpose
	Bodies   int      `json:"bodies"`            // distinct ones
	Bytes    int64    `json:"bytes"`             // of all bodies, uncompressed
	Faults   []string `json:"faults"`            // each breaks an invariant; none in a sound store
	Remarks  []string `json:"remarks,omitempty"` // what costs space or can be rebuilt
}

// Err returns ErrDamaged if there are faults.
func (r *Report) Err() error {
	if len(r.Faults) == 0 {
		return nil
	}
	return damaged("%d faults, the first: %s", len(r.Faults), r.Faults[0])
}

// slice is how long Check holds the read lock at a time.
const slice = 50 * time.Millisecond

// maxFaults bounds the report of a store that is beyond repair.
const maxFaults = 100

// Check recomputes every digest, the chain of the log, names, histories and
// look-ups, and checks the database's own structure. It reads in slices of at
// most 50 ms, up to the position that the log had when it began, so that writers
// go on meanwhile. The progress function, if not nil, is told how far it is.
func (s *Store) Check(ctx context.Context, progress func(done, total uint64)) (*Report, error) {
	c := &checker{store: s, ctx: ctx, bodies: map[record.Digest]int{}, progress: progress}
	err := s.View(ctx, func(tx *Tx) error {
		c.report.Position, c.chain = tx.position, firstChain(tx.origin)
		return nil
	})
	for _, pass := range []func() error{c.checkDatabase, c.checkLog, c.checkNames, c.checkLookups, c.checkBodies, c.checkFiles} {
		if err != nil {
			break
		}
		err = pass()
	}
	if errors.Is(err, ErrDamaged) {
		c.fault("%v", err)
		err = nil
	}
	return &c.report, err
}

type checker struct {
	store    *Store
	ctx      context.Context
	report   Report
	progress func(done, total uint64)

	chain  chain
	last   Entry
	drops  int
	bodies map[record.Digest]int // how many records have each
	large  []largeBody
}

type largeBody struct {
	name    record.Name
	content Content
}

func (c *checker) fault(format string, args ...any) {
	if len(c.report.Faults) < maxFaults {
		c.report.Faults = append(c.report.Faults, fmt.Sprintf(format, args...))
	}
}

func (c *checker) remark(format string, args ...any) {
	c.report.Remarks = append(c.report.Remarks, fmt.Sprintf(format, args...))
}

// inSlices calls step again and again, in a new transaction whenever a slice of
// time is over, until step says that it is done.
func (c *checker) inSlices(step func(tx *Tx) (done bool, err error)) error {
	for done := false; !done; {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		err := c.store.View(c.ctx, func(tx *Tx) (err error) {
			for end := time.Now().Add(slice); !done && err == nil && time.Now().Before(end); {
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

// checkDatabase checks the database's own structure. bbolt does that in a
// goroutine of its own, where a fault in the memory map would end the process:
// so whatever it will look at is read here before.
func (c *checker) checkDatabase() error {
	return c.store.view(c.ctx, forChecking, func(tx *Tx) error {
		btx := tx.records.Tx()
		if err := checkPages(btx); err != nil {
			return err
		}
		var seen byte
		err := btx.ForEach(func(bucket []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				if v == nil {
					return damaged("bucket %s holds a bucket %.100q", bucket, k)
				}
				seen ^= touch(k) ^ touch(v)
				return nil
			})
		})
		if err != nil {
			return err
		}
		for err := range btx.Check() {
			c.fault("database: %v", err)
		}
		return nil
	})
}

// checkPages looks at the head of every page. One that claims to run on behind the
// end of the file would keep bbolt's own check busy, and growing, for hours.
func checkPages(btx *bbolt.Tx) error {
	pages := int(btx.Size() / pageSize)
	for id := 0; id < pages; id++ {
		info, err := btx.Page(id)
		if err != nil || info == nil {
			return damaged("page %d cannot be read: %v", id, err)
		}
		if info.Type == "free" {
			continue
		}
		if info.OverflowCount >= pages-id {
			return damaged("page %d claims to run on for %d pages, the database has %d", id, info.OverflowCount, pages)
		}
		id += info.OverflowCount
	}
	return nil
}

// touch reads a byte of every page that data lies on.
func touch(data []byte) (seen byte) {
	for i := 0; i < len(data); i += pageSize {
		seen ^= data[i]
	}
	if len(data) > 0 {
		seen ^= data[len(data)-1]
	}
	return seen
}

// checkLog follows the chain and reads every record and body that it names.
func (c *checker) checkLog() error {
	err := c.inSlices(func(tx *Tx) (bool, error) {
		position := c.last.Position + 1
		if position > c.report.Position {
			return true, nil
		}
		if c.progress != nil {
			c.progress(position, c.report.Position)
		}
		return false, c.checkEntry(tx, position)
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

func (c *checker) checkEntry(tx *Tx, position uint64) error {
	value := tx.log.Get(appendPosition(nil, position))
	link, e, err := readLink(position, value)
	if err != nil {
		return err
	}
	c.chain = c.chain.next(value[len(link):])
	if link != c.chain {
		c.fault("log entry %d: the chain is broken", position)
		c.chain = link
	}
	c.checkTime(tx, e)
	c.last = e
	switch e.Op {
	case OpPut:
		return c.checkRecord(tx, e)
	case opRetire:
		return c.checkRetired(tx, e)
	}
	c.drops++
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
	change := ChangeRetire
	if v.Record.IsConflict() {
		change = changeResolve
	}
	c.checkEvent(tx, v.Record.Name, Event{e.Position, change, e.Ref})
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
	lent := tx.asOf(e.Position, e.Time) // a record's time may be that instead: see settle
	if v.Position != e.Position || !v.Record.Time.Equal(e.Time) && !v.Record.Time.Equal(lent) {
		c.fault("record %s stands at position %d of %v, its log entry at %d", e.Ref, v.Position, v.Record.Time, e.Position)
	}
	c.checkPlace(tx, e, v.Record)
	return c.checkBody(tx, v.Record)
}

// checkPlace looks for the record's line in the history of its name, and for
// the name.
func (c *checker) checkPlace(tx *Tx, e Entry, r *record.Record) {
	if r.IsConflict() {
		c.checkEvent(tx, r.Name, Event{e.Position, changeConflict, e.Ref})
		return
	}
	c.checkEvent(tx, r.Name, Event{e.Position, ChangePut, e.Ref})
	if tx.names.Get(nameKey(r.Name)) == nil {
		c.fault("%s: the name is missing, while its version %s is there", r.Name, e.Ref.Short())
	}
}

func (c *checker) checkBody(tx *Tx, r *record.Record) error {
	if c.bodies[r.Body] > 1 {
		return nil
	}
	content, err := tx.Content(r)
	if err != nil {
		c.fault("%v", err)
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
		c.fault("%s: %v", r.Name, err)
	} else if int64(len(text)) != r.Size {
		c.fault("%s: the body has %d bytes, the record says %d", r.Name, len(text), r.Size)
	}
	return nil
}

// checkLarge reads a body that is a file, without the lock.
func (c *checker) checkLarge(l largeBody) error {
	r, err := l.content.Open()
	if err == nil {
		_, err = io.Copy(io.Discard, contextReader{c.ctx, r})
		err = errors.Join(err, r.Close())
	}
	if !errors.Is(err, ErrDamaged) {
		return err
	}
	return c.store.View(c.ctx, func(tx *Tx) error {
		if tx.bodies.Get(l.content.Digest[:]) != nil { // else it was dropped meanwhile
			c.fault("%s: %v", l.name, err)
		}
		return nil
	})
}

// checkNames compares each name with its history, and the look-ups of its head
// with what its record says.
func (c *checker) checkNames() error {
	var from []byte
	return c.inSlices(func(tx *Tx) (bool, error) {
		k, v := tx.names.Cursor().Seek(from)
		if k == nil {
			return true, nil
		}
		from = append(bytes.Clone(k), 0)
		name, err := parseNameKey(k)
		if err != nil {
			return false, err
		}
		entry, err := decodeNameEntry(v)
		if err != nil {
			return false, err
		}
		return false, c.checkName(tx, name, entry)
	})
}

func (c *checker) checkName(tx *Tx, name record.Name, entry nameEntry) error {
	events, err := tx.History(name)
	if err != nil {
		return err
	}
	ref, current := headAt(events, tx.position)
	if current != (entry.state == stateHead) || current && ref != entry.ref {
		c.fault("%s: the name does not agree with its history", name)
	}
	v, err := tx.Get(entry.ref)
	if err != nil || v.Record.Name != name {
		c.fault("%s: its version %s is missing or of another name", name, entry.ref.Short())
		return nil
	}
	if entry.state != stateHead {
		return nil
	}
	for _, key := range lookupKeys(v.Record, v.Position) {
		if !bytes.Equal(tx.lookups.Get(key), v.Ref[:]) {
			c.fault("%s: the look-up %q is missing", name, key)
		}
	}
	return nil
}

// checkLookups finds look-ups that lead to something that is no head.
func (c *checker) checkLookups() error {
	var from []byte
	return c.inSlices(func(tx *Tx) (bool, error) {
		k, v := tx.lookups.Cursor().Seek(from)
		if k == nil {
			return true, nil
		}
		from = append(bytes.Clone(k), 0)
		if len(v) != len(record.Ref{}) {
			return false, damaged("malformed look-up %.100q", k)
		}
		found, err := tx.Get(record.Ref(v))
		if err != nil {
			c.fault("look-up %.100q: %v", k, err)
			return false, nil
		}
		entry, _, err := tx.name(found.Record.Name)
		if err != nil {
			return false, err
		}
		expected := slices.ContainsFunc(lookupKeys(found.Record, found.Position), func(key []byte) bool { return bytes.Equal(key, k) })
		if !expected || !found.Record.IsConflict() && (entry.ref != found.Ref || entry.state != stateHead) {
			c.fault("look-up %.100q leads to %s, which is not current", k, found.Ref.Short())
		}
		return false, nil
	})
}

// checkBodies compares the counts of uses with the records, if nothing was
// written meanwhile.
func (c *checker) checkBodies() error {
	return c.store.View(c.ctx, func(tx *Tx) error {
		if tx.position != c.report.Position {
			c.remark("the store changed while it was checked: body counts were not compared")
			return nil
		}
		for digest, records := range c.bodies {
			if uses, err := tx.useCount(digest); err != nil || uses != uint64(records) {
				c.fault("body %s: %d records have it, its use count is %d", digest, records, uses)
			}
		}
		listed := 0
		err := tx.dropped.ForEach(func(_, _ []byte) error { listed++; return nil })
		if listed != c.drops {
			c.fault("%d refs are listed as dropped, the log drops %d", listed, c.drops)
		}
		return errors.Join(err,
			tx.bodies.ForEach(func(k, _ []byte) error {
				if len(k) != len(record.Digest{}) || c.bodies[record.Digest(k)] == 0 {
					c.fault("body %.100x belongs to no record", k)
				}
				return nil
			}),
			tx.uses.ForEach(func(k, _ []byte) error {
				if len(k) != len(record.Digest{}) || c.bodies[record.Digest(k)] == 0 {
					c.fault("the use count of body %.100x belongs to no record", k)
				}
				return nil
			}),
		)
	})
}

// checkFiles finds files of bodies that no record has.
func (c *checker) checkFiles() error {
	wanted := map[string]bool{}
	for _, l := range c.large {
		wanted[filepath.Base(c.store.bodyFile(l.content.Digest))] = true
	}
	stray := map[string]bool{}
	err := filepath.WalkDir(c.store.path(bodiesDir), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".zst") && !wanted[d.Name()] {
			stray[path] = true
		}
		return err
	})
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil || len(stray) == 0 {
		return err
	}
	return c.store.View(c.ctx, func(tx *Tx) error {
		for _, path := range slices.Sorted(maps.Keys(stray)) {
			// A put that went on meanwhile may have made it.
			digest, err := record.ParseDigest(strings.TrimSuffix(filepath.Base(path), ".zst"))
			if err != nil || tx.bodies.Get(digest[:]) == nil {
				c.remark("%s belongs to no record", path)
			}
		}
		return nil
	})
}

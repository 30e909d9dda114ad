package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"filebus/migrations"
	"filebus/store/record"
)

// A salvage gathers what is whole in a damaged database. Records, bodies and descriptions
// go straight into the new database; what the log can be made of is held in memory.
type salvage struct {
	ctx  context.Context
	db   *bbolt.DB // the new one
	btx  *bbolt.Tx // what was gathered of late; nil: nothing
	size int       // of that, in bytes

	meta    map[string]string
	log     map[uint64]logLine
	events  map[record.Name][]Event
	heads   map[record.Name]nameEntry
	dropped map[record.Ref]uint64
	origins map[record.StoreID]int // of the records
	seen    uint64                 // how much there was
}

type logLine struct {
	chain chain
	entry Entry
}

func newSalvage(ctx context.Context, db *bbolt.DB) *salvage {
	return &salvage{
		ctx: ctx, db: db, meta: map[string]string{}, log: map[uint64]logLine{}, events: map[record.Name][]Event{},
		heads: map[record.Name]nameEntry{}, dropped: map[record.Ref]uint64{}, origins: map[record.StoreID]int{},
	}
}

// read gathers what is whole in a store's database.
func (v *salvage) read(s *Store) error {
	err := v.db.Update(func(btx *bbolt.Tx) error {
		_, err := migrations.Apply(btx, s.opts.steps)
		return err
	})
	if err == nil {
		err = errors.Join(s.eachPair(func(bucket string, key, value []byte) error {
			if bucket == orphaned {
				bucket = s.bucketOf(key, value)
			}
			return v.take(bucket, key, value)
		}), v.flush())
	}
	if err == nil && v.origin() == "" {
		err = record.Damaged.Errorf("nothing of %s can be read", s.own.Path(databaseFile)).
			Try("mv {1} {2}, then filebus sync", s.dir, s.dir+".damaged")
	}
	if err != nil {
		return err
	}
	return v.db.Update(func(btx *bbolt.Tx) error {
		meta := btx.Bucket(bucketMeta)
		created := cmp.Or(v.meta[metaCreated], record.FormatTime(s.opts.Now()))
		err := meta.Put([]byte(metaOrigin), []byte(v.origin()))
		return errors.Join(err, meta.Put([]byte(metaCreated), []byte(created)))
	})
}

// bucketOf returns the bucket that a pair belongs to, or "": its page does not say.
func (s *Store) bucketOf(key, value []byte) string {
	isBody := func() bool {
		text, err := s.unpack(value)
		return isFile(value) || err == nil && record.DigestOf(text) == record.Digest(key)
	}
	switch isDigest := len(key) == sha256.Size; {
	case isDigest && len(value) > positionSize && record.RefOf(value[positionSize:]) == record.Ref(key):
		return string(bucketRecords)
	case isDigest && len(value) > descriptionSum &&
		bytes.Equal(value[:descriptionSum], sumDescription(record.Ref(key), value[descriptionSum:])):
		return string(bucketDescriptions)
	case isDigest && isBody():
		return string(bucketBodies)
	case len(key) == positionSize:
		return string(bucketLog)
	case len(value) == len(nameEntry{}.encode()):
		return string(bucketNames)
	case len(value) == len(Event{}.encode()):
		return string(bucketHistory)
	}
	return ""
}

// origin returns the store's id: where it is lost, the one that most records have.
func (v *salvage) origin() record.StoreID {
	if id, err := record.ParseStoreID(v.meta[metaOrigin]); err == nil {
		return id
	}
	most := slices.MaxFunc(append(slices.Collect(maps.Keys(v.origins)), ""), func(a, b record.StoreID) int {
		return cmp.Or(cmp.Compare(v.origins[a], v.origins[b]), cmp.Compare(a, b))
	})
	return most
}

// take takes over what proves to be whole.
func (v *salvage) take(bucket string, key, value []byte) error {
	v.seen++
	isDigest := len(key) == sha256.Size
	switch bucket {
	case string(bucketMeta):
		v.meta[string(key)] = string(value)
	case string(bucketRecords):
		if !isDigest || len(value) < positionSize || record.RefOf(value[positionSize:]) != record.Ref(key) {
			return nil
		}
		if r, err := record.Decode(value[positionSize:]); err == nil {
			v.origins[r.Origin]++
			return v.put(bucket, key, value)
		}
	case string(bucketBodies), string(bucketDescriptions): // each is looked at when all are there
		if isDigest && len(value) > 0 {
			return v.put(bucket, key, value)
		}
	case string(bucketDropped):
		if isDigest && len(value) == positionSize {
			v.dropped[record.Ref(key)] = readPosition(value)
		}
	case string(bucketLog):
		if len(key) == positionSize {
			link, e, err := readLink(readPosition(key), value)
			if _, known := v.log[e.Position]; err == nil && !known {
				v.log[e.Position] = logLine{link, e}
			}
		}
	case string(bucketNames), string(bucketHistory):
		v.takeName(bucket, key, value)
	}
	return nil
}

func (v *salvage) takeName(bucket string, key, value []byte) {
	if bucket == string(bucketNames) {
		name, err := parseNameKey(key)
		entry, entryErr := decodeNameEntry(value)
		if _, known := v.heads[name]; err == nil && entryErr == nil && !known {
			v.heads[name] = entry
		}
		return
	}
	if len(key) <= positionSize || key[len(key)-positionSize-1] != 0 {
		return
	}
	name, err := parseNameKey(key[:len(key)-positionSize-1])
	if e, eventErr := decodeEvent(key, value); err == nil && eventErr == nil {
		v.events[name] = append(v.events[name], e)
	}
}

// put adds to the new database, in transactions that fit into memory.
func (v *salvage) put(bucket string, key, value []byte) (err error) {
	if v.btx == nil {
		if v.btx, err = v.db.Begin(true); err != nil {
			return err
		}
	}
	b := v.btx.Bucket([]byte(bucket))
	b.FillPercent = 0.9
	if err := errors.Join(v.ctx.Err(), b.Put(bytes.Clone(key), bytes.Clone(value))); err != nil {
		return err
	}
	if v.size += len(key) + len(value); v.size > 8<<20 {
		return v.flush()
	}
	return nil
}

func (v *salvage) flush() error {
	if v.btx == nil {
		return nil
	}
	btx := v.btx
	v.btx, v.size = nil, 0
	return btx.Commit()
}

// A claim is what something says of a position of the log.
type claim struct {
	op  Op
	ref record.Ref
}

// A logRebuild makes the log again. An entry that the chain proves is certain; of the others,
// all that speaks of a position is weighed.
type logRebuild struct {
	v      *salvage
	proven map[uint64]bool
	placed map[claim]bool // what has its position: nothing happens to a ref twice
	claims map[uint64]map[claim]int
	limit  uint64
	times  map[record.Ref]time.Time // of the records whose entries are not proven
	out    *Repaired
}

// entries returns the entries of the log, without gaps. Positions never change: mirror and
// index know them.
func (v *salvage) entries(tx *Tx, h *healer) ([]Entry, error) {
	l := &logRebuild{
		v: v, proven: map[uint64]bool{}, placed: map[claim]bool{}, claims: map[uint64]map[claim]int{},
		times: map[record.Ref]time.Time{}, out: h.out,
	}
	l.prove(firstChain(tx.origin))
	for ref, position := range v.dropped {
		l.claim(position, opDrop, ref, 3)
	}
	for _, events := range v.events {
		for _, e := range events {
			l.claim(e.Position, opOf(e.Change), e.Ref, 2)
		}
	}
	for _, e := range v.heads {
		l.claim(e.position, map[byte]Op{stateHead: OpPut, stateRetired: opRetire}[e.state], e.ref, 1)
	}
	err := tx.records.ForEach(func(key, value []byte) error {
		ref := record.Ref(key)
		if l.placed[claim{OpPut, ref}] {
			return nil
		}
		found, err := tx.Get(ref)
		if err == nil {
			l.times[ref] = found.Record.Time
			l.claim(found.Position, OpPut, ref, 2)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return l.fill(l.place(l.choose(h.least)), tx.store.opts.Now().UTC()), nil
}

func opOf(c Change) Op {
	if c == ChangeRetire || c == changeResolve {
		return opRetire
	}
	return OpPut
}

// prove finds the entries that the chain before them proves, and how far the log can go.
func (l *logRebuild) prove(first chain) {
	for position, line := range l.v.log {
		before, known := l.v.log[position-1]
		if position == 1 {
			before.chain, known = first, true
		}
		weight := 3 // what is before it is lost
		if known && before.chain.next(line.entry.encode()) == line.chain {
			l.proven[position], weight = true, 1000
			l.limit = max(l.limit, position)
			l.placed[claim{line.entry.Op, line.entry.Ref}] = true
		} else if known {
			weight = 1 // the entry is damaged, or the chain
		}
		l.claims[position] = map[claim]int{{line.entry.Op, line.entry.Ref}: weight}
	}
	l.limit += l.v.seen
	maps.DeleteFunc(l.claims, func(position uint64, _ map[claim]int) bool { return position > l.limit })
}

func (l *logRebuild) claim(position uint64, op Op, ref record.Ref, weight int) {
	if position == 0 || position > l.limit || l.proven[position] || l.placed[claim{op, ref}] {
		return
	}
	if l.claims[position] == nil {
		l.claims[position] = map[claim]int{}
	}
	l.claims[position][claim{op, ref}] += weight
}

// choose takes the weightiest claim of each position, of at least so many. A record without a place gets a gap
// that its time fits.
func (l *logRebuild) choose(least uint64) []Entry {
	var entries []Entry
	end := uint64(0)
	if least < l.limit+1<<20 { // else it is none of ours
		end = least
	}
	for position := range l.claims {
		end = max(end, position)
	}
	for position := uint64(1); position <= end; position++ {
		best, most := claim{}, 0
		for c, weight := range l.claims[position] {
			isAgain := l.placed[c] && !l.proven[position]
			if !isAgain && (weight > most || weight == most && bytes.Compare(c.ref[:], best.ref[:]) < 0) {
				best, most = c, weight
			}
		}
		line := l.v.log[position].entry
		e := Entry{position, time.Time{}, best.op, best.ref}
		if line.Op == best.op && line.Ref == best.ref {
			e.Time = line.Time
		}
		if t, known := l.times[best.ref]; known && best.op == OpPut {
			e.Time = t
		}
		if !l.proven[position] {
			l.placed[best] = most > 0
			l.out.Derived++
		}
		entries = append(entries, e)
	}
	return entries
}

// place gives the records that no position is known of a gap that their time fits, or the end.
func (l *logRebuild) place(entries []Entry) []Entry {
	var homeless []record.Ref
	for ref := range l.times {
		if !l.placed[claim{OpPut, ref}] {
			homeless = append(homeless, ref)
		}
	}
	slices.SortFunc(homeless, func(a, b record.Ref) int {
		return cmp.Or(l.times[a].Compare(l.times[b]), bytes.Compare(a[:], b[:]))
	})
	for _, ref := range homeless {
		var last time.Time
		isLater := func(e Entry) bool { return !e.Time.IsZero() && e.Time.Before(l.times[ref]) }
		fits := func(e Entry) bool {
			if !e.Time.IsZero() {
				last = e.Time
			}
			return e.Op == "" && !l.times[ref].Before(last) && !slices.ContainsFunc(entries[e.Position:], isLater)
		}
		at := slices.IndexFunc(entries, fits)
		if at < 0 && !l.times[ref].Before(last) {
			at = len(entries)
			entries = append(entries, Entry{Position: uint64(at) + 1})
		}
		if at >= 0 {
			entries[at].Op, entries[at].Ref, entries[at].Time = OpPut, ref, l.times[ref]
		}
	}
	return entries
}

// fill gives the entries without a time that of the next, and positions that nothing tells of
// a ref of their own, which counts as dropped.
func (l *logRebuild) fill(entries []Entry, now time.Time) []Entry {
	isFixed := func(e Entry) bool {
		return l.proven[e.Position] || e.Op == OpPut && !l.times[e.Ref].IsZero()
	}
	var next time.Time
	for i := range slices.Backward(entries) {
		e := &entries[i]
		if e.Time.IsZero() || !next.IsZero() && e.Time.After(next) && !isFixed(*e) {
			e.Time = next
		}
		next = e.Time
		if e.Op == "" {
			l.out.Unknown++
			l.out.Derived--
			e.Op = opDrop
			e.Ref = record.RefOf(fmt.Appendf(nil, "filebus lost log entry %d\n%s\n", e.Position, l.v.origin()))
		}
	}
	last := now
	for i := range entries {
		if e := &entries[i]; e.Time.IsZero() || i > 0 && e.Time.Before(last) && !isFixed(*e) {
			e.Time = last
		}
		last = entries[i].Time
	}
	return entries
}

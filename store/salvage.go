package store

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"go.etcd.io/bbolt"

	"filebus/store/record"
)

// A salvage gathers what is whole in a damaged database. Records, bodies and descriptions
// go straight into the new database; what the log can be made of is held in memory.
type salvage struct {
	filler // of the new one

	meta   map[string]string
	log    map[uint64]logLine
	claims []claim
	found  map[record.Ref]shelf     // the records
	places map[uint64]record.Ref    // where they lie in the new database: at the position that they claim, if no other does
	bodies map[record.Digest]uint64 // the first place of a record that has each
	first  record.StoreID           // the origin that the log began with
	named  []record.StoreID         // that may be it: the records name them
	renew  bool                     // what is made must not go on as its origin, which may go on elsewhere
	seen   uint64                   // how much there was
	isAnew bool                     // it was nothing that a store can be made of
}

// A shelf is where a record lies in the new database, and its time.
type shelf struct {
	place uint64
	time  time.Time
}

type logLine struct {
	chain record.Digest
	entry Entry
}

// A claim is what something says of a position of the log.
type claim struct {
	source   source
	position uint64
	act      act
	of       holder
}

type act struct {
	op  Op
	ref record.Ref
}

// A holder is whose version a ref is. The zero holder is nobody.
type holder struct {
	name     record.Name
	conflict bool
}

// A source is what a claim was read from: the most trustworthy comes first.
type source int

const (
	fromChain source = iota // a log entry that the chain before it proves
	fromRecord
	fromDropped
	fromHistory
	fromName
	fromLog // any other log entry
)

func newSalvage(ctx context.Context, db *bbolt.DB) *salvage {
	return &salvage{
		filler: filler{ctx: ctx, db: db, fill: 0.9, most: 8 << 20}, meta: map[string]string{}, log: map[uint64]logLine{},
		found: map[record.Ref]shelf{}, places: map[uint64]record.Ref{}, bodies: map[record.Digest]uint64{},
	}
}

// read gathers what is whole in a store's database.
func (v *salvage) read(s *Store) error {
	err := errors.Join(s.eachPair(func(bucket string, key, value []byte) error {
		v.seen++
		taken, err := v.take(bucket, key, value)
		if err == nil && !taken { // a damaged tree may lead to the leaves of another one
			_, err = v.take(orphaned, key, value)
		}
		return err
	}), s.eachPair(func(_ string, key, value []byte) error { return v.takeText(s, key, value) }), v.flush())
	origin, past := v.whose()
	v.renew = v.renew || isOther(v.meta[metaFile], s.numberOf(databaseFile))
	if err == nil && v.first == "" { // nothing says whose the rest is
		origin, err = s.newID()
		v.first, v.claims, v.log, v.meta, v.seen = record.StoreID(origin), nil, map[uint64]logLine{}, nil, 0
		v.isAnew, v.renew = true, false
	}
	if err != nil {
		return err
	}
	return v.db.Update(func(btx *bbolt.Tx) error {
		err := putMeta(btx, origin, cmp.Or(v.meta[metaCreated], record.FormatTime(s.opts.Now())))
		if past != nil {
			err = errors.Join(err, btx.Bucket(bucketMeta).Put([]byte(metaOrigins), encodePast(past)))
		}
		return err
	})
}

// whose finds out under which origins the log was written. Its first entry proves the first of
// them; else the one counts that a record names too. Where meta does not agree, nothing is known
// of later ones.
func (v *salvage) whose() (origin string, past []past) {
	past, err := decodePast(v.meta[metaOrigins])
	present, idErr := record.ParseStoreID(v.meta[metaOrigin])
	inMeta := present
	if err == nil && len(past) > 0 {
		inMeta = past[0].origin
	}
	proven := func(id record.StoreID) bool {
		return NextChain(FirstChain(id), v.log[1].entry) == v.log[1].chain
	}
	all := append([]record.StoreID{inMeta}, v.named...)
	i := slices.IndexFunc(all, proven)
	if i < 0 && !slices.Contains(v.named, inMeta) && len(v.named) > 0 {
		i = 1
	}
	v.first = all[max(i, 0)]
	if v.renew = v.first != inMeta || err != nil || idErr != nil; v.renew {
		return string(v.first), nil
	}
	return string(present), past
}

// take takes over what proves to be whole, and reports whether it does. Of a pair whose
// bucket nobody knows the form says it.
func (v *salvage) take(bucket string, key, value []byte) (taken bool, err error) {
	isDigest := len(key) == sha256.Size
	switch bucket {
	case orphaned:
		for _, b := range [][]byte{
			bucketRecords, bucketLog, bucketNames, bucketHistory,
		} {
			if taken, err = v.take(string(b), key, value); taken || err != nil {
				break
			}
		}
		return taken, err
	case string(bucketRecords):
		return v.takeRecord(key, value)
	case string(bucketMeta):
		v.meta[string(key)] = string(value)
		return true, nil
	case string(bucketAbsent):
		if len(key)%sha256.Size == 0 || len(key) > sha256.Size && bytes.Equal(value, isAwaited) {
			return true, v.put(bucket, key, value)
		}
	case string(bucketDropped):
		if isDigest && len(value) == positionSize {
			v.claim(fromDropped, readPosition(value), OpDrop, record.Ref(key), holder{})
			return true, nil
		}
	case string(bucketLog):
		if len(key) == positionSize {
			link, e, err := readLink(readPosition(key), value)
			if _, known := v.log[e.Position]; err == nil && !known {
				v.log[e.Position] = logLine{link, e}
			}
			return err == nil, nil
		}
	case string(bucketNames), string(bucketHistory):
		return v.takeName(bucket, key, value), nil
	}
	return false, nil
}

func (v *salvage) takeRecord(key, value []byte) (taken bool, err error) {
	if len(key) == sha256.Size && len(value) >= positionSize { // as before schema 6
		key, value = value[:positionSize], slices.Concat(key, value[positionSize:])
	}
	if len(key) != positionSize || len(value) < sha256.Size || record.RefOf(value[sha256.Size:]) != record.Ref(value[:sha256.Size]) {
		return false, nil
	}
	ref, position := record.Ref(value[:sha256.Size]), readPosition(key)
	r, err := record.Decode(value[sha256.Size:])
	if err != nil {
		return false, nil // nobody could read it
	}
	if !slices.Contains(v.named, r.Origin) {
		v.named = append(v.named, r.Origin)
	}
	v.claim(fromRecord, position, OpPut, ref, holder{r.Name, r.IsConflict()})
	if _, known := v.found[ref]; known {
		return true, nil
	}
	place := position
	if _, other := v.places[place]; other || place == 0 {
		place = math.MaxUint64 - uint64(len(v.places))
	}
	v.found[ref], v.places[place] = shelf{place, r.Time}, ref
	if _, known := v.bodies[r.Body]; !known {
		v.bodies[r.Body] = place
	}
	return true, v.put(string(bucketRecords), appendPosition(nil, place), value)
}

// takeText takes over a body or a description of a record that is here.
func (v *salvage) takeText(s *Store, key, value []byte) error {
	body, ref := value, record.Ref{}
	switch len(key) {
	case positionSize:
		ref = v.places[readPosition(key)]
	case sha256.Size: // as before schema 6
		body, ref = slices.Concat(key, value), record.Ref(key)
	default:
		return nil
	}
	if len(body) > sha256.Size {
		digest, packed := record.Digest(body[:sha256.Size]), body[sha256.Size:]
		if place, wanted := v.bodies[digest]; wanted {
			text, err := s.Unpack(packed)
			if isFile(packed) && len(packed)%markSize == 1 || err == nil && record.DigestOf(text) == digest {
				return v.put(string(bucketBodies), appendPosition(nil, place), body)
			}
		}
	}
	if at, found := v.found[ref]; found && len(value) > descriptionSum &&
		bytes.Equal(value[:descriptionSum], sumDescription(ref, value[descriptionSum:])) {
		return v.put(string(bucketDescriptions), appendPosition(nil, at.place), value)
	}
	return nil
}

func (v *salvage) takeName(bucket string, key, value []byte) (taken bool) {
	if bucket == string(bucketNames) {
		name, err := parseNameKey(key)
		e, entryErr := decodeNameEntry(value)
		if taken = err == nil && entryErr == nil; taken {
			op := map[byte]Op{stateHead: OpPut, stateRetired: OpRetire}[e.state]
			v.claim(fromName, e.position, op, e.ref, holder{name, false})
		}
		return taken
	}
	name, e, err := decodeHistory(key, value)
	if taken = err == nil; taken && e.Change != changeHeir {
		isConflict := e.Change == changeConflict || e.Change == changeResolve
		v.claim(fromHistory, e.Position, opOf[e.Change], e.Ref, holder{name, isConflict})
	}
	return taken
}

func (v *salvage) claim(from source, position uint64, op Op, ref record.Ref, of holder) {
	v.claims = append(v.claims, claim{from, position, act{op, ref}, of})
}

// entries returns the entries of the log, without gaps. Positions never change: mirror and
// index know them. Of all that speaks of a position the most trustworthy counts, and but for
// what is proven no ref is put, retired or dropped twice.
func (v *salvage) entries(first record.Digest, now time.Time, h *healer) []Entry {
	end := v.prove(first)
	limit := end + v.seen
	if least := h.signed.position; least < limit+1<<20 { // else it is none of ours
		end = max(end, least)
		limit = max(limit, end)
	}
	slices.SortStableFunc(v.claims, func(a, b claim) int { return cmp.Compare(a.source, b.source) })
	chosen, placed := map[uint64]Entry{}, map[act]bool{}
	for _, c := range v.claims {
		_, taken := chosen[c.position]
		if taken || placed[c.act] && c.source != fromChain || c.position == 0 || c.position > limit {
			continue
		}
		e := Entry{Position: c.position, Op: c.act.op, Ref: c.act.ref}
		switch {
		case c.source == fromChain:
			e.Time = v.log[c.position].entry.Time
		case e.Op == OpPut:
			e.Time = v.found[e.Ref].time
		}
		if c.source != fromChain {
			h.out.Derived++
		}
		chosen[e.Position], placed[c.act], end = e, true, max(end, e.Position)
	}
	entries := make([]Entry, end)
	for i := range entries {
		entries[i] = chosen[uint64(i)+1]
		if e := &entries[i]; e.Op == "" { // a ref of its own, which counts as dropped
			h.out.Unknown++
			text := fmt.Appendf(nil, "filebus lost log entry %d\n%s\n", i+1, v.first)
			*e = Entry{Position: uint64(i) + 1, Op: OpDrop, Ref: record.RefOf(text)}
		}
	}
	fillTimes(entries, now)
	return entries
}

// prove makes claims of the log's entries, and returns how far it is proven.
func (v *salvage) prove(first record.Digest) (end uint64) {
	v.log[0] = logLine{chain: first}
	for _, position := range slices.Sorted(maps.Keys(v.log)) {
		line := v.log[position]
		before, known := v.log[position-1]
		from := fromLog
		if known && NextChain(before.chain, line.entry) == line.chain {
			from, end = fromChain, max(end, position)
		}
		v.claim(from, position, line.entry.Op, line.entry.Ref, holder{})
	}
	return end
}

// fillTimes gives the entries without a time that of the next one, the last ones that of
// the one before.
func fillTimes(entries []Entry, now time.Time) {
	var next time.Time
	for i := range slices.Backward(entries) {
		if entries[i].Time.IsZero() {
			entries[i].Time = next
		}
		next = entries[i].Time
	}
	for i := range entries {
		if entries[i].Time.IsZero() {
			entries[i].Time = now
		}
		now = entries[i].Time
	}
}

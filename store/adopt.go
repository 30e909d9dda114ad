package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/store/record"
)

// A Fate says what became of a record that comes from another store.
type Fate string

// The fates of records that are adopted.
const (
	FateHead      Fate = "head"      // it is the current version of its name
	FateBelow     Fate = "below"     // it went into the history of its name
	FateBeside    Fate = "beside"    // it is in conflict with the current version: neither goes on from the other
	FateKnown     Fate = "known"     // it was here
	FateDestroyed Fate = "destroyed" // its content was destroyed here: it stays so
)

// Adopt stores a record that another store has made as it is, under its ref, with a new log
// entry. What is current then, and what is in conflict with that, follows from all versions of the
// name, whatever the order in which they come: see lineage and Conclude. A conflict version is kept as one.
func (tx *Tx) Adopt(d Draft) (Fate, error) {
	ref := d.Record.Ref()
	if position, encoding := tx.stored(ref); encoding != nil {
		healed, err := tx.heal(d.Body, position)
		if healed {
			tx.healed = append(tx.healed, d.Record.Name)
		}
		return FateKnown, err
	}
	if _, isBarred := tx.Barred(d); isBarred || tx.dropped.Get(ref[:]) != nil {
		_, err := tx.Tell(ref, TraceOf(&d.Record)) // the names that await it are this one
		return FateDestroyed, err
	}
	if d.Record.Time.Equal(tx.now()) { // else it would count as made here
		tx.began = tx.began.Add(1)
	}
	v, _, err := tx.add(&d.Record, d)
	if err != nil {
		return "", err
	}
	fate, err := tx.place(v, tx.now())
	state, _ := tx.notHere(ref)
	if err = errors.Join(err, tx.unlink(&d.Record)); state == absentRetired && err == nil {
		_, err = tx.RetireAs(ref)
	}
	return fate, err
}

// place does what follows from the entry of a put of v, at a time, and says what became of v; "": see Fate. The log
// and the records alone decide, so that playing the log again does the same.
func (tx *Tx) place(v Version, at time.Time) (Fate, error) {
	name := v.Record.Name
	if v.Record.IsConflict() {
		return FateBeside, tx.enter(v, nil)
	}
	_, isUnder, err := tx.touch(v.Ref)
	t, known := tx.Trace(v.Ref)
	isHere := !known || t.Time.Equal(at) // made here, or lost
	if _, waits := tx.open[name]; isHere || !waits {
		_, head, headErr := tx.held(name)
		since, sinceErr := tx.Since(name)
		if err = errors.Join(err, headErr, sinceErr); err != nil {
			return "", err
		}
		isNext := since == 0 || head != nil && v.Record.Prev == head.Ref && !tx.hasRivals(name)
		if isHere || isNext && !isUnder && !v.Record.IsMerged() {
			if err = tx.enter(v, head); isHere {
				tx.reweigh(name, v.Record.IsMerged())
			}
			return FateHead, err
		}
	}
	tx.await(name, v)
	return "", errors.Join(err, tx.note(nameKey(name), Event{v.Position, ChangeAdopt, v.Ref}))
}

// await lets a name be weighed, for what has come of it.
func (tx *Tx) await(name record.Name, came ...Version) {
	if tx.open == nil {
		tx.open = map[record.Name][]Version{}
	}
	tx.open[name] = append(tx.open[name], came...)
}

// weigh gives a name the head that follows from what has come of it, and lists its conflicts: once for all that comes before
// somebody asks for the head, or the transaction ends. What came last takes away the head that is gone by it. What was told of others,
// on the way to the version that counts, may have decided for it: then what this store makes of that is put or, if it is gone, retired
// once more, which others know.
func (tx *Tx) weigh(name record.Name, concludes bool) error {
	came := tx.open[name]
	delete(tx.open, name)
	l, err := tx.lineage(name)
	entry, head, headErr := tx.held(name)
	if err = errors.Join(err, headErr); err != nil {
		return err
	}
	first, isGone := l.first, head != nil && (l.first == nil || l.first.gone)
	switch i := slices.IndexFunc(came, func(v Version) bool { return first != nil && !first.gone && v.Ref == first.ref }); {
	case i >= 0:
		err = tx.enter(came[i], head)
	case isGone && len(came) > 0:
		last, change := came[len(came)-1], ChangeVoid
		if last.Record == nil {
			change = changeOver
		}
		err = tx.behead(*head, head.Ref, Event{last.Position, change, last.Ref})
	case !concludes || first == nil || !first.isHere:
	case isGone:
		position, appendErr := tx.append(OpRetire, first.ref)
		err = errors.Join(appendErr, tx.leave(l.version(first), position))
	case !first.gone && (head == nil || head.Ref != first.ref && !slices.Contains(head.Record.Follows(), first.ref)):
		if head != nil { // it may be a rival, on which nothing that is put next shall go on
			err = tx.removeLookups(*head)
		}
		err = errors.Join(err, tx.names.Put(nameKey(name), nameEntry{stateRetired, first.ref, entry.position}.encode()))
		r := *l.tx.raw(first.ref)
		if err == nil {
			_, err = tx.Put(Draft{Record: r, Body: BodyOf(&r), Description: tx.Description(first.ref), Replaces: true, Merged: []record.Ref{first.ref}})
		}
	}
	return errors.Join(err, tx.list(name))
}

// Conclude weighs a name, whatever has come of it. It belongs behind all that a transaction adopts, tells, retires and drops.
func (tx *Tx) Conclude(name record.Name) error { return tx.weigh(name, true) }

// weighAll weighs all names that wait for it.
func (tx *Tx) weighAll() (err error) {
	for name := range tx.open {
		err = errors.Join(err, tx.weigh(name, false))
	}
	return err
}

// Fate says what became of a version that was adopted.
func (tx *Tx) Fate(ref record.Ref) (Fate, error) {
	v, err := tx.Get(ref)
	if err != nil {
		return FateDestroyed, nil
	}
	switch entry, err := tx.name(v.Record.Name); {
	case entry.state == stateHead && entry.ref == ref:
		return FateHead, err
	case tx.lookups.Bucket.Get(tx.rivalKey(v.Record.Name, ref)) != nil:
		return FateBeside, err
	default:
		return FateBelow, err
	}
}

// concludeAll concludes all names of which other stores have made versions, when the log was played again: what was told of
// others is known from the beginning then, or not at all.
func (tx *Tx) concludeAll() error {
	adopted := map[record.Name]bool{}
	err := tx.history.ForEach(func(key, value []byte) error {
		name, e, err := decodeHistory(key, value)
		if e.Change == ChangeAdopt || e.Change == ChangeVoid {
			adopted[name] = true
		}
		return err
	})
	for _, name := range slices.SortedFunc(maps.Keys(adopted), record.Name.Compare) {
		err = errors.Join(err, tx.Conclude(name))
	}
	return err
}

// RetireAs takes away what another store's log retires, and reports whether it was current, or in
// conflict. What is not here yet is retired when it comes.
func (tx *Tx) RetireAs(ref record.Ref) (bool, error) {
	v, err := tx.Get(ref)
	switch {
	case errors.Is(err, ErrDropped):
		return false, nil
	case errors.Is(err, ErrNotFound):
		_, trace := tx.notHere(ref)
		return false, tx.putAbsent(ref, absentRetired, trace)
	case err != nil:
		return false, err
	case v.Record.IsConflict():
		if err = tx.Settle(ref); errors.Is(err, ErrNotFound) {
			return false, nil
		}
		return err == nil, err
	}
	_, head, err := tx.current(v.Record.Name)
	l, lineageErr := tx.lineage(v.Record.Name)
	if err = errors.Join(err, lineageErr); err != nil {
		return false, err
	}
	isOpen := head != nil && head.Ref == ref
	for i, n := range l.leaves {
		if n.ref != ref || n.gone {
			continue
		}
		if isOpen = true; i == 0 && head != nil && head.Record.IsMerged() && slices.Contains(head.Record.Follows(), ref) {
			v = *head // that is what this store has made of it
		}
	}
	if !isOpen {
		return false, nil
	}
	return true, tx.retire(v)
}

// Heard returns how far another store's log was heard here, and its chain there; of the own
// log, its end.
func (tx *Tx) Heard(origin record.StoreID) (position uint64, link record.Digest, err error) {
	if origin == tx.origin {
		return tx.position, tx.chain, nil
	}
	text := string(tx.meta.Get(metaHeard(origin)))
	number, digits, _ := strings.Cut(text, " ")
	position, err = strconv.ParseUint(number, 10, 64)
	if err == nil {
		link, err = record.ParseDigest(digits)
	}
	if err != nil && text != "" {
		return 0, link, damaged("what was heard of %s is malformed: %.100q", origin, text)
	}
	return position, link, nil
}

// Hear remembers how far another store's log was heard.
func (tx *Tx) Hear(origin record.StoreID, position uint64, link record.Digest) error {
	if known, _, err := tx.Heard(origin); err != nil || position <= known || origin == tx.origin {
		return err
	}
	return tx.meta.Put(metaHeard(origin), fmt.Appendf(nil, "%d %s", position, link))
}

func metaHeard(origin record.StoreID) []byte { return []byte("heard " + origin) }

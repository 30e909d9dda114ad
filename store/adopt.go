package store

import (
	"errors"
	"fmt"
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
	FateBelow     Fate = "below"     // it went into the history of its name, which has gone on from it
	FateBeside    Fate = "beside"    // both sides went on: its text is kept as a conflict version
	FateKnown     Fate = "known"     // it was here
	FateDestroyed Fate = "destroyed" // it was here, and its content was destroyed: it stays so
)

// LinkAdopted is the type of the link from a conflict version to the record of another
// store whose text it has.
const LinkAdopted = "adopted"

// Adopt stores a record that another store has made as it is, under its ref, with a new log
// entry. It becomes the head of its name where there was none, or where it goes on from
// the head. Its text is kept as a conflict version as well if neither goes on from the other,
// or if it is older than the retirement of the name; later ones of the same line take its
// place. Such a conflict version of another store is not stored where the record is whose
// text it has: which side that is in conflict with is for each store to say.
func (tx *Tx) Adopt(d Draft) (Fate, error) {
	for _, ref := range append(adopted(&d.Record), d.Record.Ref()) {
		if tx.dropped.Get(ref[:]) != nil {
			return FateDestroyed, nil
		}
		if tx.records.Get(ref[:]) != nil {
			healed, err := tx.heal(d.Body)
			if healed {
				tx.healed = append(tx.healed, d.Record.Name)
			}
			return FateKnown, err
		}
	}
	if d.Record.Time.Equal(tx.now()) { // else it would count as made here
		tx.began = tx.began.Add(1)
	}
	last, _, err := tx.Last(d.Record.Name)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return "", err
	}
	v, _, err := tx.add(&d.Record, d)
	if err != nil || v.Record.IsConflict() {
		return FateBeside, errors.Join(err, tx.enter(v, nil))
	}
	leads, err := tx.place(v, tx.now())
	if err == nil {
		err = tx.SettleIf(v.Record.Name, func(beside Version) bool { // of the record that it goes on from, or with its text
			of := adopted(beside.Record)
			return slices.Contains(of, v.Record.Prev) || leads && len(of) > 0 && beside.Record.Body == v.Record.Body
		})
	}
	if err != nil || leads {
		return FateHead, err
	}
	if isBelow, err := tx.descends(last.Record, v.Ref); err != nil || isBelow || last.Record.Body == v.Record.Body {
		return FateBelow, err
	}
	links := append(slices.Clone(v.Record.Links), record.Link{Type: LinkAdopted, Target: v.Ref.String()},
		record.Link{Type: record.LinkConflict, Target: last.Ref.String()})
	record.SortLinks(links)
	d.Record.Links, d.Body = links, BodyOf(v.Record)
	_, err = tx.Put(d)
	return FateBeside, err
}

// adopted returns the record of another store whose text a conflict version has, if it is one of that.
func adopted(r *record.Record) (of []record.Ref) {
	for _, l := range r.Links {
		if ref, err := record.ParseRef(l.Target); l.Type == LinkAdopted && r.IsConflict() && err == nil {
			of = append(of, ref)
		}
	}
	return of
}

// SettleIf settles the open conflict versions of a name that are decided.
func (tx *Tx) SettleIf(name record.Name, isDecided func(Version) bool) (err error) {
	var decided []record.Ref
	for ref, err := range tx.Lookup(FieldConflict, name.String()) {
		v, getErr := tx.Get(ref)
		if err = errors.Join(err, getErr); err != nil {
			return err
		}
		if isDecided(v) {
			decided = append(decided, ref)
		}
	}
	for _, ref := range decided {
		err = errors.Join(err, tx.Settle(ref))
	}
	return err
}

// place does what follows from the entry of a put of v, at a time, and reports whether v
// became the head of its name, or a conflict version. The log and the records alone decide, so
// that playing the log again does the same.
func (tx *Tx) place(v Version, at time.Time) (leads bool, err error) {
	if v.Record.IsConflict() {
		return true, tx.enter(v, nil)
	}
	entry, known, err := tx.name(v.Record.Name)
	if err != nil {
		return false, err
	}
	var head *Version
	if known && entry.state == stateHead {
		of := Version{entry.ref, entry.position, &record.Record{Size: -1, Name: v.Record.Name}} // of one that is lost
		if found, err := tx.Get(entry.ref); err == nil {
			of = found
		}
		head = &of
	}
	_, stored := record.DateOf(tx.Encoding(v.Ref))
	switch {
	case !known || stored == "" || stored == record.FormatTime(at): // it was made here, or is lost
		leads = true
	case head != nil:
		leads, err = tx.descends(v.Record, head.Ref)
	default:
		var retired Entry
		retired, err = tx.Entry(entry.position)
		leads = stored > record.FormatTime(retired.Time)
	}
	if err != nil || !leads {
		return false, errors.Join(err, tx.note(nameKey(v.Record.Name), Event{v.Position, ChangeAdopt, v.Ref}))
	}
	return true, tx.enter(v, head)
}

// descends reports whether a record goes on from the version with a ref, as far as the versions
// between them are here.
func (tx *Tx) descends(r *record.Record, from record.Ref) (bool, error) {
	for r != nil && !r.Prev.IsZero() {
		if r.Prev == from {
			return true, nil
		}
		before, err := tx.Get(r.Prev)
		if errors.Is(err, ErrDropped) || errors.Is(err, ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		r = before.Record
	}
	return false, nil
}

// RetireAs takes away what another store's log retires, and reports whether it was there: the
// current version of a name, if it is that very ref, or an open conflict version.
func (tx *Tx) RetireAs(ref record.Ref) (bool, error) {
	v, err := tx.Get(ref)
	if err == nil && v.Record.IsConflict() {
		err = tx.Settle(ref)
	} else if err == nil {
		err = tx.Retire(v.Record.Name, Current(ref))
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrDropped) || errors.Is(err, ErrConflict) {
		return false, nil
	}
	return err == nil, err
}

// Heard returns how far another store's log was heard here, and its chain there; of the own
// log, its end.
func (tx *Tx) Heard(origin record.StoreID) (position uint64, link record.Digest, err error) {
	if origin == tx.origin {
		return tx.position, record.Digest(tx.chain), nil
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

package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"go.etcd.io/bbolt"

	"filebus/store/record"
	"filebus/store/turnstile"
)

// damagedSuffix ends the name of what a repair has replaced.
const damagedSuffix = ".damaged"

// RepairOptions say where Repair finds what a store has lost. Their functions must not
// use the store.
type RepairOptions struct {
	// Source offers texts that may be the body of a record, each with where it stands,
	// until try takes one. Nobody need have looked at their bytes: try does. May be nil.
	Source func(r *record.Record, try func(from string, text io.Reader) (taken bool))
	// Describe derives a description from the beginning of a record's body. May be nil.
	Describe func(r *record.Record, head []byte) record.Description
}

// A Repaired says what Repair found and did.
type Repaired struct {
	Faults    []Fault  `json:"faults"`            // what Check found before
	Rebuilt   bool     `json:"rebuilt"`           // the database was made again of what was whole
	Anew      bool     `json:"anew,omitempty"`    // nothing was: it is a new one
	Kept      string   `json:"kept,omitempty"`    // the damaged database, absolute
	Healed    []Piece  `json:"healed"`            // bodies that are whole again
	Described int      `json:"described"`         // descriptions that were derived again
	Derived   int      `json:"derived"`           // log entries that were derived from other things
	Unknown   int      `json:"unknown"`           // log entries of which nothing is left
	Gone      []Piece  `json:"gone"`              // what nothing could bring back: it is dropped
	Left      []Fault  `json:"left,omitempty"`    // faults that are still there
	Damaged   []string `json:"damaged,omitempty"` // what was left of lost bodies, absolute
	GoneBack  bool     `json:"-"`                 // of Faults, one says so
}

// A Piece is a version whose body was healed, or that is gone.
type Piece struct {
	Name     string     `json:"name,omitempty"` // "": nobody knows any more
	Ref      record.Ref `json:"ref"`
	Position uint64     `json:"position"`
	Path     string     `json:"path,omitempty"`
	Size     int64      `json:"size"`           // in bytes; -1: nobody knows
	From     string     `json:"from,omitempty"` // where the body was found
}

func pieceOf(v Version, from string) Piece {
	piece := Piece{"", v.Ref, v.Position, v.Record.Path, v.Record.Size, from}
	if !v.Record.Name.IsZero() {
		piece.Name = v.Record.Name.String()
	}
	return piece
}

// Repair makes a damaged store sound again. Bodies are healed where they are. If anything
// else is wrong, a new database is made beside the old one, of all that is whole, and takes
// its place in one step; the damaged one is kept. What is gone for good is dropped, so that
// its ref stays known, and named. A sound store is left as it is. A Repair that was killed
// has done all or nothing, but for bodies, and can be done again.
func (s *Store) Repair(ctx context.Context, opts RepairOptions) (*Repaired, error) {
	report, err := s.Check(ctx, nil)
	if err != nil {
		return nil, err
	}
	out := &Repaired{Faults: report.Faults, Healed: []Piece{}, Gone: []Piece{}, GoneBack: report.GoneBack}
	signed, _ := s.readSignoff()
	if report.Err() != nil { // that the log once went on is accepted, if nothing else is wrong
		if report.GoneBack {
			err = s.Update(ctx, (*Tx).claim)
		}
		if err == nil || errors.Is(err, ErrDamaged) { // then all is made again, under an origin of its own
			err = s.forgetSignoff()
		}
		if err == nil {
			report, err = s.Check(ctx, nil)
		}
		if err != nil {
			return nil, fmt.Errorf("repairing: %w", err)
		}
	}
	for again := false; report.Err() != nil && !out.Rebuilt; again = true {
		h := newHealer(ctx, opts, out)
		h.signed = signed.end
		if out.Rebuilt = again || report.others > 0; out.Rebuilt {
			err = s.locked(ctx, turnstile.Exclusive, func() error { return s.rebuild(h) })
		} else {
			err = s.Update(ctx, func(tx *Tx) error { return s.healInPlace(tx, h) })
		}
		if err == nil {
			report, err = s.Check(ctx, nil)
		}
		if err != nil {
			return nil, fmt.Errorf("repairing: %w", err)
		}
		out.Left = report.Faults
	}
	return out, nil
}

// healInPlace heals bodies of a database that is sound itself. Before anything is dropped,
// a copy is made.
func (s *Store) healInPlace(tx *Tx, h *healer) error {
	lost, err := h.look(tx)
	if err != nil || len(lost) == 0 {
		return err
	}
	name := s.damagedName()
	if err := s.copyDatabase(name); err != nil {
		return err
	}
	h.out.Kept = s.own.Path(name)
	return h.drop(tx, lost)
}

// damagedName returns a free name for the damaged database.
func (s *Store) damagedName() string {
	return s.own.Free(databaseFile + damagedSuffix + "-" + s.opts.Now().UTC().Format("20060102T150405"))
}

// rebuild makes the database again. The lock is held.
func (s *Store) rebuild(h *healer) error {
	const tmp = databaseFile + ".repair"
	var tx *Tx
	err := s.makeDatabase(tmp, s.opts.steps, func(db *bbolt.DB) error {
		v := newSalvage(h.ctx, db)
		if err := v.read(s); err != nil {
			return err
		}
		if h.out.Anew = v.isAnew; v.isAnew {
			h.signed = mark{}
		}
		return db.Update(func(btx *bbolt.Tx) (err error) {
			if tx, err = s.newTx(btx); err == nil {
				err = cmp.Or(v.replay(tx, h), tx.putWaiting())
			}
			return err
		})
	})
	if err != nil {
		return errors.Join(err, s.own.RemoveAll(tmp))
	}
	if err := s.exchange(tmp, h.out); err != nil {
		return err
	}
	tx.removeReleased()
	tx.tellRenewed()
	return nil
}

// exchange puts the new database in the place of the old one, which keeps another name.
// There is a store at every moment.
func (s *Store) exchange(tmp string, out *Repaired) error {
	kept := s.damagedName()
	if err := s.own.Link(databaseFile, kept); err != nil {
		if err := s.copyDatabase(kept); err != nil { // of file systems without links
			return fmt.Errorf("keeping the damaged database: %w", err)
		}
	}
	out.Kept = s.own.Path(kept)
	if err := errors.Join(s.forgetSignoff(), s.own.Rename(tmp, databaseFile)); err != nil {
		return err
	}
	return s.own.Sync(".")
}

// forgetSignoff gives up what was known of the database.
func (s *Store) forgetSignoff() error {
	if err := s.own.Remove(signoffFile); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// A healer looks at every body, and puts those right that it can.
type healer struct {
	ctx    context.Context
	opts   RepairOptions
	out    *Repaired
	whole  map[record.Digest]bool // of the bodies that were looked at
	signed mark                   // the log was known to go so far

	holders map[record.Ref]holder // as records, names and histories say
}

func newHealer(ctx context.Context, opts RepairOptions, out *Repaired) *healer {
	return &healer{
		ctx: ctx, opts: opts, out: out, whole: map[record.Digest]bool{}, holders: map[record.Ref]holder{},
	}
}

// look heals what can be healed and returns the versions whose bodies are lost.
func (h *healer) look(tx *Tx) (lost []Version, err error) {
	for e, err := range tx.Log(1) {
		if err = errors.Join(err, h.ctx.Err()); err != nil {
			return nil, err
		}
		v, err := tx.Get(e.Ref)
		if errors.Is(err, ErrDropped) || e.Op != OpPut {
			continue
		}
		if errors.Is(err, ErrNotFound) {
			lost = append(lost, h.version(tx, e.Ref, e.Position))
			continue
		}
		if err == nil {
			err = h.body(tx, v)
		}
		if err == nil && h.whole[v.Record.Body] {
			err = h.describe(tx, v)
		}
		if err != nil {
			return nil, err
		}
		if !h.whole[v.Record.Body] {
			lost = append(lost, v)
		}
	}
	return lost, nil
}

// body makes sure that a version's body is whole, if it can.
func (h *healer) body(tx *Tx, v Version) error {
	whole, known := h.whole[v.Record.Body]
	if whole {
		return nil
	}
	if !known {
		content, err := tx.Content(v.Record)
		if err == nil {
			err = content.Verify(h.ctx)
		}
		if system := syscall.Errno(0); errors.As(err, &system) || err != nil && !errors.Is(err, ErrDamaged) {
			return err // the body may be whole: the disk, or somebody, says no
		}
		whole = err == nil
	}
	var err error
	if !whole {
		whole, err = h.heal(tx, v)
	}
	h.whole[v.Record.Body] = whole
	return err
}

// heal replaces a body by the first text on offer that has its digest.
func (h *healer) heal(tx *Tx, v Version) (healed bool, err error) {
	try := func(from string, text io.Reader) bool {
		b, prepareErr := tx.store.PrepareReader(h.ctx, text)
		if prepareErr == nil && b.Digest == v.Record.Body && err == nil {
			_, err = tx.heal(b, v.Position)
			healed = err == nil
			h.out.Healed = append(h.out.Healed, pieceOf(v, from))
		}
		_ = b.Discard() // a temporary file, swept later if it stays
		return healed || err != nil || h.ctx.Err() != nil
	}
	// The file of a large body may have lost no more than its entry in the database.
	own := Content{v.Record.Body, v.Record.Size, tx.store, []byte{codecFile}, nil}
	if r, openErr := own.Open(); openErr == nil {
		taken := try(tx.store.own.Path(bodyFile(own.Digest)), r)
		if err = errors.Join(err, r.Close()); taken || err != nil {
			return healed, err
		}
	}
	if h.opts.Source != nil {
		h.opts.Source(v.Record, try)
	}
	return healed, errors.Join(err, h.ctx.Err())
}

// describe derives a description again that is damaged or missing.
func (h *healer) describe(tx *Tx, v Version) error {
	if _, sound := tx.description(v.Ref); sound {
		return nil
	}
	h.out.Described++
	if h.opts.Describe == nil {
		return tx.describe(v, record.Description{})
	}
	content, err := tx.Content(v.Record)
	if err != nil {
		return err
	}
	head, err := content.Head(InlineLimit)
	if err != nil {
		return err
	}
	return tx.describe(v, h.opts.Describe(v.Record, head))
}

// drop drops the versions whose bodies are lost. What is left of a file stays beside it.
func (h *healer) drop(tx *Tx, lost []Version) error {
	for _, v := range lost {
		if h.whole[v.Record.Body] { // another record's file had it
			continue
		}
		h.out.Gone = append(h.out.Gone, pieceOf(v, ""))
		if err := tx.drop(v); err != nil {
			return err
		}
	}
	for _, name := range tx.released {
		err := tx.store.own.Rename(name, name+damagedSuffix)
		if err == nil {
			h.out.Damaged = append(h.out.Damaged, tx.store.own.Path(name+damagedSuffix))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// eachPair reads the keys and values of a database that can be read.
func (s *Store) eachPair(leaf func(bucket string, key, value []byte) error) error {
	file, err := s.own.Open(databaseFile)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // only read
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return walkPages(file, info.Size(), leaf, func(uint64, string) {})
}

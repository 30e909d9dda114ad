package store

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"

	"go.etcd.io/bbolt"

	"filebus/store/folder"
	"filebus/store/record"
)

// signoffFile says in what state the database was left. It lies beside it.
const signoffFile = "signoff"

// A signoff is one line that each writer leaves, and each reader that finds the database
// otherwise than it says and has looked at every page. It is not synced, and nothing is
// lost with it but that knowledge.
type signoff struct {
	// The database's state: as long as it is the same, its pages need not be looked at.
	txid           uint64
	free           [sha256.Size]byte // digest of the list of free pages; zero if that is wrong
	size, modified int64             // of the file; modified in nanoseconds since 1970

	inode uint64 // of the file; a copy has another one, whatever else it has in common

	end, lost mark // the log's, as it was left; and that of one that went farther, until a repair accepts its loss
}

// A mark is a position of the log, and the chain there.
type mark struct {
	position uint64
	chain    record.Digest
}

// signoffForm is the line without its digest, as it is read.
const signoffForm = "filebus signoff 2 %d %x %d %d %d %d %x %d %x "

// encode returns the line, which is always of the same length.
func (o signoff) encode() []byte {
	line := fmt.Appendf(nil, "filebus signoff 2 %020d %x %020d %020d %020d %020d %x %020d %x ", o.txid, o.free, o.size, o.modified,
		o.inode, o.end.position, [sha256.Size]byte(o.end.chain), o.lost.position, [sha256.Size]byte(o.lost.chain))
	return fmt.Appendf(line, "%x\n", sha256.Sum256(line))
}

// readSignoff returns what was signed, if that can be read: nothing depends on it.
func (s *Store) readSignoff() (o signoff, known bool) {
	file, err := s.own.Open(signoffFile)
	if err != nil {
		return signoff{}, false
	}
	defer func() { _ = file.Close() }() // was only read
	text := make([]byte, 512)           // more than a line has
	n, _ := file.Read(text)             // the digest says whether it is whole
	var free, end, lost []byte
	_, _ = fmt.Sscanf(string(text[:n]), signoffForm, &o.txid, &free, &o.size, &o.modified,
		&o.inode, &o.end.position, &end, &o.lost.position, &lost)
	copy(o.free[:], free)
	copy(o.end.chain[:], end)
	copy(o.lost.chain[:], lost)
	if !bytes.Equal(o.encode(), text[:n]) {
		return signoff{}, false
	}
	return o, true
}

// sign leaves a line. Where it cannot be written, the next one looks at every page.
func (s *Store) sign(o signoff) {
	file, err := s.own.OpenFile(signoffFile, os.O_WRONLY|os.O_CREATE)
	if err != nil {
		return
	}
	line := o.encode()
	_, err = file.WriteAt(line, 0)
	if info, statErr := file.Stat(); err == nil && statErr == nil && info.Size() > int64(len(line)) {
		_ = file.Truncate(int64(len(line))) // else it cannot be read
	}
	_ = file.Close() // as above
}

// A database is store.db, open, with what was signed of it.
type database struct {
	*bbolt.DB
	file   *os.File
	signed signoff // what was found; zero: nothing that can be read
	now    signoff // the state it is in
	walked bool    // it was not as it was signed, and is sound
}

// look makes sure that bbolt can use the database without coming to harm: it is as it
// was signed, or every page is looked at. A writer needs the list of free pages too: what
// it lists in error would be overwritten.
func (d *database) look(a access) error {
	now, err := d.state(a == forWriting)
	if err != nil {
		return err
	}
	d.now = now
	signed := d.signed
	signed.end, signed.lost = mark{}, mark{}
	if a == forReading {
		signed.free = now.free
	}
	if signed == now && (a == forReading || now.free != [sha256.Size]byte{}) {
		return nil
	}
	var first error
	w, err := newWalker(d.file, now.size, func(page uint64, why string) {
		if first == nil {
			first = fmt.Errorf("page %d: %s", page, why)
		}
	})
	if err == nil {
		err = errors.Join(w.walk(), first)
	}
	if err != nil {
		return err
	}
	if err := w.checkFree(true); err == nil {
		now, _ = d.state(true) // was read just now
	} else if now.free = [sha256.Size]byte{}; a == forWriting {
		return fmt.Errorf("nothing can be written: %w", err)
	}
	d.now, d.walked = now, true
	return nil
}

// state returns the state that the file is in, with or without the list of free pages.
func (d *database) state(withFree bool) (now signoff, err error) {
	info, err := d.file.Stat()
	if err != nil {
		return now, err
	}
	meta, err := readMeta(d.file)
	now = signoff{
		txid: meta.txid, size: info.Size(), modified: info.ModTime().UnixNano(), inode: folder.Inode(info),
	}
	meta.end = min(meta.end, uint64(info.Size())/pageSize) // what it says of itself may be anything
	if err == nil && withFree {
		if list, _, err := readFree(d.file, meta); err == nil {
			now.free = sha256.Sum256(list)
		}
	}
	return now, err
}

// compare finds out whether the log goes as far as was signed, and tells of it once if
// it does not. A reader that has looked at every page signs that.
func (s *Store) compare(d *database, tx *Tx) {
	tx.last = d.signed.end
	tx.wentBack = tx.lacks(tx.last)
	for _, m := range []mark{d.signed.end, d.signed.lost} {
		if tx.lacks(m) {
			tx.before = &m
		}
	}
	if tx.before != nil {
		_ = s.GoneBack(tx.before.position, tx.position) // is used all the same
	}
	if d.walked {
		s.signAs(d.now, tx)
	}
}

// HasGoneBack reports whether the log once went on, or was another one, as after an older copy
// of the database was put back. A repair accepts that.
func (tx *Tx) HasGoneBack() bool { return tx.before != nil }

// GoneBack returns ErrDamaged, and tells it once, when something else knows more of the
// log than there is: its position is behind the end, or the log is another one there.
func (s *Store) GoneBack(position, end uint64) error {
	what := fmt.Sprintf("has gone back from log position %d, it is at %d now", position, end)
	if position <= end {
		what = fmt.Sprintf("has another history since log position %d", position)
	}
	e := ErrDamaged.Errorf("the store %s %s: some of what was stored is not there; "+
		"filebus verify --repair takes in what the files still have, and accepts the rest as lost", s.dir, what)
	if s.opts.Notify != nil {
		s.told.Do(func() { s.opts.Notify(e.Error()) })
	}
	return e.Try("filebus verify --repair")
}

// lacks reports whether the log is not the one of which o was signed, or one that was
// longer.
func (tx *Tx) lacks(o mark) bool {
	switch {
	case o == mark{} || o.position == tx.position && o.chain == tx.chain:
		return false
	case o.position == 0:
		return o.chain != FirstChain(tx.first())
	case o.position >= tx.position:
		return true
	}
	link, _, err := readLink(o.position, tx.log.Get(appendPosition(nil, o.position)))
	return err == nil && link != o.chain // else the log is damaged
}

// signAs signs a state of the database with the log's end as of a transaction. What was
// known of a log that has gone back since stays, until a repair removes the file.
func (s *Store) signAs(now signoff, tx *Tx) {
	now.end, now.lost = mark{tx.position, tx.chain}, mark{}
	if tx.before != nil {
		now.lost = *tx.before
	}
	if tx.wentBack { // the next writer has to know
		now.end = tx.last
	}
	s.sign(now)
}

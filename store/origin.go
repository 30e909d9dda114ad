package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.etcd.io/bbolt"

	"filebus/store/folder"
	"filebus/store/record"
)

// A past is an earlier origin of a store: it wrote the entries of the log up to a position
// that the ones before it have not.
type past struct {
	origin record.StoreID
	end    uint64
}

// encodePast returns "ORIGIN SP POSITION LF" for each.
func encodePast(all []past) (text []byte) {
	for _, p := range all {
		text = fmt.Appendf(text, "%s %d\n", p.origin, p.end)
	}
	return text
}

func decodePast(text string) (all []past, err error) {
	last := uint64(0)
	for line := range strings.Lines(text) {
		id, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		origin, idErr := record.ParseStoreID(id)
		end, numberErr := strconv.ParseUint(number, 10, 64)
		if idErr != nil || numberErr != nil || end < last {
			return nil, damaged("malformed earlier origin %.100q", line)
		}
		all, last = append(all, past{origin, end}), end
	}
	if string(encodePast(all)) != text {
		return nil, damaged("malformed earlier origins %.100q", text)
	}
	return all, nil
}

// readOrigins reads whose the store is and was, and which file it is said to be.
func (tx *Tx) readOrigins(meta *bbolt.Bucket) (err error) {
	tx.noted = string(meta.Get([]byte(metaFile)))
	if tx.origin, err = record.ParseStoreID(string(meta.Get([]byte(metaOrigin)))); err == nil {
		tx.past, err = decodePast(string(meta.Get([]byte(metaOrigins))))
	}
	if err != nil {
		return damaged("store %s: %w", tx.store.dir, err)
	}
	return nil
}

// first returns the origin that the log began with, and its chain.
func (tx *Tx) first() record.StoreID {
	if len(tx.past) > 0 {
		return tx.past[0].origin
	}
	return tx.origin
}

// Past returns the earlier origins, as meta has them.
func (tx *Tx) Past() string { return string(encodePast(tx.past)) }

// FirstOrigin returns the first of all origins of a store, of the present one and what Past returned.
func FirstOrigin(present record.StoreID, past string) (record.StoreID, error) {
	all, err := decodePast(past)
	tx := Tx{origin: present, past: all}
	return tx.first(), err
}

// Origins returns the id of a store, and its earlier ones: as long as another file, of which this
// is a copy, goes on under one of them, that is the other's.
func (s *Store) Origins(ctx context.Context) (all []record.StoreID, err error) {
	err = s.View(ctx, func(tx *Tx) error {
		all = append(all, tx.origin)
		for _, p := range tx.past {
			all = append(all, p.origin)
		}
		return nil
	})
	return all, err
}

// numberOf returns what tells a database from its copies: the file's number and, where the disk
// knows, when it was made, as numbers are given again. It is "" where the system has none.
func (s *Store) numberOf(name string) string {
	info, err := s.own.Stat(name)
	if err != nil || folder.Inode(info) == 0 {
		return ""
	}
	return strconv.FormatUint(folder.Inode(info), 10) + folder.Born(s.own.Path(name), info)
}

// isOther reports whether what is noted of a file, and what is known of one, tell of two.
func isOther(noted, known string) bool {
	a, aBorn, _ := strings.Cut(noted, " ")
	b, bBorn, _ := strings.Cut(known, " ")
	return a != "" && b != "" && (a != b || aBorn != "" && bBorn != "" && aBorn != bBorn)
}

// isCopy reports whether the database is another file than the one that its origin writes.
func (tx *Tx) isCopy() bool { return isOther(tx.noted, tx.file) }

// claim makes sure that the log's next entry is the only one that its origin writes at that
// position: a copy, and a store that has gone back, goes on under an origin of its own.
func (tx *Tx) claim() error {
	switch {
	case tx.wentBack, tx.isCopy():
		return tx.Renew()
	case tx.file != "" && tx.noted == "":
		tx.noted = tx.file
		return tx.meta.Put([]byte(metaFile), []byte(tx.file))
	}
	return nil
}

// IsOwn reports whether an id is the store's, or was.
func (tx *Tx) IsOwn(id record.StoreID) bool {
	return id == tx.origin || slices.ContainsFunc(tx.past, func(p past) bool { return p.origin == id })
}

// Origin returns the id under which the log's next entry will be written. A copy, and a store that
// has gone back, gets its own now.
func (s *Store) Origin(ctx context.Context) (id record.StoreID, err error) {
	isDue := false
	err = s.View(ctx, func(tx *Tx) error {
		id, isDue = tx.origin, tx.wentBack || isOther(tx.noted, s.numberOf(databaseFile))
		return nil
	})
	if err == nil && isDue {
		err = s.Update(ctx, func(tx *Tx) error {
			err := tx.claim()
			id = tx.origin
			return err
		})
	}
	return id, err
}

// Renew lets the store go on under a new origin. What is stored stays as it is.
func (tx *Tx) Renew() error {
	id, err := tx.store.newID()
	if err != nil {
		return err
	}
	tx.renewed = "is not what it was"
	if tx.wentBack {
		tx.renewed = "has gone back"
	} else if tx.isCopy() {
		tx.renewed = "is a copy"
	}
	tx.past = append(tx.past, past{tx.origin, tx.position})
	tx.origin, tx.noted, tx.wentBack = record.StoreID(id), tx.file, false
	return errors.Join(tx.meta.Put([]byte(metaOrigin), []byte(id)),
		tx.meta.Put([]byte(metaOrigins), encodePast(tx.past)), tx.meta.Put([]byte(metaFile), []byte(tx.noted)))
}

// tellRenewed says after the commit that the store has a new origin.
func (tx *Tx) tellRenewed() {
	if tx.renewed != "" && tx.store.opts.Notify != nil {
		tx.store.opts.Notify(fmt.Sprintf("this store %s: it goes on under an origin of its own (%s)", tx.renewed, tx.origin))
	}
}

// noteFile notes in a database that was made which file it is. What was made of a copy stays one.
func (s *Store) noteFile(db *bbolt.DB, name string) error {
	return db.Update(func(btx *bbolt.Tx) error {
		meta := btx.Bucket(bucketMeta)
		if isOther(string(meta.Get([]byte(metaFile))), s.numberOf(databaseFile)) {
			return nil
		}
		return meta.Put([]byte(metaFile), []byte(s.numberOf(name)))
	})
}

package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"filebus/store/record"
	"filebus/store/turnstile"
)

// Uses returns how many records have a body, conflict versions included.
// A digest that no record has gives 0.
func (tx *Tx) Uses(digest record.Digest) (uint64, error) {
	if !tx.HasBody(digest) {
		return 0, nil
	}
	return tx.useCount(digest)
}

// Sweep removes what processes that were killed have left: temporary files that
// are older than a day, and files of bodies that no record has. It returns how
// many body files went.
func (s *Store) Sweep(ctx context.Context) (removed int, err error) {
	s.sweepTemporary()
	stray, err := s.strayBodies(ctx)
	if err != nil || len(stray) == 0 {
		return 0, err
	}
	// A put gives a large body its name while it holds the lock exclusively, and
	// commits before it gives the lock back: what has no record now, under that
	// lock, will never have one.
	err = s.Update(ctx, func(tx *Tx) error {
		for name, digest := range stray {
			if digest == (record.Digest{}) || tx.HasBody(digest) {
				continue
			}
			if err := s.own.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("sweeping bodies: %w", err)
			}
			removed++
		}
		return nil
	})
	return removed, err
}

// RemoveKept removes the copies that migrations and repairs have kept of the database, and
// of bodies, and returns their names below the store's folder; and what a Restore has left.
func (s *Store) RemoveKept(ctx context.Context) (removed []string, err error) {
	if err := s.locked(ctx, turnstile.Exclusive, s.forgetAside); err != nil {
		return nil, err
	}
	return s.removeWith(databaseFile+".schema", databaseFile+damagedSuffix, databaseFile+".repair", migrateFile, bodySuffix+damagedSuffix)
}

// removeWith removes files, beside the database and of bodies, that have one of some parts
// in their name.
func (s *Store) removeWith(parts ...string) (removed []string, err error) {
	add := func(name string, e fs.DirEntry) error {
		if e.Type().IsRegular() && slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(e.Name(), part) }) {
			removed = append(removed, name)
		}
		return nil
	}
	entries, err := s.own.ReadDir(".")
	for _, e := range entries {
		_ = add(e.Name(), e) // always nil
	}
	if walkErr := s.own.Walk(bodiesDir, add); !errors.Is(walkErr, fs.ErrNotExist) {
		err = errors.Join(err, walkErr)
	}
	for _, name := range removed {
		if removeErr := s.own.Remove(name); !errors.Is(removeErr, fs.ErrNotExist) { // by another process
			err = errors.Join(err, removeErr)
		}
	}
	return removed, err
}

// strayBodies returns the files of bodies that no record has at the moment. Those without
// the name of a body, or its place, have no digest.
func (s *Store) strayBodies(ctx context.Context) (map[string]record.Digest, error) {
	stray := map[string]record.Digest{}
	err := s.own.Walk(bodiesDir, func(name string, e fs.DirEntry) error {
		hex, isBody := strings.CutSuffix(e.Name(), bodySuffix)
		if e.IsDir() || !isBody {
			return nil
		}
		digest, err := record.ParseDigest(hex)
		if err != nil || !e.Type().IsRegular() || name != bodyFile(digest) {
			digest = record.Digest{}
		}
		stray[name] = digest
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || len(stray) == 0 {
		return nil, err
	}
	err = s.View(ctx, func(tx *Tx) error {
		maps.DeleteFunc(stray, func(name string, digest record.Digest) bool {
			if tx.HasBody(digest) {
				return true
			}
			_, err := s.own.Stat(name)
			return errors.Is(err, fs.ErrNotExist) // it was dropped since
		})
		return nil
	})
	return stray, err
}

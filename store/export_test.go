package store

import (
	"context"
	"time"

	"filebus/migrations"
	"filebus/store/turnstile"
)

// WithSteps returns options under which a store knows other schemas.
func WithSteps(opts Options, steps []migrations.Step) Options {
	opts.steps = steps
	return opts
}

// Rebuild makes the database again though nothing is wrong with it.
func (s *Store) Rebuild(ctx context.Context) (*Repaired, error) {
	out := &Repaired{}
	h := newHealer(ctx, RepairOptions{}, out)
	signed, _ := s.readSignoff()
	h.signed = signed.end
	err := s.locked(ctx, turnstile.Exclusive, func() error { return s.rebuild(h) })
	return out, err
}

// CheckIn is Check in slices of another length.
func (s *Store) CheckIn(ctx context.Context, slice time.Duration) (*Report, error) {
	return s.checkIn(ctx, slice, nil)
}

// WalkPages reads the pages of a database as a repair does.
var WalkPages = walkPages

// Orphaned stands for the bucket of leaves that no tree leads to.
const Orphaned = orphaned

// HasMapping reports whether the database is mapped for the next reader.
func (s *Store) HasMapping() bool { return s.mapped.Load() != nil }

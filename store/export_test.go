package store

import "filebus/migrations"

// WithSteps returns options under which a store knows other schemas.
func WithSteps(opts Options, steps []migrations.Step) Options {
	opts.steps = steps
	return opts
}

// WalkPages reads the pages of a database as a repair does.
var WalkPages = walkPages

// Orphaned stands for the bucket of leaves that no tree leads to.
const Orphaned = orphaned

package store

import "filebus/migrations"

// WithSteps returns options under which a store knows other schemas.
func WithSteps(opts Options, steps []migrations.Step) Options {
	opts.steps = steps
	return opts
}

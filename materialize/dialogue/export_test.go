package dialogue

import (
	"context"

	"filebus/materialize/layout"
)

// What only this package and its tests use.
type (
	AbsentAgent = absentAgent
	Lifecycle   = lifecycle
)

const (
	AbsentStub        = absentStub
	LifecycleAccepted = lifecycleAccepted
	LifecycleWIP      = lifecycleWIP
	LinkTranscript    = linkTranscript
	MaxDocument       = maxDocument
	PoolFile          = poolFile
)

var (
	CheckSlug = checkSlug
	Example   = exampleTurn
	Label     = labelOf
	SlugOf    = slugOf
	Track     = track
)

// ReadTranscript finds the last text of an agent in its transcript.
var ReadTranscript = readTranscript

// Launch has agents owe a file in a round, and returns the round's panel.
func (f *Forum) Launch(ctx context.Context, key Key, round int, agents ...string) (*layout.Panel, error) {
	d, err := f.readOwn(ctx, key)
	if err == nil {
		err = f.launch(ctx, d, round, agents...)
	}
	if err == nil {
		d, err = f.Read(ctx, key)
	}
	if err != nil {
		return nil, err
	}
	return d.Round(round).Panel, nil
}

package dialogue

import (
	"context"

	"filebus/materialize/layout"
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

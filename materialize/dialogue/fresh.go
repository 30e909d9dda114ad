package dialogue

import (
	"context"
	"errors"

	"filebus/store/record"
)

// ReadFresh is Read after what agents have written just now was taken in: a sync waits
// until a file is still. What could not be taken in is returned as skipped; what is
// stored is read all the same.
func (f *Forum) ReadFresh(ctx context.Context, key Key) (d *Dialogue, skipped, err error) {
	if d, err = f.Read(ctx, key); err != nil || !key.IsOwn() {
		return d, nil, err
	}
	for _, r := range d.Rounds {
		agents := d.owingNames(r)
		for _, t := range r.Turns {
			agents = append(agents, t.Agent)
		}
		for _, agent := range agents {
			name := turnName(key, r.Number, agent)
			if record.CheckID(name.ID) == nil {
				skipped = errors.Join(skipped, f.w.TakeInNew(ctx, name.Kind, name.ID))
			}
		}
		name := fileName(key, roundFolder(r.Number)+"/"+ScoresFile)
		skipped = errors.Join(skipped, f.w.TakeInNew(ctx, name.Kind, name.ID))
	}
	if ctx.Err() != nil {
		return nil, nil, ctx.Err()
	}
	d, err = f.Read(ctx, key)
	return d, skipped, err
}

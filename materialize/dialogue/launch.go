package dialogue

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// launch records in the panel of a round that agents owe a file, and makes the
// round's folder, so that they can write at once. Names are folded; those of the
// panel already stay as they are, and the time is that of the first launch. It
// returns ErrNoRound, ErrNotInPool, ErrName, or mirror.ErrLink if the folder would be
// behind a link.
func (f *Forum) launch(ctx context.Context, d *Dialogue, round int, agents ...string) error {
	if err := d.checkRound(round); err != nil {
		return err
	}
	var experts []layout.Expert
	for _, agent := range agents {
		e, err := d.expert(agent)
		if err != nil {
			return err
		}
		experts = append(experts, e)
	}
	if _, err := f.makeRound(ctx, d.Key, round); err != nil {
		return err
	}
	name := fileName(d.Key, roundFolder(round)+"/"+PanelFile)
	fresh := layout.Panel{Round: round, Launched: f.now().UTC().Truncate(time.Second), Experts: d.wrote(round)}
	_, err := f.w.EditText(ctx, name.Kind, name.ID, record.SourcePut, panelEdit(name, fresh, experts))
	return err
}

// panelEdit returns the edit that adds experts to the text of a panel, which is
// that of the given one where there is none.
func panelEdit(name record.Name, fresh layout.Panel, experts []layout.Expert) materialize.TextEdit {
	return func(old []byte, _ *store.Version) ([]byte, error) {
		panel, changed := fresh, isBlank(old)
		if !changed {
			var problem *layout.SyntaxError
			if panel, problem = layout.ParsePanel(old); problem != nil {
				return nil, fmt.Errorf("%s, line %d: %w", name, problem.Line, problem.Err)
			}
		}
		for _, e := range experts {
			if !isAmong(panel.Experts, e.Name) {
				panel.Experts, changed = append(panel.Experts, e), true
			}
		}
		if !changed {
			return old, nil
		}
		if panel.Launched.IsZero() {
			panel.Launched = fresh.Launched
		}
		return layout.AppendPanel(nil, panel)
	}
}

// wrote returns the experts who have written in a round already: a panel that begins
// after them has them too.
func (d *Dialogue) wrote(round int) []layout.Expert {
	experts := []layout.Expert{} // a list in JSON also when it is empty
	if r := d.Round(round); r != nil {
		for _, t := range r.Turns {
			if e, err := d.expert(t.Agent); err == nil && !isAmong(experts, e.Name) {
				experts = append(experts, e)
			}
		}
	}
	return experts
}

// checkRound returns ErrNoRound if a round cannot begin yet.
func (d *Dialogue) checkRound(round int) error {
	if round < 0 {
		return record.Usage.Errorf("round %d: rounds are counted from 0", round)
	}
	if round == 0 || d.Round(round-1).hasBegun() {
		return nil
	}
	next := 0
	for d.Round(next).hasBegun() {
		next++
	}
	err := record.Conflict.Errorf("round %d of %s cannot begin: there is no round %d", round, d.Key, round-1)
	return err.Because(ErrNoRound, d.Key.String(), strconv.Itoa(next))
}

// hasBegun reports whether a round has a panel or a turn. One that is nil has not.
func (r *Round) hasBegun() bool { return r != nil && (r.Panel != nil || len(r.Turns) > 0) }

// lastBegun returns the last round that has begun, -1 if none has.
func (d *Dialogue) lastBegun() int {
	last := -1
	for _, r := range d.Rounds {
		if r.hasBegun() {
			last = r.Number
		}
	}
	return last
}

// begunBy returns a time by which a round, which may be nil, had begun: the end of the
// second that its panel gives. Known is false if there is no telling.
func (r *Round) begunBy() (begun time.Time, known bool) {
	panel := r.panel()
	if panel == nil || panel.Launched.IsZero() {
		return time.Time{}, false
	}
	return panel.Launched.Add(time.Second), true
}

// expert returns the expert of the pool whom a name means; in a pool without names,
// anybody.
func (d *Dialogue) expert(text string) (layout.Expert, error) {
	name, err := FoldName(text)
	if err != nil {
		return layout.Expert{}, err
	}
	experts := named(d.Pool.Experts)
	for _, e := range experts {
		if foldExpert(e.Name) == name {
			e.Name = name
			return e, nil
		}
	}
	if len(experts) == 0 {
		return layout.Expert{Name: name, Label: Label(name)}, nil
	}
	near := listed(", which has ", nearNames(name, experts))
	unknown := record.NotFound.Errorf("%s is not in the expert pool of %s%s", name, d.Key, near)
	return layout.Expert{}, unknown.Because(ErrNotInPool, fileName(d.Key, PoolFile).String())
}

// isAmong reports whether one of the experts has a name, which is folded.
func isAmong(experts []layout.Expert, name string) bool {
	return slices.ContainsFunc(experts, func(e layout.Expert) bool { return foldExpert(e.Name) == name })
}

// nearNames returns the names of experts that are like one: all of them if they are
// few, else those that share its beginning.
func nearNames(name string, experts []layout.Expert) []string {
	var all, near []string
	for _, e := range experts {
		all = append(all, e.Name)
		if strings.Contains(e.Name, name) || strings.Contains(name, e.Name) || e.Name[:1] == name[:1] {
			near = append(near, e.Name)
		}
	}
	if len(all) <= maxNear || len(near) == 0 {
		near = all
	}
	return near[:min(len(near), maxNear)]
}

// makeRound makes the folder of a round and returns it, absolute.
func (f *Forum) makeRound(ctx context.Context, key Key, round int) (string, error) {
	return f.w.MakeFolder(ctx, fileName(key, roundFolder(round)+"/"+PanelFile))
}

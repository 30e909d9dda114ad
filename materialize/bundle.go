package materialize

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"slices"

	"filebus/materialize/plan"
	"filebus/store"
	"filebus/store/bundle"
	"filebus/store/record"
)

// ErrOtherLog says that two logs bear the id of one store.
const ErrOtherLog record.Reason = "another log under the same id"

// Applied says what became of the entries of a bundle.
type Applied struct {
	Origin    record.StoreID     `json:"origin"`
	Before    bundle.Place       `json:"before"`
	End       bundle.Place       `json:"end"`
	Records   map[store.Fate]int `json:"records"`
	Retired   int                `json:"retired"`
	Destroyed []record.Ref       `json:"destroyed"`       // there; not here
	Asked     int                `json:"asked,omitempty"` // versions of this store that are destroyed there: hidden until somebody here destroys them
	Heirs     []record.Name      `json:"heirs,omitempty"` // of versions which this store has made of these
}

// scan verifies all of a bundle, and calls each with its items.
func (w *Workspace) scan(ctx context.Context, file io.Reader, each func(*bundle.Reader, bundle.Item) error) (*bundle.Reader, error) {
	r, err := bundle.NewReader(w.Store, file)
	for item := (bundle.Item{}); err == nil; {
		if err = each(r, item); err == nil { // first of all, with none, where it begins
			item, err = r.Next(ctx)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return r, err
}

// Apply takes the records of a bundle in, after it has verified all of it: see store.Tx.Adopt. What
// was retired there is retired here if it is current; what was destroyed there is not touched.
// Each transaction is taken in as a whole. What was cut short is finished by doing it again.
func (w *Workspace) Apply(ctx context.Context, file io.ReadSeeker) (*Applied, error) {
	retired := map[record.Ref]bool{} // and nothing followed there
	heard, link, isOther := uint64(0), record.Digest{}, false
	r, err := w.scan(ctx, file, func(r *bundle.Reader, item bundle.Item) (err error) {
		if item.Position == 0 {
			err = w.Store.View(ctx, func(tx *store.Tx) (err error) {
				heard, link, err = tx.Heard(r.Origin)
				return err
			})
		}
		isOther = isOther || r.At.Position == heard && r.At.Chain != link && link != (record.Digest{})
		if item.Draft != nil && retired[item.Draft.Record.Prev] {
			retired[item.Draft.Record.Prev] = false // Tx.Adopt goes on from the head
		} else if item.Op == store.OpRetire {
			retired[item.Ref] = true
		}
		return err
	})
	if err == nil && isOther { // a malformed one says nothing of its log
		err = otherLog(r.Origin, heard)
	}
	if err == nil {
		err = w.ownLog(ctx, r)
	}
	if err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, err
	}
	a := newApplier(w, r)
	a.retired, a.report.End = retired, r.At
	if r, err = bundle.NewReader(w.Store, file); err == nil {
		err = a.run(ctx, r)
	}
	if err == nil {
		err = w.Store.Update(ctx, func(tx *store.Tx) error { return tx.Hear(r.Origin, r.At.Position, r.At.Chain) })
	}
	return a.report, err
}

func otherLog(origin record.StoreID, position uint64) error {
	return record.Conflict.Errorf("two stores have the id %s: their logs are not the same up to position %d", origin, position).
		Because(ErrOtherLog)
}

// ownLog refuses a bundle under the own id that is not of this log. Where it goes further than this one,
// this store is a copy, or has gone back: it goes on under another id.
func (w *Workspace) ownLog(ctx context.Context, r *bundle.Reader) error {
	return w.Store.Update(ctx, func(tx *store.Tx) error {
		switch link, err := tx.Chain(min(r.At.Position, tx.Position())); {
		case r.Origin != tx.Origin() || err != nil:
			return err
		case r.At.Position > tx.Position():
			return tx.Renew()
		case link != r.At.Chain:
			return otherLog(r.Origin, r.At.Position)
		}
		return nil
	})
}

// fill describes a draft whose body came before.
func (w *Workspace) fill(tx *store.Tx, d *store.Draft) {
	if d.Description.Version > 0 {
		return
	}
	content, err := tx.Content(&d.Record)
	if err != nil {
		return // Adopt says it
	}
	if head, err := content.Head(store.InlineLimit); err == nil {
		d.Description = w.describe(&d.Record, head)
	}
}

// Learn takes in a part of another store's log as Apply does, and what was destroyed there is destroyed
// here. The part must follow what was heard of that log; what was heard before is passed over. Its entries
// are kept, to be told to others. Of what is cut short, or not as it was written, nothing behind the
// last sound transaction is taken in. The function open says how the reader gets at what is not in the part.
func (w *Workspace) Learn(ctx context.Context, part []byte, origin record.StoreID, open func(*bundle.Reader)) (*Applied, error) {
	r, err := bundle.NewReader(w.Store, bytes.NewReader(part))
	if err == nil && r.Origin != origin {
		err = record.Damaged.Errorf("it is of the log of %s, not of %s", r.Origin, origin)
	}
	if err != nil {
		return nil, err
	}
	a := newApplier(w, r)
	a.told, a.at = &r.Past, r.Before
	open(r)
	err = w.Store.View(ctx, func(tx *store.Tx) (err error) {
		a.heard.Position, a.heard.Chain, err = tx.Heard(r.Origin)
		return err
	})
	if err == nil && a.heard.Position < r.Before.Position {
		err = record.Conflict.Errorf("log entries %d to %d of %s are missing", a.heard.Position+1, r.Before.Position, r.Origin).Because(ErrGap)
	}
	if err == nil && a.heard == (bundle.Place{Position: r.Before.Position}) && r.Before.Position == 0 {
		a.heard = r.Before
	}
	if err == nil {
		err = a.run(ctx, r)
	}
	a.report.End = a.at
	return a.report, err
}

// ErrGap says that entries of a log are missing before those that are there.
const ErrGap record.Reason = "a gap in a log"

type applier struct {
	w       *Workspace
	retired map[record.Ref]bool           // of what the log retires, that which is to be retired here; nil: all
	told    *string                       // what is destroyed there is destroyed here, and all is kept to be told on; the log's earlier origins
	heard   bundle.Place                  // how far the log was
	at      bundle.Place                  // of the entry that was taken in last
	spare   map[record.Digest]store.Draft // bodies of what is destroyed here, or was heard before
	waiting []record.Ref                  // records of which it is not known yet what becomes of them
	report  *Applied
}

func newApplier(w *Workspace, r *bundle.Reader) *applier {
	report := &Applied{Origin: r.Origin, Before: r.Before, Records: map[store.Fate]int{}, Destroyed: []record.Ref{}}
	return &applier{w: w, spare: map[record.Digest]store.Draft{}, report: report}
}

// run takes all of a bundle in. A mirror's memory that is made only later would begin behind that, and no
// sync would write it.
func (a *applier) run(ctx context.Context, r *bundle.Reader) error {
	if err := a.w.withMirror(ctx, a.w.Root, func(*reconciler) error { return nil }); err != nil {
		return err
	}
	err := a.w.play(ctx, r, math.MaxUint64, a.write)
	for _, d := range a.spare {
		err = errors.Join(err, d.Body.Discard())
	}
	return err
}

// write takes in entries, at once or, where something is wrong with one, transaction by transaction up to it.
func (a *applier) write(ctx context.Context, steps []store.Step) error {
	start := a.at
	steps, told, err := a.pass(steps)
	if err == nil {
		err = a.commit(ctx, steps, told)
	}
	if len(steps) == 0 || err == nil || a.told == nil || ctx.Err() != nil || !errors.Is(err, record.Damaged) && !errors.Is(err, record.Usage) {
		return err
	}
	for first, end := 0, 0; first < len(steps); first = end {
		end = first + 1
		for end < len(steps) && steps[end].Time.Equal(steps[first].Time) {
			end++
		}
		if err = a.commit(ctx, steps[first:end], told[first:end]); err != nil {
			a.at = start
			return record.Damaged.Errorf("stuck at entry %d of the log of %s, behind which nothing is taken in: %w", steps[first].Position, a.report.Origin, err).
				Try("update filebus here; if that does not help, another program wrote the entry: filebus remote trust --revoke {1}", string(a.report.Origin)).Because(ErrStuck)
		}
		start = bundle.Place{Position: steps[end-1].Position, Chain: told[end-1].Chain}
	}
	return nil
}

// ErrStuck says that an entry of a log cannot be taken in.
const ErrStuck record.Reason = "a stuck log"

// commit takes in some entries in one transaction. What the report counts is what was committed.
func (a *applier) commit(ctx context.Context, steps []store.Step, told []store.Told) error {
	before := *a.report
	before.Records = maps.Clone(before.Records)
	err := a.take(ctx, steps, told)
	if err != nil {
		*a.report = before
	}
	return err
}

func (a *applier) take(ctx context.Context, steps []store.Step, told []store.Told) error {
	return a.w.Store.Update(ctx, func(tx *store.Tx) error {
		files, names := plan.Files{}, map[record.Name]bool{}
		a.waiting = nil
		for _, step := range steps {
			var touched []*record.Record
			if step.Trace != nil && step.Draft == nil {
				step.Known = append(step.Known, store.Known{Ref: step.Ref, Trace: *step.Trace})
			}
			for _, known := range step.Known {
				told, err := tx.Tell(known.Ref, known.Trace)
				if err != nil {
					return err
				}
				for _, name := range told {
					names[name] = true
					if v, _, err := tx.Last(name); err == nil {
						touched = append(touched, v.Record)
					}
				}
			}
			known, _ := tx.Trace(step.Ref)
			for _, ref := range append(known.Follows, step.Ref) {
				if v, err := tx.Get(ref); err == nil {
					touched = append(touched, v.Record)
				}
			}
			if step.Draft != nil {
				touched = append(touched, &step.Draft.Record)
			}
			for _, r := range touched {
				files.Add(tx, r)
				names[r.Name] = true
			}
			if err := a.one(tx, step); err != nil {
				return err
			}
		}
		for _, ref := range a.waiting {
			fate, err := tx.Fate(ref)
			if a.report.Records[fate]++; err != nil {
				return err
			}
		}
		for _, name := range slices.SortedFunc(maps.Keys(names), record.Name.Compare) {
			if err := errors.Join(tx.Conclude(name), plan.Unite(tx, name)); err != nil {
				return err
			}
		}
		if _, err := a.w.planner().Mend(ctx, tx, files, a.w.recognise); err != nil || a.told == nil {
			return err
		}
		return tx.KeepTold(a.report.Origin, *a.told, told)
	})
}

// pass leaves out what was heard of a log that is told, and returns the rest as it is to be kept.
func (a *applier) pass(steps []store.Step) (rest []store.Step, told []store.Told, err error) {
	if a.told == nil {
		return steps, nil, nil
	}
	for _, step := range steps {
		if a.at.Position == a.heard.Position && a.at.Chain != a.heard.Chain {
			return nil, nil, otherLog(a.report.Origin, a.at.Position)
		}
		a.at = bundle.Place{Position: step.Position, Chain: store.NextChain(a.at.Chain, step.Entry)}
		if step.Position <= a.heard.Position {
			if step.Draft != nil {
				a.keepSpare(step.Draft)
			}
			continue
		}
		trace := step.Trace
		if step.Draft != nil {
			of := store.TraceOf(&step.Draft.Record)
			trace = &of
		}
		rest = append(rest, step)
		told = append(told, store.Told{Entry: step.Entry, Chain: a.at.Chain, Trace: trace, Pass: step.Pass})
	}
	if a.at.Position == a.heard.Position && a.at.Chain != a.heard.Chain {
		err = otherLog(a.report.Origin, a.at.Position)
	}
	return rest, told, err
}

func (a *applier) one(tx *store.Tx, step store.Step) error {
	switch {
	case step.Draft != nil:
		return a.adopt(tx, step)
	case step.Op == store.OpRetire && (a.retired == nil || a.retired[step.Ref]):
		did, err := tx.RetireAs(step.Ref)
		if did {
			a.report.Retired++
		}
		return err
	case step.Op == store.OpDrop && a.told != nil && isOwn(tx, step.Ref):
		a.report.Asked++
		return tx.Ask(step.Ref)
	case step.Op == store.OpDrop && a.told != nil:
		a.report.Heirs = append(a.report.Heirs, heirs(tx, step.Ref)...)
		did, err := tx.DropAs(step.Ref, step.Time)
		if did {
			a.report.Destroyed = append(a.report.Destroyed, step.Ref)
		}
		return err
	case step.Op == store.OpDrop:
		if _, err := tx.Get(step.Ref); err == nil {
			a.report.Destroyed = append(a.report.Destroyed, step.Ref)
		}
	}
	return nil
}

// isOwn reports whether a version is one that a user of this store has put.
func isOwn(tx *store.Tx, ref record.Ref) bool {
	v, err := tx.Get(ref)
	return err == nil && tx.IsOwn(v.Record.Origin) && !v.Record.IsMerged()
}

// heirs returns the names under which this store has versions made of one: what goes on from it, or was kept beside it.
func heirs(tx *store.Tx, of record.Ref) (names []record.Name) {
	v, err := tx.Get(of)
	if err != nil { // it is not here
		return nil
	}
	isLink := func(l record.Link) bool { return l.Target == of.String() }
	for _, name := range []record.Name{v.Record.Name, {Kind: record.KindNote, ID: alteredID(v.Record.Path)}} {
		events, _ := tx.History(name) // what cannot be read is reported by who reads it
		for _, e := range events {
			made, err := tx.Get(e.Ref)
			if err == nil && isOwn(tx, e.Ref) && (made.Record.Prev == of || slices.ContainsFunc(made.Record.Links, isLink)) {
				names = append(names, name)
			}
		}
	}
	return slices.Compact(names)
}

func (a *applier) adopt(tx *store.Tx, step store.Step) error {
	if spare, found := a.spare[step.Draft.Body.Digest]; found {
		step.Draft.Body, step.Draft.Description, step.Draft.Content = spare.Body, spare.Description, spare.Content
	}
	a.w.fill(tx, step.Draft)
	fate, err := tx.Adopt(*step.Draft)
	if fate == "" {
		a.waiting = append(a.waiting, step.Ref)
	} else if a.report.Records[fate]++; fate == store.FateDestroyed {
		a.keepSpare(step.Draft)
	}
	return err
}

// keepSpare keeps a body that is not put: a later record may have the same one, which comes once.
func (a *applier) keepSpare(d *store.Draft) {
	if _, known := a.spare[d.Body.Digest]; !known {
		a.spare[d.Body.Digest] = *d
	}
	d.Body = store.Body{} // it is discarded at the end
}

// play gives the entries of a bundle up to a position to write, many at once, but never a part of a
// transaction. They are read and described while others are written.
func (w *Workspace) play(
	ctx context.Context, r *bundle.Reader, until uint64, write func(context.Context, []store.Step) error,
) error {
	r.Keep = true
	var first []bundle.Item // that is read, and comes next
	prepare := func(ctx context.Context, _ int) ([]store.Step, error) {
		items, size := first, int64(0)
		for first = nil; r.At.Position < until; { // what comes behind may be damaged
			item, err := r.Next(ctx)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, err
			}
			if (len(items) >= batchFiles || size > batchBytes) && !item.Time.Equal(items[len(items)-1].Time) {
				first = []bundle.Item{item}
				break
			}
			items, size = append(items, item), size+int64(len(item.Head))
		}
		return w.steps(items), nil
	}
	forever := func(yield func(int) bool) {
		for yield(0) {
		}
	}
	err := ahead(ctx, forever, prepare, func(ctx context.Context, steps []store.Step) error {
		if len(steps) == 0 {
			return io.EOF
		}
		err := write(ctx, steps)
		for _, s := range steps {
			if s.Draft != nil {
				err = errors.Join(err, s.Draft.Body.Discard())
			}
		}
		return err
	})
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// steps describes items.
func (w *Workspace) steps(items []bundle.Item) []store.Step {
	steps := make([]store.Step, len(items))
	parallel(len(items), func(i int) {
		steps[i] = items[i].Step
		if d := steps[i].Draft; d != nil && items[i].Head != nil {
			of := w.draftOf(&d.Record, items[i].Head)
			d.Description, d.Content = of.Description, of.Content
		}
	})
	return steps
}

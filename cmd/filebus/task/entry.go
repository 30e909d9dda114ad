package task

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// meant returns the entry of a file of other tools that a user's id means, where it is no task of the workspace's own.
// An id that fits several is an error that lists them.
func (b *Tasks) meant(ctx context.Context, text string) (entry *query.Summary, err error) {
	if id, err := ParseID(text); err == nil {
		if _, err := b.Get(ctx, id); err == nil {
			return b.keptIn(ctx, id)
		}
	}
	found, err := b.Entries(ctx, text)
	switch {
	case err != nil || len(found) == 0:
		return nil, err
	case len(found) > 1:
		names := markdown.Each(found, func(s query.Summary) string { return s.Name.ID })
		return nil, record.Usage.Errorf("%s may be %s", text, cli.FirstNames(names)).Try("filebus task show {1}", names[0])
	case b.work.Settings.Profile.Recognize(found[0].Path).Declared == "":
		return nil, nil // it is of a queue of the workspace
	}
	return &found[0], nil
}

// endedEntry returns how an entry has ended that a user's id means, nil if it has a journal here or goes on.
func (b *Tasks) endedEntry(ctx context.Context, text string, id ID) *Ending {
	if _, err := b.Get(ctx, id); id != "" && !errors.Is(err, ErrNotStarted) {
		return nil
	}
	entry, err := b.meant(ctx, text)
	if err != nil || entry == nil || !layout.HasEnded(layout.NormalizeStatus(entry.Status)) {
		return nil
	}
	return &Ending{ID: ID(cmp.Or(entry.Attributes["id"], entry.TaskID())), Status: layout.NormalizeStatus(entry.Status), Summary: entry.Title}
}

// keptIn returns the entry that a journal of the workspace is of, where everybody may tick its box.
func (b *Tasks) keptIn(ctx context.Context, id ID) (*query.Summary, error) {
	all, err := b.read.Own(ctx, record.Filter{Kinds: []record.Kind{record.KindTask}})
	i := slices.IndexFunc(all, func(s query.Summary) bool {
		return journalOf(&s).key() == id.key() && b.work.Settings.Profile.Recognize(s.Path).HasBoxes()
	})
	if i < 0 {
		return nil, err
	}
	return &all[i], err
}

// journalOf returns the id of the journal that the workspace keeps of an entry: 003-search-T014 of 003-search/T014.
func journalOf(entry *query.Summary) ID {
	name := strings.TrimPrefix(entry.Name.ID, record.WholeFile)
	return ID(fitting(strings.NewReplacer("/", "-", "#", "-", ".md", "").Replace(name)))
}

// endEntry ticks the box of an entry if it is complete, and opens its journal if it has none, as soon as nothing is
// wrong with the handoff. Where there is neither journal nor handoff it is over by that.
func (b *Tasks) endEntry(
	ctx context.Context, w *cli.Work, entry *query.Summary, h layout.Handoff, usual string,
) (id ID, isOver bool, err error) {
	id = journalOf(entry)
	j, err := b.Look(ctx, id)
	isKept := err == nil
	if !isKept && !errors.Is(err, ErrNotStarted) {
		return id, false, err
	} else if !isKept {
		j = &Journal{}
	}
	isBare := string(layout.HandoffText(h)) == string(layout.HandoffText(layout.Handoff{Outcome: h.Outcome}))
	f := Finished{ID: id, Status: layout.NormalizeStatus(cmp.Or(h.Outcome, usual))}
	if b.work.Settings.Profile.Recognize(entry.Path).HasBoxes() || !isKept {
		f.called = entry.Name.ID // else only its journal can be ended
	}
	isOver = !isKept && isBare && usual != "" && f.Status == layout.StatusComplete
	if !isOver {
		if _, err = b.handedOver(j.Text, &f, h, usual); err != nil {
			return id, false, err
		}
	}
	if err = nil; f.Status == layout.StatusComplete {
		err = tick(ctx, w, entry, layout.StatusComplete)
	}
	if err == nil && !isKept && !isOver {
		_, err = b.Start(ctx, id, StartRequest{Title: entry.Title})
	}
	return id, isOver, err
}

// tick ticks the box of an entry, and says where. A file without a mark for it is left alone, which is said if it was asked for.
func tick(ctx context.Context, w *cli.Work, entry *query.Summary, status string) error {
	p, line, err := w.Tick(ctx, entry.Name, status)
	if errors.Is(err, materialize.ErrNoBox) && status != layout.StatusComplete {
		return nil
	}
	if err == nil && line > 0 {
		w.Remark("%s is %s in %s, line %d", entry.Name.ID, status, p, line)
	}
	return err
}

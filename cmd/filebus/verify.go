package main

import (
	"context"
	"errors"
	"fmt"

	"filebus/materialize"
	"filebus/materialize/mirror"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

type verifyCommand struct {
	Repair bool `flag:"repair"`
}

type verifyJSON struct {
	store.Report
	Index  string                    `json:"index"` // ok, or what is wrong with it
	Repair *materialize.RepairReport `json:"repair,omitempty"`
}

func (o *verifyCommand) run(ctx context.Context, without *workspace, _ []string) error {
	w, err := without.open(ctx)
	if at, absent := without.locate(); o.Repair && errors.Is(absent, store.ErrNoStore) && materialize.HasLost(at.Store) {
		w, err = without.create(ctx)
	}
	if err != nil {
		return err
	}
	return o.verify(ctx, w)
}

func (o *verifyCommand) verify(ctx context.Context, w *workspace) error {
	var value verifyJSON
	if o.Repair {
		done, err := w.Repair(ctx)
		if err == nil && (done.Anew || len(done.Faults) > 0 || w.read.VerifyIndex(ctx) != nil) {
			err = w.reader(w.Store, query.Options{}).Reindex(ctx)
		}
		if err != nil {
			return err
		}
		value.Repair = done
	}
	show, clear := w.progress("verifying")
	report, err := w.Store.Check(ctx, show)
	clear()
	if err != nil {
		return err
	}
	known := mirror.Settled(folder.At(w.Store.Dir()).Sub("mirror")) // before the end: others write
	if end, err := query.Position(ctx, w.Store); err == nil && known > end && !report.GoneBack {
		report.GoneBack = true
		report.Faults = append(report.Faults, w.Store.GoneBack(known, end).Error())
	}
	results := query.ListRequest{Filter: record.Filter{Kinds: []record.Kind{record.KindResult}, Trees: []record.Tree{""}}}
	listed, _ := w.read.List(ctx, results) // what cannot be read is a fault
	for _, r := range listed.Entries {
		if file := w.AlteredFile(ctx, r.Name); file != "" {
			report.Remarks = append(report.Remarks, fmt.Sprintf(alteredText, file))
		}
	}
	left, _ := w.undestroyed(ctx) // as above
	report.Remarks = append(report.Remarks, left...)
	indexErr := w.read.VerifyIndex(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	value.Report, value.Index = *report, "ok"
	if indexErr != nil {
		value.Index = message(indexErr)
	}
	if report.GoneBack && errors.Is(indexErr, store.ErrDamaged) {
		value.Index = "knows more of the log than there is"
	}
	if err := w.printVerify(&value); err != nil {
		return err
	}
	n := len(report.Faults)
	switch {
	case n > 0 && o.Repair:
		return coded(record.Damaged, beyondHint, fmt.Errorf("the store is still damaged: %s", plural(n, "fault")))
	case n > 0 && report.Heals():
		return coded(record.Damaged, store.HealHint, fmt.Errorf("the store is damaged: %s", plural(n, "fault")))
	case n > 0:
		return coded(record.Damaged, repairHint, fmt.Errorf("the store is damaged: %s", plural(n, "fault")))
	case indexErr == nil && o.Repair && (value.Repair.Anew || len(value.Repair.Gone)+value.Repair.Unknown > 0):
		return silentError(record.Partly)
	}
	return indexErr
}

// What helps a store that is damaged itself, and one that a repair left so.
const (
	repairHint = "filebus verify --repair"
	beyondHint = "put .filebus back from a backup; filebus get reads what is still whole"
)

func (e *environ) printVerify(v *verifyJSON) error {
	if e.global.json {
		return e.printJSON(v)
	}
	if v.Repair != nil {
		e.printRepair(v.Repair)
	}
	e.printEach("fault: ", v.Faults)
	e.printEach("remark: ", v.Remarks)
	soundness := "sound"
	if n := len(v.Faults); n > 0 {
		soundness = plural(n, "fault")
	}
	e.printf("%s, %s (%s), %s, %d dropped: %s\nindex: %s\n", plural(v.Records, "record"),
		count(v.Bodies, "1 body", "%d bodies"), byteSize(v.Bytes),
		count(int(v.Position), "1 log entry", "%d log entries"), v.Dropped, soundness, v.Index)
	return nil
}

// printRepair says what a repair found and did, and what exactly is gone.
func (e *environ) printRepair(r *materialize.RepairReport) {
	if len(r.Faults) == 0 {
		e.printf("nothing of the store was damaged\n")
	}
	e.printEach("was wrong: ", r.Faults)
	if r.Anew {
		e.printf("gone: nothing of the old database could be read; the store has begun anew, with what the files have\n")
	}
	for _, p := range r.Healed {
		e.printf("healed: %s, from %s\n", oneLine(pieceText(p)), oneLine(p.From))
	}
	e.printEach("made again: the order of the entries of ", r.Frames)
	for _, did := range []struct {
		n         int
		one, many string
	}{
		{r.Described, "derived again: 1 description", "derived again: %d descriptions"},
		{r.Derived, "derived again: 1 log entry", "derived again: %d log entries"},
		{r.Unknown, "gone: what 1 log entry said", "gone: what %d log entries said"},
		{r.Memory, "taken out of the mirror's memory: 1 broken line", "taken out of the mirror's memory: %d broken lines"},
	} {
		if did.n > 0 {
			e.printf("%s\n", count(did.n, did.one, did.many))
		}
	}
	e.printEach("stored again: ", r.Captured)
	if r.Kept != "" {
		e.printf("kept: the damaged database, as %s\n", oneLine(r.Kept))
	}
	e.printEach("kept: what is left of a text, as ", r.Damaged)
	for _, p := range r.Gone {
		e.printf("gone: %s\n", oneLine(pieceText(p)))
	}
}

// printEach prints texts, each in a line of its own.
func (e *environ) printEach(before string, texts []string) {
	for _, text := range texts {
		e.printf("%s%s\n", before, oneLine(text))
	}
}

// pieceText says which version a piece is.
func pieceText(p store.Piece) string {
	text := fmt.Sprintf("version %s at position %d", p.Ref.Short(), p.Position)
	if p.Name != "" {
		text = p.Name + ", " + text
	}
	if p.Path != "" {
		text += ", file " + p.Path
	}
	if p.Size >= 0 {
		text += ", " + byteSize(p.Size)
	}
	return text
}

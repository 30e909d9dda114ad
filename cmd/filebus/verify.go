package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/rule"
	"filebus/materialize"
	"filebus/materialize/markdown"
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
	Index    string                    `json:"index"` // ok, or what is wrong with it
	Repair   *materialize.RepairReport `json:"repair,omitempty"`
	Findings []rule.Finding            `json:"findings"` // the faults and remarks, and what is wrong with the index
}

// find makes findings of the store's faults and remarks, and adds remarks about files that have
// changed and about what others have destroyed.
func (v *verifyJSON) find(ctx context.Context, w *cli.Work) {
	results := query.ListRequest{Filter: record.Filter{Kinds: []record.Kind{record.KindResult}, Trees: []record.Tree{""}}}
	listed, _ := w.Reader.List(ctx, results) // what cannot be read is a fault
	for _, r := range listed.Entries {
		if file := w.AlteredFile(ctx, r.Name); file != "" {
			v.Remarks = append(v.Remarks, store.Fault{Rule: "altered", Text: fmt.Sprintf(cli.AlteredText, file)})
		}
	}
	left, _ := undestroyed(ctx, w) // as above
	for _, text := range left {
		v.Remarks = append(v.Remarks, store.Fault{Rule: "undestroyed", Text: text})
	}
	remedies := map[string]string{store.FaultOfStore: cli.RepairHint, store.FaultOfText: store.HealHint}
	if v.Repair != nil {
		remedies = map[string]string{store.FaultOfStore: beyondHint, store.FaultOfText: beyondHint}
	}
	for i, f := range slices.Concat(v.Faults, v.Remarks) {
		found := rule.Finding{Rule: f.Rule, Level: rule.Wrong, File: f.Place, Message: f.Text, Remedy: remedies[f.Rule]}
		if i >= len(v.Faults) {
			found.Level = rule.Note
		}
		v.Findings = append(v.Findings, found)
	}
}

func (o *verifyCommand) Do(ctx context.Context, without *cli.Work, _ []string) error {
	w, err := without.Open(ctx)
	if at, absent := without.Locate(); o.Repair && errors.Is(absent, store.ErrNoStore) && materialize.HasLost(at.Store) {
		w, err = without.Create(ctx)
	}
	if err != nil {
		return err
	}
	return o.verify(ctx, w)
}

func (o *verifyCommand) verify(ctx context.Context, w *cli.Work) error {
	var value verifyJSON
	if o.Repair {
		done, err := w.Repair(ctx)
		if err == nil && (done.Anew || len(done.Faults) > 0 || w.Reader.VerifyIndex(ctx) != nil) {
			err = w.NewReader(w.Store, query.Options{}).Reindex(ctx)
		}
		if err != nil {
			return err
		}
		value.Repair = done
	}
	show, clear := w.Progress("verifying")
	report, err := w.Store.Check(ctx, show)
	clear()
	if err != nil {
		return err
	}
	known := mirror.Settled(folder.At(w.Store.Dir()).Sub("mirror")) // before the end: others write
	if end, err := query.Position(ctx, w.Store); err == nil && known > end && !report.GoneBack {
		report.GoneBack = true
		report.Faults = append(report.Faults, store.Fault{Rule: store.FaultOfStore, Text: w.Store.GoneBack(known, end).Error()})
	}
	value.Report, value.Index = *report, "ok"
	value.find(ctx, w)
	indexErr := w.Reader.VerifyIndex(ctx)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case report.GoneBack && errors.Is(indexErr, store.ErrDamaged):
		value.Index = "knows entries that the log does not have"
	case indexErr != nil:
		value.Index = cli.Message(indexErr)
	}
	if indexErr != nil {
		index := rule.Finding{Rule: "index", Level: rule.Wrong, Message: value.Index, Remedy: cli.Explain(indexErr).Hint}
		value.Findings = append(value.Findings, index)
	}
	if err := printVerify(w.Environ, &value); err != nil {
		return err
	}
	n := len(report.Faults)
	switch {
	case n > 0 && o.Repair:
		return cli.Coded(record.Damaged, beyondHint, fmt.Errorf("the store is still damaged: %s", cli.Plural(n, "fault")))
	case n > 0 && report.Heals():
		return cli.Coded(record.Damaged, store.HealHint, fmt.Errorf("the store is damaged: %s", cli.Plural(n, "fault")))
	case n > 0:
		return cli.Coded(record.Damaged, cli.RepairHint, fmt.Errorf("the store is damaged: %s", cli.Plural(n, "fault")))
	case indexErr == nil && o.Repair && (value.Repair.Anew || len(value.Repair.Gone)+value.Repair.Unknown > 0):
		return cli.SilentError(record.Partly)
	}
	return indexErr
}

// What helps a store that is damaged itself, and one that a repair left so.
const (
	beyondHint = "put .filebus back from a backup; filebus get reads what is still whole"
)

func printVerify(e *cli.Environ, v *verifyJSON) error {
	if e.Global.JSON {
		return e.PrintJSON(v)
	}
	if v.Repair != nil {
		printRepair(e, v.Repair)
	}
	e.Printf("%s", e.FindingsText(v.Findings, 0))
	soundness := "sound"
	if n := len(v.Faults); n > 0 {
		soundness = cli.Plural(n, "fault")
	}
	e.Printf("%s, %s (%s), %s, %d dropped: %s\nindex: %s\n", cli.Plural(v.Records, "record"),
		cli.Count(v.Bodies, "1 body", "%d bodies"), cli.ByteSize(v.Bytes),
		cli.Count(int(v.Position), "1 log entry", "%d log entries"), v.Dropped, soundness, v.Index)
	return nil
}

// printRepair says what a repair found and did, and what exactly is gone.
func printRepair(e *cli.Environ, r *materialize.RepairReport) {
	if len(r.Faults) == 0 {
		e.Printf("nothing of the store was damaged\n")
	}
	printEach(e, "was wrong: ", markdown.Each(r.Faults, store.Fault.String))
	if r.Anew {
		e.Printf("gone: nothing of the old database could be read; the store has begun anew, with what the files have\n")
	}
	for _, p := range r.Healed {
		e.Printf("healed: %s, from %s\n", cli.OneLine(pieceText(p)), cli.OneLine(p.From))
	}
	printEach(e, "made again: the order of the entries of ", r.Frames)
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
			e.Printf("%s\n", cli.Count(did.n, did.one, did.many))
		}
	}
	printEach(e, "stored again: ", r.Captured)
	if r.Kept != "" {
		e.Printf("kept: the damaged database, as %s\n", cli.OneLine(r.Kept))
	}
	printEach(e, "kept: what is left of a text, as ", r.Damaged)
	for _, p := range r.Gone {
		e.Printf("gone: %s\n", cli.OneLine(pieceText(p)))
	}
}

// printEach prints texts, each in a line of its own.
func printEach(e *cli.Environ, before string, texts []string) {
	for _, text := range texts {
		e.Printf("%s%s\n", before, cli.OneLine(text))
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
		text += ", " + cli.ByteSize(p.Size)
	}
	return text
}

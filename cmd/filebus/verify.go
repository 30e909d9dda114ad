package main

import (
	"context"
	"fmt"

	"filebus/materialize/mirror"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

type verifyJSON struct {
	store.Report
	Index string `json:"index"` // ok, or what is wrong with it
}

func runVerify(ctx context.Context, w *workspace, _ []string) error {
	show, clear := w.progress("verifying")
	report, err := w.Store.Check(ctx, show)
	clear()
	if err != nil {
		return err
	}
	known := mirror.Settled(folder.At(w.Store.Dir()).Sub("mirror")) // before the end: others write
	if end, err := query.Position(ctx, w.Store); err == nil && known > end {
		report.Faults = append(report.Faults, w.Store.GoneBack(known, end).Error())
	}
	indexErr := w.read.VerifyIndex(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	value := verifyJSON{*report, "ok"}
	if indexErr != nil {
		value.Index = message(indexErr)
	}
	if err := w.printVerify(&value); err != nil {
		return err
	}
	if n := len(report.Faults); n > 0 {
		return coded(record.Damaged, restoreHint, fmt.Errorf("the store is damaged: %s", plural(n, "fault")))
	}
	return indexErr
}

// restoreHint is all that helps a store that is damaged itself.
const restoreHint = "put .filebus back from a backup; filebus get reads what is still whole"

func (e *environ) printVerify(v *verifyJSON) error {
	if e.global.json {
		return e.printJSON(v)
	}
	for _, fault := range v.Faults {
		e.printf("fault: %s\n", oneLine(fault))
	}
	for _, remark := range v.Remarks {
		e.printf("remark: %s\n", oneLine(remark))
	}
	soundness := "sound"
	if n := len(v.Faults); n > 0 {
		soundness = plural(n, "fault")
	}
	e.printf("%s, %s (%s), %d log entries, %d dropped: %s\nindex: %s\n", plural(v.Records, "record"),
		count(v.Bodies, "1 body", "%d bodies"), byteSize(v.Bytes),
		v.Position, v.Dropped, soundness, v.Index)
	return nil
}

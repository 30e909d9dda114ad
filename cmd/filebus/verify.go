package main

import (
	"context"
	"fmt"

	"filebus/store"
	"filebus/store/record"
)

// A verifyJSON is what verify prints in JSON.
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
	indexErr := w.read.VerifyIndex(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	value := verifyJSON{*report, "ok"}
	if indexErr != nil {
		value.Index = message(indexErr)
	}
	if err := printVerify(w.environ, &value); err != nil {
		return err
	}
	return verdict(report, indexErr)
}

// restoreHint is all that helps a store that is damaged itself.
const restoreHint = "put .filebus back from a backup; filebus get reads what is still whole"

// verdict turns what was found into the error that ends the command.
func verdict(report *store.Report, indexErr error) error {
	if n := len(report.Faults); n > 0 {
		err := fmt.Errorf("the store is damaged: %s", plural(n, "fault"))
		return coded(record.Damaged, restoreHint, err)
	}
	return indexErr
}

func printVerify(env *environ, v *verifyJSON) error {
	if env.global.json {
		return env.printJSON(v)
	}
	for _, fault := range v.Faults {
		env.printf("fault: %s\n", oneLine(fault))
	}
	for _, remark := range v.Remarks {
		env.printf("remark: %s\n", oneLine(remark))
	}
	env.printf("%s, %s (%s), %d log entries, %d dropped: %s\nindex: %s\n", plural(v.Records, "record"),
		count(v.Bodies, "1 body", "%d bodies"), byteSize(v.Bytes),
		v.Position, v.Dropped, soundness(len(v.Faults)), v.Index)
	return nil
}

func soundness(faults int) string {
	if faults == 0 {
		return "sound"
	}
	return plural(faults, "fault")
}

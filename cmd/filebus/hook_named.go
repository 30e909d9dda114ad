package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filebus/cmd/filebus/hook"
	"filebus/materialize"
	transcripts "filebus/materialize/transcript"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// lookUp looks for the report in the agent's transcript where the event does not have it: it is missing or cut,
// or was handed back and no hook has seen that. As the transcript may lag behind, nothing is put in its place.
func (h *hooked) lookUp(ctx context.Context, notes hook.Notes, d *hook.Decision) error {
	e := &h.event
	missing := e.Report == "" || isCut(e.Report)
	if missing {
		d.Replace = hook.None
	}
	if e.Name != hook.SubagentStop || !d.Report || e.Transcript == "" || !missing && notes.Kept(e.Agent, e.Report) {
		return nil
	}
	end, err := endOf(h.abs(e.Transcript))
	if !missing && !bytes.Contains(end, []byte(`"SubagentHandback"`)) {
		return nil // nothing is missing without it
	}
	var run transcripts.Run
	if err == nil {
		err = run.Read(ctx, bytes.NewReader(end), transcripts.MaxText) // a row that it begins within is no row
	}
	if run.Text != "" && err == nil && (missing || !notes.Kept(e.Agent, run.Text)) { // else it is that of an earlier run
		e.Report, d.Replace = run.Text, hook.None
	}
	return err
}

// endOf returns the last 8 MiB of a regular file; others may never end.
func endOf(name string) ([]byte, error) {
	const most = 8 << 20
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, fmt.Errorf("%s is no file", name))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	return io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-most), most))
}

// isCut reports whether a text seems to go on where it ends.
func isCut(text string) bool {
	text = strings.TrimRight(text, " \r\n)]")
	return strings.HasSuffix(text, "…") || strings.HasSuffix(text, "...") || strings.HasSuffix(text, "truncated")
}

// writeNamed writes the files that the agent's prompt has named and that are not there: handoff, turn or
// artifact of the report, and after it the markers. Of several it does not guess.
func (h *hooked) writeNamed(ctx context.Context, w *workspace, files []string, report *materialize.PutResult) error {
	var names []record.Name // the markers last
	texts := 0
	for _, file := range files {
		switch name, missing := w.missing(ctx, file); {
		case !missing || slices.Contains(names, name):
		case name.Kind == record.KindMarker:
			names = append(names, name)
		default:
			names, texts = slices.Insert(names, 0, name), texts+1
		}
	}
	if texts > 1 {
		return fmt.Errorf("the prompt of %s names %d files that are not there: none is written", h.event.Agent, texts)
	}
	for _, name := range names {
		text, err := w.TextOf(ctx, store.Version{Ref: report.Ref, Record: report.Record})
		if name.Kind == record.KindMarker {
			text = []byte("done\n")
		}
		if err == nil {
			_, err = w.Put(ctx, materialize.PutRequest{
				Kind: name.Kind, ID: name.ID, Text: bytes.NewReader(text), From: []record.Ref{report.Ref},
				Source: record.SourceHook, Expect: store.Absent(), Careful: true,
			})
		}
		if err != nil {
			return fmt.Errorf("%s was not written: %w", name, err)
		}
	}
	return nil
}

// missing returns what a file of the workspace is, and whether neither disk nor store has it.
func (w *workspace) missing(ctx context.Context, file string) (name record.Name, missing bool) {
	rel := filepath.Clean(file)
	if filepath.IsAbs(file) {
		rel, _ = filepath.Rel(w.Root, file) // else it is empty, and not local
	}
	if !filepath.IsLocal(rel) {
		return name, false
	}
	place := w.Settings.Profile.Recognize(filepath.ToSlash(rel))
	name = record.Name{Kind: place.Kind, ID: place.ID}
	at, err := w.PathOf(name)
	if !hook.IsOutcome(place.Kind) || err != nil || at != filepath.Join(w.Root, rel) {
		return name, false
	}
	_, disk := os.Lstat(at)
	_, head := query.View(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Head(name) })
	return name, errors.Is(disk, os.ErrNotExist) && errors.Is(head, store.ErrNotFound)
}

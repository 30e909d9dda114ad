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
// or was handed back and no hook has seen that. It reports whether the transcript counts, which may lag behind.
func (h *hooked) lookUp(ctx context.Context, notes hook.Notes, d *hook.Decision) (counts bool, err error) {
	e := &h.event
	missing := strings.TrimSpace(e.Report) == "" || isCut(e.Report)
	if e.Name != hook.SubagentStop || !d.Report || e.Transcript == "" || d.Known && !missing {
		return false, nil
	}
	f, size, err := openFile(h.abs(e.Transcript))
	if err != nil && !missing {
		return false, nil // nothing is missing without it
	}
	if err != nil {
		return true, err
	}
	defer func() { _ = f.Close() }()  // only read
	last := func(n int64) io.Reader { // a row that it begins within is no row
		return io.NewSectionReader(f, max(0, size-n), min(n, size))
	}
	const tail, most = 1 << 20, 64 << 20 // bytes that are looked at: for a word, and for the report
	end, err := io.ReadAll(last(tail))
	if !missing && !bytes.Contains(end, []byte(`"SubagentHandback"`)) || err != nil {
		return missing, err
	}
	var run transcripts.Run
	err = run.Read(ctx, last(most), transcripts.MaxText)
	if run.Text != "" && err == nil && (missing || !notes.Kept(e.Agent, run.Text)) { // else it is that of an earlier run
		e.Report = run.Text
	}
	d.Known = notes.Kept(e.Agent, e.Report)
	return true, err
}

// openFile opens a regular file; others may never end.
func openFile(name string) (f *os.File, size int64, err error) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0, cmp.Or(err, fmt.Errorf("%s is no file", name))
	}
	f, err = os.Open(name)
	return f, info.Size(), err
}

// isCut reports whether a text seems to go on where it ends.
func isCut(text string) bool {
	text = strings.TrimRight(text, " \r\n)]")
	return strings.HasSuffix(text, "…") || strings.HasSuffix(text, "...") || strings.HasSuffix(text, "truncated")
}

// writeNamed writes the files that the agent's prompt has named and that are not there: handoff, turn or
// artifact of the report, and after it the marker. Of several it does not guess.
func (h *hooked) writeNamed(ctx context.Context, w *workspace, named []string, report record.Ref) error {
	var names []record.Name
	for _, file := range named {
		if name, missing := w.missing(ctx, file); missing && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	isMarker := func(name record.Name) bool { return name.Kind == record.KindMarker }
	markers := slices.DeleteFunc(slices.Clone(names), func(name record.Name) bool { return !isMarker(name) })
	names = slices.DeleteFunc(names, isMarker)
	if len(names) > 1 {
		return fmt.Errorf("the prompt of %s names %d files that are not there: none is written", h.event.Agent, len(names))
	}
	for _, name := range append(names, markers...) {
		text := h.event.Report
		if isMarker(name) {
			text = "done\n"
		}
		_, err := w.Put(ctx, materialize.PutRequest{
			Kind: name.Kind, ID: name.ID, Text: strings.NewReader(text), From: []record.Ref{report},
			Source: record.SourceHook, Expect: store.Absent(), Careful: true,
		})
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
	if _, err = os.Lstat(at); !errors.Is(err, os.ErrNotExist) {
		return name, false
	}
	_, err = query.View(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Head(name) })
	return name, errors.Is(err, store.ErrNotFound)
}

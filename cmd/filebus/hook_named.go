package main

import (
	"bytes"
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
	"filebus/materialize/result"
	transcripts "filebus/materialize/transcript"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// lookUp looks for the report in the agent's transcript where the event does not have it:
// it is missing or cut, or was handed back and no hook has seen that. It reports whether
// the transcript was asked, which may lag behind.
func (h *hooked) lookUp(notes hook.Notes, d *hook.Decision) (asked bool, err error) {
	e := &h.event
	missing := strings.TrimSpace(e.Report) == "" || isCut(e.Report)
	if e.Name != hook.SubagentStop || !d.Report || e.Transcript == "" || d.Known && !missing {
		return false, nil
	}
	tail, err := openTail(h.abs(e.Transcript))
	if err != nil {
		return missing, err
	}
	defer func() { _ = tail.file.Close() }() // only read
	if !missing && !tail.has(`"SubagentHandback"`) {
		return false, nil
	}
	var run transcripts.Run
	if err := run.Read(h.ctx, tail.rows(), transcripts.MaxText); err != nil {
		return true, fmt.Errorf("reading %s: %w", e.Transcript, err)
	}
	if run.Text != "" && (missing || !notes.Kept(e.Agent, run.Text)) { // else it is that of an earlier run
		e.Report = run.Text
	}
	d.Known = notes.Kept(e.Agent, e.Report)
	return true, nil
}

// isCut reports whether a text seems to go on where it ends.
func isCut(text string) bool {
	text = strings.TrimRight(text, " \r\n)]")
	return strings.HasSuffix(text, "…") || strings.HasSuffix(text, "...") || strings.HasSuffix(text, "truncated")
}

// A tail is the end of a transcript: as much of it as there is time for.
type tail struct {
	file *os.File
	size int64
}

func openTail(name string) (*tail, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file", name)
	}
	if err != nil {
		return nil, err
	}
	file, err := os.Open(name)
	return &tail{file, info.Size()}, err
}

func (t *tail) last(n int64) *io.SectionReader {
	from := max(0, t.size-n)
	return io.NewSectionReader(t.file, from, t.size-from)
}

// has reports whether the last MiB has a word.
func (t *tail) has(word string) bool {
	text, err := io.ReadAll(t.last(1 << 20))
	return err == nil && bytes.Contains(text, []byte(word))
}

// rows are the last 64 MiB. A row that they begin within is no row.
func (t *tail) rows() io.Reader { return t.last(64 << 20) }

// writeNamed writes the files that the agent's prompt has named and that are not there,
// of the report: handoff, turn or artifact, and after it the marker. Of several it does
// not guess.
func (h *hooked) writeNamed(ctx context.Context, w *workspace, notes hook.Notes, stored *result.Stored) {
	e := &h.event
	if !e.Ended || e.Again && notes.Kept(e.Agent, e.Report) {
		return
	}
	var texts, markers []record.Name
	for _, file := range append(slices.Clone(notes.Files(e.Agent)), hook.FilesIn(e.Prompt)...) {
		name, missing := w.missing(ctx, file)
		switch {
		case !missing || slices.Contains(texts, name) || slices.Contains(markers, name):
		case name.Kind == record.KindMarker:
			markers = append(markers, name)
		default:
			texts = append(texts, name)
		}
	}
	if len(texts) > 1 {
		h.log(fmt.Errorf("the prompt of %s names %s that are not there: none is written", e.Agent, plural(len(texts), "file")))
		return
	}
	for _, name := range texts {
		if err := w.putNamed(ctx, name, e.Report, stored); err != nil {
			h.log(fmt.Errorf("%s was not written: %w", name, err))
			return
		}
	}
	for _, name := range markers {
		h.logIf(w.putNamed(ctx, name, "done\n", stored))
	}
}

// missing returns what a file of the workspace is, and whether neither disk nor store
// has it.
func (w *workspace) missing(ctx context.Context, file string) (name record.Name, missing bool) {
	if filepath.IsAbs(file) {
		rel, err := filepath.Rel(w.Root, file)
		if err != nil {
			return name, false
		}
		file = rel
	}
	file = filepath.ToSlash(filepath.Clean(file))
	place := w.Settings.Profile.Recognize(file)
	name = record.Name{Kind: place.Kind, ID: place.ID}
	at, err := w.PathOf(name)
	if !filepath.IsLocal(file) || !hook.IsOutcome(place.Kind) || err != nil || at != filepath.Join(w.Root, file) {
		return name, false
	}
	if _, err = os.Lstat(at); !errors.Is(err, os.ErrNotExist) {
		return name, false
	}
	_, err = query.View(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Head(name) })
	return name, errors.Is(err, store.ErrNotFound)
}

// putNamed stores a text under a name that nothing has, and writes its file.
func (w *workspace) putNamed(ctx context.Context, name record.Name, text string, stored *result.Stored) error {
	_, err := w.Put(ctx, materialize.PutRequest{
		Kind: name.Kind, ID: name.ID, Text: strings.NewReader(text), From: []record.Ref{stored.Ref},
		Source: record.SourceHook, Expect: store.Absent(), Careful: true,
	})
	return err
}

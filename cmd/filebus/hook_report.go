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
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/hook"
	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/materialize/secrets"
	transcripts "filebus/materialize/transcript"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// lookUp looks for the report in the agent's transcript where the event does not have it: it is missing or cut,
// or was handed back and no hook has seen that. As the transcript may lag behind, nothing is put in its place.
func (h *hooked) lookUp(ctx context.Context, notes hook.Notes, d *hook.Decision) error {
	e := &h.event
	missing := e.Report == ""
	if missing {
		d.Replace = hook.None
	}
	if e.Name != hook.SubagentStop || !d.Report || e.Transcript == "" || !missing && notes.Kept(e.Agent, e.Report) {
		return nil
	}
	end, err := endOf(h.Abs(e.Transcript))
	isHandedBack := bytes.Contains(end, []byte(`"SubagentHandback"`))
	if !missing && !isHandedBack && !continues(e.Report, e.Report+" ") {
		return nil // nothing is missing without it
	}
	var run transcripts.Run
	if err == nil {
		err = run.Read(ctx, bytes.NewReader(end), transcripts.MaxText) // a row that it begins within is no row
	}
	switch {
	case run.Text == "" || err != nil || !missing && notes.Kept(e.Agent, run.Text): // or it is that of an earlier run
	case continues(e.Report, run.Text): // so it was cut
		e.Report = run.Text
	case missing || isHandedBack:
		e.Report, d.Replace = run.Text, hook.None
	}
	return err
}

// endOf returns the last 8 MiB of a regular file; others may never end.
func endOf(name string) ([]byte, error) {
	const most = 8 << 20
	f, err := folder.At(filepath.Dir(name)).Open(filepath.Base(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	size, _ := f.Seek(0, io.SeekEnd) // else it is read from its beginning
	return io.ReadAll(io.NewSectionReader(f, max(0, size-most), most))
}

// continues reports whether a whole text begins as one does that seems to be cut.
func continues(cut, whole string) bool {
	cut = strings.TrimRight(cut, " \r\n")
	begin := strings.TrimSuffix(strings.TrimSuffix(cut, "…"), "...")
	return begin != cut && len(whole) > len(cut) && strings.HasPrefix(whole, begin)
}

// store stores the report, or leaves it in the spool, and returns the answer that puts the reference in its place.
func (h *hooked) store(ctx context.Context, notes hook.Notes, by hook.Replacement) (hook.Answer, error) {
	e, call, files := &h.event, h.call(notes), []string(nil)
	if e.Ended {
		files = append(hook.FilesIn(e.Prompt), notes.Last(e.Agent, hook.NoteLaunched).Files...)
	}
	known := notes.Kept(e.Agent, e.Report)
	if known && by == hook.None && len(files) == 0 && !e.Failed {
		return nil, nil
	}
	if by != hook.None { // the answer depends on the store
		h.Global.Wait = max(h.Global.Wait, hookAnswer)
	}
	w, err := h.open(ctx)
	var stored *result.Stored
	if err == nil {
		stored, err = result.PutReport(ctx, w.Workspace, call, record.SourceHook, []byte(e.Report))
	}
	if err != nil && !known && !e.Dumped && !errors.Is(err, store.ErrBarred) { // else the client's text stays where it is
		if lost := result.SpoolReport(h.at.Store, call, record.SourceHook, e.Report); lost != nil {
			return nil, fmt.Errorf("the report of %s could not be kept: %w", e.Agent, errors.Join(err, lost))
		}
		err = fmt.Errorf("the report of %s waits in the spool: %w", e.Agent, err)
	}
	if !known && !e.Dumped || err == nil && !stored.Unchanged {
		what := hook.NoteStored
		if e.Told {
			what = hook.NoteTold
		}
		h.remember(what, hook.Note{Text: hook.KeyOf(e.Report)})
	}
	if err != nil {
		return nil, err
	}
	answer := h.refer(by, stored)
	h.logIf(h.writeNamed(ctx, w, files, stored.PutResult))
	ctx, cancel := context.WithTimeout(ctx, hookDrain)
	defer cancel()
	_, _ = result.Recover(ctx, w.Workspace) // what others have left in the spool; the next command tries again
	return answer, nil
}

// refer returns the answer that puts a reference in place of the report. Each turn that follows pays for it: the preview
// has what room is left.
func (h *hooked) refer(by hook.Replacement, stored *result.Stored) hook.Answer {
	const leastPreview = 16 // bytes
	text := h.reference(by, stored, cli.LineSize)
	for size := cli.LineSize; len(text) > h.event.Room() && size > leastPreview; size-- {
		text = h.reference(by, stored, size-1)
	}
	if len(text) >= len(h.event.Report) {
		return nil // nothing would be saved
	}
	answer := h.event.Refer(by, text)
	if answer != nil {
		h.Said.What = stored.Name.String()
		if by == hook.Ask {
			h.remember(hook.NoteAsked, hook.Note{})
		}
	}
	return answer
}

// reference returns what stands for a report, with a preview of some bytes at most.
func (h *hooked) reference(by hook.Replacement, stored *result.Stored, size int) string {
	const mostSecrets = 1 // filebus scan has all
	reference := stored.Reference()
	reference.Preview = cli.OneLine(cli.Shortened(reference.Preview, size))
	if by == hook.Ask { // what is said again should be short
		return fmt.Sprintf("%s %dw: %s (filebus get %s)", reference.Agent, reference.WordCount, reference.Preview, stored.Ref.Short())
	}
	if below, err := filepath.Rel(h.event.Dir, reference.ResultFile); err == nil && filepath.IsLocal(below) {
		reference.ResultFile = below // the session knows where it works
	}
	found := stored.Secrets[:min(len(stored.Secrets), mostSecrets)]
	var text bytes.Buffer
	_ = cli.WriteJSON(&text, hookReference{reference, record.ShortRef(stored.Ref).String(), found}) // into memory
	return strings.TrimSpace(text.String())
}

// A hookReference is a reference with the version that it names, as the file may have another one later.
type hookReference struct {
	record.Reference
	Ref     string          `json:"ref"`
	Secrets []secrets.Match `json:"secrets,omitempty"`
}

// call returns whose report it is.
func (h *hooked) call(notes hook.Notes) result.Call {
	e := &h.event
	session, took, started := fit(e.Session), e.Duration, notes.Last(e.Agent, hook.SubagentStart)
	c := result.Call{Conversation: session, ID: fit(e.Agent), Session: session, Status: materialize.StatusDone}
	if e.Failed || result.FailureIn(strings.NewReader(e.Report)) != "" {
		c.Status = materialize.StatusFailed
	}
	c.Agent, c.Told, c.Yields, c.Resumed = cmp.Or(started.Type, e.Type), e.Told, e.Yields(notes), e.IsAnother(notes)
	if !started.Time.IsZero() {
		took = cmp.Or(took, h.Now().Sub(started.Time))
	}
	if took > 0 {
		c.Attributes = map[string]string{"duration": took.Round(time.Millisecond).String()}
	}
	return c
}

// writeNamed writes the files that the agent's prompt has named and that are not there: handoff, turn or
// artifact of the report, and after it the markers. Of several it does not guess.
func (h *hooked) writeNamed(ctx context.Context, w *cli.Work, files []string, report *materialize.PutResult) error {
	var names []record.Name // the markers last
	texts := 0
	for _, file := range files {
		switch name, missing := missing(ctx, w, file); {
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
func missing(ctx context.Context, w *cli.Work, file string) (name record.Name, missing bool) {
	at := filepath.Clean(file)
	if !filepath.IsAbs(file) {
		at = filepath.Join(w.Root, file)
	}
	rel, _ := filepath.Rel(w.Root, at) // else it is empty, and no file of a layout
	place := w.Settings.Profile.Recognize(filepath.ToSlash(rel))
	name = record.Name{Kind: place.Kind, ID: place.ID}
	own, err := w.PathOf(name)
	_, disk := os.Lstat(at)
	if !hook.IsOutcome(place.Kind) || err != nil || own != at || !errors.Is(disk, os.ErrNotExist) {
		return name, false
	}
	was, err := w.EverStored(ctx, name)
	return name, err == nil && !was
}

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/hook"
	"filebus/materialize"
	"filebus/materialize/result"
	"filebus/store"
	"filebus/store/record"
)

// Nothing that a hook does may block or slow the agent that it runs for.
const (
	hookWait    = 20 * time.Millisecond // for the store; then the spool
	hookLimit   = 5 * time.Second       // for all of it
	hookDrain   = time.Second           // for what waits in the spool
	hookEndTime = time.Second           // at the end of a session, which waits for nobody
	maxPayload  = 64 << 20              // in bytes
)

type hookCommand struct {
	Client string `flag:"client" of:"claude codex"`
}

// prepare lets nothing be wrong with a command line: a client takes a code other than 0 for a verdict.
func (o *hookCommand) prepare(cmd *cobra.Command) {
	cmd.Args, cmd.FParseErrWhitelist.UnknownFlags = cobra.ArbitraryArgs, true
}

// isHook reports whether a command is run by a client, to which only its output may matter.
func isHook(cmd *cobra.Command) bool { return cmd != nil && strings.HasPrefix(cmd.Use, "hook ") }

func (o *hookCommand) run(ctx context.Context, w *workspace, args []string) error {
	if len(args) != 1 {
		return usageError("which event is it? One of %s", strings.Join(hook.Names(), ", "))
	}
	limit := hookLimit
	if args[0] == hook.SessionEnd {
		limit = hookEndTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	h := &hooked{environ: w.environ, client: o.Client, name: args[0]}
	h.global.noSync, h.global.wait = true, min(h.global.wait, hookWait)
	answer, err := h.safely(ctx)
	h.logIf(err)
	_, err = h.out.Write(answer)
	return err
}

// A hooked is one run of a hook.
type hooked struct {
	*environ
	client, name string
	event        hook.Event
	at           materialize.Location
	settings     materialize.Settings
	mode         hook.Settings
	trusted      bool // the store is the user's: it may be written to
}

// safely handles the event, and makes an error of a panic.
func (h *hooked) safely(ctx context.Context) (answer []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			answer, err = nil, fmt.Errorf("panic: %v", p)
		}
	}()
	text, err := h.readPayload(ctx)
	if err == nil {
		h.event, err = hook.Read(h.client, h.name, text)
	}
	for _, dir := range []string{h.event.Dir, h.getenv("CLAUDE_PROJECT_DIR")} { // an agent may have gone elsewhere since
		if filepath.IsAbs(dir) {
			h.dir = filepath.Clean(dir)
		}
	}
	if err != nil || !h.event.Concerns() {
		return nil, err
	}
	if found, err := h.find(); err != nil || !found {
		return nil, err
	}
	notes := h.notes()
	e := &h.event
	d := hook.Decide(e, notes, h.mode)
	counts, err := h.lookUp(ctx, notes, &d)
	if h.logIf(err); counts {
		d.Replace = hook.None
	}
	h.remember(d.Notes...)
	switch {
	case d.Context:
		return h.context(ctx)
	case !d.Report || e.Report == "" || d.Known && d.Replace == hook.None:
		return nil, nil
	}
	return h.store(ctx, notes, d)
}

// readPayload reads what the client says, which may end late, or never.
func (h *hooked) readPayload(ctx context.Context) (text []byte, err error) {
	done := make(chan error, 1)
	go func() {
		read, err := io.ReadAll(io.LimitReader(h.in, maxPayload+1))
		if text = read; len(text) > maxPayload {
			err = fmt.Errorf("more than %d bytes on standard input", maxPayload)
		}
		done <- err
	}()
	select {
	case <-ctx.Done():
		return nil, errors.New("standard input did not end in time")
	case err := <-done:
		return text, err
	}
}

// find finds the store and its settings. Where there is none there is nothing to do.
func (h *hooked) find() (found bool, err error) {
	h.at, err = h.locate()
	missing := errors.Is(err, store.ErrNoStore)
	if err != nil && !missing {
		return false, err
	}
	c, err := h.config(h.at)
	if h.mode = c.Hooks; missing && (err != nil || !h.mode.MakeStore) {
		return false, nil
	}
	h.trusted = !errors.Is(err, record.Untrusted) && !errors.Is(err, errClosed)
	if err == nil {
		h.settings, err = h.environ.settings(h.at)
	}
	if err != nil && h.trusted && h.event.Report != "" { // it waits until the settings are mended
		return false, errors.Join(err, h.spool(h.call(nil)))
	}
	return err == nil, err
}

// store stores the report, or leaves it in the spool, and returns the answer that puts the reference in its place.
func (h *hooked) store(ctx context.Context, notes hook.Notes, d hook.Decision) ([]byte, error) {
	e, call := &h.event, h.call(notes)
	w, err := h.open(ctx)
	var stored *result.Stored
	if err == nil {
		stored, err = result.PutReport(ctx, w.Workspace, call, record.SourceHook, []byte(e.Report))
	}
	note := hook.Note{What: hook.NoteStored, Agent: e.Agent, Type: e.Type, Text: hook.KeyOf(e.Report)}
	switch {
	case err != nil && d.Known: // it is there already
		return nil, err
	case err != nil:
		if lost := h.spool(call); lost != nil {
			return nil, fmt.Errorf("the report of %s could not be kept: %w", e.Agent, errors.Join(err, lost))
		}
		note.What = hook.NoteSpooled
		h.remember(note)
		return nil, fmt.Errorf("the report of %s waits in the spool: %w", e.Agent, err)
	case !d.Known:
		h.remember(note)
	}
	answer := h.refer(d.Replace, stored, note)
	if e.Ended {
		named := append(hook.FilesIn(e.Prompt), notes.Last(e.Agent, hook.NoteLaunched).Files...)
		h.logIf(h.writeNamed(ctx, w, named, stored.Ref))
	}
	ctx, cancel := context.WithTimeout(ctx, hookDrain)
	defer cancel()
	_, _ = result.Recover(ctx, w.Workspace) // what others have left in the spool; the next command tries again
	return answer, nil
}

// refer returns the answer that puts a reference in place of the report.
func (h *hooked) refer(by hook.Replacement, stored *result.Stored, note hook.Note) (answer []byte) {
	var text bytes.Buffer
	reference := stored.Reference()
	switch {
	case by == hook.None:
		return nil
	case by == hook.Ask: // what is said again should be short
		fmt.Fprintf(&text, "%s (filebus get %s)", referenceLine(reference, stored.PutResult), stored.Ref.Short())
		note.What = hook.NoteAsked
	case writeJSON(&text, referenceJSON{reference, stored.Secrets}) != nil:
		return nil
	default:
		note.What = hook.NoteReferred
	}
	given := strings.TrimSpace(text.String())
	if answer = h.event.Answer(by, given); answer != nil {
		note.Given, note.Ref = hook.KeyOf(given), stored.Ref.Short()
		h.said.What = stored.Name.String()
		h.remember(note)
	}
	return answer
}

// open opens the workspace without anything that other commands do besides.
func (h *hooked) open(ctx context.Context) (*workspace, error) {
	if h.mode.MakeStore {
		return h.newWorkspace(materialize.Create(ctx, h.at, h.settings, h.storeOptions()))
	}
	return h.newWorkspace(materialize.Open(h.at, h.settings, h.storeOptions()))
}

// call returns whose report it is.
func (h *hooked) call(notes hook.Notes) result.Call {
	e := &h.event
	session := fit(e.Session)
	c := result.Call{Conversation: session, ID: fit(e.Agent), Agent: e.Type, Session: session, Status: materialize.StatusDone}
	took := e.Duration
	if started := notes.Last(e.Agent, hook.NoteStarted).Time; !started.IsZero() {
		took = cmp.Or(took, h.now().Sub(started))
	}
	if took > 0 {
		c.Attributes = map[string]string{"duration": took.Round(time.Millisecond).String()}
	}
	return c
}

// fit returns an id that can be a part of a path: the client's own, as a rule.
func fit(id string) string {
	const longest, letters = 100, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	if id == "" || len(id) > longest || strings.Trim(id, letters) != "" {
		return "id-" + record.DigestOf([]byte(id)).String()[:24]
	}
	return id
}

func (h *hooked) spool(call result.Call) error {
	return result.SpoolReport(h.at.Store, call, record.SourceHook, []byte(h.event.Report))
}

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
	sessions "filebus/materialize/session"
	"filebus/store"
	"filebus/store/record"
)

// Nothing that a hook does may block or slow the agent that it runs for.
const (
	hookWait    = 20 * time.Millisecond // for the store; then the spool
	hookLimit   = 5 * time.Second       // for all of it
	hookEndTime = time.Second           // at the end of a session, which waits for nobody
	maxPayload  = 64 << 20              // in bytes
)

type hookCommand struct {
	Client string `flag:"client" of:"claude codex"`
}

// prepare lets nothing be wrong with a command line: a client takes a code other than 0
// for a verdict.
func (o *hookCommand) prepare(cmd *cobra.Command) {
	cmd.Args = cobra.ArbitraryArgs
	cmd.FParseErrWhitelist.UnknownFlags = true
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
	h := &hooked{environ: w.environ, client: o.Client, name: args[0], ctx: ctx}
	h.global.noSync, h.global.wait = true, min(h.global.wait, hookWait)
	answer, err := h.safely(ctx)
	if err != nil {
		h.log(err)
	}
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
	mode         hooksConfig
	ctx          context.Context // of this run
	trusted      bool            // the store is the user's: it may be written to
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
	h.dir = cmp.Or(h.folder(), h.dir)
	if err == nil && !h.event.Concerns() {
		return nil, nil
	}
	found, findErr := h.find(ctx)
	if err = cmp.Or(err, findErr); err != nil || !found {
		return nil, err
	}
	return h.handle(ctx)
}

// readPayload reads what the client says, which may end late, or never.
func (h *hooked) readPayload(ctx context.Context) ([]byte, error) {
	type read struct {
		text []byte
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := io.ReadAll(io.LimitReader(h.in, maxPayload+1))
		done <- read{text, err}
	}()
	select {
	case <-ctx.Done():
		return nil, errors.New("standard input did not end in time")
	case r := <-done:
		if len(r.text) > maxPayload {
			return nil, fmt.Errorf("more than %d bytes on standard input", maxPayload)
		}
		return r.text, r.err
	}
}

// folder returns where the session has begun: an agent may have gone elsewhere since.
func (h *hooked) folder() string {
	for _, dir := range []string{h.getenv("CLAUDE_PROJECT_DIR"), h.event.Dir} {
		if filepath.IsAbs(dir) {
			return filepath.Clean(dir)
		}
	}
	return ""
}

// find finds the store and its settings. Where there is none there is nothing to do.
func (h *hooked) find(_ context.Context) (found bool, err error) {
	h.at, err = h.locate()
	missing := errors.Is(err, store.ErrNoStore)
	if err != nil && !missing {
		return false, err
	}
	c, err := h.config(h.at)
	if missing && (err != nil || !c.Hooks.MakeStore) {
		return false, nil
	}
	h.trusted, h.mode = !errors.Is(err, record.Untrusted) && !errors.Is(err, errClosed), c.Hooks
	if err == nil {
		h.settings, err = h.environ.settings(h.at)
	}
	if err != nil && h.trusted && h.event.Report != "" { // it waits until the settings are mended
		return false, errors.Join(err, h.spool(h.call()))
	}
	return err == nil, err
}

// handle does what is decided about the event.
func (h *hooked) handle(ctx context.Context) ([]byte, error) {
	notes := h.notes()
	e := &h.event
	mode := hook.Mode{Reference: h.mode.Mode == hookReference, MinChars: h.mode.MinChars, Prompt: h.mode.PromptContext}
	d := hook.Decide(e, notes, mode)
	if isUnsure, err := h.lookUp(notes, &d); isUnsure {
		d.Replace = hook.None
		h.logIf(err)
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

// store stores the report, or leaves it in the spool, and returns the answer that puts
// the reference in its place.
func (h *hooked) store(ctx context.Context, notes hook.Notes, d hook.Decision) ([]byte, error) {
	e, call := &h.event, h.call()
	w, err := h.open(ctx)
	var stored *result.Stored
	if err == nil {
		stored, err = result.PutReport(ctx, w.Workspace, call, record.SourceHook, []byte(e.Report))
	}
	note := hook.Note{
		What: hook.NoteStored, Agent: e.Agent, Type: e.Type, Text: hook.KeyOf(e.Report),
		Tokens: record.EstimateTokens(int64(len(e.Report))),
	}
	if err != nil {
		if note.What = hook.NoteSpooled; d.Known { // it is there already
			return nil, err
		}
		if spoolErr := h.spool(call); spoolErr != nil {
			return nil, errors.Join(err, spoolErr)
		}
		h.remember(note)
		return nil, fmt.Errorf("the report of %s waits in the spool: %w", e.Agent, err)
	}
	if !d.Known {
		h.remember(note)
	}
	answer := h.refer(d.Replace, stored, note)
	h.writeNamed(ctx, w, notes, stored)
	_, err = result.Recover(ctx, w.Workspace) // what others have left in the spool
	return answer, err
}

// refer returns the answer that puts a reference in place of the report.
func (h *hooked) refer(by hook.Replacement, stored *result.Stored, note hook.Note) []byte {
	if by == hook.None {
		return nil
	}
	var text bytes.Buffer
	reference, what := stored.Reference(), hook.NoteReferred
	if by == hook.Ask { // what is said again should be short
		line := referenceLine(reference, stored.PutResult)
		fmt.Fprintf(&text, "%s (filebus get %s)", line, stored.Ref.Short())
		what = hook.NoteAsked
	} else if writeJSON(&text, referenceJSON{reference, stored.Secrets}) != nil {
		return nil
	}
	given := strings.TrimSpace(text.String())
	answer := h.event.Answer(by, given)
	if answer != nil {
		note.What, note.Given, note.Ref = what, hook.KeyOf(given), stored.Ref.Short()
		note.Instead = record.EstimateTokens(int64(len(given)))
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
func (h *hooked) call() result.Call {
	e := &h.event
	c := result.Call{Conversation: fit(e.Session), ID: fit(e.Agent), Agent: e.Type, Status: materialize.StatusDone}
	if id, err := sessions.IDOf(fit(e.Session)); err == nil {
		c.Session = id
	}
	took := e.Duration
	if started := h.notes().Started(e.Agent); took == 0 && !started.IsZero() {
		took = h.now().Sub(started)
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
	if err := result.SpoolReport(h.at.Store, call, record.SourceHook, []byte(h.event.Report)); err != nil {
		return fmt.Errorf("the report of %s could not be kept: %w", h.event.Agent, err)
	}
	return nil
}

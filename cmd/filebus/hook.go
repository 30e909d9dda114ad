package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
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
	hookWait   = 20 * time.Millisecond // for the store; then the spool
	hookLimit  = 3 * time.Second       // for all of it
	hookSpare  = time.Second / 2       // of it, for the end
	hookDrain  = time.Second           // for what waits in the spool
	maxPayload = 64 << 20              // in bytes
)

type hookCommand struct {
	Client string `flag:"client" of:"claude codex"`
}

// isHook reports whether a command is run by a client, to which only its output may matter.
func isHook(cmd *cobra.Command) bool { return cmd != nil && strings.HasPrefix(cmd.Use, "hook ") }

func (o *hookCommand) run(ctx context.Context, w *workspace, args []string) error {
	h := &hooked{environ: w.environ, event: hook.Event{Client: o.Client, Name: args[0]}}
	h.global.noSync, h.global.wait = true, min(h.global.wait, hookWait)
	done := make(chan []byte, 1)
	go func() { done <- h.answer(ctx) }()
	select {
	case answer := <-done:
		_, _ = h.out.Write(answer) // nobody is there to be told
	case <-time.After(hookLimit):
		h.logIf(errors.New("standard input, or something else, did not end in time"))
	}
	return nil
}

// A hooked is one run of a hook.
type hooked struct {
	*environ
	event    hook.Event
	at       materialize.Location
	settings materialize.Settings
	mode     hook.Settings
	trusted  bool // the store is the user's: it may be written to
}

// answer handles the event and returns what the client is told. An error, or a panic, is only noted.
func (h *hooked) answer(ctx context.Context) (answer []byte) {
	ctx, cancel := context.WithTimeout(ctx, hookLimit-hookSpare)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			h.logIf(fmt.Errorf("panic: %v", p))
		}
	}()
	text, err := io.ReadAll(io.LimitReader(h.in, maxPayload)) // what is longer is no object, and said to be none
	if err == nil {
		err = h.event.Read(text)
		h.logIf(h.event.Odd)
	}
	if err == nil && h.event.Concerns() {
		answer, err = h.handle(ctx)
	}
	h.logIf(err)
	return answer
}

// handle does what is to be done about the event.
func (h *hooked) handle(ctx context.Context) ([]byte, error) {
	if found, err := h.find(); err != nil || !found {
		return nil, err
	}
	notes := h.notes()
	d := hook.Decide(&h.event, notes, h.mode)
	h.logIf(h.lookUp(ctx, notes, &d))
	h.remember(d.Note, hook.Note{Files: hook.FilesIn(h.event.Prompt)})
	switch {
	case d.Context:
		return h.context(ctx)
	case !d.Report || h.event.Report == "":
		return nil, nil
	}
	return h.store(ctx, notes, d.Replace)
}

// find finds the store and its settings: from where the session has begun, from where its agent has gone since, or
// from where the hook runs. Where there is none there is nothing to do.
func (h *hooked) find() (found bool, err error) {
	isNone := func(dir string) bool { return !filepath.IsAbs(dir) }
	dirs := append(slices.DeleteFunc([]string{h.getenv("CLAUDE_PROJECT_DIR"), h.event.Dir}, isNone), h.dir)
	for _, h.dir = range append(dirs, dirs[0]) { // where a store is made, if there is none
		if h.at, err = h.locate(); !errors.Is(err, store.ErrNoStore) {
			break
		}
	}
	missing := errors.Is(err, store.ErrNoStore) && !materialize.HasLost(h.at.Store)
	c, wrong := h.config(h.at)
	if h.mode = c.Hooks; missing && (wrong != nil || !h.mode.MakeStore) {
		return false, nil
	}
	if err == nil || missing {
		err = wrong
	}
	isForeign := func(reason error) bool { return errors.Is(err, reason) || errors.Is(wrong, reason) }
	h.trusted = h.at.Store != "" && !slices.ContainsFunc([]error{record.Untrusted, errClosed, errNoPlace}, isForeign)
	if err == nil {
		h.settings, err = h.environ.settings(h.at)
	}
	if err != nil && h.trusted && h.event.Report != "" { // it waits until that is mended
		return false, errors.Join(err, h.spool(h.call(nil)))
	}
	return err == nil, err
}

// store stores the report, or leaves it in the spool, and returns the answer that puts the reference in its place.
func (h *hooked) store(ctx context.Context, notes hook.Notes, by hook.Replacement) ([]byte, error) {
	e, call, files := &h.event, h.call(notes), []string(nil)
	if e.Ended {
		files = append(hook.FilesIn(e.Prompt), notes.Last(e.Agent, hook.NoteLaunched).Files...)
	}
	known := notes.Kept(e.Agent, e.Report)
	if known && by == hook.None && len(files) == 0 {
		return nil, nil
	}
	w, err := h.open(ctx)
	var stored *result.Stored
	if err == nil {
		stored, err = result.PutReport(ctx, w.Workspace, call, record.SourceHook, []byte(e.Report))
	}
	if err != nil && !known {
		if lost := h.spool(call); lost != nil {
			return nil, fmt.Errorf("the report of %s could not be kept: %w", e.Agent, errors.Join(err, lost))
		}
		err = fmt.Errorf("the report of %s waits in the spool: %w", e.Agent, err)
	}
	if !known {
		h.remember(hook.NoteStored, hook.Note{Text: hook.KeyOf(e.Report)})
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

// refer returns the answer that puts a reference in place of the report.
func (h *hooked) refer(by hook.Replacement, stored *result.Stored) (answer []byte) {
	var text bytes.Buffer
	reference := stored.Reference()
	switch {
	case by == hook.None:
		return nil
	case by == hook.Ask: // what is said again should be short
		fmt.Fprintf(&text, "%s %dw: %s (filebus get %s)", reference.Agent, reference.WordCount,
			oneLine(shortened(reference.Preview, lineSize)), stored.Ref.Short())
	case writeJSON(&text, referenceJSON{reference, stored.Secrets}) != nil:
		return nil
	}
	if answer = h.event.Answer(by, strings.TrimSpace(text.String())); answer != nil {
		h.said.What = stored.Name.String()
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
	if started := notes.Last(e.Agent, hook.SubagentStart).Time; !started.IsZero() {
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
	return result.SpoolReport(h.at.Store, call, record.SourceHook, h.event.Report)
}

package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/hook"
	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// Nothing that a hook does may block or slow the agent that it runs for.
const (
	hookWait   = 20 * time.Millisecond // for the store; then the spool
	hookAnswer = 2 * time.Second       // for the store, if the client's answer depends on it
	hookLimit  = 3 * time.Second       // for all of it
	hookSpare  = time.Second / 2       // of it, for the end
	hookKeep   = 20 * time.Second      // more, until a report that has come in is kept
	hookDrain  = time.Second           // for what waits in the spool
	maxPayload = 64 << 20              // in bytes
)

type hookCommand struct {
	Client string `flag:"client" of:"claude codex opencode"`
}

// isHook reports whether a command is run by a client, to which only its output may matter.
func isHook(cmd *cobra.Command) bool { return cmd != nil && strings.HasPrefix(cmd.Use, "hook ") }

func (o *hookCommand) Do(ctx context.Context, w *cli.Work, args []string) error {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) // a client that no longer listens ends nothing
	h := &hooked{Environ: w.Environ, event: hook.Event{Client: o.Client, Name: args[0]}}
	h.Global.NoSync, h.Global.Wait = true, min(h.Global.Wait, hookWait)
	done := make(chan hook.Answer, 1)
	go func() { done <- h.answer(ctx) }()
	end := time.After(hookLimit)
	for late := false; ; late = true {
		select {
		case answer := <-done:
			if answer != nil {
				return cli.WriteJSON(h.Out, answer)
			}
			return nil
		case <-end:
			if h.keeping.Load() && !late {
				end = time.After(hookKeep)
				continue
			}
			h.logIf(errors.New("standard input, or something else, did not end in time"))
			return nil
		}
	}
}

// A hooked is one run of a hook.
type hooked struct {
	*cli.Environ
	event    hook.Event
	at       materialize.Location
	settings materialize.Settings
	mode     hook.Settings
	trusted  bool        // the store is the user's: it may be written to
	keeping  atomic.Bool // a report has come in: an end would lose it
}

// answer handles the event and returns what the client is told. An error, or a panic, is only noted.
func (h *hooked) answer(ctx context.Context) (answer hook.Answer) {
	ctx, cancel := context.WithTimeout(ctx, hookLimit-hookSpare)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			h.logIf(fmt.Errorf("panic: %v", p))
		}
	}()
	text, err := io.ReadAll(io.LimitReader(h.In, maxPayload)) // what is longer is no object, and said to be none
	if err == nil {
		err = h.event.Read(text)
		h.keeping.Store(h.event.Report != "")
		h.logIf(h.event.Odd)
	}
	if err == nil && h.event.Concerns() {
		answer, err = h.handle(ctx)
	}
	h.logIf(err)
	return answer
}

// handle does what is to be done about the event.
func (h *hooked) handle(ctx context.Context) (hook.Answer, error) {
	if found, err := h.find(); err != nil || !found {
		return nil, err
	}
	if h.event.Failed && h.event.Report != "" { // first, so that of two events at once the second knows; the call says more
		most := map[bool]int{false: 2000, true: 4000}[h.event.Told]
		h.remember(hook.NoteFailed, hook.Note{Said: strings.TrimSpace(cli.Shortened(h.event.Report, most)), Told: h.event.Told})
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
	h.at, err = h.LocateFrom(h.Getenv("CLAUDE_PROJECT_DIR"), h.event.Dir, h.Dir)
	missing := errors.Is(err, store.ErrNoStore) && !materialize.HasLost(h.at.Store)
	c, wrong := h.Config(h.at)
	if h.mode = c.Hooks; missing && (wrong != nil || !h.mode.MakeStore) {
		return false, nil
	}
	if err == nil || missing {
		err = wrong
	}
	isForeign := func(reason error) bool { return errors.Is(err, reason) || errors.Is(wrong, reason) }
	h.trusted = h.at.Store != "" && !slices.ContainsFunc([]error{record.Untrusted, cli.ErrClosed,
		cli.ErrNoPlace}, isForeign)
	if err == nil {
		h.settings, err = h.Environ.SettingsAt(h.at)
	}
	if err != nil && h.trusted && h.event.Report != "" { // it waits until that is mended
		return false, errors.Join(err, result.SpoolReport(h.at.Store, h.call(h.notes()), record.SourceHook, h.event.Report))
	}
	return err == nil, err
}

// open opens the workspace without anything that other commands do besides.
func (h *hooked) open(ctx context.Context) (*cli.Work, error) {
	if h.mode.MakeStore {
		return h.NewWorkspace(materialize.Create(ctx, h.at, h.settings, h.StoreOptions()))
	}
	return h.NewWorkspace(materialize.Open(h.at, h.settings, h.StoreOptions()))
}

// The files below the store's folder in which hooks remember what they have seen.
const (
	hooksFolder   = "hooks"
	notesSuffix   = ".jsonl"
	maxRemembered = 8 << 20 // of a session, in bytes
	hooksLog      = "hooks.log"
	keptNotes     = 30 * 24 * time.Hour
	olderLog      = "hooks.log.old"
	maxHooksLog   = 256 << 10 // in bytes; then a new one is begun
)

func (h *hooked) notes() hook.Notes {
	text, _ := folder.At(h.at.Store).Sub(hooksFolder).ReadUpTo(fit(h.event.Session)+notesSuffix, maxRemembered) // there may be none yet
	return hook.ReadNotes(text)
}

// remember adds a note about the event's agent to those of the session, if there is anything to note. One that is lost
// costs a second look.
func (h *hooked) remember(what string, n hook.Note) {
	if what == "" {
		return
	}
	n.Time, n.What, n.From, n.Agent, n.Type = h.Now().UTC(), what, h.event.Client, h.event.Agent, h.event.Type
	line, _ := json.Marshal(n) // it has only texts and numbers
	own := folder.At(h.at.Store).Sub(hooksFolder)
	err := own.Make(".")
	h.logIf(cmp.Or(err, own.Append(fit(h.event.Session)+notesSuffix, append(line, '\n'))))
}

// forget removes the notes of sessions of which nothing was heard for long.
func (h *hooked) forget() {
	own := folder.At(h.at.Store).Sub(hooksFolder)
	entries, _ := own.ReadDir(".") // the next session tries again
	for _, e := range entries {
		if info, err := e.Info(); err == nil && h.Now().Sub(info.ModTime()) > keptNotes {
			_ = own.Remove(e.Name())
		}
	}
}

// logIf notes an error beside the store, if that is there and the user's, and on stderr for whoever runs a hook
// by hand.
func (h *hooked) logIf(err error) {
	if err == nil {
		return
	}
	h.Note("hook %s: %s", cli.OneLine(h.event.Name), cli.Message(err))
	if h.at.Store == "" { // the event itself could not be read
		_, _ = h.find()
	}
	if !h.trusted {
		return
	}
	own := folder.At(h.at.Store)
	if info, err := own.Stat(hooksLog); err == nil && info.Size() > maxHooksLog {
		_ = own.Rename(hooksLog, olderLog) // else it grows until the next time
	}
	text := fmt.Sprintf("%s %s %s session=%q agent=%q: %s", record.FormatTime(h.Now()), h.event.Client, h.event.Name, h.event.Session,
		h.event.Agent, cli.Message(err))
	_ = own.Append(hooksLog, []byte(cli.Shortened(cli.OneLine(text), 1000)+"\n")) // there is nobody else to tell
}

// fit returns an id that can be a part of a path: the client's own, as a rule.
func fit(id string) string {
	const longest, letters = 100, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_"
	if id == "" || len(id) > longest || strings.Trim(id, letters) != "" || layout.IsObeyed(id+".md") {
		return "id-" + record.DigestOf([]byte(id)).String()[:24]
	}
	return id
}

package main

import (
	"context"
	"errors"
	"time"

	"filebus/materialize"
	sessions "filebus/materialize/session"
	"filebus/store"
	"filebus/store/record"
)

func checkIndexTokens(maxTokens int) error {
	if maxTokens < sessions.MinIndexTokens {
		return usageError("--max-tokens %d: an index takes %d tokens at least", maxTokens, sessions.MinIndexTokens)
	}
	return nil
}

// A sessionFilesJSON is what was laid out of a session.
type sessionFilesJSON struct {
	Session  string        `json:"session"`
	Position uint64        `json:"position"` // of the log
	Time     time.Time     `json:"time"`     // of that position
	Index    string        `json:"index"`    // its path in the folder
	Files    int           `json:"files"`    // without the index
	Bytes    int64         `json:"bytes"`
	Tokens   int           `json:"tokens"` // of the files, about
	Own      int           `json:"own"`    // records of the session itself
	Others   int           `json:"others"` // records that they refer to
	LeftOut  []leftOutJSON `json:"left_out"`
	Notes    []string      `json:"notes,omitempty"`
}

// A leftOutJSON is something that is referred to and was not laid out.
type leftOutJSON struct {
	What    string `json:"what"`
	By      string `json:"by,omitempty"`
	Reason  string `json:"reason"`
	Inexact bool   `json:"inexact,omitempty"` // nothing is lost by it
}

// takeInSession takes in what was written to the folder of a session just now.
func (e *environ) takeInSession(ctx context.Context, s *session, text string) error {
	if e.global.noSync {
		return nil
	}
	key, err := e.registry(s).Find(ctx, text)
	switch {
	case err == nil:
		return e.registry(s).TakeInNew(ctx, key)
	case errors.Is(err, store.ErrNotFound):
		_, err = e.registry(s).Discover(ctx, text)
	case errors.Is(err, sessions.ErrSeveral):
		err = nil
	}
	return err
}

// materializeSession lays out a session for an agent, with an index.
func materializeSession(ctx context.Context, env *environ, s *session, opts materializeOptions, pick materialize.Selection) error {
	asked, session := pick.Trees, pick.Sessions[0]
	pick.Sessions = nil
	if opts.asOf == "" {
		if err := env.takeInSession(ctx, s, session); err != nil {
			return err
		}
	}
	id, trees, err := env.registry(s).ID(ctx, session)
	if err != nil {
		return err
	}
	if len(asked) == 0 {
		pick.Trees = trees
	}
	request := sessions.GatherRequest{Session: id, Pick: pick, Closure: opts.closure}
	bundle, err := env.registry(s).Gather(ctx, request)
	if err != nil {
		return err
	}
	return layOutBundle(ctx, env, s, bundle, opts.to, asked, opts.maxTokens)
}

// layOutBundle lays out what was gathered and says what was done. It ends in exit
// code 9 if something is missing.
func layOutBundle(ctx context.Context, env *environ, s *session, b *sessions.Bundle, to string, trees []record.Tree, maxTokens int) error {
	show, clear := env.progress("laying out")
	out, err := env.registry(s).LayOut(ctx, b, env.abs(to), trees, maxTokens, counted(show))
	clear()
	if err != nil {
		return err
	}
	view := toSessionFiles(b, out)
	if env.global.json {
		err = env.printJSON(view)
	} else {
		env.printf("%s, %s, %s in %s; %s lists them\n", plural(view.Files, "file"), byteSize(view.Bytes), tokenText(view.Tokens), to, view.Index)
	}
	if view.Files == 0 {
		env.note("nothing was picked; filebus list --session %s shows what there is", quote(b.Session))
	}
	if lost := env.noteGone(b, out); lost+len(b.Notes) > 0 && err == nil {
		err = silentError(record.Partly)
	}
	return err
}

func toSessionFiles(b *sessions.Bundle, out *sessions.LaidOut) sessionFilesJSON {
	view := sessionFilesJSON{
		Session: b.Session, Position: b.Position, Time: b.Time, Index: out.Index, Files: out.Files, Bytes: out.Bytes,
		Tokens: record.EstimateTokens(out.Bytes), Own: b.Own, Others: len(b.Members) - b.Own, LeftOut: []leftOutJSON{}, Notes: b.Notes,
	}
	for _, gone := range out.LeftOut {
		line := leftOutJSON{What: validText(gone.What), Reason: gone.Reason, Inexact: gone.Inexact}
		if !gone.By.IsZero() {
			line.By = validText(gone.By.String())
		}
		view.LeftOut = append(view.LeftOut, line)
	}
	return view
}

// mostNoted is how many things that were left out are named on stderr.
const mostNoted = 10

// noteGone says what was left out and which bounds were met, and returns how many
// things are lost by it.
func (e *environ) noteGone(b *sessions.Bundle, out *sessions.LaidOut) (lost int) {
	for i, gone := range out.LeftOut {
		if !gone.Inexact {
			lost++
		}
		if i < mostNoted {
			e.note("left out: %s", gone)
		}
	}
	if more := len(out.LeftOut) - mostNoted; more > 0 {
		e.note("%d more were left out; --json names them", more)
	}
	for _, note := range b.Notes {
		e.note("%s", oneLine(note))
	}
	return lost
}

package main

import (
	"context"

	"filebus/materialize"
	sessions "filebus/materialize/session"
	"filebus/store/record"
)

func checkIndexTokens(maxTokens int) error {
	if maxTokens < sessions.MinIndexTokens {
		return usageError("--max-tokens %d: an index takes %d tokens at least", maxTokens, sessions.MinIndexTokens)
	}
	return nil
}

// materializeSession lays out a session for an agent, with an index.
func materializeSession(ctx context.Context, env *environ, s *workspace, opts materializeOptions, pick materialize.Selection) error {
	asked, session := pick.Trees, pick.Sessions[0]
	pick.Sessions = nil
	if opts.asOf == "" && !env.global.noSync {
		if err := s.registry().Discover(ctx, session); err != nil {
			return err
		}
	}
	id, trees, err := s.registry().ID(ctx, session)
	if err != nil {
		return err
	}
	if len(asked) == 0 {
		pick.Trees = trees
	}
	request := sessions.GatherRequest{Session: id, Pick: pick, Closure: opts.closure}
	bundle, err := s.registry().Gather(ctx, request)
	if err != nil {
		return err
	}
	return s.layOutBundle(ctx, bundle, opts.to, asked, opts.maxTokens)
}

// layOutBundle lays out what was gathered and says what was done. It ends in exit
// code 9 if something is missing.
func (w *workspace) layOutBundle(
	ctx context.Context, b *sessions.Bundle, to string, trees []record.Tree, maxTokens int,
) error {
	show, clear := w.progress("laying out")
	out, err := w.registry().LayOut(ctx, b, w.abs(to), trees, maxTokens, counted(show))
	clear()
	if err != nil {
		return err
	}
	if w.global.json {
		err = w.printJSON(out)
	} else {
		w.printf("%s, %s, %s in %s; %s lists them\n",
			plural(out.Files, "file"), byteSize(out.Bytes), tokenText(out.Tokens), to, out.Index)
	}
	if out.Files == 0 {
		w.note("nothing was picked; filebus list --session %s shows what there is", quote(out.Session))
	}
	if lost := w.noteGone(out); lost+len(out.Notes) > 0 && err == nil {
		err = silentError(record.Partly)
	}
	return err
}

// mostNoted is how many things that were left out are named on stderr.
const mostNoted = 10

// noteGone says what was left out and which bounds were met, and returns how many
// things are lost by it.
func (e *environ) noteGone(out *sessions.LaidOut) (lost int) {
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
	for _, note := range out.Notes {
		e.note("%s", oneLine(note))
	}
	return lost
}

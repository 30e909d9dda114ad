package main

import (
	"cmp"
	"context"
	"math"
	"strings"

	sessions "filebus/cmd/filebus/session"
	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

type materializeCommand struct {
	filterFlags
	To        string   `flag:"to" need:"yes"`
	AsOf      string   `flag:"as-of"`
	Dialogues []string `flag:"dialogue"`
	Closure   bool     `flag:"closure"`
	Partial   bool     `flag:"partial"`
	Search    string   `flag:"search"`
	MaxTokens int      `flag:"max-tokens" least:"100" in:"an index"` // of the index; without a session, of the files

	pick materialize.Selection
}

func (o *materializeCommand) check(env *environ, args []string) (err error) {
	if err := o.filterFlags.check(env, args); err != nil {
		return err
	}
	o.pick = materialize.Selection{Filter: o.filter, Dialogs: o.Dialogues, Partial: o.Partial}
	if o.Closure && len(o.pick.Sessions) != 1 {
		return usageError("--closure needs exactly one session: give one --session ID")
	}
	if err := checkGiven(o.flags, "dialogue"); err != nil {
		return err
	}
	if o.AsOf != "" {
		o.pick.AsOf, err = parseTime(o.AsOf, env.now())
	}
	return err
}

func (o *materializeCommand) run(ctx context.Context, w *workspace, _ []string) error {
	if err := w.read.Spell(ctx, &o.pick.Filter); err != nil {
		return err
	}
	switch {
	case o.Search != "" || len(o.pick.Sessions) != 1 && o.flags.Changed("max-tokens"):
		return o.chosen(ctx, w)
	case len(o.pick.Sessions) == 1:
		return o.session(ctx, w)
	}
	show, clear := w.progress("laying out")
	report, err := w.LayOut(ctx, w.abs(o.To), o.pick, counted(show))
	clear()
	if err != nil {
		return err
	}
	var left error
	switch {
	case len(report.Damaged) > 0:
		left = record.Partly.Errorf("%s left out, as something is damaged: %s", plural(len(report.Damaged), "file"),
			strings.Join(report.Damaged, ", ")).Try("filebus verify --repair")
	case len(report.Protected) > 0:
		left = silentError(record.Partly) // noteLeftOut says it
	}
	if w.global.json {
		return cmp.Or(w.printJSON(report), left)
	}
	if report.Files == 0 && left == nil {
		w.note("nothing matches; filebus list shows what there is")
	}
	w.printf("%s, %s in %s\n", plural(report.Files, "file"), byteSize(report.Bytes), o.To)
	w.noteLeftOut(report)
	return left
}

// noteLeftOut says what was picked and is not laid out.
func (e *environ) noteLeftOut(report *materialize.LayOutReport) {
	for _, name := range report.Displaced {
		e.note("%s is not laid out: a newer record has its path; filebus get %s prints it", name, name)
	}
	for _, name := range report.Protected {
		e.note("%s is not laid out: its path leads into .git, .filebus or a file; filebus get %s prints it",
			name, record.ShellWord(name))
	}
	if len(report.Missing) > 0 {
		e.note("%s not laid out, as the content was destroyed since: %s", plural(len(report.Missing), "name"), firstNames(report.Missing))
	}
}

// session lays out a session for an agent, with an index.
func (o *materializeCommand) session(ctx context.Context, w *workspace) error {
	pick := o.pick
	asked, session := pick.Trees, pick.Sessions[0]
	pick.Sessions = nil
	if o.AsOf == "" {
		if err := w.registry().Discover(ctx, session); err != nil {
			return err
		}
	}
	id, trees, err := w.registry().ID(ctx, session)
	if err != nil {
		return err
	}
	if len(asked) == 0 {
		pick.Trees = trees
	}
	request := sessions.GatherRequest{Session: id, Pick: pick, Closure: o.Closure}
	bundle, err := w.registry().Gather(ctx, request)
	if err != nil {
		return err
	}
	return w.layOutBundle(ctx, bundle, o.To, asked, o.MaxTokens)
}

// chosen lays out the hits of a search, best first, or the newest of what is picked.
func (o *materializeCommand) chosen(ctx context.Context, w *workspace) error {
	room := math.MaxInt
	if o.flags.Changed("max-tokens") {
		room = o.MaxTokens
	}
	at, err := w.position(ctx, o.AsOf)
	if err != nil {
		return err
	}
	var names []record.Name
	if r := (query.SearchRequest{}); o.Search != "" {
		r.Filter, r.Limit = o.filter, 1000 // hits at most
		r.Parse(o.Search)
		var answer query.SearchAnswer
		answer, err = w.read.Search(ctx, r)
		names = markdown.Each(answer.Hits, func(h query.Hit) record.Name { return h.Name })
	} else {
		var list query.Listing
		list, err = w.read.List(ctx, query.ListRequest{Filter: o.filter, At: at})
		names = markdown.Each(list.Entries, func(e query.Summary) record.Name { return e.Name })
	}
	if err != nil {
		return err
	}
	bundle, err := w.registry().Choose(ctx, names, o.pick, room)
	if err != nil {
		return err
	}
	return w.layOutBundle(ctx, bundle, o.To, o.pick.Trees, sessions.DefaultIndexTokens)
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
	if out.Files+len(out.LeftOut) == 0 {
		w.note("nothing matches; filebus list shows what there is")
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

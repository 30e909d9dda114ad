package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"filebus/cmd/filebus/cli"
	sessions "filebus/cmd/filebus/session"
	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

type materializeCommand struct {
	cli.FilterFlags
	To        string `flag:"to" need:"yes"`
	AsOf      string `flag:"as-of"`
	Closure   bool   `flag:"closure"`
	Partial   bool   `flag:"partial"`
	Search    string `flag:"search"`
	MaxTokens int    `flag:"max-tokens" least:"100" in:"an index"` // of the index; without a session, of the files

	pick materialize.Selection
}

func (o *materializeCommand) Check(env *cli.Environ, args []string) (err error) {
	if err := o.FilterFlags.Check(env, args); err != nil {
		return err
	}
	o.pick = materialize.Selection{Filter: o.Filter, Partial: o.Partial}
	if o.Closure && len(o.pick.Sessions) != 1 {
		return cli.UsageError("--closure needs exactly one session: give one --session ID")
	}
	if o.AsOf != "" {
		o.pick.AsOf, err = cli.ParseTime(o.AsOf, env.Now())
	}
	return err
}

func (o *materializeCommand) Do(ctx context.Context, w *cli.Work, _ []string) error {
	if err := w.Reader.Spell(ctx, &o.pick.Filter); err != nil {
		return err
	}
	switch {
	case o.Search != "" || len(o.pick.Sessions) != 1 && o.Flags.Changed("max-tokens"):
		return o.chosen(ctx, w)
	case len(o.pick.Sessions) == 1:
		return o.session(ctx, w)
	}
	show, clear := w.Progress("laying out")
	report, err := w.LayOut(ctx, w.Abs(o.To), o.pick, cli.Counted(show))
	clear()
	if err != nil {
		return err
	}
	var left error
	switch {
	case len(report.Damaged) > 0:
		left = record.Partly.Errorf("%s left out, as something is damaged: %s", cli.Plural(len(report.Damaged), "file"),
			strings.Join(report.Damaged, ", ")).Try("filebus verify --repair")
	case len(report.Protected) > 0:
		left = cli.SilentError(record.Partly) // noteLeftOut says it
	}
	if report.Files+len(report.Missing) == 0 && left == nil {
		w.NoteUnknown(ctx, &o.pick.Filter)
		return record.NotFound.Errorf("nothing matches, so nothing was laid out").Try("filebus list")
	}
	if w.Global.JSON {
		return cmp.Or(w.PrintJSON(report), left)
	}
	w.Printf("%s, %s in %s\n", cli.Plural(report.Files, "file"), cli.ByteSize(report.Bytes), o.To)
	noteLeftOut(w.Environ, report)
	return left
}

// noteLeftOut says what was picked and is not laid out.
func noteLeftOut(e *cli.Environ, report *materialize.LayOutReport) {
	for _, name := range report.Displaced {
		e.Note("%s is not laid out: a newer record has its path; filebus get %s prints it", name, name)
	}
	for _, name := range report.Protected {
		e.Note("%s is not laid out: its path leads into .git, .filebus or a file, or is another record's; "+
			"filebus get %s prints it", name, record.ShellWord(name))
	}
	if len(report.Missing) > 0 {
		e.Note("%s not laid out, as the content was destroyed since: %s", cli.Plural(len(report.Missing), "name"), cli.FirstNames(report.Missing))
	}
}

// session lays out a session for an agent, with an index.
func (o *materializeCommand) session(ctx context.Context, w *cli.Work) error {
	pick := o.pick
	asked, session := pick.Trees, pick.Sessions[0]
	pick.Sessions = nil
	if o.AsOf == "" {
		if err := sessions.Of(w).Discover(ctx, session); err != nil {
			return err
		}
	}
	id, trees, err := sessions.Of(w).ID(ctx, session)
	if err != nil {
		return err
	}
	if len(asked) == 0 {
		pick.Trees = trees
	}
	request := sessions.GatherRequest{Session: id, Pick: pick, Closure: o.Closure}
	bundle, err := sessions.Of(w).Gather(ctx, request)
	if err != nil {
		return err
	}
	return sessions.LayOutBundle(ctx, w, bundle, o.To, asked, o.MaxTokens)
}

// chosen lays out the hits of a search, best first, or the newest of what is picked.
func (o *materializeCommand) chosen(ctx context.Context, w *cli.Work) error {
	room := math.MaxInt
	if o.Flags.Changed("max-tokens") {
		room = o.MaxTokens
	}
	at, err := w.Position(ctx, o.AsOf)
	if err != nil {
		return err
	}
	var names []record.Name
	cut := ""
	if r := (query.SearchRequest{}); o.Search != "" {
		r.Filter, r.Limit = o.Filter, 1000 // hits at most
		r.Parse(o.Search)
		var answer query.SearchAnswer
		answer, err = w.Reader.Search(ctx, r)
		names = markdown.Each(answer.Hits, func(h query.Hit) record.Name { return h.Name })
		if err == nil {
			cut, err = o.cut(ctx, w, answer.Hits, room)
		}
	} else {
		var list query.Listing
		list, err = w.Reader.List(ctx, query.ListRequest{Filter: o.Filter, At: at})
		names = markdown.Each(list.Entries, func(e query.Summary) record.Name { return e.Name })
	}
	if err != nil {
		return err
	}
	bundle, err := sessions.Of(w).Choose(ctx, names, o.pick, room, cut)
	if err != nil {
		return err
	}
	return sessions.LayOutBundle(ctx, w, bundle, o.To, o.pick.Trees, bundle.IndexTokens)
}

// cut returns the lines of the best hit that is a file, in half of the room, if the whole has none; else "".
func (o *materializeCommand) cut(ctx context.Context, w *cli.Work, hits []query.Hit, room int) (string, error) {
	at := slices.IndexFunc(hits, func(h query.Hit) bool { return h.Path != "" })
	if at < 0 || sessions.HasRoom(hits[at].Tokens, hits[at].Tree, hits[at].Path, room) {
		return "", nil
	}
	best := &hits[at]
	text, err := w.Reader.Section(ctx, best, maxSection)
	if err != nil || len(text.Text) == 0 {
		return "", err
	}
	head := fmt.Sprintf("%s --lines %s\n\n", cli.OneLine(best.Name.String()), best.Lines)
	return head + string(text.Cut(max(0, room*bytesPerToken/2-len(head))).Text), nil
}

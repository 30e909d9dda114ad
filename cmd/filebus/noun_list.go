package main

import (
	"context"
	"slices"
	"strings"

	"filebus/cmd/filebus/noun"
	"filebus/materialize/markdown"
)

type nounList[T any] struct {
	factFlags[T]
	Status    []string `flag:"status"`
	Open      bool     `flag:"open"`
	MaxTokens int      `flag:"max-tokens" least:"0"`
	face      *face[T]
	// list returns what a filter picks; nil: the entries of the collection.
	list func(ctx context.Context, w *workspace, f noun.Filter) ([]listed, error)
}

// A listed is an entry in a list: its row of a table, and its value in JSON.
type listed struct {
	row  []string
	view any
}

func (o *nounList[T]) run(ctx context.Context, w *workspace, _ []string) error {
	c, err := o.face.collection(ctx, w)
	if err != nil {
		return err
	}
	w.noteProblems(c.Problems(ctx))
	w.noteNotHere(ctx, c.Kind)
	o.facts["status"] = withWords(o.Status)
	if o.list == nil {
		o.list = o.face.list
	}
	all, err := o.list(ctx, w, noun.Filter{Facts: o.facts, Open: o.Open})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		w.noteStatus(c.Word, o.facts["status"], func() []string {
			every, _ := c.List(ctx) // it has just been read
			known := markdown.Each(every, c.State)
			slices.Sort(known)
			return slices.Compact(known)
		})
	}
	return o.face.printList(w, all, o.MaxTokens, "--max-tokens 0")
}

// list returns the entries that a filter picks.
func (f *face[T]) list(ctx context.Context, w *workspace, filter noun.Filter) (all []listed, err error) {
	c := f.open(w)
	entries, err := c.List(ctx)
	for _, e := range entries {
		if c.Picks(filter, e) {
			row := []string{e.Name.ID, c.State(e), markdown.Clip(oneLine(c.Words(&e.Fields)), maxSummaryCell)}
			all = append(all, listed{row, f.inJSON(w, f.brief, e)})
		}
	}
	return all, err
}

// maxSummaryCell is how many characters of a summary a table shows.
const maxSummaryCell = 100

// printList prints as many entries as some tokens hold.
func (f *face[T]) printList(w *workspace, all []listed, maxTokens int, rest string) error {
	views := markdown.Each(all, func(l listed) any { return l.view })
	return w.presentTable(markdown.Each(all, func(l listed) []string { return l.row }), presentation{
		maxTokens: maxTokens, what: f.of.Place, none: "no " + f.of.Word + "s",
		json: func(n int) any {
			list := map[string]any{f.of.Word + "s": append([]any{}, views[:n]...)}
			if n < len(all) {
				list["more"] = len(all) - n
			}
			return list
		},
		rest: rest,
	})
}

type nounAdd[T any] struct {
	entryFlags[T]
	NoDuplicates bool `flag:"no-duplicates"`
	face         *face[T]
}

// draft returns what is said of a new entry, checked before a store is made for it.
func (o *nounAdd[T]) draft(w *workspace, args []string) (draft T, err error) {
	o.read(&draft)
	lead := o.face.of.Fields.Input(o.face.lead)
	said := strings.Join(lead.Get(&draft), "")
	if len(args) > 0 && said != "" {
		return draft, usageError("the %s is given twice, as %q and as --%[1]s", o.face.lead, args[0])
	}
	said += strings.Join(args, "")
	if err := w.readText(o.face.lead, &said, maxDetails); err != nil {
		return draft, err
	}
	lead.Put(&draft, strings.TrimSuffix(said, "\n"))
	if err := readBlocks(w.environ, o.face.of.Word, o.fields, &draft); err != nil {
		return draft, err
	}
	checked := draft
	return draft, o.face.of.Check(o.face.of.Fields, &checked)
}

func (o *nounAdd[T]) run(ctx context.Context, w *workspace, args []string) error {
	draft, err := o.draft(w, args)
	if err != nil {
		return err
	}
	if w, err = w.create(ctx); err != nil {
		return err
	}
	e, _, err := o.add(ctx, w, draft)
	return o.face.changed(w, e, err)
}

// add adds an entry, and names those that it is like.
func (o *nounAdd[T]) add(ctx context.Context, w *workspace, draft T) (added noun.Entry[T], like []noun.Likeness, err error) {
	c := o.face.open(w)
	if like, err = c.Likely(ctx, draft); err != nil { // the entry is not lost because the index is
		w.note("not looked at for duplicates: %v", err)
	}
	added, err = c.Add(ctx, "", draft, o.NoDuplicates, like...)
	if like = w.noteLike(like, added.Name.ID, err); len(like) > 0 && err == nil && slices.ContainsFunc(c.Verbs, isDuplicate) {
		w.note("if it is the same: filebus %s duplicate %s %s", c.Group, added.Name.ID, like[0].ID)
	}
	if err == nil {
		w.noteProblems(c.Problems(ctx))
	}
	return added, like, err
}

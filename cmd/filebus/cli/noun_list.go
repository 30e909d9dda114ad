package cli

import (
	"context"
	"slices"
	"strings"

	"filebus/cmd/filebus/noun"
	"filebus/materialize/markdown"
)

// NounList is the command that lists the entries of a noun.
type NounList[T any] struct {
	FactFlags[T]
	Status    []string `flag:"status"`
	Open      bool     `flag:"open"`
	MaxTokens int      `flag:"max-tokens" least:"0"`
	face      *Face[T]
	// list returns what a filter picks; nil: the entries of the collection.
	List func(ctx context.Context, w *Work, f noun.Filter) ([]Listed, error)
}

// A Listed is an entry in a list: its row of a table, and its value in JSON.
type Listed struct {
	Row  []string
	View any
}

// Do does what the command is for.
func (o *NounList[T]) Do(ctx context.Context, w *Work, _ []string) error {
	c, err := o.face.Collection(ctx, w)
	if err != nil {
		return err
	}
	if w.Kept == nil { // pages show no notes
		w.NoteProblems(c.Problems(ctx))
		w.NoteNotHere(ctx, c.Kind)
	}
	o.Facts["status"] = withWords(o.Status)
	if o.List == nil {
		o.List = o.face.list
	}
	all, err := o.List(ctx, w, noun.Filter{Facts: o.Facts, Open: o.Open})
	if err != nil {
		return err
	}
	if len(all) == 0 {
		w.noteStatus(c.Word, o.Facts["status"], func() []string {
			every, _ := c.List(ctx) // it has just been read
			known := markdown.Each(every, c.State)
			slices.Sort(known)
			return slices.Compact(known)
		})
	}
	return o.face.PrintList(w, all, o.MaxTokens, "--max-tokens 0")
}

// list returns the entries that a filter picks.
func (f *Face[T]) list(ctx context.Context, w *Work, filter noun.Filter) (all []Listed, err error) {
	c := f.Open(w)
	entries, err := c.List(ctx)
	for _, e := range entries {
		if c.Picks(filter, e) {
			row := []string{e.Name.ID, c.State(e), markdown.Clip(OneLine(c.Words(&e.Fields)), MaxSummaryCell)}
			all = append(all, Listed{row, f.inJSON(w, f.Brief, e)})
		}
	}
	return all, err
}

// MaxSummaryCell is how many characters of a summary a table shows.
const MaxSummaryCell = 100

// PrintList prints as many entries as some tokens hold.
func (f *Face[T]) PrintList(w *Work, all []Listed, maxTokens int, rest string) error {
	views := markdown.Each(all, func(l Listed) any { return l.View })
	return w.PresentTable(markdown.Each(all, func(l Listed) []string { return l.Row }), Presentation{
		MaxTokens: maxTokens, What: f.Of.Place, None: "no " + f.Of.Word + "s",
		JSON: func(n int) any {
			list := map[string]any{f.Of.Word + "s": append([]any{}, views[:n]...)}
			if n < len(all) {
				list["more"] = len(all) - n
			}
			return list
		},
		Rest: rest,
	})
}

// NounAdd is the command that adds an entry to a noun.
type NounAdd[T any] struct {
	EntryFlags[T]
	NoDuplicates bool `flag:"no-duplicates"`
	face         *Face[T]
}

// Draft returns what is said of a new entry, checked before a store is made for it.
func (o *NounAdd[T]) Draft(w *Work, args []string) (draft T, err error) {
	o.Read(&draft)
	lead := o.face.Of.Fields.Input(o.face.Lead)
	said := strings.Join(lead.Get(&draft), "")
	if len(args) > 0 && said != "" {
		return draft, UsageError("the %s is given twice, as %q and as --%[1]s", o.face.Lead, args[0])
	}
	said += strings.Join(args, "")
	if err := w.ReadText(o.face.Lead, &said, MaxDetails); err != nil {
		return draft, err
	}
	lead.Put(&draft, strings.TrimSuffix(said, "\n"))
	if err := readBlocks(w.Environ, o.face.Of.Word, o.Fields, &draft); err != nil {
		return draft, err
	}
	checked := draft
	return draft, o.face.Of.Check(o.face.Of.Fields, &checked)
}

// Do does what the command is for.
func (o *NounAdd[T]) Do(ctx context.Context, w *Work, args []string) error {
	draft, err := o.Draft(w, args)
	if err != nil {
		return err
	}
	if w, err = w.Create(ctx); err != nil {
		return err
	}
	e, _, err := o.Add(ctx, w, draft)
	return o.face.changed(w, e, err)
}

// Add adds an entry, and names those that it is like.
func (o *NounAdd[T]) Add(ctx context.Context, w *Work, draft T) (added noun.Entry[T], like []noun.Likeness, err error) {
	c := o.face.Open(w)
	if like, err = c.Likely(ctx, draft); err != nil { // the entry is not lost because the index is
		w.Note("could not look for duplicates: %v", err)
	}
	added, err = c.Add(ctx, "", draft, o.NoDuplicates, like...)
	if like = w.NoteLike(like, added.Name.ID, err); len(like) > 0 && err == nil && slices.ContainsFunc(c.Verbs, isDuplicate) {
		w.Note("if it is the same: filebus %s duplicate %s %s", c.Group, added.Name.ID, like[0].ID)
	}
	if err == nil {
		w.NoteProblems(c.Problems(ctx))
	}
	return added, like, err
}

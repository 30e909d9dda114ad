package main

import (
	"cmp"
	"context"
	"strconv"

	"filebus/query"
	"filebus/store"
)

type listCommand struct {
	filterFlags
	AsOf    string `flag:"as-of"`
	Refresh bool   `flag:"refresh"`
	page
}

func (o *listCommand) check(env *environ, kinds []string) error {
	*o.values["kind"] = append(*o.values["kind"], kinds...)
	return cmp.Or(o.page.check(env, nil), o.filterFlags.check(env, nil))
}

func (o *listCommand) run(ctx context.Context, w *workspace, _ []string) error {
	w.refreshBy(ctx, o.Refresh, 0, o.filter.Trees...)
	at, err := w.position(ctx, o.AsOf)
	list := query.Listing{}
	// Before the first entry there was nothing; position 0 would mean now.
	if err == nil && (o.AsOf == "" || at > 0) {
		list, err = w.read.List(ctx, query.ListRequest{Filter: o.filter, At: at, ByDate: true, Limit: o.Limit, Offset: o.Offset})
	}
	if err != nil {
		return err
	}
	w.noteUnknown(ctx, &o.filter)
	var rows [][]string
	for _, e := range list.Entries {
		rows = append(rows, []string{
			e.Name.String(), e.Ref.String(), strconv.Itoa(e.Tokens), cmp.Or(e.Status, "-"), cmp.Or(e.Agent, "-"),
			w.dateText(e.Time, e.Written, w.minute), e.Title,
		})
	}
	return w.presentTable(rows, presentation{
		json: func(int) any { return list }, none: "no records", left: list.More, rest: o.next(len(rows)),
	})
}

// position returns the log position that a time, or @ and a number, stands for.
func (w *workspace) position(ctx context.Context, text string) (position uint64, err error) {
	if text == "" {
		return 0, nil
	}
	if text[0] == '@' {
		if position, err = strconv.ParseUint(text[1:], 10, 63); err != nil {
			return 0, usageError("%q is not a log position: write @ and a number", text)
		}
		return position, nil
	}
	at, err := parseTime(text, w.now())
	if err != nil {
		return 0, err
	}
	return query.View(ctx, w.Store, func(tx *store.Tx) (uint64, error) { return tx.AsOf(at) })
}

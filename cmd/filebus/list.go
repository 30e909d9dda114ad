package main

import (
	"cmp"
	"context"
	"strconv"

	"filebus/cmd/filebus/cli"
	"filebus/query"
)

type listCommand struct {
	cli.FilterFlags
	AsOf    string `flag:"as-of"`
	Refresh bool   `flag:"refresh"`
	cli.Page
}

func (o *listCommand) Check(env *cli.Environ, kinds []string) error {
	*o.Values["kind"] = append(*o.Values["kind"], kinds...)
	return o.FilterFlags.Check(env, nil)
}

func (o *listCommand) Do(ctx context.Context, w *cli.Work, _ []string) error {
	w.RefreshBy(ctx, o.Refresh, 0, o.Filter.Trees...)
	at, err := w.Position(ctx, o.AsOf)
	list := query.Listing{}
	// Before the first entry there was nothing; position 0 would mean now.
	if err == nil && (o.AsOf == "" || at > 0) {
		list, err = w.Reader.List(ctx, query.ListRequest{Filter: o.Filter, At: at, ByDate: true, Limit: o.Limit, Offset: o.Offset})
	}
	if err != nil {
		return err
	}
	w.NoteUnknown(ctx, &o.Filter)
	if len(list.Entries) == 0 {
		w.RemarkStrangers(ctx)
	}
	var rows [][]string
	for _, e := range list.Entries {
		rows = append(rows, []string{
			e.Name.String(), e.Ref.String(), strconv.Itoa(e.Tokens), cmp.Or(e.Doubt, e.Status, "-"), cmp.Or(e.Agent, "-"),
			w.DateText(e.Time, e.Written, w.Minute), e.Title,
		})
	}
	return w.PresentTable(rows, cli.Presentation{
		JSON: func(int) any { return list }, None: "no records", Left: list.More, Rest: o.Next(len(rows)),
	})
}

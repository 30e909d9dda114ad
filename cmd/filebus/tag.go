package main

import (
	"context"
	"strconv"

	"filebus/materialize/markdown"
	"filebus/query"
)

func listTags(ctx context.Context, w *workspace, args []string) error {
	counts, err := w.read.TagCounts(ctx, append(args, "")[0])
	if err != nil {
		return err
	}
	return w.presentTable(tagRows(counts), presentation{json: func(int) any { return tagsJSON{counts} }, none: "no tags"})
}

type tagsJSON struct {
	Tags []query.TagCount `json:"tags"`
}

func tagRows(counts []query.TagCount) (rows [][]string) {
	return markdown.Each(counts, func(c query.TagCount) []string { return []string{strconv.Itoa(c.Count), c.Tag} })
}

type tagEdit struct{ remove bool }

func (o *tagEdit) run(ctx context.Context, w *workspace, args []string) error {
	v, err := w.resolve(ctx, args[0])
	if err != nil {
		return err
	}
	add, remove := args[1:], []string(nil)
	if o.remove {
		add, remove = remove, add
	}
	result, err := w.Tag(ctx, v.Record.Name, add, remove)
	if err != nil {
		return err
	}
	return w.printStored(result)
}

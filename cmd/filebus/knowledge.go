package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"filebus/cmd/filebus/knowledge"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// knowledgeCommands are the commands of knowledge, and of components.
func knowledgeCommands() []command {
	inputs := entryFlags[layout.Knowledge]{fields: layout.KnowledgeFields().Inputs()}
	return []command{
		group("knowledge",
			fresh("list [flags] [TAG...]", &knowledgeList{filterFlags: picking("tree", "tag"), page: page{Limit: 20}}),
			fresh("show NAME", runFunc(showKnowledge)),
			fresh("tags [PREFIX]", runFunc(listKnowledgeTags)),
			plain("add [FILE]", &knowledgeAdd{entryFlags: inputs}),
			plain("edit ID [FILE]", &knowledgeEdit{inputs}).completed(completeNames),
			plain("supersede OLD [NEW]", &knowledgeSupersede{inputs}).completed(completeNames),
			fresh("link A TYPE B", &knowledgeLink{}).completed(completeNames),
			fresh("related ID", &knowledgeRelated{Depth: 1, Limit: 10, MaxTokens: 800}).completed(completeNames),
			fresh("harvest TASK", &knowledgeHarvest{}).completed(completeNames),
			fresh("graph", &knowledgeGraph{
				filterFlags: picking("tree", "tag"), Format: knowledge.Formats()[0], Depth: 1, Limit: 300,
			}),
		),
		group("component",
			creating("touch NAME", &componentTouch{}),
			fresh("show [NAME]", &componentShow{MaxTokens: 1000}),
			fresh("for FILE...", &componentFor{}),
		),
	}
}

type knowledgeList struct {
	filterFlags
	page
	AllTags       bool     `flag:"all-tags"`
	Refresh       bool     `flag:"refresh"`
	All           bool     `flag:"all"`
	Prefix        bool     `flag:"prefix"`
	Types         []string `flag:"type"`
	MinConfidence string   `flag:"min-confidence" of:"low medium high"`
}

func (o *knowledgeList) run(ctx context.Context, w *workspace, tags []string) error {
	r := query.KnowledgeRequest{
		Filter: o.filter, Wanted: append(o.filter.Tags, tags...), AllTags: o.AllTags, Superseded: o.All,
		Prefix: o.Prefix, Types: o.Types, MinConfidence: o.MinConfidence, Limit: o.Limit, Offset: o.Offset,
	}
	if r.Prefix {
		r.Filter.Tags = nil // they are beginnings
	}
	w.refreshBy(ctx, o.Refresh, 0, o.filter.Trees...)
	w.noteUnknown(ctx, &r.Filter)
	found, total, err := w.read.Knowledge(ctx, r)
	if err != nil {
		return err
	}
	w.noteNotHere(ctx, record.KindKnowledge)
	err = w.presentWhole(strings.Join(r.Wanted, " "),
		knowledgeListView(found, total, r.Offset), w.knowledgeText(found))
	if err == nil && len(found) == 0 {
		w.remark("no entries")
	} else if err == nil {
		w.noteRest(total-r.Offset-len(found), o.next(len(found)))
	}
	return err
}

type knowledgeListJSON struct {
	Total   int             `json:"total"`
	More    int             `json:"more,omitempty"` // behind these
	Entries []knowledgeJSON `json:"entries"`
}

type knowledgeJSON struct {
	query.Knowledge
	Text         string `json:"summary,omitempty"`
	SupersededBy string `json:"superseded_by,omitempty"` // the entry to read in its place
}

// knowledgeListView returns a list in JSON.
func knowledgeListView(found []query.Knowledge, total, offset int) knowledgeListJSON {
	entries := markdown.Each(found, func(k query.Knowledge) knowledgeJSON {
		return knowledgeJSON{k, k.Description.Preview, supersededText(k.SupersededBy, "")}
	})
	return knowledgeListJSON{Total: total, More: max(total-offset-len(found), 0), Entries: entries}
}

func (e *environ) knowledgeText(found []query.Knowledge) string {
	var text strings.Builder
	for _, k := range found {
		r, old := k.Version.Record, supersededText(k.SupersededBy, "  superseded by ")
		if old == "" && k.IsOld() {
			old = "  " + oneLine(r.Status)
		}
		fmt.Fprintf(&text, "%s  %s  %s  %s  [%s]%s\n  %s\n", e.bold(oneLine(r.Name.String())), k.Version.Ref.Short(),
			cmp.Or(k.Type, "-"), cmp.Or(k.Confidence, "-"), oneLine(strings.Join(r.Tags, ", ")),
			old, oneLine(k.Line()))
	}
	return text.String()
}

// supersededText returns the id of what supersedes an entry, behind some words, or
// nothing if nothing does.
func supersededText(by record.Name, words string) string {
	if by.IsZero() {
		return ""
	}
	return oneLine(words + linkEnd(by))
}

// showKnowledge takes a bare id for one of knowledge, where other kinds may have it too.
func showKnowledge(ctx context.Context, w *workspace, args []string) error {
	name := nameOfKind(args[0], record.KindKnowledge)
	v, err := w.resolve(ctx, name)
	if err == nil {
		err = w.printText(ctx, name, v, query.BodyRequest{}, false)
	}
	if err != nil {
		return err
	}
	return noteSuperseded(ctx, w, args[0])
}

// nameOfKind completes a bare id, id or tree:id, to a name of a kind.
func nameOfKind(text string, kind record.Kind) string {
	if _, isRef := record.ParsePrefix(text); isRef || strings.Contains(text, "/") {
		return text
	}
	if tree, id, found := strings.Cut(text, ":"); found {
		return tree + ":" + string(kind) + "/" + id
	}
	return string(kind) + "/" + text
}

func listKnowledgeTags(ctx context.Context, w *workspace, args []string) error {
	prefix := append(args, "")[0]
	counts, err := w.read.TagCounts(ctx, prefix, record.KindKnowledge)
	if err != nil {
		return err
	}
	return w.presentTable(tagRows(counts), presentation{
		what: prefix, json: func(int) any { return tagsJSON{counts} },
	})
}

package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// Commands are the commands of knowledge, and of components.
func Commands() []cli.Command {
	isValid := func(f layout.Field[layout.Knowledge]) bool { return f.Flag == layout.ValidFlag } // see validFlags
	inputs := cli.EntryFlags[layout.Knowledge]{Fields: slices.DeleteFunc(layout.KnowledgeFields().Inputs(), isValid)}
	return []cli.Command{
		cli.Group("knowledge",
			cli.Fresh("list [flags] [TAG...]", &knowledgeList{FilterFlags: cli.Picking("tree", "tag"),
				Page: cli.Page{Limit: 20}}),
			cli.Fresh("show NAME", cli.RunFunc(showKnowledge)),
			cli.Fresh("tags [PREFIX]", cli.RunFunc(listKnowledgeTags)),
			cli.Plain("add [FILE]", &knowledgeAdd{EntryFlags: inputs}),
			cli.Plain("edit ID [FILE]", &knowledgeEdit{EntryFlags: inputs}).Completed(cli.CompleteNames),
			cli.Plain("supersede OLD [NEW]", &knowledgeSupersede{EntryFlags: inputs}).Completed(cli.CompleteNames),
			cli.Plain("reject ID", &knowledgeReject{}).Completed(cli.CompleteNames),
			cli.Plain("accept ID", &knowledgeAccept{}).Completed(cli.CompleteNames),
			cli.Fresh("review", &knowledgeReview{Page: cli.Page{Limit: 10}}),
			cli.Fresh("link A TYPE B", &knowledgeLink{}).Completed(cli.CompleteNames),
			cli.Fresh("related ID", &knowledgeRelated{Depth: 1, Limit: 10, MaxTokens: 800}).Completed(cli.CompleteNames),
			cli.Fresh("harvest TASK", &knowledgeHarvest{}).Completed(cli.CompleteNames),
			cli.Fresh("graph", &knowledgeGraph{
				FilterFlags: cli.Picking("tree", "tag"), Format: Formats()[0], Depth: 1, Limit: 300,
			}),
		),
		cli.Group("component",
			cli.Creating("touch NAME", &componentTouch{}),
			cli.Fresh("show [NAME]", &componentShow{MaxTokens: 1000}),
			cli.Fresh("for FILE...", &componentFor{}),
		),
	}
}

type knowledgeList struct {
	cli.FilterFlags
	cli.Page
	AllTags       bool     `flag:"all-tags"`
	Refresh       bool     `flag:"refresh"`
	All           bool     `flag:"all"`
	Due           bool     `flag:"due"`
	Prefix        bool     `flag:"prefix"`
	Types         []string `flag:"type"`
	MinConfidence string   `flag:"min-confidence" of:"low medium high"`
	ValidAt       string   `flag:"valid-at"`
	AsOf          string   `flag:"as-of"`

	validAt, asOf time.Time
}

func (o *knowledgeList) Check(e *cli.Environ, args []string) (err error) {
	if err = o.FilterFlags.Check(e, args); err != nil {
		return err
	}
	if o.ValidAt != "" {
		date, isDate := layout.ParsePoint(o.ValidAt)
		if o.validAt = date; !isDate {
			return cli.UsageError("--valid-at %s is no date, such as 2026-05-31 or 2026", o.ValidAt)
		}
	}
	if o.AsOf != "" {
		o.asOf, err = cli.ParseTime(o.AsOf, e.Now())
	}
	return err
}

func (o *knowledgeList) Do(ctx context.Context, w *cli.Work, tags []string) error {
	r := query.KnowledgeRequest{
		Filter: o.Filter, Wanted: append(o.Filter.Tags, tags...), AllTags: o.AllTags, Old: o.All,
		ValidAt: o.validAt, AsOf: o.asOf, Due: o.Due,
		Prefix: o.Prefix, Types: o.Types, MinConfidence: o.MinConfidence, Limit: o.Limit, Offset: o.Offset,
	}
	if r.Prefix {
		r.Filter.Tags = nil // they are beginnings
	}
	w.RefreshBy(ctx, o.Refresh, 0, o.Filter.Trees...)
	w.NoteUnknown(ctx, &r.Filter)
	found, total, err := w.Reader.Knowledge(ctx, r)
	if err != nil {
		return err
	}
	w.NoteProblems(Knowledge(w).Problems(ctx))
	w.NoteNotHere(ctx, record.KindKnowledge)
	err = w.PresentWhole(strings.Join(r.Wanted, " "),
		knowledgeListView(found, total, r.Offset), knowledgeText(w.Environ, found))
	if err == nil && len(found) == 0 {
		w.Remark("no entries")
	} else if err == nil {
		w.NoteRest(total-r.Offset-len(found), o.Next(len(found)))
	}
	return err
}

// KnowledgeListJSON is what a command prints with --json.
type KnowledgeListJSON struct {
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
func knowledgeListView(found []query.Knowledge, total, offset int) KnowledgeListJSON {
	entries := markdown.Each(found, func(k query.Knowledge) knowledgeJSON {
		return knowledgeJSON{k, k.Description.Preview, supersededText(k.By, "")}
	})
	return KnowledgeListJSON{Total: total, More: max(total-offset-len(found), 0), Entries: entries}
}

func knowledgeText(e *cli.Environ, found []query.Knowledge) string {
	var text strings.Builder
	for _, k := range found {
		r, old := k.Version.Record, ""
		if k.Standing != query.Current {
			old = "  " + StandText(k.Stand, record.Name{})
		} else if k.Status != "" {
			old = "  " + cli.OneLine(k.Status)
		}
		if due := DueText(k.Due); due != "" {
			old += "  " + due
		}
		fmt.Fprintf(&text, "%s  %s  %s  %s  [%s]%s\n  %s\n", e.Bold(cli.OneLine(r.Name.String())), k.Version.Ref.Short(),
			cmp.Or(k.Type, "-"), cmp.Or(k.Confidence, "-"), cli.OneLine(strings.Join(r.Tags, ", ")),
			old, cli.OneLine(k.Line()))
	}
	return text.String()
}

// StandText says the standing of an entry in a few words; end, if not zero, is what is to be read in the end in
// place of what it is superseded by.
func StandText(s query.Stand, end record.Name) string {
	if by := cmp.Or(end, s.By); !by.IsZero() {
		return "superseded by " + LinkEnd(by)
	}
	return cli.OneLine(s.String())
}

// DueText says when an entry was to be looked at again; "" if due is zero.
func DueText(due time.Time) string {
	if due.IsZero() {
		return ""
	}
	return "due since " + due.Format(time.DateOnly)
}

// supersededText returns the id of what supersedes an entry, behind some words, or
// nothing if nothing does.
func supersededText(by record.Name, words string) string {
	if by.IsZero() {
		return ""
	}
	return cli.OneLine(words + LinkEnd(by))
}

// showKnowledge takes a bare id for one of knowledge, where other kinds may have it too.
func showKnowledge(ctx context.Context, w *cli.Work, args []string) error {
	name := NameOfKind(args[0], record.KindKnowledge)
	v, err := w.VersionNear(ctx, name)
	if err == nil {
		err = w.PrintText(ctx, name, v, query.BodyRequest{}, false)
	}
	if err != nil {
		return err
	}
	return NoteStanding(ctx, w, args[0])
}

// NameOfKind completes a bare id, id or tree:id, to a name of a kind.
func NameOfKind(text string, kind record.Kind) string {
	if _, isRef := record.ParsePrefix(text); isRef || strings.Contains(text, "/") {
		return text
	}
	if tree, id, found := strings.Cut(text, ":"); found {
		return tree + ":" + string(kind) + "/" + id
	}
	return string(kind) + "/" + text
}

func listKnowledgeTags(ctx context.Context, w *cli.Work, args []string) error {
	prefix := append(args, "")[0]
	counts, err := w.Reader.TagCounts(ctx, prefix, record.KindKnowledge)
	if err != nil {
		return err
	}
	return w.PresentTable(TagRows(counts), cli.Presentation{
		What: prefix, JSON: func(int) any { return TagsJSON{counts} },
	})
}

// TagsJSON is what a command prints with --json.
type TagsJSON struct {
	Tags []query.TagCount `json:"tags"`
}

// TagRows returns tags as rows of a table.
func TagRows(counts []query.TagCount) (rows [][]string) {
	return markdown.Each(counts, func(c query.TagCount) []string { return []string{strconv.Itoa(c.Count), c.Tag} })
}

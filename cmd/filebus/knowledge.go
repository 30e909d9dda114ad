package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/knowledge"
	"filebus/query"
	"filebus/store/record"
)

func newKnowledgeCommand(env *environ) *cobra.Command {
	return newGroup("knowledge",
		newKnowledgeListCommand(env), command{use: "show NAME", open: (*environ).openFresh, do: &knowledgeShow{}}.cobra(env), newKnowledgeTagsCommand(env), newKnowledgeAddCommand(env),
		newKnowledgeEditCommand(env), newKnowledgeSupersedeCommand(env), newKnowledgeLinkCommand(env),
		newKnowledgeRelatedCommand(env), newKnowledgeHarvestCommand(env), newKnowledgeGraphCommand(env),
	)
}

func newKnowledgeListCommand(env *environ) *cobra.Command {
	var filter filterFlags
	var r query.KnowledgeRequest
	cmd := newCommand("list [flags] [TAG...]", cobra.ArbitraryArgs,
		func(ctx context.Context, tags []string) (err error) {
			if r.Filter, err = filter.read(env); err != nil {
				return err
			}
			r.Wanted = append(r.Filter.Tags, tags...)
			if r.Prefix {
				r.Filter.Tags = nil // they are beginnings
			}
			return runKnowledgeList(ctx, env, r)
		})
	filter.add(cmd, "tree", "tag")
	flags := cmd.Flags()
	flags.BoolVar(&r.AllTags, "all-tags", false, "")
	flags.BoolVar(&r.Superseded, "all", false, "")
	flags.BoolVar(&r.Prefix, "prefix", false, "")
	flags.StringSliceVar(&r.Types, "type", nil, "")
	flags.StringVar(&r.MinConfidence, "min-confidence", "", "")
	flags.IntVar(&r.Limit, "limit", 20, "")
	flags.IntVar(&r.Offset, "offset", 0, "")
	return cmd
}

func runKnowledgeList(ctx context.Context, env *environ, r query.KnowledgeRequest) error {
	if c := r.MinConfidence; c != "" && !slices.Contains(knowledge.Confidences(), c) {
		return usageError("--min-confidence %q is none of low, medium, high", c)
	}
	if r.Limit < 0 || r.Offset < 0 {
		return usageError("--limit %d --offset %d: there is no such page", r.Limit, r.Offset)
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	found, total, err := s.read.Knowledge(ctx, r)
	if err != nil {
		return err
	}
	_, err = s.present(presentation{
		op: "knowledge list", what: strings.Join(r.Wanted, " "),
		json: func(int) any { return knowledgeList(found, total) },
		text: func(int) string { return knowledgeText(env, found) },
	})
	switch seen := r.Offset + len(found); {
	case err != nil || env.global.json:
		return err
	case len(found) == 0:
		env.note("no entries")
	case seen < total:
		env.note("%d of %d entries; go on with --offset %d", len(found), total, seen)
	}
	return nil
}

type knowledgeListJSON struct {
	Total   int             `json:"total"`
	Entries []knowledgeJSON `json:"entries"`
}

type knowledgeJSON struct {
	query.Summary
	Type       string   `json:"type,omitempty"`
	Confidence string   `json:"confidence,omitempty"`
	Shared     []string `json:"shared,omitempty"`
	Text       string   `json:"summary,omitempty"`
	// SupersededBy is the entry to read in its place.
	SupersededBy string `json:"superseded_by,omitempty"`
}

// knowledgeList returns a list in JSON.
func knowledgeList(found []query.Knowledge, total int) knowledgeListJSON {
	value := knowledgeListJSON{Total: total}
	for _, k := range found {
		by := supersededText(k.SupersededBy, "")
		entry := knowledgeJSON{k.Summary, k.Type, k.Confidence, k.Shared, k.Description.Preview, by}
		value.Entries = append(value.Entries, entry)
	}
	return value
}

func knowledgeText(env *environ, found []query.Knowledge) string {
	var text strings.Builder
	for _, k := range found {
		r := k.Version.Record
		fmt.Fprintf(&text, "%s  %s  %s  %s  [%s]%s\n  %s\n", env.bold(oneLine(r.Name.String())), k.Version.Ref.Short(),
			orDash(k.Type), orDash(k.Confidence), oneLine(strings.Join(r.Tags, ", ")),
			supersededText(k.SupersededBy, "  superseded by "), oneLine(k.Description.Preview))
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

// knowledgeShow takes a bare id for one of knowledge, where other kinds may have it too.
type knowledgeShow struct{}

func (knowledgeShow) run(ctx context.Context, w *workspace, args []string) error {
	if err := new(getCommand).run(ctx, w, []string{nameOfKind(args[0], record.KindKnowledge)}); err != nil {
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

func newKnowledgeTagsCommand(env *environ) *cobra.Command {
	return newCommand("tags [PREFIX]", cobra.MaximumNArgs(1), func(ctx context.Context, args []string) error {
		prefix := append(args, "")[0]
		s, err := env.openFresh(ctx)
		if err != nil {
			return err
		}
		counts, err := s.read.TagCounts(ctx, prefix, record.KindKnowledge)
		if err != nil {
			return err
		}
		return s.presentTable(tagRows(counts), presentation{
			op: "knowledge tags", what: prefix, json: func(int) any { return counts },
		})
	})
}

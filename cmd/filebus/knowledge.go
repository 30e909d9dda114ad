package main

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filebus/query"
	"filebus/store/record"
)

type knowledgeOptions struct {
	filterFlags
	types         []string
	all, prefix   bool
	superseded    bool
	minConfidence string
	limit, offset int
}

func newKnowledgeCommand(env *environ) *cobra.Command {
	cmd := &cobra.Command{
		Use:  "knowledge",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newKnowledgeListCommand(env), newKnowledgeShowCommand(env), newKnowledgeTagsCommand(env), newKnowledgeAddCommand(env),
		newKnowledgeEditCommand(env), newKnowledgeSupersedeCommand(env), newKnowledgeLinkCommand(env),
		newKnowledgeRelatedCommand(env), newKnowledgeHarvestCommand(env), newKnowledgeGraphCommand(env),
	)
	return cmd
}

func newKnowledgeListCommand(env *environ) *cobra.Command {
	var opts knowledgeOptions
	cmd := &cobra.Command{
		Use: "list [flags] [TAG...]",
		RunE: func(cmd *cobra.Command, args []string) error {
			return runKnowledgeList(cmd.Context(), env, opts, args)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	opts.add(cmd, "tree", "tag")
	flags := cmd.Flags()
	flags.BoolVar(&opts.all, "all-tags", false, "")
	flags.BoolVar(&opts.superseded, "all", false, "")
	flags.BoolVar(&opts.prefix, "prefix", false, "")
	flags.StringSliceVar(&opts.types, "type", nil, "")
	flags.StringVar(&opts.minConfidence, "min-confidence", "", "")
	flags.IntVar(&opts.limit, "limit", 20, "")
	flags.IntVar(&opts.offset, "offset", 0, "")
	return cmd
}

func runKnowledgeList(ctx context.Context, env *environ, opts knowledgeOptions, tags []string) error {
	filter, err := opts.filter(env)
	if err != nil {
		return err
	}
	tags = append(filter.Tags, tags...)
	if opts.prefix {
		filter.Tags = nil // they are beginnings
	}
	if c := opts.minConfidence; c != "" && !slices.Contains([]string{"low", "medium", "high"}, c) {
		return usageError("--min-confidence %q is none of low, medium, high", c)
	}
	if opts.limit < 0 || opts.offset < 0 {
		return usageError("--limit %d --offset %d: there is no such page", opts.limit, opts.offset)
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	found, total, err := s.read.Knowledge(ctx, query.KnowledgeRequest{
		Filter: filter, Wanted: tags, AllTags: opts.all, Prefix: opts.prefix, Types: opts.types,
		MinConfidence: opts.minConfidence, Superseded: opts.superseded, Limit: opts.limit, Offset: opts.offset,
	})
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printRead(s, "knowledge list", strings.Join(tags, " "), knowledgeList(found, total))
	}
	env.logRead(s, "knowledge list", strings.Join(tags, " "), knowledgeTokens(found))
	printKnowledge(env, found, total, opts.offset)
	return nil
}

// knowledgeTokens estimates what a list costs: its summaries.
func knowledgeTokens(found []query.Knowledge) int {
	size := 0
	for _, k := range found {
		size += len(k.Description.Preview) + 100
	}
	return record.EstimateTokens(int64(size))
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
	value := knowledgeListJSON{Total: total, Entries: []knowledgeJSON{}}
	for _, k := range found {
		by := supersededText(k.SupersededBy, "")
		entry := knowledgeJSON{k.Summary, k.Type, k.Confidence, k.Shared, k.Description.Preview, by}
		value.Entries = append(value.Entries, entry)
	}
	return value
}

func printKnowledge(env *environ, found []query.Knowledge, total, offset int) {
	for _, k := range found {
		r := k.Version.Record
		env.printf("%s  %s  %s  %s  [%s]%s\n  %s\n", env.bold(oneLine(r.Name.String())), k.Version.Ref.Short(),
			orDash(k.Type), orDash(k.Confidence), oneLine(strings.Join(r.Tags, ", ")),
			supersededText(k.SupersededBy, "  superseded by "), oneLine(k.Description.Preview))
	}
	switch seen := offset + len(found); {
	case len(found) == 0:
		env.note("no entries")
	case seen < total:
		env.note("%d of %d entries; go on with --offset %d", len(found), total, seen)
	}
}

// supersededText returns the id of what supersedes an entry, behind some words, or
// nothing if nothing does.
func supersededText(by record.Name, words string) string {
	if by.IsZero() {
		return ""
	}
	return oneLine(words + linkEnd(by))
}

func newKnowledgeShowCommand(env *environ) *cobra.Command {
	return &cobra.Command{
		Use:  "show NAME",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runKnowledgeShow(cmd.Context(), env, args[0])
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

// runKnowledgeShow takes a bare id for one of knowledge, where other kinds may
// have it too.
func runKnowledgeShow(ctx context.Context, env *environ, text string) error {
	if err := runGet(ctx, env, getOptions{}, nameOfKind(text, record.KindKnowledge)); err != nil {
		return err
	}
	return noteSuperseded(ctx, env, text)
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
	return &cobra.Command{
		Use:  "tags [PREFIX]",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runKnowledgeTags(cmd.Context(), env, append(args, "")[0])
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
}

func runKnowledgeTags(ctx context.Context, env *environ, prefix string) error {
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	counts, err := s.read.TagCounts(ctx, prefix, record.KindKnowledge)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printRead(s, "knowledge tags", prefix, append([]query.TagCount{}, counts...))
	}
	var rows [][]string
	size := 0
	for _, c := range counts {
		rows = append(rows, []string{strconv.Itoa(c.Count), c.Tag})
		size += len(c.Tag) + 4
	}
	env.printTable(rows)
	env.logRead(s, "knowledge tags", prefix, record.EstimateTokens(int64(size)))
	return nil
}

package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store/record"
)

type searchOptions struct {
	filterOptions
	conversations, sessions, notSessions []string
	tasks, runs, agents, statuses        []string
	limit, offset                        int
	history                              bool
	maxWait                              time.Duration
}

// filterOptions are the filters that several commands have.
type filterOptions struct {
	kinds, trees, tags []string
	since, until       string
}

func (f *filterOptions) addTo(cmd *cobra.Command) {
	cmd.Flags().StringSliceVar(&f.kinds, "kind", nil, "only records of `kind` (may be repeated)")
	cmd.Flags().StringSliceVar(&f.trees, "tree", nil, "only records of `tree`; . is the project's own (may be repeated)")
	cmd.Flags().StringSliceVar(&f.tags, "tag", nil, "only records with `tag` (may be repeated: all of them)")
	cmd.Flags().StringVar(&f.since, "since", "", "only records since `time`: 36h, 2d, 2026-03-02")
	cmd.Flags().StringVar(&f.until, "until", "", "only records before `time`")
}

// period returns the times that --since and --until mean.
func (f *filterOptions) period(env *environ) (since, until time.Time, err error) {
	if f.since != "" {
		if since, err = parseTime(f.since, env.now()); err != nil {
			return since, until, err
		}
	}
	if f.until != "" {
		until, err = parseTime(f.until, env.now())
	}
	return since, until, err
}

// parseKinds reads names of kinds.
func parseKinds(texts []string) ([]record.Kind, error) {
	var kinds []record.Kind
	for _, text := range texts {
		kind, err := record.ParseKind(text)
		if err != nil {
			return nil, usageError("%w", err)
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

// parseTrees reads names of trees; a dot is the own tree.
func parseTrees(texts []string) ([]record.Tree, error) {
	var trees []record.Tree
	for _, text := range texts {
		if text == "." {
			trees = append(trees, "")
			continue
		}
		tree, err := record.ParseTree(text)
		if err != nil {
			return nil, usageError("%w", err)
		}
		trees = append(trees, tree)
	}
	return trees, nil
}

func newSearchCommand(env *environ) *cobra.Command {
	var opts searchOptions
	cmd := &cobra.Command{
		Use:   "search [flags] [WORD...]",
		Short: "Find records by their text, and the section to read",
		Long: `Find records by words, best first. Any text may be given: there is no query
language. Each hit names the section that answers best, with its lines, so that
"filebus get NAME --lines 40-80" reads no more than that.

Without words what passes the filters is listed, newest first. Markers, states,
snapshots, frames and prompts are found only with --kind.`,
		Example: `  filebus search token refresh race
  filebus search --kind knowledge --tag auth --limit 3 jwt
  filebus search --since 2d --json parseHTTPHeader`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSearch(cmd.Context(), env, opts, strings.Join(args, " "))
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	opts.addTo(cmd)
	flags := cmd.Flags()
	flags.StringSliceVar(&opts.agents, "agent", nil, "only records of `agent` (may be repeated)")
	flags.StringSliceVar(&opts.conversations, "conversation", nil, "only records of conversation `id`")
	flags.StringSliceVar(&opts.sessions, "session", nil, "only records of session `id`")
	flags.StringSliceVar(&opts.notSessions, "not-session", nil, "no records of session `id`")
	flags.StringSliceVar(&opts.tasks, "task", nil, "only records of task `id`")
	flags.StringSliceVar(&opts.runs, "run", nil, "only records of run `id`")
	flags.StringSliceVar(&opts.statuses, "status", nil, "only records with `status`")
	flags.IntVar(&opts.limit, "limit", query.DefaultLimit, "print `n` hits at most")
	flags.IntVar(&opts.offset, "offset", 0, "leave out the first `n` hits")
	flags.BoolVar(&opts.history, "history", false, "search versions too that are current no more; they come last")
	flags.DurationVar(&opts.maxWait, "max-wait", query.DefaultMaxWait, "how long to bring the index up to date, at most")
	return cmd
}

func (o *searchOptions) request(env *environ, text string) (request query.SearchRequest, err error) {
	request = query.SearchRequest{
		Query: text, Tags: o.tags, Agents: o.agents, Conversations: o.conversations, Sessions: o.sessions,
		NotSessions: o.notSessions, Tasks: o.tasks, Runs: o.runs, Statuses: o.statuses,
		Limit: o.limit, Offset: o.offset, History: o.history,
	}
	if o.limit < 1 || o.offset < 0 {
		return request, usageError("--limit %d --offset %d: there is no such page", o.limit, o.offset)
	}
	if request.Kinds, err = parseKinds(o.kinds); err != nil {
		return request, err
	}
	if request.Trees, err = parseTrees(o.trees); err != nil {
		return request, err
	}
	request.Since, request.Until, err = o.period(env)
	return request, err
}

func runSearch(ctx context.Context, env *environ, opts searchOptions, text string) error {
	request, err := opts.request(env, text)
	if err != nil {
		return err
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	show, clear := env.progress("indexing")
	answer, err := env.reader(s.Store, query.Options{MaxWait: max(opts.maxWait, 1), Progress: show}).Search(ctx, request)
	clear()
	if err != nil {
		return err
	}
	if answer.Unindexed > 0 {
		env.note("%d log entries are not indexed yet; they were scanned%s", answer.Unindexed, inPart(answer.ScanIncomplete))
	} else if answer.ScanIncomplete {
		env.note("older versions were scanned in part")
	}
	for _, h := range answer.Hits {
		if h.Damaged {
			env.note("the body of %s is damaged; run filebus verify", h.Name)
		}
	}
	size, err := printHits(env, &answer, request.Offset)
	env.logRead(s, "search", text, record.EstimateTokens(int64(size)))
	return err
}

func inPart(incomplete bool) string {
	if incomplete {
		return " in part; run the search again, or filebus reindex"
	}
	return ""
}

// printHits prints an answer and returns about how many bytes it took.
func printHits(env *environ, answer *query.SearchAnswer, offset int) (size int, err error) {
	if env.global.json {
		return printHitsJSON(env, answer)
	}
	var out strings.Builder
	for i := range answer.Hits {
		writeHit(&out, env, &answer.Hits[i])
	}
	env.printf("%s", out.String())
	seen := offset + len(answer.Hits)
	switch {
	case len(answer.Hits) == 0:
		env.note("no hits")
	case uint64(seen) < answer.Total:
		env.note("%d of %d hits; go on with --offset %d", len(answer.Hits), answer.Total, seen)
	}
	return out.Len(), nil
}

// writeHit writes a hit in two lines: where it is and what it says.
func writeHit(out *strings.Builder, env *environ, h *query.Hit) {
	out.WriteString(env.bold(oneLine(h.Name.String())))
	if h.Lines.From > 0 {
		out.WriteString(" --lines " + spanText(h.Lines))
	}
	out.WriteString("  " + h.Ref.Short() + "  " + tokenText(h.Tokens))
	if h.Agent != "" {
		out.WriteString("  " + h.Agent)
	}
	out.WriteString("  " + h.Time.UTC().Format("2006-01-02"))
	if h.Older {
		out.WriteString("  (older version)")
	}
	heading := h.Title // most first sections repeat it
	switch {
	case strings.Contains(h.Section, h.Title):
		heading = h.Section
	case h.Section != "" && !strings.Contains(h.Title, h.Section):
		heading += " > " + h.Section
	}
	out.WriteString("\n  ")
	if heading != "" {
		out.WriteString(oneLine(layout.Clip(heading, maxHeading)) + ": ")
	}
	out.WriteString(markSnippet(env, h.Snippet) + "\n")
}

// maxHeading bounds what a hit says of its place, in characters, so that ten
// hits stay below 900 tokens.
const maxHeading = 80

func markSnippet(env *environ, s query.Snippet) string {
	var out strings.Builder
	last := 0
	for _, m := range s.Marks {
		out.WriteString(s.Text[last:m.Start] + env.bold(s.Text[m.Start:m.End]))
		last = m.End
	}
	return out.String() + s.Text[last:]
}

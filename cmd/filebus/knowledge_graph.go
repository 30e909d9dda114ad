package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"filebus/materialize/knowledge"
	"filebus/query"
	"filebus/store/record"
)

type graphOptions struct {
	filterFlags
	format, from, out string
	types             []string
	depth, limit      int
	linksOnly         bool
}

func newKnowledgeGraphCommand(env *environ) *cobra.Command {
	var opts graphOptions
	cmd := &cobra.Command{
		Use:   "graph",
		Short: "Write the knowledge graph, or a part of it, for other programs",
		Long: `Write entries and what connects them as DOT, Mermaid or JSON. Links are
arrows; each entry is joined by dotted lines to the three others that share most tags,
tasks and files with it. Graphviz draws the DOT: dot -Tsvg.`,
		Example: "  filebus knowledge graph -o knowledge.dot\n  filebus knowledge graph --format mermaid --from pattern-004 --depth 2",
		Args:    cobra.NoArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runKnowledgeGraph(cmd.Context(), env, opts) },
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.format, "format", string(knowledge.FormatDOT), "dot, mermaid or json")
	opts.add(cmd, "entries", "tree", "tag")
	flags.StringSliceVar(&opts.types, "type", nil, "only entries of `type`: pattern, gotcha, decision, insight (may be repeated)")
	flags.StringVar(&opts.from, "from", "", "only the entry `id`, and what is connected with it")
	flags.IntVar(&opts.depth, "depth", 1, "with --from: go `n` steps away")
	flags.IntVar(&opts.limit, "limit", 300, "refuse to write more than `n` entries; 0: no limit")
	flags.BoolVar(&opts.linksOnly, "links-only", false, "leave out what entries merely share")
	flags.StringVarP(&opts.out, "output", "o", "", "write to `file` (default: standard output)")
	return cmd
}

func runKnowledgeGraph(ctx context.Context, env *environ, opts graphOptions) error {
	format := knowledge.Format(opts.format)
	switch {
	case env.global.json:
		format = knowledge.FormatJSON
	case !slices.Contains(knowledge.Formats(), format):
		return usageError("--format %q is none of dot, mermaid, json", opts.format)
	}
	if opts.depth < 1 || opts.depth > maxDepth || opts.limit < 0 {
		return usageError("--depth is from 1 to %d, --limit not negative", maxDepth)
	}
	filter, err := opts.filter(env)
	if err != nil {
		return err
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	from := record.Name{}
	if opts.from != "" {
		if from, err = env.knowledgeName(ctx, s, opts.from); err != nil {
			return err
		}
	}
	g, err := s.read.Graph(ctx, filter.Trees...)
	if err != nil {
		return err
	}
	part, err := g.Part(ctx, query.PartRequest{
		Filter: filter, Types: opts.types, From: from, Depth: opts.depth, Limit: opts.limit, Stated: opts.linksOnly,
	})
	if err != nil {
		return err
	}
	if len(part.Nodes) == 0 {
		env.note("no entries")
	}
	return writeGraph(env, part, format, opts.out)
}

func writeGraph(env *environ, part query.Part, format knowledge.Format, file string) error {
	if file == "" || file == "-" {
		return knowledge.WriteGraph(env.out, part, format)
	}
	var text bytes.Buffer
	if err := knowledge.WriteGraph(&text, part, format); err != nil {
		return err
	}
	if err := os.WriteFile(env.abs(file), text.Bytes(), 0o666); err != nil {
		return fmt.Errorf("writing the graph: %w", err)
	}
	env.note("wrote %s and %s to %s", plural(len(part.Nodes), "node"), plural(len(part.Edges), "edge"), file)
	return nil
}

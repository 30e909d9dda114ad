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
	cmd := newCommand("graph", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return runKnowledgeGraph(ctx, env, opts)
	})
	flags := cmd.Flags()
	flags.StringVar(&opts.format, "format", string(knowledge.FormatDOT), "")
	opts.add(cmd, "tree", "tag")
	flags.StringSliceVar(&opts.types, "type", nil, "")
	flags.StringVar(&opts.from, "from", "", "")
	flags.IntVar(&opts.depth, "depth", 1, "")
	flags.IntVar(&opts.limit, "limit", 300, "")
	flags.BoolVar(&opts.linksOnly, "links-only", false, "")
	flags.StringVarP(&opts.out, "output", "o", "", "")
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

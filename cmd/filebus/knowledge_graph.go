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
)

func newKnowledgeGraphCommand(env *environ) *cobra.Command {
	var filter filterFlags
	var r query.PartRequest
	var format, from, out string
	cmd := newCommand("graph", cobra.NoArgs, func(ctx context.Context, _ []string) (err error) {
		if env.global.json {
			format = string(knowledge.FormatJSON)
		}
		if !slices.Contains(knowledge.Formats(), knowledge.Format(format)) {
			return usageError("--format %q is none of dot, mermaid, json", format)
		}
		if r.Depth < 1 || r.Depth > maxDepth || r.Limit < 0 {
			return usageError("--depth is from 1 to %d, --limit not negative", maxDepth)
		}
		if r.Filter, err = filter.read(env); err != nil {
			return err
		}
		part, err := graphPart(ctx, env, r, from)
		if err != nil {
			return err
		}
		if len(part.Nodes) == 0 {
			env.note("no entries")
		}
		return writeGraph(env, part, knowledge.Format(format), out)
	})
	flags := cmd.Flags()
	flags.StringVar(&format, "format", string(knowledge.FormatDOT), "")
	filter.add(cmd, "tree", "tag")
	flags.StringSliceVar(&r.Types, "type", nil, "")
	flags.StringVar(&from, "from", "", "")
	flags.IntVar(&r.Depth, "depth", 1, "")
	flags.IntVar(&r.Limit, "limit", 300, "")
	flags.BoolVar(&r.Stated, "links-only", false, "")
	flags.StringVarP(&out, "output", "o", "", "")
	return cmd
}

// graphPart returns a part of the graph, around an entry if one is given.
func graphPart(ctx context.Context, env *environ, r query.PartRequest, from string) (part query.Part, err error) {
	s, err := env.openFresh(ctx)
	if err != nil {
		return part, err
	}
	if from != "" {
		if r.From, err = s.knowledgeName(ctx, from); err != nil {
			return part, err
		}
	}
	g, err := s.read.Graph(ctx, r.Trees...)
	if err != nil {
		return part, err
	}
	return g.Part(ctx, r)
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

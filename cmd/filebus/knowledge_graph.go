package main

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"filebus/cmd/filebus/knowledge"
	"filebus/query"
)

type knowledgeGraph struct {
	filterFlags
	Format string   `flag:"format" of:"dot mermaid json"`
	Types  []string `flag:"type"`
	From   string   `flag:"from"`
	Depth  int      `flag:"depth"`
	Limit  int      `flag:"limit"`
	Stated bool     `flag:"links-only"`
	Output string   `flag:"output,o"`
}

func (o *knowledgeGraph) check(env *environ, args []string) error {
	if env.global.json {
		o.Format = "json"
	}
	if o.Depth < 1 || o.Depth > maxDepth || o.Limit < 0 {
		return usageError("--depth is from 1 to %d, --limit not negative", maxDepth)
	}
	return o.filterFlags.check(env, args)
}

func (o *knowledgeGraph) run(ctx context.Context, w *workspace, _ []string) (err error) {
	r := query.PartRequest{Filter: o.filter, Types: o.Types, Depth: o.Depth, Limit: o.Limit, Stated: o.Stated}
	if o.From != "" { // only what is around it
		if r.From, err = w.knowledgeName(ctx, o.From); err != nil {
			return err
		}
	}
	g, err := w.read.Graph(ctx, r.Trees...)
	if err != nil {
		return err
	}
	part, err := g.Part(ctx, r)
	if err != nil {
		return err
	}
	if len(part.Nodes) == 0 {
		w.note("no entries")
	}
	return w.writeGraph(part, o.Format, o.Output)
}

func (e *environ) writeGraph(part query.Part, format string, file string) error {
	if file == "" || file == "-" {
		return knowledge.WriteGraph(e.out, part, format)
	}
	var text bytes.Buffer
	if err := knowledge.WriteGraph(&text, part, format); err != nil {
		return err
	}
	if err := os.WriteFile(e.abs(file), text.Bytes(), 0o666); err != nil {
		return fmt.Errorf("writing the graph: %w", err)
	}
	e.note("wrote %s and %s to %s", plural(len(part.Nodes), "node"), plural(len(part.Edges), "edge"), file)
	return nil
}

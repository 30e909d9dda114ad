package knowledge

import (
	"bytes"
	"context"
	"fmt"
	"os"

	"filebus/cmd/filebus/cli"
	"filebus/query"
)

type knowledgeGraph struct {
	cli.FilterFlags
	Format string   `flag:"format" of:"dot mermaid json"`
	Types  []string `flag:"type"`
	From   string   `flag:"from"`
	Depth  int      `flag:"depth"`
	Limit  int      `flag:"limit"`
	Stated bool     `flag:"links-only"`
	Output string   `flag:"output,o"`
}

func (o *knowledgeGraph) Check(env *cli.Environ, args []string) error {
	if env.Global.JSON {
		o.Format = "json"
	}
	if o.Depth < 1 || o.Depth > maxDepth || o.Limit < 0 {
		return cli.UsageError("--depth is from 1 to %d, --limit not negative", maxDepth)
	}
	return o.FilterFlags.Check(env, args)
}

func (o *knowledgeGraph) Do(ctx context.Context, w *cli.Work, _ []string) (err error) {
	r := query.PartRequest{Filter: o.Filter, Types: o.Types, Depth: o.Depth, Limit: o.Limit, Stated: o.Stated}
	if o.From != "" { // only what is around it
		if r.From, err = knowledgeName(ctx, w, o.From); err != nil {
			return err
		}
	}
	g, err := w.Reader.Graph(ctx, r.Trees...)
	if err != nil {
		return err
	}
	part, err := g.Part(ctx, r)
	if err != nil {
		return err
	}
	if len(part.Nodes) == 0 {
		w.Note("no entries")
	}
	return writeGraph(w.Environ, part, o.Format, o.Output)
}

func writeGraph(e *cli.Environ, part query.Part, format string, file string) error {
	if file == "" || file == "-" {
		return WriteGraph(e.Out, part, format)
	}
	var text bytes.Buffer
	if err := WriteGraph(&text, part, format); err != nil {
		return err
	}
	if err := os.WriteFile(e.Abs(file), text.Bytes(), 0o666); err != nil {
		return fmt.Errorf("writing the graph: %w", err)
	}
	e.Note("wrote %s and %s to %s", cli.Plural(len(part.Nodes), "node"), cli.Plural(len(part.Edges), "edge"), file)
	return nil
}

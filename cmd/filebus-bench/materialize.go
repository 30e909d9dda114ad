package main

import (
	"context"
	"fmt"
	"path/filepath"
)

// runMaterialize compares laying files out with copying them.
func runMaterialize(ctx context.Context, b *bench) ([]row, error) {
	texts, err := b.texts(b.docs)
	if err != nil {
		return nil, err
	}
	w, err := b.stock(ctx)
	if err != nil {
		return nil, err
	}
	var to string
	newFolder := func(context.Context) (err error) { to, err = b.folder("out"); return err }
	samples, err := inTurns(ctx, b.runs,
		side{name: "filebus materialize", prepare: newFolder, run: func(ctx context.Context) (float64, error) {
			return b.process(b.filebusIn(w, "materialize", "--tree", "made", "--to", filepath.Join(to, "laid")))(ctx)
		}},
		side{name: "cp -r", tool: "cp", prepare: newFolder, run: func(ctx context.Context) (float64, error) {
			return b.process(command{dir: b.temp, args: []string{"cp", "-r", texts.dir, filepath.Join(to, "copied")}})(ctx)
		}},
	)
	return []row{
		measured(fmt.Sprintf("materialize %d files", len(texts.files)), "ms", samples[0]).over(samples[1]).ratioAtMost(2, "≤ 2 × cp -r"),
		measured("cp -r of these", "ms", samples[1]).of("cp"),
	}, err
}

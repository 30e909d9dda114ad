package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"

	"filebus/store/record"
)

// runTokens measures what a reader pays for a reference and for ten hits, in
// tokens of four bytes.
func runTokens(ctx context.Context, b *bench) ([]row, error) {
	texts, err := b.texts(b.docs)
	if err != nil {
		return nil, err
	}
	references, err := b.referenceTokens(ctx, texts)
	if err != nil {
		return nil, err
	}
	w, err := b.stock(ctx)
	if err != nil {
		return nil, err
	}
	queries, err := texts.queries(queriesPerTurn, b.seed)
	if err != nil {
		return nil, err
	}
	var hits sample
	for _, words := range queries {
		done, err := b.execute(ctx, b.filebusIn(w, append([]string{"search", "--limit", "10"}, words...)...))
		if err != nil {
			return nil, err
		}
		hits = append(hits, float64(record.EstimateTokens(int64(len(done.stdout)))))
	}
	return []row{
		measured("a reference beyond its preview", "tokens", references).noneAbove(60, "≤ 60 tokens"),
		measured("ten hits of a search", "tokens", hits).noneAbove(900, "≤ 900 tokens"),
	}, nil
}

// referenceTokens puts a few texts and returns what each reference costs besides
// its preview.
func (b *bench) referenceTokens(ctx context.Context, texts *corpus) (sample, error) {
	w, err := b.newWorkspace("tokens")
	if err != nil {
		return nil, err
	}
	var costs sample
	for _, file := range texts.files[:min(len(texts.files), 20)] {
		put := b.filebusIn(w, "put", "--agent", "web_researcher", "--conversation", "7f3a9c21", filepath.Join(texts.dir, file))
		done, err := b.execute(ctx, put)
		if err != nil {
			return nil, err
		}
		size, err := beyondPreview(done.stdout)
		if err != nil {
			return nil, err
		}
		costs = append(costs, float64(record.EstimateTokens(size)))
	}
	return costs, nil
}

// beyondPreview returns the bytes of a printed reference without the text of its
// preview.
func beyondPreview(line []byte) (int64, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return 0, fmt.Errorf("reading the reference %q: %w", line, err)
	}
	preview, ok := fields["preview"]
	if !ok {
		return 0, fmt.Errorf("the reference %q has no preview", line)
	}
	return int64(len(line) - len(preview) + len(`""`)), nil
}

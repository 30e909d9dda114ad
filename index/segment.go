package index

import (
	"cmp"
	"fmt"
	"hash/crc32"
	"slices"
	"sync"

	"github.com/blevesearch/bleve/v2/index/scorch"
	api "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"
)

// A segmentPlugin is the engine's own for segments, except that it makes new ones
// from entries itself: see segmentWriter.
type segmentPlugin struct {
	zap.ZapPlugin
	writers sync.Pool // of *segmentWriter
}

// usePlugin makes the engine use a segmentPlugin in place of its own. The files
// are those of its own.
var usePlugin = sync.OnceFunc(func() { scorch.RegisterSegmentPlugin(&segmentPlugin{}, true) })

// New makes a segment in memory from documents, which are entries.
func (p *segmentPlugin) New(documents []api.Document) (segment.Segment, uint64, error) {
	return p.NewUsing(documents, nil)
}

// NewUsing does so with a configuration of the engine's. It returns the size in
// bytes too.
func (p *segmentPlugin) NewUsing(documents []api.Document, config map[string]any) (segment.Segment, uint64, error) {
	entries := make([]*entry, len(documents))
	for i, d := range documents {
		e, ok := d.(*entry)
		if !ok {
			return nil, 0, fmt.Errorf("a document is a %T", d)
		}
		entries[i] = e
	}
	// The engine gives them in any order.
	slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.facts.position, b.facts.position) })
	w, ok := p.writers.Get().(*segmentWriter)
	if !ok {
		w = newSegmentWriter()
	}
	made, err := w.write(entries)
	if err != nil {
		return nil, 0, err
	}
	p.writers.Put(w)
	stats, ok := config[segment.StatsKey].(*segment.Stats)
	if !ok {
		stats = new(segment.Stats)
	}
	opened, err := zap.InitSegmentBase(made.bytes, crc32.ChecksumIEEE(made.bytes), zap.DefaultChunkMode,
		uint64(made.documents), uint64(made.stored), uint64(made.sections), config, stats)
	return opened, uint64(len(made.bytes)), err
}

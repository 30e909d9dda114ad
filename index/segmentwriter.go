package index

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	api "github.com/blevesearch/bleve_index_api"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/blevesearch/vellum"
	zap "github.com/blevesearch/zapx/v17"
)

// A segmentWriter makes segments in version 17 of the engine's format (zap.md of
// zapx). The engine would make the same from any document: it looks up each term
// of each document by its text, twice, in maps that it asks for. Entries have
// numbers for their terms, so that postings are sorted by counting. It makes no
// term vectors, stored fields, nested documents or whatever else entries never
// have.
type segmentWriter struct {
	// brief puts a term that one document has once into the dictionary alone, as
	// the engine does when it merges segments.
	brief   bool
	options *vellum.BuilderOpts // of dictionaries; nil: the engine's

	out        []byte
	entries    []*entry
	lastSize   int // of the segment before
	builder    *vellum.Builder
	dictionary bytes.Buffer
	bitmap     *roaring.Bitmap
	numbers    []uint32 // documents of the term at hand
	ends       []int    // of its chunks
	counted    []byte   // its frequencies and lengths
	key        []byte

	next     []uint32     // by number of a term: its documents, then where its next posting goes
	found    []sortedTerm // the terms of the field at hand
	postings []posting
}

// newSegmentWriter returns a writer for whom being fast comes first. Dictionaries
// share less of their words' ends than the engine's do: they are written in half
// the time and less than a hundredth larger.
func newSegmentWriter() *segmentWriter {
	return &segmentWriter{brief: true, options: &vellum.BuilderOpts{Encoder: 1, RegistryTableSize: 1000, RegistryMRUSize: 1}}
}

// A newSegment is a segment without the file's last bytes, which the engine adds.
type newSegment struct {
	bytes            []byte
	documents        int
	stored, sections int // offsets of the index of stored fields and of that of sections
}

// A posting says that a document has a term.
type posting struct{ document, count, length uint32 }

// A sortedTerm is a term with its first bytes, by which most differ.
type sortedTerm struct {
	prefix uint64
	number uint32
	count  uint32 // documents that have it
}

// A column is a field in a segment.
type column struct {
	name    string
	options api.FieldIndexingOptions
	scored  int                   // which of the scored fields it is, or -1
	exact   func(*entry) []string // the terms of any other field
}

// columns returns the fields in the engine's order: _id, then by name.
func columns() []column {
	all := []column{
		{fieldKeys, api.IndexField | api.SkipFreqNorm, -1, func(e *entry) []string { return e.keys }},
	}
	for i, f := range scored {
		all = append(all, column{name: f.name, options: api.IndexField, scored: i})
	}
	slices.SortFunc(all, func(a, b column) int { return strings.Compare(a.name, b.name) })
	id := column{"_id", api.IndexField | api.StoreField | api.SkipFreqNorm, -1, func(e *entry) []string { return []string{e.id} }}
	return append([]column{id}, all...)
}

// used reports whether any entry has c.
func (c *column) used(entries []*entry) bool {
	return c.scored < 0 || slices.ContainsFunc(entries, func(e *entry) bool { return e.facts.lengths[c.scored] > 0 })
}

// write makes a segment of entries, at least one. They are of one Analyzer
// afterwards.
func (w *segmentWriter) write(entries []*entry) (newSegment, error) {
	for _, e := range entries {
		entries[0].analyzer.adopt(e)
	}
	w.entries, w.out = entries, make([]byte, 0, w.lastSize+w.lastSize/4)
	made := newSegment{documents: len(entries), stored: w.writeStored()}
	var fields []column
	var places []int
	for _, c := range columns() {
		if !c.used(entries) {
			continue
		}
		place, err := w.writeColumn(&c)
		if err != nil {
			return made, err
		}
		fields, places = append(fields, c), append(places, place)
	}
	made.sections = w.writeSections(fields, places)
	made.bytes, w.lastSize = w.out, len(w.out)
	w.entries, w.out = nil, nil
	return made, nil
}

// uvarint writes numbers.
func (w *segmentWriter) uvarint(numbers ...uint64) {
	for _, n := range numbers {
		w.out = binary.AppendUvarint(w.out, n)
	}
}

// writeStored writes the only stored field of each document, that of the id, and returns
// where their index is.
func (w *segmentWriter) writeStored() int {
	const nothing = 0 // the compressed form of no other fields
	offsets := make([]int, len(w.entries))
	var meta, stored []byte
	for i, e := range w.entries {
		offsets[i] = len(w.out)
		stored = e.appendStored(stored[:0])
		meta = binary.AppendUvarint(meta[:0], uint64(len(stored)))
		w.uvarint(uint64(len(meta)), uint64(len(stored)+1))
		w.out = append(append(append(w.out, meta...), stored...), nothing)
	}
	index := len(w.out)
	for _, offset := range offsets {
		w.out = binary.BigEndian.AppendUint64(w.out, uint64(offset))
	}
	w.uvarint(0) // no documents within documents
	return index
}

// writeColumn writes the postings and the dictionary of a field, and returns the place of what says where they are.
func (w *segmentWriter) writeColumn(c *column) (int, error) {
	w.dictionary.Reset()
	if w.builder == nil {
		builder, err := vellum.New(&w.dictionary, w.options)
		if err != nil {
			return 0, err
		}
		w.builder, w.bitmap = builder, roaring.New()
	} else if err := w.builder.Reset(&w.dictionary); err != nil {
		return 0, err
	}
	err := w.writeScored(c.scored)
	if c.scored < 0 {
		err = w.writeExact(c.exact)
	}
	if err == nil {
		err = w.builder.Close()
	}
	if err != nil {
		return 0, err
	}
	dictionary := len(w.out)
	w.uvarint(uint64(w.dictionary.Len()))
	w.out = append(w.out, w.dictionary.Bytes()...)
	place := len(w.out)
	const noValues = math.MaxUint64
	w.uvarint(noValues, noValues, uint64(dictionary))
	return place, nil
}

// writeScored writes the postings of a scored field.
func (w *segmentWriter) writeScored(field int) error {
	if field < 0 {
		return nil
	}
	terms := w.entries[0].analyzer.terms
	w.collect(field, terms)
	for start := 0; len(w.found) > 0; w.found = w.found[1:] {
		t := w.found[0]
		list := w.postings[start : start+int(t.count)]
		start += int(t.count)
		w.next[t.number] = 0
		w.key = append(w.key[:0], terms[t.number]...)
		if err := w.writeTerm(list); err != nil {
			return err
		}
	}
	return nil
}

// collect sorts the postings of a field by term.
func (w *segmentWriter) collect(field int, terms []string) {
	if len(w.next) < len(terms) {
		w.next = append(w.next, make([]uint32, len(terms)-len(w.next))...)
	}
	w.found = w.found[:0]
	for _, e := range w.entries {
		for _, t := range e.terms[field] {
			if w.next[t.term] == 0 {
				w.found = append(w.found, sortedTerm{prefix: prefixOf(terms[t.term]), number: t.term})
			}
			w.next[t.term]++
		}
	}
	slices.SortFunc(w.found, func(a, b sortedTerm) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return strings.Compare(terms[a.number], terms[b.number])
	})
	total := uint32(0)
	for i := range w.found {
		t := &w.found[i]
		t.count = w.next[t.number]
		w.next[t.number] = total
		total += t.count
	}
	w.postings = slices.Grow(w.postings[:0], int(total))[:total]
	for n, e := range w.entries {
		length := uint32(e.facts.lengths[field])
		for _, t := range e.terms[field] {
			w.postings[w.next[t.term]] = posting{uint32(n), t.count, length}
			w.next[t.term]++
		}
	}
}

// prefixOf returns the first eight bytes of a term, in the order of terms.
func prefixOf(term string) uint64 {
	var first [8]byte
	copy(first[:], term)
	return binary.BigEndian.Uint64(first[:])
}

// writeExact writes the postings of a field that is never scored: they have
// neither frequency nor length.
func (w *segmentWriter) writeExact(exact func(*entry) []string) error {
	type pair struct {
		term     string
		document uint32
	}
	var pairs []pair
	for n, e := range w.entries {
		for _, term := range exact(e) {
			pairs = append(pairs, pair{term, uint32(n)})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int {
		return cmp.Or(strings.Compare(a.term, b.term), cmp.Compare(a.document, b.document))
	})
	pairs = slices.Compact(pairs)
	for len(pairs) > 0 {
		term := pairs[0].term
		w.postings = w.postings[:0]
		for len(pairs) > 0 && pairs[0].term == term {
			w.postings = append(w.postings, posting{document: pairs[0].document})
			pairs = pairs[1:]
		}
		w.key = append(w.key[:0], term...)
		if err := w.writeTerm(w.postings); err != nil {
			return err
		}
	}
	return nil
}

// writeTerm writes the postings of the term in w.key and puts it into the
// dictionary.
func (w *segmentWriter) writeTerm(list []posting) error {
	if w.brief && len(list) == 1 && list[0].count == 1 {
		return w.builder.Insert(w.key, zap.FSTValEncode1Hit(uint64(list[0].document), uint64(list[0].length)))
	}
	frequencies := len(w.out)
	w.writeFrequencies(list)
	place := len(w.out)
	const noLocations = 0
	w.uvarint(uint64(frequencies), noLocations)
	if err := w.writeDocuments(list); err != nil {
		return err
	}
	return w.builder.Insert(w.key, uint64(place))
}

// writeFrequencies writes how often each document has a term, and how many
// tokens its field has, in chunks of at most 1024 on average.
func (w *segmentWriter) writeFrequencies(list []posting) {
	documents := len(w.entries)
	size := documents / (len(list)/1024 + 1)
	chunks := (documents-1)/size + 1
	w.ends, w.counted = w.ends[:0], w.counted[:0]
	for _, p := range list {
		for int(p.document)/size > len(w.ends) {
			w.ends = append(w.ends, len(w.counted))
		}
		w.counted = binary.AppendUvarint(w.counted, uint64(p.count)<<1) // the lowest bit: it has locations
		if p.count > 0 {
			w.counted = binary.AppendUvarint(w.counted, uint64(p.length))
		}
	}
	for len(w.ends) < chunks {
		w.ends = append(w.ends, len(w.counted))
	}
	w.uvarint(uint64(chunks))
	for _, end := range w.ends {
		w.uvarint(uint64(end))
	}
	w.out = append(w.out, w.counted...)
}

// writeDocuments writes the numbers of the documents that have a term.
func (w *segmentWriter) writeDocuments(list []posting) error {
	w.numbers = w.numbers[:0]
	for _, p := range list {
		w.numbers = append(w.numbers, p.document)
	}
	w.bitmap.Clear()
	w.bitmap.AddMany(w.numbers)
	text, err := w.bitmap.ToBytes()
	w.uvarint(uint64(len(text)))
	w.out = append(w.out, text...)
	return err
}

// writeSections writes where each field is, and returns where the index of that
// is. The sections of other kinds are empty.
func (w *segmentWriter) writeSections(fields []column, places []int) int {
	offsets := make([]int, len(fields))
	kinds := []uint16{zap.SectionInvertedTextIndex, zap.SectionSynonymIndex, zap.SectionGeoShapeV2Index}
	for i, c := range fields {
		offsets[i] = len(w.out)
		w.uvarint(uint64(len(c.name)))
		w.out = append(w.out, c.name...)
		w.uvarint(uint64(c.options), uint64(len(kinds)))
		for _, kind := range kinds {
			place := 0
			if kind == zap.SectionInvertedTextIndex {
				place = places[i]
			}
			w.out = binary.BigEndian.AppendUint16(w.out, kind)
			w.out = binary.BigEndian.AppendUint64(w.out, uint64(place))
		}
	}
	index := len(w.out)
	w.uvarint(uint64(len(fields)))
	for _, offset := range offsets {
		w.out = binary.BigEndian.AppendUint64(w.out, uint64(offset))
	}
	return index
}

// A segmentPlugin is the engine's own for segments, except that it makes new ones
// from entries itself: see segmentWriter.
type segmentPlugin struct {
	zap.ZapPlugin
	writers sync.Pool // of *segmentWriter
}

// usePlugin makes the engine use a segmentPlugin in place of its own, and keepFailure.
// The files are those of its own.
var usePlugin = sync.OnceFunc(func() {
	scorch.RegisterSegmentPlugin(&segmentPlugin{}, true)
	scorch.RegistryAsyncErrorCallbacks[keepFailure] = func(err error, path string) { lastFailures.Store(path, err) }
})

// keepFailure is the name by which engines keep what failed beside any call, in
// lastFailures by their path: the error of a batch that hangs for it says nothing.
const keepFailure = "filebus"

var lastFailures = new(sync.Map)

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

package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	api "github.com/blevesearch/bleve_index_api"
	"github.com/blevesearch/vellum"
	zap "github.com/blevesearch/zapx/v17"

	"filebus/store/record"
)

// An Index is a read-only view of the index. It is safe for concurrent use.
type Index struct {
	engine *engine
	totals totals
	places int                     // document numbers are below it; some are of deleted documents
	before atomic.Pointer[weighed] // by the search before
}

// Open opens the index in dir to search it. The error says why it cannot be
// used: what MustRenew knows, if it is not there, of another store, of another format
// or ErrDamaged; ErrBusy while a writer has it open, or one of the machine.
func Open(dir string, store record.StoreID) (*Index, error) {
	generation, err := currentGeneration(dir, store)
	if err != nil {
		return nil, fmt.Errorf("index in %s: %w", dir, err)
	}
	if err := checkSegments(generation); err != nil {
		return nil, err
	}
	engine, err := openEngine(generation, true)
	if err != nil {
		return nil, err
	}
	totals, err := readTotals(engine)
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	places, err := engine.places()
	if err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	return &Index{engine: engine, totals: totals, places: places}, nil
}

// Position returns the log position up to which the index is complete.
func (x *Index) Position() uint64 { return x.totals.Position }

// Close closes the index. No search may be running.
func (x *Index) Close() error { return x.engine.Close() }

// A factsReader reads what is stored of documents. It is for one goroutine.
type factsReader struct {
	segments []*scorch.SegmentSnapshot
	at       int    // the segment that was read last
	first    uint64 // the number of its first document
}

// read returns the facts of the document with the number n. It is fastest for
// rising numbers, which go through one segment after the other.
func (r *factsReader) read(n uint64) (facts, error) {
	text, _, err := r.find(n)
	if err != nil {
		return facts{}, err
	}
	return decodeFacts(text)
}

// time returns the time of a document, in a third of what read takes.
func (r *factsReader) time(n uint64) (time.Time, error) {
	text, _, err := r.find(n)
	if err != nil {
		return time.Time{}, err
	}
	return decodeTime(text)
}

// name returns the name of a document.
func (r *factsReader) name(n uint64) (string, error) {
	_, name, err := r.find(n)
	return string(name), err
}

// find returns the facts and the name of a document as they lie in the file: see entry.appendStored.
func (r *factsReader) find(n uint64) (facts, name []byte, err error) {
	if n < r.first {
		r.at, r.first = 0, 0
	}
	for r.at < len(r.segments) && n >= r.first+uint64(r.segments[r.at].FullSize()) {
		r.first += uint64(r.segments[r.at].FullSize())
		r.at++
	}
	if r.at == len(r.segments) {
		return nil, nil, errors.New("there is no such document")
	}
	stored, err := r.segments[r.at].Segment().DocID(n - r.first)
	length, size := binary.Uvarint(stored)
	if err == nil && (size <= 0 || length > uint64(len(stored)-size)) {
		err = fmt.Errorf("malformed facts %q of a document", stored)
	}
	if err != nil {
		return nil, nil, err
	}
	return stored[size:][:length], stored[size:][length:], nil
}

// eachPosting calls visit with each document of a segment that has a term in a field, in rising order, how
// often it has it and how many tokens the field has. It reads what segmentWriter and the engine write: the
// engine's reader, which can begin anywhere, takes ten times as long.
func eachPosting(of *scorch.SegmentSnapshot, field, term string, visit func(n uint32, count, length uint64)) error {
	file, ok := of.Segment().(*zap.Segment)
	if !ok {
		return fmt.Errorf("%w: a segment is a %T", ErrDamaged, of.Segment())
	}
	data, deleted := file.Data(), of.Deleted()
	at, err := file.DictAddr(field)
	if err != nil { // no document has the field
		return nil
	}
	next := func() uint64 {
		n, size := binary.Uvarint(data[at:])
		if at += uint64(size); size <= 0 {
			panic("no number")
		}
		return n
	}
	size := next()
	dictionary, err := vellum.Load(data[at:][:size])
	if err != nil {
		return err
	}
	place, known, err := dictionary.Get([]byte(term))
	if err != nil || !known {
		return err
	}
	if place&zap.FSTValEncodingMask == zap.FSTValEncoding1Hit {
		n, length := zap.FSTValDecode1Hit(place)
		if deleted == nil || !deleted.Contains(uint32(n)) {
			visit(uint32(n), 1, length)
		}
		return nil
	}
	at = place
	counts, _ := next(), next() // and locations
	size = next()
	documents := roaring.New()
	if _, err := documents.FromBuffer(data[at:][:size]); err != nil {
		return err
	}
	at = counts
	for range next() { // where each chunk of counts ends
		next()
	}
	data = data[at:]
	for all := documents.Iterator(); all.HasNext(); {
		n := all.Next()
		count, size := binary.Uvarint(data)
		length, more := binary.Uvarint(data[size:])
		if data = data[size+more:]; deleted == nil || !deleted.Contains(n) {
			visit(n, count>>1, length) // the lowest bit: it has locations
		}
	}
	return nil
}

// eachDocument calls visit with the number of each document.
func eachDocument(state *scorch.IndexSnapshot, visit func(n uint64) error) error {
	documents, err := state.DocIDReaderAll()
	if err != nil {
		return err
	}
	defer documents.Close()
	for {
		id, err := documents.Next()
		if err != nil || id == nil {
			return err
		}
		if err := visit(id.Value()); err != nil {
			return err
		}
	}
}

// lengthOf returns the tokens of a field, of which the engine keeps 1/sqrt(length).
func lengthOf(norm float64) float64 { return float64(uint64(1/(norm*norm) + 0.5)) }

// postings calls visit with the number of each document that has term in a
// field, in rising order, with how often it has it and how many tokens the
// field has; zeros where neither is kept.
func postings(ctx context.Context, state *scorch.IndexSnapshot, field, term string, counted bool, visit func(n, frequency uint64, length float64)) error {
	list, err := state.TermFieldReader(ctx, []byte(term), field, counted, counted, false)
	if err != nil {
		return err
	}
	defer list.Close()
	var posting api.TermFieldDoc
	for i := 0; ; i++ {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		next, err := list.Next(posting.Reset())
		if err != nil || next == nil {
			return err
		}
		length := 0.0
		if counted {
			length = lengthOf(next.Norm)
		}
		visit(next.ID.Value(), next.Freq, length)
	}
}

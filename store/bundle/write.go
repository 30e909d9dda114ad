package bundle

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"filebus/store"
	"filebus/store/record"
)

// A Request says what a bundle is made of.
type Request struct {
	Origin record.StoreID // whose log it is; "": the store's own
	After  uint64         // the position before the first entry
	Until  uint64         // that of the last entry; 0: the log's end
	// Picks says which records travel, with their bodies. Nil: all, and the names of those
	// that are destroyed.
	Picks func(*store.Tx, *record.Record, store.Content) bool
	Most  int64 // the bundle ends before it has more bytes than this, but not before its first entry; 0: with the log
	Large int64 // bodies that take more bytes than this travel by themselves; 0: none do
	// Vouch signs that entries of the store's own log, from a position on, pass: see store.Tx.Passes. Nil: none does.
	Vouch func(first uint64, last store.Entry) string
}

// A Written says what Write has written.
type Written struct {
	Origin  record.StoreID  `json:"origin"`
	Before  Place           `json:"before"`
	End     Place           `json:"end"`
	Records int             `json:"records"` // that travel
	Apart   []store.Content `json:"-"`       // bodies that travel by themselves
}

// slice is how long a read transaction takes, sliceBytes how much it takes in.
const (
	slice      = 50 * time.Millisecond
	sliceBytes = 4 << 20
)

type writer struct {
	Written
	Request
	out   *bufio.Writer
	had   map[record.Digest]bool
	names map[uint64]record.Name // of what is destroyed
	at    Place
	size  int64 // of what is written

	first  uint64      // of the entries that pass
	passed store.Entry // for these; of no operation: there are none
	passes bool
	known  map[record.Ref]bool // whose traces are written
}

// An outgoing item is what was read of an entry.
type outgoing struct {
	store.Told
	encoding []byte
	content  store.Content
	file     *os.File // of a large body
	size     int64
	passes   bool
	known    []store.Known
}

// Segment is Write for a piece of a log that is told, in memory, in which entries may pass.
func Segment(ctx context.Context, s *store.Store, request Request) ([]byte, Written, error) {
	var text bytes.Buffer
	w, err := write(ctx, s, &text, request)
	if w.passes {
		copy(text.Bytes()[len(header):], passVersion)
	}
	return text.Bytes(), w.Written, err
}

// Write writes a bundle of all entries behind a position up to the end that the log has by now.
func Write(ctx context.Context, s *store.Store, to io.Writer, request Request) (Written, error) {
	w, err := write(ctx, s, to, request)
	return w.Written, err
}

func write(ctx context.Context, s *store.Store, to io.Writer, request Request) (*writer, error) {
	w := &writer{Request: request, out: bufio.NewWriterSize(to, 1<<16), had: map[record.Digest]bool{}, known: map[record.Ref]bool{}}
	past, err := w.begin(ctx, s)
	if err != nil {
		return w, err
	}
	fmt.Fprintf(w.out, "%s%s\n", header, version)
	w.field("origin", string(w.Written.Origin))
	w.field("origins", past)
	w.field("before", w.Before.String())
	for w.at = w.Before; err == nil && w.at.Position < w.End.Position; {
		var items []outgoing
		if items, err = w.read(ctx, s); len(items) == 0 {
			break
		}
		for _, o := range items {
			if err == nil && w.at.Position < w.End.Position {
				err = cmp.Or(w.item(o), ctx.Err())
			}
			if o.file != nil {
				_ = o.file.Close() // was only read
			}
		}
	}
	w.endPass()
	w.field("end", w.at.String())
	if err == nil && w.at != w.End {
		err = record.Damaged.Errorf("the log is not that of its chain up to position %d", w.End.Position)
	}
	return w, cmp.Or(err, w.out.Flush())
}

// begin finds out where the bundle begins and ends.
func (w *writer) begin(ctx context.Context, s *store.Store) (past string, err error) {
	err = s.View(ctx, func(tx *store.Tx) (err error) {
		w.Written.Origin = cmp.Or(w.Request.Origin, tx.Origin())
		w.Before.Position = tx.KnownPosition(w.Written.Origin, w.After, false)
		past = tx.PastOf(w.Written.Origin)
		w.End.Position, w.End.Chain, err = tx.Heard(w.Written.Origin)
		if err == nil && w.Until > 0 {
			w.End.Position = tx.KnownPosition(w.Written.Origin, w.Until, true)
			w.End.Chain, err = tx.ChainOf(w.Written.Origin, w.End.Position)
		}
		if err == nil {
			w.Before.Chain, err = tx.ChainOf(w.Written.Origin, w.Before.Position)
		}
		if err == nil && w.Picks == nil {
			w.names, err = tx.Destroyed()
		}
		return err
	})
	return past, err
}

func (w *writer) field(key, value string) { fmt.Fprintf(w.out, "%s %d %s\n", key, len(value), value) }

// read reads the next entries, in one transaction. The files of large bodies are opened there: nobody
// can remove them meanwhile.
func (w *writer) read(ctx context.Context, s *store.Store) (items []outgoing, err error) {
	end, size := time.Now().Add(slice), int64(0)
	err = s.View(ctx, func(tx *store.Tx) error {
		if w.Request.Origin == "" && tx.Origin() != w.Written.Origin {
			return record.Conflict.Errorf("the store goes on under another origin since (%s): run it again", tx.Origin())
		}
		for told, err := range tx.LogOf(w.Written.Origin, w.at.Position) {
			if err != nil || told.Position > w.End.Position {
				return err
			}
			o, err := w.outgoing(tx, told)
			items, size = append(items, o), size+o.length()
			if err != nil || o.file != nil || size > sliceBytes || time.Now().After(end) {
				return err
			}
		}
		return nil
	})
	return items, err
}

// outgoing reads what travels of an entry.
func (w *writer) outgoing(tx *store.Tx, told store.Told) (o outgoing, err error) {
	if o.Told = told; w.Vouch != nil && tx.Passes(told.Entry) {
		o.passes = true
		return o, nil
	}
	if t, known := tx.Trace(told.Ref); known && told.Op == store.OpPut && w.Request.Origin != "" {
		o.known = tx.Passed(w.Request.Origin, t, w.known)
	}
	v, err := tx.Get(told.Ref)
	switch {
	case errors.Is(err, store.ErrDropped), errors.Is(err, store.ErrNotFound) && w.Request.Origin != "", told.Op != store.OpPut:
		if told.Op == store.OpDrop {
			if t, known := tx.Trace(told.Ref); known {
				o.Trace = &t
			}
		}
		return o, nil
	case err != nil:
		return o, err
	}
	if o.content, err = tx.Content(v.Record); err != nil || w.Picks != nil && !w.Picks(tx, v.Record, o.content) {
		o.content = store.Content{}
		return o, err
	}
	if o.encoding = tx.Encoding(told.Ref); o.content.IsLarge() && !w.had[v.Record.Body] && w.Large == 0 {
		o.file, o.size, err = o.content.File()
	}
	return o, err
}

// length is about how many bytes an item takes.
func (o outgoing) length() int64 {
	n := 200 + len(o.encoding) + len(o.content.Packed())
	if o.encoding == nil && o.Trace != nil {
		n += len(o.Trace.String())
	}
	for _, known := range o.known {
		n += len(known.String()) + 80
	}
	return int64(n)
}

func (w *writer) item(o outgoing) error {
	if o.passes {
		w.at = Place{o.Position, store.NextChain(w.at.Chain, o.Entry)}
		if w.passed.Op == "" {
			w.first = o.Position
		}
		w.passed = store.Entry{Position: o.Position, Time: o.Time, Op: store.OpPass, Ref: record.Ref(w.at.Chain)}
		return nil
	}
	w.endPass()
	isApart := w.Large > 0 && (o.content.IsLarge() || int64(len(o.content.Packed())) > w.Large)
	length := o.length()
	if isApart && !o.content.IsLarge() {
		length -= int64(len(o.content.Packed()))
	}
	if w.Most > 0 && w.size > 0 && w.size+length > w.Most {
		w.End = w.at
		return nil
	}
	w.size += length
	w.field("entry", string(o.Encode()))
	w.at = Place{o.Position, store.NextChain(w.at.Chain, o.Entry)}
	if o.Trace != nil && o.encoding == nil {
		w.field("trace", o.Trace.String())
	}
	if o.Pass != nil {
		w.pass(*o.Pass)
	}
	for _, known := range o.known {
		w.passes = true
		w.field("known", known.Ref.String()+" "+known.String())
	}
	if name, isKnown := w.names[o.Position]; isKnown && o.encoding == nil {
		w.field("name", name.String())
	}
	if o.encoding == nil {
		return nil
	}
	w.field("record", string(o.encoding))
	if w.Records++; w.had[o.content.Digest] {
		return nil
	}
	w.had[o.content.Digest] = true
	if !isApart || o.content.IsLarge() {
		w.field("body", string(o.content.Packed()))
	}
	if isApart {
		w.field("apart", "")
		w.Apart = append(w.Apart, o.content)
		return nil
	}
	return w.file(o)
}

// endPass writes an entry for those that pass.
func (w *writer) endPass() {
	if w.passed.Op != "" {
		w.field("entry", string(w.passed.Encode()))
		w.pass(store.Pass{First: w.first, Signature: w.Vouch(w.first, w.passed)})
		w.passed = store.Entry{}
	}
}

func (w *writer) pass(p store.Pass) {
	w.passes = true
	w.field("pass", p.String())
}

// file writes the file of a large body.
func (w *writer) file(o outgoing) error {
	if o.file == nil {
		return nil
	}
	fmt.Fprintf(w.out, "file %d ", o.size)
	n, err := io.Copy(w.out, io.LimitReader(o.file, o.size))
	if err == nil && n < o.size {
		err = io.ErrUnexpectedEOF
	}
	return cmp.Or(err, w.out.WriteByte('\n'))
}

// Apart opens a body as it travels by itself, and returns its length.
func Apart(c store.Content) (io.ReadCloser, int64, error) {
	if !c.IsLarge() {
		return io.NopCloser(bytes.NewReader(c.Packed())), int64(len(c.Packed())), nil
	}
	return c.File()
}

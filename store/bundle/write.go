package bundle

import (
	"bufio"
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
	After uint64 // the position before the first entry
	// Picks says which records travel, with their bodies. Nil: all, and the names of those
	// that are destroyed.
	Picks func(*record.Record) bool
}

// A Written says what Write has written.
type Written struct {
	Origin  record.StoreID `json:"origin"`
	Before  Place          `json:"before"`
	End     Place          `json:"end"`
	Records int            `json:"records"` // that travel
}

// slice is how long a read transaction takes, sliceBytes how much it takes in.
const (
	slice      = 50 * time.Millisecond
	sliceBytes = 4 << 20
)

type writer struct {
	Written
	picks func(*record.Record) bool
	out   *bufio.Writer
	had   map[record.Digest]bool
	names map[uint64]record.Name // of what is destroyed
	at    Place
}

// An outgoing item is what was read of an entry.
type outgoing struct {
	store.Entry
	encoding []byte
	content  store.Content
	file     *os.File // of a large body
	size     int64
}

// Write writes a bundle of all entries behind a position up to the end that the log has by now.
func Write(ctx context.Context, s *store.Store, to io.Writer, request Request) (Written, error) {
	w := &writer{picks: request.Picks, out: bufio.NewWriterSize(to, 1<<16), had: map[record.Digest]bool{}}
	past := ""
	err := s.View(ctx, func(tx *store.Tx) (err error) {
		w.Origin, w.End.Position, w.Before.Position, past = tx.Origin(), tx.Position(), request.After, tx.Past()
		if w.End.Chain, err = tx.Chain(w.End.Position); err == nil {
			w.Before.Chain, err = tx.Chain(w.Before.Position)
		}
		if err == nil && w.picks == nil {
			w.names, err = tx.Destroyed()
		}
		return err
	})
	if err != nil {
		return w.Written, err
	}
	fmt.Fprintf(w.out, "%s%s\n", header, version)
	w.field("origin", string(w.Origin))
	w.field("origins", past)
	w.field("before", w.Before.String())
	for w.at = w.Before; err == nil && w.at.Position < w.End.Position; {
		var items []outgoing
		items, err = w.read(ctx, s)
		for _, o := range items {
			if err == nil {
				err = cmp.Or(w.item(o), ctx.Err())
			}
			if o.file != nil {
				_ = o.file.Close() // was only read
			}
		}
	}
	w.field("end", w.at.String())
	if err == nil && w.at != w.End {
		err = record.Damaged.Errorf("the log is not that of its chain up to position %d", w.End.Position)
	}
	return w.Written, cmp.Or(err, w.out.Flush())
}

func (w *writer) field(key, value string) { fmt.Fprintf(w.out, "%s %d %s\n", key, len(value), value) }

// read reads the next entries, in one transaction. The files of large bodies are opened there: nobody
// can remove them meanwhile.
func (w *writer) read(ctx context.Context, s *store.Store) (items []outgoing, err error) {
	end, size := time.Now().Add(slice), 0
	err = s.EachEntry(ctx, w.at.Position+1, func(tx *store.Tx, e store.Entry) (done bool, err error) {
		o := outgoing{Entry: e}
		v, err := tx.Get(e.Ref)
		switch {
		case errors.Is(err, store.ErrDropped), e.Op != store.OpPut:
			err = nil
		case err == nil && (w.picks == nil || w.picks(v.Record)):
			o.encoding = tx.Encoding(e.Ref)
			if o.content, err = tx.Content(v.Record); err == nil && o.content.IsLarge() && !w.had[v.Record.Body] {
				o.file, o.size, err = o.content.File()
			}
		}
		items, size = append(items, o), size+len(o.encoding)+len(o.content.Packed())
		return e.Position == w.End.Position || o.file != nil || size > sliceBytes || time.Now().After(end), err
	})
	return items, err
}

func (w *writer) item(o outgoing) error {
	w.field("entry", string(o.Encode()))
	w.at = Place{o.Position, store.NextChain(w.at.Chain, o.Entry)}
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
	w.field("body", string(o.content.Packed()))
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

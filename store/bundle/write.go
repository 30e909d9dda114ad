package bundle

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	Request
	s     *store.Store
	out   *bufio.Writer
	had   map[record.Digest]bool
	names map[uint64]record.Name // of destroyed content, by the position of its put
	at    Place
}

// An outgoing item is what was read of an entry.
type outgoing struct {
	store.Entry
	encoding []byte
	content  store.Content
}

// Write writes a bundle of all entries behind a position up to the end that the log has by now.
func Write(ctx context.Context, s *store.Store, to io.Writer, request Request) (Written, error) {
	w := &writer{Request: request, s: s, out: bufio.NewWriterSize(to, 1<<16), had: map[record.Digest]bool{}}
	w.names = map[uint64]record.Name{}
	err := s.View(ctx, func(tx *store.Tx) (err error) {
		w.Origin, w.End.Position, w.Before.Position = tx.Origin(), tx.Position(), w.After
		if w.End.Chain, err = tx.Chain(w.End.Position); err == nil {
			w.Before.Chain, err = tx.Chain(w.After)
		}
		return err
	})
	if err == nil && w.Picks == nil {
		err = w.destroyed(ctx)
	}
	fmt.Fprintf(w.out, "%s%s\n", header, version)
	w.field("origin", string(w.Origin))
	w.field("before", w.Before.String())
	for w.at = w.Before; err == nil && w.at.Position < w.End.Position; {
		var items []outgoing
		if items, err = w.read(ctx); err == nil {
			err = w.items(ctx, items)
		}
	}
	w.field("end", w.at.String())
	if err == nil && w.at != w.End {
		err = record.Damaged.Errorf("the log is not that of its chain up to position %d", w.End.Position)
	}
	return w.Written, errors.Join(err, w.out.Flush())
}

func (w *writer) field(key, value string) { fmt.Fprintf(w.out, "%s %d %s\n", key, len(value), value) }

// destroyed finds the names of puts whose content is destroyed: a log that is played again needs
// them to know what was retired.
func (w *writer) destroyed(ctx context.Context) error {
	var from record.Name
	for isOver := false; !isOver; {
		err := w.s.View(ctx, func(tx *store.Tx) error {
			end := time.Now().Add(slice)
			for name, err := range tx.NamesEver(from) {
				if from = name; err != nil || time.Now().After(end) {
					return err
				}
				events, err := tx.History(name)
				for _, e := range events {
					if e.Change == store.ChangeDrop {
						w.names[e.Position] = name
					}
				}
				if err != nil {
					return err
				}
			}
			isOver = true
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// read reads the next entries, in a transaction that is short.
func (w *writer) read(ctx context.Context) (items []outgoing, err error) {
	err = w.s.View(ctx, func(tx *store.Tx) error {
		end, size := time.Now().Add(slice), 0
		for e, err := range tx.Log(w.at.Position + 1) {
			if err != nil || e.Position > w.End.Position || size > sliceBytes || len(items) > 0 && time.Now().After(end) {
				return err
			}
			o := outgoing{Entry: e}
			v, err := tx.Get(e.Ref)
			if errors.Is(err, store.ErrDropped) || e.Op != store.OpPut {
				err = nil
			} else if err == nil && (w.Picks == nil || w.Picks(v.Record)) {
				o.encoding = tx.Encoding(e.Ref)
				o.content, err = tx.Content(v.Record)
			}
			if err != nil {
				return err
			}
			items, size = append(items, o), size+len(o.encoding)+len(o.content.Packed())
		}
		return nil
	})
	return items, err
}

func (w *writer) items(ctx context.Context, items []outgoing) error {
	for _, o := range items {
		w.field("entry", string(o.Encode()))
		w.at = Place{o.Position, store.NextChain(w.at.Chain, o.Entry)}
		name, isKnown := w.names[o.Position]
		var err error
		switch {
		case o.encoding != nil:
			err = w.record(ctx, o)
		case isKnown && o.Op == store.OpPut:
			w.field("name", name.String())
		}
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// record writes a record, and its body if it was not written yet.
func (w *writer) record(ctx context.Context, o outgoing) error {
	digest, isNew := o.content.Digest, !w.had[o.content.Digest]
	var file *os.File
	var size int64
	if isNew && o.content.IsLarge() {
		var err error
		if file, size, err = o.content.File(); err != nil {
			return w.wasDropped(ctx, o, err)
		}
		defer func() { _ = file.Close() }() // was only read
	}
	w.field("record", string(o.encoding))
	if w.Records++; !isNew {
		return nil
	}
	w.had[digest] = true
	w.field("body", string(o.content.Packed()))
	if file == nil {
		return nil
	}
	fmt.Fprintf(w.out, "file %d ", size)
	n, err := io.Copy(w.out, io.LimitReader(file, size))
	if err == nil && n < size {
		err = io.ErrUnexpectedEOF
	}
	return errors.Join(err, w.out.WriteByte('\n'))
}

// wasDropped leaves an entry alone whose large body is gone since it was read, if it was dropped.
func (w *writer) wasDropped(ctx context.Context, o outgoing, missing error) error {
	err := w.s.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Get(o.Ref)
		return err
	})
	if errors.Is(err, store.ErrDropped) {
		return nil
	}
	if errors.Is(missing, fs.ErrNotExist) {
		missing = record.Damaged.Errorf("the file of the body %s is missing", o.content.Digest)
	}
	return errors.Join(err, missing)
}

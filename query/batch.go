package query

import (
	"context"
	"errors"
	"iter"

	"filebus/index"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// indexedText is how much of a body is searched, in bytes: the beginning.
const indexedText = 1 << 20

// A batch is a run of log entries on its way into the index.
type batch struct {
	position uint64 // of its last entry
	size     int    // bytes of text, about
	changes  []index.Change
	contents []store.Content // parallel to changes; zero for deletions
	unknown  uint64          // the last entry about a record that is gone, with its name
}

// gather reads the log after a position until it has about size bytes of text,
// or has reached the end.
func (c *catchUp) gather(ctx context.Context, after uint64, size int) (*batch, error) {
	b := &batch{position: after}
	entries := func(tx *store.Tx) iter.Seq2[store.Entry, error] { return tx.Log(b.position + 1) }
	err := eachFrom(ctx, c.Reader, entries, func(tx *store.Tx, e store.Entry) (bool, error) {
		if err := b.add(tx, e, c.end); err != nil {
			return false, err
		}
		b.position = e.Position
		return e.Position == c.end || b.size >= size || len(b.changes) >= maxChanges, nil
	})
	return b, err
}

// add takes one entry in. The index has the heads of names, so only the entry
// that made a head gives a document; that of a head newer than end counts too,
// or its name would be found by neither version. A conflict version is never a
// head, so it changes nothing.
func (b *batch) add(tx *store.Tx, e store.Entry, end uint64) error {
	v, err := tx.Get(e.Ref)
	if errors.Is(err, store.ErrDropped) {
		if e.Op != store.OpPut {
			b.unknown = e.Position
		}
		return nil
	}
	if err != nil {
		return err
	}
	head, isHead, err := tx.Last(v.Record.Name)
	switch {
	case errors.Is(err, store.ErrNotFound), err == nil && !isHead:
		b.changes = append(b.changes, index.Change{Name: v.Record.Name})
		b.contents = append(b.contents, store.Content{})
		return nil
	case err != nil:
		return err
	case head.Position != e.Position && head.Position <= end:
		return nil // its own entry brings it, or has brought it
	}
	content, err := contentOf(tx, head)
	if err != nil {
		return err
	}
	b.size += int(min(head.Record.Size, indexedText))
	change := index.Change{Name: head.Record.Name, Document: document(head, tx.Description(head.Ref))}
	if head.Record.Prev.IsZero() {
		change.Since, err = tx.Since(head.Record.Name)
	}
	b.changes, b.contents = append(b.changes, change), append(b.contents, content)
	return err
}

// contentOf returns the body of a version. One that is missing is damage to a
// single record, as one with other bytes: whoever reads it is told.
func contentOf(tx *store.Tx, v store.Version) (store.Content, error) {
	content, err := tx.Content(v.Record)
	if errors.Is(err, store.ErrDamaged) {
		return store.Content{Digest: v.Record.Body, Size: v.Record.Size}, nil
	}
	return content, err
}

// headOf reads the part of a body that is searched, as its path says that people read it; of a frame what stands around
// its entries. A damaged body is no reason
// to answer nothing about all others: its record is found by its title, preview
// and tags, and verify reports it. Nor is one that was destroyed meanwhile.
func headOf(content store.Content, path string) (text []byte, damaged bool, err error) {
	text, err = content.Head(indexedText)
	if damaged = errors.Is(err, store.ErrDamaged); damaged || errors.Is(err, store.ErrDropped) {
		return nil, damaged, nil
	}
	return layout.Readable(path, record.AroundEntries(text)), false, err
}

// read reads the texts of the documents, outside of any transaction.
func (b *batch) read() error {
	return parallel(len(b.changes), func(i int) (err error) {
		if d := b.changes[i].Document; d != nil {
			d.Text, _, err = headOf(b.contents[i], d.Path)
		}
		return err
	})
}

// document is what the index gets of a head, but for its text.
func document(v store.Version, d record.Description) *index.Document {
	return &index.Document{
		Record: *v.Record, Position: v.Position, Title: d.Title, Preview: d.Preview, Quiet: isPrompt(d),
	}
}

// isPrompt reports whether a record is what an agent was asked: it repeats what
// its answer says and is found only when its kind is asked for.
func isPrompt(d record.Description) bool { return d.Attributes[layout.AttributePart] == "prompt" }

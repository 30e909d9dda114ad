package store

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"

	"filebus/store/record"
)

// Encoding returns the encoding of a record, of which its ref is the digest; nil if there is none.
func (tx *Tx) Encoding(ref record.Ref) []byte {
	return bytes.Clone(tx.encoding(ref))
}

// IsDropped reports whether the content of a record was destroyed.
func (tx *Tx) IsDropped(ref record.Ref) bool { return tx.dropped.Get(ref[:]) != nil }

// HasBody reports whether a record has a body.
func (tx *Tx) HasBody(digest record.Digest) bool { return tx.body(digest) != nil }

// Packed returns the body as it stands in the database: codec byte and data.
func (c Content) Packed() []byte { return c.packed }

// File opens the file of a large body as it is, and returns its size. Nothing is verified.
func (c Content) File() (*os.File, int64, error) {
	file, err := c.openFile()
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

// IsFile reports whether a packed body is followed by a file of its own.
func IsFile(packed []byte) bool { return isFile(packed) }

// Receive verifies the body of a record of another store: as it stood in the database there,
// and the bytes of its file, if it is large. It returns the body, to be put if keep is set, with
// the beginning of its text.
func (s *Store) Receive(ctx context.Context, r *record.Record, packed []byte, file io.Reader, keep bool) (b Body, head []byte, err error) {
	c := Content{r.Body, r.Size, s, packed, nil}
	b = Body{Digest: r.Body, Size: r.Size, packed: packed}
	if !c.IsLarge() {
		if head, err = c.Bytes(); err == nil && int64(len(head)) != r.Size {
			err = damaged("body %s has %d bytes, not %d", r.Body, len(head), r.Size)
		}
		return b, head, err
	}
	read := func(file io.Reader) (err error) {
		text, err := c.readerOf(io.NopCloser(file), packed[1:])
		if err != nil {
			return err
		}
		if head, err = io.ReadAll(io.LimitReader(text, InlineLimit)); err == nil {
			_, err = io.Copy(io.Discard, contextReader{ctx, text})
		}
		return errors.Join(err, text.Close())
	}
	if !keep {
		err = read(file)
		return b, head, err
	}
	body, err := s.inFile(ctx, func(tmp *os.File) (Body, error) {
		return b, errors.Join(read(io.TeeReader(file, tmp)), tmp.Sync())
	})
	return body, head, err
}

// Destroyed returns the names of the records whose content is destroyed, by the positions of their puts.
func (tx *Tx) Destroyed() (map[uint64]record.Name, error) {
	names := map[uint64]record.Name{}
	err := tx.history.ForEach(func(key, value []byte) error {
		name, e, err := decodeHistory(key, value)
		if e.Change == ChangeDrop {
			names[e.Position] = name
		}
		return err
	})
	return names, err
}

package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/zstd"

	"filebus/store/record"
)

// A large body is verified in chunks, before any of their bytes is handed out.
// What is compared after each is the digest of the text from its beginning: so
// the digest of the whole costs no second pass, and needs no mark of its own.
const (
	chunkSize = 1 << 20
	markSize  = 16      // bytes that are kept of each of these digests
	maxWindow = 8 << 20 // of a zstd stream, as that format's documents advise; ours is 1 MiB
)

// A marker hashes a text and notes the mark of each chunk that others follow.
type marker struct {
	hash.Hash
	size  int64
	marks []byte
}

func newMarker() *marker { return &marker{Hash: sha256.New()} }

// Write never fails.
func (m *marker) Write(text []byte) (int, error) {
	for rest := text; len(rest) > 0; {
		if m.size%chunkSize == 0 && m.size > 0 {
			m.marks = m.Sum(m.marks)[:len(m.marks)+markSize]
		}
		n := min(int64(len(rest)), chunkSize-m.size%chunkSize)
		m.Hash.Write(rest[:n])
		m.size += n
		rest = rest[n:]
	}
	return len(text), nil
}

// check returns ErrDamaged if what was hashed is not the content.
func (m *marker) check(c Content) error {
	if m.size != c.Size || record.Digest(m.Sum(nil)) != c.Digest {
		return damaged("body %s does not have its digest", c.Digest)
	}
	return nil
}

// marks returns the marks of a large body. One that was stored without them is
// read through for them, which verifies it.
func (c Content) marks() ([]byte, error) {
	marks := c.packed[1:]
	if c.packed[0] == codecMarked {
		if int64(len(marks)) != max(0, c.Size-1)/chunkSize*markSize {
			return nil, damaged("body %s: its chunk digests are not those of %d bytes", c.Digest, c.Size)
		}
		return marks, nil
	}
	if len(marks) > 0 {
		return nil, damaged("body %s: bytes behind its codec", c.Digest)
	}
	file, z, err := c.openFile()
	if err != nil {
		return nil, err
	}
	m := newMarker()
	_, err = io.Copy(m, z)
	z.Close()
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, damaged("body %s: %w", c.Digest, err)
	}
	return m.marks, m.check(c)
}

// openFile opens the file of a large body. Whatever stands there in place of a
// file is damage, and never waited for.
func (c Content) openFile() (*os.File, *zstd.Decoder, error) {
	path := c.store.bodyFile(c.Digest)
	if info, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil, damaged("body %s: its file is missing", c.Digest)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	z, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, z, nil
}

// openLarge returns a reader that verifies each chunk before it hands out its bytes.
func (c Content) openLarge() (io.ReadCloser, error) {
	marks, err := c.marks()
	if err != nil {
		return nil, err
	}
	file, z, err := c.openFile()
	if err != nil {
		return nil, err
	}
	return &largeReader{content: c, marks: marks, file: file, decoder: z, hashed: newMarker()}, nil
}

type largeReader struct {
	content Content
	marks   []byte
	file    *os.File
	decoder *zstd.Decoder
	hashed  *marker
	chunk   []byte // room for one
	ready   []byte // bytes of the chunk that are verified, and not read yet
	err     error  // when these are read
}

func (r *largeReader) Read(p []byte) (int, error) {
	if len(r.ready) == 0 && r.err == nil {
		r.err = r.next()
	}
	n := copy(p, r.ready)
	r.ready = r.ready[n:]
	if n > 0 || len(p) == 0 {
		return n, nil
	}
	return 0, r.err
}

// next makes the next chunk ready. Its error is io.EOF with the last one.
func (r *largeReader) next() error {
	size := min(chunkSize, r.content.Size-r.hashed.size)
	if r.chunk == nil {
		r.chunk = make([]byte, size)
	}
	n, err := io.ReadFull(r.decoder, r.chunk[:size])
	r.hashed.Write(r.chunk[:n])
	if err != nil {
		return damaged("body %s: %w", r.content.Digest, err)
	}
	if r.hashed.size == r.content.Size {
		if err := r.hashed.check(r.content); err != nil {
			return err
		}
		if n, err := r.decoder.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) {
			return damaged("body %s does not end where it should: %w", r.content.Digest, errors.Join(err))
		}
		r.ready = r.chunk[:size]
		return io.EOF
	}
	at := (r.hashed.size/chunkSize - 1) * markSize
	if !bytes.Equal(r.hashed.Sum(nil)[:markSize], r.marks[at:at+markSize]) {
		return damaged("body %s does not have its digest", r.content.Digest)
	}
	r.ready = r.chunk[:size]
	return nil
}

func (r *largeReader) Close() error {
	r.decoder.Close()
	return r.file.Close()
}

// Verify reads the whole body, and returns ErrDamaged if it is not what was stored.
func (c Content) Verify(ctx context.Context) error {
	r, err := c.Open()
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, contextReader{ctx, r})
	return errors.Join(err, r.Close())
}

package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"github.com/klauspost/compress/zstd"

	"filebus/store/folder"
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

// openLarge returns a reader of a large body. One that was stored without marks is
// read through for them before.
func (c Content) openLarge() (io.ReadCloser, error) {
	marks := c.packed[1:]
	if c.packed[0] == codecFile {
		first, err := c.readThrough(context.Background())
		if err != nil {
			return nil, err
		}
		marks = first.hashed.marks
	}
	return c.reader(marks)
}

// readThrough verifies a large body.
func (c Content) readThrough(ctx context.Context) (*largeReader, error) {
	r, err := c.reader(c.packed[1:])
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, contextReader{ctx, r})
	return r, errors.Join(err, r.Close())
}

// reader returns a reader that compares these marks, if there are any.
func (c Content) reader(marks []byte) (*largeReader, error) {
	file, err := c.openFile()
	if err != nil {
		return nil, err
	}
	return c.readerOf(file, marks)
}

// openFile opens the file of a large body. Inside a transaction nobody can remove it.
func (c Content) openFile() (file *os.File, err error) {
	file, err = c.store.own.Open(bodyFile(c.Digest))
	if !errors.Is(err, fs.ErrNotExist) {
		return file, err
	}
	if c.from == nil || !c.from.isOver.Load() {
		return nil, bodyDamaged("body %s: its file is missing", c.Digest)
	}
	err = c.store.View(context.Background(), func(tx *Tx) error {
		if c.from = tx; !tx.HasBody(c.Digest) {
			return fmt.Errorf("body %s: %w", c.Digest, ErrDropped)
		}
		file, err = c.openFile()
		return err
	})
	return file, err
}

// readerOf returns a reader of a large body whose file has been opened.
func (c Content) readerOf(file io.ReadCloser, marks []byte) (*largeReader, error) {
	want := int64(0)
	if c.packed[0] == codecMarked {
		want = max(0, c.Size-1) / chunkSize * markSize
	}
	if int64(len(c.packed)) != 1+want {
		return nil, errors.Join(file.Close(), bodyDamaged("body %s: its chunk digests are not those of %d bytes", c.Digest, c.Size))
	}
	z, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return &largeReader{content: c, marks: marks, file: file, decoder: z, hashed: marker{Hash: sha256.New()}}, nil
}

type largeReader struct {
	content Content
	marks   []byte
	file    io.ReadCloser
	decoder *zstd.Decoder
	hashed  marker
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
func (r *largeReader) next() (end error) {
	c, size := r.content, min(chunkSize, r.content.Size-r.hashed.size)
	if r.chunk == nil {
		r.chunk = make([]byte, size)
	}
	n, err := io.ReadFull(r.decoder, r.chunk[:size])
	r.hashed.Write(r.chunk[:n])
	if err != nil {
		return bodyDamaged("body %s: %w", c.Digest, err)
	}
	digest := record.Digest(r.hashed.Sum(nil))
	if r.hashed.size == c.Size {
		if n, err = r.decoder.Read(make([]byte, 1)); n > 0 || !errors.Is(err, io.EOF) || digest != c.Digest {
			return bodyDamaged("body %s does not have its digest", c.Digest)
		}
		end = io.EOF
	} else if at := (r.hashed.size/chunkSize - 1) * markSize; len(r.marks) > 0 && !bytes.Equal(digest[:markSize], r.marks[at:at+markSize]) {
		return bodyDamaged("body %s does not have its digest", c.Digest)
	}
	r.ready = r.chunk[:size]
	return end
}

func (r *largeReader) Close() error {
	r.decoder.Close()
	return r.file.Close()
}

// Holds reports whether what is stored is whole, and as a put of the same text would
// store it: a text that is in memory, or a large one that was prepared.
func (c Content) Holds(text []byte, prepared Body) bool {
	if prepared.file != "" {
		found, err := c.hasFile()
		return found && err == nil && !prepared.broken && bytes.Equal(c.packed, prepared.packed)
	}
	if c.store == nil || c.IsLarge() { // it is missing, or its codec damaged
		return false
	}
	stored, err := c.store.Unpack(c.packed)
	return err == nil && bytes.Equal(stored, text)
}

// hasFile reports whether a large body has its file.
func (c Content) hasFile() (bool, error) {
	_, err := c.store.own.Stat(bodyFile(c.Digest))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, folder.ErrForeign) {
		return false, nil
	}
	return err == nil, err
}

// Verify reads the whole body, and returns ErrDamaged if it is not what was stored.
func (c Content) Verify(ctx context.Context) (err error) {
	if c.IsLarge() {
		_, err = c.readThrough(ctx)
	} else {
		_, err = c.Bytes()
	}
	return err
}

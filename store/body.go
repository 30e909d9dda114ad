package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"filebus/store/folder"
	"filebus/store/record"
)

// InlineLimit is the size in bytes up to which a body lives in the database;
// larger ones are files.
const InlineLimit = 1 << 20

// The codecs: the first byte of a stored body says how the rest is to be read.
const (
	codecRaw  = 0 // the bytes themselves
	codecZstd = 1 // one zstd frame
	// The bytes are in the file bodies/ab/<digest>.zst.
	codecFile   = 2 // nothing follows; as schema 1 wrote it
	codecMarked = 3 // the marks of its chunks
)

// LongBodies returns how many bodies of more than 1 MiB there are, those of older versions included.
func (s *Store) LongBodies() (n int) {
	_ = s.own.Walk(bodiesDir, func(name string, _ fs.DirEntry) error { // what cannot be read is not searched either
		if strings.HasSuffix(name, bodySuffix) {
			n++
		}
		return nil
	})
	return n
}

// bodySuffix ends the names of the files of large bodies.
const bodySuffix = ".zst"

// smallest is the size in bytes below which compression does not pay.
const smallest = 300

// A Body is a text prepared for a put: hashed, compressed and, if it is large,
// written to a temporary file, all before the lock is taken. A Body may be put
// several times.
type Body struct {
	Digest record.Digest
	Size   int64 // in bytes

	packed []byte // codec and data
	file   string // the temporary file of a large body, below own
	broken bool   // another file of it was there, and damaged
	isKept bool   // its bytes are stored already, and are not looked at
	own    folder.Folder
}

// BodyOf returns the body that a stored record has, to be put with another one as it is:
// nothing of it is read, and damage stays.
func BodyOf(r *record.Record) Body { return Body{Digest: r.Body, Size: r.Size, isKept: true} }

// Prepare prepares a body that is in memory.
func (s *Store) Prepare(ctx context.Context, text []byte) (Body, error) {
	if len(text) > InlineLimit {
		return s.PrepareReader(ctx, bytes.NewReader(text))
	}
	return Body{Digest: record.DigestOf(text), Size: int64(len(text)), packed: s.Pack(text)}, nil
}

// PrepareReader prepares a body of any size in flat memory. Call Discard when
// the body was put or is not wanted.
func (s *Store) PrepareReader(ctx context.Context, r io.Reader) (Body, error) {
	// An error that wraps io.ErrUnexpectedEOF is one of the source, a damaged body
	// for instance, and not the end of the text.
	head, err := io.ReadAll(io.LimitReader(contextReader{ctx, r}, InlineLimit+1))
	if err != nil {
		return Body{}, fmt.Errorf("reading body: %w", err)
	}
	if len(head) <= InlineLimit {
		return s.Prepare(ctx, head)
	}
	s.sweepTemporary()
	return s.inFile(ctx, func(tmp *os.File) (Body, error) {
		return writeLarge(ctx, tmp, io.MultiReader(bytes.NewReader(head), r))
	})
}

// Hold returns a text that can be read again, until release is called: a file as it is, and
// what is too long for memory from a temporary one.
func (s *Store) Hold(ctx context.Context, r io.Reader) (text *io.SectionReader, release func(), err error) {
	release = func() {}
	switch r := r.(type) {
	case *io.SectionReader:
		return r, release, nil
	case *os.File:
		if info, err := r.Stat(); err == nil && info.Mode().IsRegular() && info.Size() > 0 { // else the system makes it up
			return io.NewSectionReader(r, 0, info.Size()), release, nil
		}
	}
	head, err := io.ReadAll(io.LimitReader(contextReader{ctx, r}, InlineLimit+1))
	if err != nil || len(head) <= InlineLimit {
		return io.NewSectionReader(bytes.NewReader(head), 0, int64(len(head))), release, err
	}
	tmp, name, err := s.temporary()
	if err != nil {
		return nil, release, err
	}
	release = func() { _ = errors.Join(tmp.Close(), s.own.Remove(name)) } // else it is swept later
	n, err := io.Copy(tmp, io.MultiReader(bytes.NewReader(head), contextReader{ctx, r}))
	return io.NewSectionReader(tmp, 0, n), release, err
}

// inFile makes a large body of a temporary file that write has written.
func (s *Store) inFile(ctx context.Context, write func(tmp *os.File) (Body, error)) (Body, error) {
	tmp, name, err := s.temporary()
	if err != nil {
		return Body{}, fmt.Errorf("storing body: %w", err)
	}
	body, err := write(tmp)
	if err = errors.Join(err, tmp.Close()); err != nil {
		return Body{}, fmt.Errorf("storing body: %w", errors.Join(err, s.own.Remove(name)))
	}
	body.own, body.file = s.own, name
	stored := Content{body.Digest, body.Size, s, body.packed, nil}
	found, err := stored.hasFile()
	body.broken = err == nil && found && errors.Is(stored.Verify(ctx), ErrDamaged)
	return body, nil
}

// temporary makes a file that is swept if it stays. A copy of a store that left
// empty folders out has none for it.
func (s *Store) temporary() (*os.File, string, error) {
	if err := s.own.Make(tmpDir); err != nil {
		return nil, "", err
	}
	return s.own.CreateTemp(tmpDir)
}

func writeLarge(ctx context.Context, tmp *os.File, r io.Reader) (Body, error) {
	z, err := zstd.NewWriter(tmp, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return Body{}, err
	}
	m := marker{Hash: sha256.New()}
	n, err := io.Copy(io.MultiWriter(z, &m), contextReader{ctx, r})
	if err = errors.Join(err, z.Close(), tmp.Sync()); err != nil {
		return Body{}, err
	}
	return Body{Digest: record.Digest(m.Sum(nil)), Size: n, packed: append([]byte{codecMarked}, m.marks...)}, nil
}

// WithContext returns a reader that ends with the error of a context.
func WithContext(ctx context.Context, r io.Reader) io.Reader { return contextReader{ctx, r} }

type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}

// Discard removes what a large body left in the temporary folder. It may be
// called after a put, and for any Body.
func (b Body) Discard() error {
	if b.file == "" {
		return nil
	}
	return b.own.RemoveAll(b.file)
}

// sweepTemporary removes what killed processes left a day ago.
func (s *Store) sweepTemporary() {
	old := s.opts.Now().Add(-24 * time.Hour)
	entries, err := s.own.ReadDir(tmpDir)
	if err != nil {
		return // the write that follows says what is wrong
	}
	for _, e := range entries {
		// What was made before all temporary files had names of one form.
		digits, isBody := strings.CutPrefix(e.Name(), "body-")
		isOurs := folder.IsTemporary(e.Name()) || isBody && strings.Trim(digits, "0123456789") == ""
		if info, err := e.Info(); isOurs && err == nil && info.Mode().IsRegular() && info.ModTime().Before(old) {
			_ = s.own.Remove(path.Join(tmpDir, e.Name())) // another sweep may have been first
		}
	}
}

// encoder returns a compressor for one text. The one that was used last is the
// cheapest: its tables, of a megabyte, are in memory.
func (s *Store) encoder() *zstd.Encoder {
	if used, ok := s.encoders.Get().(*zstd.Encoder); ok {
		return used
	}
	// The options are constant and valid, so the call cannot fail.
	made, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	return made
}

// startDecoder makes the decompressor when it is first needed: a command that only
// looks at names never pays for it.
func (s *Store) startDecoder() {
	s.decoder.Do(func() {
		// The options are constant and valid, so the call cannot fail.
		s.decode, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(4*InlineLimit))
	})
}

// Pack returns codec and data: compressed if that is smaller.
func (s *Store) Pack(text []byte) []byte {
	if len(text) >= smallest {
		encoder := s.encoder()
		packed := encoder.EncodeAll(text, append(make([]byte, 0, len(text)/2+64), codecZstd))
		s.encoders.Put(encoder)
		if len(packed) < len(text) {
			return packed
		}
	}
	return append(append(make([]byte, 0, len(text)+1), codecRaw), text...)
}

// Unpack reads what Pack wrote. It returns a slice of its own.
func (s *Store) Unpack(packed []byte) ([]byte, error) {
	if len(packed) == 0 {
		return nil, errors.New("no codec")
	}
	switch packed[0] {
	case codecRaw:
		return bytes.Clone(packed[1:]), nil
	case codecZstd:
		s.startDecoder()
		return s.decode.DecodeAll(packed[1:], nil)
	}
	return nil, fmt.Errorf("unknown codec %d", packed[0])
}

// bodyFile returns the name of the file of a large body.
func bodyFile(digest record.Digest) string {
	hex := digest.String()
	return path.Join(bodiesDir, hex[:2], hex+bodySuffix)
}

// A Content gives the bytes of a stored body. It remains valid after its transaction: a large
// body that is destroyed before it is opened is ErrDropped then.
type Content struct {
	Digest record.Digest
	Size   int64

	store  *Store
	packed []byte
	from   *Tx // that it was read in; nil: in none, or in one that writes
}

// Content returns the body of a record, or ErrDropped if it was destroyed since the
// record was read. The bytes are verified when they are read, outside the
// transaction.
func (tx *Tx) Content(r *record.Record) (Content, error) {
	packed := tx.body(r.Body)
	if packed == nil {
		if ref := r.Ref(); tx.dropped.Get(ref[:]) != nil {
			return Content{}, fmt.Errorf("record %s of %s: %w", ref.Short(), r.Name, ErrDropped)
		}
		return Content{}, bodyDamaged("the body %s of %s is missing", r.Body, r.Name)
	}
	return Content{r.Body, r.Size, tx.store, bytes.Clone(packed), tx}, nil
}

// IsLarge reports whether the body is a file of its own, to be streamed.
func (c Content) IsLarge() bool { return isFile(c.packed) }

func isFile(packed []byte) bool {
	return len(packed) > 0 && (packed[0] == codecFile || packed[0] == codecMarked)
}

// Bytes returns the whole body, or ErrDamaged.
func (c Content) Bytes() ([]byte, error) {
	if c.IsLarge() {
		return c.Head(math.MaxInt64)
	}
	text, err := c.store.Unpack(c.packed)
	if err != nil {
		return nil, bodyDamaged("body %s: %w", c.Digest, err)
	}
	if record.DigestOf(text) != c.Digest {
		return nil, bodyDamaged("body %s does not have its digest", c.Digest)
	}
	return text, nil
}

// Head returns at most the first n bytes, for looking at the beginning of a
// body of any size.
func (c Content) Head(n int64) ([]byte, error) {
	if !c.IsLarge() {
		text, err := c.Bytes()
		return text[:min(n, int64(len(text)))], err
	}
	r, err := c.Open()
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(r, n))
	return text, errors.Join(err, r.Close())
}

// Open returns a reader of the body. It hands out only what is verified, of a
// large body chunk by chunk: ErrDamaged comes in place of the first byte that is
// wrong. So whoever wants the whole must read to the end before using any of it.
func (c Content) Open() (io.ReadCloser, error) {
	if c.IsLarge() {
		return c.openLarge()
	}
	text, err := c.Bytes()
	if err != nil {
		return nil, err
	}
	return io.NopCloser(bytes.NewReader(text)), nil
}

// keepBody stores a prepared body, or counts one more use of it. A large one is
// renamed into place before the commit: the worst a crash leaves is a file that
// nothing refers to. It lies at the position of the first record that has it.
func (tx *Tx) keepBody(b Body, position uint64) (healed bool, err error) {
	if tx.HasBody(b.Digest) {
		healed, err = tx.heal(b, position)
		return healed, errors.Join(err, tx.addUse(b.Digest, 1))
	}
	if b.isKept {
		return false, damaged("body %s is missing", b.Digest)
	}
	if b.file != "" {
		if err := tx.store.placeLarge(b); err != nil {
			return false, err
		}
		// An earlier drop in this transaction must not take the file away.
		name := bodyFile(b.Digest)
		tx.released = slices.DeleteFunc(tx.released, func(other string) bool { return other == name })
	}
	return false, tx.setBody(b, position)
}

// heal puts a prepared body in the place of what is stored of it, if that is
// damaged or lost, and reports whether it was. Chunk digests that schema 1 did
// not write are added. A lost one comes to the position of a record that has it.
func (tx *Tx) heal(b Body, position uint64) (bool, error) {
	if b.isKept {
		return false, nil
	}
	stored := Content{b.Digest, b.Size, tx.store, tx.body(b.Digest), nil}
	same := bytes.Equal(stored.packed, b.packed)
	if b.file == "" {
		// That is dear, and rare: another compressor may have made it.
		if same || stored.Verify(context.Background()) == nil {
			return false, nil
		}
		return true, tx.setBody(b, position)
	}
	whole, err := stored.hasFile()
	whole = whole && !b.broken
	if whole && same || err != nil {
		return false, err
	}
	if !whole {
		if err := tx.store.placeLarge(b); err != nil {
			return false, err
		}
	}
	return !whole || !bytes.Equal(stored.packed, []byte{codecFile}), tx.setBody(b, position)
}

func (s *Store) placeLarge(b Body) error {
	name := bodyFile(b.Digest)
	dir := path.Dir(name)
	if err := s.own.Make(dir); err != nil {
		return fmt.Errorf("storing body: %w", err)
	}
	// A file that is there already is damaged or was left by a crash; ours was
	// just hashed. A Body that is put a second time has no file any more.
	if _, err := s.own.Stat(name); errors.Is(err, folder.ErrForeign) {
		_ = s.own.Remove(name) // a link, not what it leads to; else the rename says what is wrong
	}
	err := s.own.Rename(b.file, name)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = s.own.Stat(name)
	}
	if err != nil {
		return fmt.Errorf("storing body: %w", err)
	}
	return errors.Join(s.own.Sync(dir), s.own.Sync(bodiesDir))
}

// uses counts the records that have a body. A body that only one has, as most,
// has no entry.
func (tx *Tx) useCount(digest record.Digest) (uint64, error) {
	value := tx.uses.Get(digest[:])
	if value == nil {
		return 1, nil
	}
	if len(value) != positionSize || readPosition(value) < 2 {
		return 0, damaged("malformed use count of body %s", digest)
	}
	return readPosition(value), nil
}

func (tx *Tx) addUse(digest record.Digest, n int64) error {
	count, err := tx.useCount(digest)
	if err != nil {
		return err
	}
	if count = uint64(int64(count) + n); count < 2 {
		return tx.uses.Delete(digest[:])
	}
	return tx.uses.Put(digest[:], appendPosition(nil, count))
}

// releaseBody takes one use of a body away, and the body with the last.
func (tx *Tx) releaseBody(digest record.Digest) error {
	count, err := tx.useCount(digest)
	if err != nil {
		return err
	}
	if count > 1 {
		return tx.addUse(digest, -1)
	}
	position, packed := tx.findBody(digest)
	if packed == nil {
		return nil
	}
	if isFile(packed) {
		tx.released = append(tx.released, bodyFile(digest))
	}
	return errors.Join(tx.bodies.Delete(appendPosition(nil, position)), tx.digests.remove(digest, position))
}

// findBody returns where a body lies, and codec and data; nil: it is not here.
func (tx *Tx) findBody(digest record.Digest) (position uint64, packed []byte) {
	if tx.schema < schemaOrdered {
		return 0, tx.bodies.Get(digest[:])
	}
	return tx.digests.lookUp(tx.bodies, digest[:], tx.likely)
}

func (tx *Tx) body(digest record.Digest) []byte {
	_, packed := tx.findBody(digest)
	return packed
}

// setBody stores a body in place of what is stored of it, or, if that is lost, where it was, or at a position.
func (tx *Tx) setBody(b Body, position uint64) error {
	if at, packed := tx.findBody(b.Digest); packed != nil {
		position = at
	} else {
		for at := range tx.digests.find(b.Digest[:]) {
			if tx.bodies.Get(appendPosition(nil, at)) == nil { // else that of another digest
				position = at
			}
		}
		tx.digests.add(b.Digest, position)
	}
	return tx.bodies.Put(appendPosition(nil, position), slices.Concat(b.Digest[:], b.packed))
}

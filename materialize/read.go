package materialize

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/store"
	"filebus/store/record"
)

// read reads one file. A large one is streamed into a temporary body.
func (c *loader) read(ctx context.Context, stat mirror.Stat) (*sourceFile, string) {
	f := &sourceFile{tree: c.tree, path: stat.Path, stat: stat, place: c.place(stat.Path), source: c.source}
	if err := f.read(ctx, c.w.Store, filepath.Join(c.dir, filepath.FromSlash(stat.Path)), stat.Size); err != nil {
		return nil, mirror.Cause(err)
	}
	return f, ""
}

// readFile returns a file of the mirror to be stored. It must still be what was
// seen.
func (r *reconciler) readFile(ctx context.Context, seen mirror.File) (sourceFile, error) {
	f := sourceFile{path: seen.Path, place: r.w.recognise(seen.Path), source: record.SourceSync}
	file, err := r.File(ctx, f.path)
	if err == nil {
		err = f.read(ctx, r.w.Store, file, seen.Size)
	}
	if err == nil && f.digest() != seen.Digest {
		err = errors.Join(mirror.ErrRaced, f.body.Discard())
	}
	return f, err
}

// aggregateLimit is the size in bytes up to which a file is cut into entries: it
// must be held in memory for that. A larger one is a note.
const aggregateLimit = 64 << 20

// read reads the file's text, or prepares its body if it is large.
func (f *sourceFile) read(ctx context.Context, s *store.Store, file string, size int64) (err error) {
	if f.place.Kind == record.KindFrame && size > aggregateLimit {
		f.place = layout.Place{Kind: record.KindNote, ID: f.path, Layout: layout.Notes{}}
	}
	limit := int64(store.InlineLimit)
	if f.place.Kind == record.KindFrame {
		limit = aggregateLimit
	}
	read, err := readStable(ctx, s, file, limit)
	f.text, f.words, f.body = read.text, read.words, read.body
	return err
}

// prepare makes sure that the file's text is ready to be stored.
func (f *sourceFile) prepare(ctx context.Context, s *store.Store) (err error) {
	if f.body.Size == 0 {
		f.body, err = s.Prepare(ctx, f.text)
	}
	return err
}

// digest returns the digest of the whole file.
func (f *sourceFile) digest() record.Digest {
	if f.body.Size > 0 {
		return f.body.Digest
	}
	return record.DigestOf(f.text)
}

// readStable reads a regular file and makes sure that it did not change
// meanwhile. Of a file over limit bytes it returns the beginning and a prepared
// body, else the whole text and no body.
func readStable(ctx context.Context, s *store.Store, path string, limit int64) (text preparedText, err error) {
	err = mirror.ReadStable(path, func(f *os.File, size int64) (int64, error) {
		if size > limit {
			text, err = prepareStream(ctx, s, f)
			return text.body.Size, err
		}
		whole := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		n, err := whole.ReadFrom(io.LimitReader(f, limit+1))
		text.sample = sampleOf(whole.Bytes())
		return n, err
	})
	if errors.Is(err, mirror.ErrRaced) {
		err = errors.Join(err, text.body.Discard())
	}
	return text, err
}

// prepareStream prepares a body of any size in flat memory and keeps its
// beginning.
func prepareStream(ctx context.Context, s *store.Store, r io.Reader) (preparedText, error) {
	head := &headWriter{limit: DescribeLimit}
	body, err := s.PrepareReader(ctx, io.TeeReader(r, head))
	if body.Size == int64(len(head.text)) {
		return preparedText{sampleOf(head.text), body}, err
	}
	return preparedText{sample{head.text, head.words}, body}, err
}

// A headWriter keeps the first limit bytes of what is written to it and counts
// the words of all: the runs of bytes between ASCII white space.
type headWriter struct {
	text   []byte
	limit  int
	words  int
	inWord bool
}

func (h *headWriter) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), h.limit-len(h.text))]...)
	for _, c := range p {
		space := c == ' ' || c >= '\t' && c <= '\r'
		if !space && !h.inWord {
			h.words++
		}
		h.inWord = !space
	}
	return len(p), nil
}

package materialize

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/materialize/plan"
	"filebus/store"
	"filebus/store/record"
)

// read reads one file. A large one is streamed into a temporary body.
func (l *loader) read(ctx context.Context, stat mirror.Stat) (*source, error) {
	f := &source{stat: stat, File: plan.File{Tree: l.tree, Path: stat.Path, Place: l.place(stat.Path), Source: l.source}}
	err := readInto(ctx, l.w.Store, &f.File, filepath.Join(l.dir, filepath.FromSlash(stat.Path)), stat.Size)
	return f, err
}

// readFile returns a file of the mirror to be stored. It must still be what was
// seen.
func (r *reconciler) readFile(ctx context.Context, seen mirror.File) (plan.File, error) {
	f := plan.File{Path: seen.Path, Place: r.w.recognise(seen.Path), Source: record.SourceSync}
	file, err := r.File(ctx, f.Path)
	if err == nil {
		err = readInto(ctx, r.w.Store, &f, file, seen.Size)
	}
	if err == nil && f.Digest() != seen.Digest {
		err = errors.Join(mirror.ErrRaced, f.Body.Discard())
	}
	return f, err
}

// aggregateLimit is the size in bytes up to which a file is cut into entries: it
// must be held in memory for that. A larger one is a note.
const aggregateLimit = 64 << 20

// readInto reads the text of f from a file, or prepares its body if it is large, and
// makes sure that the file did not change meanwhile.
func readInto(ctx context.Context, s *store.Store, f *plan.File, file string, size int64) error {
	limit := int64(store.InlineLimit)
	switch {
	case f.Place.Kind == record.KindFrame && size > aggregateLimit:
		f.Place = layout.Place{Kind: record.KindNote, ID: f.Path, Layout: layout.Notes{}}
	case f.Place.Kind == record.KindFrame:
		limit = aggregateLimit
	}
	err := mirror.ReadStable(file, func(from *os.File, size int64) (n int64, err error) {
		if size > limit {
			f.Content, err = prepareStream(ctx, s, from)
			return f.Body.Size, err
		}
		whole := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		n, err = whole.ReadFrom(io.LimitReader(from, limit+1))
		f.Content = plan.ContentOf(whole.Bytes())
		return n, err
	})
	if errors.Is(err, mirror.ErrRaced) {
		err = errors.Join(err, f.Body.Discard())
	}
	return err
}

// prepareStream prepares a body of any size in flat memory and keeps its
// beginning.
func prepareStream(ctx context.Context, s *store.Store, r io.Reader) (plan.Content, error) {
	head := &headWriter{limit: DescribeLimit}
	body, err := s.PrepareReader(ctx, io.TeeReader(r, head))
	c := plan.Content{Text: head.text, Words: head.words, Body: body}
	if body.Size == int64(len(head.text)) {
		c.Words = markdown.Words(head.text)
	}
	return c, err
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

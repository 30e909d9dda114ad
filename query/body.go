package query

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// A BodyRequest says which part of a body to read. The zero value is all of it,
// byte for byte.
type BodyRequest struct {
	// Section is a heading, "Handoff", a path of headings, "Round 2/Notes", or
	// either with an ordinal, "Notes#2".
	Section string
	// Lines are counted in the body, or in the section if one is asked for. To
	// may lie behind the end, and be 0 for the end. The zero Span is all.
	Lines Span
	// MaxTokens bounds what is written, about: it is cut at the end of a line, and
	// a last line says how much is missing. 0: no bound.
	MaxTokens int
}

// A BodyResult says what was written.
type BodyResult struct {
	Bytes  int64 // without the line that says what is missing
	Tokens int   // of these bytes, about
	Left   int   // tokens that MaxTokens kept back, about
	Lines  Span  // in the body, of what was written; zero when that is not known
}

// WriteBody writes the body of a version, or the part that request asks for, to
// w. The body of a frame is the aggregate file it stands for. Bodies of any size
// are streamed; damaged bytes end in store.ErrDamaged, of a large body after
// they were written. It returns ErrNoPart for a part that
// is not there.
func (r *Reader) WriteBody(ctx context.Context, w io.Writer, v store.Version, request BodyRequest) (BodyResult, error) {
	source, err := r.source(ctx, v)
	if err != nil {
		return BodyResult{}, err
	}
	p, err := findPart(source, v.Record.Name, request)
	if err != nil {
		return BodyResult{}, err
	}
	body, err := source()
	if err != nil {
		return BodyResult{}, err
	}
	out := &bodyWriter{w: contextWriter{ctx, w}, left: -1, line: p.line - 1, endedLine: true, part: p, name: v.Record.Name}
	if limit := int64(request.MaxTokens) * bytesPerToken; limit > 0 && (p.size(v.Record) > limit || p.lines != (Span{})) {
		out.left = max(0, limit-noticeSize)
	}
	err = out.copy(body, p)
	if err = errors.Join(err, body.Close()); err != nil {
		return BodyResult{}, fmt.Errorf("reading %s: %w", v.Record.Name, err)
	}
	return out.finish(request)
}

// A source opens a body, as often as needed.
type source func() (io.ReadCloser, error)

// source returns how to open the body of a version. An aggregate file is put
// together in memory: its parts are small, and it is itself a file that an agent
// reads whole. All other bodies are opened as they are stored.
func (r *Reader) source(ctx context.Context, v store.Version) (source, error) {
	if v.Record.Name.Kind == record.KindFrame {
		plan, err := r.readFile(ctx, v)
		if err != nil {
			return nil, err
		}
		text, err := plan.text()
		if err != nil {
			return nil, err
		}
		return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }, nil
	}
	content, err := r.content(ctx, v)
	return content.Open, err
}

// content returns the stored body of a version, which stays readable after the
// transaction, so that no lock is held while it is read.
func (r *Reader) content(ctx context.Context, v store.Version) (content store.Content, err error) {
	err = r.store.View(ctx, func(tx *store.Tx) error {
		content, err = tx.Content(v.Record)
		return err
	})
	return content, err
}

// A bodyPart is a range of bytes and, in it, a range of lines.
type bodyPart struct {
	start, end int64 // end -1: to the end
	line       int   // of start, counted from 1
	lines      Span  // in the body; To 0: to the end
}

// size returns the bytes from start to end; of an aggregate file, more than it
// can have.
func (p bodyPart) size(r *record.Record) int64 {
	switch {
	case p.end >= 0:
		return p.end - p.start
	case r.Name.Kind == record.KindFrame:
		return math.MaxInt64
	}
	return r.Size - p.start
}

// findPart reads the body once to find a section; nothing needs to be read
// for all the rest.
func findPart(open source, name record.Name, request BodyRequest) (bodyPart, error) {
	p := bodyPart{end: -1, line: 1, lines: request.Lines}
	if request.Section == "" {
		return p, nil
	}
	body, err := open()
	if err != nil {
		return p, err
	}
	sections, err := markdown.OutlineReader(body)
	if err = errors.Join(err, body.Close()); err != nil {
		return p, fmt.Errorf("reading %s: %w", name, err)
	}
	section, candidates, found := markdown.FindSection(sections, request.Section)
	if !found {
		has := ", and no headings at all"
		if len(candidates) > 0 {
			has = "; it has: " + strings.Join(candidates, " | ")
		}
		err := record.NotFound.Errorf("%s has no section %q%s", name, request.Section, has)
		return p, err.Because(ErrNoPart, name.String())
	}
	p.start, p.end, p.line = int64(section.Start), int64(section.End), section.Line
	if p.lines != (Span{}) {
		p.lines.From = max(p.lines.From, 1) + section.Line - 1
		if p.lines.To > 0 {
			p.lines.To += section.Line - 1
		}
	}
	return p, nil
}

package query

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// A BodyRequest says which part of a body to read. The zero value is all of it,
// byte for byte; a part is of its text as UTF-8.
type BodyRequest struct {
	// Section is a heading, "Handoff", a path of headings, "Round 2/Notes", or
	// either with an ordinal, "Notes#2".
	Section string
	// Lines are counted in the body, or in the section if one is asked for. To
	// may lie behind the end, and be 0 for the end. The zero Span is all.
	Lines Span
	// Skip is how many bytes of the first of the lines are left out.
	Skip int
	// MaxTokens bounds what is written, about: it is cut at the end of a line, and
	// a last line says how much is missing. 0: no bound.
	MaxTokens int
	// LineBytes bounds what is written of one line; its end is. 0: no bound.
	LineBytes int
	// Open opens another text in place of the version's, which has Size bytes: that
	// of its file, which git or its owner may have changed. Nil: the version's.
	Open func() (io.ReadCloser, error)
	Size int64
}

// A BodyResult says what was written.
type BodyResult struct {
	Bytes  int64 // without the line that says what is missing
	Tokens int   // of these bytes, about
	Left   int   // tokens that MaxTokens kept back, about
	Lines  Span  // in the body, of what was written; zero when that is not known
	Long   []LongLine
}

// A LongLine is a line that was written only in part.
type LongLine struct {
	Line int   `json:"line"`
	Left int64 `json:"bytes_left"`
}

// WriteBody writes the body of a version, or the part that request asks for, to
// w. The body of a frame is the aggregate file it stands for. Bodies of any size
// are streamed, and end in store.ErrDamaged in place of bytes that are damaged. It
// returns ErrNoPart for a part that is not there.
func (r *Reader) WriteBody(ctx context.Context, w io.Writer, v store.Version, request BodyRequest) (BodyResult, error) {
	source, size, err := source(request.Open), request.Size, error(nil)
	if source == nil {
		size = v.Record.Size
		source, err = r.source(ctx, v)
	}
	if isPart := request.Section != "" || request.Lines != (Span{}) || request.MaxTokens > 0 || request.LineBytes > 0; isPart && err == nil {
		source, size, err = source.asText(size)
	}
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
	out := &bodyWriter{w: contextWriter{ctx, w}, left: -1, line: p.line - 1, endedLine: true, part: p, name: v.Record.Name,
		longest: request.LineBytes, skip: request.Skip}
	if limit := int64(request.MaxTokens) * bytesPerToken; limit > 0 && (p.size(v.Record.Name.Kind, size) > limit || p.lines != (Span{})) {
		out.left = max(leastWritten, limit-noticeSize)
	}
	err = out.copy(body, p)
	if err = errors.Join(err, body.Close()); err != nil {
		return BodyResult{}, fmt.Errorf("reading %s: %w", v.Record.Name, err)
	}
	return out.finish(request)
}

// A source opens a body, as often as needed.
type source func() (io.ReadCloser, error)

// asText returns the source of a body as UTF-8 and its size then, if it is in another encoding that is known, and is
// searched to its end.
func (open source) asText(size int64) (source, int64, error) {
	if size > indexedText {
		return open, size, nil
	}
	body, err := open()
	if err != nil {
		return open, size, err
	}
	text, err := io.ReadAll(body)
	plain := markdown.Decode(text)
	if err = errors.Join(err, body.Close()); err != nil || len(plain) == len(text) {
		return open, size, err
	}
	return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(plain)), nil }, int64(len(plain)), nil
}

// source returns how to open the body of a version. An aggregate file is put
// together in memory: its parts are small, and it is itself a file that an agent
// reads whole. All other bodies are opened as they are stored.
func (r *Reader) source(ctx context.Context, v store.Version) (source, error) {
	if v.Record.Name.Kind == record.KindFrame && !v.Record.IsConflict() {
		plan, err := r.readFile(ctx, v)
		if err != nil {
			return nil, err
		}
		return func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(plan.text)), nil }, nil
	}
	content, err := r.content(ctx, v)
	return content.Open, err
}

// content returns the stored body of a version, which stays readable after the
// transaction, so that no lock is held while it is read.
func (r *Reader) content(ctx context.Context, v store.Version) (store.Content, error) {
	return View(ctx, r.store, func(tx *store.Tx) (store.Content, error) { return tx.Content(v.Record) })
}

// A bodyPart is a range of bytes and, in it, a range of lines.
type bodyPart struct {
	start, end int64 // end -1: to the end
	line       int   // of start, counted from 1
	lines      Span  // in the body; To 0: to the end
}

// size returns the bytes from start to end, in a body of some size; of an aggregate file, more than it
// can have.
func (p bodyPart) size(kind record.Kind, size int64) int64 {
	switch {
	case p.end >= 0:
		return p.end - p.start
	case kind == record.KindFrame:
		return math.MaxInt64
	}
	return size - p.start
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
	sections, more, err := markdown.OutlineReader(body)
	if err = errors.Join(err, body.Close()); err != nil {
		return p, fmt.Errorf("reading %s: %w", name, err)
	}
	section, candidates, found := markdown.FindSection(sections, request.Section)
	if !found {
		has := ", and no headings at all"
		if len(candidates) > 0 {
			has = "; it has: " + strings.Join(candidates, " | ")
		}
		if more > 0 {
			has += fmt.Sprintf("; its last %d headings were not looked at: give --lines", more)
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

const (
	bytesPerToken = 4   // as record.EstimateTokens has it
	noticeSize    = 120 // bytes kept for the line that says what is missing
	leastWritten  = 16  // bytes, so that whoever goes on gets to the end
)

// errEnough ends a copy early.
var errEnough = errors.New("the rest is not wanted")

// A bodyWriter passes on the wanted lines of a body, up to a number of bytes.
type bodyWriter struct {
	w    io.Writer
	name record.Name
	part bodyPart
	left int64 // bytes that may still be written; -1: any number

	skip    int // bytes of the first line that are still to be left out
	longest int // bytes of a line that are written; 0: all
	inLine  int // bytes of the line that were read
	long    []LongLine

	line      int  // the last that was read, counted from 1
	endedLine bool // and its end was read

	written int64 // bytes
	first   int   // line that was written, 0: none
	last    int
	cut     bool
	kept    int64 // wanted bytes that were not written
	endedNL bool  // what was written ends a line
}

// copy reads the part of body and writes what is wanted of it.
func (b *bodyWriter) copy(body io.Reader, p bodyPart) error {
	if p.start > 0 {
		if _, err := io.CopyN(io.Discard, body, p.start); err != nil {
			return err
		}
	}
	if p.end >= 0 {
		body = io.LimitReader(body, p.end-p.start)
	}
	if b.left < 0 && p.lines == (Span{}) && b.longest == 0 {
		return b.copyAll(body, p)
	}
	lines := bufio.NewReaderSize(body, 64<<10)
	for {
		piece, err := lines.ReadSlice('\n')
		if writeErr := b.take(piece); errors.Is(writeErr, errEnough) {
			return nil
		} else if writeErr != nil {
			return writeErr
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

// copyAll passes a whole part on without looking at its lines, as pipes want it;
// they are only counted.
func (b *bodyWriter) copyAll(body io.Reader, p bodyPart) error {
	b.first, b.last = p.line, p.line-1
	_, err := io.Copy(b, body)
	if b.written > 0 && !b.endedNL {
		b.last++
	}
	return err
}

// Write passes text on and counts its lines.
func (b *bodyWriter) Write(text []byte) (int, error) {
	n, err := b.w.Write(text)
	if n > 0 {
		b.written += int64(n)
		b.last += bytes.Count(text[:n], []byte("\n"))
		b.endedNL = text[n-1] == '\n'
	}
	return n, err
}

// take handles the next line of the body, or a piece of a long one.
func (b *bodyWriter) take(piece []byte) error {
	if len(piece) == 0 {
		return nil
	}
	if b.endedLine {
		b.line++
		b.inLine = 0
	}
	b.endedLine = piece[len(piece)-1] == '\n'
	if to := b.part.lines.To; to > 0 && b.line > to {
		return errEnough
	}
	if b.line < b.part.lines.From {
		return nil
	}
	n := min(b.skip, len(piece))
	b.skip -= n
	return b.write(b.short(piece[n:]))
}

// short returns what is written of a piece of a line.
func (b *bodyWriter) short(piece []byte) []byte {
	room := max(0, b.longest-b.inLine)
	b.inLine += len(piece)
	end := piece[len(bytes.TrimRight(piece, "\r\n")):]
	if b.longest == 0 || len(piece)-len(end) <= room {
		return piece
	}
	kept := markdown.Head(piece, room)
	if n := len(b.long); n == 0 || b.long[n-1].Line != b.line {
		b.long = append(b.long, LongLine{Line: b.line})
	}
	b.long[len(b.long)-1].Left += int64(len(piece) - len(end) - len(kept))
	return slices.Concat(kept, end)
}

// write writes a piece of one line, unless it is too much. The first line is cut
// where it must be, so that something is seen of a body without line ends.
func (b *bodyWriter) write(text []byte) error {
	if b.cut {
		b.kept += int64(len(text))
		return nil
	}
	if b.left >= 0 && int64(len(text)) > b.left {
		b.cut = true
		if b.first != 0 && b.endedNL {
			b.kept += int64(len(text))
			return nil
		}
		b.kept += int64(len(text)) - b.left
		text = markdown.Head(text, int(b.left))
	}
	if len(text) == 0 {
		return nil
	}
	b.first = cmp.Or(b.first, b.line)
	b.last = b.line
	b.endedNL = text[len(text)-1] == '\n'
	if b.left >= 0 {
		b.left -= int64(len(text))
	}
	b.written += int64(len(text))
	_, err := b.w.Write(text)
	return err
}

// finish writes the line that says what is missing.
func (b *bodyWriter) finish(request BodyRequest) (BodyResult, error) {
	if request.Lines.From > 1 && b.written == 0 && !b.cut {
		return BodyResult{}, record.NotFound.Errorf("%s has no line %d: the last is %d",
			b.name, request.Lines.From, b.line-b.part.line+1).Because(ErrNoPart, b.name.String())
	}
	result := BodyResult{
		Bytes: b.written, Tokens: record.EstimateTokens(b.written), Left: record.EstimateTokens(b.kept),
		Long: b.long,
	}
	if b.written > 0 {
		result.Lines = Span{b.first, b.last}
	}
	if !b.cut {
		return result, nil
	}
	if !b.endedNL && b.written > 0 {
		_, err := fmt.Fprintf(b.w, "\n[line %d is cut; about %d more tokens; go on with --lines %d+%d-]\n", b.last, result.Left, b.last,
			int64(request.Skip)+b.written)
		return result, err
	}
	_, err := fmt.Fprintf(b.w, "[about %d more tokens; go on with --lines %d-]\n", result.Left, b.last+1)
	return result, err
}

// A contextWriter ends with the context's error.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

// Write fails once the context has ended, which stops a copy of any size.
func (c contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

package query

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"filebus/store/record"
)

const (
	bytesPerToken = 4   // as record.EstimateTokens has it
	noticeSize    = 120 // bytes kept for the line that says what is missing
)

// errEnough ends a copy early.
var errEnough = errors.New("the rest is not wanted")

// A bodyWriter passes on the wanted lines of a body, up to a number of bytes.
type bodyWriter struct {
	w    io.Writer
	name record.Name
	part bodyPart
	left int64 // bytes that may still be written; -1: any number

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
	if b.left < 0 && p.lines == (Span{}) {
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
	}
	b.endedLine = piece[len(piece)-1] == '\n'
	if to := b.part.lines.To; to > 0 && b.line > to {
		return errEnough
	}
	if b.line < b.part.lines.From {
		return nil
	}
	return b.write(piece)
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
		text = validCut(text[:b.left])
	}
	if len(text) == 0 {
		return nil
	}
	if b.first == 0 {
		b.first = b.line
	}
	b.last = b.line
	b.endedNL = text[len(text)-1] == '\n'
	if b.left >= 0 {
		b.left -= int64(len(text))
	}
	b.written += int64(len(text))
	_, err := b.w.Write(text)
	return err
}

// validCut drops the beginning of a rune that was cut in two from the end.
func validCut(text []byte) []byte {
	for i := len(text) - 1; i >= 0 && i >= len(text)-utf8.UTFMax; i-- {
		if utf8.RuneStart(text[i]) {
			if !utf8.FullRune(text[i:]) {
				return text[:i]
			}
			break
		}
	}
	return text
}

// finish writes the line that says what is missing.
func (b *bodyWriter) finish(request BodyRequest) (BodyResult, error) {
	if request.Lines.From > 1 && b.written == 0 && !b.cut {
		return BodyResult{}, record.NotFound.Errorf("%s has no lines %d-%d: the last is %d",
			b.name, request.Lines.From, request.Lines.To, b.line-b.part.line+1).Because(ErrNoPart, b.name.String())
	}
	result := BodyResult{
		Bytes: b.written, Tokens: record.EstimateTokens(b.written), Left: record.EstimateTokens(b.kept),
	}
	if b.written > 0 {
		result.Lines = Span{b.first, b.last}
	}
	if !b.cut {
		return result, nil
	}
	if !b.endedNL && b.written > 0 {
		_, err := fmt.Fprintf(b.w, "\n[line %d is cut; about %d more tokens; it begins again with --lines %d-]\n", b.last, result.Left, b.last)
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

package transcript

import (
	"bufio"
	"context"
	"errors"
	"io"

	"filebus/store/record"
)

// A shortener keeps of each string in JSON no more than most bytes and escapes, and all of what is around.
type shortener struct {
	most, length  int
	inside, isCut bool
	isEscaped     bool // by the byte before
	hex           int  // how many digits of an escape are to come
}

// append appends what is kept of the next part of a text.
func (s *shortener) append(to, part []byte) []byte {
	for _, c := range part {
		if isWhole := !s.isEscaped && s.hex == 0; isWhole && c == '"' {
			s.inside, s.isCut, s.length = !s.inside, false, 0
		} else if isWhole {
			s.isCut = s.inside && s.length >= s.most
		}
		if !s.isCut {
			to = append(to, c)
		}
		if s.hex == 0 && !s.isEscaped { // an escape is one
			s.length++
		}
		if s.hex = max(0, s.hex-1); s.isEscaped && c == 'u' {
			s.hex = 4
		}
		s.isEscaped = c == '\\' && s.inside && !s.isEscaped
	}
	return to
}

// Shortened returns a reader of JSON in which a string that is too long for a text of limit bytes becomes a shorter
// one, of more than limit bytes.
func Shortened(in io.Reader, limit int) io.Reader {
	return &shortReader{in, shortener{most: limit + 2}}
}

type shortReader struct {
	in io.Reader
	shortener
}

func (r *shortReader) Read(p []byte) (n int, err error) {
	for n == 0 && err == nil {
		n, err = r.in.Read(p)
		n = len(r.append(p[:0], p[:n]))
	}
	return n, err
}

// A LineReader reads a transcript line by line in flat memory: a string in a line that is too long for
// a text of limit bytes becomes a shorter one, of more than limit bytes.
type LineReader struct {
	in    *bufio.Reader
	limit int
	line  []byte
	read  int64 // bytes, up to behind the last line
}

// NewLineReader returns a reader of lines.
func NewLineReader(in io.Reader, limit int) *LineReader {
	return &LineReader{in: bufio.NewReaderSize(in, 64<<10), limit: limit}
}

// ErrEndless says that a file goes on without an end of a line for longer than any line is: it is damaged, or sparse.
const ErrEndless record.Reason = "a line without an end"

// Next returns the next line, with its end, until the next call. What comes with io.EOF may be half a line.
// A line that does not end within longest bytes is ErrEndless.
func (l *LineReader) Next(ctx context.Context) ([]byte, error) {
	const maxLine, longest = 32 << 20, 256 << 20 // about how much is kept of a line, and read of it, in bytes
	begin, short := l.read, shortener{most: l.limit + 2}
	for l.line = l.line[:0]; ; {
		if err := ctx.Err(); err != nil {
			return l.line, err
		}
		part, err := l.in.ReadSlice('\n')
		l.read += int64(len(part))
		if len(l.line) < maxLine {
			l.line = short.append(l.line, part)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return l.line, err
		}
		if l.read-begin > longest {
			return nil, record.Failed.Errorf("no line ends in the %d MB from byte %d on: it is damaged, or sparse",
				longest>>20, begin).Because(ErrEndless)
		}
	}
}

package transcript

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
)

// A LineReader reads a transcript line by line in flat memory: a string in a line that is too long for
// a text of limit bytes becomes one of limit+1 bytes.
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

// Next returns the next line, with its end, until the next call. What comes with io.EOF may be half a line.
func (l *LineReader) Next(ctx context.Context) ([]byte, error) {
	most := len(`\u001f`) * l.limit // as JSON has a text of limit bytes
	start, inside, escaped := 0, false, false
	const maxLine = 32 << 20 // how much is read of a line, in bytes, without its longest strings
	for line := l.line[:0]; ; {
		if err := ctx.Err(); err != nil {
			return line, err
		}
		part, err := l.in.ReadSlice('\n')
		l.read += int64(len(part))
		for _, c := range part {
			isQuote := c == '"' && !escaped
			switch {
			case isQuote && !inside:
				start = len(line)
			case isQuote && len(line)-start > most+1:
				line = append(line[:start+1], strings.Repeat("x", l.limit+1)...)
			}
			inside = inside != isQuote
			escaped = c == '\\' && inside && !escaped
			if (!inside || len(line)-start <= most+1) && len(line) < maxLine {
				line = append(line, c)
			}
		}
		if l.line = line; !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

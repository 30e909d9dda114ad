package dialogue

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// errNotJSON says that a line departs from JSON.
var errNotJSON = errors.New("not JSON")

// A lexer reads JSON from a stream in which each value ends with its line: a line
// break is never part of one. It holds a buffer of the stream and the string that it
// reads, no more; encoding/json would hold a whole string, also one that is skipped,
// and could not go on behind a broken line.
type lexer struct {
	source   io.Reader
	buffer   []byte
	at, end  int
	size     int64
	raw      []byte
	finished error
}

// peek returns the next byte without taking it.
func (l *lexer) peek() (byte, error) {
	for l.at == l.end {
		if l.finished != nil {
			return 0, l.finished
		}
		n, err := l.source.Read(l.buffer)
		l.at, l.end, l.finished = 0, n, err
		l.size += int64(n)
	}
	return l.buffer[l.at], nil
}

// inside returns the next byte where a value goes on: a line that ends there is
// broken.
func (l *lexer) inside() (byte, error) {
	c, err := l.peek()
	if err == nil && c == '\n' {
		err = errNotJSON
	}
	return c, err
}

// plain takes the bytes of a string up to one that means something in it, as far as
// they are in the buffer, and returns them.
func (l *lexer) plain() []byte {
	part := l.buffer[l.at:l.end]
	for i, c := range part {
		if c == '"' || c == '\\' || c == '\n' {
			part = part[:i]
			break
		}
	}
	l.at += len(part)
	return part
}

// lineEnd makes sure that nothing follows in a line.
func (l *lexer) lineEnd() error {
	c, err := l.space()
	switch {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil && c != '\n':
		return errNotJSON
	}
	return err
}

// space skips blanks and returns the byte behind them, which it does not take.
func (l *lexer) space() (byte, error) {
	for {
		c, err := l.peek()
		if err != nil || c != ' ' && c != '\t' && c != '\r' {
			return c, err
		}
		l.at++
	}
}

// skipLine takes the rest of a line with its end.
func (l *lexer) skipLine() error {
	for {
		if _, err := l.peek(); err != nil {
			return err
		}
		if i := bytes.IndexByte(l.buffer[l.at:l.end], '\n'); i >= 0 {
			l.at += i + 1
			return nil
		}
		l.at = l.end
	}
}

// expect skips blanks and takes a byte that must be there.
func (l *lexer) expect(want byte) error {
	c, err := l.space()
	switch {
	case err != nil:
		return err
	case c != want:
		return errNotJSON
	}
	l.at++
	return nil
}

// object reads an object; field reads the value of a key.
func (l *lexer) object(field func(key string) error) error {
	return l.items('{', '}', func() error {
		key, _, err := l.text(maxWord)
		if err == nil {
			err = l.expect(':')
		}
		if err == nil {
			_, err = l.space()
		}
		if err != nil {
			return err
		}
		return field(key)
	})
}

// list reads a list; item reads each value.
func (l *lexer) list(item func() error) error { return l.items('[', ']', item) }

// items reads what stands between two brackets, with commas between.
func (l *lexer) items(open, closing byte, item func() error) error {
	if err := l.expect(open); err != nil {
		return err
	}
	if c, err := l.space(); err == nil && c == closing {
		l.at++
		return nil
	}
	for {
		if err := item(); err != nil {
			return err
		}
		c, err := l.space()
		switch {
		case err != nil:
			return err
		case c == closing:
			l.at++
			return nil
		}
		if err := l.expect(','); err != nil {
			return err
		}
	}
}

// text reads a string of at most limit bytes. Of a longer one nothing is kept.
func (l *lexer) text(limit int) (text string, isLong bool, err error) {
	if err := l.expect('"'); err != nil {
		return "", false, err
	}
	l.raw = append(l.raw[:0], '"')
	err = l.rest(func(part []byte) {
		if isLong = isLong || len(l.raw)+len(part) > escapeSize*limit+2; !isLong {
			l.raw = append(l.raw, part...)
		}
	})
	if isLong || err != nil {
		return "", isLong, err
	}
	if json.Unmarshal(l.raw, &text) != nil {
		return "", false, errNotJSON
	}
	if len(text) > limit {
		return "", true, nil
	}
	return text, false, nil
}

// escapeSize is how many bytes one byte of text may have in JSON: \u001f.
const escapeSize = 6

// skipText takes a string, of which nothing is kept.
func (l *lexer) skipText() error {
	l.at++ // the quotation mark
	return l.rest(func([]byte) {})
}

// skip takes one value, of which nothing is kept.
func (l *lexer) skip() error {
	c, err := l.space()
	switch {
	case err != nil:
		return err
	case c == '"':
		return l.skipText()
	case c != '{' && c != '[':
		return l.skipScalar()
	}
	for depth := 0; ; {
		c, err := l.inside()
		switch {
		case err != nil:
			return err
		case c == '"':
			if err := l.skipText(); err != nil {
				return err
			}
			continue
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			depth--
		}
		l.at++
		if depth == 0 {
			return nil
		}
	}
}

// rest takes the rest of a string with its closing quotation mark, in parts.
func (l *lexer) rest(keep func(part []byte)) error {
	for {
		keep(l.plain())
		c, err := l.inside()
		if err != nil {
			return err
		}
		keep(l.buffer[l.at : l.at+1])
		l.at++
		switch c {
		case '"':
			return nil
		case '\\':
			if _, err := l.inside(); err != nil {
				return err
			}
			keep(l.buffer[l.at : l.at+1])
			l.at++
		}
	}
}

// skipScalar takes a number, true, false or null.
func (l *lexer) skipScalar() error {
	for n := 0; ; n++ {
		c, err := l.inside()
		switch {
		case err != nil:
			return err
		case strings.IndexByte(" \t\r,]}:", c) >= 0:
			if n == 0 {
				return errNotJSON
			}
			return nil
		}
		l.at++
	}
}

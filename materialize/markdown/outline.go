package markdown

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// A Section is a heading of a Markdown text and what stands below it. Bytes
// [Start, End) of the text are the section exactly: from the line of its heading
// to the next heading of its own level or a higher one, else to the end.
type Section struct {
	Title   string // the heading as it is written, without its marks; at most 1 KiB
	Level   int    // 1 to 6
	Start   int    // of the heading's line, in bytes
	End     int    // where the next section begins, or the length of the text
	Line    int    // of the heading, counted from 1
	EndLine int    // the last line that belongs to the section
}

// What bounds the memory of an outliner.
const (
	maxSections = 100_000  // that are kept; headings after them still end those before
	maxScanLine = 64 << 10 // bytes of a line that are looked at
	maxHeading  = 1 << 10  // bytes of a heading that are kept
)

// ByteOrderMark is what some editors put before UTF-8; it is no part of the text.
const ByteOrderMark = "\ufeff"

// Outline returns the sections of a Markdown text in the order of their
// headings, which is the order of Start; sections of a lower level lie inside
// those above them.
//
// It finds the headings that CommonMark finds at the top level, ATX and setext,
// by a scan over the lines: not those in code, quotes, list items, HTML blocks and
// comments, and not in YAML or TOML front matter. Lines end in LF or CRLF; any
// bytes are accepted. It takes time in proportion to the text.
func Outline(text []byte) []Section {
	var o outliner
	o.lines(text[o.begin(text):])
	return o.finish()
}

// OutlineReader returns what Outline returns for all that r holds, in bounded memory:
// one line and, to know front matter, the first 64 KiB. With an error of r come the
// sections found before it.
func OutlineReader(r io.Reader) (sections []Section, err error) {
	buffer := make([]byte, maxFrontMatter)
	size := 0
	for n := 0; err == nil && size < len(buffer); size += n {
		n, err = r.Read(buffer[size:])
	}
	var o outliner
	o.lines(buffer[o.begin(buffer[:size]):size])
	for err == nil {
		size, err = r.Read(buffer)
		o.lines(buffer[:size])
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return o.finish(), err
}

// An outliner finds the sections of a text that it is given in pieces of any size.
type outliner struct {
	blocks   blockScanner // knows what each line is
	sections []Section
	within   []int // the sections that are still open, outermost first

	offset int // of the next line, in bytes
	line   int // lines seen so far

	rest     []byte // the beginning of an unfinished line, at most maxScanLine bytes
	restSize int    // the bytes of that line so far

	title      []byte // of the open paragraph, in case it becomes a heading
	titleStart int
	titleLine  int
}

// begin returns how many bytes of a text's head come before its Markdown: a
// byte order mark and front matter.
func (o *outliner) begin(head []byte) int {
	_, skip := cutFrontMatter(head)
	if skip == 0 && bytes.HasPrefix(head, []byte(ByteOrderMark)) {
		skip = len(ByteOrderMark)
	}
	o.offset = skip
	o.line = bytes.Count(head[:skip], []byte("\n"))
	return skip
}

// lines takes each whole line of p and keeps what follows the last of them.
func (o *outliner) lines(p []byte) {
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			break
		}
		if o.restSize > 0 {
			o.keep(p[:i])
			o.take(o.rest, o.restSize+1)
			o.rest, o.restSize = o.rest[:0], 0
		} else {
			o.take(p[:i], i+1)
		}
		p = p[i+1:]
	}
	o.keep(p)
}

// keep adds to the unfinished line. What is past maxScanLine is counted, so that
// places stay right, and forgotten.
func (o *outliner) keep(p []byte) {
	o.restSize += len(p)
	o.rest = append(o.rest, p[:min(len(p), maxScanLine-len(o.rest))]...)
}

// take handles one line, which takes size bytes of the text.
func (o *outliner) take(line []byte, size int) {
	line = bytes.TrimSuffix(line[:min(len(line), maxScanLine)], []byte("\r"))
	info := o.blocks.next(line)
	switch {
	case info.outer != 0: // headings in quotes and lists structure those, not the text
	case info.kind == lineText:
		if info.opens {
			o.title, o.titleStart, o.titleLine = o.title[:0], o.offset, o.line+1
		}
		o.addTitle(info.text)
	case info.kind == lineHeading:
		o.title = o.title[:0]
		o.addTitle(info.text)
		o.add(int(info.level), o.offset, o.line+1)
	case info.kind == lineUnderline:
		o.add(int(info.level), o.titleStart, o.titleLine)
	}
	o.offset += size
	o.line++
}

// addTitle adds a line to the heading that is being read.
func (o *outliner) addTitle(text []byte) {
	if len(o.title) > 0 && len(o.title) < maxHeading {
		o.title = append(o.title, ' ')
	}
	o.title = append(o.title, text[:min(len(text), maxHeading-len(o.title))]...)
}

// add begins a section with the title read last, and ends those it follows.
func (o *outliner) add(level, start, line int) {
	o.end(level, start, line-1)
	if len(o.sections) == maxSections {
		return
	}
	o.within = append(o.within, len(o.sections))
	title := strings.ToValidUTF8(string(o.title), "\ufffd")
	o.sections = append(o.sections, Section{Title: title, Level: level, Start: start, Line: line})
}

// end ends the open sections of at least this level.
func (o *outliner) end(level, offset, line int) {
	for n := len(o.within); n > 0; n-- {
		s := &o.sections[o.within[n-1]]
		if s.Level < level {
			break
		}
		s.End, s.EndLine = offset, line
		o.within = o.within[:n-1]
	}
}

// finish takes the last line, if nothing ended it, and ends all sections.
func (o *outliner) finish() []Section {
	if o.restSize > 0 {
		o.take(o.rest, o.restSize)
		o.rest, o.restSize = nil, 0
	}
	o.end(1, o.offset, o.line)
	return o.sections
}

// SectionBody returns what stands below a section's heading, its subsections
// included.
func SectionBody(text []byte, s Section) []byte {
	body := text[s.Start:s.End]
	heading := body
	if end := bytes.IndexByte(body, '\n'); end >= 0 {
		heading, body = body[:end], body[end+1:]
	} else {
		body = nil
	}
	// A heading that is underlined has one line more.
	if !bytes.HasPrefix(bytes.TrimLeft(heading, " \ufeff"), []byte("#")) { // underlined
		if end := bytes.IndexByte(body, '\n'); end >= 0 {
			return body[end+1:]
		}
		return nil
	}
	return body
}

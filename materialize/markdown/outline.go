package markdown

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
)

// A Section is a heading of a Markdown text and what stands below it. Bytes
// [Start, End) of the text are the section exactly: from the line of its heading
// to the next heading of its own level or a higher one, else to the end.
type Section struct {
	Title   string // the heading as it is written, without its marks; at most 1 KiB
	Level   int    // 1 to 6
	Start   int    // of the heading's line, in bytes
	Body    int    // where the text below the heading begins
	Next    int    // where the next heading begins, of whatever level, or the length of the text
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
func Outline(text []byte) []Section { return outline(text, func(Section) bool { return true }) }

// outline is Outline up to the first section after which the caller does not go on.
func outline(text []byte, goesOn func(Section) bool) []Section {
	start := markdownStart(text)
	o := outliner{offset: start, line: bytes.Count(text[:start], []byte("\n"))}
	for rest := text[start:]; len(rest) > 0; {
		var line []byte
		size := len(rest)
		line, rest = cutTextLine(rest)
		before := len(o.sections)
		if o.take(line, size-len(rest)); len(o.sections) > before && !goesOn(o.sections[before]) {
			break
		}
	}
	o.end(1, o.offset, o.line)
	return o.sections
}

// markdownStart returns how many bytes of a text come before its Markdown: a byte order mark
// and front matter.
func markdownStart(text []byte) int {
	_, start := frontBlocks(text)
	if start == 0 && bytes.HasPrefix(text, []byte(ByteOrderMark)) {
		return len(ByteOrderMark)
	}
	return start
}

// OutlineReader returns what Outline returns for all that r holds, in bounded memory:
// the beginning of one line and, to know front matter, the first 64 KiB. more is how many
// headings it has besides. With an error of r come the sections found before it.
func OutlineReader(r io.Reader) (sections []Section, more int, err error) {
	in := bufio.NewReaderSize(r, maxFrontMatter)
	head, _ := in.Peek(maxFrontMatter) // the error comes again
	start := markdownStart(head)
	o := outliner{offset: start, line: bytes.Count(head[:start], []byte("\n"))}
	_, err = in.Discard(start)
	for err == nil {
		var line, rest []byte
		line, err = in.ReadSlice('\n')
		size := len(line)
		for errors.Is(err, bufio.ErrBufferFull) { // what is past maxScanLine is counted and forgotten
			line = bytes.Clone(line)
			rest, err = in.ReadSlice('\n')
			size += len(rest)
		}
		if size > 0 {
			line, _ = cutTextLine(line)
			o.take(line, size)
		}
	}
	o.end(1, o.offset, o.line)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return o.sections, o.more, err
}

// An outliner finds the sections of a text that it is given line by line.
type outliner struct {
	blocks   blockScanner // knows what each line is
	sections []Section
	within   []int // the sections that are still open, outermost first
	more     int   // headings that are not kept

	offset int // of the next line, in bytes
	line   int // lines seen so far

	title      []byte // of the open paragraph, in case it becomes a heading
	titleStart int
	titleLine  int
}

// take handles one line, which takes size bytes of the text.
func (o *outliner) take(line []byte, size int) {
	info := o.blocks.next(line)
	if info.outer == 0 { // headings in quotes and lists structure those, not the text
		if info.opens || info.kind == lineHeading {
			o.title, o.titleStart, o.titleLine = o.title[:0], o.offset, o.line+1
		}
		if info.kind == lineText || info.kind == lineHeading {
			o.addTitle(info.text)
		}
		if info.level > 0 {
			o.add(int(info.level), o.offset+size)
		}
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
func (o *outliner) add(level, body int) {
	o.end(level, o.titleStart, o.titleLine-1)
	if len(o.sections) == maxSections {
		o.more++
		return
	}
	o.within = append(o.within, len(o.sections))
	title := strings.ToValidUTF8(string(o.title), "\ufffd")
	o.sections = append(o.sections, Section{Title: title, Level: level, Start: o.titleStart, Body: body, Line: o.titleLine})
}

// end ends the open sections of at least this level.
func (o *outliner) end(level, offset, line int) {
	if n := len(o.sections); n > 0 && o.sections[n-1].Next == 0 {
		o.sections[n-1].Next = offset
	}
	for n := len(o.within); n > 0; n-- {
		s := &o.sections[o.within[n-1]]
		if s.Level < level {
			break
		}
		s.End, s.EndLine = offset, line
		o.within = o.within[:n-1]
	}
}

// Named returns the first section that has one of some titles, folded.
func Named(sections []Section, titles ...string) (s Section, found bool) {
	i := slices.IndexFunc(sections, func(s Section) bool { return slices.Contains(titles, Fold(s.Title)) })
	if i < 0 {
		return s, false
	}
	return sections[i], true
}

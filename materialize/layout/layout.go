// Package layout knows every file format that filebus mirrors: for each, a
// typed view of its content, one canonical writer and one lenient reader, side
// by side in a file of its own; and the path templates that say which file
// holds what.
//
// A reader never loses a byte. Parse cuts a file into Parts whose bytes, joined,
// are the file again, whatever the file holds; what a reader does not understand
// stays in the bytes and is reported as a SyntaxError beside them. Nothing here
// does I/O or knows the store.
//
// The formats are described in docs/layouts, one page each; the examples in
// those pages are read by the tests.
package layout

import (
	"fmt"
	"slices"
	"time"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// A Layout maps one kind of file to entries and back.
type Layout interface {
	// Parse cuts text into the entries and what surrounds them. It never loses a
	// byte: Append of what it returns gives text again. The path is used in
	// errors and in the ids of entries that have none of their own. What the
	// layout did not understand is reported beside the File.
	Parse(path string, text []byte) (File, []*SyntaxError)
	kindOf() record.Kind // of the entries
}

// An Aggregate is a Layout of files that hold many entries, each a record of
// its own.
type Aggregate interface {
	Layout
	// Insert returns f with new entries, each after the last of its section. A section
	// that is missing is made, an empty file begins with the format's title. The
	// other entries keep their bytes.
	Insert(f File, entries ...Entry) File
}

// A File is a file cut into parts: entries, and the literal text around them.
type File struct {
	Path  string // slash-separated, below the tree's root
	Parts []Part
}

// A Part is a piece of a file: literal text, or an entry.
type Part struct {
	Text  []byte // when Entry is nil
	Entry *Entry
}

// An Entry is what one record of a file is made from. A file that is a single
// record has one entry, which holds all of its bytes.
type Entry struct {
	Kind record.Kind
	// ID is the entry's own id, such as ISSUE-20251212-001. An entry without one
	// gets "path#title-slug", made unique by "-2", "-3", ... in the order of the
	// file. In a file that is a single record it is empty: its place names it.
	ID    string
	Text  []byte // the exact bytes, from its heading or row to the next
	Line  int    // where Text begins in the file, counted from 1
	Facts Facts
}

// Facts are what the text of an entry, or the path of a file, says about it.
// They become fields of the record and of its description; a zero field says
// nothing.
type Facts struct {
	Agent        string
	Conversation string
	Session      string
	Run          string
	Loop         string
	Task         string
	Status       string
	Tags         []string
	// Links are typed references; a target is a name in the entry's own tree, such
	// as knowledge/pattern-001.
	Links []record.Link
	Dates []time.Time // of writing, the one to take first in front

	Title      string // one line; empty: the describer finds one
	Summary    string // plain text; empty: the describer makes a preview
	Attributes map[string]string
}

// A SyntaxError locates a place where a file departs from its layout.
type SyntaxError = markdown.SyntaxError

// wrong returns what departs from a layout at a line.
func wrong(line int, format string, args ...any) *SyntaxError {
	return &SyntaxError{Line: line, Err: fmt.Errorf(format, args...)}
}

// ExtraValue returns the value of the first field that has one of some names, folded.
func ExtraValue(extra []Property, names ...string) string {
	isNamed := func(f Property) bool {
		return slices.ContainsFunc(names, func(name string) bool { return markdown.Key(name) == markdown.Key(f.Key) })
	}
	if at := slices.IndexFunc(extra, isNamed); at >= 0 {
		return extra[at].Value
	}
	return ""
}

// Append appends the bytes of f to dst.
func (f File) Append(dst []byte) []byte {
	for _, p := range f.Parts {
		if p.Entry != nil {
			dst = append(dst, p.Entry.Text...)
		} else {
			dst = append(dst, p.Text...)
		}
	}
	return dst
}

// Entries returns the entries of f in the order of the file.
func (f File) Entries() []*Entry {
	var entries []*Entry
	for _, p := range f.Parts {
		if p.Entry != nil {
			entries = append(entries, p.Entry)
		}
	}
	return entries
}

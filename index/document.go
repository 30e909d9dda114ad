package index

import (
	"bytes"
	"encoding/binary"
	"strings"
	"time"
	"unicode/utf8"

	api "github.com/blevesearch/bleve_index_api"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

const (
	maxText = 1 << 20 // bytes of a body that are indexed
	sniff   = 8 << 10 // bytes that decide whether a body is text
	maxKey  = 1024    // bytes of a filter's value that are compared
)

// A Document is what is indexed of the head of a name. The index keeps none of
// its text.
type Document struct {
	record.Record        // the head
	Position      uint64 // the log position that made it head

	Title   string
	Preview string // searched only where Text is not
	// Text is the body. Its first MiB is searched, unless it is binary: a NUL
	// byte in its first 8 KiB, or mostly invalid UTF-8 there.
	Text []byte
	// Quiet keeps the document out of searches that do not name its kind. Those of
	// some kinds are always quiet: see IsQuiet.
	Quiet bool
}

// A Change says what a name has become.
type Change struct {
	Name record.Name
	// Document replaces what was indexed for Name. Nil: the name has no head any
	// more.
	Document *Document
	// Since is the log position at which the name first came up: one that came up behind
	// all that the index has seen is not looked for there. 0: not known.
	Since uint64
}

// The scored fields, in the order in which they are added up. Their text is
// part of the mapping.
const (
	fieldTitle = iota
	fieldHeadings
	fieldTags
	fieldPath // the words of the id, the agent and the task
	fieldBody
	scoredFields
)

// fieldKeys has exact values to filter by; see key.
const fieldKeys = "keys"

// texts returns what is searched in each scored field.
func (d *Document) texts() [scoredFields][]byte {
	body := d.Text[:min(len(d.Text), maxText)]
	if len(body) == 0 || isBinary(body) {
		body = []byte(d.Preview)
	}
	return [scoredFields][]byte{
		fieldTitle:    []byte(d.Title),
		fieldHeadings: headings(body),
		fieldTags:     []byte(strings.Join(d.Tags, "\n")),
		fieldPath:     []byte(d.Name.ID + "\n" + d.Agent + "\n" + d.Task),
		fieldBody:     body,
	}
}

// isBinary reports whether body is not text: it has a NUL byte near its
// beginning, or three in ten bytes there are not UTF-8. (A text in Latin-1
// has fewer, compressed and random data more.)
func isBinary(body []byte) bool {
	head := body[:min(len(body), sniff)]
	if bytes.IndexByte(head, 0) >= 0 {
		return true
	}
	if utf8.Valid(head) {
		return false
	}
	invalid := 0
	for i := 0; i < len(head); {
		r, size := utf8.DecodeRune(head[i:])
		if r == utf8.RuneError && size == 1 {
			invalid++
		}
		i += size
	}
	return 10*invalid > 3*len(head)
}

// The fields of filters that are named here, and two more.
const (
	keyKind    = "kind"
	keyTree    = "tree"
	keyAgent   = "agent"
	keySession = "session"
	keyTag     = "tag"
	keyDay     = "day"   // of Date, in UTC
	keyQuiet   = "quiet" // without a value
)

// key returns the exact term for a value of a filter. Values are cut alike on
// both sides.
func key(filter, value string) string { return filter + "\x00" + value[:min(len(value), maxKey)] }

// keys returns the exact terms of d.
func (d *Document) keys() []string {
	keys := []string{key(keyDay, day(d.Date()))}
	for _, field := range record.FilterFields() {
		for _, value := range d.Values(field) {
			keys = append(keys, key(field, value))
		}
	}
	if d.Quiet || IsQuiet(d.Name.Kind) {
		keys = append(keys, key(keyQuiet, ""))
	}
	return keys
}

// day returns the day of t in a form whose order is that of time.
func day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// IsQuiet reports whether all documents of a kind are quiet: they tell how work
// went on, not what came out of it.
func IsQuiet(kind record.Kind) bool {
	switch kind {
	case record.KindMarker, record.KindState, record.KindSnapshot, record.KindFrame:
		return true
	}
	return false
}

// headings returns the ATX headings of a Markdown text, one a line.
func headings(text []byte) (out []byte) {
	for _, l := range markdown.Lines(text) {
		if l.Level > 0 {
			_, heading := markdown.Heading(l.Text)
			out = append(append(out, heading...), '\n')
		}
	}
	return out
}

// An entry is a document that is analysed, ready for the engine. Its terms are
// numbers of its Analyzer, which must not forget them before the entry is in a
// segment.
type entry struct {
	id       string
	analyzer *Analyzer
	terms    [scoredFields][]termCount // of each scored field
	keys     []string
	facts    facts
	encoded  string // the facts, as they are stored
}

// A termCount says how often a field has a term.
type termCount struct{ term, count uint32 }

// entry analyses d.
func (a *Analyzer) entry(d *Document) *entry {
	e := &entry{
		id: d.Name.String(), analyzer: a, keys: d.keys(),
		facts: facts{position: d.Position, time: d.Date().UTC()},
	}
	for i, text := range d.texts() {
		var length int
		e.terms[i], length = a.frequencies(text)
		e.facts.lengths[i] = uint64(length)
		if i == fieldBody {
			e.facts.setFingerprint(a.fingerprint())
		}
	}
	e.encoded = e.facts.encode()
	return e
}

// appendStored appends what is stored of an entry: its facts, with their length before, and its id. The
// engine finds that by the document's number, without a table that opening a segment would read.
func (e *entry) appendStored(to []byte) []byte {
	return append(append(binary.AppendUvarint(to, uint64(len(e.encoded))), e.encoded...), e.id...)
}

// frequencies counts the terms of text: how often each occurs, in the order in
// which they are met, and how many tokens there are.
func (a *Analyzer) frequencies(text []byte) ([]termCount, int) {
	if len(text) == 0 {
		return nil, 0
	}
	length := 0
	a.touched = a.touched[:0]
	a.scan(text, nil, func(_, _ int, pieces []piece) bool {
		length += len(pieces)
		for _, p := range pieces {
			if a.counts[p.term] == 0 {
				a.touched = append(a.touched, p.term)
			}
			a.counts[p.term]++
		}
		return true
	})
	counts := make([]termCount, len(a.touched))
	for i, id := range a.touched {
		counts[i] = termCount{id, a.counts[id]}
		a.counts[id] = 0
	}
	return counts, length
}

// adopt gives an entry of another Analyzer the numbers of a.
func (a *Analyzer) adopt(e *entry) {
	if e.analyzer == a {
		return
	}
	for _, terms := range e.terms {
		for i := range terms {
			terms[i].term = a.number(e.analyzer.terms[terms[i].term])
		}
	}
	e.analyzer = a
}

// What follows makes an entry what the engine asks for. It is never asked for
// its fields: segments are made by segmentPlugin, which knows what an entry is.
// Sizes are only for the engine's own figures, which nobody reads.

func (e *entry) ID() string                               { return e.id }
func (e *entry) AddIDField()                              {}
func (e *entry) VisitFields(api.FieldVisitor)             {}
func (e *entry) VisitComposite(api.CompositeFieldVisitor) {}
func (e *entry) HasComposite() bool                       { return false }
func (e *entry) Size() int                                { return 0 }
func (e *entry) NumPlainTextBytes() uint64                { return 0 }
func (e *entry) StoredFieldsBytes() uint64                { return 0 }
func (e *entry) Indexed() bool                            { return false }

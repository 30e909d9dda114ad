package layout

import (
	"bytes"
	"fmt"
	"strings"

	"filebus/store/record"
)

// A Marker is what an agent marks in its turn of a dialogue, by the grammar
// that the RFC on file-based subagent output relies on:
//
//	[PERSPECTIVE P01: label]   [TENSION T01: label]
//	[REFINEMENT: text]         [CONCESSION: text]
//	[RESOLVED T01]             [RESOLVED T01: text]
//
// Agents bend it in many ways. A marker whose first word is known is kept
// whatever follows; Exact tells whether it follows the grammar.
type Marker struct {
	Kind  MarkerKind
	ID    string // P01, T01: a letter and at least two digits; "" when the marker has none
	Label string // behind the colon; without one, all that follows the kind
	Body  string // the text up to the next marker, a rule or the end
	Line  int    // counted from 1
	Raw   string // as written, from bracket to bracket
	Exact bool
}

// A MarkerKind is the word that a marker begins with, in capitals.
type MarkerKind string

// The kinds of markers.
const (
	MarkerPerspective MarkerKind = "PERSPECTIVE"
	MarkerTension     MarkerKind = "TENSION"
	MarkerRefinement  MarkerKind = "REFINEMENT"
	MarkerConcession  MarkerKind = "CONCESSION"
	MarkerResolved    MarkerKind = "RESOLVED"
)

// MarkerKinds returns every kind, in the order in which they are counted.
func MarkerKinds() []MarkerKind {
	return []MarkerKind{MarkerPerspective, MarkerTension, MarkerRefinement, MarkerConcession, MarkerResolved}
}

// letter returns what the ids of a kind begin with, 0 if it has none.
func (k MarkerKind) letter() byte {
	switch k {
	case MarkerPerspective:
		return 'P'
	case MarkerTension, MarkerResolved:
		return 'T'
	}
	return 0
}

// Turns is the layout of one agent's file of a dialogue round: one record a
// file.
type Turns struct{}

// Parse makes the whole file one turn record. Its summary lists the markers; a
// marker that does not follow the grammar is reported, and kept.
func (Turns) Parse(path string, text []byte) (File, []*SyntaxError) {
	var f Facts
	var problems []*SyntaxError
	var labels []string // the first 20; the summary is cut long before
	counts := make(map[MarkerKind]int)
	for _, m := range ParseMarkers(text) {
		counts[m.Kind]++
		if len(labels) < 20 {
			labels = append(labels, strings.Trim(m.Raw, "[]"))
		}
		if !m.Exact {
			problems = append(problems, &SyntaxError{path, m.Line, fmt.Errorf("marker %q does not follow the grammar", clipLine(m.Raw, 60))})
		}
		if f.Title == "" && m.Kind == MarkerPerspective {
			f.Title = clipLine(collapseSpace(m.Label), 120)
		}
	}
	f.Summary = summaryOf(strings.Join(labels, "; "))
	var kinds []string
	for _, kind := range MarkerKinds() {
		if counts[kind] > 0 {
			kinds = append(kinds, fmt.Sprintf("%s=%d", kind, counts[kind]))
		}
	}
	f.setFact(AttributeMarkers, strings.Join(kinds, " "))
	return single(path, record.KindTurn, text, f), problems
}

// AppendMarkers appends the text of a turn: each marker on a line of its own,
// its body below it. Brackets of a label that have no partner are left out.
func AppendMarkers(dst []byte, markers []Marker) []byte {
	for i, m := range markers {
		if i > 0 {
			dst = append(dst, '\n')
		}
		dst = append(append(dst, '['), m.Kind...)
		if m.ID != "" {
			dst = append(append(dst, ' '), m.ID...)
		}
		label := balanced(singleSpaced(m.Label))
		switch {
		case label == "":
		case m.Exact || m.ID != "":
			dst = append(append(dst, ": "...), label...)
		default:
			dst = append(append(dst, ' '), label...)
		}
		dst = append(dst, "]\n"...)
		if body := strings.TrimSpace(m.Body); body != "" {
			dst = append(append(dst, body...), '\n')
		}
	}
	return dst
}

// balanced returns text without the brackets that have no partner.
func balanced(text string) string {
	keep := make([]bool, len(text))
	var open []int
	for i := range len(text) {
		switch text[i] {
		case '[':
			open = append(open, i)
		case ']':
			if n := len(open); n > 0 {
				keep[open[n-1]], keep[i] = true, true
				open = open[:n-1]
			}
		default:
			keep[i] = true
		}
	}
	out := make([]byte, 0, len(text))
	for i := range len(text) {
		if keep[i] {
			out = append(out, text[i])
		}
	}
	return string(out)
}

// ParseMarkers returns the markers of a text in their order. It looks at every
// bracket outside of code fences, HTML comments and code spans, on any place of
// a line: several may stand on one, in bold or in a list. A label may hold
// brackets in pairs and run over several lines of a paragraph, up to 2 KiB; one
// that is not closed ends with its line. Any bytes are accepted.
func ParseMarkers(text []byte) []Marker {
	r := markerReader{text: text, lines: scanLines(text)}
	for i := range r.lines {
		if l := &r.lines[i]; !l.quiet {
			r.scan(i)
		} else {
			r.stop = max(r.stop, l.end)
		}
	}
	r.endBody(len(text))
	return r.markers
}

// maxMarker bounds the length of a marker, in bytes.
const maxMarker = 2 << 10

// A markerReader goes over a text once, line by line. A marker may run on into
// later lines, which then begin behind it.
type markerReader struct {
	text    []byte
	lines   []scanLine
	markers []Marker
	stop    int  // no marker begins before this offset
	body    int  // where the body of the last marker begins
	ended   bool // the body of the last marker
}

// scan reads the markers that begin on the line with index i.
func (r *markerReader) scan(i int) {
	l := r.lines[i]
	if isScanRule(l.text) && l.start >= r.stop {
		r.endBody(l.start)
		return
	}
	code, codeTo := false, l.at // whether the text up to codeTo ends inside a code span
	for at := max(l.at, r.stop); at < l.end; at++ {
		if r.text[at] != '[' {
			continue
		}
		kind, found := markerKind(r.text[at+1 : min(at+16, len(r.text))])
		if !found {
			continue
		}
		code = code != (bytes.Count(r.text[codeTo:at], []byte("`"))%2 == 1)
		codeTo = at
		if code {
			continue
		}
		r.endBody(markerMargin(r.text, l.at, at))
		end := r.closing(i, at)
		r.markers = append(r.markers, newMarker(kind, string(r.text[at:end]), l.number))
		r.body, r.ended, r.stop = end, false, end
		at = end - 1 // a marker inside a label is part of the label
		codeTo = min(end, l.end)
	}
}

// markerKind returns the kind that text, which follows a bracket, begins with.
func markerKind(text []byte) (MarkerKind, bool) {
	for _, kind := range MarkerKinds() {
		if rest, found := bytes.CutPrefix(text, []byte(kind)); found {
			return kind, len(rest) > 0 && strings.IndexByte(": \t]\r\n", rest[0]) >= 0
		}
	}
	return "", false
}

// closing returns the offset behind the bracket that closes the one at the
// offset at, in line i, or the end of that line if none does.
func (r *markerReader) closing(i, at int) int {
	limit := min(len(r.text), at+maxMarker)
	depth := 0
	for next := at; next < limit; next++ {
		switch r.text[next] {
		case '[':
			depth++
		case ']':
			if depth--; depth == 0 {
				return next + 1
			}
		case '\n': // a paragraph that ends takes an open bracket with it
			if blankAfter(r.text[next+1:]) {
				limit = next
			}
		}
	}
	return r.lines[i].at + len(r.lines[i].text)
}

// blankAfter reports whether the line that rest begins with is blank.
func blankAfter(rest []byte) bool {
	rest = bytes.TrimLeft(rest[:min(len(rest), 80)], " \t\r")
	return len(rest) == 0 || rest[0] == '\n'
}

// markerMargin returns where the line's text before a marker ends: at the
// beginning of the line if nothing but list marks and bold stand before it.
func markerMargin(text []byte, start, at int) int {
	if len(bytes.Trim(text[start:at], " \t-*+_>#.0123456789")) == 0 {
		return start
	}
	return at
}

// endBody ends the body of the last marker.
func (r *markerReader) endBody(at int) {
	if r.ended || len(r.markers) == 0 {
		return
	}
	r.ended = true
	body := strings.TrimSpace(string(r.text[r.body:max(at, r.body)]))
	if strings.HasPrefix(body, "**") && strings.Count(firstLineOf(body), "**")%2 == 1 {
		body = strings.TrimSpace(body[2:]) // the bold around the marker ends
	}
	r.markers[len(r.markers)-1].Body = body
}

// firstLineOf returns text up to its first line break.
func firstLineOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// newMarker reads the inside of a marker, raw from bracket to bracket.
func newMarker(kind MarkerKind, raw string, line int) Marker {
	inside := strings.TrimSuffix(raw, "]")[1+len(kind):]
	closed := strings.Count(raw, "[") == strings.Count(raw, "]") // else raw is cut at a line's end
	m := Marker{Kind: kind, Line: line, Raw: raw, Label: singleSpaced(inside)}
	// Behind the kind: an id if the kind has ids, a colon, the label.
	head, label, hasLabel := strings.Cut(inside, ":")
	id, isID := normalMarkerID(strings.TrimSpace(head), kind.letter())
	switch {
	case !closed:
	case isID && (hasLabel || kind == MarkerResolved):
		m.ID, m.Label, m.Exact = id, singleSpaced(label), true
	case kind.letter() == 0 && hasLabel && strings.TrimSpace(head) == "":
		m.Label, m.Exact = singleSpaced(label), true
	case isID: // without a label
		m.ID, m.Label = id, ""
	}
	if m.Exact && m.Label == "" && kind != MarkerResolved {
		m.Exact = false
	}
	return m
}

// normalMarkerID returns an id with two digits at least: T1, T01 and T001 are
// T01. Other forms, such as T01-R1 or T1.1, are no ids.
func normalMarkerID(text string, letter byte) (string, bool) {
	if letter == 0 || len(text) < 2 || len(text) > 10 || text[0] != letter {
		return "", false
	}
	digits, found := number(text[1:], "")
	if !found {
		return "", false
	}
	return fmt.Sprintf("%c%02s", letter, digits), true
}

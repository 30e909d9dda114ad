package layout

import (
	"bytes"
	"fmt"
	"strings"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// statusError is the status of a stub, which stands in for a turn.
const statusError = "error"

// turns is the layout of one agent's file of a dialogue round.
var turns = &single{record.KindTurn, turnFacts}

// turnFacts lists the markers in the summary; a marker that does not follow the
// grammar is reported. A stub has no markers: its title says why there is no turn.
func turnFacts(_ string, text []byte) (f Facts, problems []*SyntaxError) {
	if reason, isStub := ParseStub(text); isStub {
		f = Facts{Status: statusError, Title: "No turn"}
		if reason != "" {
			f.Title = titleOf("No turn: " + reason)
		}
		return f, nil
	}
	var labels []string // the first 20; the summary is cut long before
	counts := make(map[MarkerKind]int)
	r := readMarkers(text)
	problems = r.slips
	for _, m := range r.markers {
		counts[m.Kind]++
		if len(labels) < 20 {
			labels = append(labels, strings.Trim(m.Raw, "[]"))
		}
		if !m.Exact && !m.NamesWhole() {
			problems = append(problems, wrong(m.Line, "marker %q does not follow the grammar", markdown.Clip(m.Raw, 60)))
		}
		if f.Title == "" && m.Kind == MarkerPerspective {
			f.Title = titleOf(m.Label)
		}
	}
	f.Summary = summaryOf(strings.Join(labels, "; "))
	var kinds []string
	for _, kind := range MarkerKinds() {
		if counts[kind] > 0 {
			kinds = append(kinds, fmt.Sprintf("%s=%d", kind, counts[kind]))
		}
	}
	f.setFact(attributeMarkers, strings.Join(kinds, " "))
	return f, problems
}

// ParseMarkers returns the markers of a text in their order. It looks at every
// bracket outside of code fences, HTML comments and code spans, on any place of
// a line: several may stand on one, in bold or in a list. A label may hold
// brackets in pairs and run over several lines of a paragraph, up to 2 KiB; one
// that is not closed ends with its line. Any bytes are accepted. The time is linear in
// the text.
func ParseMarkers(text []byte) []Marker { return readMarkers(text).markers }

// MarkerSlips returns what looks like markers and is none, in order.
func MarkerSlips(text []byte) []*SyntaxError { return readMarkers(text).slips }

// readMarkers reads the markers of a text, and what looks like one.
func readMarkers(text []byte) *markerReader {
	r := &markerReader{text: text, lines: markdown.Lines(text)}
	markdown.MarkNested(r.lines)
	for i := range r.lines {
		switch l := &r.lines[i]; {
		case l.Quiet && l.Behind == 0:
			r.stop = max(r.stop, l.End)
		case l.Quiet:
			r.stop = max(r.stop, l.Behind)
			fallthrough
		default:
			r.scan(i)
		}
	}
	r.endBody(len(text))
	return r
}

// maxMarker bounds the length of a marker, in bytes.
const maxMarker = 2 << 10

// A markerReader goes over a text once, line by line. A marker may run on into
// later lines, which then begin behind it.
type markerReader struct {
	text    []byte
	lines   []markdown.Line
	markers []Marker
	slips   []*SyntaxError
	stop    int  // no marker begins before this offset
	body    int  // where the body of the last marker begins
	ended   bool // the body of the last marker
}

// scan reads the markers that begin on the line with index i.
func (r *markerReader) scan(i int) {
	l := r.lines[i]
	if markdown.IsRule(l.Text) && l.Start >= r.stop {
		r.endBody(l.Start)
		return
	}
	spans := markdown.CodeSpans{Line: l.Text}
	for at := max(l.At, r.stop); at < l.End; at++ {
		switch c := r.text[at]; {
		case c == '`':
			at = l.At + spans.Skip(at-l.At) - 1
		case c == '<':
			at = r.skipComment(at) - 1
		case c == '[':
			if end := r.take(i, at); end > at {
				at = end - 1 // a marker inside a label is part of the label
			}
		}
	}
}

// take reads the marker that begins at an offset in line i and returns its end,
// or at if none begins there.
func (r *markerReader) take(i, at int) int {
	l := r.lines[i]
	margin := markerMargin(r.text, l.At, at)
	start := string(markdown.Head(r.text[at:], 1+maxMarkerHead))
	head, found := cutMarkerHead(start[1:], margin == l.At)
	if !found {
		if meant := meantBy(start[1:]); meant != "" {
			const text = "%q is no marker and counts as nothing; is it meant for %s?"
			r.slips = append(r.slips, wrong(l.Number, text, start[:strings.IndexAny(start+"\n", "]\r\n")], meant))
		}
		return at
	}
	r.endBody(margin)
	end := r.closing(i, at)
	raw := string(r.text[at:end])
	m := head.read(raw, l.Number)
	m.Raw = raw
	r.markers = append(r.markers, m)
	r.body, r.ended, r.stop = end, false, end
	return end
}

// skipComment returns the offset behind the HTML comment that begins at an offset, or
// the next one if none does. One that does not end in its paragraph, or is longer than a
// marker, is text.
func (r *markerReader) skipComment(at int) int {
	rest := r.text[at:min(len(r.text), at+maxMarker)]
	if !bytes.HasPrefix(rest, []byte("<!--")) {
		return at + 1
	}
	size := bytes.Index(rest, []byte("-->"))
	if size < len("<!--") {
		return at + 1
	}
	for i, c := range rest[:size] {
		if c == '\n' && blankAfter(rest[i+1:]) {
			return at + 1
		}
	}
	end := at + size + len("-->")
	r.stop = max(r.stop, end)
	return end
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
	return r.lines[i].At + len(r.lines[i].Text)
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
	first, _, _ := strings.Cut(body, "\n")
	if strings.HasPrefix(body, "**") && strings.Count(first, "**")%2 == 1 {
		body = strings.TrimSpace(body[2:]) // the bold around the marker ends
	}
	r.markers[len(r.markers)-1].Body = body
}

// stubHead begins a file that stands in for a turn.
const stubHead = "[ERROR:"

// StubText returns the file that stands in for the turn of an agent that gave
// none: a line with the reason in one, and below it what else is to be said.
func StubText(reason, details string) []byte {
	text := fmt.Sprintf("%s %s]\n", stubHead, markdown.SingleSpaced(reason))
	if details = strings.TrimSpace(details); details != "" {
		text += "\n" + details + "\n"
	}
	return []byte(text)
}

// ParseStub returns the reason of a stub: a file whose first line that is not
// blank is "[ERROR: reason]".
func ParseStub(text []byte) (reason string, found bool) {
	first, _, _ := bytes.Cut(bytes.TrimSpace(bytes.TrimPrefix(text, []byte(markdown.ByteOrderMark))), []byte("\n"))
	rest, found := strings.CutPrefix(string(first), stubHead)
	rest, closed := strings.CutSuffix(strings.TrimSpace(rest), "]")
	if !found || !closed {
		return "", false
	}
	return strings.TrimSpace(rest), true
}

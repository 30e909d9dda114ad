package layout

import (
	"fmt"
	"strings"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// StatusError is the status of a stub, which stands in for a turn.
const StatusError = "error"

// Turns is the layout of one agent's file of a dialogue round: one record a
// file.
type Turns struct{}

// Parse makes the whole file one turn record. Its summary lists the markers; a
// marker that does not follow the grammar is reported, and kept. A stub has no
// markers: its title says why there is no turn.
func (Turns) Parse(path string, text []byte) (File, []*SyntaxError) {
	if reason, isStub := ParseStub(text); isStub {
		return single(path, record.KindTurn, text, stubFacts(reason)), nil
	}
	var f Facts
	var problems []*SyntaxError
	var labels []string // the first 20; the summary is cut long before
	counts := make(map[MarkerKind]int)
	for _, m := range ParseMarkers(text) {
		counts[m.Kind]++
		if len(labels) < 20 {
			labels = append(labels, strings.Trim(m.Raw, "[]"))
		}
		if !m.Exact && !m.NamesWhole() {
			problems = append(problems, &SyntaxError{File: path, Line: m.Line,
				Err: fmt.Errorf("marker %q does not follow the grammar", markdown.Clip(m.Raw, 60))})
		}
		if f.Title == "" && m.Kind == MarkerPerspective {
			f.Title = markdown.Clip(markdown.CollapseSpace(m.Label), 120)
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

// stubFacts returns what a stub says.
func stubFacts(reason string) Facts {
	f := Facts{Status: StatusError, Title: "No turn"}
	if reason != "" {
		f.Title = markdown.Clip("No turn: "+markdown.CollapseSpace(reason), 120)
	}
	return f
}

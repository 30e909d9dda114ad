package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"filebus/index"
	"filebus/query"
)

// maxFacetValues is how many values of a field are shown.
const maxFacetValues = 10

// A facetJSON is what is shown of the values of a field, in JSON.
type facetJSON struct {
	Values []index.FacetCount `json:"values"`
	More   int                `json:"more,omitempty"` // values that are not shown
}

// facets returns what is shown of each field.
func (p *hitPage) facets() map[index.Facet]facetJSON {
	all := map[index.Facet]facetJSON{}
	for _, field := range p.fields {
		counts := p.answer.Facets[field]
		shown := min(len(counts), maxFacetValues)
		all[field] = facetJSON{append([]index.FacetCount{}, counts[:shown]...), len(counts) - shown}
	}
	return all
}

// facetLines returns a line for each field.
func (p *hitPage) facetLines() string {
	var out strings.Builder
	shown := p.facets()
	for _, field := range p.fields {
		var values []string
		for _, c := range shown[field].Values {
			values = append(values, fmt.Sprintf("%s %d", oneLine(c.Value), c.Count))
		}
		if more := shown[field].More; more > 0 {
			values = append(values, fmt.Sprintf("%d more", more))
		}
		fmt.Fprintf(&out, "%s: %s\n", field, cmp.Or(strings.Join(values, ", "), "none"))
	}
	return out.String()
}

// explainText says what a hit scores by: of each term the points, how rare it is,
// and how often each field has it.
func explainText(h *query.Hit) string {
	var parts []string
	for _, p := range h.Points {
		facts := []string{fmt.Sprintf("rarity %.2f", p.Rarity)}
		for _, field := range slices.Sorted(maps.Keys(p.Fields)) {
			facts = append(facts, fmt.Sprintf("%s %d", field, p.Fields[field]))
		}
		parts = append(parts, fmt.Sprintf("%s %.2f (%s)", oneLine(p.Term), p.Score, strings.Join(facts, ", ")))
	}
	if h.Nearness != 0 {
		parts = append(parts, fmt.Sprintf("nearness %.2f", h.Nearness))
	}
	if h.Scanned {
		parts = append(parts, "scanned, not ranked")
	}
	text := fmt.Sprintf("%.2f", h.Score)
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	return text
}

package main

import (
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
	Values []facetValueJSON `json:"values"`
	More   int              `json:"more,omitempty"` // values that are not shown
}

type facetValueJSON struct {
	Value string `json:"value"`
	Count uint64 `json:"count"`
}

// facets returns the fields that were asked for, in that order.
func (p *hitPage) facets() []index.Facet {
	asked, _ := parseFacets(p.opts.facets) // they were read before the search
	return asked
}

// facetLines returns a line for each field.
func facetLines(counts map[index.Facet][]index.FacetCount, fields []index.Facet) string {
	var out strings.Builder
	for _, field := range fields {
		values := []string{}
		for _, c := range counts[field] {
			if len(values) == maxFacetValues {
				values = append(values, fmt.Sprintf("%d more", len(counts[field])-maxFacetValues))
				break
			}
			values = append(values, fmt.Sprintf("%s %d", oneLine(c.Value), c.Count))
		}
		if len(values) == 0 {
			values = []string{"none"}
		}
		fmt.Fprintf(&out, "%s: %s\n", field, strings.Join(values, ", "))
	}
	return out.String()
}

// facetsJSON returns the counts of each field as they are shown in JSON.
func facetsJSON(counts map[index.Facet][]index.FacetCount, fields []index.Facet) map[string]facetJSON {
	var all map[string]facetJSON
	for _, field := range fields {
		f := facetJSON{Values: []facetValueJSON{}, More: max(0, len(counts[field])-maxFacetValues)}
		for _, c := range counts[field][:len(counts[field])-f.More] {
			f.Values = append(f.Values, facetValueJSON{c.Value, c.Count})
		}
		if all == nil {
			all = map[string]facetJSON{}
		}
		all[string(field)] = f
	}
	return all
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

// An explainJSON is what a term adds to a hit's score, in JSON.
type explainJSON struct {
	Term   string         `json:"term"`
	Points float64        `json:"points"`
	Rarity float64        `json:"rarity"`
	Counts map[string]int `json:"counts,omitempty"`
}

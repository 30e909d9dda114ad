package main

import (
	"math"
	"strings"
	"time"

	"filebus/index"
	"filebus/query"
)

// A searchJSON is an answer in JSON.
type searchJSON struct {
	query.SearchAnswer
	Facets map[index.Facet]facetJSON `json:"facets,omitempty"`
	Next   *int                      `json:"next,omitempty"` // offset of the next page
	Hits   []query.Hit               `json:"hits"`
}

// pageJSON returns the page with some hits in JSON, the first n of all.
func (p *hitPage) pageJSON(n int, hits []query.Hit) searchJSON {
	value := searchJSON{SearchAnswer: p.answer, Facets: p.facets(), Hits: hits}
	for i := range value.Hits {
		shorten(&value.Hits[i])
	}
	// Where not even the first has room, the next page is the same.
	if n < len(p.answer.Hits) || p.more && p.limit > 0 {
		next := p.offset + n
		value.Next = &next
	}
	return value
}

// json returns the first n hits in JSON.
func (p *hitPage) json(n int) any {
	page := func(snippet int) searchJSON {
		hits := make([]query.Hit, n)
		for i, h := range p.answer.Hits[:n] {
			h.Snippet = h.Clip(snippet)
			hits[i] = h
		}
		return p.pageJSON(n, hits)
	}
	if p.opts.room() == 0 {
		return page(math.MaxInt)
	}
	return page(p.snippetSize(n, func(snippet int) string {
		var out strings.Builder
		_ = writeJSON(&out, page(snippet)) // what fails is said where it is printed
		return out.String()
	}))
}

// shorten gives a hit the form that it has in JSON: no more digits than say
// something, and the lines of the file where those of the body are others.
func shorten(h *query.Hit) {
	h.Time, h.Score, h.Nearness = h.Time.Truncate(time.Second), thousandths(h.Score), thousandths(h.Nearness)
	for i, p := range h.Points {
		h.Points[i].Score, h.Points[i].Rarity = thousandths(p.Score), thousandths(p.Rarity)
	}
	if h.FileLines == h.Lines {
		h.FileLines = query.Span{}
	}
}

func thousandths(f float64) float64 { return math.Round(f*1000) / 1000 }

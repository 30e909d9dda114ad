package main

import (
	"errors"
	"math"
	"strings"
	"time"

	"filebus/query"
	"filebus/store/record"
)

// A searchJSON is an answer in JSON.
type searchJSON struct {
	Total          uint64               `json:"total"`
	Unindexed      uint64               `json:"unindexed,omitempty"`
	ScanIncomplete bool                 `json:"scan_incomplete,omitempty"`
	AsPhrase       string               `json:"as_phrase,omitempty"`
	Unknown        []string             `json:"unknown,omitempty"`
	DidYouMean     string               `json:"did_you_mean,omitempty"`
	Hidden         []hiddenJSON         `json:"hidden,omitempty"`
	Facets         map[string]facetJSON `json:"facets,omitempty"`
	Next           *int                 `json:"next,omitempty"` // offset of the next page
	Hits           []hitJSON            `json:"hits"`
}

// A hitJSON is a hit in JSON. Lines are [from, to], marks [start, end] in bytes
// of the snippet; what is not there is left out.
type hitJSON struct {
	Name         record.Name   `json:"name"`
	Ref          string        `json:"ref"`
	Tree         record.Tree   `json:"tree,omitempty"`
	Kind         record.Kind   `json:"kind"`
	Path         string        `json:"path,omitempty"`
	Title        string        `json:"title,omitempty"`
	Section      string        `json:"section,omitempty"`
	Lines        *[2]int       `json:"lines,omitempty"`
	FileLines    *[2]int       `json:"file_lines,omitempty"`
	Snippet      string        `json:"snippet,omitempty"`
	Marks        [][2]int      `json:"marks,omitempty"`
	Tokens       int           `json:"tokens"`
	Agent        string        `json:"agent,omitempty"`
	Time         time.Time     `json:"time"`
	Score        float64       `json:"score"`
	Scanned      bool          `json:"scanned,omitempty"`
	Older        bool          `json:"older,omitempty"`
	Damaged      bool          `json:"damaged,omitempty"`
	Like         []record.Name `json:"like,omitempty"`
	CommitsSince int           `json:"commits_since,omitempty"`
	Explain      []explainJSON `json:"explain,omitempty"`
	Nearness     float64       `json:"nearness,omitempty"`
	Text         string        `json:"text,omitempty"`
	Left         int           `json:"left,omitempty"`
	Store        string        `json:"store,omitempty"`
}

// json returns the page in JSON, and how many hits it has.
func (p *hitPage) json() (text string, shown int, err error) {
	a := p.answer
	value := p.emptyJSON()
	hits := make([]hitJSON, len(a.Hits))
	write := func(n, snippet int) string {
		for i := range hits[:n] {
			h := a.Hits[i]
			h.Snippet = h.Snippet.Clip(snippet)
			hits[i] = toHitJSON(&h)
		}
		value.Hits, value.Next = hits[:n], p.next(n)
		line, jsonErr := jsonLine(value)
		err = errors.Join(err, jsonErr)
		return line
	}
	room := p.opts.room()
	if room == 0 {
		return write(len(hits), math.MaxInt), len(hits), err
	}
	if len(write(0, 0)) > room {
		value.AsPhrase, value.Unknown, value.DidYouMean, value.Hidden = "", nil, "", nil // stderr has them
	}
	if len(write(0, 0)) > room && value.Facets != nil {
		value.Facets = nil
		p.env.note("the counts have no room in %s", plural(p.opts.maxTokens, "token"))
	}
	text, shown = fit(len(hits), room, false, write)
	return text, shown, err
}

// emptyJSON returns the page in JSON without its hits.
func (p *hitPage) emptyJSON() searchJSON {
	a := p.answer
	return searchJSON{
		Total: a.Total, Unindexed: a.Unindexed, ScanIncomplete: a.ScanIncomplete, Facets: facetsJSON(a.Facets, p.facets()),
		Next: p.next(len(a.Hits)), Hits: []hitJSON{}, AsPhrase: a.AsPhrase, Unknown: a.Unknown, DidYouMean: a.DidYouMean, Hidden: toHiddenJSON(a.Hidden),
	}
}

// next returns the offset of the page behind the first n hits, or nil when there is
// none. It is 0 where not even the first has room.
func (p *hitPage) next(n int) *int {
	if n < len(p.answer.Hits) || p.more && p.limit > 0 {
		next := p.offset + n
		return &next
	}
	return nil
}

// jsonLine returns what printJSON prints of a value.
func jsonLine(value any) (string, error) {
	var text strings.Builder
	err := writeJSON(&text, value)
	return text.String(), err
}

func toHitJSON(h *query.Hit) hitJSON {
	j := hitJSON{
		Name: h.Name, Ref: h.Ref.Short(), Tree: h.Name.Tree, Kind: h.Name.Kind, Path: validText(h.Path), Title: h.Title,
		Section: h.Section, Lines: pair(h.Lines), Snippet: h.Snippet.Text, Tokens: h.Tokens, Agent: h.Agent,
		Time: h.Time.Truncate(time.Second), Score: thousandths(h.Score), Scanned: h.Scanned, Older: h.Older,
		Damaged: h.Damaged, Like: h.Like, CommitsSince: h.Commits, Nearness: thousandths(h.Nearness),
		Store: validText(h.Store),
	}
	for _, p := range h.Points {
		j.Explain = append(j.Explain, explainJSON{p.Term, thousandths(p.Score), thousandths(p.Rarity), p.Fields})
	}
	if h.FileLines != h.Lines {
		j.FileLines = pair(h.FileLines)
	}
	for _, m := range h.Snippet.Marks {
		j.Marks = append(j.Marks, [2]int{m.Start, m.End})
	}
	return j
}

func thousandths(f float64) float64 { return math.Round(f*1000) / 1000 }

// pair returns a span as [from, to], or nil for none.
func pair(s query.Span) *[2]int {
	if s.From == 0 {
		return nil
	}
	return &[2]int{s.From, s.To}
}

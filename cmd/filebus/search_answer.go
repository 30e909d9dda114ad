package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/index"
	"filebus/materialize/markdown"
	"filebus/query"
)

type searchJSON struct {
	query.SearchAnswer
	Facets map[index.Facet]facetJSON `json:"facets,omitempty"`
	Next   *int                      `json:"next,omitempty"` // offset of the next page
	More   int                       `json:"more,omitempty"` // from there on
	Stale  []staleTree               `json:"stale_trees,omitempty"`
	Hits   []query.Hit               `json:"hits"`
}

// pageJSON returns the page with some hits in JSON, the first n of all.
func (p *hitPage) pageJSON(n int, hits []query.Hit) searchJSON {
	value := searchJSON{SearchAnswer: p.answer, Facets: p.facets(), Stale: p.stale, Hits: hits}
	for i := range value.Hits {
		shorten(&value.Hits[i])
	}
	// Where not even the first has room, the next page is the same.
	if next, more := p.offset+n+p.folded, p.more+len(p.answer.Hits)-n; more > 0 && p.limit > 0 {
		value.Next, value.More = &next, more
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
	return page(p.snippetSize(n, func(snippet int) string { return jsonText(page(snippet)) }))
}

// jsonText returns a value as it is printed. What fails is said there.
func jsonText(value any) string {
	var out strings.Builder
	_ = cli.WriteJSON(&out, value)
	return out.String()
}

// shorten gives a hit the form that it has in JSON: no more digits than say
// something, and the lines of the file where those of the body are others.
func shorten(h *query.Hit) {
	h.Time, h.Written = h.Time.Truncate(time.Second), h.Written.Truncate(time.Second)
	for _, score := range []*float64{&h.Score, &h.Nearness, &h.Passage, &h.Named, &h.Length} {
		*score = thousandths(*score)
	}
	if len(h.Points) == 0 { // only who asks why reads them
		h.Named, h.Length = 0, 0
	}
	for i, p := range h.Points {
		h.Points[i].Score, h.Points[i].Rarity = thousandths(p.Score), thousandths(p.Rarity)
	}
	if h.FileLines == h.Lines {
		h.FileLines = query.Span{}
	}
}

func thousandths(f float64) float64 { return math.Round(f*1000) / 1000 }

type facetJSON struct {
	Values []index.FacetCount `json:"values"`
	More   int                `json:"more,omitempty"` // values that are not shown
}

// facets returns what is shown of each field.
func (p *hitPage) facets() map[index.Facet]facetJSON {
	all := map[index.Facet]facetJSON{}
	const maxFacetValues = 10 // how many values of a field are shown
	for _, field := range p.fields {
		counts := p.answer.Facets[field]
		shown := min(len(counts), maxFacetValues)
		if field == index.FacetTime {
			counts = periods(counts)
			shown = min(len(counts), maxPeriods)
		}
		all[field] = facetJSON{append([]index.FacetCount{}, counts[:shown]...), len(counts) - shown}
	}
	return all
}

// maxPeriods is how many days, months or years stand for a time.
const maxPeriods = 62

// periods returns the counts of days in their order, latest first: of months, or of years, where so
// many days lie between the first and the last that they would not be shown.
func periods(days []index.FacetCount) []index.FacetCount {
	if len(days) == 0 {
		return nil
	}
	latest := func(a, b index.FacetCount) int { return strings.Compare(b.Value, a.Value) }
	days = slices.SortedFunc(slices.Values(days), latest)
	first, _ := time.Parse(time.DateOnly, days[len(days)-1].Value)
	last, _ := time.Parse(time.DateOnly, days[0].Value)
	cut := len("-01-02")
	if months := 12*(last.Year()-first.Year()) + int(last.Month()-first.Month()); months < maxPeriods {
		cut = len("-02")
	}
	if last.Before(first.AddDate(0, 0, maxPeriods)) {
		cut = 0
	}
	for i := range days {
		days[i].Value = days[i].Value[:len(days[i].Value)-cut]
	}
	return slices.SortedFunc(slices.Values(index.SumCounts(days, nil)), latest)
}

// facetLines returns a line for each field.
func (p *hitPage) facetLines() string {
	var out strings.Builder
	shown := p.facets()
	for _, field := range p.fields {
		values := markdown.Each(shown[field].Values, func(c index.FacetCount) string {
			return fmt.Sprintf("%s %d", cli.OneLine(cli.TreeText(string(field), c.Value)), c.Count)
		})
		if more := shown[field].More; more > 0 {
			values = append(values, fmt.Sprintf("%d more", more))
		}
		fmt.Fprintf(&out, "%s: %s\n", field, cmp.Or(strings.Join(values, ", "), "none"))
	}
	return out.String()
}

// why says in a line why a hit is one: how it has the words as a whole, of each word what it adds and
// how often each field has it, and what its text and its name change.
func (p *hitPage) why(h *query.Hit) string {
	var parts []string
	written := map[string]string{}
	for token := range index.Analyze([]byte(p.query)) {
		written[token.Term] = p.query[token.Start:token.End]
	}
	for _, of := range h.Points {
		fields := markdown.Each(slices.Sorted(maps.Keys(of.Fields)), func(field string) string {
			return fmt.Sprintf("%s %d", field, of.Fields[field])
		})
		parts = append(parts, fmt.Sprintf("%s %.2f (%s)", cmp.Or(written[of.Term], of.Term), of.Score, strings.Join(fields, ", ")))
	}
	for _, added := range []struct {
		by string
		of float64
	}{{"near each other", h.Nearness}, {"best passage", h.Passage}, {"name", h.Named}, {"length", h.Length}} {
		if math.Abs(added.of) >= 0.005 {
			parts = append(parts, fmt.Sprintf("%s %.2f", added.by, added.of))
		}
	}
	if h.Scanned {
		parts = append(parts, "scanned, not ranked")
	}
	how := [...]string{"", " nearly word by word", " word by word", " in other letters", " as typed", " by its id"}[h.Lifted]
	return cli.ClipText(strings.TrimSuffix(fmt.Sprintf("why %.2f%s: %s", h.Score, how, strings.Join(parts, ", ")), ": "))
}

// answerFlags say what a search prints of what it finds.
type answerFlags struct {
	MaxTokens  int      `flag:"max-tokens" least:"0"` // 0: no bound, but for sections
	Sections   bool     `flag:"sections"`
	Candidates int      `flag:"candidates" least:"0"` // hits with a passage each
	Facets     []string `flag:"facets"`
	Why        bool     `flag:"why"`
	Explain    bool     `flag:"explain"` // an earlier name of it
	Recent     string   `flag:"recent"`  // half-life; "": age does not matter
	Duplicates bool     `flag:"duplicates"`
	NoGit      bool     `flag:"no-git"`
}

// The half-life of a bare --recent, and the tokens of --sections without
// --max-tokens.
const (
	usualRecent        = "30d"
	usualSectionTokens = 4000
)

// ask adds what is printed to what is searched.
func (o *answerFlags) ask(request *query.SearchRequest) (err error) {
	o.Why = o.Why || o.Explain
	request.Duplicates, request.Explain = o.Duplicates, o.Why
	if request.Facets, err = parseFacets(o.Facets); err != nil {
		return err
	}
	if o.Recent != "" {
		request.HalfLife, err = parseHalfLife(o.Recent)
	}
	return err
}

// room is how many tokens may be printed; 0: any number.
func (o *answerFlags) room() int {
	if o.MaxTokens == 0 && o.Sections && o.Candidates == 0 {
		return usualSectionTokens
	}
	return min(o.MaxTokens, 1<<40)
}

// bytesPerToken is how tokens are estimated, as record.EstimateTokens does it.
const bytesPerToken = 4

// parseFacets reads names of fields, each once.
func parseFacets(texts []string) ([]index.Facet, error) {
	var facets []index.Facet
	for _, text := range texts {
		facet := index.Facet(strings.TrimSpace(text))
		if !slices.Contains(index.Facets(), facet) {
			return nil, cli.UsageError("unknown facet %q: the facets are kind, agent, tag, session, tree and time", text)
		}
		if !slices.Contains(facets, facet) {
			facets = append(facets, facet)
		}
	}
	return facets, nil
}

// parseHalfLife reads a length of time, in days too.
func parseHalfLife(text string) (time.Duration, error) {
	length, _ := cli.ParseLength(text)
	if length <= 0 {
		return 0, cli.UsageError("--recent=%s is not a length of time: give 7d or 36h", text)
	}
	return length, nil
}

package main

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/index"
	"filebus/query"
)

// answerFlags say what a search prints of what it finds.
type answerFlags struct {
	MaxTokens  int      `flag:"max-tokens" least:"0"` // 0: no bound, but for sections
	Sections   bool     `flag:"sections"`
	Facets     []string `flag:"facets"`
	Explain    bool     `flag:"explain"`
	Recent     string   `flag:"recent"` // half-life; "": age does not matter
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
	request.Duplicates, request.Explain = o.Duplicates, o.Explain
	if request.Facets, err = parseFacets(o.Facets); err != nil {
		return err
	}
	if o.Recent != "" {
		request.Recent = true
		request.HalfLife, err = parseHalfLife(o.Recent)
	}
	return err
}

// room is how many tokens may be printed; 0: any number.
func (o *answerFlags) room() int {
	if o.MaxTokens == 0 && o.Sections {
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
			return nil, usageError("unknown facet %q: the facets are kind, agent, tag and session", text)
		}
		if !slices.Contains(facets, facet) {
			facets = append(facets, facet)
		}
	}
	return facets, nil
}

// parseHalfLife reads a length of time, in days too.
func parseHalfLife(text string) (time.Duration, error) {
	var length time.Duration
	if days, found := strings.CutSuffix(text, "d"); found {
		if n, err := strconv.ParseFloat(days, 64); err == nil && n < 1e5 {
			length = time.Duration(n * 24 * float64(time.Hour))
		}
	} else if d, err := time.ParseDuration(text); err == nil {
		length = d
	}
	if length <= 0 {
		return 0, usageError("--recent=%s is no length of time: give 7d or 36h", text)
	}
	return length, nil
}

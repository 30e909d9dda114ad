package query

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"filebus/index"
)

const (
	// explainTime bounds the reading of bodies to say why something was not found.
	explainTime = time.Second
	maxUnknown  = 5 // words that are named
)

// missed says why an index has no hits, or none for some words.
type missed struct {
	unknown    []string // only where other words have hits
	didYouMean string
	hidden     []Hidden
}

// explain finds out what a request has missed, given what it has found.
func (c *catchUp) explain(ctx context.Context, x *index.Index, request *SearchRequest, result *index.Result) (m missed, err error) {
	if result.Total > 0 {
		if m.unknown = c.unknown(request, result); m.unknown == nil {
			return m, nil
		}
	}
	incomplete := c.incomplete
	c.until = time.Now().Add(explainTime)
	defer func() { c.incomplete, c.until = incomplete, time.Time{} }()
	m.didYouMean, err = c.correct(ctx, x, request, result.Unknown)
	if err == nil && result.Total == 0 {
		m.hidden, err = c.hidden(ctx, x, request)
	}
	return m, err
}

// unknown returns the words of a request, as it writes them, that no record has.
// Numbers are left out. There are none where a version that was not looked up in the
// index may have them.
func (c *catchUp) unknown(request *SearchRequest, result *index.Result) (words []string) {
	if c.behind() > 0 || request.IndexedOnly || request.History {
		return nil
	}
	for _, at := range result.Unknown {
		word := request.Query[at[0]:at[1]]
		if strings.ContainsFunc(word, unicode.IsLetter) && !slices.Contains(words, word) && len(words) < maxUnknown {
			words = append(words, word)
		}
	}
	return words
}

// tell puts into an answer what was missed.
func (m *missed) tell(answer *SearchAnswer) {
	if answer.Total == 0 {
		answer.Facets = nil // of a phrase that no text has, though some have its words
		answer.DidYouMean, answer.Hidden = m.didYouMean, m.hidden
	} else if len(m.unknown) > 0 {
		answer.Unknown, answer.DidYouMean = m.unknown, m.didYouMean
	}
}

// count returns about how many hits a request has in the index.
func (c *catchUp) count(ctx context.Context, x *index.Index, request SearchRequest) (uint64, error) {
	request.Limit, request.Offset, request.Facets, request.Explain = 1, 0, nil, false
	result, err := c.sifted(ctx, x, &request, request.forIndex())
	return result.Total, err
}

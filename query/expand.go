package query

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"filebus/index"
	"filebus/materialize/layout"
)

// How a query is expanded. The terms that the best hits have in common are added,
// as in relevance models (Lavrenko and Croft 2001): see
// docs/decisions/0017-ranking.md for what was measured.
const (
	feedbackHits    = 10  // whose texts are looked at
	feedbackTerms   = 25  // added at most
	feedbackWeight  = 0.4 // of the best added term, against a term of the query
	feedbackCommon  = 0.1 // part of all documents; a term that more have tells little
	feedbackLeast   = 2   // documents that have a term, or it is of no use
	feedbackAtIndex = 500 // candidates that the index is asked about
)

// An expansion are the terms that were added to a query.
type expansion struct {
	terms []index.WeightedTerm
	words []string // of the terms, as the texts write them
}

// addExpansion changes a request so that its query is expanded, and tells what was
// added.
func (f *finder) addExpansion(ctx context.Context, asked *SearchRequest, answer *SearchAnswer) error {
	e, err := f.expand(ctx)
	if err != nil {
		return err
	}
	asked.More = e.terms
	f.more = make(terms)
	for i, t := range e.terms {
		if _, known := f.terms[t.Term]; !known {
			f.more[t.Term] = len(f.more)
			answer.Expansion = append(answer.Expansion, t)
			answer.ExpansionWords = append(answer.ExpansionWords, e.words[i])
		}
	}
	return nil
}

// expand returns what the best hits of a request have in common, and its query has
// not.
func (f *finder) expand(ctx context.Context) (*expansion, error) {
	first := *f.request
	first.Offset, first.Limit, first.Facets, first.Explain, first.Text = 0, nearWindow, nil, false, ""
	ranked, _, err := f.rank(ctx, &first)
	if err != nil {
		return nil, err
	}
	found, err := f.ordered(ctx, ranked.Hits, 0)
	if err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(g finding) bool { return g.gone || g.ranked.Score <= 0 })
	common, err := f.inCommon(found[:min(len(found), feedbackHits)])
	if err != nil || len(common) == 0 {
		return &expansion{}, err
	}
	return f.choose(ctx, common)
}

// A feedback is a term of the best hits.
type feedback struct {
	term   string
	weight float64
	word   string // that gave the term most often
}

// inCommon returns the terms of texts that may be added, best first: each text
// counts as much as its score, and a term in it as BM25 weighs its occurrences.
func (f *finder) inCommon(found []finding) ([]feedback, error) {
	texts := make([]map[string]*occurrences, len(found))
	lengths := make([]float64, len(found))
	failed := make([]error, len(found))
	parallel(len(found), func(i int) { texts[i], lengths[i], failed[i] = f.occurrencesIn(&found[i]) })
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	average := 0.0
	for _, length := range lengths {
		average += max(length, 1) / float64(len(found))
	}
	sum := make(map[string]*feedback)
	for i, terms := range texts {
		for term, o := range terms {
			known := sum[term]
			if known == nil {
				known = &feedback{term: term, word: o.word}
				sum[term] = known
			}
			n := float64(o.count)
			known.weight += found[i].ranked.Score * n / (n + 0.6 + 0.4*lengths[i]/average)
		}
	}
	var all []feedback
	for _, one := range sum {
		all = append(all, *one)
	}
	sortFeedback(all)
	return all[:min(len(all), feedbackAtIndex)], nil
}

// occurrences say how often a text has a term, and as which word first.
type occurrences struct {
	count int
	word  string
}

// occurrencesIn counts the terms of the section that answers best, near the
// beginning of a body, and how many words there are: what else is in a long text is
// about other things. Terms of one letter and numbers tell too little of what a text is
// about.
func (f *finder) occurrencesIn(found *finding) (map[string]*occurrences, float64, error) {
	text, matches := found.text, found.matches
	if !found.read {
		var err error
		if text, _, err = headOf(found.content); err != nil || layout.IsBinary(text) {
			return nil, 0, err
		}
		text = text[:min(len(text), nearText)]
		matches = f.matches(text, f.terms)
	}
	if parts := partsOf(text); len(parts) > 1 {
		best := withNext(parts, &parts[bestPart(parts, matches, f.terms)])
		text = text[best.start:best.end]
	}
	analyzer := f.analyzer()
	defer f.analyzers.Put(analyzer)
	terms := make(map[string]*occurrences)
	length := 0
	for token := range analyzer.Tokens(text) {
		length++
		if token.Term[0] >= '0' && token.Term[0] <= '9' || utf8.RuneCountInString(token.Term) < 2 {
			continue
		}
		o := terms[token.Term]
		if o == nil {
			o = &occurrences{word: strings.ToLower(strings.ToValidUTF8(string(text[token.Start:token.End]), ""))}
			terms[token.Term] = o
		}
		o.count++
	}
	return terms, float64(length), nil
}

// choose returns those of the terms that are neither too rare nor too common in the
// whole index, with their weights: rare ones say more. The query's own terms are
// among them: what the best hits have most is worth more.
func (f *finder) choose(ctx context.Context, common []feedback) (*expansion, error) {
	terms := make([]string, len(common))
	for i, c := range common {
		terms[i] = c.term
	}
	having, documents, err := f.frequencies(ctx, terms)
	if err != nil {
		return nil, err
	}
	var useful []feedback
	for i, c := range common {
		n, all := float64(having[i]), float64(documents)
		if n < feedbackLeast || n > max(feedbackCommon*all, feedbackHits) {
			continue
		}
		c.weight *= math.Log(1 + max(all-n+0.5, 0)/(n+0.5))
		useful = append(useful, c)
	}
	sortFeedback(useful)
	e := &expansion{}
	for _, c := range useful[:min(len(useful), feedbackTerms)] {
		e.terms = append(e.terms, index.WeightedTerm{Term: c.term, Weight: feedbackWeight * c.weight / useful[0].weight})
		e.words = append(e.words, c.word)
	}
	return e, nil
}

// sortFeedback puts the best first.
func sortFeedback(all []feedback) {
	slices.SortFunc(all, func(a, b feedback) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), strings.Compare(a.term, b.term))
	})
}

// frequencies asks the index, as it is, in how many documents terms are.
func (r *Reader) frequencies(ctx context.Context, terms []string) (having []uint64, documents uint64, err error) {
	c, err := r.newCatchUp(ctx)
	if err != nil {
		return nil, 0, err
	}
	err = c.ask(ctx, time.Time{}, func(x *index.Index) (err error) {
		if having, documents = make([]uint64, len(terms)), 0; x != nil {
			having, documents, err = x.Frequencies(ctx, terms)
		}
		return err
	})
	return having, documents, err
}

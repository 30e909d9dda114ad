package query

import (
	"context"
	"time"

	"filebus/index"
	"filebus/store/record"
)

// A Condition is something that a request asks of hits beside its words.
type Condition string

// The conditions beside the fields of a record.Filter, which are called as these.
const (
	ConditionNotSession Condition = "not-session"
	ConditionTime       Condition = "time"    // Since and Until
	ConditionPhrase     Condition = "phrase"  // the words of Phrases need not stand in a row
	ConditionWithout    Condition = "without" // words and phrases
	ConditionAll        Condition = "all"     // several, none of which alone is in the way
)

// A Hidden is a condition without which a request would have hits.
type Hidden struct {
	Condition Condition `json:"condition"`
	Values    []string  `json:"values,omitempty"` // of the condition, as the request has them; of a time, none
	Total     uint64    `json:"total"`            // hits without it, about
}

// A relaxation takes a condition out of a request.
type relaxation struct {
	condition Condition
	values    []string
	drop      func(q *SearchRequest)
}

// relaxations returns one for each condition of the request.
func (q *SearchRequest) relaxations() []relaxation {
	all := []relaxation{
		{ConditionPhrase, q.Phrases, func(q *SearchRequest) { q.Phrases = nil }},
		{ConditionWithout, append(q.Without[:len(q.Without):len(q.Without)], q.WithoutPhrases...), func(q *SearchRequest) {
			q.Without, q.WithoutPhrases = nil, nil
		}},
	}
	for _, field := range record.FilterFields() {
		all = append(all, relaxation{Condition(field), q.Values(field), func(q *SearchRequest) { q.Clear(field) }})
	}
	all = append(all, relaxation{ConditionNotSession, q.NotSessions, func(q *SearchRequest) { q.NotSessions = nil }})
	if !index.Findable(q.Query) {
		all = all[1:] // without its phrases nothing would be left to look for
	}
	var set []relaxation
	for _, r := range all {
		if len(r.values) > 0 {
			set = append(set, r)
		}
	}
	if !q.Since.IsZero() || !q.Until.IsZero() {
		set = append(set, relaxation{ConditionTime, nil, func(q *SearchRequest) { q.Since, q.Until = time.Time{}, time.Time{} }})
	}
	return set
}

// hidden returns the conditions that are in the way of hits, each alone; if none
// is, all together.
func (c *catchUp) hidden(ctx context.Context, x *index.Index, request *SearchRequest) (found []Hidden, err error) {
	relaxations := request.relaxations()
	free := *request
	for _, r := range relaxations {
		one := *request
		r.drop(&one)
		r.drop(&free)
		n, err := c.count(ctx, x, one)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			found = append(found, Hidden{r.condition, r.values, n})
		}
	}
	if len(found) > 0 || len(relaxations) < 2 {
		return found, nil
	}
	n, err := c.count(ctx, x, free)
	if n > 0 {
		found = append(found, Hidden{ConditionAll, nil, n})
	}
	return found, err
}

package index

import (
	api "github.com/blevesearch/bleve_index_api"
)

// An entry is a document that is analysed, ready for the engine. Its terms are
// numbers of its Analyzer, which must not forget them before the entry is in a
// segment.
type entry struct {
	id       string
	analyzer *Analyzer
	terms    [scoredFields][]termCount // of each scored field
	keys     []string
	facts    facts
	encoded  string // the facts, as they are stored
}

// A termCount says how often a field has a term.
type termCount struct{ term, count uint32 }

// entry analyses d.
func (a *Analyzer) entry(d *Document) *entry {
	e := &entry{
		id: d.Name.String(), analyzer: a, keys: d.keys(),
		facts: facts{position: d.Position, time: d.Time.UTC()},
	}
	for i, text := range d.texts() {
		var length int
		e.terms[i], length = a.frequencies(text)
		e.facts.lengths[i] = uint64(length)
		if i == fieldBody {
			e.facts.setFingerprint(a.fingerprint())
		}
	}
	e.encoded = e.facts.encode()
	return e
}

// frequencies counts the terms of text: how often each occurs, in the order in
// which they are met, and how many tokens there are.
func (a *Analyzer) frequencies(text []byte) ([]termCount, int) {
	if len(text) == 0 {
		return nil, 0
	}
	length := 0
	a.touched = a.touched[:0]
	a.scan(text, nil, func(_, _ int, pieces []piece) bool {
		length += len(pieces)
		for _, p := range pieces {
			if a.counts[p.term] == 0 {
				a.touched = append(a.touched, p.term)
			}
			a.counts[p.term]++
		}
		return true
	})
	counts := make([]termCount, len(a.touched))
	for i, id := range a.touched {
		counts[i] = termCount{id, a.counts[id]}
		a.counts[id] = 0
	}
	return counts, length
}

// adopt gives an entry of another Analyzer the numbers of a.
func (a *Analyzer) adopt(e *entry) {
	if e.analyzer == a {
		return
	}
	for _, terms := range e.terms {
		for i := range terms {
			terms[i].term = a.number(e.analyzer.terms[terms[i].term])
		}
	}
	e.analyzer = a
}

// What follows makes an entry what the engine asks for. It is never asked for
// its fields: segments are made by segmentPlugin, which knows what an entry is.
// Sizes are only for the engine's own figures, which nobody reads.

func (e *entry) ID() string                               { return e.id }
func (e *entry) AddIDField()                              {}
func (e *entry) VisitFields(api.FieldVisitor)             {}
func (e *entry) VisitComposite(api.CompositeFieldVisitor) {}
func (e *entry) HasComposite() bool                       { return false }
func (e *entry) Size() int                                { return 0 }
func (e *entry) NumPlainTextBytes() uint64                { return 0 }
func (e *entry) StoredFieldsBytes() uint64                { return 0 }
func (e *entry) Indexed() bool                            { return false }

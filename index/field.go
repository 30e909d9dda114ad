package index

import (
	api "github.com/blevesearch/bleve_index_api"
)

// frequencies counts the terms of text: how often each occurs, and how many
// tokens there are.
func (a *Analyzer) frequencies(text []byte) (api.TokenFrequencies, int) {
	length := 0
	a.touched = a.touched[:0]
	a.scan(text, func(_, _ int, pieces []piece) bool {
		length += len(pieces)
		for i := range pieces {
			id := pieces[i].id
			if a.counts[id] == 0 {
				a.touched = append(a.touched, id)
			}
			a.counts[id]++
		}
		return true
	})
	terms := make(api.TokenFrequencies, len(a.touched))
	for _, id := range a.touched {
		terms[a.terms[id]] = a.frequency(a.counts[id])
		a.counts[id] = 0
	}
	return terms, length
}

// frequency returns the engine's form of a count. Equal counts share one: the
// engine changes it only where a document has a field twice, which entries do
// not.
func (a *Analyzer) frequency(count uint32) *api.TokenFreq {
	if count >= uint32(len(a.frequencyOf)) {
		return newFrequency(count)
	}
	if a.frequencyOf[count] == nil {
		a.frequencyOf[count] = newFrequency(count)
	}
	return a.frequencyOf[count]
}

// newFrequency returns a count without locations: there are no term vectors.
func newFrequency(count uint32) *api.TokenFreq {
	f := new(api.TokenFreq)
	f.SetFrequency(int(count))
	return f
}

// A field is one analysed field of an entry, as the engine takes it.
type field struct {
	name    string
	value   []byte // stored, where the options say so
	terms   api.TokenFrequencies
	length  int // in tokens
	options api.FieldIndexingOptions
}

// What follows makes a field what the engine asks for. Its terms are there
// before it is asked: analysis runs on our goroutines, where a panic can be
// caught, and not on the engine's.

func (f *field) Name() string                                   { return f.name }
func (f *field) Value() []byte                                  { return f.value }
func (f *field) ArrayPositions() []uint64                       { return nil }
func (f *field) EncodedFieldType() byte                         { return 't' }
func (f *field) Analyze()                                       {} // done before the batch
func (f *field) Options() api.FieldIndexingOptions              { return f.options }
func (f *field) AnalyzedLength() int                            { return f.length }
func (f *field) AnalyzedTokenFrequencies() api.TokenFrequencies { return f.terms }
func (f *field) NumPlainTextBytes() uint64                      { return 0 }

// exact returns a field of terms that are matched but never scored.
func exact(name string, options api.FieldIndexingOptions, terms ...string) *field {
	f := &field{name: name, options: options | api.IndexField | api.SkipFreqNorm, length: len(terms)}
	f.terms = make(api.TokenFrequencies, len(terms))
	for _, term := range terms {
		f.terms[term] = &api.TokenFreq{}
	}
	return f
}

// An entry is a document ready for the engine.
type entry struct {
	id     string
	fields []*field
	facts  facts
}

// What follows makes an entry what the engine asks for. Sizes are only for the
// engine's own figures, which nobody reads.

func (e *entry) ID() string                               { return e.id }
func (e *entry) Size() int                                { return 0 }
func (e *entry) VisitComposite(api.CompositeFieldVisitor) {}
func (e *entry) HasComposite() bool                       { return false }
func (e *entry) NumPlainTextBytes() uint64                { return 0 }
func (e *entry) StoredFieldsBytes() uint64                { return 0 }
func (e *entry) Indexed() bool                            { return false }

// AddIDField adds the field by which the engine replaces and deletes.
func (e *entry) AddIDField() {
	id := exact("_id", api.StoreField, e.id)
	id.value = []byte(e.id)
	e.fields = append(e.fields, id)
}

// VisitFields calls visit with each field.
func (e *entry) VisitFields(visit api.FieldVisitor) {
	for _, f := range e.fields {
		visit(f)
	}
}

package index

// The constants that scores are made of: see docs/decisions/0003-index-statistics.md and
// 0017-ranking.md. Those of what happens after the index has answered are in query/ranking.go.
const (
	// Of BM25: how soon further occurrences stop counting, and how much longer texts are
	// held against them.
	saturation = 1.5
	lengthBias = 0.6

	lightWeight      = 0.3 // of a word that questions are made of, against another
	completionWeight = 0.5 // of a completion, against a term of the query

	// The bounds of a WeightedTerm: a score stays a number above 0.
	minWeight = 1e-9
	maxWeight = 1e9

	// maxScored bounds the terms that are scored. Of a longer query, as a pasted text is, they are the
	// rarest: the others take most of the time, and say least.
	maxScored = 128

	// liftBy is more than any score.
	liftBy = 1 << 20
)

// scored describes the scored fields: how they are called in the index, and
// what an occurrence in them is worth against one in the body.
var scored = [scoredFields]struct {
	name   string
	weight float64
}{
	{"title", 3}, {"headings", 1.5}, {"tags", 3}, {"path", 1.5}, {"body", 1},
}

package query

import "filebus/store/record"

// What tests look at from outside of the package.

// Has reports whether an entry is in the graph.
func (g *graph) Has(name record.Name) bool {
	_, found := g.numbers[name]
	return found
}

// SupersededBy returns what supersedes an entry of the graph.
func (g *graph) SupersededBy(name record.Name) (by record.Name) {
	if n, found := g.numbers[name]; found {
		by = g.nodes[n].stand.By
	}
	return by
}

// The types of what is returned.
type (
	Graph   = graph
	Heading = heading
)

package main

import (
	"strings"

	"filebus/query"
)

// noteExpansion says which words were added to a query, best first, so that the
// hits they bring can be understood.
func noteExpansion(env *environ, answer *query.SearchAnswer) {
	words := make([]string, len(answer.ExpansionWords))
	for i, word := range answer.ExpansionWords {
		words[i] = oneLine(word)
	}
	if len(words) == 0 {
		env.note("--expand found nothing to add")
		return
	}
	env.note("also searched for: %s", strings.Join(words, ", "))
}

package index

import "iter"

// Find returns those tokens of text whose terms are wanted: the same as Tokens
// gives, faster, as most words are seen not to be among them before they are
// analysed. The values of wanted mean nothing here.
func (a *Analyzer) Find(text []byte, wanted map[string]int) iter.Seq[Token] {
	var may beginnings
	for term := range wanted {
		may.add(term)
	}
	return func(yield func(Token) bool) {
		a.rest()
		a.scan(text, func(run []byte) bool { return !may.begin(run) }, func(start, position int, pieces []piece) bool {
			for _, p := range pieces {
				term := a.terms[p.term]
				token := Token{term, start + int(p.start), start + int(p.end), position + int(p.position)}
				if _, ok := wanted[term]; ok && !yield(token) {
					return false
				}
			}
			return true
		})
	}
}

// beginnings are what plain words begin with whose stems are wanted. A stem has
// the first two letters of its word, unless it has but one letter, or the second
// is a y: dying gives die.
type beginnings struct {
	one [26]bool      // letters that some term begins with
	two [26 * 26]bool // pairs of letters that some term begins with
	all [26]bool      // terms of one letter
}

// add notes the beginning of a term. Those that do not begin with a small letter
// are no stems of plain words.
func (b *beginnings) add(term string) {
	if term == "" || !isLower(term[0]) {
		return
	}
	first := int(term[0] - 'a')
	b.one[first] = true
	switch {
	case len(term) == 1:
		b.all[first] = true
	case isLower(term[1]):
		b.two[26*first+int(term[1]-'a')] = true
	}
}

// begin reports whether a plain word may have one of the terms for a stem.
func (b *beginnings) begin(word []byte) bool {
	first := int(word[0]|0x20) - 'a'
	switch {
	case len(word) == 1 || word[1] == 'y':
		return b.one[first]
	}
	return b.all[first] || b.two[26*first+int(word[1]-'a')]
}

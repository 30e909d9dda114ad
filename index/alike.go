package index

import "strconv"

// Terms returns the terms that a text is found by.
func Terms(text string) map[string]bool {
	all := map[string]bool{}
	for token := range Analyze([]byte(text)) {
		all[token.Term] = true
	}
	return all
}

// A Share is a part of what two texts have, from 0 to 1. JSON has two digits of it.
type Share float64

// MarshalJSON leaves out all but two digits.
func (s Share) MarshalJSON() ([]byte, error) {
	return strconv.AppendFloat(nil, float64(int(100*s))/100, 'f', -1, 64), nil
}

// Shared returns twice the number of terms that two texts share, divided by the number
// of terms of both.
func Shared(a, b map[string]bool) Share {
	shared := 0
	for term := range a {
		if b[term] {
			shared++
		}
	}
	return Share(2*shared) / Share(max(len(a)+len(b), 1))
}

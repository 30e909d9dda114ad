package index

import (
	"strings"

	"github.com/blevesearch/bleve/v2/analysis/char/asciifolding"
	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
)

// stopWords are too frequent in English to tell documents apart: Lucene's list
// in the first line, then the rest of Snowball's but for what tells something in
// technical text ("against" for one). The longer list raises the average
// precision on CACM from 0.330 to 0.344.
var stopWords = wordSet(`
a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was will with
about above after again all also am any because been before being below between both can could did do does doing down during each few
from further had has have having he her here him his how i its me more most my nor off once only other ought our ours out over own same
she should so some than them through too under until up very we were what when where which while who whom those why would you your
`)

// wordSet returns the words of a list.
func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// stem returns the English stem of a term of small letters, and any other term
// as it is.
func stem(term string) string {
	if len(term) < 3 {
		return term
	}
	for i := 0; i < len(term); i++ {
		if !isLower(term[i]) {
			return term
		}
	}
	env := snowballstem.NewEnv(term)
	english.Stem(env)
	return env.Current()
}

// withoutAccent returns a Latin letter without its accent (é gives e, ß gives
// ss) and any other letter as it is.
func withoutAccent(r rune) string {
	return string(asciifolding.New().Filter([]byte(string(r))))
}

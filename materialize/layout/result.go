package layout

import (
	"strings"
	"unicode"

	"filebus/store/record"
)

// results is the layout of results: the full output of one call, as the
// sub-agent gave it. Its text has no form of its own; what describes it is
// found by Title and Preview.
type results struct{}

// Parse makes the whole file one result record. It takes the agent and the tags
// from front matter, if there is any, and never reports an error.
func (results) Parse(path string, text []byte) (File, []*SyntaxError) {
	facts := frontFacts(text)
	facts.Agent = Slug(facts.Agent)
	return single(path, record.KindResult, text, facts), nil
}

// Slug returns the name of an agent as references give it: letters and digits
// in lower case, with one "_" for everything between them, so that "Web
// Researcher" and "@web-researcher" are web_researcher. A name without letters
// or digits gives "".
func Slug(agent string) string {
	words := strings.FieldsFunc(strings.ToLower(agent), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	return strings.Join(words, "_")
}

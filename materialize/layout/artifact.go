package layout

import (
	"strings"

	"filebus/store/record"
)

// Artifacts is the layout of the files of a session: context, plan, progress,
// reports and whatever else its agents left. Their text has no form of its own.
type Artifacts struct{}

// Parse makes the whole file one artifact record, with the facts of its front
// matter. JSON that is broken is reported with its line.
func (Artifacts) Parse(path string, text []byte) (File, []*SyntaxError) {
	return single(path, record.KindArtifact, text, frontFacts(text)), jsonProblems(path, text)
}

// jsonProblems returns what is wrong with a file that is called .json.
func jsonProblems(path string, text []byte) []*SyntaxError {
	if !strings.HasSuffix(path, ".json") {
		return nil
	}
	var value jsonValue
	if problem := decodeJSON(text, &value); problem != nil {
		return inFile(path, []*SyntaxError{problem})
	}
	return nil
}

// A jsonValue accepts any JSON and keeps none of it.
type jsonValue struct{}

// UnmarshalJSON accepts every value that is well-formed.
func (jsonValue) UnmarshalJSON([]byte) error { return nil }

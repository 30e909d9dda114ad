package knowledge

import (
	"os"

	"filebus/materialize/layout"
)

// Problems returns what keeps parts of a file from being read as entries, such as
// an id that is used twice, in the order of its lines. The path is slash-separated,
// below the workspace. A file that is not there has none.
func (b *Base) Problems(path string) []error {
	text, err := os.ReadFile(b.work.FilePath(path))
	format, isAggregate := b.work.Settings.Profile.Recognize(path).Layout.(layout.Aggregate)
	if err != nil || !isAggregate {
		return nil // the store has the entries all the same
	}
	var problems []error
	_, found := format.Parse(path, text)
	for _, problem := range found {
		problems = append(problems, problem)
	}
	return problems
}

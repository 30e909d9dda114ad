package lint

import (
	"regexp"

	"filebus/materialize/layout"
)

// pattern returns an expression that is compiled when it is first used.
func pattern(text string) func() *regexp.Regexp { return layout.Pattern(text) }

package layout

import (
	"regexp"
	"sync"
)

// Pattern returns an expression that is compiled when it is first used: the
// program has many commands, and all of them start with every package.
func Pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

package lint

import (
	"regexp"
	"sync"
)

// pattern returns an expression that is compiled when it is first used: the
// program has many commands, and all of them start with this package.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

package pdf

import (
	"regexp"
	"sync"
)

// pattern returns an expression that is compiled when it is first used: most
// commands that start with this package print nothing.
func pattern(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

package result

import (
	_ "embed" // for failures.txt
	"io"
	"regexp"
	"strings"
	"sync"

	"filebus/materialize/markdown"
)

var (
	//go:embed failures.txt
	failuresText string
)

// failures are the patterns of failures.txt.
var failures = sync.OnceValue(func() (all []*regexp.Regexp) {
	for line := range strings.Lines(failuresText) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			all = append(all, regexp.MustCompile(line))
		}
	}
	return all
})

// FailureIn returns what a text says that is no report, but a client's word that the agent's model could not be reached:
// its first line, shortened; "": it is a report.
func FailureIn(text io.Reader) string {
	const longest, shown = 2000, 120 // in bytes; in characters
	head, err := io.ReadAll(io.LimitReader(text, longest+1))
	first, _, _ := strings.Cut(strings.TrimSpace(string(head)), "\n")
	if err != nil || len(head) > longest {
		return ""
	}
	for _, p := range failures() {
		if p.MatchString(first) {
			return markdown.Clip(markdown.OneLine(first), shown)
		}
	}
	return ""
}

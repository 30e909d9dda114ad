package layout

import (
	"bytes"
	"fmt"
	"strings"

	"filebus/materialize/markdown"
)

// stubHead begins a file that stands in for a turn.
const stubHead = "[ERROR:"

// StubText returns the file that stands in for the turn of an agent that gave
// none: a line with the reason in one, and below it what else is to be said.
func StubText(reason, details string) []byte {
	text := fmt.Sprintf("%s %s]\n", stubHead, markdown.SingleSpaced(balanced(reason)))
	if details = strings.TrimSpace(details); details != "" {
		text += "\n" + details + "\n"
	}
	return []byte(text)
}

// ParseStub returns the reason of a stub: a file whose first line that is not
// blank is "[ERROR: reason]".
func ParseStub(text []byte) (reason string, found bool) {
	for raw := range bytes.Lines(bytes.TrimPrefix(text, []byte(markdown.ByteOrderMark))) {
		line := strings.TrimSpace(string(raw))
		if line == "" {
			continue
		}
		rest, found := strings.CutPrefix(line, stubHead)
		if !found || !strings.HasSuffix(rest, "]") {
			return "", false
		}
		return strings.TrimSpace(strings.TrimSuffix(rest, "]")), true
	}
	return "", false
}

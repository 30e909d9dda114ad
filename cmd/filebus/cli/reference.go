package cli

import (
	"fmt"
	"strings"

	"filebus/materialize"
	"filebus/materialize/markdown"
	"filebus/materialize/secrets"
	"filebus/store/record"
)

// FormatJSON is what a command prints with --json.
const FormatJSON = "json"

// The forms in which a reference is printed.
const (
	formatLine = "line"
)

// CheckFormat refuses a form of references that there is none of.
func CheckFormat(format string) error {
	if format != FormatJSON && format != formatLine {
		return UsageError("--format %q is neither json nor line", format)
	}
	return nil
}

// LineSize is about how many bytes a reference of one line has.
const LineSize = 80

// A reference of one line has about LineSize bytes, so that it costs about 20
// tokens, and shows at least leastPreview bytes of the preview.
const (
	leastPreview = 20
)

// A referenceJSON is a reference, with what was found of secrets in the text.
type referenceJSON struct {
	record.Reference
	Secrets []secrets.Match `json:"secrets,omitempty"`
}

// PrintReference prints a reference as JSON, or as one line: ref, agent, words and
// the beginning of the preview.
func (e *Environ) PrintReference(format string, r record.Reference, stored *materialize.PutResult) error {
	if e.Said.What = stored.Name.String(); format != formatLine || e.Global.JSON {
		return e.PrintJSON(referenceJSON{r, stored.Secrets})
	}
	line := stored.Ref.Short()
	if r.Agent != "" {
		line += " " + r.Agent
	}
	line = fmt.Sprintf("%s %dw: ", line, r.WordCount)
	e.Printf("%s\n", OneLine(line+Shortened(r.Preview, max(LineSize-len(line), leastPreview))))
	return nil
}

// Shortened returns at most n bytes of text, which end with "…" if some are
// missing: whole characters and, unless that takes more than half, whole words.
func Shortened(text string, n int) string {
	if len(text) <= n {
		return text
	}
	if n < len("…") {
		return ""
	}
	end := len(markdown.Head(text, n-len("…")))
	if space := strings.LastIndexByte(text[:end+1], ' '); space > end/2 {
		end = space
	}
	return text[:end] + "…"
}

package materialize

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/plan"
	"filebus/store/record"
)

// describePut derives what is shown of a text that was put. The preview of a
// result begins with how its command ended, unless that went well, and says
// something of any output: a parent agent has nothing else to go by.
func (w *Workspace) describePut(r PutRequest, text plan.Content, facts layout.Facts) record.Description {
	limit := r.Preview
	if limit == 0 {
		limit = w.Settings.Preview
	}
	about := text
	if r.About != nil {
		about = plan.ContentOf(r.About)
	}
	d := plan.Describe(about, facts, limit)
	d.Tokens = record.EstimateTokens(text.Size())
	if r.Kind != record.KindResult {
		return d
	}
	if d.Preview == "" {
		d.Preview = EmptyPreview(about.Text, about.Size())
	}
	if note := outcomeNote(facts.Status, r.Exit); note != "" {
		d.Preview = markdown.Clip(strings.TrimSpace(note+" "+d.Preview), max(limit, utf8.RuneCountInString(note)))
	}
	return d
}

// outcomeNote returns what the preview of a result begins with when its command
// did not end well: "[failed, exit 3]".
func outcomeNote(status string, exit *int) string {
	switch status {
	case "", StatusDone:
		if exit == nil || *exit == 0 {
			return ""
		}
		status = StatusFailed
	case StatusFailed, StatusTimeout, StatusKilled, StatusInterrupted, StatusInvalid:
	default: // a word of the agent's own
		return ""
	}
	if exit == nil || *exit == 0 {
		return "[" + status + "]"
	}
	return fmt.Sprintf("[%s, exit %d]", status, *exit)
}

// The statuses of results whose command filebus has run. Their text is stored.
const (
	StatusDone        = "done"        // it ended with exit code 0
	StatusFailed      = "failed"      // with another
	StatusTimeout     = "timeout"     // it was ended because its time was over
	StatusKilled      = "killed"      // a signal ended it
	StatusInterrupted = "interrupted" // filebus itself was ended: what came until then
	StatusInvalid     = "invalid"     // the output does not fit its schema
)

// DescribeLimit is how much of a large body is looked at, in bytes: titles and
// previews stand at the beginning.
const DescribeLimit = 1 << 20

// EmptyPreview says what a text is in which nothing is to be read, in place of a
// preview. The text is the beginning of one of size bytes.
func EmptyPreview(text []byte, size int64) string {
	switch {
	case markdown.IsBinary(text):
		return fmt.Sprintf("(binary, %d bytes)", size)
	case size > DescribeLimit:
		return fmt.Sprintf("(no text in the first %d of %d bytes)", DescribeLimit, size)
	}
	return "(no output)"
}

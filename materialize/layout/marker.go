package layout

import (
	"bytes"
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// A Completion is what a marker file says when a task has ended. That the file
// exists is the signal; agents write "done", a sentence or nothing into it.
type Completion struct {
	Text    string // trimmed; "" and "done" say no more than the file's name
	Outcome string // the status that Text begins with, such as failed, or ""
}

// completions is the layout of marker files: {task}.done and {task}.failed.
var completions = &single{record.KindMarker, completionFacts}

// completionFacts takes the facts of a text beyond "done": the status is its path's.
func completionFacts(_ string, text []byte) (Facts, []*SyntaxError) {
	var f Facts
	c := ParseCompletion(text)
	if c.Text != "" && !strings.EqualFold(c.Text, doneText) {
		f.Summary = summaryOf(c.Text)
		f.Status = c.Outcome
	}
	return f, nil
}

// doneText is what the document asks agents to write.
const doneText = "done"

// AppendCompletion appends the text of a marker file: c.Text, or "done".
func AppendCompletion(dst []byte, c Completion) []byte {
	if text := strings.TrimSpace(c.Text); text != "" {
		return append(append(dst, text...), '\n')
	}
	return append(dst, doneText...)
}

// ParseCompletion reads a marker file, whatever it holds.
func ParseCompletion(text []byte) Completion {
	content := string(bytes.TrimSpace(bytes.TrimPrefix(text, []byte(markdown.ByteOrderMark))))
	return Completion{Text: content, Outcome: taskStatus(markdown.Clip(content, 200))}
}

// FailedMarkers reports whether the profile's tasks announce that they failed or
// are blocked by a marker of its own, {task}.failed. Elsewhere every outcome is
// announced by {task}.done.
func (p Profile) FailedMarkers() bool {
	return strings.HasSuffix(p.Markers, orchestratorRoot[1:]+"/complete")
}

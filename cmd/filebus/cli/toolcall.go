package cli

import (
	"bytes"
	"cmp"
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// A ToolCall is a command line that a tool runs, and what it has said besides its result.
type ToolCall struct {
	Flags []string  // that are arguments of the tool
	Said  []Failure // notices, and at last the failure
	Exit  int
	Out   bytes.Buffer
	Left  int // tokens of a text that had no room
}

// Words returns what was said, in lines.
func (c *ToolCall) Words() []string {
	return markdown.Each(c.Said, func(f Failure) string {
		message, hint := c.asArguments(f.Message), c.asArguments(f.Hint)
		if strings.Contains(hint, "it again with --") {
			hint += ", in a shell"
		}
		if f.Code != "" {
			message += " (" + f.Code + ")"
		}
		if hint != "" && !strings.HasSuffix(hint, " --help") { // the schema says it
			message += "\n  try: " + hint
		}
		return message
	})
}

var flagInText = layout.Pattern(`--[a-z][-a-z]*`)

// asArguments calls the flags of a text by the names that they have as arguments, but not in a
// command line, and marks a line that says how much was left out.
func (c *ToolCall) asArguments(text string) string {
	if rest, found := strings.CutPrefix(text, "… and "); found {
		text = "[truncated: " + rest + "]"
	}
	if strings.Contains(text, "filebus ") {
		return text
	}
	return flagInText().ReplaceAllStringFunc(text, func(flag string) string {
		if slices.Contains(c.Flags, flag) {
			return ArgumentName(flag)
		}
		return flag
	})
}

// ArgumentName is what a word of a command is called as an argument.
func ArgumentName(word string) string {
	return cmp.Or(strings.ReplaceAll(strings.Trim(word, "<>[]-"), "-", "_"), "text")
}

package dialogue

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filebus/materialize/markdown"
)

// A Definition is how an agent is set up: a Markdown file whose front matter lists
// its tools, as words with commas between or as a list.
type Definition struct {
	File   string   // absolute
	Tools  []string // that it has; nil: all
	Denied []string // that it has not
}

// maxDefinition is how much of a definition is read, in bytes: its front matter.
const maxDefinition = 64 << 10

// ReadDefinition reads the definition of an agent. One without front matter, or
// without "tools" in it, has all tools but the "disallowedTools". The error is an
// fs.ErrNotExist if there is no such file.
func ReadDefinition(file string) (Definition, error) {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return Definition{}, fmt.Errorf("reading the definition %s: %w", file, errors.Unwrap(err))
	case !info.Mode().IsRegular():
		return Definition{}, fmt.Errorf("%s is no file with the definition of an agent", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return Definition{}, err
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, maxDefinition))
	if err != nil {
		return Definition{}, fmt.Errorf("reading the definition %s: %w", file, err)
	}
	fields, _ := markdown.FrontMatter(text)
	return Definition{file, toolsOf(fields["tools"]), toolsOf(fields["disallowedtools"])}, nil
}

// Definition reads the definition of an agent of the workspace, which is in
// .claude/agents/{agent}.md. Found is false if there is none.
func (f *Forum) Definition(agent string) (d Definition, found bool, err error) {
	d, err = ReadDefinition(filepath.Join(f.w.Root, ".claude", "agents", agent+".md"))
	if errors.Is(err, fs.ErrNotExist) {
		return d, false, nil
	}
	return d, err == nil, err
}

// CanWrite reports whether an agent of this definition has the Write tool.
func (d Definition) CanWrite() bool {
	isWrite := func(tool string) bool { return strings.EqualFold(tool, "Write") || tool == "*" }
	return (d.Tools == nil || slices.ContainsFunc(d.Tools, isWrite)) && !slices.ContainsFunc(d.Denied, isWrite)
}

// toolsOf returns the names of tools in the values of a field, without what they are
// limited to: Write(docs/**) is Write.
func toolsOf(values []string) []string {
	var tools []string
	depth := 0
	for _, tool := range strings.FieldsFunc(strings.Join(values, ","), func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth = max(depth-1, 0)
		}
		return depth == 0 && (r == ',' || r == ' ' || r == '\t' || r == '\n')
	}) {
		name, _, _ := strings.Cut(tool, "(")
		tools = append(tools, strings.Trim(name, `"'[]`))
	}
	return tools
}

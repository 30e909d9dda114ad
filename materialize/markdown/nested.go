package markdown

import (
	"bytes"
	"strings"
)

// MarkNested marks the lines of the code fences that stand in list items and
// quotations, which Lines takes for text. Such a fence ends with the list or
// the quotation; one that is not closed there is none.
func MarkNested(lines []Line) {
	for i := 0; i < len(lines); {
		end := i
		for end < len(lines) && isNested(&lines[end]) {
			end++
		}
		scanNestedFences(lines[i:end])
		i = end + 1
	}
}

// isNested reports whether a line may belong to a list item or a quotation.
func isNested(l *Line) bool {
	if l.Quiet {
		return false
	}
	return len(bytes.TrimSpace(l.Text)) == 0 || strings.IndexByte(" \t>", l.Text[0]) >= 0 ||
		len(skipListMark(l.Text)) < len(l.Text)
}

// skipListMark returns text without the mark of a list item that it begins with.
func skipListMark(text []byte) []byte {
	rest := bytes.TrimLeft(text, "0123456789")
	marks := "-*+"
	if len(rest) < len(text) {
		marks = ".)"
	}
	if len(rest) < 2 || strings.IndexByte(marks, rest[0]) < 0 || rest[1] != ' ' {
		return text
	}
	return bytes.TrimLeft(rest, marks+" \t")
}

// scanNestedFences marks the fences of one list or quotation, each from the line
// that opens it to the next one that closes such a fence.
func scanNestedFences(lines []Line) {
	last := map[string]int{} // by the fence, the index of the last line that closes it
	for i := range lines {
		if fence, closes := nestedFence(lines[i].Text); closes {
			last[fence] = i
		}
	}
	for i := 0; i < len(lines); i++ {
		fence, _ := nestedFence(lines[i].Text)
		if fence == "" || last[fence] <= i {
			continue
		}
		lines[i].Quiet = true
		for closes := false; !closes; {
			i++
			again, ends := nestedFence(lines[i].Text)
			lines[i].Quiet, closes = true, ends && again == fence
		}
	}
}

// nestedFence returns the marks of the fence that a line begins with, behind
// spaces, quotation marks and the mark of a list item, and whether it can close
// one.
func nestedFence(text []byte) (marks string, closes bool) {
	bare := bytes.TrimLeft(text, " \t>")
	inside := skipListMark(bare)
	mark, size, closes := scanFence(inside)
	if size == 0 {
		return "", false
	}
	return strings.Repeat(string(mark), size), closes && len(inside) == len(bare)
}

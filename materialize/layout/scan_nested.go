package layout

import (
	"bytes"
	"strings"
)

// scanNested marks the lines of the code fences that stand in list items and
// quotations, which scanLines takes for text. Such a fence ends with the list or
// the quotation; one that is not closed there is none.
func scanNested(lines []scanLine) {
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
func isNested(l *scanLine) bool {
	if l.quiet {
		return false
	}
	return len(bytes.TrimSpace(l.text)) == 0 || strings.IndexByte(" \t>", l.text[0]) >= 0 || len(skipListMark(l.text)) < len(l.text)
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
func scanNestedFences(lines []scanLine) {
	last := map[string]int{} // by the fence, the index of the last line that closes it
	for i := range lines {
		if fence, closes := nestedFence(lines[i].text); closes {
			last[fence] = i
		}
	}
	for i := 0; i < len(lines); i++ {
		fence, _ := nestedFence(lines[i].text)
		if fence == "" || last[fence] <= i {
			continue
		}
		lines[i].quiet = true
		for closes := false; !closes; {
			i++
			again, ends := nestedFence(lines[i].text)
			lines[i].quiet, closes = true, ends && again == fence
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

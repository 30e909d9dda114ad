package markdown

import (
	"bytes"
	"cmp"
)

// choosePreview returns what a text is previewed by, before it is cut, and whether a JSON
// object says that of itself.
func choosePreview(text []byte) (whole string, isSummary bool) {
	if IsBinary(text) {
		return "", false
	}
	if fields, ok := parseSummary(text); ok {
		return cmp.Or(fields.said, OneLine(string(Head(fields.text, maxProse)))), fields.said != ""
	}
	var p prosePicker
	if whole = p.pick(markdownBody(text)); whole != "" {
		return whole, false
	}
	block, _ := cutFrontMatter(text)
	return cmp.Or(OneLine(string(Head(block, maxProse))), OneLine(string(Head(text, maxProse)))), false
}

// Agents think aloud, wrap what they say into tags of their own, and lead in to
// it. None of that says what a text says.

// cutThinking returns text without the thinking that it begins with, if it ends.
func cutThinking(text []byte) []byte {
	start := bytes.TrimLeft(text, " \t\r\n")
	if len(start) == 0 || start[0] != '<' {
		return text
	}
	for _, name := range []string{"think", "thinking", "reasoning", "scratchpad", "reflection", "analysis"} {
		if rest, found := bytes.CutPrefix(start, []byte("<"+name+">")); found {
			if _, after, closed := bytes.Cut(rest, []byte("</"+name+">")); closed {
				return after
			}
		}
	}
	return text
}

// stripEscapes returns a line without the colour codes of terminals.
func stripEscapes(line []byte) []byte {
	if bytes.IndexByte(line, 0x1b) < 0 {
		return line
	}
	var out []byte
	for i := 0; i < len(line); {
		if line[i] == 0x1b {
			i += escapeSize(string(line[i:min(len(line), i+32)]))
			continue
		}
		out = append(out, line[i])
		i++
	}
	return out
}

// isLeadIn reports whether a paragraph only leads in to what follows: one sentence
// of at most 20 words that ends in a colon.
func isLeadIn(lines [][]byte) bool {
	text := bytes.Trim(bytes.Join(lines, []byte(" ")), "*_ \t")
	return (bytes.HasSuffix(text, []byte(":")) || bytes.HasSuffix(text, []byte("："))) &&
		Words(text) <= 20 && !bytes.Contains(text, []byte(". ")) && !bytes.ContainsAny(text, "!?。！？")
}

// isFootnote reports whether a paragraph is the text of a footnote.
func isFootnote(lines [][]byte) bool {
	rest, found := bytes.CutPrefix(lines[0], []byte("[^"))
	end := bytes.Index(rest, []byte("]:"))
	return found && end > 0 && end < 40
}

// dropFootnoteMarks returns text without marks such as "[^2]".
func dropFootnoteMarks(text []byte) []byte {
	if !bytes.Contains(text, []byte("[^")) {
		return text
	}
	var out []byte
	for {
		before, rest, found := bytes.Cut(text, []byte("[^"))
		out = append(out, before...)
		if !found {
			return out
		}
		if end := bytes.IndexByte(rest[:min(len(rest), 40)], ']'); end > 0 && !bytes.ContainsAny(rest[:end], " [") {
			text = rest[end+1:]
		} else {
			out, text = append(out, "[^"...), rest
		}
	}
}

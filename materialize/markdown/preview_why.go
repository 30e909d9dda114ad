package markdown

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

// The rules by which a text is previewed that has something to say, or has not. Their
// text is printed; those of a text without a paragraph are in previewRank.rule.
const (
	ruleBinary    = "binary"           // the text is none: there is no preview
	ruleEmpty     = "empty"            // there is nothing but white space
	ruleSummary   = "summary"          // of a JSON object, or another member that says something
	ruleParagraph = "paragraph"        // the first
	ruleList      = "list"             // with the sentence that leads in to it
	ruleSentence  = "sentence"         // the value of a "Key: value" line
	ruleBeginning = "first characters" // as they stand
)

// A PreviewChoice is a preview with the reason why it is that.
type PreviewChoice struct {
	Text string `json:"preview"`
	Rule string `json:"rule"`
	// Line is where what was chosen begins, counted from 1; 0 if there is nothing.
	Line int `json:"line,omitempty"`
	// Cut says that more was chosen than the preview may have.
	Cut bool `json:"cut,omitempty"`
	// Skipped is what stands before Line and is no paragraph, the first 50 pieces;
	// all of the text if it has no paragraph.
	Skipped []skippedLines `json:"skipped"`
}

// skippedLines are lines that say nothing of a text as a whole, counted from 1.
type skippedLines struct {
	What  string `json:"what"`  // front matter, thinking, tag, status, heading, fields, table, list, quote, code, HTML, rule, label, lead-in, image or footnote
	Lines [2]int `json:"lines"` // the first and the last
}

// maxSkipped is how many pieces are listed.
const maxSkipped = 50

// ExplainPreview returns the preview that Preview returns, and why. It takes as long.
func ExplainPreview(text []byte, max int) PreviewChoice {
	choice, whole := choosePreview(text, true)
	if max < 1 {
		return PreviewChoice{Rule: choice.Rule, Line: choice.Line, Cut: whole != "", Skipped: choice.Skipped}
	}
	choice.Text = Clip(whole, max)
	choice.Cut = choice.Text != whole
	return choice
}

// choosePreview returns what a text is previewed by, before it is cut; what was
// skipped only if it is to be told.
func choosePreview(text []byte, tell bool) (choice PreviewChoice, whole string) {
	if IsBinary(text) {
		return PreviewChoice{Rule: ruleBinary}, ""
	}
	if fields, ok := parseSummary(text); ok {
		return chooseJSON(text, fields, tell)
	}
	body := markdownBody(text)
	p := prosePicker{tell: tell, line: lineOf(text, len(text)-len(body), tell) - 1}
	if tell && p.line > 0 {
		p.skipBefore(text)
	}
	if whole = p.pick(body); whole != "" {
		return PreviewChoice{Rule: p.rule, Line: p.chosen, Skipped: p.passedOver()}, whole
	}
	if block, start := cutFrontMatter(text); start > 0 {
		if whole = CollapseSpace(string(headOf(block, maxProse))); whole != "" {
			return PreviewChoice{Rule: "field", Line: 2, Skipped: p.skipped}, whole
		}
	}
	whole = CollapseSpace(string(headOf(text, maxProse)))
	if whole == "" {
		return PreviewChoice{Rule: ruleEmpty}, ""
	}
	return PreviewChoice{Rule: ruleBeginning, Line: 1, Skipped: p.skipped}, whole
}

// chooseJSON returns what a JSON object says, or how it begins.
func chooseJSON(text []byte, fields jsonFields, tell bool) (PreviewChoice, string) {
	start := bytes.Index(text, fields.text)
	choice := PreviewChoice{Rule: ruleSummary, Line: lineOf(text, start, tell)}
	if fields.said == "" {
		choice.Rule = ruleBeginning
		return choice, CollapseSpace(string(headOf(fields.text, maxProse)))
	}
	if tell && json.Valid(fields.text) {
		whole, _ := ParseObject(fields.text) // it is one
		choice.Line += max(whole.Member(fields.key).Line-1, 0)
	}
	return choice, fields.said
}

// lineOf returns the line of an offset; 1 if nobody asks.
func lineOf(text []byte, offset int, tell bool) int {
	if !tell {
		return 1
	}
	return 1 + bytes.Count(text[:max(offset, 0)], []byte("\n"))
}

// skipBefore tells what markdownBody has left out.
func (p *prosePicker) skipBefore(text []byte) {
	at := 0
	if _, start := cutFrontMatter(text); start > 0 {
		at = bytes.Count(text[:start], []byte("\n"))
		p.skip("front matter", 1, at)
	}
	if at < p.line {
		p.skip("thinking", at+1, p.line)
	}
}

// skip remembers lines that were passed over. What goes on after blank lines is
// one piece.
func (p *prosePicker) skip(what string, from, to int) {
	if !p.tell || len(p.skipped) == maxSkipped {
		return
	}
	if n := len(p.skipped); n > 0 && p.skipped[n-1].What == what {
		p.skipped[n-1].Lines[1] = to
		return
	}
	p.skipped = append(p.skipped, skippedLines{what, [2]int{from, to}})
}

// passedOver returns what was skipped before the text that was picked; all of it if
// that was picked for want of a paragraph.
func (p *prosePicker) passedOver() []skippedLines {
	if p.rule != ruleParagraph && p.rule != ruleList {
		return p.skipped
	}
	return slices.DeleteFunc(p.skipped, func(s skippedLines) bool { return s.Lines[0] >= p.chosen })
}

// skipLine remembers a line that belongs to no paragraph.
func (p *prosePicker) skipLine(info lineInfo) {
	what := ""
	switch {
	case info.kind == lineBlank || info.kind == lineText && info.outer == 0:
		return // a paragraph is told when it ends
	case info.outer == '-':
		what = "list"
	case info.outer == '>':
		what = "quote"
	default:
		what = map[lineKind]string{
			lineHeading: "heading", lineUnderline: "heading", lineRule: "rule", lineFence: "code", lineCode: "code", lineHTML: "HTML",
		}[info.kind]
	}
	p.skip(what, p.line, p.line)
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

// isWrapper reports whether a line is one tag that no HTML has, such as
// "<answer>" or "</final_report>", or a "<summary>" without details.
func isWrapper(line []byte) bool {
	line = bytes.TrimSpace(line)
	if len(line) < 3 || len(line) > 100 || line[0] != '<' || line[len(line)-1] != '>' {
		return false
	}
	inside := bytes.TrimPrefix(line[1:len(line)-1], []byte("/"))
	if bytes.ContainsAny(inside, "<>@:") || len(inside) == 0 || !isASCIILetter(inside[0]) {
		return false
	}
	name, _, _ := bytes.Cut(inside, []byte(" "))
	lower := strings.ToLower(string(name))
	return lower == "summary" || !isBlockTag(lower) && !isVerbatimTag(lower) && !isInlineTag(lower)
}

// isInlineTag reports whether a tag is one of HTML that stands alone on a line in
// some documents.
func isInlineTag(name string) bool {
	return strings.Contains(" a abbr audio b br button canvas code em embed font i img input kbd label object path picture rect s select "+
		"small source span strong sub sup svg u video ", " "+strings.TrimSuffix(name, "/")+" ")
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

package query

import (
	"bytes"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"time"
	"unicode/utf8"

	"filebus/index"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

const (
	expressionTime = 200 * time.Millisecond // texts are read for, unless all are to be
	maxSteps       = 2000                   // of the program of an expression: each may be taken for each byte
)

// An Expression is a regular expression of Go's regexp, which a body is to match. As in other tools
// for lines ^ and $ are the edges of a line, also of one that ends in \r\n.
type Expression struct {
	matcher *regexp.Regexp
	words   string // that each match has
}

// NewExpression reads an expression. What is wrong with one is a usage error with the place.
func NewExpression(text string) (*Expression, error) {
	tree, err := syntax.Parse(text, syntax.Perl&^syntax.OneLine)
	if wrong, ok := err.(*syntax.Error); ok {
		return nil, wrongExpression(text, wrong)
	}
	e := &Expression{words: requiredWords(tree)}
	tree = endLines(tree)
	program, err := syntax.Compile(tree.Simplify())
	if err == nil {
		e.matcher, err = regexp.Compile(tree.String())
	}
	switch {
	case err != nil:
		return nil, record.Usage.Errorf("reading the expression: %w", err)
	case len(program.Inst) > maxSteps:
		return nil, record.Usage.Errorf("the expression has more than %d steps: repeat less in it, or search several times", maxSteps)
	case e.matcher.MatchString(""):
		return nil, record.Usage.Errorf("the expression matches where there is nothing too, so in every text: " +
			"say what must be there, as x+ in place of x*")
	}
	return e, nil
}

// wrongExpression says where an expression is wrong, and what to write.
func wrongExpression(text string, wrong *syntax.Error) error {
	place := ""
	if at := strings.Index(text, wrong.Expr); wrong.Expr != "" && wrong.Expr != text { // else a bracket is missing somewhere
		place = fmt.Sprintf(" at character %d", 1+utf8.RuneCountInString(text[:max(at, 0)]))
	}
	return record.Usage.Errorf("the expression is wrong%s: %s: %.40q; \\ before a sign makes it text; "+
		`RE2 has no looking ahead or behind and no \1: write what stands there again`, place, wrong.Code, wrong.Expr)
}

// endLines lets the end of a line be one with \r\n.
func endLines(tree *syntax.Regexp) *syntax.Regexp {
	for i, sub := range tree.Sub {
		tree.Sub[i] = endLines(sub)
	}
	if tree.Op == syntax.OpEndLine {
		tree, _ = syntax.Parse(`(?m:\r?$)`, syntax.Perl) // a constant has no error
	}
	return tree
}

// IsNarrow reports whether each match has words that the index knows, so that not all texts are read.
func (e *Expression) IsNarrow() bool { return index.Findable(e.words) }

// marks returns the places to mark: what is matched, without what is of length 0 and the end of a line.
func (e *Expression) marks(text []byte) (all [][]int) {
	if e == nil {
		return nil
	}
	for _, at := range e.matcher.FindAllIndex(text, maxMatches) {
		if at[1] = at[0] + len(bytes.TrimRight(text[at[0]:at[1]], "\r\n")); at[0] < at[1] {
			all = append(all, at)
		}
	}
	return all
}

// What stands in what is known of a match besides text.
const (
	anything   = "\x00"
	noWord     = "\n"         // the edge of a word, or what is of none
	whiteSpace = "\t\n\f\r  " // the class, as ranges
	joins      = "'’.+#"      // a word may go on behind them
)

// requiredWords returns a text whose words each match of a tree has, as a phrase of an index.Request.
func requiredWords(tree *syntax.Regexp) string {
	return strings.Join(markdown.Each(strings.Split(knownOf(tree), anything), wholeWords), noWord)
}

// wholeWords returns a piece of text without the words at its ends, which may go on outside of it.
func wholeWords(piece string) string {
	from, to := -1, 0
	for w := range index.Words([]byte(piece)) {
		if from < 0 && strings.Trim(piece[:w.Start], joins) == "" {
			from = w.End
		}
		if from = max(from, 0); strings.Trim(piece[w.End:], joins) != "" {
			to = w.End
		}
	}
	return piece[min(max(from, 0), to):to]
}

// knownOf returns the text that a match of a tree is, as far as that is known.
func knownOf(tree *syntax.Regexp) (text string) {
	switch tree.Op {
	case syntax.OpLiteral:
		return string(tree.Rune)
	case syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary:
		return noWord
	case syntax.OpConcat, syntax.OpCapture, syntax.OpPlus:
		for _, sub := range tree.Sub {
			text += knownOf(sub)
		}
		if tree.Op == syntax.OpPlus && text != noWord {
			text += anything
		}
		return text
	case syntax.OpCharClass:
		if string(tree.Rune) == whiteSpace {
			return noWord
		}
	}
	return anything
}

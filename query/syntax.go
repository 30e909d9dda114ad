package query

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"filebus/index"
	"filebus/materialize/layout"
)

// isPasted reports whether a text is one of several lines or a long one, which nobody has typed.
func isPasted(text string) bool {
	return len(text) > 1000 || strings.Contains(strings.TrimSpace(text), "\n")
}

// Parse reads text as people type it and adds what it says to the request:
//
//	"a phrase"         Phrases; its words count in Query too
//	-word -"a phrase"  Without, WithoutPhrases: before or behind all words; between
//	                   them, and of one letter, it is an option of a command
//	tag:x kind:a,b     the filters kind, tree, tag, agent, session, task, run, status
//	                   and conversation; a value may be quoted
//	-session:x         NotSessions
//
// An operator stands at the start of a word. Everything else is a word of Query as
// it is, and so is a pasted text, of several lines or a long one: there are no errors. A quote that nothing ends, a minus before anything
// but a letter, digit or quote, and a key or a value that is none are plain text.
// Operators is what was read as anything but words and phrases, as it is written.
//
// The words of Query keep their places in the text; what is none is blank there.
func (q *SearchRequest) Parse(text string) (operators []string) {
	if isPasted(text) {
		q.Literal(text)
		return nil
	}
	p := parser{request: q, text: text, query: []byte(text)}
	for p.at < len(text) {
		p.word()
	}
	q.Text, q.Query = text, string(p.query)
	return p.operators
}

// Literal makes text the query as it is, without any syntax.
func (q *SearchRequest) Literal(text string) { q.Text, q.Query = text, text }

// A parser reads a text once.
type parser struct {
	request   *SearchRequest
	text      string
	at        int
	query     []byte // the text, with blanks for what is not searched
	operators []string
}

// word reads on to the start of the next word.
func (p *parser) word() {
	rest := p.text[p.at:]
	first, size := utf8.DecodeRuneInString(rest)
	switch {
	case unicode.IsSpace(first):
		p.at += size
	case first == '-' && p.exclusion(rest), p.phrase(rest), p.filter(rest):
		p.at += wordLength(p.text[p.at:]) // what follows without a space is plain text
	default:
		p.at += wordLength(rest)
	}
}

// wordLength returns the length of what stands before the next white space.
func wordLength(text string) int {
	if end := strings.IndexFunc(text, unicode.IsSpace); end >= 0 {
		return end
	}
	return len(text)
}

// A quotation is a quoted text at the start of another.
type quotation struct {
	inside        string
	start, length int // bytes: where inside begins, and all with the quotes
}

// quoted returns the quotation that text begins with. Its length is 0 if there is
// none, or nothing but white space in it.
func quoted(text string) quotation {
	for _, pair := range [][2]string{{`"`, `"`}, {"“", "”"}, {"„", "“"}} {
		rest, opened := strings.CutPrefix(text, pair[0])
		if !opened {
			continue
		}
		if inside, _, closed := strings.Cut(rest, pair[1]); closed && strings.TrimSpace(inside) != "" {
			return quotation{inside, len(pair[0]), len(pair[0]) + len(inside) + len(pair[1])}
		}
	}
	return quotation{}
}

// value returns a quoted text, or what stands before the next white space.
func value(text string) (inside string, length int, isQuoted bool) {
	if q := quoted(text); q.length > 0 {
		return q.inside, q.length, true
	}
	length = wordLength(text)
	return text[:length], length, false
}

// operator takes the next bytes for what is no part of the query.
func (p *parser) operator(length int) {
	p.operators = append(p.operators, p.text[p.at:p.at+length])
	p.blank(length)
}

// blank takes the next bytes, which are no words to score.
func (p *parser) blank(length int) {
	for i := range length {
		p.query[p.at+i] = ' '
	}
	p.at += length
}

// phrase reads the quoted texts that rest begins with, if any.
func (p *parser) phrase(rest string) bool {
	q := quoted(rest)
	if q.length == 0 {
		return false
	}
	p.request.Phrases = append(p.request.Phrases, q.inside)
	p.blank(q.start)
	p.at += len(q.inside)
	p.blank(q.length - q.start - len(q.inside))
	p.phrase(rest[q.length:])
	return true
}

// exclusion reads a word or phrase to leave out, if rest, which begins with a
// minus, is one.
func (p *parser) exclusion(rest string) bool {
	inside, length, isQuoted := value(rest[1:])
	first, _ := utf8.DecodeRuneInString(inside)
	switch {
	case !p.isAtEdge(1 + length):
		return false
	case isQuoted:
		p.request.WithoutPhrases = append(p.request.WithoutPhrases, inside)
	case !unicode.IsLetter(first) && !unicode.IsDigit(first), utf8.RuneCountInString(inside) < 2:
		return false
	case p.withoutSession(rest[1:]):
		return true
	default:
		p.request.Without = append(p.request.Without, inside)
	}
	p.operator(1 + length)
	return true
}

// isAtEdge reports whether no words stand before the next bytes, or none behind them.
func (p *parser) isAtEdge(length int) bool {
	if len(bytes.TrimSpace(p.query[:p.at])) == 0 {
		return true
	}
	for rest := strings.TrimSpace(p.text[p.at+length:]); rest != ""; rest = strings.TrimSpace(rest) {
		after, minus := strings.CutPrefix(rest, "-")
		_, n, _ := value(after)
		if !minus && !strings.Contains(after[:n], ":") {
			return false
		}
		rest = after[n:]
	}
	return true
}

// withoutSession reads the one filter that can be turned round.
func (p *parser) withoutSession(rest string) bool {
	after, found := strings.CutPrefix(rest, "session:")
	values, length := filterValues(after)
	if !found || len(values) == 0 {
		return false
	}
	p.request.NotSessions = append(p.request.NotSessions, values...)
	p.operator(len("-session:") + length)
	return true
}

// filter reads a filter, if rest begins with one.
func (p *parser) filter(rest string) bool {
	key, _, found := strings.Cut(rest[:wordLength(rest)], ":")
	if !found || !strings.Contains(" kind tree tag agent session task run status conversation ", " "+key+" ") {
		return false
	}
	values, length := filterValues(rest[len(key)+1:])
	if key == "task" {
		values = layout.TaskForms(values...)
	}
	if len(values) == 0 || p.request.Add(key, values...) != nil {
		return false
	}
	p.operator(len(key) + 1 + length)
	return true
}

// filterValues returns the values of a filter, which commas separate if they are
// not quoted, and the length of all. There are none if one is empty.
func filterValues(text string) (values []string, length int) {
	inside, length, isQuoted := value(text)
	values = []string{inside}
	if !isQuoted {
		values = strings.Split(inside, ",")
	}
	for _, v := range values {
		if strings.TrimSpace(v) == "" || !isQuoted && strings.ContainsAny(v, `"“”„`) {
			return nil, 0
		}
	}
	return values, length
}

// settle makes plain what a request leaves open. A typed text of nothing but stop
// words or punctuation is a phrase, since no index finds it; it is returned. Words
// to leave out that no index has are phrases too.
func (q *SearchRequest) settle() (asPhrase string) {
	if q.Text != "" && !index.Findable(q.Query) {
		if len(q.Phrases) == 0 {
			asPhrase = strings.Join(strings.Fields(q.Query), " ")
		}
		if asPhrase != "" {
			q.Phrases = []string{asPhrase}
		}
		q.Query = ""
	}
	var without []string
	for _, text := range q.Without {
		if index.Findable(text) {
			without = append(without, text)
		} else {
			q.WithoutPhrases = append(slices.Clip(q.WithoutPhrases), text)
		}
	}
	q.Without = without
	return asPhrase
}

package secrets

import (
	"cmp"
	_ "embed"
	"math"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

//go:embed rules.txt
var rulesText string

// A rule is a line of rules.txt, which says what its fields are.
type rule struct {
	id       string
	rank     int // its place among the rules: of two that find the same, the first counts
	entropy  float64
	back     int  // how many bytes before its keyword a match may begin
	isWord   bool // the byte before a match is no letter or digit
	assigned bool // the secret is assigned to a name that has the keyword
	span     int  // the longest match behind the keyword, in bytes; 0: without bound
	expr     func() *regexp.Regexp
}

// A keyword is what a text must hold, folded, for a rule to be tried there.
type keyword struct {
	text string
	rule *rule
}

// A ruleSet is all rules with their keywords by their first three bytes. A bit is set in
// maybe for the hash of each three, so that most places of a text are passed by at once.
type ruleSet struct {
	maybe    [1 << 10]uint64
	keywords map[uint32][]keyword
	examples []string // what contains one is no secret
	count    int
}

// folds makes letters small, and some signs others, in all bytes of a number.
const folds = 0x20202020

func hash(three uint32) uint32 { return three * 2654435761 >> 16 }

// rules reads the rules when they are needed first. An expression is compiled when it is.
var rules = sync.OnceValue(func() *ruleSet {
	s := &ruleSet{keywords: map[uint32][]keyword{}}
	for line := range strings.Lines(rulesText) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if words := strings.Fields(f[0]); len(f) < 6 {
			if words[0] == "!" {
				s.examples = words[1:]
			}
			continue
		}
		r := &rule{id: f[0], rank: s.count, isWord: f[3] == "^", assigned: f[3] == "="}
		s.count++
		words := strings.Fields(strings.ReplaceAll(f[1], " ", "\n"))
		r.entropy, _ = strconv.ParseFloat(f[2], 64) // a test reads all rules
		r.back, _ = strconv.Atoi(f[3])
		r.span, _ = strconv.Atoi(f[4])
		r.expr = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(r.expression(words, f[5])) })
		for _, word := range words {
			s.add(strings.ReplaceAll(word, `\s`, " "), r)
		}
	}
	return s
})

func (s *ruleSet) add(word string, r *rule) {
	folded := []byte(word)
	for i := range folded {
		folded[i] |= folds & 0xff
	}
	three := uint32(folded[0])<<16 | uint32(folded[1])<<8 | uint32(folded[2])
	s.keywords[three] = append(s.keywords[three], keyword{string(folded), r})
	s.maybe[hash(three)>>6] |= 1 << (hash(three) & 63)
}

// The parts of an expression between the name that a secret is assigned to, the secret, and
// what follows.
const (
	assignment = `[ \t\w.-]{0,20}[\s'"\\]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=\\]{0,5}(`
	assigned   = `)(?:[\x60'"\s;,)\\]|$)`
)

func (r *rule) expression(keywords []string, text string) string {
	switch {
	case r.back > 0:
		return text
	case !r.assigned:
		return `^(?:` + text + `)`
	}
	var names []string
	for _, word := range keywords {
		names = append(names, strings.ReplaceAll(regexp.QuoteMeta(word), `\\s`, " "))
	}
	return `^(?i)(?:` + strings.Join(names, "|") + `)` + assignment + text + assigned
}

// each calls visit with each place at which a keyword stands, and its rule.
func (s *ruleSet) each(text []byte, visit func(at int, r *rule)) {
	last := uint32(0)
	for i, c := range text {
		last = (last<<8 | uint32(c) | folds) & 0xffffff
		if at := hash(last); s.maybe[at>>6]&(1<<(at&63)) == 0 || i < 2 {
			continue
		}
		for _, k := range s.keywords[last] {
			if k.standsAt(text[i-2:]) {
				visit(i-2, k.rule)
			}
		}
	}
}

func (k keyword) standsAt(text []byte) bool {
	if len(text) < len(k.text) {
		return false
	}
	for i := range len(k.text) {
		if text[i]|folds&0xff != k.text[i] {
			return false
		}
	}
	return true
}

// How far a match without a bound is looked for, at first and at most, in bytes.
const leastSpan, mostSpan = 1 << 10, 1 << 14

// match returns where the secret is of a match at a keyword.
func (r *rule) match(text []byte, at int) (start, end int, found bool) {
	if r.isWord && at > 0 && isWordByte(text[at-1]) {
		return 0, 0, false
	}
	begin := max(0, at-r.back)
	for span := cmp.Or(r.span, leastSpan); ; span *= 4 {
		limit := min(len(text), at+span+8) // what stands behind it counts
		m := r.expr().FindSubmatchIndex(text[begin:limit])
		isCut := r.span == 0 && limit < len(text) && span < mostSpan && (m == nil || m[1] == limit-begin)
		switch {
		case isCut:
			continue
		case m == nil:
			return 0, 0, false
		}
		group := m[:2]
		for i := 2; i < len(m) && &group[0] == &m[0]; i += 2 {
			if m[i] >= 0 {
				group = m[i : i+2]
			}
		}
		start, end = begin+group[0], begin+group[1]
		return start, end, rules().mayBe(r, string(text[start:end]))
	}
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// leastEntropy is that of any secret, in bits a character: less has a row of one sign.
const leastEntropy = 2.5

// mayBe reports whether what a rule found is no example: it is random enough.
func (s *ruleSet) mayBe(r *rule, secret string) bool {
	if r.assigned && !strings.ContainsAny(secret, "0123456789") || entropy(secret) < max(r.entropy, leastEntropy) {
		return false
	}
	small := strings.ToLower(secret)
	for _, example := range s.examples {
		if strings.Contains(small, example) {
			return false
		}
	}
	return r.id != guessing || isRandom(secret)
}

// entropy returns the bits that a character of a text has, after Shannon.
func entropy(text string) (bits float64) {
	var counts [256]float64
	for i := range len(text) {
		counts[text[i]]++
	}
	for _, n := range counts {
		if n > 0 {
			bits -= n / float64(len(text)) * math.Log2(n/float64(len(text)))
		}
	}
	return bits
}

// guessing is the rule that knows a secret by its name alone: what looks like a word, a
// path, a number or a digest is none.
const guessing = "generic-api-key"

// isRandom reports whether a text has small and capital letters and digits, well mixed.
func isRandom(text string) bool {
	kinds, changes := map[byte]int{}, 0
	kind := func(c byte) byte {
		switch {
		case c >= 'a' && c <= 'z':
			return 'a'
		case c >= 'A' && c <= 'Z':
			return 'A'
		case c >= '0' && c <= '9':
			return '0'
		}
		return '-'
	}
	for i := range len(text) {
		kinds[kind(text[i])]++
		if i > 0 && kind(text[i]) != kind(text[i-1]) {
			changes++
		}
	}
	return kinds['a'] > 1 && kinds['A'] > 1 && kinds['0'] > 1 && changes*3 >= len(text) && kinds['-']*8 <= len(text)
}

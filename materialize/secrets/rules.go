package secrets

import (
	"cmp"
	_ "embed"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

var (
	//go:embed rules.txt
	rulesText string
)

// A rule is a line of rules.txt, which says what its fields are.
type rule struct {
	id       string
	rank     int // its place among the rules: of two that find the same, the first counts
	entropy  float64
	back     int  // how many bytes before its keyword a match may begin
	isWord   bool // the byte before a match is no letter or digit
	assigned bool // the secret is assigned to a name that has the keyword
	isGuess  bool // the name alone says that it is one: the secret must look like it
	span     int  // the longest match behind the keyword, in bytes; 0: without bound
	expr     func() *regexp.Regexp
}

// A keyword is what a text must hold, folded, for a rule to be tried there.
type keyword struct {
	text []byte
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

// fold makes letters small, and some signs others.
func fold(c byte) byte { return c | 0x20 }

// begins reports whether a text begins with a keyword, in capitals or not.
func (k *keyword) begins(text []byte) bool {
	for i, c := range k.text {
		if i == len(text) || fold(text[i]) != c {
			return false
		}
	}
	return true
}

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
		r := &rule{id: f[0], rank: s.count, isWord: f[3] == "^", assigned: f[3] == "=", isGuess: f[0] == "generic-api-key"}
		s.count++
		r.entropy, _ = strconv.ParseFloat(f[2], 64) // a test reads all rules
		r.back, _ = strconv.Atoi(f[3])
		r.span, _ = strconv.Atoi(f[4])
		r.expr = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(r.expression(f[1], f[5])) })
		for _, word := range strings.Fields(f[1]) {
			s.add(word, r)
		}
	}
	return s
})

func (s *ruleSet) add(word string, r *rule) {
	folded := []byte(word)
	for i, c := range folded {
		folded[i] = fold(c)
	}
	three := uint32(folded[0])<<16 | uint32(folded[1])<<8 | uint32(folded[2])
	s.keywords[three] = append(s.keywords[three], keyword{folded, r})
	s.maybe[hash(three)>>6] |= 1 << (hash(three) & 63)
}

// The parts of an expression between the name that a secret is assigned to, the secret, and
// what follows.
const (
	assignment = `[ \t\w.-]{0,20}[\s'"\\]{0,3}(?:=|>|:{1,3}=|\|\||:|=>|\?=|,)[\x60'"\s=\\]{0,5}(`
	assigned   = `)(?:[\x60'"\s;,)\\&|<}\]]|$)`
)

func (r *rule) expression(keywords, text string) string {
	switch {
	case r.back > 0:
		return text
	case !r.assigned:
		return `^(?:` + text + `)`
	}
	return `^(?i)(?:` + strings.ReplaceAll(regexp.QuoteMeta(keywords), " ", "|") + `)` + assignment + text + assigned
}

// each calls visit with each place at which a keyword stands, and its rule.
func (s *ruleSet) each(text []byte, visit func(at int, r *rule)) {
	last := uint32(0)
	for i, c := range text {
		last = (last<<8 | uint32(fold(c))) & 0xffffff
		if at := hash(last); s.maybe[at>>6]&(1<<(at&63)) == 0 || i < 2 {
			continue
		}
		for _, k := range s.keywords[last] {
			if k.begins(text[i-2:]) {
				visit(i-2, k.rule)
			}
		}
	}
}

// How far a match without a bound is looked for, at first and at most, in bytes.
const leastSpan, mostSpan = 1 << 10, 1 << 14

// match returns where the secret is of a match at a keyword.
func (r *rule) match(text []byte, at int) (start, end int, found bool) {
	if r.isWord && !beginsWord(text[:at]) {
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

// escape is what may stand before a word that it is no part of, and ends with a letter or
// digit: a line end in a string of JSON, a colour of a terminal, a sign in a URL.
var escape = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?:\\[abfnrtv]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2}|\[[0-9;]*m)$`)
})

func beginsWord(before []byte) bool {
	at := len(before)
	return at == 0 || !isWordByte(before[at-1]) || escape().Match(before[max(0, at-16):])
}

func isWordByte(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// mayBe reports whether what a rule found is no example: it is random enough.
func (s *ruleSet) mayBe(r *rule, secret string) bool {
	isMixed := strings.ContainsAny(secret, "0123456789")
	small := strings.ToLower(secret)
	if r.isGuess { // no word, path or digest
		isPath := strings.ContainsAny(strings.TrimRight(secret, "."), "/.")
		isMixed = isMixed && small != secret && strings.ToUpper(secret) != secret && !isPath
	}
	const leastEntropy = 2.5 // of any secret, in bits a character: less has a row of one sign
	if (r.assigned || r.isGuess) && !isMixed || entropy(secret) < max(r.entropy, leastEntropy) {
		return false
	}
	isKey := len(secret) > 512 // in which any word may stand
	return isKey || !slices.ContainsFunc(s.examples, func(example string) bool { return strings.Contains(small, example) })
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

package markdown

import (
	"bytes"
	_ "embed"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

var (
	//go:embed noise.txt
	noiseText string
	//go:embed leadins.txt
	leadInsText string

	noise   = sync.OnceValue(func() map[string][]phrase { return readPhrases(noiseText, `$`) })
	leadIns = sync.OnceValue(func() map[string][]phrase { return readPhrases(leadInsText, ``) })

	sentenceEnd = pattern(`[.!?…]+["'”’)*_]*(\s|$)|[。！？]|[:：][*_]*(\n|$)|$`)
)

// A phrase is a line of noise.txt or leadins.txt, which say what it consists of, for one of
// its words. Its expression is compiled when that word is met.
type phrase struct {
	goesOn bool // it only stands before others
	rest   func() *regexp.Regexp
}

func readPhrases(text, end string) map[string][]phrase {
	all, names := map[string][]phrase{}, []string{}
	for line := range strings.Lines(text) {
		words, rest, found := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		rest, goesOn := strings.CutPrefix(strings.NewReplacer(names...).Replace(rest), "+")
		if words != "" && words[0] == '$' {
			names, found = append(names, words, rest), false
		}
		for word := range strings.FieldsSeq(words) {
			if found {
				expr := func() *regexp.Regexp { return regexp.MustCompile(`(?is)^(?:` + rest + `)` + end) }
				all[word] = append(all[word], phrase{goesOn, sync.OnceValue(expr)})
			}
		}
	}
	return all
}

// phrasesAt returns the phrases for the word that text begins with, and what follows it.
func phrasesAt(all map[string][]phrase, text []byte) ([]phrase, []byte) {
	r, end := utf8.DecodeRune(text)
	for inWord := unicode.IsLetter(r) && !isWide(r); inWord && end < min(len(text), 40); {
		r, size := utf8.DecodeRune(text[end:])
		if inWord = unicode.IsLetter(r) && !isWide(r) || r == '\'' || r == '’'; inWord {
			end += size
		}
	}
	return all[strings.ReplaceAll(strings.ToLower(string(text[:end])), "’", "'")], text[end:]
}

// isNoise reports whether a line says how a program gets on, not what it found.
func isNoise(line []byte) bool {
	if strings.IndexByte("#-*|>`", line[0]) >= 0 {
		return false // what Markdown lines begin with
	}
	line = bytes.TrimSpace(line)
	phrases, rest := phrasesAt(noise(), line)
	return slices.ContainsFunc(phrases, func(p phrase) bool { return p.rest().Match(rest) }) &&
		!bytes.Contains(line, []byte("ERROR")) && !bytes.Contains(line, []byte("FATAL"))
}

// afterLeadIns returns a paragraph from its first sentence that says something: without
// courtesies and without what agents say of themselves and of what comes next.
func afterLeadIns(text []byte) []byte {
	for rest := text; ; {
		phrases, after := phrasesAt(leadIns(), bytes.TrimLeft(rest, " \t\r\n*_-–—¡¿✅✨🎉🎯👍🔍📋"))
		found := slices.IndexFunc(phrases, func(p phrase) bool { return p.size(after) >= 0 })
		if found < 0 {
			return text
		}
		size := phrases[found].size(after)
		rest = after[size:]
		if !phrases[found].goesOn || size > 0 && (len(rest) == 0 || bytes.ContainsAny(after[:size], "!！")) {
			text = bytes.TrimSpace(rest)
		}
	}
}

const maxLeadIn = 400 // bytes of a sentence that only leads in

// size returns how much of a text belongs to a phrase whose first word stands before it: a
// whole sentence, unless it goes on; -1 if the text goes on otherwise, or says more.
func (p phrase) size(text []byte) int {
	end := sentenceEnd().FindIndex(text[:min(len(text), maxLeadIn)])[1]
	saysMore := func(p phrase) bool { return p.rest().Match(text[:end]) }
	switch found := p.rest().FindIndex(text[:end]); {
	case found == nil:
	case p.goesOn:
		return found[1]
	case end < maxLeadIn && !slices.ContainsFunc(leadIns()["="], saysMore):
		return end
	}
	return -1
}

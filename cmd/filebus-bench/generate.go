package main

import (
	_ "embed"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// A generator makes believable Markdown: reports with headings, prose, lists,
// code, tables and identifiers. One seed always gives the same texts.
//
// The frequencies of words follow Zipf's law with Mandelbrot's shift; a third of a
// text comes from the few dozen words, phrases and identifiers of its topic, as
// words in real texts come in bursts. Sizes are log-normal. Compressed and
// indexed, the texts take about as much as reports that agents have written.
type generator struct {
	random *rand.Rand
	words  []string
	zipf   *rand.Zipf
	count  int

	topic, phrases, identifiers []string // of the text being made
}

// The shape of the texts.
const (
	meanSize   = 8 << 10
	sizeSpread = 0.8 // the standard deviation of the size's logarithm
	leastSize  = 400
	mostSize   = 128 << 10

	zipfExponent = 1.15
	zipfShift    = 2.7

	topicWords       = 24
	topicPhrases     = 24
	topicIdentifiers = 12
)

func newGenerator(seed uint64) *generator {
	random := rand.New(rand.NewPCG(seed, 0x66696c65627573))
	words := vocabulary(random)
	zipf := rand.NewZipf(random, zipfExponent, zipfShift, uint64(len(words)-1))
	return &generator{random: random, words: words, zipf: zipf}
}

// next returns another text of the usual sizes.
func (g *generator) next() text {
	mu := math.Log(meanSize) - sizeSpread*sizeSpread/2
	size := int(math.Exp(mu + sizeSpread*g.random.NormFloat64()))
	return g.sized(min(max(size, leastSize), mostSize))
}

// sized returns another text of about so many bytes: the last block ends it.
func (g *generator) sized(size int) text {
	g.newTopic()
	var out strings.Builder
	out.Grow(size + size/4)
	title := g.title()
	if g.random.IntN(4) == 0 {
		fmt.Fprintf(&out, "---\nid: %08x\nagent: %s_%s\ntags: [%s, %s]\n---\n",
			g.random.Uint32(), g.word(), g.word(), g.word(), g.word())
	}
	fmt.Fprintf(&out, "# %s\n\n", title)
	for out.Len() < size {
		g.block(&out)
	}
	return g.named(title, out.String())
}

// small returns a text of about 300 bytes: a title and a few sentences.
func (g *generator) small() text {
	g.newTopic()
	title := g.title()
	return g.named(title, fmt.Sprintf("# %s\n\n%s\n", title, g.paragraph(3)))
}

// named returns the text that was made last, with its path.
func (g *generator) named(title, body string) text {
	slug := strings.ReplaceAll(strings.ToLower(title), " ", "-")
	return text{fmt.Sprintf("area-%03d/%s-%06d.md", g.count/100, slug, g.count), []byte(body)}
}

// newTopic chooses what the next text is about: words that are neither among the
// most frequent nor among the rarest, and what is made of them.
func (g *generator) newTopic() {
	g.count++
	g.topic, g.phrases, g.identifiers = nil, nil, nil
	for range topicWords {
		g.topic = append(g.topic, g.words[len(g.words)/100+g.random.IntN(len(g.words)/4)])
	}
	for range topicPhrases {
		phrase := []string{g.word(), g.word()}
		for range g.random.IntN(4) {
			phrase = append(phrase, g.word())
		}
		g.phrases = append(g.phrases, strings.Join(phrase, " "))
	}
	for range topicIdentifiers {
		g.identifiers = append(g.identifiers, g.newIdentifier())
	}
}

// block writes a heading, a paragraph, a list, some code or a table.
func (g *generator) block(out *strings.Builder) {
	switch n := g.random.IntN(20); {
	case n < 3:
		fmt.Fprintf(out, "%s %s\n\n", strings.Repeat("#", 2+g.random.IntN(2)), g.title())
	case n < 12:
		out.WriteString(g.paragraph(3+g.random.IntN(4)) + "\n\n")
	case n < 16:
		for range 3 + g.random.IntN(5) {
			out.WriteString("- " + g.paragraph(1) + "\n")
		}
		out.WriteString("\n")
	case n < 18:
		fmt.Fprintf(out, "```go\nfunc %s(ctx context.Context, %s string) error {\n", g.identifier(), g.word())
		for range 2 + g.random.IntN(8) {
			fmt.Fprintf(out, "\t%s := %s(%s, %d)\n", g.word(), g.identifier(), g.word(), g.random.IntN(1000))
		}
		out.WriteString("\treturn nil\n}\n```\n\n")
	default:
		fmt.Fprintf(out, "| %s | %s | %s |\n|---|---|---|\n", g.title(), g.word(), g.word())
		for range 3 + g.random.IntN(6) {
			fmt.Fprintf(out, "| `%s` | %s | %d.%d ms |\n", g.identifier(), g.word(), g.random.IntN(500),
				g.random.IntN(10))
		}
		out.WriteString("\n")
	}
}

// paragraph returns so many sentences.
func (g *generator) paragraph(sentences int) string {
	var out strings.Builder
	for i := range sentences {
		if i > 0 {
			out.WriteByte(' ')
		}
		for j := range 6 + g.random.IntN(14) {
			word := g.term()
			if j == 0 {
				word = capitalized(word)
			} else {
				out.WriteByte(' ')
			}
			out.WriteString(word)
			if g.random.IntN(12) == 0 {
				out.WriteByte(',')
			}
		}
		out.WriteByte('.')
	}
	return out.String()
}

// term returns what may stand in a sentence: mostly a word.
func (g *generator) term() string {
	switch n := g.random.IntN(100); {
	case n >= 85:
		return pick(g.random, g.phrases)
	case n < 2:
		return "`" + g.identifier() + "`"
	case n < 3:
		return fmt.Sprintf("`%s/%s.go:%d`", g.word(), g.word(), 1+g.random.IntN(900))
	case n < 4:
		return fmt.Sprint(g.random.IntN(10000))
	case n == 4 && g.random.IntN(4) == 0:
		return fmt.Sprintf("%012x", g.random.Uint64()>>16)
	case n == 5 && g.random.IntN(4) == 0:
		return "**" + g.word() + "**"
	}
	return g.word()
}

func (g *generator) word() string {
	if g.random.IntN(10) < 2 {
		return pick(g.random, g.topic)
	}
	return g.words[g.zipf.Uint64()]
}

// identifier returns one of the topic, or now and then another.
func (g *generator) identifier() string {
	if g.random.IntN(8) == 0 {
		return g.newIdentifier()
	}
	return pick(g.random, g.identifiers)
}

// newIdentifier makes one in camel case, in snake case or with a package.
func (g *generator) newIdentifier() string {
	first, second := g.word(), g.word()
	switch g.random.IntN(3) {
	case 0:
		return first + capitalized(second)
	case 1:
		return first + "_" + second
	}
	return first + "." + capitalized(second) + capitalized(g.word())
}

func (g *generator) title() string {
	words := []string{capitalized(pick(g.random, g.topic)), pick(g.random, g.topic)}
	for range g.random.IntN(3) {
		words = append(words, g.word())
	}
	return strings.Join(words, " ")
}

func capitalized(word string) string { return strings.ToUpper(word[:1]) + word[1:] }

// vocabularySize is the number of words that made texts draw from. Identifiers,
// numbers and digests are made on the spot and come on top.
const vocabularySize = 24000

var (
	// frequentWords are the first ranks of the vocabulary: as in any English text,
	// most of them say little.
	//go:embed frequent.txt
	frequentWords string

	onsets = strings.Fields("b br c ch cl cr d dr f fl fr g gl gr h j k l m n p pl pr qu r s sc sh " +
		"sl sp st str t th tr v w")
	nuclei = strings.Fields("a e i o u a e i o ai ea ee ia io oa ou")
	codas  = strings.Fields("b ck d g l ll m n nd ng nt p r rd rm rt s ss st t x")
	tails  = strings.Fields("ing ed er tion ment able ity al ive ous ly ness s es ance ism")
)

// vocabulary returns distinct words, most frequent first: real ones, then made
// ones that can be spoken and have the endings of English.
func vocabulary(random *rand.Rand) []string {
	seen := map[string]bool{}
	var words []string
	add := func(word string) {
		if !seen[word] {
			seen[word] = true
			words = append(words, word)
		}
	}
	for word := range strings.FieldsSeq(frequentWords) {
		add(word)
	}
	for len(words) < vocabularySize {
		add(madeWord(random))
	}
	return words
}

func madeWord(random *rand.Rand) string {
	var word strings.Builder
	for range 1 + random.IntN(3) {
		word.WriteString(pick(random, onsets) + pick(random, nuclei))
	}
	if random.IntN(2) == 0 {
		word.WriteString(pick(random, codas))
	}
	if random.IntN(3) == 0 {
		word.WriteString(pick(random, tails))
	}
	return word.String()
}

func pick[T any](random *rand.Rand, from []T) T { return from[random.IntN(len(from))] }

package main

import (
	"math/rand/v2"
	"strings"
)

// vocabularySize is the number of words that made texts draw from. Identifiers,
// numbers and digests are made on the spot and come on top.
const vocabularySize = 24000

// frequentWords are the first ranks of the vocabulary: as in any English text,
// most of them say little.
const frequentWords = `the to of and a in is it that for was on with as be by this not are from or an
at which but has have when one all if can no there so we they its more into only out then than them
were after before each other will would should must may does did been being also any some same new
file test code value error type call read write string list name path line set run build state key
token session request response cache index store record task agent report result change version
config server client user data table row query search lock retry timeout limit budget queue worker
function method return package module import interface handler context cancel deadline buffer parse
format encode decode verify check commit merge branch review issue fix bug feature release deploy
rollback migration schema column order page cursor stream chunk batch event message topic schedule
latency throughput memory disk network socket header body status code reason cause effect summary
finding risk decision pattern open close start stop wait signal process thread pool pair map tree
node edge root leaf depth graph section heading paragraph fence quote link image anchor number count
total mean median ratio percent second minute hour day week small large fast slow cheap safe broken
missing stale fresh empty full first last next previous old current because however although while
since until between under over through during without within against about again still already never
always often rarely once twice here where how why what who`

var (
	onsets = strings.Fields("b br c ch cl cr d dr f fl fr g gl gr h j k l m n p pl pr qu r s sc sh sl sp st str t th tr v w")
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

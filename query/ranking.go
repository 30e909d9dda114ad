package query

// What decides the order of hits beside the scores of index/ranking.go. Measured on judged sets and
// known-item sets of other texts: see docs/decisions/0044-judged-by-factors.md.
const (
	correctedWeight = 0.8 // of the word that a misspelled one is read as, against a word of the query
	joinedWeight    = 0.1 // of two words of a query that follow each other, as one

	// The best hits by BM25 are judged by their texts too: see finder.judge.
	judgedHits  = 30
	nameShare   = 0.5  // of what words in the name's id say, against those of a passage
	longText    = 600  // tokens, about, above which a text's length is held against it
	lengthPower = 0.15 // of how much longer it is

	nearText = 64 << 10 // bytes of a body in which nearness is looked for
	nearHalf = 0.5      // how soon further places stop counting, as BM25's k1

	passageText  = 256 << 10 // bytes of a body in which a passage is looked for
	passageWords = 60        // of a passage, besides those of its heading
	passageHalf  = 1.2       // as nearHalf

	// Of BM25 among the sections of one body, of which the best is shown.
	sectionHalf = 1.2
	sectionBias = 0.4
)

// The strength of edges. That of shared things is the sum over them of their
// rarity, which is 1/2 at most for each.
const (
	statedStrength  = 3
	relatedStrength = 2.5 // of "relates-to", which says least
	taskStrength    = 1

	// maxSharing is how many entries may share a tag, a task or a file so that it
	// leads from one to the others. What more of them share says little of any two.
	maxSharing = 200
)

// What a candidate for a context scores beside the text, of which the best hit has 1. They are
// set so that an entry that shares two tags or a file overtakes a middling hit,
// and that confidence and age decide only between near equals.
const (
	scoreTag      = 0.25 // each, up to four
	scoreFile     = 0.5
	scoreBase     = 0.25 // only the file's base name
	scoreHigh     = 0.1
	scoreMedium   = 0.05
	scoreNewest   = 0.1
	recencyWeeks  = 8.0 // after which the score for age has fallen to a third
	hoursOfAWeek  = 7 * 24
	scoreRelevant = 0.15 // without confidence and age; below it nothing connects a candidate with the task
	maxSharedTags = 4

	sameText = 0.8 // the share of runs of three words above which two texts say the same
)

package query

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"filebus/index"
	"filebus/materialize/likeness"
	"filebus/store/record"
)

const (
	// explainTime bounds the reading of bodies to say why something was not found.
	explainTime = time.Second
	maxUnknown  = 5 // words that are named
)

// reasons say why an index has no hits, or none for some words.
type reasons struct {
	unknown    []string // only where other words have hits
	didYouMean string
	corrected  map[string]string
	hidden     []Hidden
}

// explain finds out what a request has missed, given what it has found.
func (c *catchUp) explain(
	ctx context.Context, x *index.Index, request *SearchRequest, result *index.Result,
) (m reasons, err error) {
	if result.Total > 0 {
		if m.unknown = c.unknown(request, result); m.unknown == nil {
			return m, nil
		}
	}
	incomplete := c.incomplete
	c.until = time.Now().Add(explainTime)
	defer func() { c.incomplete, c.until = incomplete, time.Time{} }()
	m.didYouMean, m.corrected, err = c.correct(ctx, x, request, result.Unknown)
	if err == nil && result.Total == 0 {
		m.hidden, err = c.hidden(ctx, x, request)
	}
	return m, err
}

// unknown returns the words of a request, as it writes them, that no record has.
// Numbers are left out. There are none where a version that was not looked up in the
// index may have them.
func (c *catchUp) unknown(request *SearchRequest, result *index.Result) (words []string) {
	if c.behind() > 0 || request.IndexedOnly || request.History {
		return nil
	}
	for _, at := range result.Unknown {
		word := request.Query[at[0]:at[1]]
		if b := index.BeginningOf(word); b != nil && slices.Contains(slices.Collect(maps.Values(c.completed)), b.Term) {
			continue
		}
		if strings.ContainsFunc(word, unicode.IsLetter) && !slices.Contains(words, word) && len(words) < maxUnknown {
			words = append(words, word)
		}
	}
	return words
}

// tell puts into an answer what was missed.
func (m *reasons) tell(answer *SearchAnswer) {
	if answer.Total == 0 {
		answer.Facets = nil // of a phrase that no text has, though some have its words
		answer.DidYouMean, answer.Hidden = m.didYouMean, m.hidden
	} else if len(m.unknown) > 0 {
		answer.Unknown, answer.DidYouMean, answer.Corrected = m.unknown, m.didYouMean, m.corrected
	}
}

// count returns about how many hits a request has in the index.
func (c *catchUp) count(ctx context.Context, x *index.Index, request SearchRequest) (uint64, error) {
	request.Limit, request.Offset, request.Facets, request.Explain = 1, 0, nil, false
	result, err := c.filtered(ctx, x, &request, request.forIndex())
	return result.Total, err
}

// A Hidden is a condition without which a request would have hits.
type Hidden struct {
	// Condition is a field of a record.Filter, "time" for Since and Until,
	// "phrase" if the words of Phrases need not stand in a row, "without" for words and
	// phrases, or "all" for several, none of which alone is in the way.
	Condition string   `json:"condition"`
	Values    []string `json:"values,omitempty"` // of the condition, as the request has them; of a time, none
	Total     uint64   `json:"total"`            // hits without it, about
}

// A relaxation takes a condition out of a request.
type relaxation struct {
	condition string
	values    []string
	drop      func(q *SearchRequest)
}

// relaxations returns one for each condition of the request.
func (q *SearchRequest) relaxations() []relaxation {
	all := []relaxation{
		{"phrase", q.Phrases, func(q *SearchRequest) { q.Phrases = nil }},
		{"without", append(q.Without[:len(q.Without):len(q.Without)], q.WithoutPhrases...), func(q *SearchRequest) {
			q.Without, q.WithoutPhrases = nil, nil
		}},
	}
	for _, field := range record.FilterFields() {
		all = append(all, relaxation{field, q.Values(field), func(q *SearchRequest) { q.Clear(field) }})
	}
	if !index.Findable(q.Query) {
		all = all[1:] // without its phrases nothing would be left to look for
	}
	set := slices.DeleteFunc(all, func(r relaxation) bool { return len(r.values) == 0 })
	if !q.Since.IsZero() || !q.Until.IsZero() {
		set = append(set, relaxation{"time", nil, func(q *SearchRequest) { q.Since, q.Until = time.Time{}, time.Time{} }})
	}
	return set
}

// hidden returns the conditions that are in the way of hits, each alone; if none
// is, all together.
func (c *catchUp) hidden(ctx context.Context, x *index.Index, request *SearchRequest) (found []Hidden, err error) {
	relaxations := request.relaxations()
	free := *request
	for _, r := range relaxations {
		one := *request
		r.drop(&one)
		r.drop(&free)
		n, err := c.count(ctx, x, one)
		if err != nil {
			return nil, err
		}
		if n > 0 {
			found = append(found, Hidden{r.condition, r.values, n})
		}
	}
	if len(found) > 0 || len(relaxations) < 2 {
		return found, nil
	}
	n, err := c.count(ctx, x, free)
	if n > 0 {
		found = append(found, Hidden{"all", nil, n})
	}
	return found, err
}

const (
	maxSpellings   = 5 // texts that are tried for one that finds nothing
	spellingBodies = 3 // records that are looked at for how a word is written
)

// A replacement is a part of a text that may be written otherwise.
type replacement struct {
	start, end int // bytes of the text
	words      []string
}

// correct returns the text of a request with unknown words, which are bytes of the
// query, in the spelling of others, if that finds something.
func (c *catchUp) correct(ctx context.Context, x *index.Index, request *SearchRequest, unknown [][2]int) (text string, sure map[string]string, err error) {
	if len(request.Text) != len(request.Query) || len(unknown) == 0 || isPasted(request.Text) {
		return "", nil, nil // the words of one are elsewhere in the other, or nobody has typed them
	}
	suggestions, err := x.Suggest(ctx, request.Query)
	if err != nil {
		return "", nil, err
	}
	var replacements []replacement
	most := 0
	for _, s := range suggestions {
		// What is not one piece of the text, as around an operator, stays as it is.
		isUnknown := func(word [2]int) bool { return word[0] < s.End && s.Start < word[1] }
		if request.Text[s.Start:s.End] != request.Query[s.Start:s.End] || !slices.ContainsFunc(unknown, isUnknown) {
			continue
		}
		words, err := c.spellings(ctx, x, request, s)
		if err != nil {
			return "", nil, err
		}
		if len(words) > 0 {
			replacements = append(replacements, replacement{s.Start, s.End, words})
			most = max(most, len(words))
		}
	}
	for try := range min(most, maxSpellings) {
		text = replaced(request.Text, replacements, try)
		n, err := c.count(ctx, x, request.withText(text))
		if n > 0 && try == 0 {
			sure = corrections(request.Text, replacements)
		}
		if n > 0 || err != nil {
			return text, sure, err
		}
	}
	return "", nil, nil
}

// corrections returns those of a text that leave no doubt: any other word is less like it.
func corrections(text string, replacements []replacement) map[string]string {
	sure := map[string]string{}
	for _, r := range replacements {
		word, as := text[r.start:r.end], r.words[0]
		isAlike := len(r.words) > 1 && likeness.Slips(as, word) == likeness.Slips(r.words[1], word)
		if !isAlike && !strings.ContainsFunc(word+as, func(c rune) bool { return !unicode.IsLetter(c) }) {
			sure[word] = as
		}
	}
	return sure
}

// replaced returns text with the replacements in their place, of each the one that
// comes at a try, or its last.
func replaced(text string, replacements []replacement, try int) string {
	var out strings.Builder
	last := 0
	for _, r := range replacements {
		out.WriteString(text[last:r.start] + r.words[min(try, len(r.words)-1)])
		last = r.end
	}
	return out.String() + text[last:]
}

// withText returns the request with another text, read as its own was.
func (q *SearchRequest) withText(text string) SearchRequest {
	var read SearchRequest
	if q.Query == q.Text {
		read.Literal(text)
	} else {
		read.Parse(text)
	}
	read.settle()
	out := *q // has the filters of the text
	out.Text, out.Query = read.Text, read.Query
	out.Phrases, out.Without, out.WithoutPhrases = read.Phrases, read.Without, read.WithoutPhrases
	return out
}

// spellings returns what a part of a query may be written as, the likeliest first.
func (c *catchUp) spellings(ctx context.Context, x *index.Index, request *SearchRequest, s index.Suggestion) (words []string, err error) {
	for _, term := range s.Terms {
		word, err := c.written(ctx, x, request, term, s.Word)
		if err != nil {
			return nil, err
		}
		if word != "" && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	slices.SortStableFunc(words, func(a, b string) int {
		return likeness.Slips(a, s.Word) - likeness.Slips(b, s.Word)
	})
	return words, nil
}

// written returns a term as records write it that the request's filters let
// through: of several ways the one most like what was typed, then the most frequent.
func (c *catchUp) written(ctx context.Context, x *index.Index, request *SearchRequest, term, typed string) (string, error) {
	ask := request.forIndex()
	ask.Query, ask.Phrases, ask.Without, ask.Statistics = "", nil, nil, nil
	ask.More, ask.Limit, ask.Offset = []index.WeightedTerm{{Term: term, Weight: 1}}, spellingBodies, 0
	result, err := x.Search(ctx, ask)
	if err != nil {
		return "", err
	}
	found, err := c.candidates(ctx, result.Hits, true)
	if err != nil {
		return "", err
	}
	counts := make(map[string]int)
	for i := range found {
		if found[i].gone {
			continue
		}
		texts, err := found[i].texts()
		if err != nil {
			return "", err
		}
		for _, text := range texts {
			countForms(counts, text, term, typed)
		}
	}
	forms := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		slips := likeness.Slips(a, typed) - likeness.Slips(b, typed)
		return cmp.Or(slips, counts[b]-counts[a], strings.Compare(a, b))
	})
	return append(forms, "")[0], nil
}

// countForms counts how text writes a term. A capital that only begins a word is
// left out, unless what was typed has one.
func countForms(counts map[string]int, text []byte, term, typed string) {
	lower := !strings.ContainsFunc(typed, unicode.IsUpper)
	for token := range index.Analyze(text) {
		if token.Term != term {
			continue
		}
		form := string(text[token.Start:token.End])
		if rest := []rune(form)[1:]; lower && !strings.ContainsFunc(string(rest), unicode.IsUpper) {
			form = strings.ToLower(form)
		}
		if !strings.ContainsFunc(form, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || r == unicode.ReplacementChar }) {
			counts[form]++
		}
	}
}

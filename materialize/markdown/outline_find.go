package markdown

import (
	"slices"
	"strconv"
	"strings"
)

// FindSection looks a section up by its heading: "Handoff", "## handoff". A path
// "Round 2/Notes" names a Notes anywhere below a Round 2; "Notes#2" the second
// Notes of the text, "Round 2/Notes#2" the second below Round 2. Case, the number
// signs of the heading and its emphasis and code marks do not matter.
//
// When several sections answer to want, the first is returned. candidates are the
// addresses of all that do or, when ok is false, of at most ten that look similar;
// each finds its section when it is asked for in turn.
//
// It takes time in proportion to the number of sections, however deep the path.
func FindSection(sections []Section, want string) (found Section, candidates []string, ok bool) {
	f := sectionFinder{sections: sections, want: headingKey(want)}
	f.keys = Each(sections, func(s Section) string { return headingKey(s.Title) })
	hits := f.find()
	const maxCandidates = 10 // how many similar sections are offered for one not found
	if len(hits) == 0 {
		return Section{}, f.addresses(f.similar(maxCandidates)), false
	}
	return sections[hits[0]], f.addresses(hits), true
}

// headingKey returns what two spellings of a heading have in common.
func headingKey(title string) string {
	title = strings.Map(func(r rune) rune {
		if r == '`' || r == '*' {
			return -1
		}
		return r
	}, title)
	title = strings.TrimLeft(strings.TrimSpace(title), "#")
	return strings.Join(strings.Fields(strings.ToLower(title)), " ")
}

// A sectionFinder walks the sections in order. The places in want that a section's
// heading path has reached are the places where the headings below it go on.
type sectionFinder struct {
	sections []Section
	keys     []string
	want     string
	within   []reachedPlaces
	seen     map[int]int // by place in want: the headings met there, for "#2"
}

// reachedPlaces are the places in want that the headings down to this one have
// reached; the first is always 0, since a path may begin at any heading.
type reachedPlaces struct {
	level  int
	places []int
}

// find returns the sections that want names, in order: those whose heading or
// path is want itself or, if there are none, those that it reaches by ordinals.
func (f *sectionFinder) find() []int {
	var exact, counted []int
	f.seen = make(map[int]int)
	for i, s := range f.sections {
		for len(f.within) > 0 && f.within[len(f.within)-1].level >= s.Level {
			f.within = f.within[:len(f.within)-1]
		}
		start := []int{0}
		if len(f.within) > 0 {
			start = f.within[len(f.within)-1].places
		}
		places := start
		for _, place := range start {
			end, ordinal := f.advance(place, f.keys[i])
			switch {
			case end == len(f.want) && end > 0 && ordinal:
				counted = append(counted, i)
			case end == len(f.want) && end > 0:
				exact = append(exact, i)
			case end > place && !slices.Contains(places, end):
				places = append(places[:len(places):len(places)], end)
			}
		}
		f.within = append(f.within, reachedPlaces{s.Level, places})
	}
	// A heading that is itself spelled "Notes#2" goes before the second Notes.
	if len(exact) > 0 {
		return exact
	}
	return counted
}

// advance returns the place in want after a heading key that stands there, past
// an ordinal and the slash that follow it, or the place itself when it does not
// stand there or is not yet the one the ordinal counts to.
func (f *sectionFinder) advance(place int, key string) (end int, ordinal bool) {
	rest, found := strings.CutPrefix(f.want[place:], key)
	if !found || key == "" {
		return place, false
	}
	if digits, isOrdinal := strings.CutPrefix(rest, "#"); isOrdinal {
		name, _, _ := strings.Cut(digits, "/")
		n, err := strconv.Atoi(name)
		if err != nil {
			return place, false
		}
		if f.seen[place]++; f.seen[place] != n {
			return place, false
		}
		rest, ordinal = digits[len(name):], true
	}
	if rest == "" {
		return len(f.want), ordinal
	}
	rest, found = strings.CutPrefix(rest, "/")
	if !found {
		return place, false
	}
	return len(f.want) - len(strings.TrimLeft(rest, "# ")), ordinal
}

// similar returns up to limit sections whose headings resemble the last part of
// want, the best first: one holds the other, or they share words. Without any,
// the first sections are returned.
func (f *sectionFinder) similar(limit int) []int {
	last := f.want[strings.LastIndexByte(f.want, '/')+1:]
	last, _, _ = strings.Cut(last, "#")
	words := strings.Fields(last)
	words = words[:min(len(words), 10)]
	// By rank: one holds the other, they share a word, anything else.
	ranks := make([][]int, 3)
	for i, key := range f.keys {
		// Only words of some length mean something.
		isShared := func(word string) bool { return len(word) > 3 && strings.Contains(key, word) }
		switch {
		case key == "":
		case last != "" && (strings.Contains(key, last) || strings.Contains(last, key)):
			ranks[0] = append(ranks[0], i)
		case slices.ContainsFunc(words, isShared):
			ranks[1] = append(ranks[1], i)
		default:
			ranks[2] = append(ranks[2], i)
		}
	}
	best := append(ranks[0], ranks[1]...)
	if len(best) == 0 {
		best = ranks[2]
	}
	return best[:min(len(best), limit)]
}

// addresses returns for each section what finds it: its title, with an ordinal
// from the second of that title on.
func (f *sectionFinder) addresses(indexes []int) []string {
	count := make(map[string]int)
	ordinals := make([]int, len(f.sections))
	for i, key := range f.keys {
		count[key]++
		ordinals[i] = count[key]
	}
	var out []string
	for _, i := range indexes {
		address := f.sections[i].Title
		if count[f.keys[i]] > 1 {
			address += "#" + strconv.Itoa(ordinals[i])
		}
		out = append(out, address)
	}
	return out
}

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
	f := sectionFinder{sections, Each(sections, func(s Section) string { return headingKey(s.Title) })}
	want = headingKey(want)
	hits, counted := f.find(0, len(sections), want)
	if len(hits) == 0 { // a heading that is itself spelled "Notes#2" goes before the second Notes
		hits = counted
	}
	if len(hits) == 0 {
		return Section{}, f.addresses(f.similar(want)), false
	}
	slices.Sort(hits)
	hits = slices.Compact(hits)
	return sections[hits[0]], f.addresses(hits), true
}

// headingKey returns what two spellings of a heading have in common.
func headingKey(title string) string {
	title = strings.TrimLeft(strings.TrimSpace(strings.NewReplacer("`", "", "*", "").Replace(title)), "#")
	return SingleSpaced(strings.ToLower(title))
}

// A sectionFinder knows sections and their keys.
type sectionFinder struct {
	sections []Section
	keys     []string
}

// find returns which of the sections from one up to another have a heading or path that is
// want itself, and which it reaches by ordinals. Headings have six levels, so no section is
// looked at more often than there are ways through them.
func (f sectionFinder) find(from, to int, want string) (exact, counted []int) {
	seen := map[string]int{}
	for i := from; i < to; i++ {
		rest, found := strings.CutPrefix(want, f.keys[i])
		ordinal, path, _ := strings.Cut(rest, "/")
		if !found || f.keys[i] == "" || ordinal != "" && ordinal[0] != '#' {
			continue
		}
		hits, numbered := []int{i}, []int(nil)
		if path = strings.TrimLeft(path, "# "); path != "" {
			below := func(s Section) bool { return s.Start >= f.sections[i].End }
			end := slices.IndexFunc(f.sections[i+1:to], below)
			if end < 0 {
				end = to - i - 1
			}
			hits, numbered = f.find(i+1, i+1+end, path)
		}
		if ordinal == "" {
			exact, counted = append(exact, hits...), append(counted, numbered...)
		} else if seen[f.keys[i]]++; "#"+strconv.Itoa(seen[f.keys[i]]) == ordinal {
			counted = append(append(counted, hits...), numbered...)
		}
	}
	return exact, counted
}

// similar returns up to ten sections whose headings resemble the last part of want: one
// holds the other, or they share a word. Without any, the first sections are returned.
func (f sectionFinder) similar(want string) (all []int) {
	const limit = 10
	last, _, _ := strings.Cut(want[strings.LastIndexByte(want, '/')+1:], "#")
	words := strings.Fields(last)
	words = words[:min(len(words), limit)]
	var shared, others []int
	for i, key := range f.keys {
		// Only words of some length mean something.
		isShared := func(word string) bool { return len(word) > 3 && strings.Contains(key, word) }
		switch {
		case key == "":
		case last != "" && (strings.Contains(key, last) || strings.Contains(last, key)):
			all = append(all, i)
		case slices.ContainsFunc(words, isShared):
			shared = append(shared, i)
		default:
			others = append(others, i)
		}
	}
	if all = append(all, shared...); len(all) == 0 {
		all = others
	}
	return all[:min(len(all), limit)]
}

// addresses returns for each section what finds it: its title, with an ordinal
// from the second of that title on.
func (f sectionFinder) addresses(indexes []int) []string {
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

package index

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"
)

// FacetTime counts by days, in UTC: 2026-03-02.
const FacetTime Facet = "time"

// Facets returns all fields whose values can be counted, as the filters call them.
func Facets() []Facet { return []Facet{keyKind, keyAgent, keyTag, keySession, keyTree, FacetTime} }

// checkFacets reports a facet that there is not.
func checkFacets(facets []Facet) error {
	for _, facet := range facets {
		if !slices.Contains(Facets(), facet) {
			return fmt.Errorf("searching the index: there is no facet %q", facet)
		}
	}
	return nil
}

// countFacets counts the values of facets over all matches.
func (s *search) countFacets(facets []Facet) (map[Facet][]FacetCount, error) {
	if len(facets) == 0 {
		return nil, nil
	}
	matched, out := s.set(s.matched), make(map[Facet][]FacetCount)
	for _, facet := range facets {
		field := string(facet)
		if facet == FacetTime {
			field = keyDay
		}
		values, err := s.countValues(key(field, ""), matched)
		if err != nil {
			return nil, err
		}
		out[facet] = sortedCounts(values)
	}
	return out, nil
}

// narrow counts the matches that have each of some values, and returns those that less than half
// of all have, most frequent first.
func (s *search) narrow(values []Narrowing, err error) ([]Narrowing, error) {
	matched, having := s.set(s.matched), newSet(s.index.places)
	for i, v := range values {
		clear(having)
		if err = cmp.Or(err, s.addKey(having, key(string(v.Field), v.Value))); err != nil {
			return nil, err
		}
		having.intersect(matched)
		values[i].Count = uint64(having.count())
	}
	slices.SortStableFunc(values, func(a, b Narrowing) int { return cmp.Compare(b.Count, a.Count) })
	return slices.DeleteFunc(values, func(v Narrowing) bool { return 2*v.Count >= uint64(len(s.matched)) }), err
}

// SumCounts adds counts of the same values to each other, the most frequent first,
// then by value.
func SumCounts(a, b []FacetCount) []FacetCount {
	values := make(map[string]uint64)
	for _, c := range slices.Concat(a, b) {
		values[c.Value] += c.Count
	}
	return sortedCounts(values)
}

func sortedCounts(values map[string]uint64) []FacetCount {
	counts := make([]FacetCount, 0, len(values))
	for value, count := range values {
		counts = append(counts, FacetCount{value, count})
	}
	slices.SortFunc(counts, func(a, b FacetCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Value, b.Value))
	})
	return counts
}

// countValues counts the matches of each key that begins with prefix, by what
// follows it. It goes through the dictionary of each segment by itself: most
// values are in few of them, and a look-up in all would cost more than to count.
func (s *search) countValues(prefix string, matched set) (map[string]uint64, error) {
	values := make(map[string]uint64)
	return values, s.eachSegment(func(segment *scorch.SegmentSnapshot, first uint64) error {
		dictionary, err := segment.Segment().Dictionary(fieldKeys)
		if err != nil {
			return err
		}
		return countKeys(dictionary, prefix, matched.bitmap(first, uint64(segment.FullSize())), values)
	})
}

// countKeys adds the counts of the keys of one segment.
func countKeys(dictionary segment.TermDictionary, prefix string, matched *roaring.Bitmap, values map[string]uint64) error {
	after := []byte(prefix)
	after[len(after)-1]++ // the byte that ends the name of the filter
	keys := dictionary.AutomatonIterator(nil, []byte(prefix), after)
	var list segment.PostingsList
	for {
		entry, err := keys.Next()
		if err != nil || entry == nil {
			return err
		}
		having, err := bitmapOf(dictionary, entry.Term, &list)
		if err != nil {
			return err
		}
		if count := having.AndCardinality(matched); count > 0 {
			values[entry.Term[len(prefix):]] += count
		}
	}
}

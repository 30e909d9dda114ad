package index

import (
	"cmp"
	"iter"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"

	"filebus/store/record"
)

// A set is a set of document numbers.
type set []uint64

// newSet returns a set for numbers below places. It does not grow: a number from
// a damaged file panics, which guard makes ErrDamaged, and takes no memory.
func newSet(places int) set { return make(set, (places+63)/64) }

// has reports whether n is in s, add makes it so.
func (s set) has(n uint64) bool { return s[n/64]&(1<<(n%64)) != 0 }
func (s set) add(n uint64)      { s[n/64] |= 1 << (n % 64) }

// set returns the set of documents.
func (s *search) set(documents []uint64) set {
	all := newSet(s.index.places)
	for _, n := range documents {
		all.add(n)
	}
	return all
}

// members returns the numbers in s, rising.
func (s set) members() iter.Seq[uint64] {
	return func(yield func(uint64) bool) {
		for i, word := range s {
			for ; word != 0; word &= word - 1 {
				if !yield(uint64(64*i + bits.TrailingZeros64(word))) {
					return
				}
			}
		}
	}
}

// intersect keeps in s what is in other too, unite adds what is. They are of one
// size.
func (s set) intersect(other set) {
	for i := range s {
		s[i] &= other[i]
	}
}

func (s set) unite(other set) {
	for i := range min(len(s), len(other)) {
		s[i] |= other[i]
	}
}

// count returns how many numbers are in s.
func (s set) count() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// A filter decides which documents may be hits. However many conditions a request
// has, it takes two sets.
type filter struct {
	required set // hits are in it; nil: there is no such condition
	excluded set // no hit is in it; nil likewise
}

// require and exclude take over a set: of what all hits, or none, are in.
func (f *filter) require(s set) {
	if f.required == nil {
		f.required = s
		return
	}
	f.required.intersect(s)
}

func (f *filter) exclude(s set) {
	if f.excluded == nil {
		f.excluded = s
		return
	}
	f.excluded.unite(s)
}

// passes reports whether the document n may be a hit.
func (f *filter) passes(n uint64) bool {
	return (f.required == nil || f.required.has(n)) && (f.excluded == nil || !f.excluded.has(n))
}

// of returns the documents of a set that pass, in the same place.
func (f *filter) of(documents set) set {
	if f.required != nil {
		documents.intersect(f.required)
	}
	for i := range f.excluded {
		documents[i] &^= f.excluded[i]
	}
	return documents
}

// filter looks up what request asks for.
func (s *search) filter(request *Request) (*filter, error) {
	f := &filter{}
	for _, field := range record.FilterFields() {
		add, alternatives := f.require, [][]string{request.Values(field)}
		keyed, isExcluded := strings.CutPrefix(field, "not-")
		switch {
		case isExcluded:
			add = f.exclude
		case field == keyTag: // all of them
			alternatives = slices.Collect(slices.Chunk(request.Tags, 1))
		}
		for _, values := range alternatives {
			if err := s.addAny(add, keyed, values); err != nil {
				return nil, err
			}
		}
	}
	if len(request.Kinds) == 0 && !request.Quiet {
		if err := s.addAny(f.exclude, keyQuiet, []string{""}); err != nil {
			return nil, err
		}
	}
	if err := s.addTexts(f, request); err != nil {
		return nil, err
	}
	return f, s.addTimes(f, request.Since, request.Until)
}

// addAny adds the set of the documents with any of the values to a filter, unless
// there are no values to look for.
func (s *search) addAny(add func(set), filter string, values []string) error {
	if len(values) == 0 {
		return nil
	}
	found := newSet(s.index.places)
	for _, value := range values {
		if err := s.addKey(found, key(filter, value)); err != nil {
			return err
		}
	}
	if filter == "dialogue" { // which names tell
		if err := s.addNamed(found, &record.Filter{Dialogues: values}); err != nil {
			return err
		}
	}
	add(found)
	return nil
}

// addNamed adds the documents whose names pass a filter.
func (s *search) addNamed(to set, filter *record.Filter) error {
	return s.eachTerm("_id", "", func(id string, _ uint64) (bool, error) {
		name, err := record.ParseName(id)
		if err != nil || !filter.Accepts(&record.Record{Name: name}) {
			return true, nil
		}
		return true, postings(s.ctx, s.state, "_id", id, false, func(n, _ uint64, _ float64) { to.add(n) })
	})
}

// addKey adds the documents that have an exact term.
func (s *search) addKey(to set, term string) error {
	return s.eachSegment(func(of *scorch.SegmentSnapshot, first uint64) error {
		dictionary, err := of.Segment().Dictionary(fieldKeys)
		if err != nil {
			return err
		}
		found, err := bitmapOf(dictionary, term, new(segment.PostingsList))
		if deleted := of.Deleted(); deleted != nil {
			found.AndNot(deleted)
		}
		to.addBitmap(found, first)
		return err
	})
}

// eachSegment calls visit with each segment and the number of its first document.
func (s *search) eachSegment(visit func(segment *scorch.SegmentSnapshot, first uint64) error) error {
	first := uint64(0)
	for _, segment := range s.state.Segments() {
		if err := cmp.Or(s.ctx.Err(), visit(segment, first)); err != nil {
			return err
		}
		first += uint64(segment.FullSize())
	}
	return nil
}

// bitmapOf returns the documents of a segment that have a term, deleted ones too. Known is a list to be filled again.
func bitmapOf(dictionary segment.TermDictionary, term string, known *segment.PostingsList) (*roaring.Bitmap, error) {
	found := roaring.New()
	list, err := dictionary.PostingsList([]byte(term), nil, *known)
	if whole, ok := list.(interface{ OrInto(*roaring.Bitmap) }); ok && err == nil { // else none has the term
		whole.OrInto(found)
	}
	*known = list
	return found, err
}

// addBitmap adds the documents of a segment, whose first has a number.
func (s set) addBitmap(of *roaring.Bitmap, first uint64) {
	at, shift := first/64, first%64
	for i, word := range of.ToDense() {
		s[at+uint64(i)] |= word << shift
		if carried := word >> (64 - shift); carried != 0 {
			s[at+uint64(i)+1] |= carried
		}
	}
}

// bitmap returns those of a segment's documents that are in s, numbered from its first on.
func (s set) bitmap(first, size uint64) *roaring.Bitmap {
	words, shift := make([]uint64, (size+63)/64), first%64
	for i := range words {
		at := first/64 + uint64(i)
		if words[i] = s[at] >> shift; at+1 < uint64(len(s)) {
			words[i] |= s[at+1] << (64 - shift)
		}
	}
	found := roaring.FromDense(words, false)
	found.RemoveRange(size, 64*uint64(len(words)))
	return found
}

// addTimes requires a time from since on and before until. Whole days are
// looked up; only the documents of the first and the last are asked for their
// exact time.
func (s *search) addTimes(f *filter, since, until time.Time) error {
	if since.IsZero() && until.IsZero() {
		return nil
	}
	first, last := key(keyDay, ""), key(keyDay, "9999-99-99")
	if !since.IsZero() {
		first = key(keyDay, day(since))
	}
	if !until.IsZero() {
		last = key(keyDay, day(until))
	}
	found := newSet(s.index.places)
	err := s.eachTerm(fieldKeys, key(keyDay, ""), func(day string, _ uint64) (bool, error) {
		switch {
		case day < first || day > last:
			return true, nil
		case day == first || day == last:
			return true, s.addWithin(found, day, since, until)
		}
		return true, s.addKey(found, day)
	})
	f.require(found)
	return err
}

// addWithin adds the documents of a day whose time is within the bounds.
func (s *search) addWithin(to set, day string, since, until time.Time) error {
	ofDay := newSet(s.index.places)
	if err := s.addKey(ofDay, day); err != nil {
		return err
	}
	for n := range ofDay.members() {
		t, err := s.facts.time(n)
		if err != nil {
			return err
		}
		if record.Within(t, since, until) {
			to.add(n)
		}
	}
	return nil
}

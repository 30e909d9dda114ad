package index

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/blevesearch/bleve/v2/index/scorch"
)

// factsVersion is part of the mapping: raise it with every change of what facts
// hold, so that older generations are not used.
const factsVersion = 5

// firstSecond is the year 1 in Unix time: no record is older.
const firstSecond = -62135596800

// facts are what the index knows of a document besides its terms: what a hit
// is ordered by, and what it adds to the totals. They are stored with it.
type facts struct {
	position uint64
	time     time.Time            // in UTC
	lengths  [scoredFields]uint64 // tokens of each scored field
	print    [printLength]byte    // the body's fingerprint as text; zero: none
}

// printMark stands before a fingerprint.
const printMark = '#'

// encode returns the facts as numbers in base 36 with spaces between: the
// position, the time's seconds since firstSecond and nanoseconds, the lengths;
// and behind a mark the fingerprint, if there is one. Every change raises
// factsVersion.
func (f *facts) encode() string {
	b := strconv.AppendUint(make([]byte, 0, 64), f.position, 36)
	b = strconv.AppendInt(append(b, ' '), f.time.Unix()-firstSecond, 36)
	b = strconv.AppendInt(append(b, ' '), int64(f.time.Nanosecond()), 36)
	for _, n := range f.lengths {
		b = strconv.AppendUint(append(b, ' '), n, 36)
	}
	if f.print != ([printLength]byte{}) {
		b = append(append(b, printMark), f.print[:]...)
	}
	return string(b)
}

// decodeFacts reads what encode wrote. It is called for every document of a
// large result, so it makes no garbage.
func decodeFacts(text []byte) (f facts, err error) {
	var numbers [3 + scoredFields]uint64
	rest, print, printed := bytes.Cut(text, []byte{printMark})
	if printed && (len(print) != printLength || copy(f.print[:], print) != printLength) {
		return f, fmt.Errorf("malformed fingerprint in the facts %q of a document", text)
	}
	for i := range numbers {
		var ok bool
		numbers[i], rest, ok = cutNumber(rest, i == len(numbers)-1)
		if !ok {
			return f, fmt.Errorf("malformed facts %q of a document", text)
		}
	}
	f.position = numbers[0]
	f.time = timeOf(numbers[1], numbers[2])
	copy(f.lengths[:], numbers[3:])
	return f, nil
}

// decodeTime reads the time alone.
func decodeTime(text []byte) (time.Time, error) {
	_, rest, first := cutNumber(text, false)
	seconds, rest, second := cutNumber(rest, false)
	nanoseconds, _, third := cutNumber(rest, false)
	if !first || !second || !third {
		return time.Time{}, fmt.Errorf("malformed facts %q of a document", text)
	}
	return timeOf(seconds, nanoseconds), nil
}

func timeOf(seconds, nanoseconds uint64) time.Time {
	return time.Unix(int64(seconds)+firstSecond, int64(nanoseconds)).UTC()
}

// cutNumber reads a number in base 36 and the space after it, or, if it is the
// last, the end.
func cutNumber(text []byte, last bool) (n uint64, rest []byte, ok bool) {
	for i, c := range text {
		switch {
		case isDigit(c):
			n = n*36 + uint64(c-'0')
		case isLower(c):
			n = n*36 + uint64(c-'a') + 10
		default:
			return n, text[i+1:], c == ' ' && i > 0 && !last
		}
	}
	return n, nil, last && len(text) > 0
}

// totals are the state that travels in every batch: how far the log is
// indexed, and the exact statistics that scores are computed from.
type totals struct {
	Serial    uint64               `json:"serial"` // of the batch that carries them; see engine.checkSerial
	Position  uint64               `json:"position"`
	Documents uint64               `json:"documents"`
	Having    [scoredFields]uint64 `json:"having"`  // documents in which each scored field is not empty
	Lengths   [scoredFields]uint64 `json:"lengths"` // tokens of each scored field, over all documents

	// Unfinished is set while an Apply of several batches is on its way. The
	// position is still the old one, and the statistics must be counted anew.
	Unfinished bool `json:"unfinished,omitempty"`
	// Reached is the highest position that an Apply of several batches was to lead to: one
	// that was cut short may have left names from up to there.
	Reached uint64 `json:"reached,omitempty"`
}

// totalsKey is the internal value that holds the totals.
const totalsKey = "filebus totals"

// add counts a document in.
func (t *totals) add(f *facts) {
	t.Documents++
	for i, n := range f.lengths {
		if n > 0 {
			t.Having[i]++
			t.Lengths[i] += n
		}
	}
}

// remove counts a document out that add had counted in.
func (t *totals) remove(f *facts) error {
	if t.Documents == 0 {
		return errors.New("the totals hold no document to remove")
	}
	t.Documents--
	for i, n := range f.lengths {
		if n == 0 {
			continue
		}
		if t.Having[i] == 0 || t.Lengths[i] < n {
			return fmt.Errorf("the total length %d of field %s is less than the %d of one document", t.Lengths[i], scored[i].name, n)
		}
		t.Having[i]--
		t.Lengths[i] -= n
	}
	return nil
}

// recount returns t with the statistics that the facts of all documents give.
func (t totals) recount(state *scorch.IndexSnapshot) (totals, error) {
	counted := totals{Serial: t.Serial, Position: t.Position, Reached: t.Reached}
	if t.Unfinished && t.Reached == 0 { // of a program that did not note it
		counted.Reached = math.MaxUint64
	}
	facts := factsReader{segments: state.Segments()}
	err := eachDocument(state, func(n uint64) error {
		f, err := facts.read(n)
		if err == nil {
			counted.add(&f)
		}
		return err
	})
	return counted, err
}

// average returns the mean number of tokens of a scored field where it is not
// empty. Over all documents it would be next to nothing for a field that few
// have, and having it at all would count as being long.
func (t *totals) average(field int) float64 {
	if t.Having[field] == 0 {
		return 1
	}
	return float64(t.Lengths[field]) / float64(t.Having[field])
}

// decodeTotals reads totals, which are JSON so that a damaged index can be looked at
// with common tools; nil stands for a value that is missing.
func decodeTotals(text []byte) (totals, error) {
	var t totals
	if text == nil {
		return t, fmt.Errorf("the totals are missing")
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return t, fmt.Errorf("malformed totals %q: %w", text, err)
	}
	return t, nil
}

// Statistics are what scores are computed from: the numbers of documents, the
// lengths of the fields, and in how many documents the terms of a request are.
// Those of several indexes can be added, so that their scores compare. The zero
// value is that of an empty index.
type Statistics struct {
	totals totals
	having map[string]uint64 // documents that have a term, by term
	newest time.Time         // of the matches; zero without a half-life
}

// Add adds other to s.
func (s *Statistics) Add(other *Statistics) {
	s.totals.Documents += other.totals.Documents
	for i := range s.totals.Having {
		s.totals.Having[i] += other.totals.Having[i]
		s.totals.Lengths[i] += other.totals.Lengths[i]
	}
	if s.having == nil {
		s.having = make(map[string]uint64)
	}
	for term, n := range other.having {
		s.having[term] += n
	}
	if other.newest.After(s.newest) {
		s.newest = other.newest
	}
}

// Statistics returns those of the index for a request. They serve only requests
// of the same Query and More, and with a HalfLife only the same request; what
// they do not know of a term, each index counts by itself.
func (x *Index) Statistics(ctx context.Context, request Request) (*Statistics, error) {
	out := &Statistics{totals: x.totals, having: make(map[string]uint64)}
	return out, x.with(ctx, nil, func(s *search) error {
		terms := requestTerms(&request)
		if err := s.match(&request, terms); err != nil {
			return err
		}
		for _, term := range terms {
			out.having[term.text] = term.having
		}
		if request.HalfLife <= 0 {
			return nil
		}
		var err error
		out.newest, err = s.times(func(int, time.Time) {})
		return err
	})
}

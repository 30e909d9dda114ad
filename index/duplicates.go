package index

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

// A likeness is what near-duplicates are known by.
type likeness struct {
	print  fingerprint
	length uint64 // tokens of the body
}

// alike reports whether two bodies are near-duplicates: about the same terms,
// and about the same length.
func (l *likeness) alike(other *likeness) bool {
	a, b := l.length, other.length
	return max(a, b)-min(a, b) <= max(a, b)/16 && l.print.like(&other.print)
}

// firsts are bodies of which none is a near-duplicate of one before it. The zero
// value is empty.
type firsts struct {
	all   []likeness
	known map[bandOf][]int // those with a band, in their order
}

// A bandOf is one of the bands of a fingerprint, and which.
type bandOf struct {
	place int
	band  uint32
}

// place returns the number of the first that l is a near-duplicate of. If there is
// none, l is the next of them.
func (f *firsts) place(l likeness) (number int, isNew bool) {
	number = len(f.all)
	if l.print == (fingerprint{}) {
		f.all = append(f.all, l)
		return number, true
	}
	for i, band := range l.print.bands() {
		for _, n := range f.known[bandOf{i, band}] {
			if n < number && f.all[n].alike(&l) {
				number = n
			}
		}
	}
	if number < len(f.all) {
		return number, false
	}
	if f.known == nil {
		f.known = make(map[bandOf][]int)
	}
	for i, band := range l.print.bands() {
		f.known[bandOf{i, band}] = append(f.known[bandOf{i, band}], number)
	}
	f.all = append(f.all, l)
	return number, true
}

// A standing is a candidate that becomes a hit, with its near-duplicates that
// do not.
type standing struct {
	candidate
	behind []candidate // best first
}

// collapse puts each candidate, of which the best come first, behind the first
// hit that it is a near-duplicate of, or makes it a hit.
func collapse(candidates []candidate) ([]standing, error) {
	hits := make([]standing, 0, len(candidates))
	var first firsts
	for _, c := range candidates {
		print, err := c.facts.fingerprint()
		if err != nil {
			return nil, err
		}
		if n, isNew := first.place(likeness{print, c.facts.lengths[fieldBody]}); isNew {
			hits = append(hits, standing{candidate: c})
		} else {
			hits[n].behind = append(hits[n].behind, c)
		}
	}
	return hits, nil
}

// A Collapser does to hits of a search with Request.Duplicates what one without
// does, for those who leave out some of them. The zero value has no hits.
type Collapser struct {
	Hits  []Hit // that no hit before them is a near-duplicate of, each with all of its own so far
	first firsts
}

// Add takes in the next hit. The best come first.
func (c *Collapser) Add(hit Hit) {
	n, isNew := c.first.place(likeness{hit.Fingerprint, hit.Length})
	if isNew {
		c.Hits = append(c.Hits, hit)
		return
	}
	c.Hits[n].Like = append(c.Hits[n].Like, hit.Name)
}

// A fingerprint stands for the distinct terms of a body. Those of bodies that
// share most terms agree in most of their 32 bins, which have four bits each.
// The zero value is that of a body with too few terms to tell anything.
//
// The hashes of the terms fall into the bins, and each bin keeps four bits of
// its least one (one-permutation min-wise hashing, Li, Owen and Zhang 2012). Two
// bodies agree in a bin about as often as they share a term: the part of all
// their terms that both have. A text of few terms is often a form filled in, in
// which one word makes another matter of it; there all bins come from all terms,
// and agree only when these are the same.
type fingerprint [16]byte

const (
	bins = 2 * len(fingerprint{})
	// alike is how many bins of near-duplicates agree: for bodies with nine in ten
	// of their terms in common that is so two times in three, with eight in ten one
	// time in seven, with half of them never.
	alike = 29
	// Bodies of fewer distinct terms are never near-duplicates, or only of what has
	// the same terms: one or two words say too little.
	fewestTerms, fewTerms = 3, 64
)

// hashTerm returns the hash of a term for fingerprints: FNV-1a, with its bits
// mixed. It is stored, in what is made of it.
func hashTerm(term string) uint64 {
	h := uint64(14695981039346656037)
	for i := range len(term) {
		h = (h ^ uint64(term[i])) * 1099511628211
	}
	return mix(h)
}

// mix spreads every bit of h over all others (the finalizer of MurmurHash3).
func mix(h uint64) uint64 {
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	return h ^ h>>33
}

// fingerprint returns that of the terms of the text that was counted last.
func (a *Analyzer) fingerprint() fingerprint {
	switch n := len(a.touched); {
	case n < fewestTerms:
		return fingerprint{}
	case n < fewTerms:
		return a.exactPrint()
	}
	var least [bins]uint64
	for i := range least {
		least[i] = math.MaxUint64
	}
	for _, id := range a.touched {
		h := a.hashes[id]
		bin := h % uint64(bins)
		least[bin] = min(least[bin], h/uint64(bins))
	}
	var f fingerprint
	for i := range f {
		f[i] = byte(least[2*i]&15 | least[2*i+1]&15<<4)
	}
	return f
}

// exactPrint returns a fingerprint that is that of this set of terms alone.
func (a *Analyzer) exactPrint() (f fingerprint) {
	var sum, other uint64
	for _, id := range a.touched {
		sum += a.hashes[id]
		other += mix(a.hashes[id] + 1)
	}
	binary.LittleEndian.PutUint64(f[:8], mix(sum))
	binary.LittleEndian.PutUint64(f[8:], mix(other))
	return f
}

// like reports whether the bodies of two fingerprints are near-duplicates.
func (f *fingerprint) like(other *fingerprint) bool {
	differ := 0
	for i := 0; i < len(f); i += 8 {
		x := binary.LittleEndian.Uint64(f[i:]) ^ binary.LittleEndian.Uint64(other[i:])
		x |= x >> 2
		x |= x >> 1
		differ += bits.OnesCount64(x & 0x1111111111111111)
	}
	return bins-differ >= alike
}

// bands cuts a fingerprint into four. Of near-duplicates at most three bins
// differ, so one of the bands is the same.
func (f *fingerprint) bands() (bands [bins - alike + 1]uint32) {
	for i := range bands {
		bands[i] = binary.LittleEndian.Uint32(f[4*i:])
	}
	return bands
}

// printLength is the length of a fingerprint as text: letters, digits, - and _.
const printLength = 22

// setFingerprint puts a fingerprint into facts, as text.
func (f *facts) setFingerprint(print fingerprint) {
	if print != (fingerprint{}) {
		base64.RawURLEncoding.Encode(f.print[:], print[:])
	}
}

// fingerprint reads what setFingerprint wrote.
func (f *facts) fingerprint() (print fingerprint, err error) {
	if f.print == ([printLength]byte{}) {
		return print, nil
	}
	if _, err := base64.RawURLEncoding.Decode(print[:], f.print[:]); err != nil {
		return print, fmt.Errorf("malformed fingerprint %q of a document: %w", f.print, err)
	}
	return print, nil
}

package index

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
	first firsts
	hits  []Hit
}

// Add takes in the next hit. The best come first.
func (c *Collapser) Add(hit Hit) {
	n, isNew := c.first.place(likeness{hit.Fingerprint, hit.Length})
	if isNew {
		c.hits = append(c.hits, hit)
		return
	}
	c.hits[n].Like = append(c.hits[n].Like, hit.Name)
}

// Hits returns those that no hit before them is a near-duplicate of, each with all
// of its near-duplicates so far.
func (c *Collapser) Hits() []Hit { return c.hits }

package index

// unknown returns the words of a query none of whose terms a document has, as start
// and end in bytes of the query. The terms have been looked up.
func (s *search) unknown(query string, terms []queryTerm) [][2]int {
	missing := make(map[string]bool)
	for i := range terms {
		if s.documentsHaving(&terms[i]) == 0 {
			missing[terms[i].text] = true
		}
	}
	if len(missing) == 0 {
		return nil
	}
	var out [][2]int
	for _, w := range queryWords(query) {
		known := false
		for _, term := range w.terms {
			// One that is beyond the bound on terms was not looked up.
			known = known || !missing[term.Term]
		}
		if !known {
			out = append(out, [2]int{w.start, w.end})
		}
	}
	return out
}

package index

// addTexts requires and excludes what has every term of the texts of a request.
// A text without terms, as one of stop words, does neither.
func (s *search) addTexts(f *filter, request *Request) error {
	for _, n := range distinctNeeds(request.Must) {
		having, err := s.meeting(n)
		if err != nil {
			return err
		}
		if f.require(having); f.required.count() == 0 {
			break
		}
	}
	for _, text := range request.Without {
		if terms := Wholes(text); len(terms) > 0 {
			having, err := s.having(terms)
			if err != nil {
				return err
			}
			f.exclude(having)
		}
	}
	return nil
}

// having returns the set of the documents that have every one of the terms, each
// in any scored field.
func (s *search) having(terms []string) (set, error) {
	var all set
	for _, term := range terms {
		one := newSet(len(s.scores))
		for _, f := range scored {
			err := postings(s.ctx, s.reader, f.name, term, false, func(n, _ uint64, _ float64) { one.add(n) })
			if err != nil {
				return nil, err
			}
		}
		if all == nil {
			all = one
		} else {
			all.intersect(one)
		}
		if all.count() == 0 {
			break
		}
	}
	return all, nil
}

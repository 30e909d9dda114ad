package index

import "context"

// Frequencies returns in how many documents each of some terms is, in the analysed
// form, and how many documents there are. It counts the field in which most
// documents have the term: nearly always that is the body, which repeats what is
// said in the others.
func (x *Index) Frequencies(ctx context.Context, terms []string) (having []uint64, documents uint64, err error) {
	having = make([]uint64, len(terms))
	err = x.with(ctx, nil, func(s *search) (err error) {
		for i, term := range terms {
			if having[i], err = s.documentsWith(term); err != nil {
				return err
			}
		}
		return nil
	})
	return having, x.totals.Documents, err
}

// documentsWith returns in how many documents a term is, in the field in which most
// have it.
func (s *search) documentsWith(term string) (most uint64, err error) {
	for _, f := range scored {
		list, err := s.reader.TermFieldReader(s.ctx, []byte(term), f.name, false, false, false)
		if err != nil {
			return 0, err
		}
		most = max(most, list.Count())
		if err := list.Close(); err != nil {
			return 0, err
		}
	}
	return most, s.ctx.Err()
}

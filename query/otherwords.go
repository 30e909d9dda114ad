package query

import "filebus/index"

const maxJoined = 8 // neighbours of a query that may be one word

// otherWords returns terms that a writer may have used for the words of a request: two
// that follow one another as one (log file, logfile). What is quoted stands as it is.
func (q *SearchRequest) otherWords() (more []index.WeightedTerm) {
	if len(q.Phrases) > 0 {
		return nil
	}
	asked, before := queryTerms(q.Query), index.Token{}
	for token := range index.Analyze([]byte(q.Query)) {
		if token.Start == before.End+1 && len(more) < maxJoined {
			term := termOf(q.Query[before.Start:before.End] + q.Query[token.Start:token.End])
			if _, known := asked[term]; term != "" && !known {
				asked[term] = len(asked)
				more = append(more, index.WeightedTerm{Term: term, Weight: joinedWeight})
			}
		}
		before = token
	}
	return more
}

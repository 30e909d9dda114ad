package query

import (
	"context"
	"errors"
	"time"

	"filebus/index"
	"filebus/store"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// DefaultLimit is the number of hits of a search that names none.
const DefaultLimit = 10

// A SearchRequest says what to search. Of several values of one field any is
// enough, except of Tags; different fields must all match. Without a query what
// passes the filters is returned, newest first.
type SearchRequest struct {
	Query string // any text; none is malformed

	Kinds         []record.Kind // empty: all but markers, states, snapshots, frames and prompts
	Trees         []record.Tree // empty: all; the own tree is record.Tree("")
	Tags          []string      // all of them
	Agents        []string
	Conversations []string
	Sessions      []string
	Runs          []string
	Tasks         []string
	Statuses      []string
	NotSessions   []string
	Since, Until  time.Time // zero: no bound; Until is not included

	Limit, Offset int
	// History adds versions that are current no more, found by a scan of bounded
	// time, behind the ranked hits.
	History bool
}

// A SearchAnswer is one page of hits.
type SearchAnswer struct {
	Hits  []Hit
	Total uint64 // of all pages, about: records may change meanwhile
	// Unindexed is the number of log entries that the index does not know: more
	// than 0 when the time to wait was over. What they put was scanned, newest
	// first, for as long as a search may take.
	Unindexed uint64
	// ScanIncomplete says that the scan of unindexed or older versions ran out of
	// time before it had seen all.
	ScanIncomplete bool
}

// A Hit is a record that was found, with the part of it to read.
type Hit struct {
	Name      record.Name
	Ref       record.Ref
	Path      string // slash-separated, below the tree's root
	Title     string
	Section   string // the heading that the lines stand under, if any
	Lines     Span   // in the body; zero when it is not text
	FileLines Span   // in the mirrored file: of an entry, further down than Lines
	Snippet   Snippet
	Tokens    int // of the whole body, about
	Agent     string
	Time      time.Time
	Score     float64 // 0 for scanned hits
	Scanned   bool    // found by a scan, not by rank
	Older     bool    // current no more
	Damaged   bool    // its body cannot be read: what is said of it was stored beside
}

// Search brings the index up to date and answers from it. When that takes
// longer than Options.MaxWait it answers from what is indexed and scans the
// rest: see SearchAnswer. An index that is damaged, of another store or of
// another format is made again; one that others keep busy is an error that is
// turnstile.ErrBusy.
func (r *Reader) Search(ctx context.Context, request SearchRequest) (SearchAnswer, error) {
	request.Tags = record.NormalizeTags(request.Tags)
	if request.Limit <= 0 {
		request.Limit = DefaultLimit
	}
	request.Offset = max(request.Offset, 0)
	ranked, position, end, err := r.rank(ctx, &request)
	if err != nil {
		return SearchAnswer{}, err
	}
	answer := SearchAnswer{Total: ranked.Total, Unindexed: end - min(end, position)}
	f := finder{Reader: r, request: &request, terms: queryTerms(request.Query), files: make(map[string]*filePlan)}
	if answer.Hits, err = f.resolve(ctx, ranked.Hits); err != nil {
		return SearchAnswer{}, err
	}
	return answer, f.addScanned(ctx, &answer, position, end)
}

// rank asks the index. It returns the position up to which that is complete,
// and the one it was to reach. Damage that shows only in a search costs one more
// try, with a new index.
func (r *Reader) rank(ctx context.Context, request *SearchRequest) (result index.Result, position, end uint64, err error) {
	c, err := r.newCatchUp(ctx)
	if err != nil {
		return result, 0, 0, err
	}
	deadline := time.Now().Add(r.opts.MaxWait)
	for range 2 {
		result, position, err = c.search(ctx, deadline, request)
		if !errors.Is(err, index.ErrDamaged) {
			break
		}
		if removeErr := r.exclusive(ctx, func() error { return index.Remove(r.dir) }); removeErr != nil {
			return result, 0, 0, errors.Join(err, removeErr)
		}
	}
	if errors.Is(err, index.ErrBusy) {
		err = &turnstile.BusyError{Path: r.dir, Holder: "a program that is not filebus"}
	}
	return result, position, c.end, err
}

// search asks the index once it is up to date, or the deadline has passed. Without
// an index nothing is ranked and the position is 0, so that all is scanned.
func (c *catchUp) search(ctx context.Context, deadline time.Time, request *SearchRequest) (result index.Result, position uint64, err error) {
	x, hold, err := c.openCurrent(ctx, deadline)
	if err != nil || x == nil {
		return result, 0, errors.Join(err, closeIndex(x, hold))
	}
	result, err = x.Search(ctx, request.forIndex())
	return result, x.Position(), errors.Join(err, closeIndex(x, hold))
}

// forIndex is the request as the index takes it: all filters act there, so that
// pages and totals are right.
func (q *SearchRequest) forIndex() index.Request {
	return index.Request{
		Query: q.Query, Kinds: q.Kinds, Trees: q.Trees, Tags: q.Tags, Agents: q.Agents, Conversations: q.Conversations,
		Sessions: q.Sessions, Runs: q.Runs, Tasks: q.Tasks, Statuses: q.Statuses, NotSessions: q.NotSessions,
		Since: q.Since, Until: q.Until, Limit: q.Limit, Offset: q.Offset,
	}
}

// A finder turns what was found into hits.
type finder struct {
	*Reader
	request *SearchRequest
	terms   terms
	files   map[string]*filePlan // by PathValue
}

// A finding is a version on its way to become a hit.
type finding struct {
	item
	content store.Content
	score   float64
}

// resolve reads the ranked hits from the store and finds their passages.
func (f *finder) resolve(ctx context.Context, hits []index.Hit) ([]Hit, error) {
	found, err := f.findings(ctx, hits)
	if err != nil {
		return nil, err
	}
	return f.hits(ctx, found)
}

// findings reads the heads of ranked hits. A name that has lost its head since it
// was indexed is no hit any more.
func (r *Reader) findings(ctx context.Context, hits []index.Hit) (found []finding, err error) {
	err = r.inSlices(ctx, func(tx *store.Tx) (bool, error) {
		if len(hits) == 0 {
			return true, nil
		}
		hit := hits[0]
		hits = hits[1:]
		v, err := tx.Head(hit.Name)
		if errors.Is(err, store.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		content, err := contentOf(tx, v)
		found = append(found, finding{item{v, tx.Description(v.Ref)}, content, hit.Score})
		return false, err
	})
	return found, err
}

// hits finds the passages of findings, on all cores, and the lines of entries in
// their files.
func (f *finder) hits(ctx context.Context, found []finding) ([]Hit, error) {
	out := make([]Hit, len(found))
	failed := make([]error, len(found))
	parallel(len(found), func(i int) { out[i], failed[i] = f.hit(&found[i]) })
	if err := errors.Join(failed...); err != nil {
		return nil, err
	}
	for i := range out {
		offset, err := f.offset(ctx, &found[i].version)
		if err != nil {
			return nil, err
		}
		if out[i].Lines.From > 0 {
			out[i].FileLines = Span{out[i].Lines.From + offset, out[i].Lines.To + offset}
		}
	}
	return out, nil
}

// hit reads the beginning of a body and finds the passage to show.
func (f *finder) hit(found *finding) (Hit, error) {
	r := found.version.Record
	h := Hit{
		Name: r.Name, Ref: found.version.Ref, Path: r.Path, Title: found.description.Title,
		Tokens: found.tokens(), Agent: r.Agent, Time: r.Time, Score: found.score,
	}
	text, damaged, err := headOf(found.content)
	if err != nil {
		return h, err
	}
	h.Damaged = damaged
	p := findPassage(index.NewAnalyzer(), text, f.terms)
	h.Section, h.Lines, h.Snippet = p.section, p.lines, p.snippet
	if h.Snippet.Text == "" {
		h.Snippet = cutSnippet([]byte(found.description.Preview), nil)
	}
	return h, nil
}

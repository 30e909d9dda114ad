package query

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"filebus/index"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// DefaultLimit is the number of hits of a search that names none.
const DefaultLimit = 10

// A SearchRequest says what to search. Without a query what passes the filters is
// returned, newest first.
type SearchRequest struct {
	// Of Query any text will do. Without Kinds the filter picks all but markers, states,
	// snapshots, frames and prompts. The words of Phrases follow one another in a hit.
	index.Request
	// Text is what Query was made of, as somebody typed it: see Parse and Literal.
	// Only with it an answer says why there are no hits, or none for some words.
	Text string
	// WithoutPhrases are phrases that no hit has, as Without are words. See Parse.
	WithoutPhrases []string
	// Pattern is what the body of a hit matches; nil: any. The words of Query only rank then.
	Pattern *Expression
	// All reads all texts that phrases or Pattern may be in, however long that takes.
	All bool
	// Prefix takes the last word of Query, if nothing stands behind it, for the
	// beginning of a word that is still typed: longer words are found as well, behind
	// those that have it whole. A word of one letter is not completed.
	Prefix bool
	// History adds versions that are current no more, found by a scan of bounded
	// time, behind the ranked hits.
	History bool
	// IndexedOnly answers from the index as it is: nothing is caught up or scanned.
	IndexedOnly bool
	Narrow      bool // asks for SearchAnswer.Narrow
	// Here returns the text of the file that stands at a path of the own tree, if that
	// is not what the store has had since a position of the log: lines are then counted
	// in it. Nil: all files are.
	Here func(path string, since uint64) (text []byte, apart bool)
}

// A SearchAnswer is one page of hits.
type SearchAnswer struct {
	Hits     []Hit  `json:"-"`
	Total    uint64 `json:"total"`     // of all pages, about: records may change meanwhile
	TotalAll uint64 `json:"total_all"` // of Total, those that have every word of the query
	// Unindexed is the number of log entries that the index does not know: more
	// than 0 when the time to wait was over. What they put was scanned, newest
	// first, for as long as a search may take.
	Unindexed uint64 `json:"unindexed,omitempty"`
	// ScanIncomplete says that the scan of unindexed or older versions, or of what
	// may have a phrase, ran out of time before it had seen all.
	ScanIncomplete bool `json:"scan_incomplete,omitempty"`
	// Unread is how many texts were not read that may have phrases or match Pattern.
	Unread uint64 `json:"unread,omitempty"`
	// AsPhrase is the query, if it was looked for as a phrase because no index has
	// any of its words.
	AsPhrase string `json:"as_phrase,omitempty"`
	// Literal says that a text was taken as it is, what it seems to leave out included,
	// since a record has it so.
	Literal bool `json:"literal,omitempty"`
	// Unknown are words of the query, as it writes them and five at most, that no
	// record has, where the others have hits. Numbers are not among them. There are none
	// with IndexedOnly or History, and while log entries are not indexed.
	Unknown []string `json:"unknown,omitempty"`
	// Corrected has another spelling of words of Unknown that was searched for too, as no other is as
	// likely and no record has the query word by word.
	Corrected map[string]string `json:"corrected,omitempty"`
	// DidYouMean is a text that finds something, where that of the request, which is
	// spelled like it, finds nothing, or nothing for words that are Unknown.
	DidYouMean string `json:"did_you_mean,omitempty"`
	// Hidden are the conditions of a request without hits that are in the way of some.
	Hidden []Hidden `json:"hidden,omitempty"`
	// Refused says why the index could not be read or written, as on a full disk. What
	// it lacks was scanned to the end.
	Refused string `json:"refused,omitempty"`
	// Facets are the counts that were asked for, most frequent value first.
	Facets map[index.Facet][]index.FacetCount `json:"-"`
	Narrow []index.Narrowing                  `json:"narrow,omitempty"` // filters that would leave a part of the hits
	// Stores say how the search of several stores went, in the order of the readers.
	Stores []StoreAnswer `json:"-"`
}

// A Hit is a record that was found, with the part of it to read.
type Hit struct {
	Name      record.Name     `json:"name"`
	Ref       record.ShortRef `json:"ref"`
	Tree      record.Tree     `json:"tree,omitempty"` // of its name, as Kind is
	Kind      record.Kind     `json:"kind"`
	Path      string          `json:"path,omitempty"` // slash-separated, below the tree's root
	Title     string          `json:"title,omitempty"`
	Section   string          `json:"section,omitempty"`   // the heading that the lines stand under, if any
	Lines     Span            `json:"lines,omitzero"`      // in the body; zero when it is not text
	FileLines Span            `json:"file_lines,omitzero"` // in the mirrored file; zero when Older
	Words     Span            `json:"-"`                   // of Lines, where the words stand together best
	Snippet
	Tokens   int            `json:"tokens"` // of the whole body, about
	Agent    string         `json:"agent,omitempty"`
	Status   string         `json:"status,omitempty"` // this and the next two of issues and tasks
	Priority string         `json:"priority,omitempty"`
	Type     string         `json:"type,omitempty"`
	Time     time.Time      `json:"time"`
	Written  time.Time      `json:"written,omitzero"`       // see record.Record
	Score    float64        `json:"score"`                  // 0 for scanned hits
	Scanned  bool           `json:"scanned,omitempty"`      // found by a scan, not by rank
	Older    bool           `json:"older,omitempty"`        // current no more
	By       record.Name    `json:"superseded_by,omitzero"` // the entry at the end of the chain that supersedes it
	*Stand                  // of knowledge; nil: it is none
	Due      time.Time      `json:"due,omitzero"`            // as in Knowledge, of notes too
	Damaged  bool           `json:"damaged,omitempty"`       // its body cannot be read
	Like     []record.Name  `json:"like,omitempty"`          // near-duplicates that stand behind it, best first
	Commits  int            `json:"commits_since,omitempty"` // that changed one of Files since; see CountCommits
	Points   []index.Points `json:"explain,omitempty"`       // see SearchRequest.Explain
	Passage  float64        `json:"passage,omitempty"`       // what its best passage added to Score
	Nearness float64        `json:"nearness,omitempty"`      // what words standing close together added to Score
	Named    float64        `json:"named,omitempty"`         // what words of its name's id added
	Length   float64        `json:"length,omitempty"`        // what its length took off; at most 0

	Elsewhere []Stated `json:"elsewhere,omitempty"` // of a task: other files that state another status of it

	Body   string   `json:"text,omitempty"`  // of the lines, where they are given in place of the snippet
	Left   int      `json:"left,omitempty"`  // tokens of the lines that Body lacks, about
	Store  string   `json:"store,omitempty"` // the folder of its store; only of SearchEverywhere
	judged bool     // before those that are not, whatever their scores
	last   bool     // see candidate
	Lifted int      `json:"-"` // how much more it is as typed than others; see index.Request
	Files  []string `json:"-"` // that the lines name, or else the beginning
	shown  string   // the words of the lines; see wordsOf
}

// Search brings the index up to date and answers from it. When that takes
// longer than Options.MaxWait it answers from what is indexed and scans the
// rest: see SearchAnswer. An index that is damaged, of another store or of
// another format is made again; one that others keep busy is an error that is
// turnstile.ErrBusy.
func (r *Reader) Search(ctx context.Context, request SearchRequest) (SearchAnswer, error) {
	if err := r.Spell(ctx, &request.Filter); err != nil {
		return SearchAnswer{}, err
	}
	request.tidy()
	asPhrase := request.settle()
	stands, err := r.Standings(ctx)
	if err != nil {
		return SearchAnswer{}, err
	}
	request.Behind = ends(replacements(stands))
	f := r.newFinder(&request)
	f.stands = stands
	asked := request
	asked.Offset, asked.Limit = f.window(request.Offset, request.Limit)
	var answer SearchAnswer
	ranked, c, err := r.rank(ctx, &asked)
	if err != nil {
		return SearchAnswer{}, err
	}
	answer.Total, answer.TotalAll, answer.Unindexed, answer.ScanIncomplete = ranked.Total, ranked.TotalAll, c.behind(), c.incomplete
	answer.AsPhrase, answer.Facets, answer.Literal, answer.Unread = asPhrase, ranked.Facets, c.literal, c.unread
	if answer.Total > uint64(request.Limit) {
		answer.Narrow = ranked.Narrow
	}
	f.addCompletions(c.completed)
	f.quote = quoteOf(c.quote)
	f.weigh(ranked.Worth)
	if answer.Hits, err = f.resolve(ctx, ranked.Hits, asked.Offset); err != nil {
		return SearchAnswer{}, err
	}
	if c.cannot != nil && answer.Unindexed > 0 {
		answer.Refused = c.cannot.Error()
	}
	if err := f.addScanned(ctx, &answer, c); err != nil {
		return SearchAnswer{}, err
	}
	c.reasons.tell(&answer)
	return answer, nil
}

// maxPage bounds the limit and the offset of a request, so that they can be added.
const maxPage = 1 << 29

// tidy puts tags in their stored form, and bounds the page.
func (q *SearchRequest) tidy() {
	q.Tags = record.NormalizeTags(q.Tags)
	if q.Limit <= 0 {
		q.Limit = DefaultLimit
	}
	q.Limit, q.Offset = min(q.Limit, maxPage), min(max(q.Offset, 0), maxPage)
}

// rank asks the index. It returns with what it did up to which position, and the
// one that it was to reach.
func (r *Reader) rank(ctx context.Context, request *SearchRequest) (result index.Result, c *catchUp, err error) {
	if c, err = r.newCatchUp(ctx); err != nil {
		return result, c, err
	}
	err = c.ask(ctx, r.deadline(request), func(x *index.Index) (err error) {
		result, err = c.searchIn(ctx, x, request)
		return err
	})
	return result, c, err
}

// behind returns the number of log entries that the index which was searched does
// not know.
func (c *catchUp) behind() uint64 { return c.end - min(c.end, c.position) }

// searchIn asks an index. Without one nothing is ranked and the position is 0, so that
// all is scanned.
func (c *catchUp) searchIn(ctx context.Context, x *index.Index, request *SearchRequest) (result index.Result, err error) {
	c.position, c.incomplete, c.unread, c.reasons = 0, false, 0, reasons{}
	if x == nil {
		return result, nil
	}
	c.position = x.Position()
	ask := request.forIndex()
	more, err := c.complete(ctx, x, request)
	if err != nil {
		return result, err
	}
	ask.More, ask.Meant = append(slices.Clip(ask.More), more...), c.completed
	ask.Lifted, c.literal, err = c.verbatim(ctx, x, request)
	if err != nil {
		return result, err
	}
	if c.literal {
		asTyped := request.asTyped()
		request, ask.Query, ask.Without = &asTyped, request.Text, nil
	}
	c.quote = request.Query
	if request.Narrow && newPhraseFilter(request) == nil && c.behind() == 0 && !request.History {
		ask.Narrow = func(hits []index.Hit) ([]index.Narrowing, error) { return c.narrow(ctx, request, hits) }
	}
	result, err = c.filtered(ctx, x, request, ask)
	if err == nil && request.Text != "" && (request.Pattern == nil || !c.incomplete) && (result.Total == 0 || len(result.Unknown) > 0) {
		c.reasons, err = c.explain(ctx, x, request, &result)
	}
	if len(ask.Lifted) > 0 || result.Total == 0 {
		c.reasons.corrected = nil
	}
	for _, word := range slices.Sorted(maps.Keys(c.reasons.corrected)) {
		term := termOf(c.reasons.corrected[word])
		ask.More, c.completed[term] = append(ask.More, index.WeightedTerm{Term: term, Weight: correctedWeight}), termOf(word)
	}
	if err == nil && len(c.reasons.corrected) > 0 {
		c.quote = request.withText(c.reasons.didYouMean).Query
		if ask.Lifted, err = c.quoted(ctx, x, request, c.quote, together); err != nil {
			return result, err
		}
		result, err = c.filtered(ctx, x, request, ask)
	}
	return result, err
}

// isScan reports whether the index knows little of what is looked for in texts.
func (q *SearchRequest) isScan() bool {
	return q.Pattern != nil || len(q.Phrases) > 0 && !index.Findable(q.Query)
}

// forIndex is the request as the index takes it: all filters act there, so that
// pages and totals are right.
func (q *SearchRequest) forIndex() index.Request {
	ask := q.Request
	// Scanned hits follow the last ranked one: what is no hit must not be counted.
	ask.Duplicates = q.Duplicates || q.History
	if q.Pattern != nil {
		ask.Phrases, ask.Unscored = append(slices.Clip(ask.Phrases), q.Pattern.words), true
	}
	return ask
}

// A finder turns what was found into hits.
type finder struct {
	*Reader
	request   *SearchRequest
	terms     terms
	phrases   *phraseFinder // to be marked
	stands    Stands
	quote     *quote               // what lifted hits have word by word
	worth     []float64            // of each term; see index.Result
	pairs     []neighbour          // of which the first hits are put in order; none: the index's order stands
	files     map[string]*filePlan // by PathValue
	analyzers sync.Pool            // of *index.Analyzer
}

func (r *Reader) newFinder(request *SearchRequest) *finder {
	f := &finder{Reader: r, request: request, terms: queryTerms(request.Query), files: make(map[string]*filePlan)}
	if len(request.Phrases) > 0 || request.Pattern != nil {
		f.phrases = newPhraseFinder(request.Phrases)
		f.phrases.phrases = append(f.phrases.phrases, phrase{pattern: request.Pattern})
	}
	f.pairs = neighboursOf(request.Query, f.terms)
	return f
}

// hits finds the passages of versions, on all cores, and the lines of entries in
// their files.
func (f *finder) hits(ctx context.Context, found []candidate) ([]Hit, error) {
	out := make([]Hit, len(found))
	err := parallel(len(found), func(i int) (err error) {
		out[i], err = f.hit(&found[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	for i := range out {
		offset, err := f.offset(ctx, &found[i].Version)
		if err == nil {
			err = cmp.Or(f.join(ctx, &out[i], found[i].Summary), f.around(ctx, found[i].Version.Record, &out[i].Lines))
		}
		if err != nil {
			return nil, err
		}
		if out[i].Older = out[i].Older || offset < 0; out[i].Older {
			continue // it was followed, perhaps while it was read: the file has another text
		}
		if out[i].Lines.From > 0 {
			out[i].FileLines = Span{out[i].Lines.From + offset, out[i].Lines.To + offset}
		}
		if f.request.Here != nil && out[i].Tree == "" && out[i].Path != "" && out[i].Kind != record.KindResult {
			if text, apart := f.request.Here(out[i].Path, found[i].Version.Position); apart {
				out[i].FileLines = linesHere(text, found[i].shown)
			}
		}
	}
	return out, nil
}

// linesHere returns the lines at which a passage stands in a file, zero if it does not.
func linesHere(file, passage []byte) Span {
	passage = bytes.TrimSpace(passage)
	at := bytes.Index(file, passage)
	if at < 0 || len(passage) == 0 {
		return Span{}
	}
	from := 1 + bytes.Count(file[:at], []byte("\n"))
	return Span{from, from + bytes.Count(passage, []byte("\n"))}
}

// hit reads the beginning of a body and finds the passage to show.
func (f *finder) hit(found *candidate) (Hit, error) {
	s := &found.Summary
	h := Hit{
		Name: s.Name, Ref: s.Ref, Tree: s.Name.Tree, Kind: s.Name.Kind, Path: s.Path, Title: s.Title, Tokens: s.Tokens,
		Agent: s.Agent, Time: s.Time, Written: s.Written, Score: found.ranked.Score, Like: found.ranked.Like, Points: found.ranked.Points,
		Passage: found.passage, Nearness: found.nearness, Named: found.named, Length: found.length,
		Due: s.due(f.opts.Now()), Lifted: found.ranked.Lifted, judged: found.judged, last: found.last, Scanned: found.scanned, Older: found.older,
	}
	if h.Kind == record.KindIssue || h.Kind == record.KindTask {
		h.Status = s.Status
		h.Priority, h.Type = s.Attributes[record.AttributePriority], s.Attributes[record.AttributeType]
	}
	if IsPart(*s) || h.Kind == record.KindKnowledge { // of decisions
		h.Status = s.Status
	}
	if s.Doubt != "" {
		h.Status = s.Doubt
	}
	if h.Kind == record.KindKnowledge {
		stand := f.stands.Of(h.Name)
		h.Status = stand.status(h.Status)
		h.Stand, h.By = &stand, f.request.Behind[h.Name]
	}
	p, err := f.passage(found, &h)
	if err != nil {
		return h, err
	}
	h.Section, h.Lines, h.Words, h.Snippet = p.section, p.lines, p.words, p.snippet
	h.Files = p.files
	if h.Snippet.Text == "" {
		h.Snippet = cutSnippet([]byte(s.Description.Preview), nil)
	}
	return h, nil
}

// passage finds the passage to show, in a body that was read already or is now.
func (f *finder) passage(found *candidate, h *Hit) (p passage, err error) {
	text, matches := found.text, found.matches
	if !found.read {
		if text, h.Damaged, err = headOf(found.content, found.Path); err != nil || markdown.IsBinary(text) {
			return p, err
		}
		matches = f.matches(text, f.terms)
	}
	parts := partsOf
	if layout.IsJSONLines(h.Path) {
		parts = linePartsOf
	}
	var quoted []match
	if f.quote != nil && found.ranked.Lifted > 0 {
		quoted = f.quote.places(text, len(f.terms))
	}
	p = passageOf(text, parts(text), matches, f.terms, f.phrases, quoted)
	found.shown = linesOf(text, p.lines)
	h.shown = wordsOf(found.shown)
	if p.files = mentions(found.shown, h.Path); len(p.files) == 0 && p.lines.From > 0 {
		p.files = mentions(text[:min(len(text), mentionHead)], h.Path)
	}
	return p, nil
}

package query

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"math"
	"path"
	"slices"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// A ListRequest says which records to list: those that pass the filter.
type ListRequest struct {
	record.Filter
	// At lists what was current at that log position; 0: what is current.
	At uint64
	// ByDate puts the text that was written last first, not what was stored last.
	ByDate bool

	Limit, Offset int // a Limit of 0 is none
}

// A Listing is one page of a list, newest first.
type Listing struct {
	Entries []Summary `json:"records"`
	More    int       `json:"more,omitempty"` // behind them; by date MaxCounted are counted, else one
}

// MaxCounted is how many records are read only to say that there are so many more.
const MaxCounted = 10_000

// A Summary is a record in a list. Its fields are what every command prints of a
// record in JSON.
type Summary struct {
	Version     store.Version      `json:"-"`
	Description record.Description `json:"-"`

	Name         record.Name       `json:"name"`
	Ref          record.ShortRef   `json:"ref"`
	Path         string            `json:"path,omitempty"`
	Title        string            `json:"title,omitempty"`
	Tokens       int               `json:"tokens"` // of the whole body, about
	Time         time.Time         `json:"time"`
	Written      time.Time         `json:"written,omitzero"` // see record.Record
	Agent        string            `json:"agent,omitempty"`
	Conversation string            `json:"conversation,omitempty"`
	Session      string            `json:"session,omitempty"`
	Run          string            `json:"run,omitempty"`
	Loop         string            `json:"loop,omitempty"`
	Task         string            `json:"task,omitempty"`
	Status       string            `json:"status,omitempty"`
	Doubt        string            `json:"doubt,omitempty"` // why it counts no more, or not as what it stands for
	Exit         *int              `json:"exit,omitempty"`
	Tags         []string          `json:"tags,omitempty"`
	Attributes   map[string]string `json:"attributes,omitempty"`
}

// Summarize returns what lists say of a version.
func Summarize(tx *store.Tx, v store.Version) Summary {
	r, d := v.Record, tx.Description(v.Ref)
	return Summary{
		Version: v, Description: d, Name: r.Name, Ref: record.ShortRef(v.Ref), Path: r.Path, Title: d.Title,
		Tokens: cmp.Or(d.Tokens, record.EstimateTokens(r.Size)), Time: r.Time, Written: r.Written, Agent: r.Agent, Conversation: r.Conversation, Session: r.Session, Run: r.Run,
		Loop: r.Loop, Task: r.Task, Status: r.Status, Doubt: doubtOf(tx, v), Exit: r.Exit, Tags: r.Tags, Attributes: d.Attributes,
	}
}

// IsPart reports whether a result is not all that was asked for, as its status says.
func IsPart(s Summary) bool {
	return s.Name.Kind == record.KindResult && (s.Status == layout.StatusPartial || s.Status == layout.StatusFailed)
}

// due returns the date at which the record was to be looked at again, by its own fields; zero: none, or not yet.
func (s Summary) due(now time.Time) (due time.Time) {
	if at, is := layout.ParseDate(s.Attributes[record.AttributeReview]); is && at.Before(now) {
		due = at
	}
	return due
}

// TaskID returns the task that a record tells of, or its own id, behind a nested root's folder.
func (s Summary) TaskID() string {
	at, id := layout.Recognize(s.Path), cmp.Or(s.Task, path.Base(s.Name.ID))
	if at.Declared != "" {
		return id // which has the root already
	}
	return path.Join(at.Root, id)
}

// List returns the current records that match, newest first. It uses the
// look-up of the rarest field that is set; without one, it reads the log from its
// end.
func (r *Reader) List(ctx context.Context, request ListRequest) (Listing, error) {
	request.Tags = record.NormalizeTags(request.Tags)
	p := page{request: &request, skip: max(request.Offset, 0)}
	err := r.Spell(ctx, &request.Filter)
	switch field, values := request.field(); {
	case err != nil:
	case request.At > 0:
		err = r.listAt(ctx, &p)
	case request.ByDate:
		err = r.listByDate(ctx, &p)
	default:
		all, isFew, treeErr := r.inTree(ctx, &p)
		switch {
		case treeErr != nil:
			err = treeErr
		case isFew:
			err = r.listAll(ctx, &p, all)
		case len(values) == 1:
			err = r.Each(ctx, field, values[0], p.add) // newest first
		default:
			err = r.listLog(ctx, &p)
		}
	}
	return p.listing, err
}

// Own returns the current records of the own tree that a filter picks, newest first.
func (r *Reader) Own(ctx context.Context, f record.Filter) ([]Summary, error) {
	f.Trees = []record.Tree{""}
	listing, err := r.List(ctx, ListRequest{Filter: f})
	return listing.Entries, err
}

// A page collects the matches that belong to it.
type page struct {
	request *ListRequest
	skip    int
	listing Listing
}

// fewNames is how many names of a tree are read in place of the log's end: it may be long ago that one changed.
const fewNames = 1000

// inTree returns what is current in the one tree that a filter picks, of its kinds, by name: look-ups and log have all
// trees. It returns false if there is no such tree, or a page alone is wanted and there are many names.
func (r *Reader) inTree(ctx context.Context, p *page) (found []store.Place, isFew bool, err error) {
	field, _ := p.request.field()
	if len(p.request.Trees) != 1 || field != "" && field != store.FieldKind {
		return nil, false, nil
	}
	most, kinds := fewNames, slices.Sorted(slices.Values(p.request.Kinds))
	if p.request.Limit == 0 {
		most = math.MaxInt
	}
	if len(kinds) == 0 {
		kinds = record.Kinds()
	}
	for _, kind := range slices.Compact(kinds) {
		from := record.Name{Tree: p.request.Trees[0], Kind: kind}
		err = errors.Join(err, r.eachName(ctx, from, func(n store.NamedRef) bool {
			isOf := n.Name.Tree == from.Tree && n.Name.Kind == kind
			if isOf {
				found = append(found, n.Place)
			}
			return isOf && len(found) <= most
		}))
	}
	return found, len(found) <= most, err
}

// listByDate reads of the records that may match no more than their ranks, to begin with.
func (r *Reader) listByDate(ctx context.Context, p *page) error {
	rest := p.request.Filter // what look-ups and ranks leave to be asked
	field, values := p.request.field()
	if field == "" {
		rest.Kinds = record.Kinds()
		field, values = store.FieldKind, rest.Values("kind")
	}
	if rest.Clear(string(field)); field == store.FieldTag && len(p.request.Tags) > 1 {
		rest.Tags = p.request.Tags
	}
	wanted, total, passes := 0, 0, byRank(&rest)
	if p.request.Limit > 0 && rest.IsZero() {
		wanted = p.skip + p.request.Limit + 1
	}
	var all []dated
	floor := time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC) // what is not later cannot be among those that are wanted
	var err error
	sort := func() { slices.SortStableFunc(all, func(a, b dated) int { return b.date.Compare(a.date) }) }
	for _, value := range values {
		last := uint64(math.MaxUint64)
		places := func(tx *store.Tx) iter.Seq2[store.Place, error] { return tx.LookupBefore(field, value, last) }
		err = cmp.Or(err, eachFrom(ctx, r, places, func(tx *store.Tx, at store.Place) (bool, error) {
			last = at.Position
			rank, err := tx.Rank(at)
			if err != nil || !passes(rank) {
				return false, err
			}
			if total++; rank.Date.After(floor) {
				all = append(all, dated{at, rank.Date})
			}
			if wanted > 0 && len(all) > 1000+2*wanted {
				sort()
				all, floor = all[:wanted], all[wanted-1].date
			}
			return false, nil
		}))
	}
	if err != nil {
		return err
	}
	sort()
	places := markdown.Each(all, func(d dated) store.Place { return d.Place })
	err = r.eachVersion(ctx, places, func(tx *store.Tx, v store.Version) bool {
		return p.add(tx, v) || wanted > 0 && p.listing.More > 0
	})
	if wanted > 0 { // nothing is left to be asked of them
		p.listing.More = max(total-p.request.Offset-len(p.listing.Entries), 0)
	}
	return err
}

type dated struct {
	store.Place
	date time.Time
}

// byRank takes out of a filter what ranks decide, and returns that.
func byRank(f *record.Filter) (passes func(r store.Rank) bool) {
	of := *f
	own := slices.Contains(of.Trees, "")
	f.Kinds, f.Since, f.Until = nil, time.Time{}, time.Time{}
	if own && len(of.Trees) == 1 {
		f.Trees = nil
	}
	return func(r store.Rank) bool {
		return (len(of.Kinds) == 0 || slices.Contains(of.Kinds, r.Kind)) && record.Within(r.Date, of.Since, of.Until) &&
			(len(of.Trees) == 0 || own && (r.IsOwn || len(of.Trees) > 1) || !own && !r.IsOwn)
	}
}

// add takes in a version that may match, and reports whether the page is full.
func (p *page) add(tx *store.Tx, v store.Version) (full bool) {
	if !p.request.Accepts(v.Record) { // a day may begin later where the reader is: see record.Within
		return p.request.ByDate && v.Record.Date().Before(p.request.Since.Add(-24*time.Hour))
	}
	if p.skip > 0 {
		p.skip--
		return false
	}
	if p.request.Limit > 0 && len(p.listing.Entries) == p.request.Limit {
		p.listing.More++
		return !p.request.ByDate || p.listing.More == MaxCounted
	}
	p.listing.Entries = append(p.listing.Entries, Summarize(tx, v))
	return false
}

// field returns the look-up that is likely to have the fewest records, and the values of which each has others.
func (q *ListRequest) field() (store.Field, []string) {
	for _, f := range []store.Field{
		"task", "conversation", "session", "run", store.FieldTag, "agent", "status", "kind",
	} {
		values := slices.Compact(slices.Sorted(slices.Values(q.Values(string(f)))))
		if f == store.FieldTag { // a record has all of them
			values = values[:min(1, len(values))]
		}
		if len(values) > 0 {
			return f, values
		}
	}
	return "", nil
}

// places returns the heads whose field has a value, newest first.
func (r *Reader) places(ctx context.Context, field store.Field, value string) ([]store.Place, error) {
	return collect(ctx, r, func(tx *store.Tx) iter.Seq2[store.Place, error] { return tx.Lookup(field, value) })
}

// eachVersion calls visit with the versions at places, in slices, until it says
// that it has enough. What was dropped meanwhile is left out.
func (r *Reader) eachVersion(ctx context.Context, places []store.Place, visit func(tx *store.Tx, v store.Version) (enough bool)) error {
	return r.InSlices(ctx, func(tx *store.Tx) (bool, error) {
		if len(places) == 0 {
			return true, nil
		}
		v, err := mustFind(tx.Find(places[0]))
		places = places[1:]
		if errors.Is(err, store.ErrDropped) {
			return false, nil
		}
		return err == nil && visit(tx, v), err
	})
}

// versions returns the versions at places that are still stored.
func (r *Reader) versions(ctx context.Context, places []store.Place) (found []store.Version, err error) {
	err = r.eachVersion(ctx, places, func(_ *store.Tx, v store.Version) bool {
		found = append(found, v)
		return false
	})
	return found, err
}

// listLog reads the log from its end: a put whose record is still head counts.
func (r *Reader) listLog(ctx context.Context, p *page) error {
	next := uint64(math.MaxUint64)
	visit := func(tx *store.Tx, _ store.Entry, v store.Version, isHead bool) (bool, error) {
		return isHead && p.add(tx, v), nil
	}
	return r.eachPut(ctx, &next, 0, &p.request.Filter, visit)
}

// listAt plays every name's history up to a position.
func (r *Reader) listAt(ctx context.Context, p *page) error {
	var found []store.Version
	var last record.Name
	names := func(tx *store.Tx) iter.Seq2[store.NamedRef, error] { return tx.NamesAt(last, p.request.At) }
	err := eachFrom(ctx, r, names, func(tx *store.Tx, n store.NamedRef) (bool, error) {
		if n.Name == last {
			return false, nil // it ended the slice before
		}
		last = n.Name
		v, err := mustFind(tx.Get(n.Ref))
		if err == nil && p.request.Accepts(v.Record) {
			found = append(found, v)
		}
		return false, err
	})
	if err != nil {
		return err
	}
	return r.listFound(ctx, p, found)
}

// listAll lists versions, given in any order.
func (r *Reader) listAll(ctx context.Context, p *page, places []store.Place) error {
	found, err := r.versions(ctx, places)
	if err != nil {
		return err
	}
	return r.listFound(ctx, p, found)
}

// listFound lists what was found, newest first.
func (r *Reader) listFound(ctx context.Context, p *page, found []store.Version) error {
	slices.SortFunc(found, func(a, b store.Version) int {
		if order := b.Record.Date().Compare(a.Record.Date()); p.request.ByDate && order != 0 {
			return order
		}
		return cmp.Compare(b.Position, a.Position)
	})
	return r.InSlices(ctx, func(tx *store.Tx) (bool, error) {
		if len(found) == 0 {
			return true, nil
		}
		v := found[0]
		found = found[1:]
		return !tx.IsDropped(v.Ref) && p.add(tx, v), nil
	})
}

// Each calls visit with the current versions whose field has a value, newest
// first, until it says that it has enough. The transaction is valid during the
// call alone.
func (r *Reader) Each(ctx context.Context, field store.Field, value string, visit func(tx *store.Tx, v store.Version) (enough bool)) error {
	return r.EachBut(ctx, field, value, func(record.Ref) bool { return false }, visit)
}

// EachBut is Each without the records that a caller knows: that is asked of all, before any is read.
func (r *Reader) EachBut(ctx context.Context, field store.Field, value string, isKnown func(record.Ref) bool,
	visit func(tx *store.Tx, v store.Version) (enough bool),
) error {
	all, err := r.places(ctx, field, value)
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(at store.Place) bool { return isKnown(at.Ref) })
	return r.eachVersion(ctx, all, visit)
}

// Head returns the current version of a name.
func (r *Reader) Head(ctx context.Context, name record.Name) (Summary, error) {
	return View(ctx, r.store, func(tx *store.Tx) (Summary, error) {
		v, err := tx.Head(name)
		if err != nil {
			return Summary{}, err
		}
		return Summarize(tx, v), nil
	})
}

// Values returns the values of a field that begin with prefix, in order, with the
// number of current records that have each.
func (r *Reader) Values(ctx context.Context, field store.Field, prefix string) ([]store.Value, error) {
	return collect(ctx, r, func(tx *store.Tx) iter.Seq2[store.Value, error] { return tx.Values(field, prefix) })
}

// Spell adds to the agents of a filter the other spellings that records have of them.
func (r *Reader) Spell(ctx context.Context, f *record.Filter) error {
	if len(f.Agents) == 0 {
		return nil
	}
	slugs := markdown.Each(f.Agents, layout.Slug)
	agents, err := r.Values(ctx, store.FieldAgent, "")
	for _, agent := range agents {
		if slices.Contains(slugs, layout.Slug(agent.Text)) && !slices.Contains(f.Agents, agent.Text) {
			f.Agents = append(f.Agents[:len(f.Agents):len(f.Agents)], agent.Text)
		}
	}
	return err
}

// FirstOf returns the first version of v's name that is still stored: tags that
// were added later do not change when something came in. It is v itself if there
// is no older one.
func FirstOf(tx *store.Tx, v store.Version) (store.Version, error) {
	if v.Record.Prev.IsZero() {
		return v, nil
	}
	for first, err := range Versions(tx, v.Record.Name) {
		return first, err
	}
	return v, nil
}

// Versions returns the versions of a name that are still stored, the oldest first. It
// ends after the first error.
func Versions(tx *store.Tx, name record.Name) iter.Seq2[store.Version, error] {
	return func(yield func(store.Version, error) bool) {
		events, err := tx.History(name)
		if err != nil {
			yield(store.Version{}, err)
		}
		for _, e := range events {
			if e.Change != store.ChangePut && e.Change != store.ChangeAdopt && e.Change != store.ChangeVoid {
				continue
			}
			v, err := tx.Get(e.Ref)
			if !errors.Is(err, store.ErrDropped) && (!yield(v, err) || err != nil) {
				return
			}
		}
	}
}

// Position returns the position of the last entry of a store's log.
func Position(ctx context.Context, s *store.Store) (uint64, error) {
	return View(ctx, s, func(tx *store.Tx) (uint64, error) { return tx.Position(), nil })
}

// Refs returns what a filter picks, newest first: what is current, or all versions that are
// still stored, also those kept beside the head.
func (r *Reader) Refs(ctx context.Context, f record.Filter, all bool) (refs []record.Ref, err error) {
	seen, next := map[record.Ref]bool{}, uint64(math.MaxUint64)
	err = r.eachPut(ctx, &next, 0, &f, func(_ *store.Tx, _ store.Entry, v store.Version, isHead bool) (bool, error) {
		if (all || isHead) && !seen[v.Ref] {
			seen[v.Ref] = true
			refs = append(refs, v.Ref)
		}
		return false, nil
	})
	return refs, err
}

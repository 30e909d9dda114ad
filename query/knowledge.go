package query

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// A KnowledgeRequest says what knowledge to look up. The fields that are set
// must all match.
type KnowledgeRequest struct {
	record.Filter
	// Wanted are tags of which an entry needs one: those that share most come first.
	// Empty: any entry.
	Wanted  []string
	AllTags bool     // an entry needs all that are wanted
	Prefix  bool     // what is wanted are beginnings of tags: auth finds auth-jwt
	Types   []string // any of pattern, gotcha, decision, insight, ...
	// MinConfidence is high, medium or low; entries without a confidence are
	// below all of them. Empty: any.
	MinConfidence string
	// Old adds entries that count no more, behind all others.
	Old bool
	// ValidAt, if not zero, asks for what held then, and AsOf for what was known then.
	ValidAt, AsOf time.Time
	Due           bool // what is past its date of review alone

	Limit, Offset int  // a Limit of 0 is none
	First         bool // the total is not asked for: what is behind the page is not read
}

// A Knowledge is an entry that was found.
type Knowledge struct {
	Summary
	Type       string   `json:"type,omitempty"`
	Confidence string   `json:"confidence,omitempty"`
	Shared     []string `json:"shared,omitempty"` // the tags asked for that it has
	Stand
	Due  time.Time `json:"due,omitzero"` // when it was to be looked at again; zero: nothing says so, or not yet
	sure int       // confidence
}

// doubtOf returns why a text counts no more, or not as what it stands for: its status or name says that it is superseded,
// deprecated or altered, or it is a turn with the bytes of another round's. "": nothing says so.
func doubtOf(tx *store.Tx, v store.Version) string {
	switch r := v.Record; {
	case r.Name.Kind == record.KindTurn:
		return roundOf(tx, v)
	case r.Name.Kind != record.KindNote:
	case strings.HasSuffix(r.Name.ID, "~altered"): // see materialize
		return "altered"
	case standingOf(r.Status) == Superseded || layout.CountsNoMore(r.Status):
		if by := tx.Description(v.Ref).Attributes[layout.LinkSupersededBy]; by != "" {
			return r.Status + " by " + by
		}
		return r.Status
	}
	return ""
}

// roundOf names the turn of another round that a turn found on disk only repeats. What a command was given is the turn
// that it was given as, and a sentence may be said twice.
func roundOf(tx *store.Tx, v store.Version) string {
	const sentence = 20 // words
	isFound := func(r *record.Record) bool { return r.Source == record.SourceSync || r.Source == record.SourceCapture }
	uses, err := tx.Uses(v.Record.Body)
	if err != nil || uses < 2 || !isFound(v.Record) || tx.Description(v.Ref).Words < sentence {
		return ""
	}
	round := path.Dir(v.Record.Name.ID)
	dialogue := record.Name{Tree: v.Record.Name.Tree, Kind: record.KindTurn, ID: path.Dir(round) + "/"}
	for named, err := range tx.Names(dialogue) {
		if err != nil || named.Name.Kind != record.KindTurn || !strings.HasPrefix(named.Name.ID, dialogue.ID) {
			break
		}
		other, err := tx.Get(named.Ref)
		isOther := err == nil && other.Record.Body == v.Record.Body && path.Dir(named.Name.ID) != round
		if isOther && (!isFound(other.Record) || other.Position < v.Position) {
			return "the text of " + strings.TrimPrefix(named.Name.ID, dialogue.ID)
		}
	}
	return ""
}

// Knowledge returns the entries that have the tags, ranked by how many of them
// they share, then by confidence, then newest first, then by name. Entries that
// others supersede are left out, or last. It answers from the store and needs no
// index.
func (r *Reader) Knowledge(ctx context.Context, request KnowledgeRequest) (found []Knowledge, total int, err error) {
	request.Tags, request.Wanted = record.NormalizeTags(request.Tags), record.NormalizeTags(request.Wanted)
	var all Stands
	places, before, behind := []store.Place(nil), 0, 0
	if request.AsOf.IsZero() {
		if all, err = r.Standings(ctx); err == nil {
			places, before, behind, err = r.ranked(ctx, &request, all)
		}
	} else {
		all, places, err = r.standingsAt(ctx, request.AsOf)
	}
	if err != nil {
		return nil, 0, err
	}
	err = r.eachVersion(ctx, places, func(tx *store.Tx, v store.Version) bool {
		k, ok := request.match(Summarize(tx, v))
		k.Stand, k.Due = all.Of(v.Record.Name), k.due(r.opts.Now())
		k.Status = k.Stand.status(k.Status)
		ok = ok && request.wants(&k)
		if n := len(found); ok && request.First && n >= request.Offset+request.Limit && compareEntries(found[n-1].entry(), k.entry()) < 0 {
			return true
		}
		if ok {
			found = append(found, k)
		}
		return false
	})
	if err != nil {
		return nil, 0, err
	}
	slices.SortFunc(found, compareKnowledge)
	from := min(max(request.Offset, 0)-before, len(found))
	to := len(found)
	if request.Limit > 0 {
		to = min(from+request.Limit, to)
	}
	return found[from:to], before + len(found) + behind, nil
}

// An entry is one that may match, with what is known of it unread.
type entry struct {
	store.Place
	store.Rank
	shared, last int // how many of the wanted tags it has, and which of them last
	old          bool
}

// ranked returns what may match, in the order in which it is read fastest. Where ranks and tags alone decide, that
// is what may be on the page; so many come before it, and behind it.
func (r *Reader) ranked(ctx context.Context, q *KnowledgeRequest, all Stands) (places []store.Place, before, behind int, err error) {
	entries, err := r.withTags(ctx, q)
	rest := q.Filter
	passes := byRank(&rest)
	rest.Clear("tag")
	isByRank := rest.IsZero() && (len(q.Tags) == 0 || len(q.Tags) == len(q.Wanted)) && len(q.Types) == 0 && q.ValidAt.IsZero() &&
		!q.Due && q.Limit > 0
	if err == nil && (isByRank || q.First || len(q.Types) > 0) {
		entries, err = r.rankEntries(ctx, q, entries, passes, all)
	}
	from, to := 0, len(entries)
	if err == nil && isByRank {
		from = min(max(q.Offset, 0), len(entries))
		to = min(from+q.Limit, len(entries))
		isLike := func(i int) bool { return i > 0 && i < len(entries) && compareEntries(entries[i-1], entries[i]) == 0 }
		for ; isLike(from); from-- { // names decide among them
		}
		for ; isLike(to); to++ {
		}
	}
	for _, e := range entries[from:to] {
		places = append(places, e.Place)
	}
	return places, from, len(entries) - to, err
}

// rankEntries returns those of the entries that match, by their ranks, in order.
func (r *Reader) rankEntries(
	ctx context.Context, q *KnowledgeRequest, entries []*entry, passes func(store.Rank) bool, all Stands,
) (ranked []*entry, err error) {
	old := map[record.Ref]bool{}
	err = EachOf(ctx, r, slices.SortedFunc(maps.Keys(all), record.Name.Compare), func(tx *store.Tx, name record.Name) error {
		for n, err := range tx.Names(name) {
			if n.Name == name {
				old[n.Ref] = all[name].IsOld()
			}
			return err
		}
		return nil
	})
	err = cmp.Or(err, EachOf(ctx, r, entries, func(tx *store.Tx, e *entry) (err error) {
		e.old = old[e.Ref]
		if e.Rank, err = tx.Rank(e.Place); errors.Is(err, store.ErrDropped) {
			return nil
		}
		isOf := len(q.Types) == 0 || slices.ContainsFunc(q.Types, func(word string) bool { return store.TypeOf(word) == e.Type })
		if isOf && e.Kind == record.KindKnowledge && passes(e.Rank) && (q.Old || !q.ValidAt.IsZero() || !e.old) && (q.MinConfidence == "" || e.Confidence >= record.Confidence(q.MinConfidence)) {
			ranked = append(ranked, e)
		}
		return err
	}))
	slices.SortFunc(ranked, compareEntries)
	return ranked, err
}

// withTags returns what has one of the tags, or as many as it needs, in the order in which it is read fastest.
func (r *Reader) withTags(ctx context.Context, q *KnowledgeRequest) (entries []*entry, err error) {
	wanted, least, field := q.Wanted, max(1, len(q.Tags)), store.FieldTag
	if q.AllTags {
		least = len(q.Wanted)
	}
	if len(wanted) == 0 {
		wanted, least, field = []string{string(record.KindKnowledge)}, 0, store.FieldKind
	}
	byRef := map[record.Ref]*entry{}
	for i, want := range wanted {
		tags := []string{want}
		if q.Prefix && field == store.FieldTag {
			counts, err := r.TagCounts(ctx, want)
			if err != nil {
				return nil, err
			}
			tags = markdown.Each(counts, func(c TagCount) string { return c.Tag })
		}
		for _, tag := range tags {
			places, err := r.places(ctx, field, tag)
			if err != nil {
				return nil, err
			}
			for _, at := range places {
				e := byRef[at.Ref]
				if e == nil {
					e = &entry{Place: at}
					byRef[at.Ref], entries = e, append(entries, e)
				}
				if e.last <= i {
					e.shared, e.last = e.shared+1, i+1
				}
			}
		}
	}
	entries = slices.DeleteFunc(entries, func(e *entry) bool { return e.shared < least })
	slices.SortFunc(entries, func(a, b *entry) int { return cmp.Compare(a.Position, b.Position) })
	return entries, nil
}

// match reports whether an entry passes all of the filters. The tags of an entry
// are looked at again: a head may have changed since it was looked up.
func (q *KnowledgeRequest) match(s Summary) (Knowledge, bool) {
	k := Knowledge{
		Summary: s, Type: s.Attributes[record.AttributeType], Confidence: s.Attributes[record.AttributeConfidence],
		Shared: q.shared(s.Tags),
	}
	k.sure = record.Confidence(k.Confidence)
	switch {
	case s.Name.Kind != record.KindKnowledge,
		!q.Accepts(s.Version.Record),
		len(q.Types) > 0 && !slices.Contains(q.Types, k.Type),
		q.MinConfidence != "" && k.sure < record.Confidence(q.MinConfidence),
		len(q.Wanted) > 0 && len(k.Shared) == 0,
		q.AllTags && len(k.Shared) < len(q.Wanted):
		return k, false
	}
	return k, true
}

// wants reports whether an entry with a standing is asked for: what counts, what held at a time, or all.
func (q *KnowledgeRequest) wants(k *Knowledge) bool {
	at := q.ValidAt
	if q.Due && k.Due.IsZero() {
		return false
	}
	if at.IsZero() {
		return q.Old || !k.IsOld()
	}
	from, until := layout.ParseValid(k.Attributes[record.AttributeValid])
	switch {
	case k.Standing == Rejected, k.Standing == Proposed && from.IsZero(), !until.IsZero() && !until.After(at):
		return false
	case k.Attributes[record.AttributeValid] != "":
		return !from.After(at)
	}
	isOver := k.Standing == Superseded && !k.Since.After(at)
	return !isOver && !k.Version.Record.Date().After(at)
}

// shared returns those of the wanted tags that an entry with the given tags has.
func (q *KnowledgeRequest) shared(tags []string) []string {
	var out []string
	for _, want := range q.Wanted {
		has := slices.ContainsFunc(tags, func(tag string) bool {
			return tag == want || q.Prefix && strings.HasPrefix(tag, want)
		})
		if has {
			out = append(out, want)
		}
	}
	return out
}

// compareKnowledge puts the entry to read first in front; names make the order
// the same every time.
func compareKnowledge(a, b Knowledge) int {
	return cmp.Or(compareEntries(a.entry(), b.entry()), strings.Compare(a.Version.Record.Name.String(), b.Version.Record.Name.String()))
}

func (k *Knowledge) entry() *entry {
	return &entry{shared: len(k.Shared), old: k.IsOld(), Rank: store.Rank{Date: k.Version.Record.Date(), Confidence: k.sure}}
}

func compareEntries(a, b *entry) int {
	return cmp.Or(compareBool(a.old, b.old), cmp.Compare(b.shared, a.shared), cmp.Compare(b.Confidence, a.Confidence), b.Date.Compare(a.Date))
}

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// A TagCount is a tag and the number of current records that have it.
type TagCount struct {
	Tag   string `json:"tag"`
	Count int    `json:"count"`
}

// TagCounts returns the tags that begin with prefix, in order. With kinds, only
// records of these kinds count, and tags that none of them has are left out.
func (r *Reader) TagCounts(ctx context.Context, prefix string, kinds ...record.Kind) ([]TagCount, error) {
	values, err := r.Values(ctx, store.FieldTag, strings.ToLower(strings.TrimSpace(prefix)))
	var counts []TagCount
	err = cmp.Or(err, EachOf(ctx, r, values, func(tx *store.Tx, value store.Value) error {
		if len(kinds) > 0 {
			value.Count = 0
			for at, err := range tx.Lookup(store.FieldTag, value.Text) {
				rank, rankErr := tx.Rank(at)
				if err = cmp.Or(err, rankErr); err != nil {
					return err
				}
				if slices.Contains(kinds, rank.Kind) {
					value.Count++
				}
			}
		}
		if value.Count > 0 {
			counts = append(counts, TagCount{value.Text, value.Count})
		}
		return nil
	}))
	return counts, err
}

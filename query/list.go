package query

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"filebus/store"
	"filebus/store/record"
)

// A ListRequest says which records to list: those that pass the filter.
type ListRequest struct {
	record.Filter
	// At lists what was current at that log position; 0: what is current.
	At uint64

	Limit, Offset int // a Limit of 0 is none
}

// A Listing is one page of a list, newest first.
type Listing struct {
	Entries []Summary `json:"records"`
	More    bool      `json:"more,omitempty"` // there are more behind them
}

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
	Agent        string            `json:"agent,omitempty"`
	Conversation string            `json:"conversation,omitempty"`
	Session      string            `json:"session,omitempty"`
	Run          string            `json:"run,omitempty"`
	Loop         string            `json:"loop,omitempty"`
	Task         string            `json:"task,omitempty"`
	Status       string            `json:"status,omitempty"`
	Exit         *int              `json:"exit,omitempty"`
	Tags         []string          `json:"tags,omitempty"`
	Attributes   map[string]string `json:"attributes,omitempty"`
}

// Summarize returns what lists say of a version.
func Summarize(tx *store.Tx, v store.Version) Summary {
	return summary(item{v, tx.Description(v.Ref)})
}

func summary(i item) Summary {
	r, d := i.version.Record, i.description
	return Summary{
		Version: i.version, Description: d, Name: r.Name, Ref: record.ShortRef(i.version.Ref), Path: r.Path,
		Title:  d.Title,
		Tokens: i.tokens(), Time: r.Time, Agent: r.Agent, Conversation: r.Conversation, Session: r.Session, Run: r.Run,
		Loop: r.Loop, Task: r.Task, Status: r.Status, Exit: r.Exit, Tags: r.Tags, Attributes: d.Attributes,
	}
}

// List returns the current records that match, newest first. It uses the
// look-up of the rarest field that is set; without one, it reads the log from its
// end.
func (r *Reader) List(ctx context.Context, request ListRequest) (Listing, error) {
	request.Tags = record.NormalizeTags(request.Tags)
	p := page{request: &request, skip: max(request.Offset, 0)}
	var err error
	switch field, value := request.field(); {
	case request.At > 0:
		err = r.listAt(ctx, &p)
	case field != "":
		err = r.Each(ctx, field, value, p.add) // newest first
	default:
		err = r.listLog(ctx, &p)
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

// add imports a version that may match, and reports whether the page is full.
func (p *page) add(tx *store.Tx, v store.Version) (full bool) {
	if !p.request.Accepts(v.Record) {
		return false
	}
	if p.skip > 0 {
		p.skip--
		return false
	}
	if p.request.Limit > 0 && len(p.listing.Entries) == p.request.Limit {
		p.listing.More = true
		return true
	}
	p.listing.Entries = append(p.listing.Entries, Summarize(tx, v))
	return false
}

// field returns the look-up that is likely to have the fewest records.
func (q *ListRequest) field() (store.Field, string) {
	for _, f := range []store.Field{
		store.FieldTask, store.FieldConversation, store.FieldSession, store.FieldRun, store.FieldTag, store.FieldAgent,
		store.FieldStatus, store.FieldKind,
	} {
		if values := q.Values(string(f)); len(values) == 1 || f == store.FieldTag && len(values) > 0 {
			return f, values[0]
		}
	}
	return "", ""
}

// refs returns the heads whose field has a value, newest first.
func (r *Reader) refs(ctx context.Context, field store.Field, value string) (refs []record.Ref, err error) {
	err = r.store.View(ctx, func(tx *store.Tx) error {
		for ref, err := range tx.Lookup(field, value) {
			if err != nil {
				return err
			}
			refs = append(refs, ref)
		}
		return nil
	})
	return refs, err
}

// eachVersion calls visit with the versions of refs, in slices, until it says
// that it has enough. What was dropped meanwhile is left out.
func (r *Reader) eachVersion(ctx context.Context, refs []record.Ref, visit func(tx *store.Tx, v store.Version) (enough bool)) error {
	return r.InSlices(ctx, func(tx *store.Tx) (bool, error) {
		if len(refs) == 0 {
			return true, nil
		}
		v, err := mustFind(tx.Get(refs[0]))
		refs = refs[1:]
		if errors.Is(err, store.ErrDropped) {
			return false, nil
		}
		return err == nil && visit(tx, v), err
	})
}

// mustFind makes a record that the store's own look-ups, names or log lead to, and
// that is neither there nor dropped, what it is: damage.
func mustFind(v store.Version, err error) (store.Version, error) {
	if errors.Is(err, store.ErrNotFound) {
		err = fmt.Errorf("%w: the store leads to a missing record: %w", store.ErrDamaged, err)
	}
	return v, err
}

// listLog reads the log from its end: a put whose record is still head counts.
func (r *Reader) listLog(ctx context.Context, p *page) error {
	next, begun := uint64(0), false
	return r.InSlices(ctx, func(tx *store.Tx) (bool, error) {
		if !begun {
			next, begun = tx.Position(), true
		}
		if next == 0 {
			return true, nil
		}
		e, err := tx.Entry(next)
		if err != nil {
			return false, err
		}
		next--
		if e.Op != store.OpPut {
			return false, nil
		}
		v, err := mustFind(tx.Get(e.Ref))
		if errors.Is(err, store.ErrDropped) {
			return false, nil
		}
		if err != nil || v.Record.IsConflict() {
			return false, err
		}
		head, isHead, err := tx.Last(v.Record.Name)
		if err != nil {
			return false, err
		}
		return isHead && head.Ref == v.Ref && p.add(tx, v), nil
	})
}

// listAt plays every name's history up to a position.
func (r *Reader) listAt(ctx context.Context, p *page) error {
	var found []store.Version
	var last record.Name
	err := r.InSlices(ctx, func(tx *store.Tx) (bool, error) {
		end := time.Now().Add(storeSlice)
		for n, err := range tx.NamesAt(last, p.request.At) {
			if err != nil {
				return false, err
			}
			if n.Name == last {
				continue // it ended the slice before
			}
			last = n.Name
			v, err := mustFind(tx.Get(n.Ref))
			if err != nil {
				return false, err
			}
			if p.request.Accepts(v.Record) {
				found = append(found, v)
			}
			if time.Now().After(end) {
				return false, nil
			}
		}
		return true, nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(found, func(a, b store.Version) int { return int(int64(b.Position) - int64(a.Position)) })
	var refs []record.Ref
	for _, v := range found {
		refs = append(refs, v.Ref)
	}
	return r.eachVersion(ctx, refs, p.add)
}

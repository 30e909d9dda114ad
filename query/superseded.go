package query

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"slices"
	"strconv"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// supersededFile keeps, in the folder of the index, which entries of knowledge
// say that one takes the place of another. It is derived and may be deleted:
// reading all entries again is what it spares.
const supersededFile = "supersedes"

// supersededFormat is the number of its form; a file of another is made anew.
const supersededFormat = 2

// The steps by which what is kept follows the log.
const (
	followEntries = 2000 // a log that is further ahead costs more than all knowledge
	keepEntries   = 64   // so many entries are rather read again than the file written
)

// claims are what all entries claim, as of a position of the log: the form of the
// file. An entry names what it supersedes, and what supersedes it.
type claims struct {
	Format   int                         `json:"format"`
	Store    record.StoreID              `json:"store"`
	Position uint64                      `json:"position"`
	Ref      record.Ref                  `json:"ref"` // of the log entry there: another history has another one
	Claims   map[quotedName][]succession `json:"claims"`

	kept uint64 // the position of the file
}

// A succession says that one entry takes the place of another.
type succession struct {
	Newer quotedName `json:"newer"`
	Older quotedName `json:"older"`
}

// successionOf reads a link of a record, if it is such a claim.
func successionOf(r *record.Record, l record.Link) (s succession, found bool) {
	target, err := record.ParseName(l.Target)
	if err != nil || target.Kind != record.KindKnowledge || target == r.Name {
		return s, false
	}
	switch own, other := quotedName(r.Name), quotedName(target); l.Type {
	case layout.LinkSupersedes:
		return succession{own, other}, true
	case layout.LinkSupersededBy:
		return succession{other, own}, true
	}
	return s, false
}

// A quotedName is written as a string of Go, as names may hold any bytes.
type quotedName record.Name

// MarshalText returns the quoted name.
func (n quotedName) MarshalText() ([]byte, error) {
	return strconv.AppendQuote(nil, record.Name(n).String()), nil
}

// UnmarshalText reads what MarshalText wrote.
func (n *quotedName) UnmarshalText(quoted []byte) error {
	text, err := strconv.Unquote(string(quoted))
	if err == nil {
		*(*record.Name)(n), err = record.ParseName(text)
	}
	return err
}

// set keeps what a record, the head of its name, claims.
func (c *claims) set(r *record.Record) {
	var made []succession
	for _, l := range r.Links {
		if s, found := successionOf(r, l); found {
			made = append(made, s)
		}
	}
	if c.Claims[quotedName(r.Name)] = made; len(made) == 0 {
		delete(c.Claims, quotedName(r.Name))
	}
}

// latest returns what takes the place of each older entry: of several the first by name. Of
// two that supersede each other neither does.
func latest(all map[succession]bool) map[record.Name]record.Name {
	by := map[record.Name]record.Name{}
	for s := range all {
		newer, older := record.Name(s.Newer), record.Name(s.Older)
		before, found := by[older]
		if !all[succession{s.Older, s.Newer}] && (!found || compareNames(newer, before) < 0) {
			by[older] = newer
		}
	}
	return by
}

// Superseded returns what supersedes each entry of knowledge that is superseded.
// The names of entries that are gone may be among its keys.
func (r *Reader) Superseded(ctx context.Context) (map[record.Name]record.Name, error) {
	c, err := r.currentClaims(ctx)
	if err != nil || len(c.Claims) == 0 {
		return map[record.Name]record.Name{}, err
	}
	stated := map[succession]bool{}
	var byOlder []succession
	for name, made := range c.Claims {
		for _, s := range made {
			if s.Newer == name {
				stated[s] = true
			} else {
				byOlder = append(byOlder, s)
			}
		}
	}
	err = EachOf(ctx, r, byOlder, func(tx *store.Tx, s succession) error {
		_, err := tx.Head(record.Name(s.Newer))
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		stated[s] = err == nil
		return err
	})
	return latest(stated), err
}

// currentClaims returns the claims as of now, from what is kept of them and the
// log since. It keeps them if that was much.
func (r *Reader) currentClaims(ctx context.Context) (*claims, error) {
	at, err := r.newCatchUp(ctx)
	if err != nil {
		return nil, err
	}
	c := r.readClaims(at.origin)
	err = r.follow(ctx, c)
	if errors.Is(err, errAnew) {
		if c, err = r.claimsAnew(ctx); err == nil {
			err = r.follow(ctx, c) // what was put meanwhile
		}
		if errors.Is(err, errAnew) {
			return c, nil // much is put and dropped at once: it is as good as before that
		}
	}
	if err == nil && c.Position >= c.kept+keepEntries {
		c.Format, c.Store = supersededFormat, at.origin
		r.writeClaims(c)
	}
	return c, err
}

// errAnew says that what is kept does not lead to the log's end.
var errAnew = errors.New("the claims must be read anew")

// follow brings claims to the end of the log. It returns errAnew if they are of
// another history, if that is too far, or if a record was destroyed since, whose
// name nobody knows.
func (r *Reader) follow(ctx context.Context, c *claims) error {
	begun := false
	return r.InSlices(ctx, func(tx *store.Tx) (bool, error) {
		if !begun {
			begun = true
			if err := c.check(tx); err != nil {
				return false, err
			}
		}
		if c.Position == tx.Position() {
			return true, nil
		}
		e, err := tx.Entry(c.Position + 1)
		if err != nil {
			return false, err
		}
		v, err := mustFind(tx.Get(e.Ref))
		switch {
		case errors.Is(err, store.ErrDropped) && e.Op == store.OpPut: // what became of it comes later
		case errors.Is(err, store.ErrDropped):
			return false, errAnew
		case err != nil:
			return false, err
		case v.Record.Name.Kind == record.KindKnowledge:
			if err := c.read(tx, v.Record.Name); err != nil {
				return false, err
			}
		}
		c.Position, c.Ref = e.Position, e.Ref
		return false, nil
	})
}

// check returns errAnew unless claims are of the history of a store, and not far
// behind.
func (c *claims) check(tx *store.Tx) error {
	if c.Position > tx.Position() || tx.Position()-c.Position > followEntries {
		return errAnew
	}
	if c.Position == 0 {
		return nil
	}
	e, err := tx.Entry(c.Position)
	if err == nil && e.Ref != c.Ref {
		return errAnew
	}
	return err
}

// read reads what the head of a name claims, if it has one.
func (c *claims) read(tx *store.Tx, name record.Name) error {
	head, err := tx.Head(name)
	if errors.Is(err, store.ErrNotFound) {
		delete(c.Claims, quotedName(name))
		return nil
	}
	if err == nil {
		c.set(head.Record)
	}
	return err
}

// claimsAnew reads all entries of knowledge. The claims are as of the position
// before that, or later.
func (r *Reader) claimsAnew(ctx context.Context) (*claims, error) {
	c := &claims{Claims: map[quotedName][]succession{}}
	err := r.store.View(ctx, func(tx *store.Tx) error {
		if c.Position = tx.Position(); c.Position == 0 {
			return nil
		}
		e, err := tx.Entry(c.Position)
		c.Ref = e.Ref
		return err
	})
	if err != nil {
		return nil, err
	}
	versions, err := r.knowledgeVersions(ctx)
	for _, v := range versions {
		c.set(v.Record)
	}
	return c, err
}

// readClaims reads what is kept. If that is nothing, or not to be understood, it
// returns claims as of the log's beginning.
func (r *Reader) readClaims(origin record.StoreID) *claims {
	var c claims
	text, err := r.own.ReadFile(path.Join(indexFolder, supersededFile))
	if err != nil || json.Unmarshal(text, &c) != nil || c.Format != supersededFormat || c.Store != origin ||
		c.Claims == nil {
		return &claims{Claims: map[quotedName][]succession{}}
	}
	c.kept = c.Position
	return &c
}

// writeClaims keeps claims, if the folder of the index may be written. The next
// reader does the work again if not.
func (r *Reader) writeClaims(c *claims) {
	text, err := json.Marshal(c)
	if err == nil && r.own.Make(indexFolder) == nil {
		_ = r.own.Replace(path.Join(indexFolder, supersededFile), text, false) // see above
	}
}

// ends returns what supersedes each entry in the end, given what does next. Of entries that supersede each
// other none does.
func ends(by map[record.Name]record.Name) map[record.Name]record.Name {
	ends := map[record.Name]record.Name{}
	for name := range by {
		end, steps := by[name], 0
		for ; !by[end].IsZero() && steps <= len(by); steps++ {
			end = by[end]
		}
		if steps <= len(by) {
			ends[name] = end
		}
	}
	return ends
}

// markSuperseded names in hits what supersedes them in the end, and puts that before them; what counts no more, and
// what is superseded by none of the hits, comes last.
func markSuperseded(hits []Hit, ends map[record.Name]record.Name) {
	for i := len(hits) - 1; i >= 0; i-- {
		hits[i].By = ends[hits[i].Name]
		if at := slices.IndexFunc(hits, func(h Hit) bool { return h.Name == hits[i].By }); at > i {
			old := hits[i]
			copy(hits[i:at], hits[i+1:at+1])
			hits[at] = old
		}
	}
	isLast := func(h Hit) int {
		isHere := func(other Hit) bool { return other.Name == h.By }
		if h.doubtful || !h.By.IsZero() && !slices.ContainsFunc(hits, isHere) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return isLast(a) - isLast(b) })
}

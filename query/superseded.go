package query

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
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
const supersededFormat = 1

// The steps by which what is kept follows the log.
const (
	followEntries = 2000 // a log that is further ahead costs more than all knowledge
	keepEntries   = 64   // so many entries are rather read again than the file written
)

// A claim is a link of an entry of knowledge that says what takes whose place.
type claim struct {
	kind   string // layout.LinkSupersedes or layout.LinkSupersededBy
	target record.Name
}

// A claims is what all entries claim, as of a position of the log.
type claims struct {
	position uint64
	ref      record.Ref // of the log entry there: another history has another one
	of       map[record.Name][]claim
	kept     uint64 // the position of the file
}

// claimsOf returns what a record claims.
func claimsOf(r *record.Record) []claim {
	var made []claim
	for _, l := range r.Links {
		if l.Type != layout.LinkSupersedes && l.Type != layout.LinkSupersededBy {
			continue
		}
		target, err := record.ParseName(l.Target)
		if err == nil && target.Kind == record.KindKnowledge && target != r.Name {
			made = append(made, claim{l.Type, target})
		}
	}
	return made
}

// set keeps what the head of a name claims.
func (c *claims) set(name record.Name, made []claim) {
	if len(made) == 0 {
		delete(c.of, name)
		return
	}
	c.of[name] = made
}

// Superseded returns what supersedes each entry of knowledge that is superseded.
// The names of entries that are gone may be among its keys.
func (r *Reader) Superseded(ctx context.Context) (map[record.Name]record.Name, error) {
	c, err := r.currentClaims(ctx)
	if err != nil || len(c.of) == 0 {
		return map[record.Name]record.Name{}, err
	}
	type pair struct{ newer, older record.Name }
	stated := map[pair]bool{}
	var by []pair // said by the older one
	for name, made := range c.of {
		for _, m := range made {
			if m.kind == layout.LinkSupersedes {
				stated[pair{name, m.target}] = true
			} else {
				by = append(by, pair{m.target, name})
			}
		}
	}
	err = EachOf(ctx, r, by, func(tx *store.Tx, p pair) error {
		_, err := tx.Head(p.newer)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		stated[p] = err == nil
		return err
	})
	superseded := map[record.Name]record.Name{}
	for p := range stated {
		if stated[pair{p.older, p.newer}] {
			continue // of two that supersede each other neither does
		}
		if before, found := superseded[p.older]; !found || compareNames(p.newer, before) < 0 {
			superseded[p.older] = p.newer
		}
	}
	return superseded, err
}

// currentClaims returns the claims as of now, from what is kept of them and the
// log since. It keeps them if that was much.
func (r *Reader) currentClaims(ctx context.Context) (*claims, error) {
	at, err := r.newCatchUp(ctx)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(r.dir, supersededFile)
	c := readClaims(file, at.origin)
	err = r.follow(ctx, c)
	if errors.Is(err, errAnew) {
		if c, err = r.claimsAnew(ctx); err == nil {
			err = r.follow(ctx, c) // what was put meanwhile
		}
		if errors.Is(err, errAnew) {
			return c, nil // much is put and dropped at once: it is as good as before that
		}
	}
	if err == nil && c.position >= c.kept+keepEntries {
		c.write(file, at.origin)
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
		if c.position == tx.Position() {
			return true, nil
		}
		e, err := tx.Entry(c.position + 1)
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
		c.position, c.ref = e.Position, e.Ref
		return false, nil
	})
}

// check returns errAnew unless claims are of the history of a store, and not far
// behind.
func (c *claims) check(tx *store.Tx) error {
	if c.position > tx.Position() || tx.Position()-c.position > followEntries {
		return errAnew
	}
	if c.position == 0 {
		return nil
	}
	e, err := tx.Entry(c.position)
	if err == nil && e.Ref != c.ref {
		return errAnew
	}
	return err
}

// read reads what the head of a name claims, if it has one.
func (c *claims) read(tx *store.Tx, name record.Name) error {
	head, err := tx.Head(name)
	if errors.Is(err, store.ErrNotFound) {
		delete(c.of, name)
		return nil
	}
	if err == nil {
		c.set(name, claimsOf(head.Record))
	}
	return err
}

// claimsAnew reads all entries of knowledge. The claims are as of the position
// before that, or later.
func (r *Reader) claimsAnew(ctx context.Context) (*claims, error) {
	c := &claims{of: map[record.Name][]claim{}}
	err := r.store.View(ctx, func(tx *store.Tx) error {
		if c.position = tx.Position(); c.position == 0 {
			return nil
		}
		e, err := tx.Entry(c.position)
		c.ref = e.Ref
		return err
	})
	if err != nil {
		return nil, err
	}
	versions, err := r.knowledgeVersions(ctx)
	for _, v := range versions {
		c.set(v.Record.Name, claimsOf(v.Record))
	}
	return c, err
}

// claimsJSON is the file. The claims of an entry are types of links, each with a
// name behind it. Names are quoted as in Go, as they may hold any bytes.
type claimsJSON struct {
	Format   int                 `json:"format"`
	Store    record.StoreID      `json:"store"`
	Position uint64              `json:"position"`
	Ref      record.Ref          `json:"ref"`
	Claims   map[string][]string `json:"claims"`
}

// readClaims reads what is kept. If that is nothing, or not to be understood, it
// returns claims as of the log's beginning.
func readClaims(file string, origin record.StoreID) *claims {
	none := &claims{of: map[record.Name][]claim{}}
	var kept claimsJSON
	text, err := os.ReadFile(file)
	if err != nil || json.Unmarshal(text, &kept) != nil || kept.Format != supersededFormat || kept.Store != origin {
		return none
	}
	c := &claims{position: kept.Position, ref: kept.Ref, of: map[record.Name][]claim{}, kept: kept.Position}
	for text, words := range kept.Claims {
		name, err := unquoteName(text)
		if err != nil || len(words)%2 != 0 {
			return none
		}
		for i := 0; i < len(words); i += 2 {
			target, err := unquoteName(words[i+1])
			if err != nil {
				return none
			}
			c.of[name] = append(c.of[name], claim{words[i], target})
		}
	}
	return c
}

func unquoteName(quoted string) (record.Name, error) {
	text, err := strconv.Unquote(quoted)
	if err != nil {
		return record.Name{}, err
	}
	return record.ParseName(text)
}

// write keeps claims, if the folder of the index is there and may be written. The
// next reader does the work again if not.
func (c *claims) write(file string, origin record.StoreID) {
	kept := claimsJSON{supersededFormat, origin, c.position, c.ref, map[string][]string{}}
	for name, made := range c.of {
		words := []string{}
		for _, m := range made {
			words = append(words, m.kind, strconv.Quote(m.target.String()))
		}
		kept.Claims[strconv.Quote(name.String())] = words
	}
	text, err := json.Marshal(kept)
	if err != nil || os.MkdirAll(filepath.Dir(file), 0o777) != nil {
		return
	}
	// A name that the index's writers remove, if a crash leaves it.
	temporary, err := os.CreateTemp(filepath.Dir(file), ".tmp-*")
	if err != nil {
		return
	}
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), file)
	}
	if err != nil {
		_ = os.Remove(temporary.Name())
	}
}

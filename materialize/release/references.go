package release

import (
	"errors"
	"fmt"
	"slices"

	"filebus/store"
	"filebus/store/record"
)

// A references is what the log says about which record refers to which: by being
// made from it, or by a link. It holds every record that is still stored, so
// that one pass over the log answers for any number of names.
type references struct {
	wanted   func(record.Name) bool // the names whose versions are noted
	names    map[record.Name]*Candidate
	byRef    map[record.Ref][]record.Name // who refers to a version
	byText   map[string][]record.Name     // who refers to a name or a path
	position uint64                       // of the last entry that was looked at
}

// A Candidate is a name that may be given up.
type Candidate struct {
	Name     record.Name
	Last     *record.Record // its last version
	Current  bool           // it has a current version
	Retired  bool           // it was hidden to be given up
	versions []versionOf    // oldest first; conflict versions too
	position uint64         // of the last version
	planned  int            // how many versions it had when it was decided about
	count    int            // the same, which does not shrink while they are dropped
	bytes    int64          // of those versions
	replaced bool           // another name stands at its path, or its current version stays
	dropped  int            // how many versions were dropped by this release
}

// HasFile reports whether a name has, or had, a file of its own in the mirror.
func (c *Candidate) HasFile() bool {
	return c.Name.Tree == "" && c.Last.Path != "" && !c.Name.IsEntry() && !c.replaced
}

// A versionOf is what is kept in memory of a version.
type versionOf struct {
	ref  record.Ref
	body record.Digest
	size int64
}

// read notes a log entry, and calls put with the name of a record that is still stored.
func (r *references) read(tx *store.Tx, e store.Entry, put func(record.Name)) error {
	r.position = e.Position
	if e.Op != store.OpPut {
		return nil
	}
	v, err := tx.Get(e.Ref)
	switch {
	case errors.Is(err, store.ErrDropped):
		return nil
	case errors.Is(err, store.ErrNotFound):
		return fmt.Errorf("%w: log entry %d: %w", store.ErrDamaged, e.Position, err)
	case err == nil:
		r.add(tx, v)
		put(v.Record.Name)
	}
	return err
}

// add notes a record: that it is a version of its name, and what it refers to.
func (r *references) add(tx *store.Tx, v store.Version) {
	from := v.Record
	if r.wanted(from.Name) {
		c := r.names[from.Name]
		if c == nil {
			c = &Candidate{Name: from.Name}
			r.names[from.Name] = c
		}
		c.versions = append(c.versions, versionOf{v.Ref, from.Body, from.Size})
		c.Last, c.position = from, v.Position
	}
	for _, ref := range from.From {
		r.byRef[ref] = addName(r.byRef[ref], from.Name)
	}
	for _, l := range from.Links {
		if l.Type == record.LinkConflict {
			continue // to a version of its own name
		}
		if prefix, ok := record.ParsePrefix(l.Target); ok {
			if ref, err := tx.Resolve(prefix); err == nil {
				r.byRef[ref] = addName(r.byRef[ref], from.Name)
			}
			continue
		}
		r.byText[l.Target] = addName(r.byText[l.Target], from.Name)
	}
}

// addName adds a name to a list that mostly ends with it already.
func addName(list []record.Name, name record.Name) []record.Name {
	if len(list) > 0 && list[len(list)-1] == name {
		return list
	}
	return append(list, name)
}

// to returns the names that refer to a candidate, without itself, each once.
func (r *references) to(c *Candidate) []record.Name {
	var found []record.Name
	for _, v := range c.versions {
		found = append(found, r.byRef[v.ref]...)
	}
	found = append(found, r.byText[c.Name.String()]...)
	if c.Name.Tree == "" && c.Last.Path != "" {
		found = append(found, r.byText[c.Last.Path]...)
	}
	found = slices.DeleteFunc(found, func(n record.Name) bool { return n == c.Name })
	slices.SortFunc(found, record.Name.Compare)
	return slices.Compact(found)
}

// look reads what is current of the candidate.
func (c *Candidate) look(tx *store.Tx) error {
	c.planned, c.count = len(c.versions), len(c.versions)
	for _, v := range c.versions {
		c.bytes += v.size
	}
	last, current, err := tx.Last(c.Name)
	if errors.Is(err, store.ErrNotFound) {
		return nil // only conflict versions are left
	}
	if err != nil {
		return err
	}
	goes := slices.ContainsFunc(c.versions, func(v versionOf) bool { return v.ref == last.Ref })
	c.Last, c.position, c.Current, c.replaced = last.Record, last.Position, current && goes, current && !goes
	return nil
}

package store

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"time"

	"filebus/store/record"
)

// A lineage is what is known of all versions of a name, whoever has made them. What is
// current, and what is in conflict with that, follows from it alone: so all stores that know the
// same agree, in whatever order they have heard of it.
type lineage struct {
	tx    *Tx
	name  record.Name
	nodes map[record.Ref]*node
	order []record.Ref // as they came
}

// A node is one version, or what is known of one that is not here.
type node struct {
	Trace
	ref    record.Ref
	record *record.Record // nil: it is not here
	gone   bool           // retired, settled or destroyed, or one that went on from it is
	isLost bool           // destroyed
	said   string         // see says; "": not known yet
	after  time.Time      // its time, but later than those that it goes on from; zero: not known yet
}

// lineage reads what is known of a name.
func (tx *Tx) lineage(name record.Name) (*lineage, error) {
	l := &lineage{tx: tx, name: name, nodes: map[record.Ref]*node{}}
	events, err := tx.History(name)
	for _, e := range events {
		switch e.Change {
		case ChangeRetire, changeResolve:
			if n := l.nodes[e.Ref]; n != nil {
				n.gone = true
			}
		case ChangePut, ChangeAdopt, ChangeDrop, changeOver, changeUnder, ChangeVoid:
			l.add(e.Ref)
		}
	}
	return l, err
}

func (l *lineage) add(ref record.Ref) {
	n := &node{ref: ref, isLost: l.tx.IsDropped(ref)}
	n.Trace, n.record, _ = l.tx.trace(ref)
	if n.Time.IsZero() && len(l.order) > 0 { // destroyed before traces were kept
		n.Follows = l.order[len(l.order)-1:]
	}
	if l.nodes[ref] == nil {
		l.order = append(l.order, ref)
	}
	l.nodes[ref] = n
}

// node returns a version of the name, or one on the way to it that is not here.
func (l *lineage) node(ref record.Ref) *node {
	n := l.nodes[ref]
	if n == nil {
		n = &node{ref: ref, isLost: true}
		n.Trace, n.record, _ = l.tx.trace(ref)
		l.nodes[ref] = n
	}
	return n
}

// above adds all that a version goes on from to a set.
func (l *lineage) above(ref record.Ref, set map[record.Ref]bool) {
	todo := slices.Clone(l.node(ref).Follows)
	for len(todo) > 0 {
		next := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !set[next] {
			set[next] = true
			todo = append(todo, l.node(next).Follows...)
		}
	}
}

// leaves returns the versions that no other one goes on from, the last one first. What is destroyed
// is none, since no other store may know its name; but what it went on from is gone with it.
func (l *lineage) leaves() (all []*node) {
	followed, gone := map[record.Ref]bool{}, map[record.Ref]bool{}
	for _, ref := range l.order {
		switch n := l.nodes[ref]; {
		case n.Merged:
		case n.isLost:
			l.above(ref, gone)
		case !followed[ref]:
			l.above(ref, followed)
		}
	}
	for _, ref := range l.order {
		if n := l.nodes[ref]; !n.Merged && !n.isLost && !followed[ref] {
			n.gone = n.gone || gone[ref]
			l.date(n)
			all = append(all, n)
		}
	}
	slices.SortFunc(all, func(a, b *node) int { return cmp.Or(b.after.Compare(a.after), bytes.Compare(b.ref[:], a.ref[:])) })
	return all
}

// date gives a version a time that is later than those of all that it goes on from: who goes on
// from a text has seen it, whatever the clocks say.
func (l *lineage) date(n *node) {
	todo := []*node{n}
	for len(todo) > 0 {
		n, ready := todo[len(todo)-1], true
		after := n.Time
		for _, ref := range n.Follows {
			before := l.node(ref)
			if before.after.IsZero() && before != n {
				todo, ready = append(todo, before), false
			} else if !before.after.Before(after) {
				after = before.after.Add(1)
			}
		}
		if ready || len(todo) > len(l.nodes)+1 { // that is a circle, which no digest allows
			n.after, todo = cmp.Or(after, time.Unix(0, 0)), todo[:len(todo)-1]
		}
	}
}

// decide returns the version that counts, nil if there is none at all, and those that are in conflict
// with it. Where the one that counts was retired the name has no head, and others are in conflict
// with that.
func (l *lineage) decide() (first *node, rivals []*node) {
	leaves := l.leaves()
	if len(leaves) == 0 {
		return nil, nil
	}
	first = leaves[0]
	var seen map[string][]record.Ref
	for _, n := range leaves[1:] {
		if n.record == nil || n.gone || l.agree(first, n) {
			continue
		}
		if seen == nil {
			seen = l.seenBy(first)
		}
		if !l.isBack(n, seen[l.says(n)]) {
			rivals = append(rivals, n)
		}
	}
	return first, rivals
}

// agree reports whether two versions say the same: entries of a file come and go by themselves,
// so of its frame the words count.
func (l *lineage) agree(a, b *node) bool {
	return a.record != nil && b.record != nil && (a.record.Body == b.record.Body || l.says(a) == l.says(b))
}

// says returns what is the same for two versions that agree.
func (l *lineage) says(n *node) string {
	if n.said != "" {
		return n.said
	}
	n.said = n.record.Body.String()
	if l.name.Kind == record.KindFrame {
		if words, err := l.words(n); err == nil {
			n.said = "words " + words
		}
	}
	return n.said
}

func (l *lineage) words(n *node) (string, error) {
	content, err := l.tx.Content(n.record)
	if err != nil {
		return "", err
	}
	text, err := content.Bytes()
	if err != nil {
		return "", err
	}
	frame, err := record.DecodeFrame(l.name.Tree, text)
	return frame.Words(), err
}

// seenBy returns the versions that one goes on from, by what they say. Others have none of those that
// a store has made by itself.
func (l *lineage) seenBy(first *node) map[string][]record.Ref {
	above, seen := map[record.Ref]bool{}, map[string][]record.Ref{}
	l.above(first.ref, above)
	for ref := range above {
		if n := l.node(ref); !n.Merged && n.record != nil {
			seen[l.says(n)] = append(seen[l.says(n)], ref)
		}
	}
	return seen
}

// isBack reports whether a version says what one of these has said, which the version that counts goes on
// from, without having come back to it: then it has changed nothing.
func (l *lineage) isBack(n *node, like []record.Ref) bool {
	if len(like) == 0 {
		return false
	}
	own := map[record.Ref]bool{}
	l.above(n.ref, own)
	return slices.ContainsFunc(like, func(ref record.Ref) bool { return !own[ref] })
}

// Leaves returns the version of a name that counts, also if it was retired, whatever this store has
// made of it by itself, and others that nobody has gone on from. ok: it is here and current.
func (tx *Tx) Leaves(name record.Name) (first Version, others []Version, ok bool, err error) {
	l, err := tx.lineage(name)
	if err != nil {
		return first, nil, false, err
	}
	for i, n := range l.leaves() {
		if i == 0 && n.record != nil && !n.gone {
			first, ok = l.version(n), true
		} else if i > 0 && n.record != nil && !n.gone {
			others = append(others, l.version(n))
		}
	}
	return first, others, ok, nil
}

func (l *lineage) version(n *node) Version {
	v, err := l.tx.Get(n.ref)
	if err != nil { // its digest was right a moment ago
		v = Version{n.ref, 0, n.record}
	}
	return v
}

// reweigh lists the conflicts of a name anew.
func (tx *Tx) reweigh(name record.Name) error {
	l, err := tx.lineage(name)
	if err != nil {
		return err
	}
	return l.list()
}

func (l *lineage) list() error {
	prefix := lookupPrefix(FieldConflict, l.name.String())
	var stale [][]byte
	for k, v := l.tx.lookups.Cursor().Seek(prefix); bytes.HasPrefix(k, prefix) && len(k) == len(prefix)+positionSize; {
		if r := l.tx.raw(record.Ref(v)); r == nil || !r.IsConflict() { // listed anew below
			stale = append(stale, bytes.Clone(k))
		}
		c := l.tx.lookups.Cursor()
		c.Seek(k)
		k, v = c.Next()
	}
	var err error
	for _, k := range stale {
		err = errors.Join(err, l.tx.lookups.Delete(k))
	}
	_, rivals := l.decide()
	for _, n := range rivals {
		err = errors.Join(err, l.tx.lookups.Put(l.tx.rivalKey(n), n.ref[:]))
	}
	return err
}

// rivalKey is where a version is listed that is in conflict with the one that counts.
func (tx *Tx) rivalKey(n *node) []byte {
	position := readPosition(tx.records.Get(n.ref[:]))
	return appendPosition(lookupPrefix(FieldConflict, n.record.Name.String()), position)
}

// hasRivals reports whether a name has open conflicts.
func (tx *Tx) hasRivals(name record.Name) bool {
	prefix := lookupPrefix(FieldConflict, name.String())
	k, _ := tx.lookups.Cursor().Seek(prefix)
	return bytes.HasPrefix(k, prefix)
}

// isShared reports whether versions of a name have come from other stores.
func (tx *Tx) isShared(name record.Name) bool {
	if k, _ := tx.meta.Cursor().Seek(metaHeard("")); !bytes.HasPrefix(k, metaHeard("")) {
		return false
	}
	prefix := historyPrefix(nameKey(name))
	c := tx.history.Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if len(v) > 0 && bytes.IndexByte([]byte{byte(ChangeAdopt), byte(changeOver), byte(changeUnder), byte(ChangeVoid)}, v[0]) >= 0 {
			return true
		}
	}
	return tx.hasRivals(name)
}

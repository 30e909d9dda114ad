package store

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"time"

	"filebus/store/record"
)

// A lineage is the graph of a name: all that is known of its versions, whoever has made them. What is current, and what is in
// conflict with that, follows from it alone: so all stores that know the same agree, in whatever order they have heard of it. The rule
// is section 8 of docs/replication.md: its sentences 1 and 2 are node, 3 to 5 and 7 decide, agree and isBack, 6 is Tx.weigh.
type lineage struct {
	tx     *Tx
	name   record.Name
	nodes  map[record.Ref]*node
	order  []*node // each behind those that it goes on from
	leaves []*node // the latest first
	first  *node   // of these: the version that counts; nil: there is none. Where it is gone the name has no head
	rivals []*node // in conflict with that
}

// A node is one version, or what is known of one that is not here.
type node struct {
	*fact
	ref      record.Ref
	before   []*node   // what it goes on from
	after    time.Time // its time, but later than those of all that it goes on from; unknown: 1970
	isNamed  bool      // the history of the name has it
	gone     bool      // retired or settled; of a leaf also if one that is destroyed goes on from it
	followed bool      // one that is not destroyed goes on from it
	under    bool      // one that is destroyed does
	isRival  bool
}

// A fact is what is known of a version, whatever its name.
type fact struct {
	Trace
	isHere, isLost bool
	body, said     record.Digest // of one that is here; see says
}

// What is kept for the next transaction of this process.
type kept struct {
	next  int // its number
	file  string
	chain record.Digest
	facts map[record.Ref]*fact
}

const mostFacts = 1 << 14 // that are kept

// fact returns what is known of a version. It is read once, and anew when it changes: see changed.
func (tx *Tx) fact(ref record.Ref) *fact {
	f := tx.facts[ref]
	if f == nil {
		if f = new(fact); tx.facts == nil || len(tx.facts) > mostFacts {
			tx.facts = map[record.Ref]*fact{}
		}
		tx.facts[ref], f.isLost = f, tx.IsDropped(ref)
		if r := tx.raw(ref); r != nil {
			f.Trace, f.isHere, f.body = TraceOf(r), true, r.Body
		} else if _, text := tx.notHere(ref); text != "" {
			f.Trace, _ = ParseTrace(text)
		}
	}
	return f
}

// changed forgets what was known of a version.
func (tx *Tx) changed(ref record.Ref) {
	delete(tx.facts, ref)
	tx.graph = nil
}

// lineage returns the graph of a name. The last one is kept until something changes.
func (tx *Tx) lineage(name record.Name) (*lineage, error) {
	if tx.graph != nil && tx.graph.name == name {
		return tx.graph, nil
	}
	events, err := tx.History(name)
	l := &lineage{tx: tx, name: name, nodes: make(map[record.Ref]*node, len(events))}
	var last *node
	for _, e := range events {
		switch e.Change {
		case changeConflict, changeHeir:
		case ChangeRetire, changeResolve:
			if n := l.nodes[e.Ref]; n != nil {
				n.gone = true
			}
		default:
			n := l.node(e.Ref)
			if n.isNamed = true; n.Time.IsZero() && last != nil { // destroyed before traces were kept
				n.before, n.after = []*node{last}, last.after.Add(1)
			}
			last = n
		}
	}
	l.decide()
	tx.graph = l
	return l, err
}

// node returns a version, behind all that it goes on from. Its time is later than theirs: who goes on from a text has seen it,
// whatever the clocks say.
func (l *lineage) node(ref record.Ref) *node {
	for todo := []record.Ref{ref}; len(todo) > 0; {
		last := todo[len(todo)-1]
		n := l.nodes[last]
		if n == nil {
			n = &node{fact: l.tx.fact(last), ref: last}
			l.nodes[last], todo = n, append(todo, n.Follows...)
			continue
		}
		if todo = todo[:len(todo)-1]; !n.after.IsZero() {
			continue
		}
		n.after = cmp.Or(n.Time, time.Unix(0, 0))
		for _, ref := range n.Follows {
			before := l.nodes[ref]
			if n.before = append(n.before, before); !before.after.Before(n.after) {
				n.after = before.after.Add(1)
			}
		}
		l.order = append(l.order, n)
	}
	return l.nodes[ref]
}

// decide finds the leaves, and those that are in conflict with the one that counts. A leaf is here, no store has made it by itself,
// and nothing else that is here goes on from it. What is destroyed is none, since no other store may know its name; but what it
// went on from is gone with it.
func (l *lineage) decide() {
	for _, n := range slices.Backward(l.order) {
		counts := n.isNamed && !n.Merged
		if counts && !n.isLost && !n.followed {
			n.gone = n.gone || n.under
			l.leaves = append(l.leaves, n)
		}
		for _, before := range n.before {
			before.followed = before.followed || n.followed || counts && !n.isLost
			before.under = before.under || n.under || counts && n.isLost
		}
	}
	slices.SortFunc(l.leaves, func(a, b *node) int { return cmp.Or(b.after.Compare(a.after), bytes.Compare(b.ref[:], a.ref[:])) })
	for i, n := range l.leaves {
		if i == 0 {
			l.first = n
		} else if n.isHere && !n.gone && !l.agree(l.first, n) && !l.isBack(n) {
			n.isRival, l.rivals = true, append(l.rivals, n)
		}
	}
}

// isRival reports whether a version is in conflict with the one that counts.
func (l *lineage) isRival(ref record.Ref) bool { return l.nodes[ref] != nil && l.nodes[ref].isRival }

// isBack reports whether a version says what one has said that the first goes on from, without having come back to it: then it
// has changed nothing. What a store has made by itself says nothing.
func (l *lineage) isBack(n *node) bool {
	own := below(n)
	for seen := range below(l.first) {
		if !own[seen] && !seen.Merged && l.agree(seen, n) {
			return true
		}
	}
	return false
}

// below returns all that a version goes on from.
func below(n *node) map[*node]bool {
	all := map[*node]bool{}
	for todo := []*node{n}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, before := range n.before {
			if !all[before] {
				all[before], todo = true, append(todo, before)
			}
		}
	}
	return all
}

// agree reports whether two versions say the same.
func (l *lineage) agree(a, b *node) bool {
	return a.isHere && b.isHere && (a.body == b.body || l.says(a) == l.says(b))
}

// says returns what is the same for two versions that agree: entries of a file come and go by themselves, so of its frame the words count.
func (l *lineage) says(n *node) record.Digest {
	if l.name.Kind != record.KindFrame || n.said != (record.Digest{}) {
		return cmp.Or(n.said, n.body)
	}
	n.said = n.body
	content, err := l.tx.Content(l.tx.raw(n.ref))
	if err != nil {
		return n.said
	}
	text, err := content.Bytes()
	if frame, frameErr := record.DecodeFrame(l.name.Tree, text); err == nil && frameErr == nil {
		n.said = record.DigestOf([]byte("words " + frame.Words()))
	}
	return n.said
}

// Leaves returns the version of a name that counts, also if it was retired, whatever this store has
// made of it by itself, and others that nobody has gone on from. ok: it is here and current.
func (tx *Tx) Leaves(name record.Name) (first Version, others []Version, ok bool, err error) {
	l, err := tx.lineage(name)
	if err != nil {
		return first, nil, false, err
	}
	for i, n := range l.leaves {
		if i == 0 && n.isHere && !n.gone {
			first, ok = l.version(n), true
		} else if i > 0 && n.isHere && !n.gone {
			others = append(others, l.version(n))
		}
	}
	return first, others, ok, nil
}

func (l *lineage) version(n *node) Version {
	v, err := l.tx.Get(n.ref)
	if err != nil { // its digest was right a moment ago
		v = Version{n.ref, 0, l.tx.raw(n.ref)}
	}
	return v
}

// reweigh lets the conflicts of a name be listed anew, if it has some, or may have.
func (tx *Tx) reweigh(name record.Name, mayHave bool) {
	if mayHave || tx.hasRivals(name) {
		tx.await(name)
	}
}

// list lists the conflicts of a name. If it has no head, what is put next goes on from the version that counts.
func (tx *Tx) list(name record.Name) error {
	l, err := tx.lineage(name)
	if err != nil {
		return err
	}
	entry, err := tx.name(name)
	if first := l.first; first != nil && entry.state != stateHead && entry.ref != first.ref {
		position := entry.position
		if entry.state == 0 { // what is destroyed has gone on from it
			events, historyErr := tx.History(name)
			err, position = errors.Join(err, historyErr), endOf(events)
		}
		err = errors.Join(err, tx.names.Put(nameKey(name), nameEntry{stateRetired, first.ref, position}.encode()))
	}
	var stale [][]byte
	prefix := lookupPrefix(FieldConflict, name.String())
	c := tx.lookups.Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix) && len(k) == len(prefix)+positionSize; k, v = c.Next() {
		if ref := record.Ref(v); !l.isRival(ref) && !tx.isConflict(ref) {
			stale = append(stale, bytes.Clone(k))
		}
	}
	for _, k := range stale {
		err = errors.Join(err, tx.lookups.Bucket.Delete(k))
	}
	for _, n := range l.rivals {
		err = errors.Join(err, tx.lookups.Bucket.Put(tx.rivalKey(name, n.ref), n.ref[:]))
	}
	for _, n := range l.order { // what will be told of them may decide otherwise
		if n.Time.IsZero() {
			err = errors.Join(err, tx.absent.Put(append(bytes.Clone(n.ref[:]), nameKey(name)...), isAwaited))
		}
	}
	return err
}

func (tx *Tx) isConflict(ref record.Ref) bool { r := tx.raw(ref); return r != nil && r.IsConflict() }

// rivalKey is where a version is listed that is in conflict with the one that counts.
func (tx *Tx) rivalKey(name record.Name, ref record.Ref) []byte {
	position, _ := tx.stored(ref)
	return appendPosition(lookupPrefix(FieldConflict, name.String()), position)
}

// hasRivals reports whether a name has open conflicts, whose look-ups never wait.
func (tx *Tx) hasRivals(name record.Name) bool {
	prefix := lookupPrefix(FieldConflict, name.String())
	k, _ := tx.lookups.Cursor().Seek(prefix)
	return bytes.HasPrefix(k, prefix)
}

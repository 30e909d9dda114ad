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
	last  Event
	tips  []*node // no other one is known to go on from these

	unknown []*node // of these nothing was known when they were met

	isDecided bool
	first     *node
	rivals    []*node
	seenBy    *node // what it goes on from is in above and seen; nil: they are empty
	above     map[*node]bool
	seen      map[record.Digest][]*node // by what they say
}

// A node is one version, or what is known of one that is not here.
type node struct {
	Trace
	ref      record.Ref
	body     record.Digest // of one that is here
	said     record.Digest // see says; zero: not known yet
	after    time.Time     // its time, but later than those that it goes on from; zero: not known yet
	isHere   bool
	isNamed  bool // the history of the name has it
	gone     bool // retired, settled or destroyed, or one that went on from it is
	isLost   bool // destroyed
	followed bool // one that is not destroyed goes on from it
	under    bool // one that is destroyed does
	isOpen   bool // while it is dated
}

// Lineages of fewer versions than lineageLeast are read anew each time, and no more versions than
// lineageMost are kept.
const (
	lineageLeast = 16
	lineageMost  = 1 << 16
)

// lineage returns what is known of a name. It is read once, and follows what is noted: see note.
func (tx *Tx) lineage(name record.Name) (*lineage, error) {
	key := string(nameKey(name))
	if l := tx.lineages[key]; l != nil {
		return l, nil
	}
	l := &lineage{tx: tx, name: name, nodes: map[record.Ref]*node{}}
	events, err := tx.History(name)
	for _, e := range events {
		l.play(e)
	}
	if err != nil || len(l.nodes) < lineageLeast {
		return l, err
	}
	kept := len(l.nodes)
	for _, other := range tx.lineages {
		kept += len(other.nodes)
	}
	if kept > lineageMost || tx.lineages == nil {
		tx.lineages = map[string]*lineage{}
	}
	tx.lineages[key] = l
	return l, nil
}

// play adds what has happened to the name. It reports false if it must be read anew instead.
func (l *lineage) play(e Event) bool {
	n := l.nodes[e.Ref]
	switch l.isDecided = false; {
	case e.Change == ChangeRetire, e.Change == changeResolve:
		if n != nil {
			n.gone = true
		}
		return true
	case e.Change == changeConflict, e.Change == changeHeir:
		return true
	case n != nil && n.isNamed:
		return n.isLost == l.tx.IsDropped(e.Ref) && n.isHere == (l.tx.raw(e.Ref) != nil)
	case e.Position < l.last.Position:
		return false
	case n != nil:
		l.look(n)
	default:
		n = l.node(e.Ref)
	}
	n.isNamed, n.isLost = true, l.tx.IsDropped(e.Ref)
	if n.Time.IsZero() && l.last.Position > 0 { // destroyed before traces were kept
		n.Follows = []record.Ref{l.last.Ref}
	}
	l.last = e
	if !n.Merged && !n.isLost {
		l.tips = append(l.tips, n)
	}
	l.pass(n, n.followed || !n.Merged && !n.isLost, n.under || !n.Merged && n.isLost)
	return true
}

// node returns a version of the name, or one on the way to it that is not here.
func (l *lineage) node(ref record.Ref) *node {
	n := l.nodes[ref]
	if n == nil {
		n = &node{ref: ref}
		l.nodes[ref] = n
		if l.read(n); n.Time.IsZero() {
			l.unknown = append(l.unknown, n)
		}
	}
	return n
}

func (l *lineage) read(n *node) {
	if r := l.tx.raw(n.ref); r != nil {
		n.Trace, n.isHere, n.body = TraceOf(r), true, r.Body
	} else {
		n.Trace, _ = l.tx.Trace(n.ref)
	}
}

// look reads again what is known of a version that others were known to go on from.
func (l *lineage) look(n *node) {
	wasKnown := !n.Time.IsZero()
	l.read(n)
	if !wasKnown {
		for _, other := range l.nodes {
			other.after = time.Time{}
		}
	}
	l.seenBy, l.isDecided = nil, false
	l.pass(n, n.followed, n.under)
}

// lose notes that a version is destroyed. It reports false if the name must be read anew.
func (l *lineage) lose(ref record.Ref) bool {
	n := l.nodes[ref]
	if n == nil || !n.isNamed || !n.followed || n.Time.IsZero() {
		return n == nil
	}
	n.isLost, n.isHere, n.body, n.said = true, false, record.Digest{}, record.Digest{}
	l.seenBy, l.isDecided = nil, false
	l.pass(n, true, n.under || !n.Merged)
	return true
}

// visit calls each with what a version goes on from, and so on behind those for which it says so.
func (l *lineage) visit(n *node, each func(*node) bool) {
	for todo := []*node{n}; len(todo) > 0; {
		last := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, ref := range last.Follows {
			if before := l.node(ref); each(before) {
				todo = append(todo, before)
			}
		}
	}
}

// collect adds what a version goes on from to a set, and returns what was not in it.
func (l *lineage) collect(n *node, all map[*node]bool) (added []*node) {
	l.visit(n, func(n *node) bool {
		if all[n] {
			return false
		}
		all[n], added = true, append(added, n)
		return true
	})
	return added
}

// pass marks all that a version goes on from.
func (l *lineage) pass(n *node, followed, under bool) {
	l.visit(n, func(n *node) bool {
		isNew := followed && !n.followed || under && !n.under
		n.followed, n.under = n.followed || followed, n.under || under
		return isNew
	})
}

// leaves returns the versions that no other one goes on from, the last one first. What is destroyed
// is none, since no other store may know its name; but what it went on from is gone with it.
func (l *lineage) leaves() []*node {
	l.tips = slices.DeleteFunc(l.tips, func(n *node) bool { return n.followed })
	for _, n := range l.tips {
		n.gone = n.gone || n.under
		l.date(n)
	}
	slices.SortFunc(l.tips, func(a, b *node) int { return cmp.Or(b.after.Compare(a.after), bytes.Compare(b.ref[:], a.ref[:])) })
	return slices.Clone(l.tips)
}

// date gives a version a time that is later than those of all that it goes on from: who goes on
// from a text has seen it, whatever the clocks say.
func (l *lineage) date(n *node) {
	if !n.after.IsZero() {
		return
	}
	for todo := []*node{n}; len(todo) > 0; {
		n := todo[len(todo)-1]
		after, isAgain := n.Time, n.isOpen
		n.isOpen = true
		for _, ref := range n.Follows {
			switch before := l.node(ref); {
			case !before.after.IsZero() && !before.after.Before(after):
				after = before.after.Add(1)
			case before.after.IsZero() && !before.isOpen && !isAgain: // an open one is a circle, which no digest allows
				todo = append(todo, before)
			}
		}
		if todo[len(todo)-1] == n {
			n.after, n.isOpen, todo = cmp.Or(n.after, after, time.Unix(0, 0)), false, todo[:len(todo)-1]
		}
	}
}

// decide returns the version that counts, nil if there is none at all, and those that are in conflict
// with it. Where the one that counts was retired the name has no head, and others are in conflict
// with that.
func (l *lineage) decide() (first *node, rivals []*node) {
	if l.isDecided {
		return l.first, l.rivals
	}
	l.isDecided, l.first, l.rivals = true, nil, nil
	for i, n := range l.leaves() {
		if i == 0 {
			l.first = n
		} else if n.isHere && !n.gone && !l.agree(l.first, n) && !l.isBack(n) {
			l.rivals = append(l.rivals, n)
		}
	}
	return l.first, l.rivals
}

// isFirst reports whether a version is the one that counts, be it gone or not.
func (tx *Tx) isFirst(v Version) (bool, error) {
	l, err := tx.lineage(v.Record.Name)
	if err != nil {
		return false, err
	}
	first, _ := l.decide()
	return first != nil && first.ref == v.Ref, nil
}

func (l *lineage) isRival(ref record.Ref) bool {
	_, rivals := l.decide()
	return slices.ContainsFunc(rivals, func(n *node) bool { return n.ref == ref })
}

// agree reports whether two versions say the same: entries of a file come and go by themselves,
// so of its frame the words count.
func (l *lineage) agree(a, b *node) bool {
	return a.isHere && b.isHere && (a.body == b.body || l.says(a) == l.says(b))
}

// says returns what is the same for two versions that agree.
func (l *lineage) says(n *node) record.Digest {
	if n.said == (record.Digest{}) {
		n.said = n.body
		if l.name.Kind == record.KindFrame {
			if words, err := l.words(n); err == nil {
				n.said = record.DigestOf([]byte("words " + words))
			}
		}
	}
	return n.said
}

func (l *lineage) words(n *node) (string, error) {
	content, err := l.tx.Content(l.tx.raw(n.ref))
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

// isBack reports whether a version says what one has said that the version which counts goes on from,
// without having come back to it: then it has changed nothing. What a store has made by itself says
// nothing.
func (l *lineage) isBack(n *node) bool {
	if l.seenBy == nil || l.seenBy != l.first && !slices.Contains(l.first.Follows, l.seenBy.ref) {
		l.above, l.seen = map[*node]bool{}, map[record.Digest][]*node{}
	}
	if l.seenBy != l.first {
		l.seenBy = l.first
		for _, n := range l.collect(l.first, l.above) {
			if !n.Merged && n.isHere {
				l.seen[l.says(n)] = append(l.seen[l.says(n)], n)
			}
		}
	}
	like := l.seen[l.says(n)]
	if len(like) == 0 {
		return false
	}
	own := map[*node]bool{}
	l.collect(n, own)
	return slices.ContainsFunc(like, func(n *node) bool { return !own[n] })
}

// Leaves returns the version of a name that counts, also if it was retired, whatever this store has
// made of it by itself, and others that nobody has gone on from. ok: it is here and current.
func (tx *Tx) Leaves(name record.Name) (first Version, others []Version, ok bool, err error) {
	l, err := tx.lineage(name)
	if err != nil {
		return first, nil, false, err
	}
	for i, n := range l.leaves() {
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

// reweigh lists the conflicts of a name anew, if it has some, or may have.
func (tx *Tx) reweigh(name record.Name, mayHave bool) error {
	if !mayHave && !tx.hasRivals(name) {
		return nil
	}
	l, err := tx.lineage(name)
	if err != nil {
		return err
	}
	return l.list()
}

// list lists the conflicts of a name. If it has no head, what is put next goes on from the version that counts.
func (l *lineage) list() error {
	first, rivals := l.decide()
	entry, err := l.tx.name(l.name)
	if first != nil && first.gone && entry.state == stateRetired && entry.ref != first.ref {
		err = errors.Join(err, l.tx.names.Put(nameKey(l.name), nameEntry{stateRetired, first.ref, entry.position}.encode()))
	}
	missing := make(map[record.Ref]*node, len(rivals))
	for _, n := range rivals {
		missing[n.ref] = n
	}
	var stale [][]byte
	prefix := lookupPrefix(FieldConflict, l.name.String())
	c := l.tx.lookups.Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix) && len(k) == len(prefix)+positionSize; k, v = c.Next() {
		if ref := record.Ref(v); missing[ref] != nil {
			delete(missing, ref)
		} else if r := l.tx.raw(ref); r == nil || !r.IsConflict() {
			stale = append(stale, bytes.Clone(k))
		}
	}
	for _, k := range stale {
		err = errors.Join(err, l.tx.lookups.Bucket.Delete(k))
	}
	for ref, n := range missing {
		err = errors.Join(err, l.tx.lookups.Bucket.Put(l.rivalKey(n), ref[:]))
	}
	for _, n := range l.unknown { // what will be told of them may decide otherwise
		if n.Time.IsZero() {
			err = errors.Join(err, l.tx.absent.Put(append(bytes.Clone(n.ref[:]), nameKey(l.name)...), isAwaited))
		}
	}
	l.unknown = nil
	return err
}

// rivalKey is where a version is listed that is in conflict with the one that counts.
func (l *lineage) rivalKey(n *node) []byte {
	position, _ := l.tx.stored(n.ref)
	return appendPosition(lookupPrefix(FieldConflict, l.name.String()), position)
}

// hasRivals reports whether a name has open conflicts, whose look-ups never wait.
func (tx *Tx) hasRivals(name record.Name) bool {
	prefix := lookupPrefix(FieldConflict, name.String())
	k, _ := tx.lookups.Cursor().Seek(prefix)
	return bytes.HasPrefix(k, prefix)
}

// isShared reports whether a version of a name may have come from another store.
func (tx *Tx) isShared(name record.Name) bool {
	k, _ := tx.meta.Cursor().Seek(metaHeard(""))
	return bytes.HasPrefix(k, metaHeard("")) || tx.hasRivals(name)
}

// Kept lineages are those of the last transaction that this process has written.
type keptLineages struct {
	next     int // the number of the one that may go on from them
	file     string
	chain    record.Digest
	lineages map[string]*lineage
}

// goOn gives the lineages of the last transaction to the one that comes next, if nobody has written between.
func (tx *Tx) goOn(kept *keptLineages) {
	if kept == nil || kept.next != tx.meta.Tx().ID() || kept.file != tx.file || kept.chain != tx.chain {
		return
	}
	tx.lineages = kept.lineages
	for _, l := range tx.lineages {
		l.tx = tx
	}
}

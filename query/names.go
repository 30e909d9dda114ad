package query

import (
	"context"
	"iter"
	"path"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

const (
	maxNear   = 10                     // names worth showing
	nearLimit = 300 * time.Millisecond // an error message is not worth more
)

// near returns the names that a text which names nothing may have meant: the
// same id in another tree or kind first, then the same last segment.
func (r *Reader) near(ctx context.Context, text string) ([]record.Name, error) {
	var same, similar []record.Name
	id, base := "/"+strings.ReplaceAll(text, ":", "/"), baseKey(text)
	end := time.Now().Add(nearLimit)
	err := r.eachName(ctx, record.Name{}, func(n store.NamedRef) bool {
		switch {
		case strings.HasSuffix(id, "/"+n.Name.ID):
			same = append(same, n.Name)
		case base != "" && isNear(baseKey(n.Name.ID), base) && len(similar) < maxNear:
			similar = append(similar, n.Name)
		}
		return len(same) < maxNear && time.Now().Before(end)
	})
	found := append(same, similar...)
	return found[:min(len(found), maxNear)], err
}

// eachName calls visit with each current name that is not before a given one, in
// slices, until it says not to go on.
func (r *Reader) eachName(
	ctx context.Context, last record.Name, visit func(n store.NamedRef) (more bool),
) error {
	begun := false
	names := func(tx *store.Tx) iter.Seq2[store.NamedRef, error] { return tx.Names(last) }
	return eachFrom(ctx, r, names, func(_ *store.Tx, n store.NamedRef) (bool, error) {
		if begun && n.Name == last {
			return false, nil // it ended the slice before
		}
		last, begun = n.Name, true
		return !visit(n), nil
	})
}

// baseKey is what two spellings of a file's name have in common.
func baseKey(text string) string {
	return strings.TrimSuffix(layout.TaskID(strings.ToLower(path.Base(text))), ".md")
}

// numbered is the name of a file with its number, or what means one: 0007-cache, decision-1 - cache, ADR-7.
var numbered = layout.Pattern(`^(?:([a-z]+)-)?0*(\d[\d.]*)([-_ ].*|\.\D.*)?$`)

// isNear reports whether a file's name is one that was asked for, or has its number.
func isNear(name, asked string) bool {
	is, of := numbered().FindStringSubmatch(name), numbered().FindStringSubmatch(asked)
	if is == nil || of == nil || is[2] != of[2] || of[3] != "" {
		return name == asked
	}
	isAny := func(series string) bool { return series == "" || series == "task" || series == "adr" }
	return is[1] == of[1] || isAny(is[1]) && isAny(of[1])
}

// Complete returns up to limit names that begin with what was typed: own names
// as kind/id, others as tree:kind/id.
func (r *Reader) Complete(ctx context.Context, typed string, limit int) ([]string, error) {
	var found []string
	end := time.Now().Add(nearLimit)
	err := r.eachName(ctx, record.Name{}, func(n store.NamedRef) bool {
		if name := n.Name.String(); strings.HasPrefix(name, typed) {
			found = append(found, name)
		}
		return len(found) < limit && time.Now().Before(end)
	})
	return found, err
}

// Glob returns the current versions whose names, kind/id or tree:kind/id, match a
// pattern as path.Match has it: "*" stands for any characters but a slash. They
// come in the order of tree, kind and id. A malformed pattern is record.Usage.
func (r *Reader) Glob(ctx context.Context, pattern string) ([]store.Version, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, &record.Error{Code: record.Usage, Err: err}
	}
	prefix := pattern
	const globMeta = `*?[\` // the characters that make a text a pattern
	if meta := strings.IndexAny(pattern, globMeta); meta >= 0 {
		prefix = pattern[:meta]
	}
	var found []store.Place
	err := r.eachName(ctx, firstName(prefix), func(n store.NamedRef) bool {
		name := n.Name.String()
		if matched, _ := path.Match(pattern, name); matched { // the pattern is well-formed
			found = append(found, n.Place)
		}
		return !strings.Contains(prefix, "/") || strings.HasPrefix(name, prefix)
	})
	if err != nil {
		return nil, err
	}
	return r.versions(ctx, found)
}

// firstName returns the first name, in the store's order, that can begin with a
// prefix. Only one with a whole kind says more than nothing.
func firstName(prefix string) record.Name {
	head, id, found := strings.Cut(prefix, "/")
	if !found {
		return record.Name{}
	}
	tree, kind, captured := strings.Cut(head, ":")
	if !captured {
		tree, kind = "", head
	}
	return record.Name{Tree: record.Tree(tree), Kind: record.Kind(kind), ID: id}
}

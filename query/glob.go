package query

import (
	"context"
	"path"
	"strings"

	"filebus/store"
	"filebus/store/record"
)

// globMeta are the characters that make a text a pattern.
const globMeta = `*?[\`

// Glob returns the current versions whose names, kind/id or tree:kind/id, match a
// pattern as path.Match has it: "*" stands for any characters but a slash. They
// come in the order of tree, kind and id. A malformed pattern is record.Usage.
func (r *Reader) Glob(ctx context.Context, pattern string) ([]store.Version, error) {
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, &record.Error{Code: record.Usage, Err: err}
	}
	prefix := pattern
	if meta := strings.IndexAny(pattern, globMeta); meta >= 0 {
		prefix = pattern[:meta]
	}
	var refs []record.Ref
	err := r.eachName(ctx, firstName(prefix), func(_ *store.Tx, n store.NamedRef) (bool, error) {
		name := n.Name.String()
		if matched, _ := path.Match(pattern, name); matched { // the pattern is well-formed
			refs = append(refs, n.Ref)
		}
		return !strings.Contains(prefix, "/") || strings.HasPrefix(name, prefix), nil
	})
	if err != nil {
		return nil, err
	}
	var found []store.Version
	err = r.eachVersion(ctx, refs, func(_ *store.Tx, v store.Version) bool {
		found = append(found, v)
		return false
	})
	return found, err
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

package query

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

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
	wanted := nearIDs(text)
	base := baseKey(text)
	end := time.Now().Add(nearLimit)
	err := r.eachName(ctx, record.Name{}, func(_ *store.Tx, n store.NamedRef) (bool, error) {
		switch {
		case slices.Contains(wanted, n.Name.ID):
			same = append(same, n.Name)
		case base != "" && baseKey(n.Name.ID) == base && len(similar) < maxNear:
			similar = append(similar, n.Name)
		}
		return len(same) < maxNear && time.Now().Before(end), nil
	})
	found := append(same, similar...)
	return found[:min(len(found), maxNear)], err
}

// eachName calls visit with each current name that is not before a given one, in
// slices, until it says not to go on.
func (r *Reader) eachName(
	ctx context.Context, last record.Name, visit func(tx *store.Tx, n store.NamedRef) (more bool, err error),
) error {
	begun := false
	return r.InSlices(ctx, func(tx *store.Tx) (bool, error) {
		end := time.Now().Add(storeSlice)
		for n, err := range tx.Names(last) {
			if err != nil {
				return false, err
			}
			if begun && n.Name == last {
				continue // it ended the slice before
			}
			last, begun = n.Name, true
			if more, err := visit(tx, n); !more || err != nil {
				return true, err
			}
			if time.Now().After(end) {
				return false, nil
			}
		}
		return true, nil
	})
}

// nearIDs returns the ids that text may hold, with or without a tree, a kind and
// the prefix of tasks.
func nearIDs(text string) []string {
	ids := []string{text}
	if _, rest, found := strings.Cut(text, ":"); found {
		ids = append(ids, rest)
	}
	for _, id := range slices.Clone(ids) {
		if kind, rest, found := strings.Cut(id, "/"); found {
			if _, err := record.ParseKind(kind); err == nil {
				ids = append(ids, rest)
			}
		}
	}
	for _, id := range slices.Clone(ids) {
		if isNumber(id) {
			ids = append(ids, "task-"+id)
		}
	}
	return ids
}

// baseKey is what two spellings of a file's name have in common.
func baseKey(text string) string {
	base := strings.ToLower(path.Base(text))
	if isNumber(base) {
		base = "task-" + base
	}
	return strings.TrimSuffix(base, ".md")
}

// Complete returns up to limit names that begin with what was typed: own names
// as kind/id, others as tree:kind/id.
func (r *Reader) Complete(ctx context.Context, typed string, limit int) ([]string, error) {
	var found []string
	end := time.Now().Add(nearLimit)
	err := r.eachName(ctx, record.Name{}, func(_ *store.Tx, n store.NamedRef) (bool, error) {
		if name := n.Name.String(); strings.HasPrefix(name, typed) {
			found = append(found, name)
		}
		return len(found) < limit && time.Now().Before(end), nil
	})
	return found, err
}

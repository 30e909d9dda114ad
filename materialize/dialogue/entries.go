package dialogue

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// elsewhere is how the ids of records begin whose files lie under paths that are not
// canonical.
const elsewhere = "~/"

// kinds are those of a dialogue's records.
func kinds() []record.Kind { return []record.Kind{record.KindTurn, record.KindDialogue} }

// entries lists the records of dialogues of all trees, newest first. Each kind is
// looked up by itself: what else the store holds is not read.
func (f *Forum) entries(ctx context.Context) (all []query.Summary, err error) {
	for _, kind := range kinds() {
		listing, err := f.read.List(ctx, query.ListRequest{Filter: record.Filter{Kinds: []record.Kind{kind}}})
		if err != nil {
			return nil, err
		}
		all = append(all, listing.Entries...)
	}
	slices.SortFunc(all, newestFirst)
	return all, nil
}

func newestFirst(a, b query.Summary) int { return cmp.Compare(b.Version.Position, a.Version.Position) }

// entriesBelow lists the records of one dialogue, newest first, and reads no others but
// those whose paths are not canonical.
func (f *Forum) entriesBelow(ctx context.Context, key Key) (all []query.Summary, err error) {
	err = f.w.Store.View(ctx, func(tx *store.Tx) error {
		for _, kind := range kinds() {
			for _, prefix := range []string{key.ID + "/", elsewhere} {
				some, err := startingWith(tx, record.Name{Tree: key.Tree, Kind: kind, ID: prefix})
				if err != nil {
					return err
				}
				all = append(all, some...)
			}
		}
		return nil
	})
	all = slices.DeleteFunc(all, func(e query.Summary) bool {
		of, _, found := cutKey(e)
		return !found || of != key
	})
	slices.SortFunc(all, newestFirst)
	return all, err
}

// startingWith returns the records whose names begin as one does.
func startingWith(tx *store.Tx, from record.Name) (all []query.Summary, err error) {
	for n, err := range tx.Names(from) {
		if err != nil {
			return nil, err
		}
		if n.Name.Tree != from.Tree || n.Name.Kind != from.Kind || !strings.HasPrefix(n.Name.ID, from.ID) {
			return all, nil
		}
		v, err := tx.Get(n.Ref)
		if err != nil {
			return nil, err
		}
		all = append(all, query.Summarize(tx, v))
	}
	return all, nil
}

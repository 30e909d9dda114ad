package result

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"filebus/materialize"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// sumsFile has what was counted of conversations, in the store's folder. It can be deleted.
const (
	sumsFile    = "conversations.json"
	sumsVersion = "1 " // raised when something else is counted
	maxSums     = 256 << 20
	fewChanged  = 100 // conversations that are counted one by one; of more, all results are read
)

// keptSums are conversations by id.
type keptSums struct {
	As string         `json:"as"` // the version, and the folder of the files that references name
	Of map[string]sum `json:"of"`
}

// A sum is the conversations of one id, one a tree, as of the heads that look-ups have of it.
type sum struct {
	Heads  int    `json:"heads"`
	Places uint64 `json:"places"`
	Talks  []talk `json:"talks,omitempty"`
}

// sums returns all conversations. Those that have other heads than when this or another process has counted them are
// counted anew, and kept: the others are not read.
func sums(ctx context.Context, w *materialize.Workspace, read *query.Reader) (all []talk, err error) {
	own, kept, now := folder.At(w.Location.Store), keptSums{}, keptSums{sumsVersion + w.Root, map[string]sum{}}
	text, _ := own.ReadUpTo(sumsFile, maxSums) // there may be none
	if json.Unmarshal(text, &kept) != nil || kept.As != now.As {
		kept = keptSums{}
	}
	values, err := read.Values(ctx, store.FieldConversation, "")
	var changed []string
	for _, v := range values {
		s := kept.Of[v.Text]
		if s.Heads != v.Count || s.Places != v.Places {
			s, changed = sum{Heads: v.Count, Places: v.Places}, append(changed, v.Text)
		}
		now.Of[v.Text] = s
	}
	isNew := len(changed) > 0 || len(now.Of) != len(kept.Of)
	add := func(field store.Field, value string, isWanted func(id string) bool) {
		talks, countErr := count(ctx, w, read, field, value, isWanted)
		for _, t := range talks {
			s := now.Of[t.ID]
			s.Talks = append(s.Talks, t)
			now.Of[t.ID] = s
		}
		err = errors.Join(err, countErr)
	}
	if len(changed) > fewChanged {
		add(store.FieldKind, string(record.KindResult), func(id string) bool {
			_, found := slices.BinarySearch(changed, id)
			return found
		})
		changed = nil
	}
	for _, id := range changed {
		add(store.FieldConversation, id, func(of string) bool { return of == id })
	}
	if isNew && err == nil {
		text, _ = json.Marshal(now)            // numbers and texts have a JSON form
		_ = own.Replace(sumsFile, text, false) // where nothing can be written they are counted again
	}
	for _, s := range now.Of {
		all = append(all, s.Talks...)
	}
	return all, err
}

package materialize

import (
	"context"
	"path/filepath"

	"filebus/store"
)

// removeFolder removes the folder of a conversation once it is empty and no
// result stands in it. A result is stored before its file is written, and its
// folder is made after that: so none can lose its folder here, as long as the
// store is held while the folder goes. This one call is all that is done to the
// disk in that transaction.
func (m *mirror) removeFolder(ctx context.Context, folder string) error {
	root, name, err := m.place(ctx, folder+"/-")
	if err != nil {
		return err
	}
	name = filepath.Dir(name)
	if info, err := root.Lstat(name); err != nil || !info.IsDir() || name == "." {
		return nil // gone already, or a link that somebody has put there
	}
	return m.w.Store.View(ctx, func(tx *store.Tx) error {
		for _, err := range tx.Values(store.FieldPath, store.PathValue("", folder+"/")) {
			return err // something stands there
		}
		_ = root.Remove(name) // it may hold files of others: then it stays
		return nil
	})
}

package materialize

import (
	"context"

	"filebus/store"
)

// removeFolder removes the folder of a conversation once it is empty and no
// result stands in it. A result is stored before its file is written, and its
// folder is made after that: so none can lose its folder here, as long as the
// store is held while the folder goes. This one call is all that is done to the
// disk in that transaction.
func (r *reconciler) removeFolder(ctx context.Context, folder string) error {
	return r.RemoveFolder(ctx, folder+"/-", func(remove func()) error {
		return r.w.Store.View(ctx, func(tx *store.Tx) error {
			for _, err := range tx.Values(store.FieldPath, store.PathValue("", folder+"/")) {
				return err // something stands there
			}
			remove()
			return nil
		})
	})
}

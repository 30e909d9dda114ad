package result

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

// takenError says that there is a result with the ids that a call was given.
func takenError(name record.Name, ref record.Ref) error {
	return record.Conflict.Errorf("%s is there already (%s), and results are written once: nothing was run",
		name, ref.Short()).Because(ErrTaken, ref.Short())
}

// maxID is the longest id of a conversation or a call, in bytes: they become names
// of files, of which few disks take more than 255.
const maxID = 200

// resultName returns the name of a result whose ids may come from anywhere.
func resultName(conversation, call string) (record.Name, error) {
	id, err := Call{Conversation: conversation, ID: call}.id()
	if err != nil {
		return record.Name{}, err
	}
	if len(conversation) > maxID || len(call) > maxID {
		return record.Name{}, record.Usage.Errorf("%w: the ids of a conversation and a call have at most %d bytes each",
			ErrCall, maxID)
	}
	name, err := record.NewName("", record.KindResult, id)
	if err != nil {
		return name, record.Usage.Errorf("%w: %w", ErrCall, err)
	}
	for _, folder := range []string{".git", materialize.StoreFolder} {
		if strings.EqualFold(conversation, folder) {
			return name, record.Usage.Errorf("%w: the conversation %q is %w", ErrCall, conversation,
				materialize.ErrProtected)
		}
	}
	return name, nil
}

// mayStore finds out before a command runs whether its result can have its ids.
func mayStore(ctx context.Context, w *materialize.Workspace, c Call, newConversation bool) error {
	name, err := resultName(c.Conversation, c.ID)
	if err != nil {
		return err
	}
	if err := w.MayPut(ctx, name.ID); err != nil {
		return err
	}
	file, err := w.PathOf(name)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s cannot be written: %w", name, err)
	}
	return w.Store.View(ctx, func(tx *store.Tx) error {
		head, err := tx.Head(name)
		if err == nil {
			return takenError(name, head.Ref)
		}
		if !errors.Is(err, store.ErrNotFound) || !newConversation {
			return ignoreNotFound(err)
		}
		for ref, err := range tx.Lookup(store.FieldConversation, c.Conversation) {
			if err != nil {
				return err
			}
			return takenError(name, ref)
		}
		return nil
	})
}

func ignoreNotFound(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

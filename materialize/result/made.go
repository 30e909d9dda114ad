package result

import (
	"context"
	"errors"
	"slices"

	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// What filebus itself makes of stored texts, combined texts and documents, is the
// same result when it is made again.

// madeBefore returns the results that were made from the versions of the call, in
// its order, by its agent and in one way: those of its conversation or, if that is
// to be made, of all. Tags that were added later do not count.
func (c Call) madeBefore(ctx context.Context, read *query.Reader, source record.Source) ([]*record.Record, error) {
	agent := c.Facts().Agent
	field, value := store.FieldConversation, c.Conversation
	if value == "" {
		field, value = store.FieldAgent, agent
	}
	var found []*record.Record
	var failed error
	err := read.Each(ctx, field, value, func(tx *store.Tx, v store.Version) bool {
		r := v.Record
		if r.Name.Tree != "" || r.Name.Kind != record.KindResult || r.Agent != agent || !slices.Equal(r.From, c.From) {
			return false
		}
		first, err := query.FirstOf(tx, v)
		if err == nil && first.Record.Source == source {
			found = append(found, r)
		}
		failed = err
		return err != nil
	})
	return found, errors.Join(err, failed)
}

// idOfText returns the id of the first of some results that has a text, or "".
func idOfText(results []*record.Record, text record.Digest) string {
	for _, r := range results {
		if r.Body == text {
			return r.Name.ID
		}
	}
	return ""
}

// usableConversation returns the conversation of a source if it can be that of a
// result, else "".
func usableConversation(id string) string {
	if _, err := resultName(id, "x"); err != nil {
		return ""
	}
	return id
}

package store

import (
	"iter"

	"filebus/store/record"
)

// NamesEver returns the names from the given one on to which anything ever
// happened, in the order of tree, kind and id: also those that have no current
// version any more, or whose contents were destroyed. It ends after the first
// error.
func (tx *Tx) NamesEver(from record.Name) iter.Seq2[record.Name, error] {
	return func(yield func(record.Name, error) bool) {
		c := tx.history.Cursor()
		for k, v := c.Seek(nameKey(from)); k != nil; {
			name, _, err := decodeHistory(k, v)
			if !yield(name, err) || err != nil {
				return
			}
			k, v = c.Seek(after(historyPrefix(nameKey(name))))
		}
	}
}

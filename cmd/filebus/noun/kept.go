package noun

import (
	"crypto/sha256"
	"sync"

	"filebus/materialize/layout"
)

// A Kept is what a process that goes on has read of entries: of their versions, which never change, and of the texts of files.
// A nil one keeps nothing.
type Kept struct {
	mu  sync.Mutex
	all map[[sha256.Size]byte]any
}

// mostKept bounds how many entries and files are kept.
const mostKept = 50_000

func (k *Kept) get(key [sha256.Size]byte) (value any, found bool) {
	if k == nil {
		return nil, false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	value, found = k.all[key]
	return value, found
}

func (k *Kept) put(key [sha256.Size]byte, value any) {
	if k == nil {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.all) >= mostKept || k.all == nil {
		k.all = map[[sha256.Size]byte]any{} // what is asked for now comes again
	}
	k.all[key] = value
}

// problems returns the problems of a file's text, which is read once.
func (k *Kept) problems(format layout.Aggregate, path string, text []byte) []*layout.SyntaxError {
	if k == nil {
		_, problems := format.Parse(path, text)
		return problems
	}
	key := sha256.Sum256(append([]byte(path+"\x00"), text...))
	kept, found := k.get(key)
	if !found {
		_, kept = format.Parse(path, text)
		k.put(key, kept)
	}
	return kept.([]*layout.SyntaxError)
}

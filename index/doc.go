// Package index is the full-text index of the store: a Bleve index (its scorch
// engine) that receives finished documents, one per name, and answers ranked,
// filtered searches. It never sees the store and can be deleted at any time.
//
// The main types are Writer, which applies changes together with the log
// position they lead to; Index, a read-only view to search; and Analyzer, the
// one way text becomes terms, on both sides and for whoever marks words in a
// text.
//
// On disk there is one folder per generation and a file CURRENT that names the
// one in use. A generation that belongs to another store, has another format
// or is damaged is never repaired: OpenWriter begins a new one at position 0.
// New segments of the index are written here, in Bleve's format; reading, merging
// and keeping them is Bleve's.
//
// The package does no locking between processes. Its caller holds a lock,
// shared for Open, Search and Verify and exclusive for OpenWriter, Apply and
// Remove. A lock that somebody else holds anyway ends in ErrBusy, never in a
// wait without end, and is never taken for damage.
package index

// Package query is the read side of filebus: it finds records by what a user
// types, by text, by tag and by their envelope, and reads bodies whole or in
// part. It never changes the store.
//
// The main type is Reader. Its Search owns the index: before it answers it
// brings the index up to the store's log, in slices between which other
// processes get their turn. Everything else answers from the store alone, so it
// works without an index and is never behind.
//
// Locks are taken in the order index, store. A Reader holds none between calls
// and is safe for use by several goroutines. No read transaction lasts much
// longer than 50 ms: long answers are put together from several, so records
// that change meanwhile may be seen as they were or as they are.
package query

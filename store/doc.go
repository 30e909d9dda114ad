// Package store holds the records of one workspace: an immutable,
// content-addressed set of versions under names, with a chained log of every
// change, in one bbolt database, and large bodies as files beside it.
//
// Every View and Update passes the turnstile and runs one transaction, so any number of
// processes use a store at once without a daemon. Nothing is locked between them; a View
// leaves its mapping of the database to the next one for a second, which takes it if the
// file is still the same. Work that takes time, such as hashing,
// compressing and parsing, belongs before the Update: see Prepare. Inside a
// transaction there is no I/O and no unbounded work.
//
// Every read verifies the digest of what it returns; Check verifies everything.
// The format, with the invariants it keeps, is specified in docs/format.md.
package store

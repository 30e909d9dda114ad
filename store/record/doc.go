// Package record is the vocabulary of filebus: what a record is, how it is
// named, and the canonical bytes that its Ref is the digest of.
//
// The main types are Record, the envelope of one stored text; Ref, the digest
// of that envelope; and Name, the thing a record is a version of. Description
// holds what is derived from a body and can be made again.
//
// The package does no I/O and keeps no state. The encoding is specified in
// docs/format.md; it is stored, so it changes only by adding fields.
package record

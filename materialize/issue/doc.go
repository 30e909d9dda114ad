// Package issue has the rules of the issue queue: what may follow what, who works
// on an issue and for how long, which one comes next, and which new one is likely
// to be known already. docs/issues.md has the table of transitions.
//
// A Queue reads the issues of a workspace's own tree and changes them in their
// file, one change at a time: what an agent has written there by hand is taken in
// first, and only the fields that change get other bytes. Ids are allocated, and
// claims are made, within such a change, so that no two processes get the same.
//
// The package keeps no state of its own: a claim is rows of its issue, which file
// readers see too.
package issue

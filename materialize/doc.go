// Package materialize is the write side of filebus: put and edit, capture of whole
// folders, sync of a workspace's files with the store in both directions, conflicts,
// and laying records out again as the exact files they came from.
//
// A Workspace is the folder that holds a store; its files are the store's mirror.
// Every write goes to the store first and to the file after it, so a crash leaves
// work to be done again, never a reference to something missing. What a file means
// for the store is package plan's to say, how it is replaced package mirror's, and
// what may be destroyed package release's. A reconciler puts these together for one
// path: whatever writes a file goes through it, under the mirror lock.
package materialize

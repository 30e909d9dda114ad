// Package run holds the rules of an orchestrator's run: its session state, with
// loops and agents, the snapshots that are kept of each loop, and the status that
// an orchestrator asks for.
//
// A [Book] is the session state of a workspace. Every change of it is one edit of
// its file, in the form that the file is written in, so any number of processes
// may change it at once. The state never holds what an agent wrote: a text that is
// too long for it is a [TooLongError], with the command that stores it.
//
// The changes of a loop are counted from what was noted when it began, see
// [layout.LoopStart]. In a git repository that is a tree of git with all files
// that git does not ignore. It is written with an index and an object folder of
// its own: the user's index, objects and refs are never touched.
package run

// Package task has the rules of tasks: how one is started, what may be noted,
// what a handoff must say before a task counts as ended, and how somebody waits
// for that.
//
// A Board works on the journals and markers of a workspace's own tree. The
// journal is an ordinary file, which an agent may write by hand at the same time:
// every change takes in what stands there first and changes the bytes that it is
// about. The marker is written last, when the journal can be read; a start takes
// an old one away first, so that it never announces the new task.
//
// The package keeps no state of its own. What a task is, its files say.
package task

// Package result has the rules of results: the full output of one call of a
// sub-agent, stored once, for which the parent agent gets a reference.
//
// Put stores an output that is there, Exec runs the command that makes one, and
// Combine joins several. All of them answer with a Stored, whose Reference is the
// same four keys whatever the agent was. Conversations groups results by the run
// of the parent that they belong to, and Budget says what its context was spared.
//
// The package writes through materialize alone and keeps no state of its own.
package result

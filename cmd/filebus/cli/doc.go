// Package cli is what every command stands on: what it sees of the world, its flags and
// arguments, how it opens a workspace, and how it prints what it has found.
package cli

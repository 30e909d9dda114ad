//go:build !filebus_profile

package main

// profiled runs the command line: only a program that is built with the tag
// filebus_profile writes profiles of it.
func profiled(run func() int) int { return run() }

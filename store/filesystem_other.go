//go:build !linux

package store

// checkFS accepts every folder: here the system does not tell what lies below.
func checkFS(string) error { return nil }

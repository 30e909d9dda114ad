// Package filebus holds what belongs to the project as a whole: the sample
// workspace that "filebus demo" plays with, the page of the commands that
// "filebus help" reads, and the tests that hold the house rules, such as who
// may import whom.
//
// The program is cmd/filebus; docs/architecture.md is the map of the packages.
package filebus

import (
	"embed"
	"io/fs"
)

var (
	//go:embed all:testdata/workspace
	sample embed.FS

	//go:embed docs/cli.md
	commandLine string
)

// CommandLine returns docs/cli.md: what there is to say of each command and flag.
func CommandLine() string { return commandLine }

// Sample returns testdata/workspace, a small project whose agents left files of every
// kind.
func Sample() (fs.FS, error) { return fs.Sub(sample, "testdata/workspace") }

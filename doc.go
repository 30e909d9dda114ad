// Package filebus holds what belongs to the project as a whole: the sample
// workspace that "filebus demo" plays with, the page of the commands that
// "filebus help" reads, and the tests that hold the house rules, such as who
// may import whom.
//
// The program is cmd/filebus; docs/architecture.md is the map of the packages.
package filebus

import (
	"bytes"
	"compress/gzip"
	"embed"
	"io"
	"io/fs"
)

var (
	//go:embed all:testdata/workspace
	sample embed.FS

	//go:embed docs/cli.md.gz
	commandLine []byte
)

//go:generate gzip -9 -k -n -f docs/cli.md

// CommandLine returns docs/cli.md: what there is to say of each command and flag. It is packed in the
// binary: after a change of it, "go generate" packs it anew.
func CommandLine() (string, error) {
	r, err := gzip.NewReader(bytes.NewReader(commandLine))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// Sample returns testdata/workspace, a small project whose agents left files of every
// kind.
func Sample() (fs.FS, error) { return fs.Sub(sample, "testdata/workspace") }

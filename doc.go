// Package filebus holds what belongs to the project as a whole: the sample
// workspace that "filebus demo" plays with, and the tests that hold the house
// rules, such as who may import whom.
//
// The program is cmd/filebus; docs/architecture.md is the map of the packages.
package filebus

import "embed"

// SampleWorkspace is a small project whose agents left files of every kind under
// testdata/workspace.
//
//go:embed all:testdata/workspace
var SampleWorkspace embed.FS

// SampleRoot is the folder of SampleWorkspace that stands for the project.
const SampleRoot = "testdata/workspace"

// Package rule says what a check has found, in the one form that all checks have: of
// instructions and data files, documents, dialogues, sessions and installations. What a rule
// looks for stands beside what it looks at; how findings are printed is the command line's.
//
// It reads nothing and writes nothing.
package rule

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"filebus/store/record"
)

// A Level says how grave a finding is.
type Level string

// The levels, the gravest first. What is OK is no finding, and said where a check tells
// everything that it has looked at.
const (
	Wrong  Level = "wrong"  // something does not work
	Must   Level = "must"   // it contradicts itself, or is incomplete
	Should Level = "should" // something is missing or does not agree
	Note   Level = "note"   // another form, or good to know
	OK     Level = "ok"
)

// Levels returns all levels, the gravest first.
func Levels() []Level { return []Level{Wrong, Must, Should, Note, OK} }

// A Finding is one thing that is not as it should be.
type Finding struct {
	Rule    string  `json:"rule"`
	Level   Level   `json:"level,omitempty"` // "" where a check knows but one
	File    string  `json:"file,omitempty"`  // or what else has the fault: a record, a version
	Line    int     `json:"line,omitempty"`  // counted from 1; 0: the whole file
	Path    *string `json:"path,omitempty"`  // of a value in JSON, a JSON pointer: "" is the whole text
	Message string  `json:"message,omitempty"`
	Remedy  string  `json:"remedy,omitempty"` // commands, or what to do by hand
	More    int     `json:"more,omitempty"`   // how many more findings of the file say the same
	Former

	Round  *int            `json:"round,omitempty"` // of a dialogue; nil: the finding is about no single round
	Agent  string          `json:"agent,omitempty"` // who wrote the file, or owes it
	Alike  []string        `json:"alike,omitempty"` // files, absolute, that may be meant in place of this one
	Before record.ShortRef `json:"before,omitzero"` // the version that was good
}

// Former has the names by which commands printed the parts of a finding before all had one
// form. Who reads them in JSON still can.
type Former struct {
	Check   string `json:"check,omitempty"`   // the rule
	Kind    string `json:"kind,omitempty"`    // the rule
	State   string `json:"state,omitempty"`   // the rule, or the level
	Text    string `json:"text,omitempty"`    // the message
	Detail  string `json:"detail,omitempty"`  // the message
	Do      string `json:"do,omitempty"`      // the remedy
	Try     string `json:"try,omitempty"`     // the remedy
	Wanting *bool  `json:"wanting,omitempty"` // whether the level is Must
}

// Place returns the file with the line, or what of them is known, or the path of a value.
func (f Finding) Place() string {
	if f.Path != nil {
		return *f.Path
	}
	if f.Line == 0 {
		return f.File
	}
	return f.File + ":" + strconv.Itoa(f.Line)
}

// Error returns the finding in one line: its place and what is wrong there.
func (f *Finding) Error() string {
	if place := f.Place(); place != "" {
		return place + ": " + f.Message
	}
	return f.Message
}

// Compare orders findings: the gravest first, then by file, line and rule.
func Compare(a, b Finding) int {
	levels := Levels()
	return cmp.Or(slices.Index(levels, a.Level)-slices.Index(levels, b.Level), strings.Compare(a.File, b.File),
		cmp.Compare(a.Line, b.Line), strings.Compare(a.Rule, b.Rule))
}

// Count returns how many findings have a level.
func Count(all []Finding, level Level) int {
	n := 0
	for _, f := range all {
		if f.Level == level {
			n++
		}
	}
	return n
}

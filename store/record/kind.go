package record

import (
	"fmt"
	"slices"
	"strings"
)

// A Kind says what a record is for. Its text is stored: add kinds, never
// rename one.
type Kind string

// The kinds of records.
const (
	KindResult    Kind = "result"    // the full output of one sub-agent call
	KindHandoff   Kind = "handoff"   // one task's journal with its handoff, or its report
	KindMarker    Kind = "marker"    // the file that announces that a task has ended
	KindTask      Kind = "task"      // one entry of a task queue
	KindIssue     Kind = "issue"     // one entry of an issue queue
	KindKnowledge Kind = "knowledge" // one pattern, gotcha, decision or insight
	KindState     Kind = "state"     // an orchestrator's session state
	KindComponent Kind = "component" // one row of a context map
	KindSnapshot  Kind = "snapshot"  // one file of a loop's snapshot
	KindTurn      Kind = "turn"      // one agent's file of a dialogue round
	KindDialogue  Kind = "dialogue"  // any other file of a dialogue
	KindArtifact  Kind = "artifact"  // one file of a session: artifact, log or metadata
	KindNote      Kind = "note"      // any other file
	KindFrame     Kind = "frame"     // what surrounds the entries of an aggregate file
)

// Kinds returns every kind, in the order of the documentation.
func Kinds() []Kind {
	return []Kind{
		KindResult, KindHandoff, KindMarker, KindTask, KindIssue, KindKnowledge, KindState,
		KindComponent, KindSnapshot, KindTurn, KindDialogue, KindArtifact, KindNote, KindFrame,
	}
}

// ParseKind reads the name of a kind.
func ParseKind(text string) (Kind, error) {
	if kind := Kind(text); slices.Contains(Kinds(), kind) {
		return kind, nil
	}
	var known []string
	for _, kind := range Kinds() {
		known = append(known, string(kind))
	}
	return "", fmt.Errorf("unknown kind %q: the kinds are %s", text, strings.Join(known, ", "))
}

// IsEntry reports whether records of this kind live inside an aggregate file,
// so that several of them share one path.
func (k Kind) IsEntry() bool {
	switch k {
	case KindTask, KindIssue, KindKnowledge, KindComponent:
		return true
	}
	return false
}

// IsOnce reports whether records of this kind are written once: their texts do not change.
func (k Kind) IsOnce() bool { return k == KindResult || k == KindSnapshot }

// A Source says how a record came into the store. Its text is stored.
type Source string

// The sources of records.
const (
	SourcePut        Source = "put"
	SourceExec       Source = "exec"
	SourceHook       Source = "hook"
	SourceCapture    Source = "capture"
	SourceSync       Source = "sync"
	sourceMCP        Source = "mcp"
	SourceCombine    Source = "combine"
	SourcePDF        Source = "pdf"
	SourceTranscript Source = "transcript"
	sourceImport     Source = "import"
)

// parseSource reads the name of a source.
func parseSource(text string) (Source, error) {
	switch s := Source(text); s {
	case SourcePut, SourceExec, SourceHook, SourceCapture, SourceSync, sourceMCP,
		SourceCombine, SourcePDF, SourceTranscript, sourceImport:
		return s, nil
	}
	return "", fmt.Errorf("unknown source %q", text)
}

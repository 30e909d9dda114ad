package lint

import "fmt"

// A Rule is something that Check looks for.
type Rule struct {
	ID    string
	About string // what is found, in a sentence
}

// The ids of the rules. They are printed, and taken by --rule: add, never rename.
const (
	StateOutput       = "state-output"
	JournalHandoff    = "journal-handoff"
	HandoffIncomplete = "handoff-incomplete"
	JournalMarker     = "journal-marker"
	MarkerJournal     = "marker-journal"
	MarkerName        = "marker-name"
	MarkerFile        = "marker-file"
	LargeFile         = "large-file"
	DuplicateID       = "duplicate-id"
	Layout            = "layout"
	AgentOutput       = "agent-output"
	Polling           = "polling"
	WholeJournal      = "whole-journal"
)

// Rules returns all rules, those of data first.
func Rules() []Rule {
	return []Rule{
		{StateOutput, "what an agent wrote stands in the session state"},
		{JournalHandoff, "a journal whose task has ended has no Handoff section"},
		{HandoffIncomplete, "a handoff lacks its outcome, summary, blockers or next steps"},
		{JournalMarker, "a journal's task has ended without a marker"},
		{MarkerJournal, "a marker's task has neither journal nor report"},
		{MarkerName, "a marker has a name or place that no wait looks at"},
		{MarkerFile, "a marker is a folder, a link or another thing that is no file"},
		{LargeFile, fmt.Sprintf("a file has more than %d tokens", MaxTokens)},
		{DuplicateID, "an issue, a knowledge entry or a queued task has the id of another one"},
		{Layout, "a line departs from the layout of its file"},
		{AgentOutput, "an instruction calls AgentOutputTool or TaskOutput"},
		{Polling, "an instruction polls in place of one blocking wait"},
		{WholeJournal, "an instruction reads a whole journal in place of its Handoff section"},
	}
}

package layout_test

import (
	"fmt"

	"filebus/materialize/layout"
)

// An issue is written, read back with its queue, and claimed.
func ExampleAggregate() {
	issue := layout.Issue{
		ID: "ISSUE-20260114-001", Status: "pending", Type: "bug", Priority: "high", Summary: "Uploads have no limit",
	}
	queue := layout.Recognize(".claude/issue_queue.md").Layout.(layout.Aggregate)
	file := queue.Insert(layout.File{Path: "issue_queue.md"},
		layout.Entry{ID: issue.ID, Text: layout.IssueFields().Append(nil, issue)})

	file, errs := queue.Parse(file.Path, file.Append(nil))
	entry := file.Entries()[0]
	fmt.Println(entry.ID, "at line", entry.Line, entry.Facts.Status, errs)
	fmt.Print(string(layout.IssueFields().Set(entry.Text, "Status", "accepted")))
	// Output:
	// ISSUE-20260114-001 at line 3 pending []
	// ### ISSUE-20260114-001
	//
	// | Field | Value |
	// |-------|-------|
	// | Status | accepted |
	// | Type | bug |
	// | Priority | high |
	//
	// **Summary:** Uploads have no limit
	//
	// ---
}

// A row is written for the columns that the table at hand has.
func ExampleSetComponent() {
	text := "## Context Map\n\n| Notes | Component |\n|---|---|\n| Tokens | src/auth/ |\n"
	edited, _, _, _ := layout.SetComponent("journal/index.md", []byte(text), layout.Component{Name: "src/api/", Notes: "Routes"})
	fmt.Print(string(edited))
	// Output:
	// ## Context Map
	//
	// | Notes | Component |
	// |---|---|
	// | Tokens | src/auth/ |
	// | Routes | src/api/ |
}

// A note goes into the section of its type.
func ExampleAggregate_knowledge() {
	graph := layout.Recognize(".claude/knowledge_graph.md").Layout.(layout.Aggregate)
	file, _ := graph.Parse("knowledge_graph.md", []byte("# Knowledge Graph\n\n## Patterns\n\n## Gotchas\n"))
	entry := layout.KnowledgeFields().Append(nil, layout.Knowledge{
		ID: "pattern-001", Type: "pattern", Tags: []string{"go", "http"}, Content: "Limit request bodies", Confidence: "high",
	})
	fmt.Print(string(graph.Insert(file, layout.Entry{ID: "pattern-001", Text: entry}).Append(nil)))
	// Output:
	// # Knowledge Graph
	//
	// ## Patterns
	//
	// ### pattern-001
	// - Type: pattern
	// - Tags: [go, http]
	// - Content: Limit request bodies
	// - Confidence: high
	//
	// ## Gotchas
}

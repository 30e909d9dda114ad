package layout_test

import (
	"fmt"

	"filebus/materialize/layout"
)

// An issue is written, read back with its queue, and claimed.
func ExampleIssueQueue() {
	issue := layout.Issue{
		ID: "ISSUE-20260114-001", Status: "pending", Type: "bug", Priority: "high", Summary: "Uploads have no limit",
	}
	var queue layout.IssueQueue
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
func ExampleContextMap_Columns() {
	text := "## Context Map\n\n| Notes | Component |\n|---|---|\n| Tokens | src/auth/ |\n"
	var format layout.ContextMap
	file, _ := format.Parse("journal/index.md", []byte(text))
	row := layout.AppendComponent(nil, layout.Component{Name: "src/api/", Notes: "Routes"}, format.Columns(file))
	file = format.Insert(file, layout.Entry{ID: "src/api", Text: row})
	fmt.Print(string(file.Append(nil)))
	// Output:
	// ## Context Map
	//
	// | Notes | Component |
	// |---|---|
	// | Tokens | src/auth/ |
	// | Routes | src/api/ |
}

// A note goes into the section of its type.
func ExampleKnowledgeGraph_Insert() {
	var graph layout.KnowledgeGraph
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

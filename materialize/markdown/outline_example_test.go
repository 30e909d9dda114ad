package markdown_test

import (
	"fmt"

	"filebus/materialize/markdown"
)

const report = `---
tags: [limits, redis]
agent: web_researcher
---
# Rate limiters

**Status:** final

A *shared* limiter holds the limit over all replicas.

## Results
### Notes
Three runs.

## Costs
### Notes
0.4 ms a request.
`

func ExampleOutline() {
	for _, s := range markdown.Outline([]byte(report)) {
		fmt.Printf("%-13s lines %d to %d, %d bytes\n", s.Title, s.Line, s.EndLine, s.End-s.Start)
	}
	// Output:
	// Rate limiters lines 5 to 17, 162 bytes
	// Results       lines 11 to 14, 34 bytes
	// Notes         lines 12 to 14, 23 bytes
	// Costs         lines 15 to 17, 37 bytes
	// Notes         lines 16 to 17, 28 bytes
}

func ExampleFindSection() {
	sections := markdown.Outline([]byte(report))
	notes, _, _ := markdown.FindSection(sections, "Costs/Notes")
	fmt.Print(report[notes.Start:notes.End])

	_, others, _ := markdown.FindSection(sections, "notes")
	fmt.Println(others)

	_, similar, found := markdown.FindSection(sections, "Result")
	fmt.Println(found, similar)
	// Output:
	// ### Notes
	// 0.4 ms a request.
	// [Notes#1 Notes#2]
	// false [Results]
}

func ExampleFrontMatter() {
	fields, start := markdown.FrontMatter([]byte(report))
	fmt.Println(fields["tags"], fields["agent"])
	fmt.Printf("%.15q\n", report[start:])
	// Output:
	// [limits redis] [web_researcher]
	// "# Rate limiters"
}

func ExamplePreview() {
	fmt.Println(markdown.Preview([]byte(report), 500))
	fmt.Println(markdown.Preview([]byte(report), 25))
	fmt.Println(markdown.Preview([]byte(`{"summary": "Two findings.", "findings": [1, 2]}`), 500))
	// Output:
	// A shared limiter holds the limit over all replicas.
	// A shared limiter holds…
	// Two findings.
}

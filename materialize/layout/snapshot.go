package layout

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"filebus/materialize/markdown"

	"filebus/store/record"
)

// snapshots is the layout of the files of a loop's snapshot: diff.patch,
// state.md, issues_completed.md and what else lies there.
type snapshots struct{}

// Parse makes the whole file one snapshot record. Which file it is becomes the
// attribute "part"; the ones that are known by name give a title and a summary.
func (snapshots) Parse(name string, text []byte) (File, []*SyntaxError) {
	var f Facts
	var problems []*SyntaxError
	switch part := path.Base(name); part {
	case "diff.patch":
		f.Title = "Changes of the loop"
		f.Summary = ParseDiff(text).String()
		f.setFact(AttributePart, "diff")
	case "state.md":
		f, problems = snapshotState(text)
	case "issues_completed.md":
		issues := ParseCompletedIssues(text)
		f.Summary = summaryOf(completedSummary(issues))
		f.setFact(AttributePart, "issues")
	// A later form of the snapshots.
	case "CHANGES.md", "REVIEW.md", SnapshotManifest, SnapshotStart:
		f.setFact(AttributePart, strings.ToLower(strings.TrimSuffix(part, path.Ext(part))))
		problems = jsonProblems(name, text)
	}
	return single(name, record.KindSnapshot, text, f), inFile(name, problems)
}

// snapshotState describes the session state at the end of a loop. Its run and
// loop are those of its path.
func snapshotState(text []byte) (Facts, []*SyntaxError) {
	s, problems := ParseState(text)
	f := s.facts()
	f.Run, f.Loop = "", ""
	f.setFact(AttributePart, "state")
	return f, problems
}

// A DiffStat counts what a patch changes.
type DiffStat struct{ Files, Added, Removed int }

// String returns the counts as "2 files changed, 10 lines added, 3 removed".
func (d DiffStat) String() string {
	return fmt.Sprintf("%s changed, %s added, %d removed", markdown.CountOf(d.Files, "file"),
		markdown.CountOf(d.Added, "line"),
		d.Removed)
}

// ParseDiff counts the files and lines of a unified diff. It follows the line
// counts of the hunks, so changed lines that look like headers do not mislead
// it; what is no diff counts nothing.
func ParseDiff(text []byte) (d DiffStat) {
	var oldLeft, newLeft int // of the current hunk
	for line := range bytes.Lines(text) {
		switch inHunk := oldLeft > 0 || newLeft > 0; {
		case inHunk && line[0] == '+':
			d.Added++
			newLeft--
		case inHunk && line[0] == '-':
			d.Removed++
			oldLeft--
		case inHunk && line[0] != '\\':
			oldLeft--
			newLeft--
		case bytes.HasPrefix(line, []byte("+++ ")):
			d.Files++
		case bytes.HasPrefix(line, []byte("@@ -")):
			oldLeft, newLeft = hunkSize(string(line))
		}
	}
	return d
}

// hunkSize returns the two line counts of "@@ -1,5 +1,7 @@"; a missing count is
// one line.
func hunkSize(line string) (before, after int) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return 0, 0
	}
	size := func(field string) int {
		n := 1
		if _, count, found := strings.Cut(field, ","); found {
			if _, err := fmt.Sscanf(count, "%d", &n); err != nil || n < 0 {
				return 0
			}
		}
		return n
	}
	return size(fields[1]), size(fields[2])
}

// A CompletedIssue is a line of issues_completed.md: an issue that was resolved
// in the loop, and what it was about.
type CompletedIssue struct {
	ID      string `json:"id"`
	Summary string `json:"summary,omitempty"`
}

// AppendCompletedIssues appends the file of a loop's resolved issues.
func AppendCompletedIssues(dst []byte, issues []CompletedIssue) []byte {
	dst = append(dst, "# Issues Completed\n\n"...)
	for _, issue := range issues {
		dst = fmt.Appendf(dst, "- %s: %s\n", markdown.SingleSpaced(issue.ID), markdown.SingleSpaced(issue.Summary))
	}
	if len(issues) == 0 {
		dst = append(dst, "None.\n"...)
	}
	return dst
}

// ParseCompletedIssues returns the issues of a loop's file: each line that
// begins with an issue's id, behind list marks, headings, table pipes and bold.
// The rest of the line is its summary.
func ParseCompletedIssues(text []byte) (issues []CompletedIssue) {
	for raw := range bytes.Lines(text) {
		line := strings.TrimLeft(strings.TrimSpace(string(raw)), "-*#|+[x]` \t")
		if !strings.HasPrefix(line, "ISSUE-") {
			continue
		}
		// An id goes on as long as capitals, digits and hyphens do.
		end := strings.IndexFunc(line, func(r rune) bool {
			return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z')
		})
		if end < 0 {
			end = len(line)
		}
		id := strings.TrimRight(line[:end], "-")
		if id == "ISSUE" {
			continue
		}
		summary := strings.Trim(strings.TrimLeft(line[end:], "*`:|-–— \t"), "| \t")
		issues = append(issues, CompletedIssue{id, summary})
	}
	return issues
}

// completedSummary lists the issues in one line.
func completedSummary(issues []CompletedIssue) string {
	if len(issues) == 0 {
		return "No issues completed."
	}
	lines := make([]string, 0, len(issues))
	for _, issue := range issues {
		lines = append(lines, strings.TrimSuffix(issue.ID+": "+issue.Summary, ": "))
	}
	return strings.Join(lines, "; ")
}

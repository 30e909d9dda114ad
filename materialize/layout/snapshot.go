package layout

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// snapshots is the layout of the files of a loop's snapshot: diff.patch,
// state.md, issues_completed.md and what else lies there.
var snapshots = &single{record.KindSnapshot, snapshotFacts}

// snapshotFacts makes which file it is the attribute "part"; the ones that are known
// by name give a title and a summary.
func snapshotFacts(name string, text []byte) (f Facts, problems []*SyntaxError) {
	switch part := path.Base(name); part {
	case "diff.patch":
		f.Title = "Changes of the loop"
		f.Summary = parseDiff(text).String()
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
	return f, problems
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

// parseDiff counts the files and lines of a unified diff. It follows the line
// counts of the hunks, so changed lines that look like headers do not mislead
// it; what is no diff counts nothing.
func parseDiff(text []byte) (d DiffStat) {
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

// completedIssue is a line that begins with an issue's id, behind list marks, headings, table pipes and bold.
var completedIssue = Pattern("(?m)^[-*#|+\\[\\]x` \\t]*(ISSUE-[A-Z0-9-]*[A-Z0-9](?:-[a-f][0-9a-f]{4})?)\\b[-*:|–—` \\t]*(.*)$")

// ParseCompletedIssues returns the issues of a loop's file. The rest of a line is the summary.
func ParseCompletedIssues(text []byte) (issues []CompletedIssue) {
	for _, m := range completedIssue().FindAllSubmatch(text, -1) {
		issues = append(issues, CompletedIssue{string(m[1]), strings.Trim(string(m[2]), "| \t\r")})
	}
	return issues
}

// completedSummary lists the issues in one line.
func completedSummary(issues []CompletedIssue) string {
	if len(issues) == 0 {
		return "No issues completed."
	}
	line := func(i CompletedIssue) string { return strings.TrimSuffix(i.ID+": "+i.Summary, ": ") }
	return strings.Join(markdown.Each(issues, line), "; ")
}

// The files of a loop's snapshot, in the order in which they are listed.
const (
	SnapshotDiff     = "diff.patch"
	SnapshotState    = "state.md"
	SnapshotIssues   = "issues_completed.md"
	SnapshotManifest = "manifest.json"
	SnapshotStart    = "start.json" // there before the snapshot is taken
)

// snapshotVersion is the version of manifest.json and start.json.
const snapshotVersion = 1

// A LoopStart is what start.json says: from where on a loop's changes count.
type LoopStart struct {
	Version int    `json:"version"`
	Run     string `json:"run"`
	Loop    int    `json:"loop"`
	Time    string `json:"time"`         // RFC 3339
	By      string `json:"by,omitempty"` // who has begun the run, in its first loop
	// State is the version of the session state with which the loop before ended;
	// empty in a run's first loop.
	State string `json:"state,omitempty"`
	// Completed is how many agents of the session state had ended by then.
	Completed int `json:"completed"`
	SnapshotPoint
	// Files are those of the workspace, where there is no git repository.
	Files []SnapshotFile `json:"files,omitempty"`
	// LeftOut names the files that are not in the tree, or not in Files, with the
	// reason.
	LeftOut []string `json:"left_out,omitempty"`
}

// A SnapshotPoint is a moment between which and another one changes are counted.
type SnapshotPoint struct {
	Position uint64 `json:"position"`         // of the store's log
	Commit   string `json:"commit,omitempty"` // of git; empty before the first one, and without git
	Tree     string `json:"tree,omitempty"`   // the work tree as an object of git, uncommitted files included
}

// A SnapshotFile is a file with its content's size and digest.
type SnapshotFile struct {
	Path     string `json:"path"`
	Size     int64  `json:"size"`
	Modified string `json:"modified,omitempty"` // RFC 3339
	Digest   string `json:"sha256,omitempty"`   // empty of a large file: size and time count
}

// A SnapshotChange is a file that was changed in a loop.
type SnapshotChange struct {
	Path    string `json:"path"`
	Was     string `json:"was,omitempty"` // its path before it was renamed
	Status  string `json:"status"`        // added, changed, deleted, renamed or mode
	Added   int    `json:"added,omitempty"`
	Removed int    `json:"removed,omitempty"`
	Binary  bool   `json:"binary,omitempty"`
	// Cut says that diff.patch only names the file, because the patch would be too
	// large.
	Cut bool `json:"cut,omitempty"`
}

// A Manifest is what manifest.json says of a loop's snapshot.
type Manifest struct {
	Version int    `json:"version"`
	Run     string `json:"run"`
	Loop    int    `json:"loop"`
	Started string `json:"started,omitempty"` // the loop, RFC 3339
	Taken   string `json:"taken"`             // the snapshot
	Method  string `json:"method"`            // how the changes were found: "git" or "files"

	From SnapshotPoint `json:"from"`
	To   SnapshotPoint `json:"to"`

	FilesChanged int              `json:"files_changed"`
	LinesAdded   int              `json:"lines_added"`
	LinesRemoved int              `json:"lines_removed"`
	Changed      []SnapshotChange `json:"changed,omitempty"` // not all of very many

	Issues    []string `json:"issues,omitempty"` // ids of those completed
	Running   int      `json:"running"`          // agents at the loop's end
	Completed int      `json:"completed"`        // agents that ended in the loop

	Tasks TaskOutcomes `json:"tasks,omitempty"` // that were worked on in the loop

	Files []SnapshotFile `json:"files"` // of the snapshot, the manifest left out
	Notes []string       `json:"notes,omitempty"`
}

// AppendLoopStart appends start.json.
func AppendLoopStart(dst []byte, s LoopStart) []byte {
	s.Version = snapshotVersion
	return append(append(dst, encodeJSON(s, " ")...), '\n')
}

// AppendManifest appends manifest.json.
func AppendManifest(dst []byte, m Manifest) []byte {
	m.Version = snapshotVersion
	return append(append(dst, encodeJSON(m, " ")...), '\n')
}

// ParseLoopStart reads start.json, of this version alone.
func ParseLoopStart(text []byte) (s LoopStart, err error) {
	if err := json.Unmarshal(text, &s); err != nil {
		return LoopStart{}, err
	}
	return s, checkSnapshotVersion(s.Version)
}

// ParseManifest reads manifest.json. One that others have written has other
// fields: what is not known is left out, and the version is an error.
func ParseManifest(text []byte) (m Manifest, err error) {
	if err := json.Unmarshal(text, &m); err != nil {
		return Manifest{}, err
	}
	return m, checkSnapshotVersion(m.Version)
}

func checkSnapshotVersion(version int) error {
	if version != snapshotVersion {
		return fmt.Errorf("version %d instead of %d", version, snapshotVersion)
	}
	return nil
}

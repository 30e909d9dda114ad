package layout

import (
	"strings"

	"filebus/materialize/markdown"
)

// A TensionRow is one tension of tensions.md, or of the section of an assembled
// document.
type TensionRow struct {
	ID       string `json:"id"`                 // as in the table: T01, or MUFFIN R0-T01
	Tension  string `json:"tension"`            // what it is about
	Status   string `json:"status"`             // Open, Addressed, Resolved, Reopened, Deferred, ...
	Raised   string `json:"raised"`             // by whom and when: Muffin R0
	Resolved string `json:"resolved,omitempty"` // when and how: R1 — both; "" if it is not
	Line     int    `json:"-"`                  // where it was read, counted from 1
}

// IsOpen reports whether a tension is still to be resolved: its status is neither
// resolved nor deferred.
func (r TensionRow) IsOpen() bool {
	return !r.IsDeferred() && !r.begins("resolved") && !r.begins("closed")
}

// IsDeferred reports whether a tension was put off, and so does not count any more.
func (r TensionRow) IsDeferred() bool { return r.begins("deferred") }

// IsAddressed reports whether something was done about a tension that is open still.
func (r TensionRow) IsAddressed() bool {
	return r.begins("addressed") || r.begins("refined") || r.begins("partial")
}

// begins reports whether the status begins with a word in lower case.
func (r TensionRow) begins(word string) bool {
	return strings.HasPrefix(strings.ToLower(r.Status), word)
}

// TensionID returns an id of a tension as markers have it, two digits at least: T1,
// T01 and T001 are T01.
func TensionID(text string) (string, bool) { return normalMarkerID(text, 'T') }

// AppendTensions appends the table of tensions. The status of one that is not open
// any more is in bold, unless it holds a star.
func AppendTensions(dst []byte, rows []TensionRow) []byte {
	dst = markdown.AppendHead(dst, "ID", "Tension", "Status", "Raised", "Resolved")
	for _, r := range rows {
		status := markdown.SingleSpaced(r.Status)
		if !r.IsOpen() && !strings.Contains(status, "*") {
			status = "**" + status + "**"
		}
		resolved := r.Resolved
		if markdown.SingleSpaced(resolved) == "" {
			resolved = markdown.NoCell
		}
		dst = markdown.AppendRow(dst, r.ID, r.Tension, status, r.Raised, resolved)
	}
	return dst
}

// ParseTensions reads the tables of tensions in a text, in each of their forms:
// with the columns Raised and Resolved, with one for the resolution, or with one
// for who has raised it. A row without an id is none. Any text is accepted.
func ParseTensions(text []byte) (rows []TensionRow) {
	eachRow(text, []string{"id", "tension"}, func(line int, cell func(names ...string) string) {
		r := TensionRow{
			ID: cell("id"), Tension: cell("tension"), Status: cell("status"), Raised: cell("raised", "raised_by"),
			Resolved: value(cell("resolved", "resolved_in", "resolution")), Line: line,
		}
		if !markdown.IsNoCell(r.ID) {
			rows = append(rows, r)
		}
	})
	return rows
}

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
func ParseTensions(text []byte) []TensionRow {
	var rows []TensionRow
	for _, s := range markdown.Tables(text) {
		id, tension := s.Column("id"), s.Column("tension")
		if id < 0 || tension < 0 {
			continue
		}
		status, raised := s.Column("status"), s.Column("raised", "raised_by")
		resolved := s.Column("resolved", "resolved_in", "resolution")
		for _, row := range s.Rows {
			if markdown.IsNoCell(row.Cell(id)) {
				continue
			}
			r := TensionRow{
				ID: row.Cell(id), Tension: row.Cell(tension), Status: row.Cell(status), Raised: row.Cell(raised), Line: row.Line,
			}
			if text := row.Cell(resolved); !markdown.IsNoCell(text) {
				r.Resolved = text
			}
			rows = append(rows, r)
		}
	}
	return rows
}

package dialogue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// A judgeFile is a file that the judge has written by hand.
type judgeFile struct {
	path    string // below the dialogue's folder
	round   int    // -1: it is of the whole dialogue
	text    []byte
	isWhole bool // its tensions are all that there are: a summary may name a few
}

// judgeFileName finds the files in which a judge writes.
var judgeFileName = layout.Pattern(`(?i)^(?:round-\d{1,4}[./])?(scoreboard|tensions|summary|convergence|verdict)(?:\.md)?$`)

// readJudgeFiles reads what the judge has written by hand: by round, its folder first; the
// whole comes last.
func (f *Dialogues) readJudgeFiles(ctx context.Context, d *Dialogue) error {
	for _, file := range d.files() {
		m := judgeFileName().FindStringSubmatch(file.Path)
		if m == nil || file.Version.Record.Size > MaxTurn {
			continue
		}
		text, err := f.byHand(ctx, file.Version)
		if err != nil {
			return err
		}
		if text == nil {
			continue // derived, or empty
		}
		isWhole := strings.EqualFold(m[1], "scoreboard") || strings.EqualFold(m[1], "tensions")
		d.judgeFiles = append(d.judgeFiles, judgeFile{file.Path, firstRound(roundPath(), file.Path), text, isWhole})
	}
	slices.SortFunc(d.judgeFiles, func(a, b judgeFile) int {
		return cmp.Or(cmp.Compare(uint(a.round), uint(b.round)), strings.Compare(b.path, a.path))
	})
	return nil
}

// A listedRow is a tension of the judge's list.
type listedRow struct {
	layout.TensionRow
	id             string
	raised, closed int // -1: it is not said
}

// raises reports whether any turn raises a tension.
func (d *Dialogue) raises() bool {
	isTension := func(m layout.Marker) bool { return m.Kind == layout.MarkerTension }
	isIn := func(t *Turn) bool { return slices.ContainsFunc(t.Markers, isTension) }
	return slices.ContainsFunc(d.Rounds, func(r *Round) bool { return slices.ContainsFunc(r.given(), isIn) })
}

// listed returns the judge's list of tensions: tensions.md, or else what his other files
// say, the last one of each tension. Of rows that are not understood there are notes.
func (d *Dialogue) listed() (list []listedRow, notes []string) {
	isOwn := func(w judgeFile) bool { return w.path == tensionsFile }
	for _, w := range d.judgeFiles {
		if slices.ContainsFunc(d.judgeFiles, isOwn) != isOwn(w) || d.raises() && !w.isWhole {
			continue
		}
		rows := layout.ParseTensions(w.text)
		if isOwn(w) {
			notes = w.unlisted(rows, notes)
		}
		for _, row := range rows {
			id, isID := layout.TensionID(row.ID)
			ref, isRef := tensionRef(row.ID) // as a derived table has it, which the judge may have gone on from
			switch {
			case !isOwn(w) && row.Status == "":
				continue // it says nothing of a status
			case !isID && !(isRef && strings.EqualFold(refText(ref), row.ID)):
				notes = append(notes, fmt.Sprintf("%s:%d: %q is no id of a tension", w.path, row.Line, row.ID))
				continue
			case row.State() == "":
				const text = "%s:%d: %s counts neither as open nor as resolved: %q is no known status"
				notes = append(notes, fmt.Sprintf(text, w.path, row.Line, row.ID, row.Status))
			}
			next := listedRow{row, cmp.Or(id, row.ID), firstRound(roundIn(), row.Raised), firstRound(roundIn(), row.Resolved, row.Status)}
			if w.round >= 0 && next.raised < 0 {
				next.raised = w.round
			}
			if w.round >= 0 && next.closed < 0 && !row.IsOpen() {
				next.closed = w.round
			}
			at := slices.IndexFunc(list, func(old listedRow) bool { return old.id == next.id && !isOwn(w) })
			if at < 0 {
				list = append(list, next)
				continue
			}
			if list[at].State() == next.State() {
				next.closed = list[at].closed
			}
			next.raised, next.Raised = list[at].raised, cmp.Or(list[at].Raised, next.Raised)
			list[at] = next
		}
	}
	return list, notes
}

// idIn finds the ids of tensions in a text.
var idIn = layout.Pattern(`\bT\d+\b`)

// unlisted notes the tensions that a list names, and that none of its rows has.
func (w judgeFile) unlisted(rows []layout.TensionRow, notes []string) []string {
	ids := slices.DeleteFunc(idIn().FindAllString(string(w.text), -1), func(id string) bool {
		return slices.ContainsFunc(rows, func(r layout.TensionRow) bool { return strings.Contains(r.ID, id) })
	})
	if len(ids) == 0 && len(rows) > 0 || isBlank(w.text) {
		return notes
	}
	said := cmp.Or(strings.Join(slices.Compact(ids), ", "), "all of it")
	return append(notes, w.path+": not understood, and not counted: "+markdown.Clip(said, maxLabel))
}

// verdictLine finds what a judge says of a dialogue as a whole.
var verdictLine = layout.Pattern(`(?m)^(?:#{1,6} |\*\*).*(?:(?i:\bconverged[ .!,)]*(?:\d|$)|\bconvergence (?:achieved|reached))|\bFINAL\b).*$`)

// says returns what the judge says of the dialogue, in his files on the whole of it.
func (d *Dialogue) says() (lines []string) {
	for _, w := range d.judgeFiles {
		for _, line := range verdictLine().FindAllString(string(w.text), -1) {
			if line = markdown.OneLine(strings.Trim(strings.ReplaceAll(line, "**", ""), "# \r")); w.round < 0 {
				lines = append(lines, markdown.Clip(line, maxLabel)+" ("+w.path+")")
			}
		}
	}
	return lines
}

// A Difference is a number that the judge has written, and that turns and scores have
// otherwise.
type Difference struct {
	Round    int    `json:"round"`
	Number   string `json:"number"` // as JSON calls it
	Judge    int    `json:"judge"`
	Computed int    `json:"computed"`
}

// String says both numbers.
func (d Difference) String() string {
	number := strings.ReplaceAll(d.Number, "_", " ")
	return fmt.Sprintf("round %d: %s: the judge wrote %d, and %d is computed", d.Round, number, d.Judge, d.Computed)
}

// settle puts the judge's numbers in the place of those that were computed, but for marks
// that scores.json has. Of numbers that differ both are kept.
func (b *Board) settle(row *layout.RoundScore, said map[layout.Said]int, hasTurns, hasScores bool) {
	for i, n := range row.Numbers() {
		switch n.Name {
		case "score":
			*n.N = cmp.Or(*n.N, row.Marks.Sum())
		case "cumulative":
			*n.N += row.Score
		case "velocity":
			*n.N = row.OpenTensions + row.NewPerspectives
		}
		isMark := i <= 4 // one of the four, or their sum
		judge, isSaid := said[layout.Said{Round: row.Round, Name: n.Name}]
		if isSaid && judge != *n.N && (*n.N > 0 || hasTurns && !isMark) {
			b.Differences = append(b.Differences, Difference{row.Round, n.Name, judge, *n.N})
		}
		if isSaid && !(isMark && hasScores) {
			*n.N, row.Judged = judge, row.Judged || isMark
		}
	}
}

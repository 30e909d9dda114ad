package layout

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// beads is the format of the issues that the program bd keeps in .beads: one JSON object
// a line, described in docs/layouts/beads.md. It is no Aggregate: bd alone writes there.
type beads struct{}

func (beads) kindOf() record.Kind { return record.KindIssue }

// IsForeign reports whether another program keeps the file: it is read, and never written.
func (pl Location) IsForeign() bool {
	return pl.Owner() != ""
}

// ProgramBD is the owner of the files in .beads.
const ProgramBD = "the program bd"

// Owner returns what keeps a file that filebus only reads, "" of others.
func (pl Location) Owner() string {
	switch d, is := pl.Layout.(*declared); {
	case is && d.layout.Owner != "":
		return "the program " + d.layout.Owner
	case is && d.Kind != record.KindNote: // notes are anybody's
		return "whoever writes " + pl.Declared
	}
	if _, is := pl.Layout.(beads); is {
		return ProgramBD
	}
	return ""
}

// A bead is an issue of bd.
type bead = jsonFields

// readBead reads an issue, nil for what is no JSON object.
func readBead(text []byte) (b bead) {
	if json.Unmarshal(bytes.TrimPrefix(text, []byte(markdown.ByteOrderMark)), &b) != nil {
		return nil
	}
	return b
}

// Parse makes every line with an id an entry. What git could not merge is lines of both
// sides between markers: of several with one id the one that was updated last counts, of
// those alike the first. Other lines are literal, and reported.
func (beads) Parse(path string, text []byte) (File, []*SyntaxError) {
	type issueLine struct {
		bead
		line, start, end int
	}
	c := newFileCutter(path, text)
	var lines []issueLine
	best := map[string]issueLine{}
	at, number := len(text)-len(bytes.TrimPrefix(text, []byte(markdown.ByteOrderMark))), 0
	for line := range bytes.Lines(text[at:]) {
		number++
		at += len(line)
		if isBlankText(line) {
			continue
		}
		b := readBead(line)
		if err := checkBead(b, line); err != nil {
			c.errorf(number, "%w", err)
			continue
		}
		id := b.text("id")
		old, used := best[id]
		if used && !b.updated().After(old.updated()) {
			c.repeated(number, id, old.line)
			continue
		}
		if used {
			c.repeated(old.line, id, number)
		}
		best[id] = issueLine{b, number, at - len(line), at}
		lines = append(lines, best[id])
	}
	for _, l := range lines {
		if id := l.text("id"); best[id].line == l.line {
			c.add(&Entry{Kind: record.KindIssue, ID: id, Line: l.line, Facts: l.facts()}, l.start, l.end)
		}
	}
	return c.finish()
}

// updated returns when an issue was updated; one that does not say it is the oldest.
func (b bead) updated() time.Time {
	t, _ := ParseDate(b.text("updated_at"))
	return t
}

// checkBead says why a line is no issue.
func checkBead(b bead, line []byte) error {
	switch {
	case bytes.HasPrefix(line, []byte("<<<<<<< ")), bytes.HasPrefix(line, []byte(">>>>>>> ")):
		return errors.New("a conflict marker of git: the issues of both sides are read")
	case b == nil:
		return errors.New("the line is no JSON object")
	case b.text("id") == "":
		return errors.New("the issue has no id")
	}
	return record.CheckID(b.text("id"))
}

// ReadIssue reads the text of an issue, in whichever form it stands.
func ReadIssue(text []byte) Issue {
	if b := readBead(text); b != nil {
		return b.issue()
	}
	return issueFields.Read(text)
}

// issue returns an issue of bd with the words that other issues have.
func (b bead) issue() Issue {
	i := Issue{
		ID: b.text("id"), Title: b.text("title"), Summary: markdown.OneLine(b.text("title")), Type: b.text("issue_type"),
		State: b.text("status"), Status: statusFact(b.text("status")), Created: b.text("created_at"),
		Priority: b.text("priority"),
	}
	if isDigits(i.Priority) {
		i.Priority = "P" + i.Priority
	}
	i.Priority = priorityFact(i.Priority)
	comments := ""
	for _, c := range b.list("comments") {
		comments += strings.TrimPrefix("\n"+c.text("author")+": "+c.text("text"), "\n: ")
	}
	for _, block := range [][2]string{
		{"", b.text("description")}, {"Design:\n", b.text("design")}, {"Acceptance criteria:\n", b.text("acceptance_criteria")},
		{"Notes:\n", b.text("notes")}, {"Closed: ", b.text("close_reason")}, {"Deleted: ", b.text("delete_reason")},
		{"Comments:", comments},
	} {
		if block[1] != "" {
			i.Details = strings.TrimPrefix(i.Details+"\n\n"+block[0]+block[1], "\n\n")
		}
	}
	if agent := b.text("assignee"); agent != "" {
		i.Extra = []Property{{"Assignee", agent}}
	}
	for _, d := range b.list("dependencies") {
		switch beadLink(d.text("type")) {
		case "blocked-by":
			i.DependsOn = append(i.DependsOn, d.text("depends_on_id"))
		case "parent":
			i.Parent = d.text("depends_on_id")
		}
	}
	return i
}

// beadLink returns the word that other issues have for a type of dependency of bd.
func beadLink(text string) string {
	words := strings.Fields("blocks blocked-by parent-child parent related " + LinkRelatesTo)
	for i := 0; i < len(words); i += 2 {
		if strings.EqualFold(words[i], text) {
			return words[i+1]
		}
	}
	return word(strings.ToLower(text))
}

// facts returns what an issue says about itself.
func (b bead) facts() Facts {
	i := b.issue()
	facts := issueFields.Facts(i)
	facts.Agent, facts.Summary = word(b.text("created_by")), cmp.Or(factSummary(i.Details), facts.Title)
	facts.setFact("state", i.State)
	facts.setFact("updated", b.text("updated_at"))
	facts.Tags = append(facts.Tags, factList(b.texts("labels"), factLine)...)
	for _, d := range b.list("dependencies") {
		if on := d.text("depends_on_id"); record.CheckID(on) == nil && on != i.ID {
			facts.Links = appendLink(facts.Links, beadLink(d.text("type")), "issue/"+on)
		}
	}
	return facts
}

// readableIssue returns a line with an issue as people read it, with what it is first.
func readableIssue(line []byte) []byte {
	b := readBead(line)
	if b == nil {
		return line
	}
	i := b.issue()
	said := append([]string{i.ID, i.Title, i.State, i.Priority, i.Type, b.text("assignee"), i.Details}, b.texts("labels")...)
	return []byte(strings.Join(factList(said, markdown.OneLine), "  "))
}

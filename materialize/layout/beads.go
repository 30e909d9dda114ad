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
	_, is := pl.Layout.(beads)
	return is
}

// A bead is an issue of bd. A value of another type than expected says nothing.
type bead struct {
	ID                                                  looseText
	Title, Description, Design, Notes, Status, Priority looseText
	Criteria                                            looseText `json:"acceptance_criteria"`
	CloseReason                                         looseText `json:"close_reason"`
	DeleteReason                                        looseText `json:"delete_reason"`
	Type                                                looseText `json:"issue_type"`
	Assignee                                            looseText
	CreatedBy                                           looseText `json:"created_by"`
	Created                                             looseText `json:"created_at"`
	Updated                                             looseText `json:"updated_at"`
	Labels                                              []looseText
	Dependencies                                        []struct {
		On   looseText `json:"depends_on_id"`
		Type looseText
	}
	Comments []struct{ Author, Text looseText }
}

// A looseText is text that JSON may have as a number.
type looseText string

// UnmarshalJSON never fails.
func (l *looseText) UnmarshalJSON(raw []byte) error {
	*l = looseText(jsonText(raw))
	return nil
}

// readBead reads an issue, nil for what is no JSON object.
func readBead(text []byte) *bead {
	b := new(bead)
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte(markdown.ByteOrderMark)))
	mismatch := (*json.UnmarshalTypeError)(nil)
	if err := json.Unmarshal(text, b); err != nil && !errors.As(err, &mismatch) || text[0] != '{' {
		return nil
	}
	return b
}

// Parse makes every line with an id an entry. What git could not merge is lines of both
// sides between markers: of several with one id the one that was updated last counts, of
// those alike the first. Other lines are literal, and reported.
func (beads) Parse(path string, text []byte) (File, []*SyntaxError) {
	type issueLine struct {
		*bead
		line, start, end int
	}
	c := newFileCutter(path, text)
	var lines []issueLine
	best := map[looseText]issueLine{}
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
		this, loser := issueLine{b, number, at - len(line), at}, issueLine{}
		if old, used := best[b.ID]; used && !b.time().After(old.time()) {
			this, loser = old, this
		} else {
			loser = old
		}
		if best[b.ID] = this; loser.line > 0 {
			c.repeated(loser.line, string(b.ID), this.line)
		}
		lines = append(lines, issueLine{b, number, at - len(line), at})
	}
	for _, l := range lines {
		if best[l.ID] == l {
			c.add(&Entry{Kind: record.KindIssue, ID: string(l.ID), Line: l.line, Facts: l.facts()}, l.start, l.end)
		}
	}
	return c.finish()
}

// checkBead says why a line is no issue.
func checkBead(b *bead, line []byte) error {
	switch {
	case bytes.HasPrefix(line, []byte("<<<<<<< ")), bytes.HasPrefix(line, []byte(">>>>>>> ")):
		return errors.New("a conflict marker of git: the issues of both sides are read")
	case b == nil:
		return errors.New("the line is no JSON object")
	case b.ID == "":
		return errors.New("the issue has no id")
	}
	return record.CheckID(string(b.ID))
}

// time returns when an issue was updated; one that does not say it is the oldest.
func (b *bead) time() time.Time {
	t, _ := time.Parse(time.RFC3339Nano, string(b.Updated))
	return t
}

// ReadIssue reads the text of an issue, in whichever form it stands.
func ReadIssue(text []byte) Issue {
	if b := readBead(text); b != nil {
		return b.issue()
	}
	return issueFields.Read(text)
}

// issue returns an issue of bd with the words that other issues have.
func (b *bead) issue() Issue {
	i := Issue{
		ID: string(b.ID), Title: string(b.Title), Summary: markdown.OneLine(string(b.Title)), Type: string(b.Type),
		State: string(b.Status), Status: statusFact(string(b.Status)), Created: string(b.Created),
		Priority: string(b.Priority),
	}
	if isDigits(i.Priority) {
		i.Priority = "P" + i.Priority
	}
	i.Priority = priorityFact(i.Priority)
	comments := ""
	for _, c := range b.Comments {
		comments += strings.TrimPrefix(string("\n"+c.Author+": "+c.Text), "\n: ")
	}
	for _, block := range [][2]string{
		{"", string(b.Description)}, {"Design:\n", string(b.Design)}, {"Acceptance criteria:\n", string(b.Criteria)},
		{"Notes:\n", string(b.Notes)}, {"Closed: ", string(b.CloseReason)}, {"Deleted: ", string(b.DeleteReason)},
		{"Comments:", comments},
	} {
		if block[1] != "" {
			i.Details = strings.TrimPrefix(i.Details+"\n\n"+block[0]+block[1], "\n\n")
		}
	}
	if b.Assignee != "" {
		i.Extra = []ExtraField{{"Assignee", string(b.Assignee)}}
	}
	for _, d := range b.Dependencies {
		switch beadLink(string(d.Type)) {
		case "blocked-by":
			i.DependsOn = append(i.DependsOn, string(d.On))
		case "parent":
			i.Parent = string(d.On)
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
func (b *bead) facts() Facts {
	i := b.issue()
	facts := issueFields.Facts(i)
	facts.Agent, facts.Summary = word(string(b.CreatedBy)), cmp.Or(factSummary(i.Details), facts.Title)
	facts.setFact("state", i.State)
	facts.setFact("updated", string(b.Updated))
	for _, label := range b.Labels {
		facts.Tags = append(facts.Tags, factLine(string(label)))
	}
	for _, d := range b.Dependencies {
		if record.CheckID(string(d.On)) == nil && d.On != b.ID {
			facts.Links = appendLink(facts.Links, beadLink(string(d.Type)), "issue/"+string(d.On))
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
	said := []string{i.ID, i.Title, i.State, i.Priority, i.Type, string(b.Assignee), i.Details}
	for _, label := range b.Labels {
		said = append(said, string(label))
	}
	return []byte(strings.Join(factList(said, markdown.OneLine), "  "))
}

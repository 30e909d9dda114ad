package layout

import (
	"bytes"
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

// A beadLine is where an issue stands, and when it was changed.
type beadLine struct {
	Entry
	start, end int
	updated    time.Time
}

// Parse makes every line with an id an entry. What git could not merge is lines of both
// sides between markers: of several with one id the one that was updated last counts, of
// those alike the first. Other lines are literal, and reported.
func (beads) Parse(path string, text []byte) (File, []*SyntaxError) {
	c := newFileCutter(path, text)
	var lines []beadLine
	best := map[string]int{} // of the lines with an id
	at, number := len(text)-len(bytes.TrimPrefix(text, []byte(markdown.ByteOrderMark))), 0
	for line := range bytes.Lines(text[at:]) {
		number++
		start := at
		at += len(line)
		if isBlankText(line) {
			continue
		}
		b, err := readBeadLine(line)
		if err != nil {
			c.errorf(number, "%w", err)
			continue
		}
		b.Line, b.start, b.end = number, start, at
		lines = append(lines, b)
		this, loser := len(lines)-1, -1
		if first, used := best[b.ID]; used && !b.updated.After(lines[first].updated) {
			loser, this = this, first
		} else if used {
			loser = first
		}
		best[b.ID] = this
		if loser >= 0 {
			c.repeated(lines[loser].Line, b.ID, lines[this].Line)
		}
	}
	for i := range lines {
		if best[lines[i].ID] == i {
			c.add(&lines[i].Entry, lines[i].start, lines[i].end)
		}
	}
	return c.finish()
}

// readBeadLine reads a line of a file of issues.
func readBeadLine(line []byte) (b beadLine, err error) {
	fields := beadFields(line)
	switch id := jsonText(fields["id"]); {
	case bytes.HasPrefix(line, []byte("<<<<<<< ")), bytes.HasPrefix(line, []byte(">>>>>>> ")):
		return b, errors.New("a conflict marker of git: the issues of both sides are read")
	case fields == nil:
		return b, errors.New("the line is no JSON object")
	case id == "":
		return b, errors.New("the issue has no id")
	default:
		b.Entry = Entry{Kind: record.KindIssue, ID: id, Facts: beadFacts(id, fields)}
		b.updated, _ = time.Parse(time.RFC3339Nano, jsonText(fields["updated_at"])) // else it is the oldest
		return b, record.CheckID(id)
	}
}

// beadFields returns the members of an object, nil for what is none.
func beadFields(text []byte) (fields map[string]json.RawMessage) {
	if markdown.DecodeJSON(text, &fields) != nil {
		return nil
	}
	return fields
}

// ReadIssue reads the text of an issue, in whichever form it stands.
func ReadIssue(text []byte) Issue {
	if fields := beadFields(text); fields != nil {
		return beadIssue(fields)
	}
	return issueFields.Read(text)
}

// beadIssue returns an issue of bd with the words that other issues have.
func beadIssue(fields map[string]json.RawMessage) Issue {
	of := func(key string) string { return jsonText(fields[key]) }
	i := Issue{
		ID: of("id"), Title: of("title"), Summary: markdown.OneLine(of("title")), Type: of("issue_type"),
		State: of("status"), Status: beadStatus(of("status")), Priority: beadPriority(of("priority")),
		Created: of("created_at"), Source: of("source"), Parent: of("parent"),
	}
	for _, block := range [][2]string{
		{"", of("description")}, {"Design:\n", of("design")}, {"Acceptance criteria:\n", of("acceptance_criteria")},
		{"Notes:\n", of("notes")}, {"Closed: ", of("close_reason")}, {"Deleted: ", of("delete_reason")},
		{"Comments:\n", beadComments(fields["comments"])},
	} {
		if block[1] != "" {
			i.Details = strings.TrimPrefix(i.Details+"\n\n"+block[0]+block[1], "\n\n")
		}
	}
	if assignee := of("assignee"); assignee != "" {
		i.Extra = []ExtraField{{"Assignee", assignee}}
	}
	for _, d := range beadList(fields["dependencies"]) {
		switch on := jsonText(d["depends_on_id"]); jsonText(d["type"]) {
		case "blocks", "conditional-blocks", "waits-for", "":
			i.DependsOn = append(i.DependsOn, on)
		case "parent-child":
			i.Parent = on
		}
	}
	return i
}

// readableIssue returns a line with an issue as people read it, with what it is first.
func readableIssue(line []byte) []byte {
	fields := beadFields(line)
	if fields == nil {
		return line
	}
	i := beadIssue(fields)
	said := []string{i.ID, i.Title, i.State, i.Priority, i.Type, ExtraValue(i.Extra, "assignee"), i.Details}
	said = append(said, beadLabels(fields["labels"])...)
	return []byte(strings.Join(factList(said, markdown.OneLine), "  "))
}

// beadLabels returns the labels of an issue.
func beadLabels(raw json.RawMessage) (labels []string) {
	_ = json.Unmarshal(raw, &labels) // what is no list has none
	return factList(labels, factLine)
}

// beadList returns the objects of a list; what is none says nothing.
func beadList(raw json.RawMessage) (list []map[string]json.RawMessage) {
	var items []json.RawMessage
	_ = json.Unmarshal(raw, &items) // what is no list has none
	for _, item := range items {
		if fields := beadFields(item); fields != nil {
			list = append(list, fields)
		}
	}
	return list
}

// beadComments returns what was said about an issue, in its order.
func beadComments(raw json.RawMessage) string {
	var lines []string
	for _, c := range beadList(raw) {
		lines = append(lines, strings.TrimPrefix(jsonText(c["author"])+": "+jsonText(c["text"]), ": "))
	}
	return strings.Join(lines, "\n")
}

// beadStatus returns the status of a queue that a status of bd comes to. Those that say
// that an issue waits for something else, such as blocked, are no status of the queue,
// and nobody is given such an issue.
func beadStatus(text string) string {
	switch word := factWord(text); word {
	case "open":
		return StatusPending
	case "hooked":
		return StatusInProgress
	case "closed":
		return StatusComplete
	case "tombstone":
		return "wont_fix"
	default:
		return word
	}
}

// beadPriority returns the word for a priority from 0 to 4, or P0 to P4.
func beadPriority(text string) string {
	words := []string{"critical", "high", "medium", "low", "backlog"}
	if at, isNumber := number(strings.TrimPrefix(strings.ToLower(text), "p"), ""); isNumber && len(at) == 1 && at < "5" {
		return words[at[0]-'0']
	}
	return factWord(text)
}

// beadFacts returns what an issue of bd says about itself.
func beadFacts(id string, fields map[string]json.RawMessage) Facts {
	i := beadIssue(fields)
	facts := issueFields.Facts(i)
	facts.Agent, facts.Summary = word(jsonText(fields["created_by"])), factSummary(i.Details)
	facts.setFact("state", i.State)
	facts.setFact("updated", jsonText(fields["updated_at"]))
	facts.Tags = beadLabels(fields["labels"])
	for _, d := range beadList(fields["dependencies"]) {
		target := jsonText(d["depends_on_id"])
		if record.CheckID(target) == nil && target != id {
			facts.Links = append(facts.Links, record.Link{Type: beadLink(jsonText(d["type"])), Target: "issue/" + target})
		}
	}
	return facts
}

// beadLink returns the type of a link to what an issue depends on.
func beadLink(kind string) string {
	switch kind {
	case "blocks", "":
		return "blocked-by"
	case "parent-child":
		return "parent"
	case "related", "relates-to":
		return LinkRelatesTo
	}
	return word(kind)
}

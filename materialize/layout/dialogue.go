package layout

import (
	"bytes"
	"fmt"
	"strings"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// Dialogues is the layout of the files of a dialogue that are no turns:
// scoreboard, tensions, summaries, verdict, prompts, panels, and the assembled
// documents.
type Dialogues struct{}

// Parse makes the whole file one dialogue record. An assembled document gives
// its title, status and date; JSON that is broken is reported with its line.
func (Dialogues) Parse(path string, text []byte) (File, []*SyntaxError) {
	var f Facts
	if strings.HasSuffix(path, ".md") {
		if head, found := ParseDialogueHead(text); found {
			f.Title = markdown.Clip(markdown.CollapseSpace(head.Title), 120)
			f.Status = word(head.Status)
			f.setFact(record.AttributeCreated, head.Date)
		}
	}
	return single(path, record.KindDialogue, text, f), jsonProblems(path, text)
}

// A DialogueHead is what an assembled dialogue document says of itself before
// its first section.
type DialogueHead struct {
	Title        string
	Draft        string // a number or a link
	Date         string
	Status       string
	Participants []string
	Extra        []Property
}

// dialogueTitle begins the heading that tells a document from other files.
const dialogueTitle = "Alignment Dialogue:"

// AppendDialogueHead appends the heading and the metadata lines of a document.
func AppendDialogueHead(dst []byte, h DialogueHead) []byte {
	dst = fmt.Appendf(dst, "# %s %s\n\n", dialogueTitle, markdown.SingleSpaced(h.Title))
	lines := []Property{
		{"Draft", h.Draft}, {"Date", h.Date}, {"Status", h.Status}, {"Participants", strings.Join(h.Participants, ", ")},
	}
	for _, p := range append(lines, h.Extra...) {
		if value := markdown.SingleSpaced(p.Value); value != "" {
			dst = fmt.Appendf(dst, "**%s**: %s\n", markdown.SingleSpaced(p.Key), value)
		}
	}
	return dst
}

// ParseDialogueHead reads the head of an assembled document. A text whose first
// heading is not "# Alignment Dialogue: title" is none.
func ParseDialogueHead(text []byte) (h DialogueHead, found bool) {
	for raw := range bytes.Lines(bytes.TrimPrefix(text, []byte(markdown.ByteOrderMark))) {
		level, title := markdown.Heading(bytes.TrimRight(raw, "\r\n"))
		switch {
		case level == 0 && found:
			if p, isProperty := cutProperty(string(raw)); isProperty {
				h.set(p)
			}
		case level == 0: // text before the heading
		case level == 1 && !found:
			if title, found = strings.CutPrefix(title, dialogueTitle); !found {
				return DialogueHead{}, false
			}
			h.Title = strings.TrimSpace(title)
		default:
			return h, found
		}
	}
	return h, found
}

// set takes in one metadata line.
func (h *DialogueHead) set(p Property) {
	switch markdown.Fold(p.Key) {
	case "draft":
		h.Draft = p.Value
	case "date":
		h.Date = p.Value
	case "status":
		h.Status = p.Value
	case "participants":
		for name := range strings.SplitSeq(p.Value, ",") {
			if name = strings.TrimSpace(name); name != "" {
				h.Participants = append(h.Participants, name)
			}
		}
	default:
		h.Extra = append(h.Extra, p)
	}
}

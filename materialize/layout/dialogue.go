package layout

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// dialogues is the layout of the files of a dialogue that are no turns:
// scoreboard, tensions, summaries, verdict, prompts, panels, and the assembled
// documents.
var dialogues = &single{record.KindDialogue, dialogueFacts}

// dialogueFacts takes title, status and date from an assembled document.
func dialogueFacts(path string, text []byte) (f Facts, problems []*SyntaxError) {
	if strings.HasSuffix(path, ".md") {
		if head, found := parseDialogueHead(text); found {
			f.Title = titleOf(head.Title)
			f.Status = word(head.Status)
			f.setFact(record.AttributeCreated, head.Date)
		}
	}
	return f, jsonProblems(path, text)
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

// appendDialogueHead appends the heading and the metadata lines of a document.
func appendDialogueHead(dst []byte, h DialogueHead) []byte {
	title := dialogueTitle + " " + markdown.SingleSpaced(h.Title)
	if strings.HasSuffix(title, "#") {
		title += " #" // which closes the heading, as the last ones of a title otherwise would
	}
	dst = fmt.Appendf(dst, "# %s\n\n", title)
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

// parseDialogueHead reads the head of an assembled document. A text whose first
// heading is not "# Alignment Dialogue: title" is none.
func parseDialogueHead(text []byte) (h DialogueHead, found bool) {
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

// set reads one metadata line.
func (h *DialogueHead) set(p Property) {
	lines := map[string]*string{"draft": &h.Draft, "date": &h.Date, "status": &h.Status}
	switch key := markdown.Fold(p.Key); {
	case lines[key] != nil:
		*lines[key] = p.Value
	case key == "participants":
		h.Participants = append(h.Participants, factList(strings.Split(p.Value, ","), strings.TrimSpace)...)
	default:
		h.Extra = append(h.Extra, p)
	}
}

// A speaker says who speaks at a place of a document, by its headings.
type speaker struct {
	Agent string // lower case; "judge" for the judge; "" if it is not said
	Round int    // -1 if it is not said
}

// turnSpeaker returns whose turn the file at a path is: {slug}/round-{n}/{agent}.md,
// wherever the dialogue's folder lies.
func turnSpeaker(path string) (speaker, bool) {
	parts := strings.Split(path, "/")
	if len(parts) < 3 {
		return speaker{Round: -1}, false
	}
	place, found := familyDialogues.read(strings.Join(parts[len(parts)-3:], "/"))
	round, err := strconv.Atoi(place.Facts.Attributes[AttributeRound])
	if !found || place.Kind != record.KindTurn || err != nil {
		return speaker{Round: -1}, false
	}
	return speaker{place.Facts.Agent, round}, true
}

// speakersIn returns who speaks in an assembled document in each of its markers. A
// heading with "Round 1" says the round; one with the name of an expert beside 🧁,
// or of a participant of the document's head, says the agent. Both hold up to the
// next heading of the same or a higher level.
func speakersIn(text []byte, markers []Marker) []speaker {
	head, _ := parseDialogueHead(text)
	r := speakerReader{names: markdown.Each(head.Participants, speakerName), now: speaker{Round: -1}}
	speakers := make([]speaker, 0, len(markers))
	for _, l := range markdown.Lines(text) {
		if l.Level > 0 && !l.Quiet {
			_, title := markdown.Heading(l.Text)
			r.heading(l.Level, title)
		}
		for len(speakers) < len(markers) && markers[len(speakers)].Line <= l.Number {
			speakers = append(speakers, r.now)
		}
	}
	return speakers
}

// roundExpression finds the number of a round in a heading.
var roundExpression = Pattern(`(?i)\bround[ -]?([0-9]{1,4})\b`)

// A speakerReader goes through the headings of a document.
type speakerReader struct {
	names                  []string // of the participants, lower case
	now                    speaker
	roundLevel, agentLevel int // of the headings that said so
}

// heading reads a heading.
func (r *speakerReader) heading(level int, title string) {
	if level <= r.roundLevel {
		r.now.Round, r.roundLevel = -1, 0
	}
	if level <= r.agentLevel {
		r.now.Agent, r.agentLevel = "", 0
	}
	if m := roundExpression().FindStringSubmatch(title); m != nil {
		r.now.Round, _ = strconv.Atoi(m[1]) // at most four digits
		r.roundLevel = level
	}
	if agent := r.agent(title); agent != "" {
		r.now.Agent, r.agentLevel = agent, level
	}
}

// agent returns the agent that a heading names, or "".
func (r *speakerReader) agent(title string) string {
	if strings.Contains(title, JudgeEmoji) {
		return "judge"
	}
	name := speakerName(title)
	if strings.Contains(title, AgentEmoji) || name != "" && slices.Contains(r.names, name) {
		return name
	}
	return ""
}

// speakerName returns the name in "Muffin 🧁", "🧁 Muffin (Platform Architect)" and
// "**Muffin** 🧁: storage", lower case.
func speakerName(title string) string {
	title = strings.NewReplacer(AgentEmoji, " ", JudgeEmoji, " ", "*", " ", "`", " ").Replace(title)
	name, _, _ := strings.Cut(strings.TrimSpace(title), " - ")
	name = leading(name, func(c rune) bool {
		return unicode.IsLetter(c) || unicode.IsDigit(c) || strings.ContainsRune(" -_.'", c)
	})
	return strings.ToLower(markdown.SingleSpaced(name))
}

// A SpokenMarker is a marker and who speaks in it.
type SpokenMarker struct {
	Marker
	Voice speaker
}

// Spoken returns the markers of the file at a path with who speaks in them: as
// an id of the second generation says, else as the path of a turn does, else as
// the headings of a document do.
func Spoken(path string, text []byte) []SpokenMarker {
	markers := ParseMarkers(text)
	turn, isTurn := turnSpeaker(path)
	var speakers []speaker
	if !isTurn {
		speakers = speakersIn(text, markers)
	}
	said := make([]SpokenMarker, len(markers))
	for i, m := range markers {
		said[i] = SpokenMarker{m, turn}
		switch {
		case m.Agent != "":
			said[i].Voice = speaker{m.Agent, m.Round}
		case !isTurn:
			said[i].Voice = speakers[i]
		}
	}
	return said
}

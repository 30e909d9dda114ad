package dialogue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// Document returns the document of a dialogue, with every turn whatever its length:
// the same records give the same document. What an agent that owes a file did not
// give is named as absent. Summaries and a verdict that the judge has written by
// hand are sections of their own.
func (f *Forum) Document(ctx context.Context, d *Dialogue) (layout.DialogueDocument, error) {
	b := documentBuilder{d: d, board: NewBoard(d), experts: d.experts()}
	text, err := f.byHand(ctx, d, scoreboardFile)
	if err != nil {
		return layout.DialogueDocument{}, err
	}
	b.written, b.isWritten = layout.ParseScoreboard(text)
	doc := layout.DialogueDocument{
		Head: b.head(), Panel: b.panel(), Scores: b.scores(), Perspectives: b.perspectives(), Tensions: b.tensions(),
	}
	for _, r := range d.Rounds {
		round := layout.DocumentRound{Number: r.Number, Label: b.label(r)}
		for _, e := range d.takingPart(r) {
			turn, err := b.turn(ctx, f, r, e.Name)
			if err != nil {
				return doc, err
			}
			round.Turns = append(round.Turns, turn)
		}
		title := fmt.Sprintf("%s Judge: Round %d Summary", layout.JudgeEmoji, r.Number)
		if round.After, err = f.judgeSection(ctx, d, summaryFile(r.Number), title); err != nil {
			return doc, err
		}
		doc.Rounds = append(doc.Rounds, round)
	}
	verdict, err := f.judgeSection(ctx, d, "verdict.md", layout.JudgeEmoji+" Judge: Verdict")
	switch n := len(doc.Rounds); {
	case err != nil:
		return doc, err
	case n > 0:
		doc.Rounds[n-1].After = append(doc.Rounds[n-1].After, verdict...)
	default:
		doc.Front = verdict
	}
	return doc, nil
}

// byHand returns the text of a file that the judge has written, nil if there is none.
// One that was computed says nothing that the tables do not.
func (f *Forum) byHand(ctx context.Context, d *Dialogue, path string) ([]byte, error) {
	v, found := d.file(path)
	if !found {
		return nil, nil
	}
	text, err := f.w.TextOf(ctx, v)
	if err != nil || isBlank(text) || isDerived(text) {
		return nil, err
	}
	return text, nil
}

// judgeSection returns a file that the judge has written, as a section.
func (f *Forum) judgeSection(ctx context.Context, d *Dialogue, path, title string) ([]layout.DocumentSection, error) {
	text, err := f.byHand(ctx, d, path)
	if text == nil {
		return nil, err
	}
	return []layout.DocumentSection{{Title: title, Text: string(text)}}, nil
}

// A documentBuilder makes the parts of one document.
type documentBuilder struct {
	d       *Dialogue
	board   *Board
	experts []layout.Expert // all who take part, by their place in the panel
	// The scoreboard that the judge has written by hand.
	written   layout.Scoreboard
	isWritten bool
}

// experts returns all who take part: of the pool those who were launched, of each
// panel, and who wrote without being in one. Labels and emojis are never empty.
func (d *Dialogue) experts() []layout.Expert {
	var part []layout.Expert
	for _, r := range d.Rounds {
		part = append(part, d.takingPart(r)...)
	}
	all := slices.DeleteFunc(folded(d.Pool.Experts), func(e layout.Expert) bool { return !isAmong(part, e.Name) })
	return markdown.Each(folded(append(all, part...)), plainExpert)
}

// takingPart returns who owes a file in a round, and after them who wrote without being
// asked, each once.
func (d *Dialogue) takingPart(r *Round) []layout.Expert {
	return folded(slices.Concat(d.Launched(r), writers(r.Turns)))
}

// plainExpert returns an expert whose label and emoji can be read back.
func plainExpert(e layout.Expert) layout.Expert {
	plain := func(text string) string {
		text = strings.Map(func(r rune) rune {
			if r == ',' || r == '|' || layout.IsEmoji(r) {
				return ' '
			}
			return r
		}, text)
		return markdown.SingleSpaced(text)
	}
	e.Label = cmp.Or(plain(e.Label), plain(labelOf(e.Name)), e.Name)
	e.Emoji = strings.TrimSpace(e.Emoji)
	if e.Emoji == "" || e.Emoji == layout.JudgeEmoji || strings.TrimFunc(e.Emoji, layout.IsEmoji) != "" {
		e.Emoji = layout.AgentEmoji
	}
	return e
}

// judge returns what people call the judge.
func (b *documentBuilder) judge() string {
	return plainExpert(layout.Expert{Name: "judge", Label: b.d.Pool.Judge}).Label
}

// expert returns the expert that an agent is.
func (b *documentBuilder) expert(agent string) layout.Expert {
	agent = foldExpert(agent)
	for _, e := range b.experts {
		if e.Name == agent {
			return e
		}
	}
	return plainExpert(layout.Expert{Name: agent})
}

// head returns the document's own account of itself.
func (b *documentBuilder) head() layout.DialogueHead {
	h := layout.DialogueHead{
		Title: b.title(), Draft: "Dialogue " + b.d.Key.Slug(), Date: b.date(), Status: "In Progress",
		Participants: []string{layout.JudgeEmoji + " " + b.judge()},
	}
	if b.board.Converged {
		h.Status = "Converged"
	}
	for _, e := range b.experts {
		h.Participants = append(h.Participants, e.Emoji+" "+e.Label)
	}
	for _, p := range []layout.Property{{Key: "Domain", Value: b.d.Pool.Domain}, {Key: "Question", Value: b.d.Pool.Question}} {
		if p.Value = markdown.SingleSpaced(p.Value); p.Value != "" {
			h.Extra = append(h.Extra, p)
		}
	}
	return h
}

// title returns what the dialogue is called; the words of its slug if its pool does
// not say it.
func (b *documentBuilder) title() string {
	slug := b.d.Key.Slug()
	if b.d.Pool.Title != slug {
		return b.d.Pool.Title
	}
	words := strings.ReplaceAll(stamp().ReplaceAllString(slug, ""), "-", " ")
	if words == "" {
		return slug
	}
	return strings.ToUpper(words[:1]) + words[1:]
}

// date returns when the dialogue began, as its pool says it or the name of its
// folder; "" if neither does.
func (b *documentBuilder) date() string {
	if created := b.d.Pool.Created; !created.IsZero() {
		return created.UTC().Format("2006-01-02 15:04Z")
	}
	text := strings.TrimSuffix(stamp().FindString(b.d.Key.Slug()), "-")
	day, clock, _ := strings.Cut(text, "T")
	if len(clock) >= len("0930Z") {
		return day + " " + clock[:2] + ":" + clock[2:4] + "Z"
	}
	return day
}

// panel returns the table of those who take part, the judge first.
func (b *documentBuilder) panel() []layout.DocumentExpert {
	rows := []layout.DocumentExpert{{Expert: layout.Expert{Label: b.judge(), Role: "Orchestrator", Emoji: layout.JudgeEmoji}}}
	for _, e := range b.experts {
		e.Name = ""
		rows = append(rows, layout.DocumentExpert{Expert: e})
	}
	return rows
}

// scores returns the scoreboard, with the names of agents as in the panel: of those
// who were judged, so that an absent agent is never scored. Where nobody was, it is
// the one that the judge has written by hand, else that of the rounds alone.
func (b *documentBuilder) scores() layout.Scoreboard {
	board := b.board.Scoreboard
	board.Agents = slices.DeleteFunc(slices.Clone(board.Agents), func(a layout.AgentScore) bool { return len(a.Rounds) == 0 })
	if len(board.Agents) == 0 {
		board.Total, board.HasTotal = 0, false
		if b.isWritten {
			board = b.written
		}
	}
	for i, a := range board.Agents {
		for _, e := range b.experts {
			if strings.EqualFold(e.Label, a.Agent) || strings.EqualFold(e.Name, a.Agent) {
				board.Agents[i].Agent = e.Emoji + " " + e.Label
			}
		}
		if a.Marks != (layout.Marks{}) {
			board.Agents[i].Rounds = nil // the table has the four numbers
		}
	}
	return board
}

func (b *documentBuilder) perspectives() []layout.PerspectiveRow {
	var rows []layout.PerspectiveRow
	for _, p := range b.board.Perspectives {
		rows = append(rows, layout.PerspectiveRow{
			ID: p.ID, Agent: b.expert(p.Agent).Label, Perspective: plainCell(markdown.Clip(p.Label, maxLabel)),
			Round: strconv.Itoa(p.Round),
		})
	}
	return rows
}

func (b *documentBuilder) tensions() []layout.TensionRow {
	rows := b.board.TensionRows()
	for i := range rows {
		rows[i].Tension = plainCell(rows[i].Tension)
	}
	return rows
}

// plainCell returns a label as a table can hold it: without emphasis, and not one
// that looks like a cell without a value.
func plainCell(label string) string {
	label = oneSpaced(strings.ReplaceAll(label, "**", ""))
	if strings.Trim(label, "—–- ") == "" {
		return ""
	}
	return label
}

// label returns what a round is called.
func (b *documentBuilder) label(r *Round) string {
	switch {
	case r.Number == 0:
		return "Opening Arguments"
	case b.board.Converged && r == b.d.Last():
		return "Convergence"
	}
	return "Responses"
}

// turn returns the block of an agent in a round: its turn, whatever its length, or that
// there is none.
func (b *documentBuilder) turn(ctx context.Context, f *Forum, r *Round, agent string) (layout.DocumentTurn, error) {
	e, t := b.expert(agent), r.Turn(agent)
	out := layout.DocumentTurn{Name: agent, Label: e.Label, Emoji: e.Emoji}
	if t == nil {
		out.Absent = "there is no file"
		return out, nil
	}
	text, err := t.Text, error(nil)
	if text == nil { // it is too long to be read for its markers
		text, err = f.w.TextOf(ctx, t.Version)
	}
	out.Text = string(text)
	switch {
	case t.IsStub:
		out.Absent = cmp.Or(markdown.SingleSpaced(t.Stub), "an error without a reason")
		if string(layout.StubText(out.Absent, "")) == out.Text {
			out.Text = "" // it says no more
		}
	case isBlank(text):
		out.Absent, out.Text = "the file is empty", ""
	case t.Astray != "":
		out.Absent, out.Text = t.Astray, ""
	}
	return out, err
}

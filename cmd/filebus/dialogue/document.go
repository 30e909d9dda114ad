package dialogue

import (
	"cmp"
	"context"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"filebus/cmd/filebus/rule"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
)

// Document returns the document of a dialogue, with every turn whatever its length:
// the same records give the same document. What an agent that owes a file did not
// give is named as absent. What the judge has written by hand is a section of its own,
// byte for byte. What the document says and its turns do not is named in its head.
func (f *Dialogues) Document(ctx context.Context, d *Dialogue) (layout.DialogueDocument, error) {
	b := documentBuilder{d: d, board: NewBoard(d), roles: map[string]string{}}
	if err := b.readFiles(ctx, f); err != nil {
		return layout.DialogueDocument{}, err
	}
	b.experts = b.allExperts()
	doc := layout.DialogueDocument{
		Head: b.head(), Panel: b.panel(), Scores: b.scores(), Perspectives: b.perspectives(), Tensions: b.tensions(),
		Front: b.front,
	}
	for _, r := range d.Rounds {
		round := layout.DocumentRound{Number: r.Number, Label: b.label(r), After: b.after[r.Number]}
		for _, e := range d.takingPart(r) {
			turn, err := b.turn(ctx, f, r, e.Name)
			if err != nil {
				return doc, err
			}
			round.Turns = append(round.Turns, turn)
		}
		doc.Rounds = append(doc.Rounds, round)
	}
	if findings := b.findings(doc); findings != "" {
		doc.Head.Extra = append(doc.Head.Extra, layout.Property{Key: layout.PropertyFindings, Value: findings})
	}
	return doc, nil
}

// findings returns in one line where the judge's numbers are not those of the turns, what
// of the judge's is not understood, and what the lint finds in a document.
func (b *documentBuilder) findings(doc layout.DialogueDocument) string {
	all := append(markdown.Each(b.board.Differences, Difference.String), b.board.Notes...)
	read, found := layout.ParseDialogueDocument(layout.AppendDialogueDocument(nil, doc))
	for _, finding := range LintDocument("", &read, found).Findings {
		if finding.Level != rule.Note {
			all = append(all, finding.Message)
		}
	}
	return strings.Join(all, "; ")
}

// A documentBuilder makes the parts of one document.
type documentBuilder struct {
	d       *Dialogue
	board   *Board
	experts []layout.Expert   // all who take part, by their place in the panel
	roles   map[string]string // of agents, as their prompts say
	// What the judge has written by hand: before the rounds, and behind each.
	front []layout.DocumentSection
	after map[int][]layout.DocumentSection
	said  strings.Builder // all of it
}

// roundPath begins the paths of a round's files.
var roundPath = layout.Pattern(`(?i)^round-(\d{1,4})[./]`)

// closing begins the names of files that end a dialogue.
var closing = layout.Pattern(`(?i)^(verdict|convergence|conclusion|final)`)

// promptRole is how a prompt begins that gives a role.
var promptRole = layout.Pattern(
	`(?m)^You are ([^,—\n]+)(?:,| —) (?:an?|the) (.+?)(?: in (?:an?|the|this) .*dialogue.*)?(?:\.(?: \p{Lu}.*)?)?\r?$`)

// byHand returns the text of a file that the judge has written, nil if it is blank, or was
// computed: then it says nothing that the tables do not.
func (f *Dialogues) byHand(ctx context.Context, v store.Version) ([]byte, error) {
	text, err := f.w.TextOf(ctx, v)
	if err != nil || isBlank(text) || isDerived(text) {
		return nil, err
	}
	return text, nil
}

// readFiles reads what lies beside the turns, and is no data: the text of the judge, and
// prompts.
func (b *documentBuilder) readFiles(ctx context.Context, f *Dialogues) error {
	b.after = map[int][]layout.DocumentSection{}
	for _, file := range b.d.files() {
		folder, name := path.Split(file.Path)
		stem, isText := strings.CutSuffix(name, ".md")
		text, err := f.byHand(ctx, file.Version)
		if err != nil {
			return err
		}
		agent, isPrompt := strings.CutSuffix(stem, ".prompt")
		switch m := promptRole().FindSubmatch(text); {
		case !isText || text == nil:
		case !isPrompt:
			b.said.Write(append(text, '\n'))
			s := layout.DocumentSection{Title: layout.JudgeEmoji + " Judge: " + fileTitle(folder+stem), Text: string(text)}
			if file.MayBe != nil {
				s.Title = "May be a turn, and is not counted: " + fileTitle(folder+stem)
			}
			round := firstRound(roundPath(), file.Path)
			if b.d.Round(round) == nil && b.d.Last() != nil && closing().MatchString(stem) {
				round = b.d.Last().Number
			}
			if b.d.Round(round) == nil {
				b.front = append(b.front, s)
			} else {
				b.after[round] = append(b.after[round], s)
			}
		case m != nil && layout.Slug(string(m[1])) == layout.Slug(agent):
			b.roles[agent] = string(m[2])
		}
	}
	return nil
}

// fileTitle returns what a file is called, of round-0.summary "Round 0 Summary".
func fileTitle(path string) string {
	words := strings.FieldsFunc(path, func(r rune) bool { return strings.ContainsRune("-_./ ", r) })
	return strings.Join(markdown.Each(words, labelOf), " ")
}

// allExperts returns all who take part: of the pool those who were launched, of each
// panel, and who wrote without being in one, with what any of these says of them. Labels
// and emojis are never empty.
func (b *documentBuilder) allExperts() []layout.Expert {
	var part []layout.Expert
	for _, r := range b.d.Rounds {
		part = append(part, b.d.takingPart(r)...)
	}
	all := slices.DeleteFunc(folded(b.d.Pool.Experts), func(e layout.Expert) bool { return !isAmong(part, e.Name) })
	all = folded(append(all, part...))
	for i := range all {
		e := &all[i]
		for _, other := range part {
			if foldExpert(other.Name) == e.Name {
				e.Label, e.Role, e.Tier = cmp.Or(e.Label, other.Label), cmp.Or(e.Role, other.Role), cmp.Or(e.Tier, other.Tier)
				e.Relevance, e.Emoji = cmp.Or(e.Relevance, other.Relevance), cmp.Or(e.Emoji, other.Emoji)
			}
		}
		if said := b.roles[e.Name]; e.Role == "" && said != "" {
			e.Role = said + " (by the prompt)"
			if at := slices.IndexFunc(b.d.Pool.Experts, func(of layout.Expert) bool { return of.Role == said }); at >= 0 {
				e.Tier, e.Relevance = cmp.Or(e.Tier, b.d.Pool.Experts[at].Tier), cmp.Or(e.Relevance, b.d.Pool.Experts[at].Relevance)
			}
		}
		*e = plainExpert(*e)
	}
	return all
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
	if at := slices.IndexFunc(b.experts, func(e layout.Expert) bool { return e.Name == agent }); at >= 0 {
		return b.experts[at]
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
	for _, p := range []layout.Property{
		{Key: "Domain", Value: b.d.Pool.Domain}, {Key: "Question", Value: b.d.Pool.Question},
		{Key: "Judge", Value: strings.Join(b.board.Says, "; ")},
	} {
		if p.Value = markdown.SingleSpaced(p.Value); p.Value != "" {
			h.Extra = append(h.Extra, p)
		}
	}
	return h
}

// title returns what the dialogue is called; the words of its slug if its pool does not
// say it, spelled as the judge, or else the question, has them.
func (b *documentBuilder) title() string {
	slug := b.d.Key.Slug()
	if b.d.Pool.Title != slug {
		return b.d.Pool.Title
	}
	words := strings.FieldsFunc(stamp().ReplaceAllString(slug, ""), func(r rune) bool { return r == '-' })
	if len(words) == 0 {
		return slug
	}
	whole := regexp.MustCompile(`(?im)^#.*?\b(` + strings.Join(markdown.Each(words, regexp.QuoteMeta), `[\s\-_]+`) + `)\b`)
	if m := whole.FindStringSubmatch(b.said.String()); m != nil {
		return m[1]
	}
	words[0] = labelOf(words[0])
	for _, said := range strings.Fields(b.d.Pool.Question + " " + b.d.Pool.Domain) {
		said = strings.Trim(said, "?!.,;:()\"'")
		isName := strings.IndexFunc(said[min(1, len(said)):], unicode.IsUpper) >= 0 // such as API
		for i := range words {
			if isName && strings.EqualFold(words[i], said) {
				words[i] = said
			}
		}
	}
	return strings.Join(words, " ")
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
		row := layout.DocumentExpert{Expert: e}
		row.Name = ""
		var rounds []string
		for _, r := range b.d.Rounds {
			part := b.d.takingPart(r)
			if at := slices.IndexFunc(part, func(of layout.Expert) bool { return of.Name == e.Name }); at >= 0 {
				rounds = append(rounds, strings.TrimSpace(strconv.Itoa(r.Number)+" "+part[at].Source))
			}
		}
		row.Rounds = strings.Join(rounds, ", ")
		rows = append(rows, row)
	}
	return rows
}

// scores returns the scoreboard, with the names of agents as in the panel: of those
// who were judged, so that an absent agent is never scored. Where the four numbers are
// not all of the total, an agent has it by rounds.
func (b *documentBuilder) scores() layout.Scoreboard {
	board := b.board.Scoreboard
	board.Agents = slices.DeleteFunc(slices.Clone(board.Agents), func(a layout.AgentScore) bool {
		return len(a.Rounds) == 0 && a.Total == 0
	})
	if board.HasTotal = hasScores(board); !board.HasTotal {
		board.Total = 0
	}
	for i, a := range board.Agents {
		for _, e := range b.experts {
			if strings.EqualFold(e.Label, a.Agent) || strings.EqualFold(e.Name, a.Agent) {
				board.Agents[i].Agent = e.Emoji + " " + e.Label
			}
		}
		if a.Marks.Sum() != a.Total {
			board.Agents[i].Marks = layout.Marks{}
		} else if a.Total > 0 {
			board.Agents[i].Rounds = nil // the table has the four numbers
		}
	}
	return board
}

func (b *documentBuilder) perspectives() []layout.PerspectiveRow {
	var rows []layout.PerspectiveRow
	for _, p := range b.board.Perspectives {
		row := layout.PerspectiveRow{
			ID: p.ID, Agent: b.expert(p.Agent).Label, Perspective: plainCell(markdown.Clip(p.Label, maxLabel)),
			Round: strconv.Itoa(p.Round),
		}
		if p.mark != nil {
			row.Perspective += " (" + p.mark.String() + ")"
		}
		rows = append(rows, row)
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
	label = markdown.OneLine(strings.ReplaceAll(label, "**", ""))
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
func (b *documentBuilder) turn(ctx context.Context, f *Dialogues, r *Round, agent string) (layout.DocumentTurn, error) {
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

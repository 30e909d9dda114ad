package dialogue

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
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
	all = folded(append(all, part...))
	for i, e := range all {
		all[i] = plainExpert(e)
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
		return strings.Join(strings.Fields(text), " ")
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
	for _, e := range b.experts {
		if e.Name == foldExpert(agent) {
			return e
		}
	}
	return plainExpert(layout.Expert{Name: foldExpert(agent)})
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
		if p.Value = strings.Join(strings.Fields(p.Value), " "); p.Value != "" {
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
		out.Absent = cmp.Or(strings.Join(strings.Fields(t.Stub), " "), "an error without a reason")
		if string(layout.StubText(out.Absent, "")) == out.Text {
			out.Text = "" // it says no more
		}
	case isBlank(text):
		out.Absent, out.Text = "the file is empty", ""
	}
	return out, err
}

// refs returns the versions that a document is made from.
func (d *Dialogue) refs() (all []record.Ref) {
	add := func(files []File) {
		for _, f := range files {
			all = append(all, f.Version.Ref)
		}
	}
	add(d.Files)
	for _, r := range d.Rounds {
		add(r.Files)
		for _, t := range r.Turns {
			all = append(all, t.Version.Ref)
		}
	}
	return all
}

// A lifecycle is how far a document is, as the last word of its file's name.
type lifecycle string

// The lifecycle of a document, in its order.
const (
	lifecycleDraft    lifecycle = "draft"
	lifecycleWIP      lifecycle = "wip"
	lifecycleAccepted lifecycle = "accepted"
	lifecycleRecorded lifecycle = "recorded"
)

// lifecycles returns all of them, in their order.
func lifecycles() []lifecycle {
	return []lifecycle{lifecycleDraft, lifecycleWIP, lifecycleAccepted, lifecycleRecorded}
}

// ParseLifecycle reads the name of one; "" is the zero value.
func ParseLifecycle(text string) (lifecycle, error) {
	l := lifecycle(strings.ToLower(text))
	if l != "" && !slices.Contains(lifecycles(), l) {
		return "", fmt.Errorf("%q is no status of a document: draft, wip, accepted or recorded", text)
	}
	return l, nil
}

// maxDocument is how long a document may become, in bytes, before its rounds are
// files of their own: 20,000 tokens, less than agents read at once.
const maxDocument = 4 * 20_000

// AssembleOptions say how a document is written.
type AssembleOptions struct {
	Status lifecycle // "": the one that it has; of a new one, draft
	Split  bool      // each round in a file of its own, however short
	Force  bool      // also over what somebody has changed by hand
}

// A DocumentFile is one file of a document.
type DocumentFile struct {
	Name string // of the file, without folders
	Text []byte
}

// An Assembled says what was written.
type Assembled struct {
	Dialogue Key             `json:"dialogue"`
	Status   lifecycle       `json:"status,omitempty"`  // "": it was not stored
	Files    []AssembledFile `json:"files"`             // the document first, then its rounds
	Removed  []string        `json:"removed,omitempty"` // files of another status that are no more, absolute
	Rounds   int             `json:"rounds"`
	Turns    int             `json:"turns"`
	Absent   int             `json:"absent"` // agents that owed a turn and gave none
	Skipped  error           `json:"-"`      // what was written just now and could not be imported
}

// An AssembledFile is a file of a document that was written.
type AssembledFile struct {
	File      string `json:"file"`           // absolute
	Name      string `json:"name,omitempty"` // of its record; "": it was not stored
	Ref       string `json:"ref,omitempty"`
	Tokens    int    `json:"tokens"`
	Unchanged bool   `json:"unchanged"`
}

// NewAssembled counts what is in a document, of which no file was written yet.
func NewAssembled(key Key, doc layout.DialogueDocument) *Assembled {
	a := &Assembled{Dialogue: key, Rounds: len(doc.Rounds)}
	for _, r := range doc.Rounds {
		for _, t := range r.Turns {
			if t.Absent != "" {
				a.Absent++
			} else {
				a.Turns++
			}
		}
	}
	return a
}

// RenderDocument returns the files of a document, whose own is called name: one, or
// with its rounds beside it if the document would pass maxDocument, or anyway.
func RenderDocument(doc layout.DialogueDocument, name string, split bool) []DocumentFile {
	whole := layout.AppendDialogueDocument(nil, doc)
	if len(doc.Rounds) == 0 || !split && len(whole) <= maxDocument {
		return []DocumentFile{{name, whole}}
	}
	files := []DocumentFile{{Name: name}}
	index := doc
	index.Rounds = slices.Clone(doc.Rounds)
	for i, r := range doc.Rounds {
		part := roundName(name, r.Number)
		files = append(files, DocumentFile{part, layout.AppendDialogueRound(nil, doc.Head.Title, name, r)})
		index.Rounds[i].File, index.Rounds[i].Turns = part, nil
	}
	files[0].Text = layout.AppendDialogueDocument(nil, index)
	return files
}

// roundName returns the name of a round's file, beside that of the document.
func roundName(name string, round int) string {
	stem := strings.TrimSuffix(name, ".md")
	part := ".round-" + strconv.Itoa(round)
	for _, l := range lifecycles() {
		if head, found := strings.CutSuffix(stem, "."+string(l)); found {
			return head + part + "." + string(l) + ".md"
		}
	}
	return stem + part + ".md"
}

// CheckOverwrite returns ErrEdited if old, the text of a file, is neither the
// new one nor as dialogue assemble has written it.
func CheckOverwrite(file string, old, text []byte) error {
	if sealed, intact := layout.CheckSeal(old); len(old) == 0 || sealed && intact || bytes.Equal(old, text) {
		return nil
	}
	err := record.Conflict.Errorf("%s was not written by dialogue assemble, or was changed since", file)
	return err.Because(ErrEdited, file)
}

// Assemble writes the document of a dialogue below the folder for documents, as
// {time}-{slug}.dialogue.{status}.md: the same records give the same bytes. A
// document of another status is renamed. It returns ErrCaptured for a dialogue of a
// captured tree, and ErrEdited, having written nothing, where a file was
// changed by hand.
func (f *Forum) Assemble(ctx context.Context, key Key, opts AssembleOptions) (*Assembled, error) {
	if err := key.checkOwn(); err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		done, err := f.assemble(ctx, key, opts)
		if !errors.Is(err, store.ErrConflict) || errors.Is(err, ErrEdited) || try == assembleTries {
			return done, err
		}
	}
}

// assembleTries is how often a document is assembled anew because another process
// was faster.
const assembleTries = 5

func (f *Forum) assemble(ctx context.Context, key Key, opts AssembleOptions) (*Assembled, error) {
	d, skipped, err := f.ReadFresh(ctx, key)
	if err != nil {
		return nil, err
	}
	doc, err := f.Document(ctx, d)
	if err != nil {
		return nil, err
	}
	folder, base := d.documentBase()
	old, err := f.documentFiles(ctx, folder, base)
	if err != nil {
		return nil, err
	}
	done := NewAssembled(key, doc)
	done.Status, done.Skipped = cmp.Or(opts.Status, statusOf(old)), skipped
	files := RenderDocument(doc, base+".dialogue."+string(done.Status)+".md", opts.Split)
	for _, o := range old {
		err := CheckOverwrite(f.w.FilePath(o.version.Record.Path), o.text, textIn(files, path.Base(o.name.ID)))
		if err != nil && !opts.Force {
			return nil, err
		}
	}
	return done, f.writeFiles(ctx, d, done, folder, files, old)
}

// documentBase returns the folder of a dialogue's documents, as the ids of records
// begin, and what the names of its files begin with: the time that the dialogue was
// made, and its slug.
func (d *Dialogue) documentBase() (folder, base string) {
	slug := d.Key.Slug()
	folder = strings.TrimSuffix(d.Key.ID, slug) + "docs/"
	if created := d.Pool.Created; !created.IsZero() && !stamp().MatchString(slug) {
		return folder, created.UTC().Format("2006-01-02T1504Z") + "-" + slug
	}
	return folder, slug
}

// documentName is what follows the base in the name of a document's file.
var documentName = layout.Pattern(`^\.dialogue(\.round-\d+)?\.(draft|wip|accepted|recorded)\.md$`)

// A documentRecord is a file of a document that is stored.
type documentRecord struct {
	name    record.Name
	status  lifecycle
	isRound bool
	version store.Version
	text    []byte
}

// documentFiles returns the files that a document has now, in all statuses, as they
// are on disk.
func (f *Forum) documentFiles(ctx context.Context, folder, base string) ([]documentRecord, error) {
	ids := map[string]bool{}
	for _, l := range lifecycles() {
		ids[folder+base+".dialogue."+string(l)+".md"] = true
	}
	stored, err := f.storedDocument(ctx, folder, base)
	if err != nil {
		return nil, err
	}
	for _, file := range stored {
		ids[file.name.ID] = true
	}
	for id := range ids {
		if err := f.w.ImportNew(ctx, record.KindDialogue, id); err != nil {
			return nil, err
		}
	}
	return f.storedDocument(ctx, folder, base)
}

// Documents returns the names of the documents that are stored of a dialogue, one for
// each status, without the files of their rounds. One of a captured tree has none.
func (f *Forum) Documents(ctx context.Context, d *Dialogue) ([]record.Name, error) {
	folder, base := d.documentBase()
	if !d.Key.IsOwn() {
		return nil, nil
	}
	stored, err := f.storedDocument(ctx, folder, base)
	if err != nil {
		return nil, err
	}
	var names []record.Name
	for _, file := range stored {
		if !file.isRound {
			names = append(names, file.name)
		}
	}
	return names, nil
}

// storedDocument returns the files of a document that are stored, by name.
func (f *Forum) storedDocument(ctx context.Context, folder, base string) ([]documentRecord, error) {
	var entries []query.Summary
	err := f.w.Store.View(ctx, func(tx *store.Tx) (err error) {
		entries, err = startingWith(tx, record.Name{Kind: record.KindDialogue, ID: folder + base})
		return err
	})
	if err != nil {
		return nil, err
	}
	var files []documentRecord
	for _, e := range entries {
		name := e.Version.Record.Name
		rest, found := strings.CutPrefix(name.ID, folder+base)
		m := documentName().FindStringSubmatch(rest)
		if !found || m == nil {
			continue
		}
		text, err := f.w.TextOf(ctx, e.Version)
		if err != nil {
			return nil, err
		}
		files = append(files, documentRecord{name, lifecycle(m[2]), m[1] != "", e.Version, text})
	}
	slices.SortFunc(files, func(a, b documentRecord) int { return strings.Compare(a.name.ID, b.name.ID) })
	return files, nil
}

// statusOf returns the status of the document that there is: the furthest one.
func statusOf(files []documentRecord) lifecycle {
	status := lifecycleDraft
	for _, f := range files {
		if !f.isRound && slices.Index(lifecycles(), f.status) > slices.Index(lifecycles(), status) {
			status = f.status
		}
	}
	return status
}

// textIn returns the text of a file by its name, nil if it is none of these.
func textIn(files []DocumentFile, name string) []byte {
	for _, file := range files {
		if file.Name == name {
			return file.Text
		}
	}
	return nil
}

// writeFiles stores the files of a document, and removes those that it has no more.
func (f *Forum) writeFiles(
	ctx context.Context, d *Dialogue, done *Assembled, folder string, files []DocumentFile, old []documentRecord,
) error {
	from := d.refs()
	for _, file := range slices.Backward(files) { // the document never names a file that is not there
		request := materialize.PutRequest{
			Kind: record.KindDialogue, ID: folder + file.Name, Text: bytes.NewReader(file.Text), From: from,
			Source: record.SourceCombine, Expect: store.Absent(),
			Facts: layout.Facts{Attributes: map[string]string{layout.AttributeDialogue: d.Key.Slug()}},
		}
		for _, o := range old {
			if o.name.ID != request.ID {
				continue
			}
			request.Expect = store.Current(o.version.Ref)
			if bytes.Equal(o.text, file.Text) { // made from other versions that say the same
				request.From = o.version.Record.From
			}
		}
		put, err := f.w.Put(ctx, request)
		if err != nil {
			return err
		}
		done.Files = append(done.Files, AssembledFile{
			put.File, put.Name.String(), put.Ref.String(), record.EstimateTokens(put.Record.Size), put.Unchanged,
		})
	}
	slices.Reverse(done.Files)
	for _, o := range old {
		if textIn(files, path.Base(o.name.ID)) != nil {
			continue
		}
		if err := f.w.Remove(ctx, o.name); err != nil {
			return err
		}
		done.Removed = append(done.Removed, f.w.FilePath(o.version.Record.Path))
	}
	return nil
}

// ReadDocument reads a document, with its rounds from the files beside it, which
// open returns by their names. A file that is not there, or is none of its
// document, leaves the round without turns, and its error is returned beside the
// document.
func ReadDocument(text []byte, open func(name string) ([]byte, error)) (doc layout.DialogueDocument, found bool, err error) {
	doc, found = layout.ParseDialogueDocument(text)
	for i, r := range doc.Rounds {
		if r.File == "" {
			continue
		}
		part, partErr := readRound(r, open)
		if partErr != nil {
			err = errors.Join(err, fmt.Errorf("round %d: %w", r.Number, partErr))
			continue
		}
		doc.Rounds[i].Turns = part.Turns
	}
	return doc, found, err
}

// readRound reads the file of a round.
func readRound(r layout.DocumentRound, open func(name string) ([]byte, error)) (layout.DocumentRound, error) {
	if strings.ContainsAny(r.File, `/\`) {
		return r, fmt.Errorf("%q is no file beside the document", r.File)
	}
	text, err := open(r.File)
	if err != nil {
		return r, err
	}
	part, _ := layout.ParseDialogueDocument(text)
	for _, found := range part.Rounds {
		if found.Number == r.Number {
			return found, nil
		}
	}
	return r, fmt.Errorf("%s has no round %d", r.File, r.Number)
}

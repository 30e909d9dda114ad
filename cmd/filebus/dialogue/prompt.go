package dialogue

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// A Prompt is what an agent is told in a round.
type Prompt struct {
	Agent   string   `json:"agent"`
	Output  string   `json:"output"`          // the file that it must write, absolute
	Reads   []string `json:"reads,omitempty"` // the files that it is told to read, absolute
	Tokens  int      `json:"tokens"`          // of the text, about
	File    string   `json:"file,omitempty"`  // that has the text, absolute; "" unless it was saved
	Ref     string   `json:"ref,omitempty"`   // of that file, 12 digits
	Text    string   `json:"text,omitempty"`
	NoWrite string   `json:"no_write,omitempty"` // the definition of the agent, if it lacks the Write tool
}

// A PromptRequest says who is told what.
type PromptRequest struct {
	Round  int
	Agents []string // in any case; none: the roster
	Save   bool     // the prompts as files of the round
}

// Prompts returns what agents are told in a round, and launches them: see launch,
// whose errors it returns. A pool without names has nobody to be told without Agents.
func (f *Dialogues) Prompts(ctx context.Context, key Key, r PromptRequest) ([]Prompt, error) {
	d, err := f.readOwn(ctx, key)
	if err != nil {
		return nil, err
	}
	agents := r.Agents
	if len(agents) == 0 {
		roster, err := d.roster(r.Round)
		if err != nil {
			return nil, err
		}
		agents = names(roster)
	}
	if len(agents) == 0 {
		return nil, refuse("filebus dialogue panel SLUG ROUND --add NAME", "the expert pool of %s has no names: say which agents", key)
	}
	if err := f.launch(ctx, d, r.Round, agents...); err != nil {
		return nil, err
	}
	var prompts []Prompt
	for _, agent := range agents {
		p, err := f.prompt(ctx, d, r.Round, agent)
		if err == nil && r.Save {
			err = f.savePrompt(ctx, key, r.Round, &p)
		}
		if err != nil {
			return nil, err
		}
		prompts = append(prompts, p)
	}
	return prompts, nil
}

// prompt returns what one agent is told.
func (f *Dialogues) prompt(ctx context.Context, d *Dialogue, round int, agent string) (Prompt, error) {
	e, err := d.expert(round, agent)
	if err != nil {
		return Prompt{}, err
	}
	p := Prompt{Agent: e.Name}
	if p.Output, err = f.w.PathOf(turnName(d.Key, round, e.Name)); err != nil {
		return p, err
	}
	var text strings.Builder
	if err := f.writeTask(&text, d, round, e); err != nil {
		return p, err
	}
	last := firstText
	if round > 0 {
		last = laterText
		if err := f.writeBrief(ctx, &text, d, round, e.Name); err != nil {
			return p, err
		}
		if p.Reads, err = f.writeReadings(&text, d, round, e.Name); err != nil {
			return p, err
		}
	}
	fmt.Fprintf(&text, outputText, p.Output)
	text.WriteString(formatText + exampleTurn + rulesText + last)
	fmt.Fprintf(&text, confirmText, p.Output)
	p.Text, p.Tokens = text.String(), record.EstimateTokens(int64(text.Len()))
	return p, nil
}

// savePrompt stores a prompt as a file of the round.
func (f *Dialogues) savePrompt(ctx context.Context, key Key, round int, p *Prompt) error {
	name := fileName(key, roundFolder(round)+"/"+p.Agent+".prompt.md")
	put, err := f.w.EditText(ctx, name.Kind, name.ID, record.SourcePut, func([]byte, *store.Version) ([]byte, error) {
		return []byte(p.Text), nil
	})
	if err == nil {
		p.File, p.Ref = put.File, put.Ref.Short()
	}
	return err
}

// shownQuestion is how much of a question an agent is told; the rest is in the pool.
const shownQuestion = 1000 // characters

// writeTask writes who the agent is and what the dialogue is about.
func (f *Dialogues) writeTask(text *strings.Builder, d *Dialogue, round int, e layout.Expert) error {
	fmt.Fprintf(text, "You are %s in round %d of the dialogue %s", markdown.OneLine(cmp.Or(e.Label, labelOf(e.Name))), round,
		d.Key.Slug())
	const maxOthers = 8 // how many other agents a prompt names
	if others := d.others(round, e); len(others) > maxOthers {
		fmt.Fprintf(text, ", with %d others", len(others))
	} else if len(others) > 0 {
		fmt.Fprintf(text, ", with %s", markdown.OneLine(strings.Join(others, ", ")))
	}
	text.WriteString(".\n")
	short := func(said string) string { return markdown.Clip(markdown.OneLine(said), shownQuestion/4) }
	for _, said := range [][2]string{
		{"Title", markdown.OneLine(d.title())}, {"Your role", short(e.Role)}, {"Your focus", short(e.Focus)},
	} {
		if said[1] != "" {
			fmt.Fprintf(text, "%s: %s\n", said[0], said[1])
		}
	}
	if p := d.Round(round).panel(); p != nil && p.Focus != "" {
		writeQuoted(text, "This round is about:", markdown.Clip(p.Focus, shownQuestion))
	}
	if d.Pool.Question == "" {
		return nil
	}
	shown := markdown.Clip(d.Pool.Question, shownQuestion)
	writeQuoted(text, "Question:", shown)
	if shown == d.Pool.Question {
		return nil
	}
	pool, err := f.w.PathOf(fileName(d.Key, poolFile))
	fmt.Fprintf(text, "The whole question is in %s\n", pool)
	return err
}

// writeQuoted writes a text of which nothing is a part of the prompt.
func writeQuoted(out *strings.Builder, title, text string) {
	out.WriteString(title + "\n")
	for line := range strings.Lines(text) {
		out.WriteString(strings.TrimRight("> "+markdown.OneLine(line), " ") + "\n")
	}
}

// writeBrief tells an agent that joins in a round what happened before it: what the judge
// wrote for the round, and else of each round before what its summary would say.
func (f *Dialogues) writeBrief(ctx context.Context, out *strings.Builder, d *Dialogue, round int, agent string) error {
	const maxBrief = 4000 // bytes: about 1,000 tokens
	if d.sourceOf(round, agent) == sourceRetained {
		return nil
	}
	title := fmt.Sprintf("\nYou join in round %d. Until now:", round)
	if v, found := d.file(briefFile(round)); found {
		text, err := f.text(ctx, v)
		writeQuoted(out, title, markdown.Clip(string(text), maxBrief))
		return err
	}
	brief, board := "", NewBoard(d)
	for _, t := range board.Open(round - 1) {
		brief += fmt.Sprintf("open: %s %s\n", t, clipLabel(t.Label))
	}
	brief = markdown.Clip(brief, maxBrief/4)
	for i, r := range board.Rounds {
		if r.Round < round {
			var text []byte
			if v, found := d.file(summaryFile(r.Round)); found {
				var err error
				if text, err = f.byHand(ctx, v); err != nil {
					return err
				}
			}
			if text == nil {
				_, text, _ = bytes.Cut(board.summaryText(i), []byte("\n")) // the comment
			}
			brief += "\n" + markdown.Clip(string(text), maxBrief*3/4/round)
		}
	}
	writeQuoted(out, title, strings.TrimSpace(brief))
	return nil
}

// briefFile is what a judge calls what the agents of a round are to know.
func briefFile(round int) string { return roundFolder(round) + "/context-brief.md" }

// title returns what the pool says that the dialogue is about, or "".
func (d *Dialogue) title() string {
	if d.Pool.Title == d.Key.Slug() {
		return d.Pool.Domain
	}
	return d.Pool.Title
}

// others returns what people call the other agents of a round.
func (d *Dialogue) others(round int, e layout.Expert) []string {
	var others []string
	roster, _ := d.roster(round) // that it cannot be told was said
	for _, other := range roster {
		if !strings.EqualFold(other.Name, e.Name) {
			others = append(others, cmp.Or(other.Label, labelOf(other.Name)))
		}
	}
	return others
}

// readings returns what there is to read before a round: the tensions, the summary of the
// round before, and the turns of it; own is the agent's own. A turn that is empty or a
// stub says nothing.
func (d *Dialogue) readings(round int, agent string) (all []record.Name, own record.Name) {
	for _, path := range []string{briefFile(round), tensionsFile, summaryFile(round - 1)} {
		if v, found := d.file(path); found {
			all = append(all, v.Record.Name)
		}
	}
	r := cmp.Or(d.Round(round-1), &Round{})
	for _, t := range r.Turns {
		if t.state() != stateTurn {
			continue
		}
		if all = append(all, t.Version.Record.Name); t.Agent == agent && t == r.Turn(agent) {
			own = t.Version.Record.Name
		}
	}
	return all, own
}

// writeReadings writes the list of the readings that are on disk, and returns it.
func (f *Dialogues) writeReadings(text *strings.Builder, d *Dialogue, round int, agent string) (files []string, err error) {
	names, own := d.readings(round, agent)
	for _, name := range names {
		file, err := f.w.PathOf(name)
		if err != nil {
			return nil, err
		}
		info, err := os.Lstat(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("looking at %s: %w", file, err)
		}
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if len(files) == 0 {
			text.WriteString("\nREAD FIRST, with the Read tool:\n")
		}
		files = append(files, file)
		text.WriteString("  " + file)
		if name == own {
			text.WriteString("  (yours)")
		}
		text.WriteByte('\n')
	}
	return files, nil
}

const outputText = "\nWRITE YOUR OUTPUT: use the Write tool to write your complete response to:\n  %s\n\n" +
	"This is MANDATORY. Write your full perspective to this file, then stop. What is not in the file is lost.\n" +
	"Write no other file. The folder is there already.\n"

const formatText = "\nThe file has nothing but these markers, each with its text below it; leave out what you do not need:\n\n```markdown\n"

// exampleTurn shows each marker once, in the form in which they are to be written.
const exampleTurn = "[PERSPECTIVE P01: a new point in a few words]\nWhat you see, and what speaks for it, in a few sentences.\n\n" +
	"[TENSION T01: what is in conflict with what]\nWhy both cannot be had.\n\n" +
	"[REFINEMENT: a point of another agent, made better]\n\n" +
	"[CONCESSION: what another agent has convinced you of]\n\n[RESOLVED T01: how the tension is settled]\n"

const rulesText = "```\n\n" +
	"Keywords are in capitals; ids are P01, P02, … and T01, T02, …, counted anew in each round.\n" +
	"If you have nothing to say, or cannot do this, the file is this one line: `[ERROR: the reason]`\n"

// What differs from round to round.
const (
	firstText = "In round 0 there is nothing yet to refine, concede or resolve.\n"
	laterText = "Where several agents have a T01, say whose: `[RESOLVED SCONE R0-T01]`. If nothing is left to settle, the last line is\n" +
		"`[MOVE:CONVERGE]`.\n"
)

const confirmText = "\nWhen the file is written, return these four lines and nothing else:\n" +
	"FILE_WRITTEN: %s\nPerspectives: ids and labels, or none\nTensions: ids and labels, or none\nClaim: your strongest point in one sentence\n"

// Definition returns the file that sets up an agent of the workspace, if there is one.
func (f *Dialogues) Definition(agent string) string {
	return filepath.Join(f.w.Root, ".claude", "agents", agent+".md")
}

// CanWrite reports whether an agent has the Write tool by its definition: a Markdown file
// whose front matter lists its tools, as words with commas between or as a list; without
// "tools" it has all but the "disallowedTools". The error is an fs.ErrNotExist if there is
// no such file.
func CanWrite(definition string) (bool, error) {
	info, err := os.Stat(definition)
	switch {
	case err != nil:
		return false, fmt.Errorf("reading the definition %s: %w", definition, errors.Unwrap(err))
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("%s is no file with the definition of an agent", definition)
	}
	text, err := os.ReadFile(definition)
	if err != nil {
		return false, fmt.Errorf("reading the definition %s: %w", definition, err)
	}
	fields, _ := markdown.FrontMatter(text)
	tools, denied := toolsOf(fields["tools"]), toolsOf(fields["disallowedtools"])
	isWrite := func(tool string) bool { return strings.EqualFold(tool, "Write") || tool == "*" }
	return (tools == nil || slices.ContainsFunc(tools, isWrite)) && !slices.ContainsFunc(denied, isWrite), nil
}

// toolWord is a tool in a list, with what it is limited to.
var toolWord = layout.Pattern(`[^\s,(]+(?:\([^)]*\))?`)

// toolsOf returns the names of tools in the values of a field, without what they are
// limited to: Write(docs/**) is Write.
func toolsOf(values []string) []string {
	return markdown.Each(toolWord().FindAllString(strings.Join(values, ","), -1), func(tool string) string {
		name, _, _ := strings.Cut(tool, "(")
		return strings.Trim(name, `"'[]`)
	})
}

package dialogue

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"filebus/cmd/filebus/cli"
)

type dialoguePrompt struct {
	roundArg
	All        bool   `flag:"all"`
	Save       bool   `flag:"save"`
	Definition string `flag:"definition"` // a file
}

// The DialoguePrompts are what agents are told in a round.
type DialoguePrompts struct {
	Dialogue Key      `json:"dialogue"`
	Round    int      `json:"round"`
	Prompts  []Prompt `json:"prompts"`
}

// A roundArg is the ROUND of SLUG ROUND.
type roundArg struct{ round int }

func (a *roundArg) Check(_ *cli.Environ, args []string) (err error) {
	a.round, err = roundArgument(args[1])
	return err
}

// roundArgument reads the number of a round: 0, 1, round-2.
func roundArgument(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(text, "round-"))
	if err != nil || n < 0 {
		return 0, cli.UsageError("%q is not a round: rounds are numbered from 0", text)
	}
	return n, nil
}

func (o *dialoguePrompt) Check(env *cli.Environ, args []string) error {
	if o.All == (len(args) == 3) {
		return cli.UsageError("name an agent, or give --all")
	}
	return o.roundArg.Check(env, args)
}

func (o *dialoguePrompt) Do(ctx context.Context, w *cli.Work, args []string) error {
	r := PromptRequest{Round: o.round, Save: o.Save || o.All, Agents: args[2:]}
	if o.Definition != "" {
		o.Definition = w.Abs(o.Definition)
		if _, err := CanWrite(o.Definition); err != nil {
			return err
		}
	}
	w, f, d, err := openDialogue(ctx, w.Environ, args[0]) // the turns of the round before are there to be read
	if err != nil {
		return err
	}
	prompts, err := f.Prompts(ctx, d.Key, r)
	if err != nil {
		return err
	}
	for i := range prompts {
		p := &prompts[i]
		p.NoWrite = warnWrite(w.Environ, f, d.Key, r.Round, p.Agent, o.Definition)
		if p.File != "" {
			p.Text = ""
		}
	}
	return printPrompts(w, DialoguePrompts{d.Key, r.Round, prompts})
}

// warnWrite says if an agent cannot write its file, and returns the definition that
// says so: the one that is given, or else its own. One that cannot be read is said too.
func warnWrite(e *cli.Environ, f *Dialogues, key Key, round int, agent, definition string) string {
	definition = cmp.Or(definition, f.Definition(agent))
	can, err := CanWrite(definition)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		e.Note("%v", err)
		return ""
	case can:
		return ""
	}
	e.Note("%s cannot write its file: %s lacks the Write tool; add it, or store the answer: filebus dialogue put %s %d %s FILE",
		agent, cli.OneLine(definition), key, round, agent)
	return definition
}

// printPrompts prints prompts: the text of one, or a line for each that has a file.
func printPrompts(w *cli.Work, view DialoguePrompts) error {
	if w.Global.JSON {
		return w.PresentWhole(view.Dialogue.String(), view, "")
	}
	var rows [][]string
	for _, p := range view.Prompts {
		if p.File == "" {
			w.Printf("%s", p.Text)
			continue
		}
		rows = append(rows, []string{p.Agent, p.File, cli.TokenText(p.Tokens)})
	}
	w.PrintTable(rows)
	if len(rows) > 0 {
		w.Note("launched; filebus dialogue wait %s %d waits for the turns", view.Dialogue, view.Round)
	}
	return nil
}

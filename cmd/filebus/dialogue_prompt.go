package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"

	"filebus/cmd/filebus/dialogue"
)

type dialoguePrompt struct {
	roundArg
	All        bool   `flag:"all"`
	Save       bool   `flag:"save"`
	Definition string `flag:"definition"` // a file
}

// The dialoguePrompts are what agents are told in a round.
type dialoguePrompts struct {
	Dialogue dialogue.Key      `json:"dialogue"`
	Round    int               `json:"round"`
	Prompts  []dialogue.Prompt `json:"prompts"`
}

// A roundArg is the ROUND of SLUG ROUND.
type roundArg struct{ round int }

func (a *roundArg) check(_ *environ, args []string) (err error) {
	a.round, err = roundArgument(args[1])
	return err
}

// roundArgument reads the number of a round: 0, 1, round-2.
func roundArgument(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(text, "round-"))
	if err != nil || n < 0 {
		return 0, usageError("%q is not a round: rounds are numbered from 0", text)
	}
	return n, nil
}

func (o *dialoguePrompt) check(env *environ, args []string) error {
	if o.All == (len(args) == 3) {
		return usageError("name an agent, or give --all")
	}
	return o.roundArg.check(env, args)
}

func (o *dialoguePrompt) run(ctx context.Context, w *workspace, args []string) error {
	r := dialogue.PromptRequest{Round: o.round, Save: o.Save || o.All, Agents: args[2:]}
	if o.Definition != "" {
		o.Definition = w.abs(o.Definition)
		if _, err := dialogue.CanWrite(o.Definition); err != nil {
			return err
		}
	}
	w, f, d, err := w.openDialogue(ctx, args[0]) // the turns of the round before are there to be read
	if err != nil {
		return err
	}
	prompts, err := f.Prompts(ctx, d.Key, r)
	if err != nil {
		return err
	}
	for i := range prompts {
		p := &prompts[i]
		p.NoWrite = w.warnWrite(f, d.Key, r.Round, p.Agent, o.Definition)
		if p.File != "" {
			p.Text = ""
		}
	}
	return w.printPrompts(dialoguePrompts{d.Key, r.Round, prompts})
}

// warnWrite says if an agent cannot write its file, and returns the definition that
// says so: the one that is given, or else its own. One that cannot be read is said too.
func (e *environ) warnWrite(f *dialogue.Dialogues, key dialogue.Key, round int, agent, definition string) string {
	definition = cmp.Or(definition, f.Definition(agent))
	can, err := dialogue.CanWrite(definition)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ""
	case err != nil:
		e.note("%v", err)
		return ""
	case can:
		return ""
	}
	e.note("%s cannot write its file: %s lacks the Write tool; add it, or store the answer: filebus dialogue put %s %d %s FILE",
		agent, oneLine(definition), key, round, agent)
	return definition
}

// printPrompts prints prompts: the text of one, or a line for each that has a file.
func (w *workspace) printPrompts(view dialoguePrompts) error {
	if w.global.json {
		return w.presentWhole(view.Dialogue.String(), view, "")
	}
	var rows [][]string
	for _, p := range view.Prompts {
		if p.File == "" {
			w.printf("%s", p.Text)
			continue
		}
		rows = append(rows, []string{p.Agent, p.File, tokenText(p.Tokens)})
	}
	w.printTable(rows)
	if len(rows) > 0 {
		w.note("launched; filebus dialogue wait %s %d waits for the turns", view.Dialogue, view.Round)
	}
	return nil
}

package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/dialogue"
	"filebus/store/record"
)

type dialoguePromptOptions struct {
	all, save  bool
	definition string // a file
}

func newDialoguePromptCommand(env *environ) *cobra.Command {
	var opts dialoguePromptOptions
	cmd := &cobra.Command{
		Use:  "prompt SLUG ROUND [AGENT]",
		Args: cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runDialoguePrompt(cmd.Context(), env, opts, args)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&opts.all, "all", false, "")
	flags.BoolVar(&opts.save, "save", false, "")
	flags.StringVar(&opts.definition, "definition", "", "")
	return cmd
}

// A dialoguePromptsJSON is what agents are told in a round, in JSON.
type dialoguePromptsJSON struct {
	Dialogue string               `json:"dialogue"`
	Round    int                  `json:"round"`
	Prompts  []dialoguePromptJSON `json:"prompts"`
}

// A dialoguePromptJSON is what one agent is told. Paths are absolute.
type dialoguePromptJSON struct {
	Agent   string   `json:"agent"`
	Output  string   `json:"output"`
	Reads   []string `json:"reads,omitempty"`
	Tokens  int      `json:"tokens"`
	File    string   `json:"file,omitempty"` // if it was saved
	Ref     string   `json:"ref,omitempty"`
	Text    string   `json:"text,omitempty"`     // if it was not
	NoWrite string   `json:"no_write,omitempty"` // the definition that lacks the Write tool
}

// roundArgument reads the number of a round: 0, 1, round-2.
func roundArgument(text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimPrefix(text, "round-"))
	if err != nil || n < 0 {
		return 0, usageError("%q is no round: rounds are counted from 0", text)
	}
	return n, nil
}

func runDialoguePrompt(ctx context.Context, env *environ, opts dialoguePromptOptions, args []string) error {
	r := dialogue.PromptRequest{Save: opts.save || opts.all, Agents: args[2:]}
	if opts.all == (len(args) == 3) {
		return usageError("say either which agent, or --all")
	}
	var err error
	if r.Round, err = roundArgument(args[1]); err != nil {
		return err
	}
	var shared *dialogue.Definition
	if opts.definition != "" {
		d, err := dialogue.ReadDefinition(env.abs(opts.definition))
		if err != nil {
			return err
		}
		shared = &d
	}
	s, f, d, err := env.openDialogue(ctx, args[0]) // the turns of the round before are there to be read
	if err != nil {
		return err
	}
	prompts, err := f.Prompts(ctx, d.Key, r)
	if err != nil {
		return err
	}
	view := dialoguePromptsJSON{Dialogue: d.Key.String(), Round: r.Round}
	for _, p := range prompts {
		view.Prompts = append(view.Prompts, toPromptJSON(p))
		view.Prompts[len(view.Prompts)-1].NoWrite = env.warnWrite(f, d.Key, r.Round, p.Agent, shared)
	}
	return env.printPrompts(s, view)
}

func toPromptJSON(p dialogue.Prompt) dialoguePromptJSON {
	view := dialoguePromptJSON{
		Agent: p.Agent, Output: validText(p.Output), File: validText(p.File), Tokens: record.EstimateTokens(int64(len(p.Text))),
	}
	for _, file := range p.Reads {
		view.Reads = append(view.Reads, validText(file))
	}
	if p.File == "" {
		view.Text = p.Text
	} else {
		view.Ref = p.Ref.Short()
	}
	return view
}

// warnWrite says if an agent cannot write its file, and returns the definition that
// says so. One that cannot be read is said too.
func (e *environ) warnWrite(f *dialogue.Forum, key dialogue.Key, round int, agent string, shared *dialogue.Definition) string {
	d, found, err := dialogue.Definition{}, true, error(nil)
	if shared != nil {
		d = *shared
	} else {
		d, found, err = f.Definition(agent)
	}
	switch {
	case err != nil:
		e.note("%v", err)
		return ""
	case !found || d.CanWrite():
		return ""
	}
	e.note("%s cannot write its file: %s lacks the Write tool; add it, or store the answer: filebus dialogue put %s %d %s FILE",
		agent, oneLine(d.File), key, round, agent)
	return validText(d.File)
}

// printPrompts prints prompts: the text of one, or a line for each that has a file.
func (e *environ) printPrompts(s *session, view dialoguePromptsJSON) error {
	if e.global.json {
		return e.printRead(s, "dialogue prompt", view.Dialogue, view)
	}
	var rows [][]string
	for _, p := range view.Prompts {
		if p.File == "" {
			e.printf("%s", p.Text)
			e.logRead(s, "dialogue prompt", view.Dialogue, p.Tokens)
			continue
		}
		rows = append(rows, []string{p.Agent, p.File, tokenText(p.Tokens)})
	}
	e.printTable(rows)
	if len(rows) > 0 {
		e.note("launched; filebus dialogue wait %s %d waits for the turns", view.Dialogue, view.Round)
	}
	return nil
}

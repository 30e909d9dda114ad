package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"filebus/materialize/layout"
)

type judgeOptions struct {
	layout.JudgedTurn
	from string
}

// markFlags are the flags of the four numbers.
func markFlags() []string { return []string{"wisdom", "consistency", "truth", "relationships"} }

func newDialogueJudgeCommand(env *environ) *cobra.Command {
	var opts judgeOptions
	cmd := &cobra.Command{
		Use:  "judge SLUG ROUND [AGENT]",
		Args: cobra.RangeArgs(2, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			given := 0
			for _, name := range markFlags() {
				if cmd.Flags().Changed(name) {
					given++
				}
			}
			if err := checkJudge(opts, args, given); err != nil {
				return err
			}
			return runDialogueJudge(cmd.Context(), env, opts, args)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&opts.Wisdom, "wisdom", 0, "")
	flags.IntVar(&opts.Consistency, "consistency", 0, "")
	flags.IntVar(&opts.Truth, "truth", 0, "")
	flags.IntVar(&opts.Relationships, "relationships", 0, "")
	flags.BoolVar(&opts.Converge, "converge", false, "")
	flags.StringVar(&opts.Note, "note", "", "")
	flags.StringVar(&opts.Judge, "judge", "", "")
	flags.StringVar(&opts.from, "from", "", "")
	return cmd
}

// checkJudge refuses a line that says too little or too much.
func checkJudge(opts judgeOptions, args []string, given int) error {
	switch {
	case opts.from == "" && len(args) < 3:
		return usageError("judge names an agent, or has --from FILE")
	case opts.from == "" && given < len(markFlags()):
		return usageError("judge needs all of --%s", strings.Join(markFlags(), ", --"))
	case opts.from != "" && (len(args) > 2 || given > 0 || opts.Converge || opts.Note != ""):
		return usageError("with --from the agents and their numbers come from the file")
	}
	return nil
}

func runDialogueJudge(ctx context.Context, env *environ, opts judgeOptions, args []string) error {
	round, err := roundArgument(args[1])
	if err != nil {
		return err
	}
	opts.Judge = env.or(opts.Judge, "FILEBUS_AGENT")
	given := []layout.JudgedTurn{opts.JudgedTurn}
	if opts.from == "" {
		given[0].Agent = args[2]
	} else if given, err = readJudged(ctx, env, opts); err != nil {
		return err
	}
	_, f, d, err := env.openDialogue(ctx, args[0])
	if err != nil {
		return err
	}
	out, err := f.Judge(ctx, d.Key, round, given)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(out)
	}
	for _, j := range out.Agents {
		env.printf("%s\n", oneLine(fmt.Sprintf("%s round %d %s: W %d C %d T %d R %d = %d", out.Dialogue, round, j.Agent,
			j.Wisdom, j.Consistency, j.Truth, j.Relationships, j.Score)))
	}
	if out.Unchanged {
		env.note("unchanged")
	}
	return nil
}

// maxJudged is how long a file with judgements may be, in bytes.
const maxJudged = 1 << 20

// readJudged reads the agents of a file: a list of them, or a scores.json.
func readJudged(ctx context.Context, env *environ, opts judgeOptions) ([]layout.JudgedTurn, error) {
	in, err := readInput(ctx, env, opts.from, maxJudged)
	if err != nil {
		return nil, err
	}
	if !in.whole {
		return nil, usageError("%s has more than %d bytes", opts.from, maxJudged)
	}
	given, err := parseJudged(in.text)
	if err != nil {
		return nil, usageError("%s: %w", opts.from, err)
	}
	for i := range given {
		if given[i].Judge == "" {
			given[i].Judge = opts.Judge
		}
	}
	return given, nil
}

// parseJudged reads judgements. A number that is left out is a mistake, not a zero.
func parseJudged(text []byte) (given []layout.JudgedTurn, err error) {
	var whole struct {
		Agents []json.RawMessage `json:"agents"`
	}
	var into any = &whole
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	if bytes.HasPrefix(text, []byte("[")) {
		into = &whole.Agents
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if err := decoder.Decode(into); err != nil {
		return nil, fmt.Errorf("no JSON of judgements: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	if len(whole.Agents) == 0 {
		return nil, errors.New("it judges no agent")
	}
	for _, raw := range whole.Agents {
		var j layout.JudgedTurn
		var has struct{ Wisdom, Consistency, Truth, Relationships *int }
		if err := cmp.Or(json.Unmarshal(raw, &j), json.Unmarshal(raw, &has)); err != nil {
			return nil, fmt.Errorf("no JSON of judgements: %w", err)
		}
		for i, n := range []*int{has.Wisdom, has.Consistency, has.Truth, has.Relationships} {
			if n == nil {
				return nil, fmt.Errorf("agent %q has no %s", j.Agent, markFlags()[i])
			}
		}
		given = append(given, j)
	}
	return given, nil
}

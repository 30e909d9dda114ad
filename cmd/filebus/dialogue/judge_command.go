package dialogue

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

type dialogueJudge struct {
	cli.Given
	roundArg
	Wisdom        int    `flag:"wisdom"`
	Consistency   int    `flag:"consistency"`
	Truth         int    `flag:"truth"`
	Relationships int    `flag:"relationships"`
	Converge      bool   `flag:"converge"`
	Note          string `flag:"note"`
	Judge         string `flag:"judge"`
	From          string `flag:"from"` // a file
}

// markFlags are the flags of the four numbers.
func markFlags() []string { return []string{"wisdom", "consistency", "truth", "relationships"} }

// Check refuses a line that says too little or too much.
func (o *dialogueJudge) Check(env *cli.Environ, args []string) error {
	marks := slices.DeleteFunc(markFlags(), func(name string) bool { return !o.Has(name) })
	switch {
	case o.From == "" && len(args) < 3:
		return cli.UsageError("name an agent, or give --from FILE")
	case o.From == "" && len(marks) < len(markFlags()):
		return cli.UsageError("give all of --%s", strings.Join(markFlags(), ", --"))
	case o.From != "" && (len(args) > 2 || len(marks) > 0 || o.Converge || o.Note != ""):
		return cli.UsageError("with --from the agents and their numbers come from the file")
	}
	return o.roundArg.Check(env, args)
}

func (o *dialogueJudge) Do(ctx context.Context, w *cli.Work, args []string) error {
	judge := w.Or(o.Judge, "FILEBUS_AGENT")
	var given []layout.JudgedTurn
	if o.From != "" {
		var err error
		if given, err = readJudged(ctx, w.Environ, o.From, judge); err != nil {
			return err
		}
	} else {
		given = append(given, layout.JudgedTurn{
			Agent: args[2], Marks: layout.Marks{
				Wisdom: o.Wisdom, Consistency: o.Consistency, Truth: o.Truth, Relationships: o.Relationships,
			}, Converge: o.Converge, Note: o.Note, Judge: judge,
		})
	}
	_, f, d, err := openDialogue(ctx, w.Environ, args[0])
	if err != nil {
		return err
	}
	out, err := f.Judge(ctx, d.Key, o.round, given)
	return printJudged(w.Environ, out, err)
}

// printJudged prints what was recorded of the judge's word.
func printJudged(e *cli.Environ, out *Judgement, err error) error {
	if err != nil {
		return err
	}
	if e.Global.JSON {
		return e.PrintJSON(out)
	}
	for _, j := range out.Agents {
		e.Printf("%s\n", cli.OneLine(fmt.Sprintf("%s round %d %s: W %d C %d T %d R %d = %d", out.Dialogue, out.Round, j.Agent,
			j.Wisdom, j.Consistency, j.Truth, j.Relationships, j.Score)))
	}
	for _, m := range out.Marks {
		e.Printf("%s\n", cli.OneLine(fmt.Sprintf("%s round %d %s: %s", out.Dialogue, out.Round, m.ID, cmp.Or(m.String(), "no mark"))))
	}
	if out.Unchanged {
		e.Note("unchanged")
	}
	return nil
}

// maxJudged is how long a file with judgements may be, in bytes.
const maxJudged = 1 << 20

// readJudged reads the agents of a file: a list of them, or a scores.json.
func readJudged(ctx context.Context, e *cli.Environ, from, judge string) ([]layout.JudgedTurn, error) {
	in, err := e.ReadInput(ctx, from, maxJudged)
	if err != nil {
		return nil, err
	}
	if !in.Whole {
		return nil, cli.UsageError("%s has more than %d bytes", from, maxJudged)
	}
	given, err := parseJudged(in.Text)
	if err != nil {
		return nil, cli.UsageError("%s: %w", from, err)
	}
	for i := range given {
		given[i].Judge = cmp.Or(given[i].Judge, judge)
	}
	return given, nil
}

// parseJudged reads judgements. A number that is left out is a mistake, not a zero.
func parseJudged(text []byte) (given []layout.JudgedTurn, err error) {
	var whole struct {
		Agents []json.RawMessage `json:"agents"`
	}
	var into any = &whole
	if strings.HasPrefix(strings.TrimLeft(string(text), "\ufeff \t\r\n"), "[") {
		into = &whole.Agents
	}
	if problem := markdown.DecodeJSON(text, into); problem != nil {
		return nil, fmt.Errorf("no JSON of judgements: %w", problem.Err)
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

type dialogueMark struct {
	roundArg
	NotNew       bool   `flag:"not-new"`
	MergedWith   string `flag:"merged-with"`
	SupersededBy string `flag:"superseded-by"`
	Undo         bool   `flag:"undo"`
	Agent        string `flag:"agent"`
}

func (o *dialogueMark) Do(ctx context.Context, w *cli.Work, args []string) error {
	words := map[layout.ItemMark]bool{
		{Mark: "not new"}: o.NotNew, {Mark: "merged with", Other: o.MergedWith}: o.MergedWith != "",
		{Mark: "superseded by", Other: o.SupersededBy}: o.SupersededBy != "", {}: o.Undo,
	}
	maps.DeleteFunc(words, func(_ layout.ItemMark, given bool) bool { return !given })
	if len(words) != 1 {
		return cli.UsageError("give one of --not-new, --merged-with, --superseded-by, --undo")
	}
	var marks []layout.ItemMark
	for _, id := range args[2:] {
		for mark := range words {
			if mark.ID = id; o.Agent != "" {
				mark.ID = fmt.Sprintf("%s R%d-%s", o.Agent, o.round, id)
			}
			marks = append(marks, mark)
		}
	}
	_, f, d, err := openDialogue(ctx, w.Environ, args[0])
	if err != nil {
		return err
	}
	out, err := f.Judge(ctx, d.Key, o.round, nil, marks...)
	return printJudged(w.Environ, out, err)
}

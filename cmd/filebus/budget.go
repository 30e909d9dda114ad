package main

import (
	"context"
	"fmt"
	"strconv"

	"filebus/materialize/result"
	runs "filebus/materialize/run"
	"filebus/store/record"
)

type budgetCommand struct {
	Conversation string   `flag:"conversation" not:"run session"`
	Run          string   `flag:"run" not:"session"`
	Session      string   `flag:"session"`
	Readers      int      `flag:"readers" least:"0"`
	Assume       []string `flag:"assume"`
}

func (o *budgetCommand) check(env *environ, _ []string) error {
	if len(o.Assume) > 0 || o.Readers > 0 {
		o.Session = env.or(o.Session, "FILEBUS_SESSION")
		if o.Session == "" || o.Conversation+o.Run != "" {
			return usageError("--assume and --readers are of a session: give --session ID")
		}
	}
	for _, of := range []struct {
		id       *string
		variable string
	}{
		{&o.Conversation, "FILEBUS_CONVERSATION"}, {&o.Run, "FILEBUS_RUN"}, {&o.Session, "FILEBUS_SESSION"},
	} {
		if o.Conversation+o.Run+o.Session == "" {
			*of.id = env.getenv(of.variable)
		}
	}
	if o.Conversation+o.Run+o.Session == "" {
		return usageError("which conversation, run or session? Give --conversation ID, --run ID or --session ID; " +
			"filebus conversation list, run show and session list have them")
	}
	return nil
}

func (o *budgetCommand) run(ctx context.Context, w *workspace, _ []string) error {
	switch {
	case o.Session != "":
		return o.ofSession(ctx, w)
	case o.Run != "":
		b, err := w.book().BudgetOf(ctx, o.Run)
		if err != nil {
			return err
		}
		return printRunBudget(w.environ, b)
	}
	budget, err := result.BudgetOf(ctx, w.Workspace, w.read, o.Conversation)
	if err != nil {
		return err
	}
	return printBudget(w.environ, budget)
}

type stepJSON struct {
	result.Step
	Ratio float64 `json:"ratio"`
}

type budgetJSON struct {
	Conversation    string      `json:"conversation"`
	Tree            record.Tree `json:"tree,omitempty"`
	Steps           []stepJSON  `json:"steps"`
	Calls           int         `json:"calls"`
	Words           int         `json:"words"`
	Tokens          int         `json:"tokens"`
	ReferenceTokens int         `json:"reference_tokens"`
	Ratio           float64     `json:"ratio"`
}

func printBudget(env *environ, b *result.Budget) error {
	if env.global.json {
		value := budgetJSON{
			Conversation: b.Conversation.ID, Tree: b.Conversation.Tree, Calls: b.Calls, Words: b.Words,
			Tokens: b.Tokens, ReferenceTokens: b.ReferenceTokens, Ratio: runs.OneDecimal(b.Ratio()),
		}
		for i := range b.Steps {
			value.Steps = append(value.Steps, stepJSON{b.Steps[i], runs.OneDecimal(b.Steps[i].Ratio())})
		}
		return env.printJSON(value)
	}
	rows := [][]string{{"step", "words", "words inline", "≈tokens inline", "≈tokens by reference", "ratio"}}
	for i := range b.Steps {
		s := &b.Steps[i]
		rows = append(rows, []string{
			stepText(s), strconv.Itoa(s.Words), strconv.Itoa(s.WordsInline), strconv.Itoa(s.TokensInline),
			strconv.Itoa(s.TokensByReference), ratioText(s.Ratio()),
		})
	}
	env.printTable(rows)
	env.printf("%s: %s, ≈%d tokens inline, ≈%d tokens by reference (%s)\n",
		plural(b.Calls, "call"), plural(b.Words, "word"), b.Tokens, b.ReferenceTokens, ratioText(b.Ratio()))
	return nil
}

// stepText names a step by its agent, with the number of calls.
func stepText(s *result.Step) string {
	if s.Calls == 1 {
		return orDash(s.Agent)
	}
	return fmt.Sprintf("%s ×%d", orDash(s.Agent), s.Calls)
}

// ratioText shows how many times smaller something is.
func ratioText(f float64) string {
	if f >= 10 {
		return fmt.Sprintf("%.0f×", f)
	}
	return fmt.Sprintf("%.1f×", f)
}

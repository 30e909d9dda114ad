package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"filebus/materialize/result"
	runs "filebus/materialize/run"
	"filebus/store/record"
)

type budgetOptions struct {
	conversation, run, session string
	assume                     []string
	readers                    int
}

func newBudgetCommand(env *environ) *cobra.Command {
	var opts budgetOptions
	cmd := newCommand("budget", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		return runBudget(ctx, env, opts)
	})
	cmd.Flags().StringVar(&opts.conversation, "conversation", "", "")
	cmd.Flags().StringVar(&opts.run, "run", "", "")
	cmd.Flags().StringVar(&opts.session, "session", "", "")
	cmd.Flags().IntVar(&opts.readers, "readers", 0, "")
	cmd.Flags().StringSliceVar(&opts.assume, "assume", nil, "")
	cmd.MarkFlagsMutuallyExclusive("conversation", "run", "session")
	return cmd
}

func runBudget(ctx context.Context, env *environ, opts budgetOptions) error {
	if opts.readers < 0 {
		return usageError("--readers %d is negative", opts.readers)
	}
	if len(opts.assume) > 0 || opts.readers > 0 {
		opts.session = env.or(opts.session, "FILEBUS_SESSION")
		if opts.session == "" || opts.conversation+opts.run != "" {
			return usageError("--assume and --readers are of a session: give --session ID")
		}
	}
	switch {
	case opts.session != "":
		return runSessionBudget(ctx, env, opts)
	case opts.run != "":
		return runRunBudget(ctx, env, opts.run)
	}
	conversation := env.or(opts.conversation, "FILEBUS_CONVERSATION")
	if run := env.or("", "FILEBUS_RUN"); conversation == "" && run != "" {
		return runRunBudget(ctx, env, run)
	}
	if opts.session = env.or("", "FILEBUS_SESSION"); conversation == "" && opts.session != "" {
		return runSessionBudget(ctx, env, opts)
	}
	if conversation == "" {
		return usageError("which conversation, run or session? Give --conversation ID, --run ID or --session ID; filebus conversation list, run show and session list have them")
	}
	w, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	budget, err := result.BudgetOf(ctx, w.Workspace, w.read, conversation)
	if err != nil {
		return err
	}
	return printBudget(env, budget)
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

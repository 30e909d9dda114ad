package result

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/dialogue"
	runs "filebus/cmd/filebus/run"
	sessions "filebus/cmd/filebus/session"
	"filebus/materialize/transcript"
	"filebus/store/record"
)

type budgetCommand struct {
	Conversation string `flag:"conversation" not:"run session"`
	Run          string `flag:"run" not:"session"`
	Session      string `flag:"session"`
}

func (o *budgetCommand) Check(env *cli.Environ, _ []string) error {
	for _, of := range []struct {
		id       *string
		variable string
	}{
		{&o.Conversation, "FILEBUS_CONVERSATION"}, {&o.Run, "FILEBUS_RUN"}, {&o.Session, "FILEBUS_SESSION"},
	} {
		if o.Conversation+o.Run+o.Session == "" {
			*of.id = env.Getenv(of.variable)
		}
	}
	if o.Conversation+o.Run+o.Session == "" {
		return cli.UsageError("which conversation, run or session? Give --conversation ID, --run ID or --session ID; " +
			"filebus conversation list, run show and session list have them")
	}
	return nil
}

func (o *budgetCommand) Do(ctx context.Context, w *cli.Work, _ []string) error {
	switch {
	case o.Session != "":
		return o.ofSession(ctx, w)
	case o.Run != "":
		b, err := runs.Of(w).BudgetOf(ctx, o.Run)
		if err != nil {
			return err
		}
		return printRunBudget(w.Environ, b)
	}
	budget, err := BudgetOf(ctx, w.Workspace, w.Reader, o.Conversation)
	if err != nil {
		return err
	}
	if budget.Reports == 0 {
		return printBudget(w.Environ, budget)
	}
	for _, file := range dialogue.Transcripts(w.Environ, budget.Conversation) {
		isOwn := budget.Entered == nil && strings.HasSuffix(filepath.Base(file), budget.Conversation+".jsonl") // the newest
		if run := (transcript.Run{}); isOwn && run.ReadFile(ctx, file, transcript.MaxText) == nil {
			budget.Entered = &Entered{Texts: run.Received, Tokens: record.EstimateTokens(run.ReceivedBytes)}
		}
	}
	settings, _ := w.Config(w.Location) // the store was opened by them
	budget.weigh(settings.Hooks.Refers())
	return printBudget(w.Environ, budget)
}

func printBudget(e *cli.Environ, b *Budget) error {
	rows := [][]string{{"step", "words", "words inline", "≈tokens inline", "≈tokens by reference", "ratio"}}
	for i := range b.Steps {
		s := &b.Steps[i]
		rows = append(rows, []string{
			stepText(s), strconv.Itoa(s.Words), strconv.Itoa(s.WordsInline), strconv.Itoa(s.TokensInline),
			strconv.Itoa(s.TokensByReference), ratioText(float64(s.Ratio)),
		})
	}
	client := ""
	if b.Reports > 0 {
		client = fmt.Sprintf("sub-agents of the client: %s; whole they are ≈%d tokens in the parent's context, in reference mode ≈%d\n",
			cli.Plural(b.Reports, "report"), b.Tokens, b.ReferenceTokens)
	}
	if b.Entered != nil {
		client += fmt.Sprintf("entered by the transcript: ≈%d tokens, %s; saved are ≈%d\n", b.Entered.Tokens,
			cli.Plural(b.Entered.Texts, "text"), b.Entered.Saved)
	}
	if b.Advice != "" {
		client += b.Advice + "\n"
	}
	return e.Print(b, "%s%s: %s, ≈%d tokens inline, ≈%d tokens by reference (%s)\n%s", e.Table(rows),
		cli.Plural(b.Calls, "call"), cli.Plural(b.Words, "word"), b.Tokens, b.ReferenceTokens,
		ratioText(float64(b.Ratio)), client)
}

// stepText names a step by its agent, with the number of calls.
func stepText(s *Step) string {
	if s.Calls == 1 {
		return cmp.Or(s.Agent, "-")
	}
	return fmt.Sprintf("%s ×%d", cmp.Or(s.Agent, "-"), s.Calls)
}

// ratioText shows how many times smaller something is.
func ratioText(f float64) string {
	if f >= 10 {
		return fmt.Sprintf("%.0f×", f)
	}
	return fmt.Sprintf("%.1f×", f)
}

// printRunBudget prints the table of the channels that were read or that something
// is stored in, and below it what else the run would have cost.
func printRunBudget(e *cli.Environ, b *runs.Budget) error {
	if e.Global.JSON {
		return e.PrintJSON(b)
	}
	rows := [][]string{{"channel", "reads/loop", "≈tokens/read", "≈tokens", "stored", "≈tokens stored"}}
	for _, c := range b.Channels {
		if c.Reads+c.Stored == 0 {
			continue
		}
		rows = append(rows, []string{
			string(c.Channel), strconv.FormatFloat(c.ReadsPerLoop, 'f', -1, 64),
			strconv.Itoa(c.TokensPerRead), strconv.Itoa(c.Tokens), strconv.Itoa(c.Stored), strconv.Itoa(c.StoredTokens),
		})
	}
	e.PrintTable(rows)
	of := cli.Plural(b.Loops, "loop")
	if b.Closed > 0 && b.Closed < b.Loops {
		of += fmt.Sprintf(", %d ended", b.Closed)
	}
	e.Printf("%s: %s, %s, ≈%d tokens in %s, ≈%d a loop\n", cli.OneLine(b.Run), of,
		cli.Plural(b.Tasks, "task"), b.Tokens, cli.Plural(b.Reads, "read"), b.PerLoop)
	if b.Agents.Count > 0 {
		e.Printf("agents read ≈%d tokens in %s, in contexts of their own; with outputs inline ≈%d more\n",
			b.Agents.Tokens, cli.Plural(b.Agents.Count, "read"), b.Nested.Tokens)
	}
	inline := fmt.Sprintf("with outputs inline: ≈%d tokens, %s", b.Inline.Tokens, cli.Plural(b.Inline.Count, "text"))
	if b.Ratio > 0 {
		inline += " (" + ratioText(b.Ratio) + ")"
	}
	e.Printf("%s\n", inline)
	e.Printf("≈tokens: bytes / 4 of all that filebus printed, notes too; of texts the same\n")
	if b.Reads == 0 {
		e.Note("no reads of this run are in the log of reads")
	}
	return nil
}

func (o *budgetCommand) ofSession(ctx context.Context, w *cli.Work) error {
	id, trees, err := sessions.Of(w).ID(ctx, o.Session)
	if err != nil {
		return err
	}
	if err := sessions.Of(w).Discover(ctx, o.Session); err != nil {
		return err
	}
	saved, err := sessions.Of(w).SavingsOf(ctx, id, trees...)
	if err != nil {
		return err
	}
	if w.Global.JSON {
		err = w.PrintJSON(saved)
	} else {
		printSessionBudget(w.Environ, saved)
	}
	if saved.Artifacts == 0 {
		w.Note("no agent's reads of this session were logged")
	}
	if saved.Anonymous > 0 {
		w.Note("%s not counted, as no FILEBUS_AGENT was set", cli.Plural(saved.Anonymous, "read"))
	}
	if saved.Unsized > 0 {
		w.Note("%s not counted, as the content was destroyed", cli.Plural(saved.Unsized, "read"))
	}
	return err
}

// printSessionBudget prints a row for each agent, and the sums.
func printSessionBudget(e *cli.Environ, b *sessions.Savings) {
	rows := [][]string{{"agent", "given", "content passing", "≈tokens", "file passing", "≈tokens", "saved"}}
	const mostAgents = 30 // how many agents the table of a session has
	for i, a := range b.Agents {
		if i == mostAgents {
			rows = append(rows, []string{e.Rest(len(b.Agents)-i, "--json")})
			break
		}
		rows = append(rows, []string{
			cli.OneLine(a.Agent), strconv.Itoa(a.Artifacts), cli.ByteSize(a.Content.Bytes), strconv.Itoa(a.Content.Tokens),
			cli.ByteSize(a.References.Bytes), strconv.Itoa(a.References.Tokens), cli.ByteSize(a.Saved.Bytes),
		})
	}
	if len(b.Agents) > 0 {
		e.PrintTable(rows)
	}
	less := fmt.Sprintf("%d %% less", b.Reduction)
	if b.Reduction < 0 {
		less = fmt.Sprintf("%d %% more", -b.Reduction)
	}
	e.Printf("content passing: %s, ≈%d tokens\n", cli.ByteSize(b.Content.Bytes), b.Content.Tokens)
	e.Printf("file passing: %s, ≈%d tokens: %s once %s, %s %s (%s)\n", cli.ByteSize(b.Files.Bytes), b.Files.Tokens,
		cli.Plural(b.Artifacts, "artifact"), cli.ByteSize(b.Written.Bytes), cli.Plural(b.Passed, "path"),
		cli.ByteSize(b.References.Bytes), less)
	by := "by records and reads"
	if b.Logged {
		by = "by the agent log"
	}
	e.Printf("duration: %s, %s; %s\n", durationOf(b.Seconds), by, cli.Plural(b.AuditFiles, "audit file"))
}

// durationOf shows seconds as 1m12s or 0.4s.
func durationOf(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d >= time.Minute {
		return cli.DurationText(d.Round(time.Second))
	}
	return d.Round(100 * time.Millisecond).String()
}

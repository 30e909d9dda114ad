package main

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	runs "filebus/materialize/run"
	"filebus/query"
)

// A runBudgetJSON is the budget of a run in JSON.
type runBudgetJSON struct {
	Run      string            `json:"run"`
	Started  *time.Time        `json:"started,omitempty"`
	Ended    *time.Time        `json:"ended,omitempty"`
	Loops    int               `json:"loops"`
	Tasks    int               `json:"tasks"`
	Channels []channelCostJSON `json:"channels"`
	Reads    int               `json:"reads"`
	Tokens   int               `json:"tokens"`
	PerLoop  int               `json:"tokens_per_loop"`
	Agents   costJSON          `json:"agents"` // what agents read themselves
	Inline   costJSON          `json:"inline"`
	Polling  pollJSON          `json:"polling"`
	Blocking costJSON          `json:"blocking"`
	Ratio    float64           `json:"ratio"` // inline to tokens; 0: nothing was read
}

type channelCostJSON struct {
	Channel       query.Channel `json:"channel"`
	Reads         int           `json:"reads"`
	ReadsPerLoop  float64       `json:"reads_per_loop"`
	TokensPerRead int           `json:"tokens_per_read"`
	Tokens        int           `json:"tokens"`
	Stored        int           `json:"stored"`
	StoredTokens  int           `json:"stored_tokens"`
}

type costJSON struct {
	Count  int `json:"count"`
	Tokens int `json:"tokens"`
}

type pollJSON struct {
	Minutes float64 `json:"minutes"`
	Logged  bool    `json:"logged"` // the minutes are those of waits, not of tasks
	Calls   int     `json:"calls"`
	Tokens  int     `json:"tokens"`
}

func runRunBudget(ctx context.Context, env *environ, run string) error {
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	b, err := env.book(s).BudgetOf(ctx, run)
	if err != nil {
		return err
	}
	view := toRunBudget(b)
	if env.global.json {
		return env.printJSON(view)
	}
	printRunBudget(env, &view)
	return nil
}

func toRunBudget(b *runs.Budget) runBudgetJSON {
	view := runBudgetJSON{
		Run: b.Run, Loops: b.Loops, Tasks: b.Tasks, Channels: []channelCostJSON{}, Reads: b.Reads, Tokens: b.Tokens,
		PerLoop: perUnit(b.Tokens, b.Loops), Agents: costJSON(b.Agents), Inline: costJSON(b.Inline), Blocking: costJSON(b.Blocking),
		Polling: pollJSON{oneDecimal(b.Polling.Waited.Minutes()), b.Polling.Logged, b.Polling.Calls, b.Polling.Tokens},
	}
	if !b.Started.IsZero() {
		view.Started = &b.Started
	}
	if !b.Ended.IsZero() {
		view.Ended = &b.Ended
	}
	if b.Tokens > 0 {
		view.Ratio = oneDecimal(float64(b.Inline.Tokens) / float64(b.Tokens))
	}
	for _, c := range b.Channels {
		view.Channels = append(view.Channels, channelCostJSON{
			c.Channel, c.Read.Count, oneDecimal(float64(c.Read.Count) / float64(b.Loops)), perUnit(c.Read.Tokens, c.Read.Count), c.Read.Tokens,
			c.Stored.Count, c.Stored.Tokens,
		})
	}
	return view
}

// perUnit divides and rounds; nothing divided by nothing is 0.
func perUnit(sum, n int) int {
	if n == 0 {
		return 0
	}
	return int(math.Round(float64(sum) / float64(n)))
}

// printRunBudget prints the table of the channels that were read or that something
// is stored in, and below it what else the run would have cost.
func printRunBudget(env *environ, b *runBudgetJSON) {
	rows := [][]string{{"channel", "reads/loop", "≈tokens/read", "≈tokens", "stored", "≈tokens stored"}}
	for _, c := range b.Channels {
		if c.Reads+c.Stored == 0 {
			continue
		}
		rows = append(rows, []string{
			string(c.Channel), strconv.FormatFloat(c.ReadsPerLoop, 'f', -1, 64), strconv.Itoa(c.TokensPerRead), strconv.Itoa(c.Tokens),
			strconv.Itoa(c.Stored), strconv.Itoa(c.StoredTokens),
		})
	}
	env.printTable(rows)
	env.printf("%s: %s, %s, ≈%d tokens in %s, ≈%d a loop\n", oneLine(b.Run), plural(b.Loops, "loop"), plural(b.Tasks, "task"),
		b.Tokens, plural(b.Reads, "read"), b.PerLoop)
	if b.Agents.Count > 0 {
		env.printf("agents read ≈%d tokens in %s, in contexts of their own\n", b.Agents.Tokens, plural(b.Agents.Count, "read"))
	}
	inline := fmt.Sprintf("with outputs inline: ≈%d tokens, %s", b.Inline.Tokens, plural(b.Inline.Count, "text"))
	if b.Ratio > 0 {
		inline += " (" + ratioText(b.Ratio) + ")"
	}
	env.printf("%s\n", inline)
	of := "work, by the journals"
	if b.Polling.Logged {
		of = "waits"
	}
	env.printf("waiting by Glob: ≈%d tokens, %s min of %s × %d/min × %d calls\n", b.Polling.Tokens,
		strconv.FormatFloat(b.Polling.Minutes, 'f', -1, 64), of, runs.PollsPerMinute, runs.CallsPerPoll)
	env.printf("waiting by filebus wait: ≈%d tokens, %s\n", b.Blocking.Tokens, plural(b.Blocking.Count, "wait"))
	if b.Reads == 0 {
		env.note("no reads of this run are in the log of reads")
	}
}

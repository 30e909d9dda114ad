package main

import (
	"fmt"
	"strconv"

	runs "filebus/materialize/run"
)

// printRunBudget prints the table of the channels that were read or that something
// is stored in, and below it what else the run would have cost.
func printRunBudget(env *environ, b *runs.Budget) error {
	if env.global.json {
		return env.printJSON(b)
	}
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
	return nil
}

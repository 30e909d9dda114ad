package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	sessions "filebus/materialize/session"
)

func (o *budgetCommand) ofSession(ctx context.Context, w *workspace) error {
	id, trees, err := w.registry().ID(ctx, o.Session)
	if err != nil {
		return err
	}
	if !w.global.noSync {
		if err := w.registry().Discover(ctx, o.Session); err != nil {
			return err
		}
	}
	saved, err := w.registry().SavingsOf(ctx, id, sessions.Assumption{Readers: o.Readers, Agents: o.Assume}, trees...)
	if err != nil {
		return err
	}
	if w.global.json {
		err = w.printJSON(saved)
	} else {
		printSessionBudget(w.environ, saved)
	}
	if saved.Artifacts == 0 {
		w.note("nobody's reads of this session are in the log of reads; --assume AGENT,AGENT or --readers N show what they would save")
	}
	if saved.Anonymous > 0 {
		w.note("%s not counted, as no FILEBUS_AGENT was set", plural(saved.Anonymous, "read"))
	}
	if saved.Unsized > 0 {
		w.note("%s not counted, as the content was destroyed", plural(saved.Unsized, "read"))
	}
	return err
}

// mostAgents is how many agents the table of a session has.
const mostAgents = 30

// printSessionBudget prints a row for each agent, and the sums.
func printSessionBudget(env *environ, b *sessions.Savings) {
	rows := [][]string{{"agent", "given", "content passing", "≈tokens", "file passing", "≈tokens", "saved"}}
	for i, a := range b.Agents {
		if i == mostAgents {
			rows = append(rows, []string{fmt.Sprintf("%d more", len(b.Agents)-i)})
			break
		}
		rows = append(rows, []string{
			oneLine(a.Agent), strconv.Itoa(a.Artifacts), byteSize(a.Content.Bytes), strconv.Itoa(a.Content.Tokens),
			byteSize(a.References.Bytes), strconv.Itoa(a.References.Tokens), byteSize(a.Saved.Bytes),
		})
	}
	if len(b.Agents) > 0 {
		env.printTable(rows)
	}
	env.printf("content passing: %s, ≈%d tokens\n", byteSize(b.Content.Bytes), b.Content.Tokens)
	env.printf("file passing: %s, ≈%d tokens: %s once %s, %s %s (%s)\n", byteSize(b.Files.Bytes), b.Files.Tokens,
		plural(b.Artifacts, "artifact"), byteSize(b.Written.Bytes), plural(b.Passed, "path"), byteSize(b.References.Bytes), reductionText(b))
	by := "by records and reads"
	if b.Logged {
		by = "by the agent log"
	}
	env.printf("duration: %s, %s; %s\n", durationOf(b.Seconds), by, plural(b.AuditFiles, "audit file"))
}

// reductionText says how much less passing files costs, or more.
func reductionText(b *sessions.Savings) string {
	if b.Reduction < 0 {
		return fmt.Sprintf("%d %% more", -b.Reduction)
	}
	return fmt.Sprintf("%d %% less", b.Reduction)
}

// durationOf shows seconds as 1m12s or 0.4s.
func durationOf(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d >= time.Minute {
		return durationText(d.Round(time.Second))
	}
	return d.Round(100 * time.Millisecond).String()
}

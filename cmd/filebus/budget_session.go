package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	sessions "filebus/materialize/session"
	"filebus/store/record"
)

// A sessionBudgetJSON is what passing files has saved in a session.
type sessionBudgetJSON struct {
	Session    string             `json:"session"`
	Agents     []agentSavingsJSON `json:"agents"`
	Artifacts  int                `json:"artifacts"`  // that were read
	Content    sizeJSON           `json:"content"`    // what passing contents costs
	Files      sizeJSON           `json:"files"`      // what passing paths costs: written and references
	Written    sizeJSON           `json:"written"`    // the artifacts that were read, each once
	References sizeJSON           `json:"references"` // a path for each reader and artifact
	Passed     int                `json:"passed"`     // how many references
	Reduction  int                `json:"reduction"`  // in per cent
	Started    time.Time          `json:"started"`
	Ended      time.Time          `json:"ended"`
	Seconds    float64            `json:"seconds"`
	Logged     bool               `json:"logged"` // the times are those of the session's log
	AuditFiles int                `json:"audit_files"`
	Assumed    bool               `json:"assumed,omitempty"` // the readers are not from the log of reads
}

type sizeJSON struct {
	Bytes  int64 `json:"bytes"`
	Tokens int   `json:"tokens"` // about
}

type agentSavingsJSON struct {
	Agent     string   `json:"agent"`
	Artifacts int      `json:"artifacts"`
	Content   sizeJSON `json:"content"`
	Files     sizeJSON `json:"files"` // references alone
	Saved     sizeJSON `json:"saved"`
	Read      int      `json:"tokens_read"` // by the log of reads
}

func toSize(n int64) sizeJSON {
	if n < 0 {
		return sizeJSON{n, -record.EstimateTokens(-n)}
	}
	return sizeJSON{n, record.EstimateTokens(n)}
}

func runSessionBudget(ctx context.Context, env *environ, opts budgetOptions) error {
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	id, trees, err := env.registry(s).ID(ctx, opts.session)
	if err != nil {
		return err
	}
	if err := env.takeInSession(ctx, s, opts.session); err != nil {
		return err
	}
	saved, err := env.registry(s).SavingsOf(ctx, id, sessions.Assumption{Readers: opts.readers, Agents: opts.assume}, trees...)
	if err != nil {
		return err
	}
	view := toSessionBudget(saved)
	if env.global.json {
		err = env.printJSON(view)
	} else {
		printSessionBudget(env, &view)
	}
	if view.Artifacts == 0 {
		env.note("nobody's reads of this session are in the log of reads; --assume AGENT,AGENT or --readers N show what they would save")
	}
	if saved.Anonymous > 0 {
		env.note("%s not counted, as no FILEBUS_AGENT was set", plural(saved.Anonymous, "read"))
	}
	if saved.Unsized > 0 {
		env.note("%s not counted, as the content was destroyed", plural(saved.Unsized, "read"))
	}
	return err
}

func toSessionBudget(s *sessions.Savings) sessionBudgetJSON {
	references, passed := s.References()
	view := sessionBudgetJSON{
		Session: s.Session, Agents: []agentSavingsJSON{}, Artifacts: s.Artifacts, Content: toSize(s.Content()), Files: toSize(s.Files()),
		Written: toSize(s.Written), References: toSize(references), Passed: passed, Reduction: s.Reduction(),
		Started: s.Started, Ended: s.Ended, Seconds: s.Ended.Sub(s.Started).Round(time.Millisecond).Seconds(), Logged: s.Logged,
		AuditFiles: s.AuditFiles, Assumed: s.Assumed,
	}
	for _, a := range s.Agents {
		view.Agents = append(view.Agents, agentSavingsJSON{
			a.Agent, a.Artifacts, toSize(a.Content), toSize(a.References), toSize(a.Saved()), a.Read,
		})
	}
	return view
}

// mostAgents is how many agents the table of a session has.
const mostAgents = 30

// printSessionBudget prints a row for each agent, and the sums.
func printSessionBudget(env *environ, b *sessionBudgetJSON) {
	rows := [][]string{{"agent", "given", "content passing", "≈tokens", "file passing", "≈tokens", "saved"}}
	for i, a := range b.Agents {
		if i == mostAgents {
			rows = append(rows, []string{fmt.Sprintf("%d more", len(b.Agents)-i)})
			break
		}
		rows = append(rows, []string{
			oneLine(a.Agent), strconv.Itoa(a.Artifacts), byteSize(a.Content.Bytes), strconv.Itoa(a.Content.Tokens),
			byteSize(a.Files.Bytes), strconv.Itoa(a.Files.Tokens), byteSize(a.Saved.Bytes),
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
func reductionText(b *sessionBudgetJSON) string {
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

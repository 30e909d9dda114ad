package run

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Budget is what a run has cost the context of its orchestrator, and what it
// would have cost otherwise. All tokens are estimates.
type Budget struct {
	Run      string        `json:"run"`
	Started  time.Time     `json:"started,omitzero"` // zero: not known
	Ended    time.Time     `json:"ended,omitzero"`   // zero: it goes on, or not known
	Loops    int           `json:"loops"`            // that have begun, at least 1
	Closed   int           `json:"loops_ended"`      // of them, which the figures a loop are of; 0: of all so far
	Tasks    int           `json:"tasks"`            // with a journal or a report
	Channels []channelCost `json:"channels"`
	Reads    int           `json:"reads"`  // of all channels
	Tokens   int           `json:"tokens"` // of them
	PerLoop  int           `json:"tokens_per_loop"`
	Agents   cost          `json:"agents"`        // what agents read in their own contexts: reads that name a task or an agent
	Inline   cost          `json:"inline"`        // what tasks and calls gave back, as outputs
	Nested   cost          `json:"agents_inline"` // of calls that agents made
	Ratio    float64       `json:"ratio"`         // of inline to tokens; 0: nothing was read

	going  time.Time       // when the loop began that goes on; zero: none does, or nobody knows
	closed cost            // reads before that; all while no loop has ended
	nested map[string]bool // results whose references agents were handed
}

// A cost counts texts and what they have in tokens.
type cost struct {
	Count  int `json:"count"`
	Tokens int `json:"tokens"`
}

// A channelCost is what one channel has cost, and what lies there now: what reading
// whole files would cost.
type channelCost struct {
	Channel       string  `json:"channel"`
	Reads         int     `json:"reads"`
	ReadsPerLoop  float64 `json:"reads_per_loop"`
	TokensPerRead int     `json:"tokens_per_read"`
	Tokens        int     `json:"tokens"`
	closed        int     // reads in loops that have ended
	Stored        int     `json:"stored"`
	StoredTokens  int     `json:"stored_tokens"`
}

// A span is the time of a run. A zero end is open.
type span struct{ from, until time.Time }

func (s span) isKnown() bool { return !s.from.IsZero() }

func (s span) holds(t time.Time) bool {
	return s.isKnown() && !t.Before(s.from) && (s.until.IsZero() || !t.After(s.until))
}

// BudgetOf returns the budget of a run from the log of reads and what is stored.
// What belongs to it says so in its field for the run, or says of no run and is
// from its time, as the versions of the session state tell it.
func (b *Runs) BudgetOf(ctx context.Context, id string) (*Budget, error) {
	at, err := b.spanOf(ctx, id)
	if err != nil {
		return nil, err
	}
	texts, err := b.textsOf(ctx, id, at)
	if err != nil {
		return nil, err
	}
	if !at.isKnown() && len(texts) == 0 {
		err := record.NotFound.Errorf("nothing is stored of a run %q", id).Try("filebus run show")
		if current, _ := b.currentRun(ctx); current != "" { // only for the hint
			return nil, err.Try("filebus budget --run {1}", current)
		}
		return nil, err
	}
	if !at.isKnown() {
		at = around(texts)
	}
	budget := &Budget{Run: id, Started: at.from, Ended: at.until, Loops: 1, nested: map[string]bool{}}
	if err := b.countLoops(ctx, budget); err != nil {
		return nil, err
	}
	if err := b.countChannels(ctx, budget, texts); err != nil {
		return nil, err
	}
	reads, err := b.read.Reads(at.from)
	if err != nil {
		return nil, err
	}
	budget.countReads(reads, at)
	budget.countTexts(texts)
	budget.finish()
	return budget, nil
}

// spanOf returns the time in which the session state was that of a run: as its versions were
// stored, or as the last one says itself where that is more, as if it was written by hand. No
// run begins before the last state of another one.
func (b *Runs) spanOf(ctx context.Context, id string) (at span, err error) {
	var before time.Time // the last state of another run
	var last store.Version
	all, err := b.states(ctx)
	for _, v := range all {
		switch {
		case v.Record.Run == id:
			at.from, at.until, last = earlier(at.from, v.Record.Time), time.Time{}, v
		case !at.isKnown():
			before = v.Record.Time
		default:
			at.until = earlier(at.until, v.Record.Time)
		}
	}
	if err != nil || !at.isKnown() {
		return at, err
	}
	text, err := b.text(ctx, last)
	if errors.Is(err, store.ErrDropped) {
		return at, nil
	}
	s, _ := layout.ParseState(text)
	if t, err := time.Parse(time.RFC3339, s.Started); err == nil && t.Add(time.Second).Before(at.from) { // whole seconds
		at.from = slices.MaxFunc([]time.Time{t, before}, time.Time.Compare)
	}
	if t, err := time.Parse(time.RFC3339, s.Ended); err == nil {
		at.until = earlier(at.until, t.Add(time.Second))
	}
	return at, err
}

// earlier returns the earlier of two times, of which the first may be unknown.
func earlier(t, other time.Time) time.Time {
	if t.IsZero() || other.Before(t) {
		return other
	}
	return t
}

// around returns the time from the first to the last of some texts.
func around(texts []query.Summary) span {
	byTime := func(a, b query.Summary) int { return a.Version.Record.Time.Compare(b.Version.Record.Time) }
	return span{slices.MinFunc(texts, byTime).Version.Record.Time, slices.MaxFunc(texts, byTime).Version.Record.Time}
}

// textsOf lists the results, journals and markers of a run.
func (b *Runs) textsOf(ctx context.Context, id string, at span) ([]query.Summary, error) {
	kinds := []record.Kind{record.KindResult, record.KindHandoff, record.KindMarker}
	f := record.Filter{Kinds: kinds, Runs: record.Any(id)}
	own, err := b.read.Own(ctx, f)
	if err != nil || !at.isKnown() {
		return own, err
	}
	f.Runs = nil
	others, err := b.read.Own(ctx, f)
	return append(own, slices.DeleteFunc(others, func(o query.Summary) bool {
		return o.Version.Record.Run != "" || !at.holds(o.Version.Record.Time)
	})...), err
}

// countTexts counts what would have come back as the output of agents, each where its
// reference came: the results, and the journals of tasks without any. What was only
// made of other texts is none.
func (b *Budget) countTexts(texts []query.Summary) {
	gave := map[string]bool{}
	for _, t := range texts {
		if r := t.Version.Record; r.Name.Kind == record.KindResult {
			gave[layout.TaskID(r.Task)] = true
		}
	}
	for _, t := range texts {
		r := t.Version.Record
		isJournal := r.Name.Kind == record.KindHandoff
		if isJournal {
			b.Tasks++
		}
		switch {
		case r.Name.Kind == record.KindMarker, r.Source == record.SourceCombine, r.Source == record.SourcePDF:
		case isJournal && r.Task != "" && gave[layout.TaskID(r.Task)]:
		case b.nested[r.Name.String()]:
			b.Nested.add(t.Tokens)
		default:
			b.Inline.add(t.Tokens)
		}
	}
}

// countLoops finds how many loops the run had: as its state says, or the last of
// which something is stored.
func (b *Runs) countLoops(ctx context.Context, budget *Budget) error {
	state, _, _, err := b.state(ctx)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	if state.RunID == budget.Run {
		loop, _ := state.LoopNumber()
		budget.Loops = max(budget.Loops, loop)
		start, _, err := b.stored(ctx, snapshotName(budget.Run, loop, layout.SnapshotStart))
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		} else if err == nil && isOpen(state) && !isClosed(state) {
			budget.going, budget.Closed = start.Record.Time, -1
		}
	}
	listed, err := b.read.List(ctx, query.ListRequest{Filter: record.Filter{Runs: record.Any(budget.Run)}})
	for _, l := range listed.Entries {
		loop, _ := layout.State{Loop: l.Loop}.LoopNumber()
		budget.Loops = max(budget.Loops, loop)
	}
	budget.Closed += budget.Loops
	return err
}

// countChannels makes the rows of all channels and counts what is stored there.
func (b *Runs) countChannels(ctx context.Context, budget *Budget, texts []query.Summary) error {
	for _, c := range query.Channels() {
		budget.Channels = append(budget.Channels, channelCost{Channel: c})
	}
	shared, err := b.read.Own(ctx, record.Filter{
		Kinds: []record.Kind{record.KindIssue, record.KindState, record.KindKnowledge, record.KindComponent},
	})
	if err != nil {
		return err
	}
	for _, t := range slices.Concat(texts, shared) {
		of := budget.row(query.Read{Op: "get", What: t.Version.Record.Name.String()}.Channel())
		of.Stored++
		of.StoredTokens += t.Tokens
	}
	return nil
}

func (b *Budget) row(c string) *channelCost {
	return &b.Channels[slices.IndexFunc(b.Channels, func(of channelCost) bool { return of.Channel == c })]
}

// countReads counts the reads of a run: those of the orchestrator by channel,
// those of agents together.
func (b *Budget) countReads(reads []query.Read, at span) {
	// By these an agent tells of its own task.
	own := []string{"task note", "task handoff", "task done", "task fail", "task block"}
	for _, r := range reads {
		if r.Run != b.Run && (r.Run != "" || !at.holds(r.Time)) {
			continue
		}
		if r.Task+r.Agent != "" || slices.Contains(own, r.Op) {
			b.Agents.add(r.Tokens)
			b.nested[r.What] = b.nested[r.What] || r.Op == "exec"
			continue
		}
		of := b.row(r.Channel())
		if b.Closed == 0 || b.going.IsZero() || r.Time.Before(b.going) {
			of.closed++
			b.closed.add(r.Tokens)
		}
		of.Reads++
		of.Tokens += r.Tokens
		b.Reads++
		b.Tokens += r.Tokens
	}
}

func (c *cost) add(tokens int) {
	c.Count++
	c.Tokens += tokens
}

// finish finds what follows from the counts: what each loop and read cost.
func (b *Budget) finish() {
	loops := cmp.Or(b.Closed, b.Loops)
	b.PerLoop = int(math.Round(per(b.closed.Tokens, loops)))
	b.Ratio = oneDecimal(per(b.Inline.Tokens, b.Tokens))
	for i := range b.Channels {
		c := &b.Channels[i]
		c.ReadsPerLoop, c.TokensPerRead = oneDecimal(per(c.closed, loops)), int(math.Round(per(c.Tokens, c.Reads)))
	}
}

// per divides; anything divided by nothing is 0.
func per(sum, n int) float64 {
	if n == 0 {
		return 0
	}
	return float64(sum) / float64(n)
}

// oneDecimal rounds a figure as budgets show it.
func oneDecimal(f float64) float64 { return math.Round(f*10) / 10 }

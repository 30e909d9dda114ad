package task

import (
	"context"
	"errors"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// The outcomes of a handoff, as the document spells them.
const (
	Completed = "completed"
	Partial   = "partial"
	Failed    = "failed"
	Blocked   = "blocked"
)

// outcomeWord returns the document's spelling of an outcome.
func outcomeWord(text string) string {
	switch layout.NormalizeStatus(text) {
	case layout.StatusComplete:
		return Completed
	case layout.StatusPartial:
		return Partial
	case layout.StatusFailed:
		return Failed
	case layout.StatusBlocked:
		return Blocked
	}
	return text
}

// Merge returns a handoff with the fields of another one in place of its own, as
// far as that one has them.
func Merge(h, over layout.Handoff) layout.Handoff {
	if over.Outcome != "" {
		h.Outcome = over.Outcome
	}
	if over.Summary != "" {
		h.Summary = over.Summary
	}
	h.Files = instead(h.Files, over.Files)
	h.Blockers = instead(h.Blockers, over.Blockers)
	h.Patterns = instead(h.Patterns, over.Patterns)
	h.Gotchas = instead(h.Gotchas, over.Gotchas)
	h.Dependencies = instead(h.Dependencies, over.Dependencies)
	h.Questions = instead(h.Questions, over.Questions)
	h.NextSteps = instead(h.NextSteps, over.NextSteps)
	h.Extra = instead(h.Extra, over.Extra)
	return h
}

// instead returns the second list, or the first where that is empty.
func instead[T any](list, over []T) []T {
	if len(over) > 0 {
		return over
	}
	return list
}

// gaps returns what a handoff lacks, as the flags that add it.
func gaps(h *layout.Handoff) []Gap {
	var all []Gap
	status := layout.NormalizeStatus(h.Outcome)
	if h.Outcome == "" {
		all = append(all, Gap{"outcome", "it has no outcome"})
	} else if !layout.HasEnded(status) {
		all = append(all, Gap{"outcome", "its outcome is none of completed, partial, failed, blocked"})
	}
	if h.Summary == "" {
		all = append(all, Gap{"summary", "it has no summary"})
	}
	if len(h.Blockers) == 0 && (status == layout.StatusBlocked || status == layout.StatusPartial) {
		all = append(all, Gap{"blocker", "it is " + outcomeWord(h.Outcome) + " and names no blocker"})
	}
	if len(h.NextSteps) == 0 && status == layout.StatusFailed {
		all = append(all, Gap{"next", "it is failed and suggests no resolution"})
	}
	return all
}

// A Finished is a task that has handed over.
type Finished struct {
	ID        ID
	Name      record.Name // of the journal
	Ref       record.Ref
	Journal   string // absolute
	Marker    string // absolute; empty if none was written
	Status    string // complete, partial, blocked or failed
	Summary   string
	Unchanged bool // the journal said so already
}

// HandOver writes the handoff of a task into its journal and closes it. Given
// fields replace those that the journal's handoff has. It returns an
// *IncompleteError, and changes nothing, if something is missing.
func (b *Board) HandOver(ctx context.Context, id ID, given layout.Handoff) (*Finished, error) {
	return b.handOver(ctx, id, func(layout.Handoff) layout.Handoff { return given })
}

// handOver writes the handoff that is given for the one which the journal has.
func (b *Board) handOver(ctx context.Context, id ID, give func(before layout.Handoff) layout.Handoff) (*Finished, error) {
	f := &Finished{ID: id}
	put, err := b.edit(ctx, id, func(text []byte) ([]byte, error) { return b.handedOver(text, f, give) })
	if err != nil {
		return nil, err
	}
	f.Name, f.Ref, f.Journal, f.Unchanged = put.Name, put.Ref, put.File, put.Unchanged
	return f, nil
}

// handedOver returns the text of a journal with a handoff and the metadata of a
// task that has ended.
func (b *Board) handedOver(text []byte, f *Finished, give func(layout.Handoff) layout.Handoff) ([]byte, error) {
	j, _ := layout.ParseJournal(text) // what departs from the layout has no fields
	var before layout.Handoff
	if j.Handoff != nil {
		before = *j.Handoff
	}
	given := give(before)
	h := Merge(before, given)
	h.Outcome = outcomeWord(h.Outcome)
	if h.Outcome == Completed && outcomeWord(before.Outcome) != Completed { // what stood in its way does so no more
		h.Blockers, h.NextSteps = given.Blockers, given.NextSteps
	}
	if missing := gaps(&h); len(missing) > 0 {
		none := j.Handoff == nil && given.Summary == ""
		return nil, &IncompleteError{ID: f.ID, Outcome: h.Outcome, None: none, Gaps: missing}
	}
	before.Outcome = outcomeWord(before.Outcome) // another spelling is no change
	f.Status, f.Summary = layout.NormalizeStatus(h.Outcome), h.Summary
	changed := j.Handoff == nil || string(layout.HandoffText(h)) != string(layout.HandoffText(before))
	if changed {
		text = layout.SetHandoff(text, layout.HandoffText(h))
	}
	if layout.NormalizeStatus(j.Status) != f.Status {
		text = layout.SetJournalField(text, "Status", h.Outcome)
		changed = true
	}
	if changed || j.Completed == "" {
		text = layout.SetJournalField(text, "Completed", b.stamp())
	}
	return text, nil
}

// Finish hands a task over and then writes its marker: who waits for that can
// read the journal. An outcome that was not given is completed if a summary was
// given, else the journal's own.
func (b *Board) Finish(ctx context.Context, id ID, given layout.Handoff) (*Finished, error) {
	if _, err := b.markers(id); err != nil {
		return nil, err
	}
	f, err := b.handOver(ctx, id, func(before layout.Handoff) layout.Handoff {
		g := given
		if g.Outcome == "" && (g.Summary != "" || before.Outcome == "") {
			g.Outcome = Completed
		}
		return g
	})
	if err != nil {
		return nil, err
	}
	f.Marker, err = b.mark(ctx, id, f.Status)
	return f, err
}

// A Run is how a command has ended that worked on a task.
type Run struct {
	Outcome  string // Completed, Failed or Blocked
	Summary  string
	Problem  string // of one that is not complete: what went wrong
	NextStep string // likewise: how to find out more
}

// Begin makes sure before a command runs for a task that its journal is open and
// no marker is there. It reports whether it has opened the journal.
func (b *Board) Begin(ctx context.Context, id ID, r StartRequest) (opened bool, err error) {
	var running *RunningError
	if _, err = b.Start(ctx, id, r); !errors.As(err, &running) {
		return err == nil, err
	}
	_, err = b.clearMarkers(ctx, id, "")
	return false, err
}

// End ends the task of a command: if the command has left no complete handoff,
// one is made of how it ended; if it has left no marker, that is written.
func (b *Board) End(ctx context.Context, id ID, run Run) (*Finished, error) {
	p, err := b.journalPath(id)
	if err != nil {
		return nil, err
	}
	if err := b.work.TakeIn(ctx, p); err != nil {
		return nil, err
	}
	j, err := b.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	var given layout.Handoff
	if j.Handoff == nil || len(gaps(j.Handoff)) > 0 {
		given = run.handoff(j.Handoff)
	}
	found, err := b.markers(id)
	if err != nil {
		return nil, err
	}
	f, err := b.HandOver(ctx, id, given)
	if err != nil {
		return nil, err
	}
	if len(found) > 0 {
		f.Marker = found[0].File
		return f, nil
	}
	status := f.Status
	if run.Outcome != Completed && b.work.Settings.Profile.FailedMarkers() {
		status = layout.NormalizeStatus(run.Outcome) // the agent says complete, its exit code does not
	}
	f.Marker, err = b.mark(ctx, id, status)
	return f, err
}

// handoff returns an agent's handoff, which may be nil, with what it lacks.
func (r Run) handoff(own *layout.Handoff) layout.Handoff {
	var h layout.Handoff
	if own != nil {
		h = *own
	}
	if !layout.HasEnded(layout.NormalizeStatus(h.Outcome)) {
		h.Outcome = r.Outcome
	}
	if h.Summary == "" {
		h.Summary = r.Summary
	}
	switch layout.NormalizeStatus(h.Outcome) {
	case layout.StatusComplete:
		return h
	case layout.StatusFailed:
		h.NextSteps = instead([]string{r.NextStep}, h.NextSteps)
	}
	problem := r.Problem
	if problem == "" {
		problem = "not named"
	}
	h.Blockers = instead([]string{problem}, h.Blockers)
	return h
}

package task

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// completed is the outcome of a handoff that the document spells in another way than
// the status that it becomes.
const completed = "completed"

// outcomeWord returns the document's spelling of an outcome.
func outcomeWord(text string) string {
	status := layout.NormalizeStatus(text)
	switch {
	case status == layout.StatusComplete:
		return completed
	case layout.HasEnded(status):
		return status
	}
	return text
}

// Merge returns a handoff with the fields of another one in place of its own, as
// far as that one has them.
func Merge(h, over layout.Handoff) layout.Handoff {
	h.Outcome, h.Summary = cmp.Or(over.Outcome, h.Outcome), cmp.Or(over.Summary, h.Summary)
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

// gaps returns the flags that add what a handoff lacks, and says what that is.
func gaps(h *layout.Handoff) (flags, why []string) {
	status := layout.NormalizeStatus(h.Outcome)
	isHalf := status == layout.StatusBlocked || status == layout.StatusPartial
	for _, need := range []struct {
		lacks      bool
		flag, text string
	}{
		{h.Outcome == "", "outcome", "it has no outcome"},
		{h.Outcome != "" && !layout.HasEnded(status), "outcome", "its outcome is none of completed, partial, failed, blocked"},
		{h.Summary == "", "summary", "it has no summary"},
		{len(h.Blockers) == 0 && isHalf, "blocker", "it is " + outcomeWord(h.Outcome) + " and names no blocker"},
		{len(h.NextSteps) == 0 && status == layout.StatusFailed, "next", "it is failed and suggests no resolution"},
	} {
		if need.lacks {
			flags, why = append(flags, need.flag), append(why, need.text+" (--"+need.flag+")")
		}
	}
	return flags, why
}

// lineFor returns the line that ends a task of which nothing is said but an outcome.
func lineFor(outcome string, flags []string) string {
	const files = " --files FILE,FILE"
	verb := map[string]string{layout.StatusFailed: "fail", layout.StatusBlocked: "block", layout.StatusPartial: "done"}[outcome]
	switch {
	case verb == "":
		verb, flags = "done", []string{"summary"}
	case verb == "done":
		return withFlags("filebus task done {1}", flags...) + " --outcome partial" + files
	}
	return withFlags("filebus task "+verb+" {1}", flags...) + files
}

// withFlags returns a line with examples of flags.
func withFlags(line string, flags ...string) string {
	examples := map[string]string{
		"outcome": "completed", "summary": `"WHAT WAS DONE"`,
		"blocker": `"WHAT STANDS IN THE WAY"`, "next": `"HOW TO RESOLVE IT"`,
	}
	for _, flag := range flags {
		line += " --" + flag + " " + examples[flag]
	}
	return line
}

// A Finished is a task that has handed over.
type Finished struct {
	ID        ID              `json:"task"`
	Status    string          `json:"status"` // complete, partial, blocked or failed
	Name      record.Name     `json:"name"`   // of the journal
	Ref       record.ShortRef `json:"ref"`
	Marker    string          `json:"marker,omitempty"`    // absolute; empty if none was written
	Unchanged bool            `json:"unchanged,omitempty"` // the journal said so already
	Before    record.ShortRef `json:"-"`                   // the version of the journal before this one

	called string // what messages call the task; empty: its id
}

// HandOver writes the handoff of a task into its journal and closes it. Given
// fields replace those that the journal's handoff has. If something is
// missing that is an error, and nothing is changed.
func (b *Tasks) HandOver(ctx context.Context, id ID, given layout.Handoff) (*Finished, error) {
	return b.handOver(ctx, id, given, "")
}

// handOver is HandOver with an outcome in place of one that was not given. The journal's
// own stays if no summary was given either.
func (b *Tasks) handOver(ctx context.Context, id ID, given layout.Handoff, outcome string) (*Finished, error) {
	f := &Finished{ID: id}
	put, err := b.edit(ctx, id, func(text []byte) ([]byte, error) { return b.handedOver(text, f, given, outcome) })
	if err != nil {
		return nil, err
	}
	f.Name, f.Ref, f.Unchanged = put.Name, record.ShortRef(put.Ref), put.Unchanged
	f.Before = record.ShortRef(put.Record.Prev)
	return f, nil
}

// handedOver returns the text of a journal with a handoff and the metadata of a
// task that has ended.
func (b *Tasks) handedOver(text []byte, f *Finished, given layout.Handoff, outcome string) ([]byte, error) {
	j, _ := layout.ParseJournal(text) // what departs from the layout has no fields
	var before layout.Handoff
	if j.Handoff != nil {
		before = *j.Handoff
	}
	if given.Outcome == "" && (given.Summary != "" || before.Outcome == "") {
		given.Outcome = outcome
	}
	h := Merge(before, given)
	h.Outcome = outcomeWord(h.Outcome)
	if h.Outcome == completed && outcomeWord(before.Outcome) != completed { // what stood in its way does so no more
		h.Blockers, h.NextSteps = given.Blockers, given.NextSteps
	}
	called := cmp.Or(f.called, f.ID.String())
	switch flags, why := gaps(&h); {
	case len(flags) > 0 && j.Handoff == nil && given.Summary == "":
		err := record.Wanting.Errorf("%s has no handoff: say at least what was done (--summary)", called)
		return nil, err.Try(lineFor(h.Outcome, flags), called)
	case len(flags) > 0:
		err := record.Wanting.Errorf("the handoff of %s is not complete: %s", called, strings.Join(why, "; "))
		return nil, err.Try(withFlags("run it again with", flags...))
	}
	before.Outcome = outcomeWord(before.Outcome) // another spelling is no change
	f.Status = layout.NormalizeStatus(h.Outcome)
	changed := j.Handoff == nil || string(layout.HandoffText(h)) != string(layout.HandoffText(before))
	if changed {
		text = layout.SetHandoff(text, layout.HandoffText(h))
	}
	if layout.NormalizeStatus(j.Status) != f.Status {
		text = layout.SetJournalField(text, "Status", h.Outcome)
	} else if j.Handoff == nil && j.Completed != "" {
		return text, nil // it had ended then already, and only said nothing of it
	}
	if changed || j.Completed == "" || layout.NormalizeStatus(j.Status) != f.Status {
		text = layout.SetJournalField(text, "Completed", b.stamp())
	}
	return text, nil
}

// Finish hands a task over and then writes its marker: who waits for that can
// read the journal. An outcome that was not given is completed if a summary was
// given, else the journal's own.
func (b *Tasks) Finish(ctx context.Context, id ID, given layout.Handoff) (*Finished, error) {
	if _, err := b.markers(id); err != nil {
		return nil, err
	}
	f, err := b.handOver(ctx, id, given, completed)
	if err != nil {
		return nil, err
	}
	f.Marker, err = b.mark(ctx, id, f.Status)
	return f, err
}

// A Run is how a command has ended that worked on a task.
type Run struct {
	Outcome  string // a status of package layout
	Summary  string
	Problem  string // of one that is not complete: what went wrong
	NextStep string // likewise: how to find out more
}

// Begin makes sure before a command runs for a task that its journal is open and
// no marker is there. A task that runs goes on, unless it is another agent's.
func (b *Tasks) Begin(ctx context.Context, id ID, r StartRequest) error {
	_, running := b.Start(ctx, id, r)
	if !errors.Is(running, errIsRunning) {
		return running
	}
	_, err := b.edit(ctx, id, func(text []byte) ([]byte, error) {
		j, _ := layout.ParseJournal(text) // what departs from the layout has no fields
		switch by := agentOf(&j); {
		case r.Agent == "" || strings.EqualFold(by, r.Agent):
			return text, nil
		case by != "":
			return nil, running
		}
		return layout.SetJournalField(text, "Agent", r.Agent), nil
	})
	if err == nil {
		_, err = b.clearMarkers(ctx, id, "")
	}
	return err
}

// End ends the task of a command: if the command has left no complete handoff,
// one is made of how it ended; if it has left no marker, that is written.
func (b *Tasks) End(ctx context.Context, id ID, run Run) (*Finished, error) {
	j, err := b.Look(ctx, id)
	if err != nil {
		return nil, err
	}
	var given layout.Handoff
	if j.Handoff != nil {
		given = *j.Handoff
	}
	if missing, _ := gaps(&given); len(missing) > 0 {
		given = run.complete(given)
	}
	found, err := b.markers(id)
	if err != nil {
		return nil, err
	}
	f, err := b.HandOver(ctx, id, given)
	if err != nil {
		return nil, err
	}
	status := f.Status
	if run.Outcome != layout.StatusComplete && b.work.Settings.Profile.FailedMarkers() {
		status = layout.NormalizeStatus(run.Outcome) // the agent says complete, its exit code does not
	}
	own := b.spelled(id)
	for _, m := range found { // one in another spelling ends no loop that waits for this one
		if m.path == b.markerPath(own) || m.path == b.markerPath(own+failedSuffix) {
			f.Marker = m.File
			return f, nil
		}
		status = m.Status
	}
	f.Marker, err = b.mark(ctx, id, status)
	return f, err
}

// complete returns an agent's handoff with what it lacks.
func (r Run) complete(h layout.Handoff) layout.Handoff {
	if !layout.HasEnded(layout.NormalizeStatus(h.Outcome)) {
		h.Outcome = r.Outcome
	}
	h.Summary = cmp.Or(h.Summary, r.Summary)
	switch layout.NormalizeStatus(h.Outcome) {
	case layout.StatusComplete:
		return h
	case layout.StatusFailed:
		h.NextSteps = instead([]string{r.NextStep}, h.NextSteps)
	}
	h.Blockers = instead([]string{cmp.Or(r.Problem, "not named")}, h.Blockers)
	return h
}

// Standing returns how far a task is, of which the store has the journal. Nothing is
// known of what is no id of a task.
func (b *Tasks) Standing(ctx context.Context, text string) (s layout.Standing, err error) {
	id, err := ParseID(text)
	if err != nil {
		return s, nil
	}
	status, handoff := "", false
	j, err := b.Get(ctx, id)
	if err != nil && !errors.Is(err, ErrNotStarted) {
		return s, err
	} else if err == nil {
		r := j.Version.Record
		s.Agent, s.Run, s.Ended, status, handoff = r.Agent, r.Run, r.Time, j.State(), j.Handoff != nil
		s.Started, _ = time.Parse(time.RFC3339, j.Started) // zero: by hand, in another form
	}
	if m, err := b.counting(ctx, id); err == nil && m.File != "" { // what stands in the place of a marker is none
		e := b.ending(id, m, origin{})
		s.Ended, status, handoff = m.Time, e.Status, e.HasHandoff
	}
	if !layout.HasEnded(status) {
		s.Going = j != nil
	} else if s.Outcome = outcomeWord(status); !handoff {
		s.Outcome += " (no handoff)"
	}
	return s, nil
}

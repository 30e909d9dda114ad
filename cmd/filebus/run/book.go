// Package run holds the commands and the rules of an orchestrator's run: its session state, with
// loops and agents, the snapshots that are kept of each loop, and the status that
// an orchestrator asks for.
//
// [Runs] is the session state of a workspace. Every change of it is one edit of
// its file, in the form that the file is written in, so any number of processes
// may change it at once. The state never holds what an agent wrote: a text that is
// too long for it is a [TooLongError], with the command that stores it.
//
// The changes of a loop are counted from what was noted when it began, see
// [layout.LoopStart]. In a git repository that is a tree of git with all files
// that git does not ignore. It is written with an index and an object folder of
// its own: the user's index, objects and refs are never touched.
package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// Runs is the session state of a workspace, and the snapshots of its loops.
type Runs struct {
	w    *materialize.Workspace
	read *query.Reader
	opts Options
}

// Options are the environment of a Runs.
type Options struct {
	Now       func() time.Time
	Variables []string // the environment for git, as of os.Environ
	// Standing tells how far a task is, by any of its names.
	Standing func(ctx context.Context, task string) (layout.Standing, error)
}

// Open returns the Runs of a workspace.
func Open(w *materialize.Workspace, read *query.Reader, opts Options) *Runs {
	return &Runs{w, read, opts}
}

// now is the time in the form that state files have.
func (b *Runs) now() time.Time { return b.opts.Now().UTC().Truncate(time.Second) }

// An Outcome says what a change of the session state did.
type Outcome struct {
	Run    string          `json:"run"`
	Loop   int             `json:"loop"`
	Loops  int             `json:"loops,omitempty"`  // planned
	Closed string          `json:"closed,omitempty"` // the last line of the loop history
	Ended  string          `json:"ended,omitempty"`
	File   string          `json:"file"` // absolute
	Ref    record.ShortRef `json:"ref"`  // of the new version
	// Of a loop that is closed: its tasks and its snapshot, what knowledge harvest
	// proposes of them, and the command that comes next.
	Tasks     layout.TaskOutcomes `json:"tasks,omitempty"`
	Snapshot  string              `json:"snapshot,omitempty"`
	Proposals map[string]int      `json:"proposals,omitempty"`
	Next      string              `json:"next,omitempty"`
	closed    int                 // the number of the loop that another one follows
	// LeftOut are the files that the changes of a loop that has begun will not include.
	LeftOut []string `json:"left_out,omitempty"`
	// Rewritten is the version from which the file was written anew, because it
	// had a form in which it cannot be changed; zero mostly.
	Rewritten record.ShortRef `json:"-"`
	State     layout.State    `json:"-"` // after the change
	Agent     layout.Agent    `json:"-"` // that has begun or ended
}

// A plan finds the change of a state. It may be called again when another process
// was faster, and it may refuse.
type plan func(now layout.State, head *store.Version) (layout.StateChange, error)

// change edits the session state.
func (b *Runs) change(ctx context.Context, p plan) (*Outcome, error) {
	file, err := b.w.PathOf(stateName())
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(file); err == nil && info.Size() > store.InlineLimit { // too large to be edited at all
		return nil, b.checkSize(info.Size(), 0)
	}
	var out *Outcome
	edit := func(old []byte, head *store.Version) ([]byte, error) {
		state, _ := layout.ParseState(old) // what it cannot read stays as it is
		c, err := p(state, head)
		if err != nil {
			return nil, err
		}
		text, kept := c.Apply(old)
		if out = outcomeOf(c, text); !kept && head != nil {
			out.Rewritten = record.ShortRef(head.Ref)
		}
		return text, b.checkSize(int64(len(text)), int64(len(old)))
	}
	result, err := b.w.EditText(ctx, record.KindState, stateID, record.SourcePut, edit)
	if err != nil {
		return nil, err
	}
	out.Ref, out.File = record.ShortRef(result.Ref), result.File
	return out, nil
}

// outcomeOf says what a state is like after a change.
func outcomeOf(c layout.StateChange, text []byte) *Outcome {
	s, _ := layout.ParseState(text)
	out := &Outcome{Run: s.RunID, Ended: s.Ended, State: s}
	out.Loop, out.Loops = s.LoopNumber()
	if n := len(s.History); n > 0 {
		out.Closed = s.History[n-1]
	}
	for _, a := range slices.Concat(c.Start, c.Done) {
		out.Agent = a
	}
	return out
}

// The limits of a session state: what it holds is read again and again.
const (
	MaxField  = 500    // characters of one value
	maxTokens = 25_000 // of the file
)

// checkSize refuses a change that makes the file too large, or larger still.
func (b *Runs) checkSize(size, before int64) error {
	tokens := record.EstimateTokens(size)
	if tokens <= maxTokens || size <= before {
		return nil
	}
	p, err := b.w.Settings.Profile.Path(record.KindState, stateID)
	if err != nil {
		p = stateID + ".md" // a profile without a root has no such file either
	}
	return tooLong("the session state", tokens, "tokens", maxTokens, "filebus put "+p)
}

// checkField refuses a value that is too long for the session state.
func checkField(what, text, agent, task string) error {
	n := len([]rune(text))
	if n <= MaxField {
		return nil
	}
	put := "filebus put -"
	if agent != "" && agent != text {
		put += " --agent " + agent
	}
	if task != "" && task != text {
		put += " --task " + task
	}
	return tooLong(what, n, "characters", MaxField, put)
}

// state reads the session state, as it is when it is settled, and its text. Without one
// the error is store.ErrNotFound.
func (b *Runs) state(ctx context.Context) (s layout.State, v store.Version, text []byte, err error) {
	if v, text, err = b.stored(ctx, stateName()); err == nil {
		s, _ = layout.ParseState(text)
		s, _, err = b.settled(ctx, s)
	}
	return s, v, text, err
}

// states returns the versions of the session state that are still there, the oldest
// first.
func (b *Runs) states(ctx context.Context) ([]store.Version, error) {
	return query.View(ctx, b.w.Store, func(tx *store.Tx) (all []store.Version, err error) {
		for v, err := range query.Versions(tx, stateName()) {
			if err != nil {
				return nil, err
			}
			all = append(all, v)
		}
		return all, nil
	})
}

// isOpen reports whether the run of a state goes on.
func isOpen(s layout.State) bool { return s.RunID != "" && s.Ended == "" }

// stateName is the name of a workspace's session state.
func stateName() record.Name { return record.Name{Kind: record.KindState, ID: stateID} }

const stateID = "session_state"

// stored reads the current version of a name.
func (b *Runs) stored(ctx context.Context, name record.Name) (store.Version, []byte, error) {
	head, err := b.read.Head(ctx, name)
	if err != nil {
		return store.Version{}, nil, err
	}
	text, err := b.text(ctx, head.Version)
	return head.Version, text, err
}

// text reads the body of a version.
func (b *Runs) text(ctx context.Context, v store.Version) ([]byte, error) {
	const maxRead = 64 << 20 // bounds what is read of a file that others may have written
	if v.Record.Size > maxRead {
		return nil, fmt.Errorf("%s has %d bytes, too many to be read at once", v.Record.Name, v.Record.Size)
	}
	return b.w.TextOf(ctx, v)
}

// wasUsed reports whether an id is or was that of a run, in whichever lane.
func (b *Runs) wasUsed(ctx context.Context, id string) (bool, error) {
	used, err := b.w.EverStored(ctx, snapshotName(id, 1, layout.SnapshotStart))
	if err != nil || used {
		return used, err
	}
	values, err := b.read.Values(ctx, "run", id)
	return slices.ContainsFunc(values, func(v store.Value) bool {
		number, _ := layout.CutLane(v.Text)
		return v.Text == id || number == id
	}), err
}

// freeID returns the first id of a day whose number no run has had: run-2025-12-12-001, with the
// lane of the store, see materialize.Workspace.Lane.
func (b *Runs) freeID(ctx context.Context, day time.Time) (string, error) {
	lane, err := b.w.Lane(ctx)
	for n := 1; err == nil; n++ {
		number, used := fmt.Sprintf("run-%s-%03d", day.Format(time.DateOnly), n), false
		id := layout.WithLane(number, lane)
		if used, err = b.wasUsed(ctx, number); err == nil && !used && id != number {
			used, err = b.wasUsed(ctx, id)
		}
		if err == nil && !used {
			return id, nil
		}
	}
	return "", err
}

// checkID returns an error if a text cannot be the id of a run or of an agent: it is
// part of paths and of tables.
func checkID(what, text string) error {
	if regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`).MatchString(text) {
		return nil
	}
	return malformed(what, clip(text), "letters, digits, '.', '_' and '-', at most 100")
}

// A View is the session state as it is now, each value cut where it is too long.
type View struct {
	Run       string          `json:"run,omitempty"`
	Started   string          `json:"started,omitempty"`
	Ended     string          `json:"ended,omitempty"`
	Loop      int             `json:"loop"`
	Loops     int             `json:"loops,omitempty"` // planned
	Focus     string          `json:"focus,omitempty"`
	Running   []layout.Agent  `json:"running"`
	Completed []layout.Agent  `json:"completed"`
	History   []string        `json:"history"`
	More      int             `json:"more,omitempty"` // entries that First has left out
	Ref       record.ShortRef `json:"ref"`
	File      string          `json:"file"`   // absolute
	Tokens    int             `json:"tokens"` // of the file
	State     layout.State    `json:"-"`      // uncut
}

// View returns the session state. Without one the error is errNoRun.
func (b *Runs) View(ctx context.Context) (*View, error) {
	s, at, _, err := b.state(ctx)
	if errors.Is(err, store.ErrNotFound) {
		err = noRun("")
	}
	if err != nil {
		return nil, err
	}
	v := &View{
		Run: clip(s.RunID), Started: clip(s.Started), Ended: clip(s.Ended), Focus: clip(s.Focus), State: s,
		Running: markdown.Each(s.Running, clipped), Completed: markdown.Each(s.Completed, clipped),
		History: markdown.Each(s.History, clip),
		Ref:     record.ShortRef(at.Ref), Tokens: record.EstimateTokens(at.Record.Size),
	}
	v.Loop, v.Loops = s.LoopNumber()
	v.File, err = b.w.PathOf(stateName())
	return v, err
}

// clip cuts a value that somebody else has written.
func clip(text string) string { return markdown.Clip(text, 120) }

// clipped returns an agent as a view has it.
func clipped(a layout.Agent) layout.Agent {
	a.ID, a.Task, a.Model, a.Outcome = clip(a.ID), clip(a.Task), clip(a.Model), clip(a.Outcome)
	return a
}

// Entries returns how many entries the lists of a view have.
func (v *View) Entries() int { return len(v.Running) + len(v.History) + len(v.Completed) }

// First returns the view with n of its entries: those at work first, then the last
// lines of the history, then the agents that ended last.
func (v *View) First(n int) *View {
	first := *v
	first.More = v.Entries() - n
	first.Running = v.Running[:min(n, len(v.Running))]
	n -= len(first.Running)
	first.History = last(v.History, n)
	first.Completed = last(v.Completed, n-len(first.History))
	return &first
}

func last[T any](list []T, n int) []T { return list[max(len(list)-n, 0):] }

// errNoRun is the reason of an error that no run is going on.
const errNoRun record.Reason = "no run"

// noRun returns the error that no run is going on, with the one that ended last.
func noRun(ended string) error {
	if ended != "" {
		ended = ": " + ended + " has ended"
	}
	return record.NotFound.Errorf("no run is going on%s", ended).Try("filebus run start").Because(errNoRun)
}

// malformed returns the error of a text that cannot be the id of a run or of an
// agent, or the name of a snapshot.
func malformed(what, text, want string) error {
	return record.Usage.Errorf("malformed %s %q: %s", what, text, want)
}

// tooLong returns the error of a text that does not belong into the session state,
// with the command line that stores it as a result.
func tooLong(what string, size int, unit string, most int, put string) error {
	err := record.Usage.Errorf("%s has %d %s, more than %d: store a result, keep the reference", what, size, unit, most)
	return err.Try(put)
}

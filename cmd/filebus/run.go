package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	runs "filebus/cmd/filebus/run"
	"filebus/cmd/filebus/task"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// runCommands are the commands of runs and their snapshots.
func runCommands() []command {
	return []command{
		group("run",
			creating("start", &runStart{}),
			existing("loop", &runLoop{}).with(existing("end", runFunc(endLoop))),
			group("agent",
				existing("start ID", &agentStart{}),
				existing("done ID", &agentDone{Outcome: "completed"}),
			),
			existing("end", runFunc(endRun)),
			fresh("show", &runShow{MaxTokens: stateTokens}),
		),
		group("snapshot",
			existing("take", &snapshotTake{}),
			fresh("list", &snapshotList{Limit: 20}),
			fresh("show RUN/LOOP [FILE]", &snapshotShow{MaxTokens: snapshotTokens}),
			existing("restore-state RUN/LOOP", runFunc(restoreState)),
		),
	}
}

// book returns the session state of a workspace.
func (w *workspace) book() *runs.Runs {
	o := runs.Options{Now: w.now, Variables: w.variables, Standing: w.board().Standing}
	return runs.Open(w.Workspace, w.read, o)
}

// settleTasks tells the session state what became of tasks, or why it was not told: their
// own files stand.
func settleTasks(ctx context.Context, w *workspace, tasks ...string) {
	if err := w.book().Settle(ctx, tasks...); err != nil {
		w.noteTry("filebus run show", "the session state was not told: %s", message(err))
	}
}

type runStart struct {
	ID      string `flag:"id"`
	Focus   string `flag:"focus"`
	Loops   int    `flag:"loops" least:"0"`
	End     bool   `flag:"end" not:"restart"`
	Restart bool   `flag:"restart"`
}

func (o *runStart) run(ctx context.Context, w *workspace, _ []string) error {
	out, err := w.book().Start(ctx, runs.StartRequest(*o))
	return w.printRun(out, err, runText)
}

type runLoop struct {
	Loops int `flag:"loops" least:"0"`
}

func (o *runLoop) run(ctx context.Context, w *workspace, _ []string) error {
	out, err := w.book().Loop(ctx, o.Loops)
	return w.printRun(out, err, runText)
}

// endLoop closes a loop: its line in the history, its snapshot, and what is left to do.
func endLoop(ctx context.Context, w *workspace, _ []string) error {
	out, snap, err := w.book().CloseLoop(ctx)
	if err != nil {
		return err
	}
	var ended, harvest []string
	out.Next, out.Snapshot, out.Proposals = "filebus run loop", snap.Name(), map[string]int{}
	if out.Loops > 0 && out.Loop >= out.Loops {
		out.Next = "filebus run end"
	}
	for _, status := range slices.Sorted(maps.Keys(out.Tasks)) {
		ids := markdown.Each(out.Tasks[status], record.ShellWord)
		ended = append(ended, fmt.Sprintf("%-11s %s", cmp.Or(status, "other"), strings.Join(ids, " ")))
		for i, id := range out.Tasks[status] {
			if n := w.proposals(ctx, id); n > 0 {
				out.Proposals[id] = n
				harvest = append(harvest, fmt.Sprintf("harvest     %s: filebus knowledge harvest %s --add new",
					plural(n, "proposal"), ids[i]))
			}
		}
	}
	lines := append([]string{
		fmt.Sprintf("%s  loop %s closed: %s", out.Run, out.State.Loop, out.Tasks), "next        " + out.Next,
		fmt.Sprintf("snapshot    %s  %s completed, at %s", snap.Name(), summaryOf(snap), w.minute(snap.Time)),
	}, ended...)
	const closedTokens = 200 // what closing a loop prints at most
	return w.presentShort(append(lines, harvest...), presentation{
		what: "state/session_state", maxTokens: closedTokens, exact: true, rest: "--json", json: func(int) any { return out },
	})
}

// proposals counts what the handoff of a task, if it has one, proposes and was not harvested yet.
func (w *workspace) proposals(ctx context.Context, text string) int {
	if j, err := w.board().Get(ctx, task.ID(text)); err == nil {
		if h, err := w.knowledge().Harvest(ctx, j.Version, nil); err == nil {
			return len(h.Open())
		}
	}
	return 0
}

func endRun(ctx context.Context, w *workspace, _ []string) error {
	out, err := w.book().End(ctx)
	return w.printRun(out, err, runText)
}

// An outcomeText says what came of a change, in JSON and in a line.
type outcomeText func(*runs.Outcome) (json any, line string)

// printRun prints what came of a change of the session state.
func (w *workspace) printRun(out *runs.Outcome, err error, text outcomeText) error {
	if err != nil {
		return err
	}
	if out.Rewritten != (record.ShortRef{}) {
		w.note("%s had a form that cannot be changed in place and was written anew; filebus get %s prints what it was",
			out.File, out.Rewritten)
	}
	for i, left := range out.LeftOut {
		if i == 5 {
			w.note("and %s", plural(len(out.LeftOut)-i, "file more"))
			break
		}
		w.note("the loop's changes will not include %s", left)
	}
	w.said.Run = out.Run // of one that has ended, too, although this is printed after its end
	json, line := text(out)
	return w.print(json, "%s\n", oneLine(line))
}

// runText says what a run is like after a change.
func runText(out *runs.Outcome) (json any, line string) {
	line = out.Run + "  loop " + out.State.Loop
	if out.Ended != "" {
		line = out.Run + "  ended " + out.Ended
	}
	if out.Closed != "" {
		line += "  (" + out.Closed + ")"
	}
	return out, line
}

type agentStart struct {
	Task  string `flag:"task"`
	Model string `flag:"model"`
}

func (o *agentStart) run(ctx context.Context, w *workspace, args []string) error {
	a := layout.Agent{ID: args[0], Task: w.or(o.Task, "FILEBUS_TASK"), Model: o.Model}
	if id := layout.TaskID(a.Task); id != "" { // else it is too long, and will be refused
		a.Task = id
	}
	out, err := w.book().AgentStart(ctx, a)
	return w.printRun(out, err, agentText)
}

type agentDone struct {
	Outcome string `flag:"outcome"`
}

func (o *agentDone) run(ctx context.Context, w *workspace, args []string) error {
	out, err := w.book().AgentDone(ctx, args[0], o.Outcome)
	return w.printRun(out, err, agentText)
}

// agentText says that an agent has begun or ended.
func agentText(out *runs.Outcome) (json any, line string) {
	a := out.Agent
	on := ""
	if a.Task != "" {
		on = " on " + a.Task
	}
	working := "; " + plural(len(out.State.Running), "agent")
	if a.Started != "" {
		return a, a.ID + " at work" + on + working
	}
	took := ""
	if a.Duration != "" {
		took = " after " + a.Duration
	}
	return a, a.ID + " " + a.Outcome + took + on + working + " at work"
}

// stateTokens is what the commands that an orchestrator repeats print at most.
const stateTokens = 300

type runShow struct {
	MaxTokens int `flag:"max-tokens" least:"50" all:"0" in:"a run"`
}

func (o *runShow) run(ctx context.Context, w *workspace, _ []string) error {
	w.importNew(ctx, record.KindState, "session_state")
	view, err := w.book().View(ctx)
	if err != nil {
		return err
	}
	return w.presentShort(runLines(view.State, w.now()), presentation{
		what: "state/session_state", maxTokens: o.MaxTokens, exact: true,
		entries: view.Entries(), json: func(n int) any { return view.First(n) },
	})
}

// runLines returns a state in lines, what matters most first.
func runLines(s layout.State, now time.Time) []string {
	head := cmp.Or(s.RunID, "no run id") + "  loop " + cmp.Or(s.Loop, "none")
	if s.Started != "" {
		head += "  since " + s.Started
	}
	if s.Ended != "" {
		head += "  ended " + s.Ended
	}
	lines := []string{head}
	if s.Focus != "" {
		lines = append(lines, "focus  "+s.Focus)
	}
	lines = append(lines, fmt.Sprintf("agents  %d at work; %s", len(s.Running), layout.OutcomesOf(s.Completed, s.Running)))
	for _, a := range s.Running {
		line := words(who(a.ID, a.Task), a.Model)
		if took, known := runs.Since(a.Started, now); known {
			line += "  " + layout.DurationText(took)
		}
		lines = append(lines, "  "+line)
	}
	for _, line := range slices.Backward(s.History[max(len(s.History)-3, 0):]) {
		lines = append(lines, "loops  "+line)
	}
	for _, a := range slices.Backward(s.Completed) {
		lines = append(lines, "  ended  "+words(who(a.ID, a.Task), a.Outcome, a.Duration))
	}
	return lines
}

// who names an agent and its task, which has no agent of another name in some states.
func who(agent, task string) string {
	if agent == task {
		return agent
	}
	return words(agent, task)
}

// words joins texts with one space between two words.
func words(texts ...string) string {
	return markdown.SingleSpaced(strings.Join(texts, " "))
}

// maxCell is how many characters of one value a bounded output shows.
const maxCell = 120

// cutText cuts a text that somebody else has written.
func cutText(text string) string { return markdown.Clip(oneLine(text), maxCell) }

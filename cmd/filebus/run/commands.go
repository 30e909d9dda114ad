package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/knowledge"
	"filebus/cmd/filebus/task"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// Commands are the commands of runs and their snapshots.
func Commands() []cli.Command {
	return []cli.Command{
		cli.Group("run",
			cli.Creating("start", &runStart{}),
			cli.Existing("loop", &runLoop{}).With(cli.Existing("end", cli.RunFunc(endLoop))),
			cli.Group("agent",
				cli.Existing("start ID", &agentStart{}),
				cli.Existing("done ID", &agentDone{Outcome: "completed"}),
			),
			cli.Existing("end", cli.RunFunc(endRun)),
			cli.Fresh("show", &runShow{MaxTokens: cli.StateTokens}),
		),
		cli.Group("snapshot",
			cli.Existing("take", &snapshotTake{}),
			cli.Fresh("list", &snapshotList{Page: cli.Page{Limit: 20}}),
			cli.Fresh("show RUN/LOOP [FILE]", &snapshotShow{MaxTokens: snapshotTokens}),
			cli.Existing("restore-state RUN/LOOP", cli.RunFunc(restoreState)),
		),
	}
}

// Of returns the session state of a workspace.
func Of(w *cli.Work) *Runs {
	o := Options{Now: w.Now, Variables: w.Variables, Standing: task.Of(w).Standing}
	return Open(w.Workspace, w.Reader, o)
}

// SettleTasks tells the session state what became of tasks, or why it was not told: their
// own files stand.
func SettleTasks(ctx context.Context, w *cli.Work, tasks ...string) {
	if err := Of(w).Settle(ctx, tasks...); err != nil {
		w.NoteTry("filebus run show", "the session state was not told: %s", cli.Message(err))
	}
}

type runStart struct {
	ID      string `flag:"id"`
	Focus   string `flag:"focus"`
	Loops   int    `flag:"loops" least:"0"`
	End     bool   `flag:"end" not:"restart"`
	New     bool   `flag:"new" not:"end"`
	Restart bool   `flag:"restart"`
}

func (o *runStart) Do(ctx context.Context, w *cli.Work, _ []string) error {
	out, err := Of(w).Start(ctx, StartRequest{o.ID, o.Focus, o.Loops, o.End, o.New, o.Restart, w.Actor("")})
	return printRun(w, out, err, runText)
}

type runLoop struct {
	Loops int `flag:"loops" least:"0"`
}

func (o *runLoop) Do(ctx context.Context, w *cli.Work, _ []string) error {
	out, err := Of(w).Loop(ctx, o.Loops)
	if err == nil && out.closed > 0 {
		if _, err = Of(w).Take(ctx, out.Run, out.closed); errors.Is(err, record.Conflict) { // it was taken before
			err = nil
		}
	}
	return printRun(w, out, err, runText)
}

// endLoop closes a loop: its line in the history, its snapshot, and what is left to do.
func endLoop(ctx context.Context, w *cli.Work, _ []string) error {
	out, snap, err := Of(w).CloseLoop(ctx)
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
			if n := proposals(ctx, w, id); n > 0 {
				out.Proposals[id] = n
				harvest = append(harvest, fmt.Sprintf("harvest     %s: filebus knowledge harvest %s --add new",
					cli.Plural(n, "proposal"), ids[i]))
			}
		}
	}
	lines := append([]string{
		fmt.Sprintf("%s  loop %s closed: %s", out.Run, out.State.Loop, out.Tasks), "next        " + out.Next,
		fmt.Sprintf("snapshot    %s  %s completed, at %s", snap.Name(), summaryOf(snap), w.Minute(snap.Time)),
	}, ended...)
	const closedTokens = 200 // what closing a loop prints at most
	return w.PresentShort(append(lines, harvest...), cli.Presentation{
		What: "state/session_state", MaxTokens: closedTokens, Exact: true, Rest: "--json", JSON: func(int) any { return out },
	})
}

// proposals counts what the handoff of a task, if it has one, proposes and was not harvested yet.
func proposals(ctx context.Context, w *cli.Work, text string) int {
	if j, err := task.Of(w).Get(ctx, task.ID(text)); err == nil {
		if h, err := knowledge.Knowledge(w).Harvest(ctx, j.Version, nil); err == nil {
			return len(h.Open())
		}
	}
	return 0
}

func endRun(ctx context.Context, w *cli.Work, _ []string) error {
	out, err := Of(w).End(ctx)
	return printRun(w, out, err, runText)
}

// An outcomeText says what came of a change, in JSON and in a line.
type outcomeText func(*Outcome) (json any, line string)

// printRun prints what came of a change of the session state.
func printRun(w *cli.Work, out *Outcome, err error, text outcomeText) error {
	if err != nil {
		return err
	}
	if out.Rewritten != (record.ShortRef{}) {
		w.Note("%s had a form that cannot be changed in place and was written anew; filebus get %s prints what it was",
			out.File, out.Rewritten)
	}
	for i, left := range out.LeftOut {
		if i == 5 {
			w.Note("and %s", cli.Plural(len(out.LeftOut)-i, "file more"))
			break
		}
		w.Note("the loop's changes will not include %s", left)
	}
	w.Said.Run = out.Run // of one that has ended, too, although this is printed after its end
	json, line := text(out)
	return w.Print(json, "%s\n", cli.OneLine(line))
}

// runText says what a run is like after a change.
func runText(out *Outcome) (json any, line string) {
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

func (o *agentStart) Do(ctx context.Context, w *cli.Work, args []string) error {
	a := layout.Agent{ID: args[0], Task: w.Or(o.Task, "FILEBUS_TASK"), Model: o.Model}
	if id := layout.TaskID(a.Task); id != "" { // else it is too long, and will be refused
		a.Task = id
	}
	out, err := Of(w).AgentStart(ctx, a)
	return printRun(w, out, err, agentText)
}

type agentDone struct {
	Outcome string `flag:"outcome"`
}

func (o *agentDone) Do(ctx context.Context, w *cli.Work, args []string) error {
	out, err := Of(w).AgentDone(ctx, args[0], o.Outcome)
	return printRun(w, out, err, agentText)
}

// agentText says that an agent has begun or ended.
func agentText(out *Outcome) (json any, line string) {
	a := out.Agent
	on := ""
	if a.Task != "" {
		on = " on " + a.Task
	}
	working := "; " + cli.Plural(len(out.State.Running), "agent")
	if a.Started != "" {
		return a, a.ID + " at work" + on + working
	}
	took := ""
	if a.Duration != "" {
		took = " after " + a.Duration
	}
	return a, a.ID + " " + a.Outcome + took + on + working + " at work"
}

type runShow struct {
	MaxTokens int `flag:"max-tokens" least:"50" all:"0" in:"a run"`
}

func (o *runShow) Do(ctx context.Context, w *cli.Work, _ []string) error {
	w.TakeIn(ctx, record.KindState, "session_state")
	view, err := Of(w).View(ctx)
	if err != nil {
		return err
	}
	return w.PresentShort(runLines(view.State, w.Now()), cli.Presentation{
		What: "state/session_state", MaxTokens: o.MaxTokens, Exact: true,
		Entries: view.Entries(), JSON: func(n int) any { return view.First(n) },
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
		line := cli.Words(Who(a.ID, a.Task), a.Model)
		if took, known := Since(a.Started, s.Started, now); known {
			line += "  " + layout.DurationText(took)
		}
		lines = append(lines, "  "+line)
	}
	for _, line := range slices.Backward(s.History[max(len(s.History)-3, 0):]) {
		lines = append(lines, "loops  "+line)
	}
	for _, a := range slices.Backward(s.Completed) {
		lines = append(lines, "  ended  "+cli.Words(Who(a.ID, a.Task), a.Outcome, a.Duration))
	}
	return lines
}

// Who names an agent and its task, which has no agent of another name in some states.
func Who(agent, task string) string {
	if agent == task {
		return agent
	}
	return cli.Words(agent, task)
}

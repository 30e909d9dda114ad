package main

import (
	"context"

	"github.com/spf13/cobra"

	"filebus/materialize/layout"
	runs "filebus/materialize/run"
)

func newRunAgentCommand(env *environ) *cobra.Command {
	return newGroup("agent", newRunAgentStartCommand(env), newRunAgentDoneCommand(env))
}

func newRunAgentStartCommand(env *environ) *cobra.Command {
	var a runs.Agent
	cmd := newCommand("start ID", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		a.ID, a.Task = args[0], env.or(a.Task, "FILEBUS_TASK")
		if id := layout.TaskID(a.Task); id != "" { // else it is too long, and will be refused
			a.Task = id
		}
		return env.changeRun(env.open, agentText, func(b *runs.Book) (*runs.Outcome, error) {
			return b.AgentStart(ctx, a)
		})
	})
	cmd.Flags().StringVar(&a.Task, "task", "", "")
	cmd.Flags().StringVar(&a.Model, "model", "", "")
	return cmd
}

func newRunAgentDoneCommand(env *environ) *cobra.Command {
	var outcome string
	cmd := newCommand("done ID", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return env.changeRun(env.open, agentText, func(b *runs.Book) (*runs.Outcome, error) {
			return b.AgentDone(ctx, args[0], outcome)
		})
	})
	cmd.Flags().StringVar(&outcome, "outcome", "completed", "")
	return cmd
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

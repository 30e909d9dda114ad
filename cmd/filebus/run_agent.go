package main

import (
	"context"

	"github.com/spf13/cobra"

	"filebus/materialize/layout"
	runs "filebus/materialize/run"
)

func newRunAgentCommand(env *environ) *cobra.Command {
	cmd := &cobra.Command{
		Use:  "agent",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newRunAgentStartCommand(env), newRunAgentDoneCommand(env))
	return cmd
}

func newRunAgentStartCommand(env *environ) *cobra.Command {
	var a runs.Agent
	cmd := &cobra.Command{
		Use:  "start ID",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			a.ID, a.Task = args[0], env.or(a.Task, "FILEBUS_TASK")
			if id := layout.TaskID(a.Task); id != "" { // else it is too long, and will be refused
				a.Task = id
			}
			return runAgentStart(cmd.Context(), env, a)
		},
	}
	cmd.Flags().StringVar(&a.Task, "task", "", "")
	cmd.Flags().StringVar(&a.Model, "model", "", "")
	return cmd
}

// An agentJSON is an agent of a session state in JSON.
type agentJSON struct {
	ID       string `json:"id"`
	Task     string `json:"task,omitempty"`
	Model    string `json:"model,omitempty"`
	Started  string `json:"started,omitempty"` // as the state has it
	Outcome  string `json:"outcome,omitempty"`
	Duration string `json:"duration,omitempty"`
}

func runAgentStart(ctx context.Context, env *environ, a runs.Agent) error {
	s, err := env.open()
	if err != nil {
		return err
	}
	out, err := env.book(s).AgentStart(ctx, a)
	if err != nil {
		return err
	}
	env.noteRewritten(out)
	if env.global.json {
		running := out.State.Running
		return env.printJSON(agentJSON{ID: a.ID, Task: a.Task, Model: a.Model, Started: running[len(running)-1].Started})
	}
	env.printf("%s at work%s; %s\n", a.ID, oneLine(on(a.Task)), plural(len(out.State.Running), "agent"))
	return nil
}

// on says what an agent works on.
func on(task string) string {
	if task == "" {
		return ""
	}
	return " on " + task
}

func newRunAgentDoneCommand(env *environ) *cobra.Command {
	var outcome string
	cmd := &cobra.Command{
		Use:  "done ID",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runAgentDone(cmd.Context(), env, args[0], outcome)
		},
	}
	cmd.Flags().StringVar(&outcome, "outcome", "completed", "")
	return cmd
}

func runAgentDone(ctx context.Context, env *environ, id, outcome string) error {
	s, err := env.open()
	if err != nil {
		return err
	}
	out, done, err := env.book(s).AgentDone(ctx, id, outcome)
	if err != nil {
		return err
	}
	env.noteRewritten(out)
	if env.global.json {
		return env.printJSON(agentJSON{ID: done.ID, Task: done.Task, Outcome: done.Outcome, Duration: done.Duration})
	}
	took := ""
	if done.Duration != "" {
		took = " after " + done.Duration
	}
	env.printf("%s\n", oneLine(done.ID+" "+done.Outcome+took+on(done.Task)+"; "+plural(len(out.State.Running), "agent")+" at work"))
	return nil
}

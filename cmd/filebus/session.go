package main

import (
	"github.com/spf13/cobra"

	sessions "filebus/materialize/session"
)

func newSessionCommand(env *environ) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "session",
		Short: "Share files between the agents of one command",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
	// verbs
	)
	_ = env
	return cmd
}

// registry returns the sessions of a workspace.
func (e *environ) registry(s *session) *sessions.Registry {
	return sessions.Open(s.Workspace, s.read, e.now)
}

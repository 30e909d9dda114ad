package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	sessions "filebus/materialize/session"
)

func newSessionCommand(env *environ) *cobra.Command {
	cmd := &cobra.Command{
		Use:  "session",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(
		newSessionStartCommand(env), newSessionPutCommand(env), newSessionListCommand(env), newSessionShowCommand(env),
		newSessionPathCommand(env), newSessionCheckCommand(env), newSessionSummaryCommand(env),
		newSessionLogCommand(env),
		newSessionEndCommand(env), newSessionArchiveCommand(env), newSessionReplayCommand(env),
	)
	completeBelow(env, cmd)
	return cmd
}

// registry returns the sessions of a workspace.
func (e *environ) registry(s *session) *sessions.Registry {
	return sessions.Open(s.Workspace, s.read, e.now)
}

// sessionArg returns the session that the first argument names, or where there is
// none the variable FILEBUS_SESSION, and the arguments behind it.
func (e *environ) sessionArg(args []string) (text string, rest []string) {
	if len(args) == 0 {
		return e.or("", "FILEBUS_SESSION"), nil
	}
	return args[0], args[1:]
}

// A foundSession is an open workspace with the session that a user has named.
type foundSession struct {
	*session
	registry *sessions.Registry
	key      sessions.Key
}

// findSession opens the workspace and finds a session. With fresh, and where it is
// not known, changed files are taken in first.
func (e *environ) findSession(ctx context.Context, text string, fresh bool) (*foundSession, error) {
	open := e.openFresh
	if !fresh {
		open = func(context.Context) (*session, error) { return e.open() }
	}
	s, err := open(ctx)
	if err != nil {
		return nil, err
	}
	f := &foundSession{session: s, registry: e.registry(s)}
	f.key, err = f.registry.Find(ctx, text)
	if errors.Is(err, sessions.ErrNoSession) && !e.global.noSync {
		if !fresh {
			return e.findSession(ctx, text, true)
		}
		if err = f.registry.Discover(ctx, text); err == nil {
			f.key, err = f.registry.Find(ctx, text)
		}
	}
	return f, err
}

// findKnown is findSession for those who read what is stored of it.
func (e *environ) findKnown(ctx context.Context, args []string) (*foundSession, *sessions.Session, error) {
	text, _ := e.sessionArg(args)
	f, err := e.findSession(ctx, text, true)
	if err != nil {
		return nil, nil, err
	}
	if !e.global.noSync {
		if err := f.registry.TakeInNew(ctx, f.key); err != nil && ctx.Err() == nil {
			e.note("the newest files of %s were not looked at: %v", f.key, err)
		}
	}
	s, err := f.registry.Read(ctx, f.key)
	return f, s, err
}

func newSessionStartCommand(env *environ) *cobra.Command {
	name := ""
	cmd := newCommand("start TYPE", cobra.ExactArgs(1), func(ctx context.Context, args []string) error {
		return runSessionStart(ctx, env, args[0], name)
	})
	cmd.Flags().StringVar(&name, "name", "", "")
	return cmd
}

func runSessionStart(ctx context.Context, env *environ, kind, name string) error {
	if err := sessions.CheckType(kind); err != nil {
		return err // before a store is made for it
	}
	s, err := env.create(ctx)
	if err != nil {
		return err
	}
	started, err := env.registry(s).Start(ctx, kind, name)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printJSON(started)
	}
	env.printf("%s\n", started.ID)
	return nil
}

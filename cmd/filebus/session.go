package main

import (
	"context"
	"errors"

	sessions "filebus/materialize/session"
)

// sessionCommands are the commands of sessions.
func sessionCommands() []command {
	return []command{
		plain("start TYPE", &sessionStart{}),
		plain("put ID ARTIFACT [FILE|-]", &sessionPut{Format: formatJSON}),
		fresh("list", &sessionList{Limit: 20}),
		plain("show [ID]", &sessionShow{MaxTokens: stateTokens}),
		plain("path ID [ARTIFACT]", runFunc(printSessionPath)),
		plain("check [ID] [ARTIFACT|PATH]...", &sessionCheck{}),
		plain("summary [ID]", runFunc(summarizeSession)),
		plain("log [ID] [START|SUCCESS|ERROR AGENT [MESSAGE]...]", &sessionLog{Limit: 50}),
		plain("end [ID]", &sessionEnd{}),
		plain("archive ID", &sessionArchive{}),
		existing("replay ID", &sessionReplay{MaxTokens: sessions.DefaultIndexTokens, Limit: 50}),
	}
}

// registry returns the sessions of a workspace.
func (w *workspace) registry() *sessions.Registry {
	return sessions.Open(w.Workspace, w.read, w.now)
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
	*workspace
	registry *sessions.Registry
	key      sessions.Key
}

// findSession opens the workspace and finds a session. With fresh, and where it is
// not known, changed files are taken in first.
func (e *environ) findSession(ctx context.Context, text string, fresh bool) (*foundSession, error) {
	open := e.open
	if fresh {
		open = e.openFresh
	}
	w, err := open(ctx)
	if err != nil {
		return nil, err
	}
	f := &foundSession{workspace: w, registry: w.registry()}
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

type sessionStart struct {
	Name string `flag:"name"`
}

func (o *sessionStart) run(ctx context.Context, w *workspace, args []string) error {
	if err := sessions.CheckType(args[0]); err != nil {
		return err // before a store is made for it
	}
	w, err := w.create(ctx)
	if err != nil {
		return err
	}
	started, err := w.registry().Start(ctx, args[0], o.Name)
	if err != nil {
		return err
	}
	return w.print(started, "%s\n", started.ID)
}

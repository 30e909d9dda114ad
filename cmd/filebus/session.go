package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	sessions "filebus/cmd/filebus/session"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// sessionCommands are the commands of sessions.
func sessionCommands() command {
	return group("session",
		creating("start TYPE", &sessionStart{}),
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
	)
}

// registry returns the sessions of a workspace.
func (w *workspace) registry() *sessions.Sessions {
	r := sessions.Open(w.Workspace, w.read, w.now)
	r.Say, r.NoSync = w.note, w.global.noSync
	return r
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
	registry *sessions.Sessions
	key      sessions.Key
}

// findSession opens the workspace and finds a session. With fresh, and where it is
// not known, changed files are imported first.
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
	if errors.Is(err, sessions.ErrNoSession) && !e.global.noSync && !fresh {
		return e.findSession(ctx, text, true)
	}
	return f, err
}

// findKnown is findSession for those who read what is stored of it.
func (e *environ) findKnown(ctx context.Context, args []string) (*foundSession, *sessions.Session, error) {
	text, _ := e.sessionArg(args)
	f, err := e.findSession(ctx, text, false)
	if err != nil {
		return nil, nil, err
	}
	if err := f.registry.Import(ctx, f.key); err != nil && ctx.Err() == nil {
		e.note("the newest files of %s were not looked at: %v", f.key, err)
	}
	s, err := f.registry.Read(ctx, f.key)
	return f, s, err
}

type sessionStart struct {
	Name string `flag:"name"`
}

func (*sessionStart) check(_ *environ, args []string) error { return sessions.CheckType(args[0]) }

func (o *sessionStart) run(ctx context.Context, w *workspace, args []string) error {
	started, err := w.registry().Start(ctx, args[0], o.Name)
	if err != nil {
		return err
	}
	return w.print(started, "%s\n", started.ID)
}

type sessionList struct {
	Type  string `flag:"type"`
	Limit int    `flag:"limit" least:"0"`
}

type sessionListJSON struct {
	Sessions []*sessions.Session `json:"sessions"`
	More     int                 `json:"more,omitempty"` // that were left out
}

func (o *sessionList) run(ctx context.Context, w *workspace, _ []string) error {
	list, all, err := w.registry().List(ctx, o.Type, o.Limit)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, s := range list {
		count := plural(s.Count, "artifact")
		rows = append(rows, []string{s.Key.String(), s.Status, w.minute(s.Changed), count, tokenText(s.Tokens),
			s.Name})
	}
	more := all - len(list)
	return w.presentTable(rows, presentation{
		none: "no sessions", left: more, rest: "--limit 0",
		json: func(int) any { return sessionListJSON{list, more} },
	})
}

type sessionShow struct {
	MaxTokens int `flag:"max-tokens" least:"50" all:"0" in:"a session"`
}

type sessionShowJSON struct {
	sessions.Session
	Files  []sessions.Artifact `json:"files"`
	AtWork []atWorkJSON        `json:"at_work"`
	Log    []string            `json:"log"`              // the last lines
	Others int                 `json:"others,omitempty"` // other records of the session, such as results
	More   int                 `json:"more,omitempty"`   // entries that there was no room for
}

type atWorkJSON struct {
	Agent   string `json:"agent"`
	Seconds int    `json:"seconds,omitempty"`
	Message string `json:"message,omitempty"`
}

// lastEvents is how many lines of the log show shows.
const lastEvents = 5

func (o *sessionShow) run(ctx context.Context, w *workspace, args []string) error {
	f, s, err := w.findKnown(ctx, args)
	if err != nil {
		return err
	}
	view := sessionShowJSON{Session: *s, Others: s.Others}
	for _, a := range s.AtWork {
		view.AtWork = append(view.AtWork, atWorkJSON{cutText(a.Agent), secondsSince(a.Since, w.now()),
			cutText(a.Message)})
	}
	for _, a := range s.Artifacts {
		a.Name, a.Title = cutText(a.Name), cutText(a.Title)
		view.Files = append(view.Files, a)
	}
	view.Log = markdown.Each(s.Log[max(0, len(s.Log)-lastEvents):], func(e layout.AgentEvent) string {
		return cutText(strings.Join([]string{e.Time, e.Event, e.Agent, e.Message}, " | "))
	})
	return f.workspace.presentShort(sessionLines(w.environ, s), presentation{
		entries: view.entries(), maxTokens: o.MaxTokens, what: s.Key.String(),
		json: func(n int) any { return view.first(n) },
	})
}

func (v sessionShowJSON) entries() int { return len(v.AtWork) + len(v.Files) + len(v.Log) }

// first returns the session with the first entries alone.
func (v sessionShowJSON) first(n int) sessionShowJSON {
	v.More = v.entries() - n
	v.AtWork = v.AtWork[:min(n, len(v.AtWork))]
	n -= len(v.AtWork)
	v.Files = v.Files[:min(n, len(v.Files))]
	v.Log = v.Log[:n-len(v.Files)]
	return v
}

func secondsSince(at, now time.Time) int {
	if at.IsZero() {
		return 0
	}
	return int(max(now.Sub(at), 0).Seconds())
}

// sessionLines returns a session in lines, what matters most first.
func sessionLines(env *environ, s *sessions.Session) (lines []string) {
	add := func(words ...string) {
		words = slices.DeleteFunc(words, func(word string) bool { return word == "" })
		lines = append(lines, strings.Join(words, "  "))
	}
	since := func(word string, at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return word + " " + env.minute(at)
	}
	add(s.Key.String(), s.Status, since("since", s.Started), since("ended", s.Ended))
	if s.Name != "" {
		add("name", s.Name)
	}
	if s.Archive != "" {
		add("archive", s.Archive)
	}
	for _, a := range s.AtWork {
		took := ""
		if !a.Since.IsZero() {
			took = layout.DurationText(max(env.now().Sub(a.Since), 0).Truncate(time.Second))
		}
		add("at work", cutText(a.Agent), took, cutText(a.Message))
	}
	add("artifacts", fmt.Sprintf("%d, %s", len(s.Artifacts), tokenText(s.Tokens)))
	for _, a := range s.Artifacts {
		add("  "+a.Name, tokenText(a.Tokens), a.Agent)
	}
	for _, agent := range slices.Sorted(maps.Keys(s.Spellings)) {
		if all := s.Spellings[agent]; len(all) > 1 {
			add("agent", cutText(all[0]), cutText("also "+strings.Join(all[1:], ", ")))
		}
	}
	for _, e := range s.Log[max(0, len(s.Log)-lastEvents):] {
		add("log", cutText(strings.TrimRight(strings.Join([]string{e.Time, e.Event, e.Agent, e.Message}, "  "), " ")))
	}
	if s.Others > 0 {
		add("other records", fmt.Sprintf("%d: filebus list --session %s", s.Others, record.ShellWord(s.ID)))
	}
	return lines
}

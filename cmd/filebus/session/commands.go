package session

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// Commands are the commands of sessions.
func Commands() cli.Command {
	return cli.Group("session",
		cli.Creating("start TYPE [ARTIFACT]...", &sessionStart{}),
		cli.Plain("put ID ARTIFACT [FILE|-]", &sessionPut{Format: cli.FormatJSON}),
		cli.Fresh("list", &sessionList{Page: cli.Page{Limit: 20}}),
		cli.Plain("show [ID]", &sessionShow{MaxTokens: cli.StateTokens}),
		cli.Plain("path ID [ARTIFACT]", cli.RunFunc(printSessionPath)),
		cli.Plain("check [ID] [ARTIFACT|PATH]...", &sessionCheck{}),
		cli.Plain("summary [ID]", cli.RunFunc(summarizeSession)),
		cli.Plain("log [ID] [START|SUCCESS|ERROR AGENT [MESSAGE]...]", &sessionLog{Limit: 50}),
		cli.Plain("end [ID]", &sessionEnd{}),
		cli.Plain("archive ID", &sessionArchive{}),
		cli.Existing("replay ID", &sessionReplay{MaxTokens: DefaultIndexTokens, Limit: 50}),
	)
}

// Of returns the sessions of a workspace.
func Of(w *cli.Work) *Sessions {
	r := Open(w.Workspace, w.Reader, w.Now)
	r.Say, r.NoSync = w.Note, w.Global.NoSync
	return r
}

// sessionArg returns the session that the first argument names, or where there is
// none the variable FILEBUS_SESSION, and the arguments behind it.
func sessionArg(e *cli.Environ, args []string) (text string, rest []string) {
	if len(args) == 0 {
		return e.Or("", "FILEBUS_SESSION"), nil
	}
	return args[0], args[1:]
}

// A foundSession is an open workspace with the session that a user has named.
type foundSession struct {
	*cli.Work
	sessions *Sessions
	key      Key
}

// findSession opens the workspace and finds a session. With fresh, and where it is
// not known, changed files are imported first.
func findSession(ctx context.Context, e *cli.Environ, text string, fresh bool) (*foundSession, error) {
	open := e.Open
	if fresh {
		open = e.OpenFresh
	}
	w, err := open(ctx)
	if err != nil {
		return nil, err
	}
	f := &foundSession{Work: w, sessions: Of(w)}
	f.key, err = f.sessions.Find(ctx, text)
	if errors.Is(err, ErrNoSession) && !e.Global.NoSync && !fresh {
		return findSession(ctx, e, text, true)
	}
	return f, err
}

// findKnown is findSession for those who read what is stored of it.
func findKnown(ctx context.Context, e *cli.Environ, args []string) (*foundSession, *Session, error) {
	text, _ := sessionArg(e, args)
	f, err := findSession(ctx, e, text, false)
	if err != nil {
		return nil, nil, err
	}
	if err := f.sessions.Import(ctx, f.key); err != nil && ctx.Err() == nil {
		e.Note("the newest files of %s were not looked at: %v", f.key, err)
	}
	s, err := f.sessions.Read(ctx, f.key)
	return f, s, err
}

type sessionStart struct {
	Name string `flag:"name"`
}

func (*sessionStart) Check(_ *cli.Environ, args []string) error { return CheckType(args[0]) }

func (o *sessionStart) Do(ctx context.Context, w *cli.Work, args []string) error {
	started, err := Of(w).Start(ctx, args[0], o.Name, args[1:]...)
	if err != nil {
		return err
	}
	return w.Print(started, "%s\n", started.ID)
}

type sessionList struct {
	Type string `flag:"type"`
	cli.Page
}

// SessionListJSON is what a command prints with --json.
type SessionListJSON struct {
	Sessions []*Session `json:"sessions"`
	More     int        `json:"more,omitempty"` // that were left out
}

func (o *sessionList) Do(ctx context.Context, w *cli.Work, _ []string) error {
	list, more, err := Of(w).List(ctx, o.Type, o.Page)
	if err != nil {
		return err
	}
	var rows [][]string
	for _, s := range list {
		count := cli.Plural(s.Count, "artifact")
		rows = append(rows, []string{s.Key.String(), s.Status, w.Minute(s.Changed), count, cli.TokenText(s.Tokens),
			s.Name})
	}
	return w.PresentTable(rows, cli.Presentation{
		None: "no sessions", Left: more, Rest: o.Next(len(rows)),
		JSON: func(int) any { return SessionListJSON{list, more} },
	})
}

type sessionShow struct {
	MaxTokens int `flag:"max-tokens" least:"50" all:"0" in:"a session"`
}

// SessionShowJSON is what a command prints with --json.
type SessionShowJSON struct {
	Session
	Files  []Artifact   `json:"files"`
	AtWork []atWorkJSON `json:"at_work"`
	Log    []string     `json:"log"`              // the last lines
	Others int          `json:"others,omitempty"` // other records of the session, such as results
	More   int          `json:"more,omitempty"`   // entries that there was no room for
}

type atWorkJSON struct {
	Agent   string `json:"agent"`
	Seconds int    `json:"seconds,omitempty"`
	Message string `json:"message,omitempty"`
}

// lastEvents is how many lines of the log show shows.
const lastEvents = 5

func (o *sessionShow) Do(ctx context.Context, w *cli.Work, args []string) error {
	f, s, err := findKnown(ctx, w.Environ, args)
	if err != nil {
		return err
	}
	view := SessionShowJSON{Session: *s, Others: s.Others}
	for _, a := range s.AtWork {
		view.AtWork = append(view.AtWork, atWorkJSON{cli.CutText(a.Agent), secondsSince(a.Since, w.Now()),
			cli.CutText(a.Message)})
	}
	for _, a := range s.Artifacts {
		a.Name, a.Title = cli.CutText(a.Name), cli.CutText(a.Title)
		view.Files = append(view.Files, a)
	}
	view.Log = markdown.Each(s.Log[max(0, len(s.Log)-lastEvents):], func(e layout.AgentEvent) string {
		return cli.CutText(strings.Join([]string{e.Time, e.Event, e.Agent, e.Message}, " | "))
	})
	return f.Work.PresentShort(sessionLines(w.Environ, s), cli.Presentation{
		Entries: view.entries(), MaxTokens: o.MaxTokens, What: s.Key.String(),
		JSON: func(n int) any { return view.first(n) },
	})
}

func (v SessionShowJSON) entries() int { return len(v.AtWork) + len(v.Files) + len(v.Log) }

// first returns the session with the first entries alone.
func (v SessionShowJSON) first(n int) SessionShowJSON {
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
func sessionLines(env *cli.Environ, s *Session) (lines []string) {
	add := func(words ...string) {
		words = slices.DeleteFunc(words, func(word string) bool { return word == "" })
		lines = append(lines, strings.Join(words, "  "))
	}
	since := func(word string, at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return word + " " + env.Minute(at)
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
			took = layout.DurationText(max(env.Now().Sub(a.Since), 0).Truncate(time.Second))
		}
		add("at work", cli.CutText(a.Agent), took, cli.CutText(a.Message))
	}
	add("artifacts", fmt.Sprintf("%d, %s", len(s.Artifacts), cli.TokenText(s.Tokens)))
	for _, a := range s.Artifacts {
		add("  "+a.Name, cli.TokenText(a.Tokens), a.Agent)
	}
	for _, agent := range slices.Sorted(maps.Keys(s.Spellings)) {
		if all := s.Spellings[agent]; len(all) > 1 {
			add("agent", cli.CutText(all[0]), cli.CutText("also "+strings.Join(all[1:], ", ")))
		}
	}
	for _, e := range s.Log[max(0, len(s.Log)-lastEvents):] {
		add("log", cli.CutText(strings.TrimRight(strings.Join([]string{e.Time, e.Event, e.Agent, e.Message}, "  "), " ")))
	}
	if s.Others > 0 {
		add("other records", fmt.Sprintf("%d: filebus list --session %s", s.Others, record.ShellWord(s.ID)))
	}
	return lines
}

package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	runs "filebus/materialize/run"
	sessions "filebus/materialize/session"
	"filebus/store/record"
)

// A sessionJSON is a session in JSON.
type sessionJSON struct {
	Session   string    `json:"session"` // TYPE/ID
	Type      string    `json:"type"`
	ID        string    `json:"id"`
	Name      string    `json:"name,omitempty"`
	Status    string    `json:"status"`
	Started   time.Time `json:"started,omitzero"`
	Ended     time.Time `json:"ended,omitzero"`
	Changed   time.Time `json:"changed"`
	Artifacts int       `json:"artifacts"`
	Tokens    int       `json:"tokens"` // of the artifacts, about
	Agents    []string  `json:"agents"`
	Archive   string    `json:"archive,omitempty"`
}

func toSessionJSON(env *environ, s *sessions.Session) sessionJSON {
	view := sessionJSON{
		Session: s.Key.String(), Type: s.Key.Type, ID: s.Key.ID, Name: cutText(s.Meta.Name), Status: s.Status(env.now()),
		Started: s.Meta.Started, Ended: s.Meta.Ended, Changed: s.Changed,
		Artifacts: len(s.Artifacts), Tokens: s.Tokens(), Agents: s.Agents(), Archive: cutText(s.Meta.Archive),
	}
	if view.Agents == nil {
		view.Agents = []string{}
	}
	return view
}

type sessionListOptions struct {
	kind  string
	limit int
}

func newSessionListCommand(env *environ) *cobra.Command {
	var opts sessionListOptions
	cmd := &cobra.Command{
		Use:  "list",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runSessionList(cmd.Context(), env, opts) },
	}
	cmd.Flags().StringVar(&opts.kind, "type", "", "")
	cmd.Flags().IntVar(&opts.limit, "limit", 20, "")
	return cmd
}

// A sessionListJSON is a list of sessions in JSON.
type sessionListJSON struct {
	Sessions []sessionJSON `json:"sessions"`
	More     int           `json:"more,omitempty"` // that were left out
}

func runSessionList(ctx context.Context, env *environ, opts sessionListOptions) error {
	if opts.limit < 0 {
		return usageError("--limit %d is negative", opts.limit)
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	list, all, err := env.registry(s).List(ctx, sessions.ListOptions{Type: opts.kind, Limit: opts.limit})
	if err != nil {
		return err
	}
	view := sessionListJSON{Sessions: []sessionJSON{}, More: all - len(list)}
	var rows [][]string
	size := 0
	for _, s := range list {
		v := toSessionJSON(env, s)
		view.Sessions = append(view.Sessions, v)
		row := []string{oneLine(v.Session), v.Status, env.minute(v.Changed), plural(v.Artifacts, "artifact"), tokenText(v.Tokens), v.Name}
		rows = append(rows, row)
		size += len(strings.Join(row, " ")) + 1
	}
	if env.global.json {
		return env.printRead(s, "session list", "", view)
	}
	env.printTable(rows)
	env.logRead(s, "session list", "", record.EstimateTokens(int64(size)))
	if view.More > 0 {
		env.note("and %s; --limit 0 lists all", plural(view.More, "more session"))
	}
	return nil
}

func newSessionShowCommand(env *environ) *cobra.Command {
	maxTokens := stateTokens
	cmd := &cobra.Command{
		Use:  "show [ID]",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runSessionShow(cmd.Context(), env, args, maxTokens)
		},
	}
	cmd.Flags().IntVar(&maxTokens, "max-tokens", stateTokens, "")
	return cmd
}

// A sessionShowJSON is a session with its artifacts in JSON.
type sessionShowJSON struct {
	sessionJSON
	Files  []artifactJSON `json:"files"`
	AtWork []atWorkJSON   `json:"at_work"`
	Log    []string       `json:"log"`              // the last lines
	Others int            `json:"others,omitempty"` // other records of the session, such as results
	Left   int            `json:"left,omitempty"`   // entries that there was no room for
}

// An artifactJSON is an artifact of a session in JSON.
type artifactJSON struct {
	Artifact string `json:"artifact"`
	Ref      string `json:"ref"`
	Path     string `json:"path"`
	Agent    string `json:"agent,omitempty"`
	Tokens   int    `json:"tokens"`
	Title    string `json:"title,omitempty"`
}

// An atWorkJSON is an agent that has begun and not ended.
type atWorkJSON struct {
	Agent   string `json:"agent"`
	Seconds int    `json:"seconds,omitempty"`
	Message string `json:"message,omitempty"`
}

// lastEvents is how many lines of the log show shows.
const lastEvents = 5

func runSessionShow(ctx context.Context, env *environ, args []string, maxTokens int) error {
	if maxTokens < 50 {
		return usageError("--max-tokens %d: a session takes 50 tokens at least", maxTokens)
	}
	f, s, err := env.findKnown(ctx, args)
	if err != nil {
		return err
	}
	if env.global.json {
		return env.printRead(f.session, "session show", s.Key.String(), toSessionShow(env, s, maxTokens))
	}
	text := fitLines(sessionLines(env, s), maxTokens)
	env.printf("%s", text)
	env.logRead(f.session, "session show", s.Key.String(), record.EstimateTokens(int64(len(text))))
	return nil
}

// toSessionShow returns a session in JSON with as many entries as there is room for.
func toSessionShow(env *environ, s *sessions.Session, maxTokens int) sessionShowJSON {
	v := sessionShowJSON{sessionJSON: toSessionJSON(env, s), Files: []artifactJSON{}, AtWork: []atWorkJSON{}, Log: []string{}, Others: s.Others}
	room := 4*maxTokens - 320 - len(v.Session) - len(strings.Join(v.Agents, `","`))
	take := func(size int) bool {
		if room -= size; room < 0 {
			v.Left++
		}
		return room >= 0
	}
	for _, a := range s.Open() {
		if w := (atWorkJSON{cutText(a.Agent), secondsSince(a.Since, env.now()), cutText(a.Message)}); take(45 + len(w.Agent+w.Message)) {
			v.AtWork = append(v.AtWork, w)
		}
	}
	for _, a := range s.Artifacts {
		w := artifactJSON{cutText(a.Name), a.Version.Ref.Short(), validText(a.Version.Record.Path), a.Agent, a.Tokens, cutText(a.Title)}
		if take(85 + len(w.Artifact+w.Path+w.Agent+w.Title)) {
			v.Files = append(v.Files, w)
		}
	}
	for _, e := range s.Log[max(0, len(s.Log)-lastEvents):] {
		if line := cutText(strings.Join([]string{e.Time, e.Event, e.Agent, e.Message}, " | ")); take(4 + len(line)) {
			v.Log = append(v.Log, line)
		}
	}
	return v
}

func secondsSince(at, now time.Time) int {
	if at.IsZero() {
		return 0
	}
	return int(max(now.Sub(at), 0).Seconds())
}

// sessionLines returns a session in lines, what matters most first.
func sessionLines(env *environ, s *sessions.Session) []string {
	head := s.Key.String() + "  " + s.Status(env.now())
	if !s.Meta.Started.IsZero() {
		head += "  since " + env.minute(s.Meta.Started)
	}
	if !s.Meta.Ended.IsZero() {
		head += "  ended " + env.minute(s.Meta.Ended)
	}
	lines := []string{head}
	if s.Meta.Name != "" {
		lines = append(lines, "name  "+cutText(s.Meta.Name))
	}
	if s.Meta.Archive != "" {
		lines = append(lines, "archive  "+cutText(s.Meta.Archive))
	}
	for _, a := range s.Open() {
		line := "at work  " + cutText(a.Agent)
		if !a.Since.IsZero() {
			line += "  " + runs.DurationText(max(env.now().Sub(a.Since), 0).Truncate(time.Second))
		}
		lines = append(lines, strings.TrimRight(line+"  "+cutText(a.Message), " "))
	}
	lines = append(lines, fmt.Sprintf("artifacts  %d, %s", len(s.Artifacts), tokenText(s.Tokens())))
	for _, a := range s.Artifacts {
		line := "  " + a.Name + "  " + tokenText(a.Tokens)
		if a.Agent != "" {
			line += "  " + a.Agent
		}
		lines = append(lines, line)
	}
	for _, e := range s.Log[max(0, len(s.Log)-lastEvents):] {
		lines = append(lines, "log  "+cutText(strings.TrimRight(strings.Join([]string{e.Time, e.Event, e.Agent, e.Message}, "  "), " ")))
	}
	if s.Others > 0 {
		lines = append(lines, fmt.Sprintf("other records  %d: filebus list --session %s", s.Others, quote(s.Key.ID)))
	}
	return lines
}

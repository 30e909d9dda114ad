package session

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Session is what is stored of a session.
type Session struct {
	Key     Key       `json:"session"`
	Type    string    `json:"type"`
	ID      string    `json:"id"`
	Name    string    `json:"name,omitempty"` // that it was started with, not more of it than a line shows
	Status  string    `json:"status"`         // when it was read: see status
	Started time.Time `json:"started,omitzero"`
	Ended   time.Time `json:"ended,omitzero"`
	Changed time.Time `json:"changed"` // when something of it was stored last
	Count   int       `json:"artifacts"`
	Tokens  int       `json:"tokens"` // of the artifacts, about
	Agents  []string  `json:"agents"` // who has written artifacts or stands in the log, sorted
	Archive string    `json:"archive,omitempty"`

	Artifacts   []Artifact            `json:"-"` // by name; without the log, the metadata and the summaries
	AtWork      []openAgent           `json:"-"`
	Log         []layout.AgentEvent   `json:"-"`
	LogProblems []*layout.SyntaxError `json:"-"`
	Spellings   map[string][]string   `json:"-"` // of the agents, by what put makes of them; the first is shown
	Others      int                   `json:"-"` // other records of the session, such as results; List does not count them
	Files       []store.Version       `json:"-"` // all of them: also the log, the metadata and the summaries

	meta      layout.SessionMeta       // zero if there is no metadata.json
	files     map[string]store.Version // Files by name
	summaries map[string]store.Version // by the artifact that they are of
}

// An Artifact is a file that an agent has left in a session.
type Artifact struct {
	Name    string          `json:"artifact"` // plan for plan.md
	Ref     record.ShortRef `json:"ref"`
	Path    string          `json:"path"`
	Agent   string          `json:"agent,omitempty"`
	Tokens  int             `json:"tokens"`
	Title   string          `json:"title,omitempty"`
	Preview string          `json:"-"`
	Version store.Version   `json:"-"`
}

// maxShown is how many characters are shown of what people call a session.
const maxShown = 120

// Read returns what is stored of a session.
func (r *Sessions) Read(ctx context.Context, key Key) (*Session, error) {
	listing, err := r.read.List(ctx, query.ListRequest{Filter: record.Filter{Sessions: record.Any(key.ID),
		Trees: []record.Tree{key.Tree}}})
	if err != nil {
		return nil, err
	}
	return r.session(ctx, key, listing.Entries)
}

// session makes a session of the records with its id.
func (r *Sessions) session(ctx context.Context, key Key, entries []query.Summary) (*Session, error) {
	s := &Session{Key: key, files: map[string]store.Version{}, summaries: map[string]store.Version{}}
	for _, e := range entries {
		k, isFile := keyOf(e)
		switch {
		case isFile && k == key:
			s.add(e)
		case !isFile:
			s.Others++
		default:
			continue // of another session with the same id
		}
		if at := e.Version.Record.Time; at.After(s.Changed) {
			s.Changed = at
		}
	}
	if len(s.files) == 0 {
		return nil, noSession(key.String(), nil)
	}
	slices.SortFunc(s.Artifacts, func(a, b Artifact) int { return strings.Compare(a.Name, b.Name) })
	text, err := r.text(ctx, s, layout.SessionMetaFile)
	if err != nil {
		return nil, err
	}
	if text != nil {
		s.meta, _ = layout.ParseSessionMeta(text) // one that cannot be read says nothing
	}
	if err := r.readLog(ctx, s); err != nil {
		return nil, err
	}
	s.outline(r.now())
	return s, nil
}

// outline says in short what was read.
func (s *Session) outline(now time.Time) {
	s.Type, s.ID, s.Started, s.Ended = s.Key.Type, s.Key.ID, s.meta.Started, s.meta.Ended
	s.Name, s.Archive = markdown.Clip(safe(s.meta.Name), maxShown), markdown.Clip(safe(s.meta.Archive), maxShown)
	s.AtWork = openAgents(s.Log)
	s.Status = s.status(now)
	s.Count = len(s.Artifacts)
	for _, a := range s.Artifacts {
		s.Tokens += a.Tokens
	}
	s.spell()
}

// spell gives each agent one spelling: the first in the log, else in a file, else the one
// that put has made. The log is shown as it is.
func (s *Session) spell() {
	agents := markdown.Each(s.Log, func(e layout.AgentEvent) string { return e.Agent })
	for _, a := range s.Artifacts {
		agents = append(agents, a.Agent)
	}
	s.Spellings = map[string][]string{}
	for _, agent := range agents {
		if key := layout.Slug(agent); agent != key && !slices.Contains(s.Spellings[key], agent) {
			s.Spellings[key] = append(s.Spellings[key], agent)
		}
	}
	one := func(agent string) string { return append(s.Spellings[layout.Slug(agent)], layout.Slug(agent))[0] }
	for i := range s.Artifacts {
		s.Artifacts[i].Agent = one(s.Artifacts[i].Agent)
	}
	for i := range s.AtWork {
		s.AtWork[i].Agent = one(s.AtWork[i].Agent)
	}
	s.Agents = slices.Compact(slices.Sorted(slices.Values(markdown.Each(agents, one))))
	s.Agents = slices.DeleteFunc(s.Agents, func(agent string) bool { return agent == "" })
}

// add puts one file in its place.
func (s *Session) add(e query.Summary) {
	v := e.Version
	name := layout.ArtifactName(v.Record.Path, s.Key.Type, s.Key.ID)
	s.files[name] = v
	s.Files = append(s.Files, v)
	if isOwnFile(name) {
		return
	}
	if of, isSummary := layout.IsSummary(name); isSummary {
		s.summaries[of] = v
		return
	}
	s.Artifacts = append(s.Artifacts, Artifact{
		Name: name, Ref: record.ShortRef(v.Ref), Path: v.Record.Path, Agent: v.Record.Agent, Tokens: e.Tokens,
		Title: e.Description.Title, Preview: e.Description.Preview, Version: v,
	})
}

// List returns a page of the sessions of a type, or "" for any, the one with the newest
// record first, and how many are left behind it.
func (r *Sessions) List(ctx context.Context, kind string, page cli.Page) (list []*Session, left int, err error) {
	entries, err := r.entries(ctx, "")
	if err != nil {
		return nil, 0, err
	}
	keys, of := byKey(entries)
	keys = slices.DeleteFunc(keys, func(k Key) bool { return kind != "" && k.Type != kind })
	keys, left = cli.CutPage(page, keys)
	for _, key := range keys {
		s, err := r.session(ctx, key, of[key])
		if err != nil {
			return nil, 0, err
		}
		list = append(list, s)
	}
	return list, left, nil
}

// The statuses of sessions that no task has. Their text is stored.
const (
	statusCompleted   = "completed"
	statusInterrupted = "interrupted"
)

// recent is how long after the last sign of life a session that nobody has ended
// counts as being in progress.
const recent = time.Hour

// hasEnded reports whether somebody has said how the session ended.
func (s *Session) hasEnded() bool { return isEnd(s.meta.Status) }

func isEnd(status string) bool {
	return status == statusCompleted || status == statusInterrupted || status == layout.StatusFailed
}

// status says how a session stands at a time: as End has said; else in progress, if
// an agent has begun within the last hour and not ended; else by its outcome.
// One that was started or opened again by a command and has changed within the last hour
// is in progress, until what was asked is there if it was never ended before.
func (s *Session) status(now time.Time) string {
	if s.hasEnded() {
		return s.meta.Status
	}
	if slices.ContainsFunc(s.AtWork, func(a openAgent) bool { return isRecent(a.Since, now) }) {
		return layout.StatusInProgress
	}
	status, _ := s.outcome()
	isOpen := status != statusCompleted || !s.meta.Reopened.IsZero() || len(s.meta.Asked)+len(s.Log) == 0
	if isOpen && s.meta.ID != "" && isRecent(s.Changed, now) {
		return layout.StatusInProgress
	}
	return status
}

func isRecent(at, now time.Time) bool { return !at.IsZero() && now.Sub(at) < recent }

// outcome says how a session has ended by what was asked, and why it is not completed: the artifacts
// named at its start, else what the agents of its log have begun. Where nothing was asked, any artifact
// completes it.
func (s *Session) outcome() (status, why string) {
	wanting, done := slices.DeleteFunc(slices.Clone(s.meta.Asked), func(asked string) bool {
		return slices.ContainsFunc(s.Artifacts, func(a Artifact) bool { return a.Name == nameOf(s.Key, asked) })
	}), len(s.Artifacts)
	if len(s.meta.Asked) > 0 {
		why = "not there: " + cli.FirstNames(wanting)
	} else {
		ends := map[string]string{} // what is wrong with how each agent has ended
		for _, e := range s.Log {
			ends[e.Agent] = map[string]string{"ERROR": " failed"}[e.Event]
		}
		for _, a := range s.AtWork {
			ends[a.Agent] = " has not ended"
		}
		for _, agent := range slices.Sorted(maps.Keys(ends)) {
			if ends[agent] == "" {
				done++
			} else {
				wanting = append(wanting, agent+ends[agent])
			}
		}
		why = cli.FirstNames(wanting)
	}
	switch {
	case done == 0:
		return layout.StatusFailed, cmp.Or(why, "it has no artifacts")
	case len(wanting) > 0:
		return statusInterrupted, why
	}
	return statusCompleted, ""
}

// Note appends a line to the log of a session: that an agent has begun, or how it
// ended. Any number of processes may do so at once.
func (r *Sessions) Note(ctx context.Context, key Key, event, agent, message string) (*materialize.PutResult, error) {
	if err := key.checkOwn(); err != nil {
		return nil, err
	}
	if !layout.IsAgentEvent(event) {
		return nil, noWord("event", event, "it is START, SUCCESS or ERROR")
	}
	if strings.TrimSpace(agent) == "" {
		return nil, noWord("agent", agent, "the name is empty: is the variable that holds it set?")
	}
	e := layout.AgentEvent{Time: r.now().UTC().Format(time.RFC3339), Event: event, Agent: agent, Message: message}
	line := layout.AppendAgentEvent(nil, e)
	name := key.file(layout.SessionLogFile)
	return r.w.EditText(ctx, name.Kind, name.ID, record.SourcePut, func(old []byte, _ *store.Version) ([]byte, error) {
		text := bytes.Clone(old)
		if len(text) > 0 && !bytes.HasSuffix(text, []byte("\n")) {
			text = append(text, '\n')
		}
		return append(text, line...), nil
	})
}

// An openAgent is an agent that has begun and not ended.
type openAgent struct {
	Agent   string
	Message string
	Since   time.Time // zero if the log has no time that can be read
}

// openAgents returns the agents that have begun and not ended, the one that began
// last first.
func openAgents(log []layout.AgentEvent) (open []openAgent) {
	begun := map[string][]openAgent{}
	for _, e := range log {
		key := layout.Slug(e.Agent)
		if e.Event == "START" {
			at, _ := time.Parse(time.RFC3339, e.Time) // zero if it is no time
			begun[key] = append(begun[key], openAgent{e.Agent, e.Message, at})
		} else if n := len(begun[key]); n > 0 {
			begun[key] = begun[key][:n-1]
		}
	}
	for _, agents := range begun {
		open = append(open, agents...)
	}
	slices.SortFunc(open, func(a, b openAgent) int { return cmp.Or(b.Since.Compare(a.Since), strings.Compare(a.Agent, b.Agent)) })
	return open
}

// readLog reads the log of a session, if it has one.
func (r *Sessions) readLog(ctx context.Context, s *Session) error {
	text, err := r.text(ctx, s, layout.SessionLogFile)
	if err == nil {
		s.Log, s.LogProblems = layout.ParseAgentLog(text)
		for _, problem := range s.LogProblems {
			problem.File = layout.SessionLogFile
		}
	}
	return err
}

// text returns the body of a file of a session, nil if there is none.
func (r *Sessions) text(ctx context.Context, s *Session, name string) ([]byte, error) {
	v, found := s.files[name]
	if !found {
		return nil, nil
	}
	text, err := r.w.TextOf(ctx, v)
	if errors.Is(err, store.ErrDropped) {
		return nil, nil
	}
	return text, err
}

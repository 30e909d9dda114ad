package session

import (
	"context"
	"slices"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Session is what is stored of a session.
type Session struct {
	Key         Key
	Meta        layout.SessionMeta // zero if there is no metadata.json
	Artifacts   []Artifact         // by name; without the log, the metadata and the summaries
	Log         []layout.AgentEvent
	LogProblems []*layout.SyntaxError
	Others      int             // other records of the session, such as results; List does not count them
	Changed     time.Time       // when something of it was stored last
	Files       []store.Version // all of them: also the log, the metadata and the summaries

	files     map[string]store.Version // the same by name
	summaries map[string]store.Version // by the artifact that they are of
}

// An Artifact is a file that an agent has left in a session.
type Artifact struct {
	Name    string // plan for plan.md
	Version store.Version
	Agent   string
	Title   string
	Preview string
	Tokens  int
	Words   int
}

// Tokens returns about how many tokens the artifacts have together.
func (s *Session) Tokens() int {
	n := 0
	for _, a := range s.Artifacts {
		n += a.Tokens
	}
	return n
}

// Agents returns who has written artifacts or stands in the log, sorted.
func (s *Session) Agents() []string {
	var agents []string
	for _, a := range s.Artifacts {
		agents = append(agents, layout.Slug(a.Agent))
	}
	for _, e := range s.Log {
		agents = append(agents, layout.Slug(e.Agent))
	}
	slices.Sort(agents)
	return slices.DeleteFunc(slices.Compact(agents), func(agent string) bool { return agent == "" })
}

// Artifact returns an artifact by its name.
func (s *Session) Artifact(name string) (Artifact, bool) {
	at := slices.IndexFunc(s.Artifacts, func(a Artifact) bool { return a.Name == name })
	if at < 0 {
		return Artifact{}, false
	}
	return s.Artifacts[at], true
}

// Read returns what is stored of a session.
func (r *Registry) Read(ctx context.Context, key Key) (*Session, error) {
	listing, err := r.read.List(ctx, query.ListRequest{Filter: record.Filter{Sessions: record.Any(key.ID), Trees: []record.Tree{key.Tree}}})
	if err != nil {
		return nil, err
	}
	return r.session(ctx, key, listing.Entries)
}

// session makes a session of the records with its id.
func (r *Registry) session(ctx context.Context, key Key, entries []query.Summary) (*Session, error) {
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
		s.Meta, _ = layout.ParseSessionMeta(text) // one that cannot be read says nothing
	}
	return s, r.readLog(ctx, s)
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
		Name: name, Version: v, Agent: v.Record.Agent, Title: e.Description.Title, Preview: e.Description.Preview,
		Tokens: e.Tokens, Words: e.Description.Words,
	})
}

// ListOptions say which sessions are listed.
type ListOptions struct {
	Type  string // "": of any
	Limit int    // 0: none
}

// List returns sessions, the one with the newest record first, and how many there
// are in all.
func (r *Registry) List(ctx context.Context, opts ListOptions) (list []*Session, all int, err error) {
	entries, err := r.entries(ctx, "")
	if err != nil {
		return nil, 0, err
	}
	keys := slices.DeleteFunc(keysOf(entries), func(k Key) bool { return opts.Type != "" && k.Type != opts.Type })
	of := map[Key][]query.Summary{}
	for _, e := range entries {
		if k, found := keyOf(e); found {
			of[k] = append(of[k], e)
		}
	}
	all = len(keys)
	if opts.Limit > 0 {
		keys = keys[:min(len(keys), opts.Limit)]
	}
	for _, key := range keys {
		s, err := r.session(ctx, key, of[key])
		if err != nil {
			return nil, 0, err
		}
		list = append(list, s)
	}
	return list, all, nil
}

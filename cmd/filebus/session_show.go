package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"filebus/materialize/markdown"
	runs "filebus/materialize/run"
	sessions "filebus/materialize/session"
)

type sessionList struct {
	Type  string `flag:"type"`
	Limit int    `flag:"limit" least:"0"`
}

// A sessionListJSON is a list of sessions in JSON.
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
		op: "session list", left: more, rest: "and %s; --limit 0 lists all", noun: "more session",
		json: func(int) any { return sessionListJSON{list, more} },
	})
}

type sessionShow struct {
	MaxTokens int `flag:"max-tokens"`
}

// A sessionShowJSON is a session with its artifacts in JSON.
type sessionShowJSON struct {
	sessions.Session
	Files  []sessions.Artifact `json:"files"`
	AtWork []atWorkJSON        `json:"at_work"`
	Log    []string            `json:"log"`              // the last lines
	Others int                 `json:"others,omitempty"` // other records of the session, such as results
	Left   int                 `json:"left,omitempty"`   // entries that there was no room for
}

// An atWorkJSON is an agent that has begun and not ended.
type atWorkJSON struct {
	Agent   string `json:"agent"`
	Seconds int    `json:"seconds,omitempty"`
	Message string `json:"message,omitempty"`
}

// lastEvents is how many lines of the log show shows.
const lastEvents = 5

func (o *sessionShow) run(ctx context.Context, w *workspace, args []string) error {
	if o.MaxTokens < 50 {
		return usageError("--max-tokens %d: a session needs at least 50 tokens", o.MaxTokens)
	}
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
	for _, e := range s.Log[max(0, len(s.Log)-lastEvents):] {
		view.Log = append(view.Log, cutText(strings.Join([]string{e.Time, e.Event, e.Agent, e.Message}, " | ")))
	}
	shown := presentation{entries: view.entries(), maxTokens: o.MaxTokens, op: "session show", what: s.Key.String()}
	shown.json = func(n int) any { return view.first(n) }
	if !w.global.json {
		lines := sessionLines(w.environ, s)
		shown.entries = len(lines)
		shown.text = func(n int) string {
			text := strings.Join(lines[:n], "")
			if n < len(lines) {
				text += fmt.Sprintf("… %s more\n", plural(len(lines)-n, "line"))
			}
			return text
		}
	}
	_, err = f.workspace.present(shown)
	return err
}

func (v sessionShowJSON) entries() int { return len(v.AtWork) + len(v.Files) + len(v.Log) }

// first returns the session with the first entries alone.
func (v sessionShowJSON) first(n int) sessionShowJSON {
	v.Left = v.entries() - n
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
		lines = append(lines, markdown.Clip(oneLine(strings.Join(words, "  ")), 2*maxCell)+"\n")
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
			took = runs.DurationText(max(env.now().Sub(a.Since), 0).Truncate(time.Second))
		}
		add("at work", cutText(a.Agent), took, cutText(a.Message))
	}
	add("artifacts", fmt.Sprintf("%d, %s", len(s.Artifacts), tokenText(s.Tokens)))
	for _, a := range s.Artifacts {
		add("  "+a.Name, tokenText(a.Tokens), a.Agent)
	}
	for _, e := range s.Log[max(0, len(s.Log)-lastEvents):] {
		add("log", cutText(strings.TrimRight(strings.Join([]string{e.Time, e.Event, e.Agent, e.Message}, "  "), " ")))
	}
	if s.Others > 0 {
		add("other records", fmt.Sprintf("%d: filebus list --session %s", s.Others, quote(s.ID)))
	}
	return lines
}

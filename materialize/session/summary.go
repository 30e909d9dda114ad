package session

import (
	"context"
	"errors"
	"strings"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// A Summary says in short what is in an artifact.
type Summary struct {
	Artifact string `json:"artifact"`
	Agent    string `json:"agent,omitempty"`
	Text     string `json:"summary"` // one line of at most MaxSummary words
	Words    int    `json:"words"`   // of all of it, also where the text is cut
	Given    bool   `json:"given"`   // by who wrote the artifact; else it is its preview
}

// Summaries returns what the artifacts of a session say in short. One that is too
// long, as an agent's hand may have written it, is cut; its Words tell.
func (r *Registry) Summaries(ctx context.Context, s *Session) ([]Summary, error) {
	var all []Summary
	for _, a := range s.Artifacts {
		short := Summary{Artifact: a.Name, Agent: a.Agent}
		text := a.Preview
		given, found, err := r.summaryOf(ctx, s, a)
		if err != nil {
			return nil, err
		}
		if found {
			text, short.Given = given, true
		}
		words := strings.Fields(text)
		short.Words = len(words)
		if len(words) > MaxSummary {
			words = append(words[:MaxSummary:MaxSummary], "…")
		}
		if short.Text = strings.Join(words, " "); short.Text == "" {
			short.Text = layout.Clip(a.Title, maxShown)
		}
		all = append(all, short)
	}
	return all, nil
}

// summaryOf returns the summary of an artifact's newest version: one that a hand has
// written since, or else the one that it was stored with.
func (r *Registry) summaryOf(ctx context.Context, s *Session, a Artifact) (text string, found bool, err error) {
	v, found := s.summaries[a.Name]
	if !found || v.Record.Source == record.SourcePut || v.Position < a.Version.Position {
		if v, found, err = r.linked(ctx, a); err != nil || !found {
			return "", false, err
		}
	}
	body, err := r.w.TextOf(ctx, v)
	return string(body), true, err
}

// linked returns the summary that an artifact was stored with.
func (r *Registry) linked(ctx context.Context, a Artifact) (v store.Version, found bool, err error) {
	for _, l := range a.Version.Record.Links {
		ref, err := record.ParseRef(l.Target)
		if l.Type != linkSummary || err != nil {
			continue
		}
		err = r.w.Store.View(ctx, func(tx *store.Tx) (err error) {
			v, err = tx.Get(ref)
			return err
		})
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDropped) {
			return v, false, nil
		}
		return v, err == nil, err
	}
	return v, false, nil
}

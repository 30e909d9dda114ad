package session

import (
	"cmp"
	"context"
	"strings"

	"filebus/materialize/markdown"
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
func (r *Registry) Summaries(ctx context.Context, s *Session) (all []Summary, err error) {
	for _, a := range s.Artifacts {
		short := Summary{Artifact: a.Name, Agent: a.Agent}
		if short.Text, short.Given, err = r.summaryOf(ctx, s, a); err != nil {
			return nil, err
		}
		if !short.Given {
			short.Text = a.Preview
		}
		words := strings.Fields(short.Text)
		short.Words = len(words)
		if len(words) > MaxSummary {
			words = append(words[:MaxSummary:MaxSummary], "…")
		}
		short.Text = cmp.Or(strings.Join(words, " "), markdown.Clip(a.Title, maxShown))
		all = append(all, short)
	}
	return all, nil
}

// summaryOf returns the summary of an artifact's newest version: one that a hand has
// written since, or else the one that it was stored with.
func (r *Registry) summaryOf(ctx context.Context, s *Session, a Artifact) (text string, found bool, err error) {
	v, byHand := s.summaries[a.Name]
	if !byHand || v.Record.Source == record.SourcePut || v.Position < a.Version.Position {
		err = r.w.Store.View(ctx, func(tx *store.Tx) error {
			for _, l := range a.Version.Record.Links {
				if ref, err := record.ParseRef(l.Target); err == nil && l.Type == linkSummary {
					v, err = tx.Get(ref)
					return err
				}
			}
			return store.ErrNotFound
		})
	}
	if err == nil {
		var body []byte
		body, err = r.w.TextOf(ctx, v)
		text = string(body)
	}
	if isGone(err) {
		return "", false, nil
	}
	return text, true, err
}

package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
)

// A budgetPage is what references have spared, by conversation, session or run: of the largest
// ones, or of one with its parts.
type budgetPage struct {
	By, ID string
	Chart  chart
	Parts  *chart   // of the one
	Curves []curves // of its steps
	Notes  []string
}

// Ways returns what savings are counted by.
func (*budgetPage) Ways() []string { return []string{"conversation", "session", "run"} }

// Command returns the command that says the same of the one.
func (v *budgetPage) Command() []string { return []string{"budget", "--" + v.By + "=" + v.ID} }

func loadBudget(ctx context.Context, s *Site, r *http.Request) (any, error) {
	v := &budgetPage{By: cmp.Or(r.FormValue("by"), "conversation"), ID: r.FormValue("id")}
	ways := map[string]struct {
		list func(context.Context, *Site) ([]sized, error)
		add  func(ctx context.Context, s *Site, id, flag string) error
	}{
		"conversation": {conversations, v.conversation}, "session": {sessions, v.session}, "run": {runs, v.run},
	}
	way, known := ways[v.By]
	if !known {
		return nil, &Refusal{Code: "usage", Message: fmt.Sprintf("%q is none of conversation, session and run", v.By)}
	}
	all := []sized{{v.ID, 0}}
	if v.ID == "" {
		var err error
		if all, err = way.list(ctx, s); err != nil {
			return nil, err
		}
		slices.SortStableFunc(all, func(a, b sized) int { return b.tokens - a.tokens })
	}
	all, v.Chart.More = cut(all, mostRows)
	for _, one := range all {
		refusal, err := new(Refusal), way.add(ctx, s, one.id, "--"+v.By+"="+one.id)
		switch {
		case errors.As(err, &refusal) && v.ID == "":
			v.Notes = append(v.Notes, one.id+": "+refusal.Message) // the others are shown
		case err != nil:
			return nil, err
		}
	}
	if v.Chart.measure(); v.Parts != nil {
		v.Parts.measure()
	}
	return v, nil
}

// A sized is what savings are known of, and how large it is.
type sized struct {
	id     string
	tokens int
}

func conversations(ctx context.Context, s *Site) (all []sized, err error) {
	var list struct {
		Conversations []struct {
			Conversation, Tree string
			Tokens             int
		}
	}
	err = s.Ask(ctx, &list, "conversation", "list", "--limit=0")
	for _, c := range list.Conversations {
		if c.Tree != "" {
			c.Conversation = c.Tree + ":" + c.Conversation
		}
		all = append(all, sized{c.Conversation, c.Tokens})
	}
	return all, err
}

func sessions(ctx context.Context, s *Site) (all []sized, err error) {
	var list sessionsPage
	err = s.Ask(ctx, &list, "session", "list", "--limit=0")
	for _, one := range list.Sessions {
		all = append(all, sized{one.Session, one.Tokens})
	}
	return all, err
}

// runs returns the run that is going on, and those of which there are snapshots.
func runs(ctx context.Context, s *Site) (all []sized, err error) {
	var now struct{ Run string }
	if err := s.Ask(ctx, &now, "status"); err != nil {
		return nil, err
	}
	var list struct{ Snapshots []struct{ Run string } }
	err = s.Ask(ctx, &list, "snapshot", "list", "--limit=0")
	list.Snapshots = slices.Insert(list.Snapshots, 0, struct{ Run string }{now.Run})
	for _, snapshot := range list.Snapshots {
		if one := (sized{snapshot.Run, 0}); one.id != "" && !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all, err
}

// link returns the page of one of several; the page of the one has none.
func (v *budgetPage) link(id string) string {
	if v.ID != "" {
		return ""
	}
	return "/budget?" + url.Values{"by": {v.By}, "id": {id}}.Encode()
}

func (v *budgetPage) conversation(ctx context.Context, s *Site, id, flag string) error {
	v.Chart.Title, v.Chart.Legend = "Tokens in the context of the parent", []string{"with all words", "with references"}
	v.Chart.Columns = []string{"conversation", "calls", "whole", "references", "ratio"}
	var b struct {
		Calls, Tokens int
		References    int `json:"reference_tokens"`
		Ratio         float64
		Steps         []struct {
			Agent         string
			Calls, Tokens int
			Inline        int `json:"tokens_inline"`
			ByReference   int `json:"tokens_by_reference"`
		}
	}
	if err := s.Ask(ctx, &b, "budget", flag); err != nil {
		return err
	}
	numbers := []string{count(b.Calls), count(b.Tokens), count(b.References), fmt.Sprintf("%.1f×", b.Ratio)}
	v.Chart.bar(id, v.link(id), numbers, b.Tokens, b.References)
	if v.ID == "" {
		return nil
	}
	labels, inline, references := []string{}, series{Name: "with all words"}, series{Name: "with references"}
	v.Parts = &chart{Title: "What the parent carries after each step", Legend: v.Chart.Legend, Columns: []string{"step", "calls", "whole", "references"}}
	for i, step := range b.Steps {
		labels = append(labels, fmt.Sprint(i+1))
		inline.Values, references.Values = append(inline.Values, &b.Steps[i].Inline), append(references.Values, &b.Steps[i].ByReference)
		numbers := []string{count(step.Calls), count(step.Inline), count(step.ByReference)}
		v.Parts.bar(fmt.Sprint(i+1, " ", step.Agent), "", numbers, step.Inline, step.ByReference)
	}
	if len(labels) > 1 {
		v.Curves = []curves{drawn(v.Parts.Title, labels, inline, references)}
	}
	v.Parts.Rows, v.Parts.More = cut(v.Parts.Rows, mostShown)
	return nil
}

func (v *budgetPage) session(ctx context.Context, s *Site, id, flag string) error {
	v.Chart.Title, v.Chart.Legend = "Tokens that agents were given to read", []string{"as texts", "as paths"}
	v.Chart.Columns = []string{"session", "reads", "texts", "paths"}
	type amount struct{ Tokens int }
	var b struct {
		Artifacts      int
		Content, Files amount
		Agents         []struct {
			Agent          string
			Artifacts      int
			Content, Files amount
		}
	}
	if err := s.Ask(ctx, &b, "budget", flag); err != nil {
		return err
	}
	numbers := []string{count(b.Artifacts), count(b.Content.Tokens), count(b.Files.Tokens)}
	v.Chart.bar(id, v.link(id), numbers, b.Content.Tokens, b.Files.Tokens)
	if b.Artifacts == 0 {
		v.Notes = append(v.Notes, id+": no agent's reads were logged")
	}
	if v.ID == "" || len(b.Agents) == 0 {
		return nil
	}
	v.Parts = &chart{Title: "By agent", Legend: v.Chart.Legend, Columns: []string{"agent", "reads", "texts", "paths"}}
	for _, a := range b.Agents {
		numbers := []string{count(a.Artifacts), count(a.Content.Tokens), count(a.Files.Tokens)}
		v.Parts.bar(a.Agent, "", numbers, a.Content.Tokens, a.Files.Tokens)
	}
	v.Parts.Rows, v.Parts.More = cut(v.Parts.Rows, mostShown)
	return nil
}

func (v *budgetPage) run(ctx context.Context, s *Site, id, flag string) error {
	v.Chart.Title, v.Chart.Legend = "Tokens in the context of the orchestrator", []string{"with outputs inline", "as read"}
	v.Chart.Columns = []string{"run", "reads", "inline", "read", "waiting by Glob", "by wait"}
	var b struct {
		Reads, Tokens             int
		Inline, Polling, Blocking cost
		Channels                  []struct {
			Channel       string
			Reads, Tokens int
			Stored        int `json:"stored_tokens"`
		}
	}
	if err := s.Ask(ctx, &b, "budget", flag); err != nil {
		return err
	}
	numbers := []string{count(b.Reads), count(b.Inline.Tokens), count(b.Tokens), count(b.Polling.Tokens), count(b.Blocking.Tokens)}
	v.Chart.bar(id, v.link(id), numbers, b.Inline.Tokens, b.Tokens)
	if v.ID == "" {
		return nil
	}
	v.Parts = &chart{Title: "By channel", Legend: []string{"stored", "read"}, Columns: []string{"channel", "reads", "stored", "read"}}
	for _, c := range b.Channels {
		if c.Reads+c.Stored > 0 {
			v.Parts.bar(c.Channel, "", []string{count(c.Reads), count(c.Stored), count(c.Tokens)}, c.Stored, c.Tokens)
		}
	}
	return nil
}

// A cost is texts in tokens.
type cost struct{ Tokens int }

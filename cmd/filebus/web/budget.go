package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// A budgetPage is what references have spared, of the largest conversations, sessions or runs.
type budgetPage struct {
	By    string
	AsOf  time.Time
	Rows  []saving
	More  int // that are not shown, those beyond the last ones of many conversations among them
	Axis  axis
	Notes []string // why some are not
}

// A saving is what the command budget says of one of them.
type saving struct {
	Calls, Reads, Artifacts, Tokens int
	References                      int `json:"reference_tokens"`
	Content, Files, Inline          struct{ Tokens int }
	ID                              string `json:"-"`
	N, Whole, Spared                int    `json:"-"` // how many texts, and their tokens in two ways
}

// Ratio is how many times less it is.
func (s saving) Ratio() float64 { return float64(s.Whole) / float64(s.Spared) }

func loadBudget(ctx context.Context, s *Site, r *http.Request) (any, error) {
	return s.budget.of(ctx, s, cmp.Or(r.FormValue("by"), "conversation"))
}

// loadBudget asks what was spared by conversation, session or run.
func (s *Site) loadBudget(ctx context.Context, by string) (*budgetPage, error) {
	v := &budgetPage{By: by, AsOf: s.Now()}
	ids, err := v.list(ctx, s)
	if err != nil {
		return nil, err
	}
	top := 0
	ids, more := cut(ids, 20) // each is asked for
	v.More += more
	for _, id := range ids {
		one := saving{ID: id}
		if err := s.Ask(ctx, &one, "budget", "--"+v.By+"="+id); err != nil {
			v.Notes = append(v.Notes, id+": "+err.Error()) // the others are shown
			continue
		}
		switch v.By {
		case "conversation":
			one.N, one.Whole, one.Spared = one.Calls, one.Tokens, one.References
		case "session":
			one.N, one.Whole, one.Spared = one.Artifacts, one.Content.Tokens, one.Files.Tokens
		case "run":
			one.N, one.Whole, one.Spared = one.Reads, one.Inline.Tokens, one.Tokens
		}
		v.Rows, top = append(v.Rows, one), max(top, one.Whole, one.Spared)
	}
	v.Axis = newAxis(0, top)
	return v, nil
}

// list returns those of which savings are known, the largest first; of runs, the one that goes on.
func (v *budgetPage) list(ctx context.Context, s *Site) (ids []string, err error) {
	type item struct {
		Tree, Conversation, Session, Run string
		Tokens                           int
	}
	var list struct {
		Conversations, Sessions, Snapshots []item
		More                               int
	}
	what := map[string]string{"conversation": "conversation", "session": "session", "run": "snapshot"}[v.By]
	if what == "" {
		return nil, &Refusal{Code: "usage", Message: fmt.Sprintf("savings are not counted by %q", v.By)}
	}
	most := map[bool]int{true: 50}[v.By == "conversation"] // all results of each are read
	if err := s.Ask(ctx, &list, what, "list", fmt.Sprint("--limit=", most)); err != nil {
		return nil, err
	}
	v.More = list.More
	all := slices.Concat(list.Conversations, list.Sessions, list.Snapshots)
	if v.By == "run" {
		now := item{}
		err = s.Ask(ctx, &now, "status")
		all = slices.Insert(all, 0, now)
	}
	slices.SortStableFunc(all, func(a, b item) int { return b.Tokens - a.Tokens })
	for _, i := range all {
		if i.Conversation != "" && i.Tree != "" {
			i.Conversation = i.Tree + ":" + i.Conversation
		}
		if id := cmp.Or(i.Conversation, i.Session, i.Run); id != "" && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids, err
}

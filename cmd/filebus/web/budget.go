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

// A saving is what the command budget says of one of them; of conversations their list says it.
type saving struct {
	Reads, Artifacts, Tokens int
	Content, Files, Inline   struct{ Tokens int }
	ID                       string `json:"-"`
	N, Whole, Spared         int    `json:"-"` // how many texts, and their tokens in two ways
}

// Ratio is how many times less it is.
func (s saving) Ratio() float64 { return float64(s.Whole) / float64(s.Spared) }

func loadBudget(ctx context.Context, s *Site, r *http.Request) (any, error) {
	return s.budget.of(ctx, s, cmp.Or(r.FormValue("by"), "conversation"))
}

// loadBudget asks what was spared by conversation, session or run.
func (s *Site) loadBudget(ctx context.Context, by string) (*budgetPage, error) {
	v := &budgetPage{By: by, AsOf: s.Now()}
	all, err := v.list(ctx, s)
	if err != nil {
		return nil, err
	}
	top := 0
	all, more := cut(all, 20) // each is asked for
	v.More += more
	for _, one := range all {
		if by != "conversation" {
			if err := s.Ask(ctx, &one, "budget", "--"+by+"="+one.ID); err != nil {
				v.Notes = append(v.Notes, one.ID+": "+err.Error()) // the others are shown
				continue
			}
			one.N, one.Whole, one.Spared = one.Artifacts, one.Content.Tokens, one.Files.Tokens
		}
		if by == "run" {
			one.N, one.Whole, one.Spared = one.Reads, one.Inline.Tokens, one.Tokens
		}
		v.Rows, top = append(v.Rows, one), max(top, one.Whole, one.Spared)
	}
	v.Axis = newAxis(0, top)
	return v, nil
}

// list returns those of which savings are known, the largest first; of runs, the one that goes on.
func (v *budgetPage) list(ctx context.Context, s *Site) (all []saving, err error) {
	type item struct {
		Tree, Conversation, Session, Run string
		Tokens, Results                  int
		Inline                           int `json:"inline_tokens"`
		References                       int `json:"reference_tokens"`
	}
	var list struct {
		Conversations, Sessions, Snapshots []item
		More                               int
	}
	what := map[string]string{"conversation": "conversation", "session": "session", "run": "snapshot"}[v.By]
	if what == "" {
		return nil, &Refusal{Code: "usage", Message: fmt.Sprintf("savings are not counted by %q", v.By)}
	}
	const most = 2000 // sums of conversations are kept, but there may be very many
	if err := s.Ask(ctx, &list, what, "list", fmt.Sprint("--limit=", most)); err != nil {
		return nil, err
	}
	v.More = list.More
	items := slices.Concat(list.Conversations, list.Sessions, list.Snapshots)
	if v.By == "run" {
		var now struct{ Run string }
		err = s.Ask(ctx, &now, "status")
		items = slices.Insert(items, 0, item{Run: now.Run})
	}
	slices.SortStableFunc(items, func(a, b item) int { return cmp.Or(b.Inline-a.Inline, b.Tokens-a.Tokens) })
	seen := map[string]bool{"": true}
	for _, i := range items {
		if i.Conversation != "" && i.Tree != "" {
			i.Conversation = i.Tree + ":" + i.Conversation
		}
		one := saving{ID: cmp.Or(i.Conversation, i.Session, i.Run), N: i.Results, Whole: i.Inline, Spared: i.References}
		if !seen[one.ID] {
			all = append(all, one)
		}
		seen[one.ID] = true
	}
	return all, err
}

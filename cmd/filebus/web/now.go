package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// A nowPage is where the work stands.
type nowPage struct {
	Status struct {
		Run, Focus, Ended          string
		Loop, Loops                int
		Completed, Failed, Working int
		Late, Conflicts            int
		Tasks, Results             []doing
		Sessions                   struct {
			InProgress int `json:"in_progress"`
		}
	}
	History part[string]
	Waiting part[issue] // for other issues
	Board   []column

	Ended, Tasks, Dialogues, Sessions, Results part[doing]
}

// A part is the beginning of a list.
type part[T any] struct {
	Key   string // by which all of it is asked for
	Shown []T
	More  int
}

// How many entries of a list are shown, and if all of it is asked for; and how long the last results may take.
const (
	few, all = 8, 500
	quickly  = 500 * time.Millisecond
)

// most returns how much of a list a request wants.
func most(r *http.Request, key string) int {
	return map[bool]int{false: few, true: all}[r.FormValue("all") == key]
}

func begin[T any](r *http.Request, key string, list []T, more int) part[T] {
	shown, left := cut(list, most(r, key))
	return part[T]{key, shown, more + left}
}

// A doing is what goes on or was done: a task, an agent, a dialogue, a session or a result. Each has
// those of the fields that its list has.
type doing struct {
	Task, ID, Dialogue, Session, Name, Ref        string
	Title, Status, Agent, From, Outcome, Duration string
	Seconds                                       float64
	Late                                          bool
	BlockedBy                                     []string `json:"blocked_by"`
	Last, Turns, Owed, Artifacts, Tokens          int
	Time, Changed                                 time.Time
}

// An issue is a card of the board.
type issue struct {
	ID, Status, Priority, Type, Summary, Agent, Task string
	Expired                                          bool
	BlockedBy                                        []string `json:"blocked_by"`
}

// A column is the issues of one status.
type column struct {
	Status string
	Count  int
	part[issue]
}

func loadNow(ctx context.Context, s *Site, r *http.Request) (any, error) {
	v := &nowPage{}
	var said struct {
		History                                        []string
		Completed, Tasks, Dialogues, Sessions, Records []doing
		Issues                                         []issue
		More                                           int
	}
	if err := s.Ask(ctx, &v.Status, "status", "--max-tokens=0"); err != nil {
		return nil, err
	}
	if v.Status.Run != "" {
		if err := s.Ask(ctx, &said, "run", "show", "--max-tokens=0"); err != nil {
			return nil, err
		}
	}
	commands := [][]string{
		{"task", "list", "--max-tokens=0"}, {"dialogue", "list", "--limit=0"}, {"issue", "list", "--max-tokens=0"},
		{"session", "list", "--limit=0"},
	}
	if v.Status.Sessions.InProgress == 0 { // each is looked at, to find out
		commands = commands[:3]
	}
	for _, command := range commands {
		if err := s.Ask(ctx, &said, command...); err != nil {
			return nil, err
		}
	}
	quick, cancel := context.WithTimeout(ctx, map[bool]time.Duration{true: quickly, false: longest}[most(r, "results") == few])
	defer cancel()
	said.More = 0
	if err := s.Ask(quick, &said, "list", "--kind=result", fmt.Sprint("--limit=", most(r, "results"))); quick.Err() != nil {
		said.Records = v.Status.Results // very many that were stored at once are put in order only for those who ask
	} else if err != nil {
		return nil, err
	}
	slices.Reverse(said.History) // the last ones first
	slices.Reverse(said.Completed)
	said.Dialogues = slices.DeleteFunc(said.Dialogues, func(d doing) bool { return d.Status == "converged" })
	said.Sessions = slices.DeleteFunc(said.Sessions, func(s doing) bool { return s.Status != "in_progress" })
	v.History, v.Ended = begin(r, "history", said.History, 0), begin(r, "ended", said.Completed, 0)
	v.Tasks, v.Dialogues = begin(r, "tasks", said.Tasks, 0), begin(r, "dialogues", said.Dialogues, 0)
	v.Sessions, v.Results = begin(r, "sessions", said.Sessions, 0), begin(r, "results", said.Records, said.More)
	v.Board = board(r, said.Issues)
	v.Waiting = begin(r, "waiting", slices.DeleteFunc(said.Issues, func(i issue) bool { return len(i.BlockedBy) == 0 }), 0)
	return v, nil
}

// board returns the issues by status, in each the one to be done next first. What is not known stands last.
func board(r *http.Request, issues []issue) (columns []column) {
	states := []string{"pending", "accepted", "in_progress", "complete", "duplicate", "wont_fix"}
	place := func(order []string, word string) uint { return uint(slices.Index(order, word)) } // of -1 the largest
	sorted := slices.SortedStableFunc(slices.Values(issues), func(a, b issue) int {
		return cmp.Or(cmp.Compare(place(states, a.Status), place(states, b.Status)), cmp.Compare(a.Status, b.Status))
	})
	for len(sorted) > 0 {
		status := sorted[0].Status
		n := slices.IndexFunc(sorted, func(i issue) bool { return i.Status != status })
		if n < 0 {
			n = len(sorted)
		}
		columns = append(columns, column{status, n, begin(r, "issues-"+status, sorted[:n], 0)})
		sorted = sorted[n:]
	}
	return columns
}

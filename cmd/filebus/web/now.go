package web

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
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
		Issues                     struct {
			Open, Working int
			Next          string
		}
		Sessions struct {
			InProgress int `json:"in_progress"`
		}
	}
	Activity activity
	Failed   []logged // the last ones

	History                                                part[string]
	Working, Waiting, Next                                 part[issue]
	Ended, Tasks, Dialogues, Sessions, Results, Unfinished part[doing]
}

// A logged is an entry of the log.
type logged struct {
	Time                    time.Time
	Op, Name, Agent, Status string
	Tokens                  int
}

// An activity is how many entries the log has had of late, in columns of the same length.
type activity struct {
	Since time.Time
	Total int
	Bars  []bar
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

// An issue is a line of the list of issues.
type issue struct {
	ID, Status, Priority, Type, Summary, Agent, Task string
	Expired                                          bool
	BlockedBy                                        []string `json:"blocked_by"`
}

// nowSaid is what the page of now is made of.
type nowSaid struct {
	page                                           nowPage
	History                                        []string
	Completed, Tasks, Dialogues, Sessions, Records []doing
	Issues                                         []issue
	More                                           int
	log                                            []logged
}

func loadNow(ctx context.Context, s *Site, r *http.Request) (any, error) {
	said, err := s.now.of(ctx, s, fmt.Sprint(most(r, "results")))
	if err != nil {
		return nil, err
	}
	v := said.page // of which nothing else is changed
	open := func(d doing) bool { return d.Status != "converged" && d.Status != "completed" }
	isFree := func(i issue) bool { return i.Status != "in_progress" && len(i.BlockedBy) == 0 }
	failed := func(d doing) bool { return slices.Contains(failures(), d.Status) }
	v.History, v.Ended = begin(r, "history", said.History, 0), begin(r, "ended", said.Completed, 0)
	v.Tasks, v.Unfinished = begin(r, "tasks", said.Tasks, 0), begin(r, "unfinished", only(said.Tasks, failed), 0)
	v.Dialogues, v.Sessions = begin(r, "dialogues", only(said.Dialogues, open), 0), begin(r, "sessions", only(said.Sessions, open), 0)
	v.Results = begin(r, "results", said.Records, said.More)
	v.Working = begin(r, "working", only(said.Issues, func(i issue) bool { return i.Status == "in_progress" }), 0)
	v.Waiting = begin(r, "waiting", only(said.Issues, func(i issue) bool { return len(i.BlockedBy) > 0 }), 0)
	v.Next = begin(r, "next", only(said.Issues, isFree), 0)
	for _, e := range slices.Backward(said.log) {
		if strings.HasPrefix(e.Name, "result/") && slices.Contains(failures(), e.Status) && len(v.Failed) < few { // tasks tell theirs
			v.Failed = append(v.Failed, e)
		}
	}
	return &v, nil
}

// failures are the states that somebody has to look at.
func failures() []string { return []string{"failed", "blocked", "error", "timeout", "partial"} }

func only[T any](all []T, is func(T) bool) []T {
	return slices.DeleteFunc(slices.Clone(all), func(t T) bool { return !is(t) })
}

// loadNow asks for what the page of now shows, with so many results.
func (s *Site) loadNow(ctx context.Context, results string) (said *nowSaid, err error) {
	said = &nowSaid{}
	if err := s.Ask(ctx, &said.page.Status, "status", "--max-tokens=0"); err != nil {
		return nil, err
	}
	commands := [][]string{
		{"task", "list", "--max-tokens=2000"}, {"dialogue", "list", "--limit=50"}, {"issue", "list", "--open", "--max-tokens=4000"},
	}
	if said.page.Status.Run != "" {
		commands = append(commands, []string{"run", "show", "--max-tokens=0"})
	}
	if said.page.Status.Sessions.InProgress > 0 { // each is looked at, to find out
		commands = append(commands, []string{"session", "list", "--limit=0"})
	}
	for _, command := range commands {
		if err := s.Ask(ctx, said, command...); err != nil {
			return nil, err
		}
	}
	quick, cancel := context.WithTimeout(ctx, map[bool]time.Duration{true: quickly, false: longest}[results == fmt.Sprint(few)])
	defer cancel()
	said.More = 0
	if err := s.Ask(quick, said, "list", "--kind=result", "--limit="+results); quick.Err() != nil {
		said.Records = said.page.Status.Results // very many that were stored at once are put in order only for those who ask
	} else if err != nil {
		return nil, err
	}
	slices.Reverse(said.History) // the last ones first
	slices.Reverse(said.Completed)
	if said.log, err = s.logged(ctx, lastEntries); err == nil {
		said.page.Activity = newActivity(said.log, s.Now())
	}
	return said, err
}

// The last entries of the log are drawn, those of a day at most.
const (
	lastEntries = 500
	columns     = 48
)

// logged returns the last entries of the log, the last one last.
func (s *Site) logged(ctx context.Context, n int) (all []logged, err error) {
	var out bytes.Buffer
	if err := s.Print(ctx, &out, "log", fmt.Sprint("--limit=", n), "--json"); err != nil {
		return nil, err
	}
	return decodeAll[logged](&out)
}

func newActivity(log []logged, now time.Time) (a activity) {
	a.Since = now.Add(-24 * time.Hour)
	if len(log) == lastEntries && log[0].Time.After(a.Since) {
		a.Since = log[0].Time // what was before is not known
	}
	counts, step := make([]int, columns), now.Sub(a.Since)/columns+1
	for _, e := range log {
		if at := int(e.Time.Sub(a.Since) / step); !e.Time.Before(a.Since) && at < columns {
			counts[at]++
			a.Total++
		}
	}
	for i, n := range counts {
		height := (40*n + slices.Max(counts) - 1) / max(slices.Max(counts), 1)
		label := a.Since.Add(time.Duration(i) * step).Format("15:04")
		a.Bars = append(a.Bars, bar{Label: label, Count: n, X: 10 * i, Y: 40 - height, Height: height})
	}
	return a
}

package web

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"filebus/cmd/filebus/rule"
)

type dialoguesPage struct {
	Dialogues []struct {
		Dialogue, Title, Status string
		Rounds, Turns, Owed     int
		Last                    *int
		Agents                  []string
		Time                    time.Time
	}
	More int
}

// A dialoguePage is one dialogue: who said what in which round, and where that led.
type dialoguePage struct {
	Score struct {
		Dialogue  string
		Converged bool
		Total     int
		Rounds    []round
		Agents    []struct {
			Agent string
			Total int
		}
		Says, Notes []string
		Tensions    []struct {
			ID, Tension, Status, Raised, Resolved string
			From                                  int  `json:"raised_round"`
			To                                    *int `json:"resolved_round"`
		}
	}
	Check struct {
		Given, Launched int
		Turns           []turn
		Findings        []rule.Finding
	}
	More     int               // findings that are not shown
	Matrix   map[string][]turn // by agent
	Markers  map[string]int    // by kind
	Round    string            // whose turns are shown beside each other
	Beside   []spoken
	Document *struct{ Text string }
	Left     int // bytes of it that are not shown
}

type round struct {
	Round, Wisdom, Consistency, Truth, Relationships, Score, Cumulative, Velocity, Converge int
	Open                                                                                    int `json:"open_tensions"`
	New                                                                                     int `json:"new_perspectives"`
	Given, Unjudged                                                                         []string
}

// A turn is what stands in a cell of the matrix.
type turn struct {
	Round              int
	Agent, State, Name string
	Markers            map[string]int
}

// A spoken is the text of a turn.
type spoken struct{ Agent, Name, Text string }

// mostBeside is how many turns stand beside each other.
const mostBeside = 12

func loadDialogue(ctx context.Context, s *Site, r *http.Request) (any, error) {
	v, name := &dialoguePage{Matrix: map[string][]turn{}, Markers: map[string]int{}}, r.FormValue("name")
	if err := s.Ask(ctx, &v.Score, "dialogue", "score", "--dry-run", "--", name); err != nil {
		return nil, err
	}
	err := s.Ask(ctx, &v.Check, "dialogue", "check", "--all", "--", name)
	v.Round = r.FormValue("round")
	for _, t := range v.Check.Turns {
		v.Matrix[t.Agent] = append(v.Matrix[t.Agent], t)
		for kind, n := range t.Markers {
			v.Markers[kind] += n
		}
		if fmt.Sprint(t.Round) != v.Round || t.Name == "" || len(v.Beside) == mostBeside {
			continue
		}
		if text, err := s.text(ctx, t.Name); err == nil && text.Text != nil {
			v.Beside = append(v.Beside, spoken{t.Agent, t.Name, *text.Text})
		}
	}
	v.Check.Findings, v.More = cut(v.Check.Findings, mostShown)
	if r.FormValue("document") == "" || err != nil {
		return v, err
	}
	if err := s.Ask(ctx, &v.Document, "dialogue", "assemble", "--stdout", "--", name); err != nil {
		return nil, err
	}
	if text := v.Document.Text; len(text) > maxRendered/2 { // what is invalid grows
		v.Document.Text = text[:strings.LastIndexByte(text[:maxRendered/2], '\n')+1]
		v.Left = len(text) - len(v.Document.Text)
	}
	return v, nil
}

func (v *dialoguePage) title() string { return v.Score.Dialogue }

// Axis returns an axis with all rounds; the last one is as wide as the others.
func (v *dialoguePage) Axis() axis {
	return newAxis(v.Score.Rounds[0].Round, v.Score.Rounds[len(v.Score.Rounds)-1].Round+1)
}

// Curves draws the scores and the velocity of the rounds.
func (v *dialoguePage) Curves() []curves {
	n := len(v.Score.Rounds)
	at, scores, velocity := make([]int, n), make([][]int, n), make([][]int, n)
	for i, r := range v.Score.Rounds {
		if at[i] = r.Round; len(r.Unjudged) < len(r.Given) {
			scores[i] = []int{r.Score, r.Cumulative}
		}
		if len(r.Given) > 0 {
			velocity[i] = []int{r.Velocity, r.Open, r.New}
		}
	}
	return []curves{
		draw("Scores by round", at, []string{"score", "sum so far"}, scores),
		draw("Velocity by round", at, []string{"velocity", "open tensions", "new perspectives"}, velocity),
	}
}

package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// A dialoguesPage is a list of dialogues.
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

func loadDialogues(ctx context.Context, s *Site, _ *http.Request) (any, error) {
	v := &dialoguesPage{}
	return v, s.Ask(ctx, v, "dialogue", "list", "--limit=200")
}

// A dialoguePage is one dialogue: who said what in which round, and where that led.
type dialoguePage struct {
	Score struct {
		Dialogue  string
		Converged bool
		Total     int
		Rounds    []round
		Agents    []struct {
			Agent                                            string
			Wisdom, Consistency, Truth, Relationships, Total int
		}
		Tensions    []tension
		Says, Notes []string
	}
	Check struct {
		Given, Launched, Wanting int
		Findings                 []finding
		Turns                    []turn
		Mend                     []string
	}
	MoreFindings int
	Text         *string // of the document, if that is shown
	Left         int     // bytes of it that are not
}

type round struct {
	Round, Wisdom, Consistency, Truth, Relationships, Score, Cumulative int
	Open                                                                int `json:"open_tensions"`
	New                                                                 int `json:"new_perspectives"`
	Velocity, Converge                                                  int
	Given, Unjudged                                                     []string
}

// Judged reports whether the judge has given numbers.
func (r round) Judged() bool { return len(r.Unjudged) < len(r.Given) }

type tension struct {
	ID, Tension, Status, Raised, Resolved string
	From                                  int  `json:"raised_round"`
	To                                    *int `json:"resolved_round"`
}

type finding struct {
	Kind, File, Text string
	Line             int
	Wanting          bool
}

// A turn is a cell of the matrix.
type turn struct {
	Round              int
	Agent, State, Name string
	Markers            map[string]int
}

func loadDialogue(ctx context.Context, s *Site, r *http.Request) (any, error) {
	v, name := &dialoguePage{}, r.FormValue("name")
	if err := s.Ask(ctx, &v.Score, "dialogue", "score", "--dry-run", "--", name); err != nil {
		return nil, err
	}
	if r.FormValue("document") == "" {
		err := s.Ask(ctx, &v.Check, "dialogue", "check", "--all", "--", name)
		v.Check.Findings, v.MoreFindings = cut(v.Check.Findings, mostShown)
		v.Check.Mend, _ = cut(v.Check.Mend, mostRows)
		return v, err
	}
	var document struct{ Text string }
	if err := s.Ask(ctx, &document, "dialogue", "assemble", "--stdout", "--", name); err != nil {
		return nil, err
	}
	const longest = 400 << 10 // bytes, which are rendered still
	if v.Text = &document.Text; len(document.Text) > longest {
		end := strings.LastIndexByte(document.Text[:longest], '\n') + 1
		v.Left, document.Text = len(document.Text)-end, document.Text[:end]
	}
	return v, nil
}

// A cell of the matrix has the turns of an agent in a round: mostly one.
type matrixRow struct {
	Agent string
	Cells [][]turn
}

// Matrix returns a row for each agent, with a cell for each round.
func (v *dialoguePage) Matrix() (rows []matrixRow) {
	at := map[int]int{}
	for i, r := range v.Score.Rounds {
		at[r.Round] = i
	}
	for _, t := range v.Check.Turns {
		i := slices.IndexFunc(rows, func(row matrixRow) bool { return row.Agent == t.Agent })
		if i < 0 {
			i = len(rows)
			rows = append(rows, matrixRow{t.Agent, make([][]turn, len(at))})
		}
		if column, known := at[t.Round]; known {
			rows[i].Cells[column] = append(rows[i].Cells[column], t)
		}
	}
	return rows
}

// A kindCount is how many markers of a kind there are.
type kindCount struct {
	Kind  string
	Count int
}

// kindCounts returns the kinds of markers by name.
func kindCounts(markers map[string]int) (counts []kindCount) {
	for _, kind := range slices.Sorted(maps.Keys(markers)) {
		counts = append(counts, kindCount{kind, markers[kind]})
	}
	return counts
}

// Kinds returns the markers of the turn.
func (t turn) Kinds() []kindCount { return kindCounts(t.Markers) }

// Short is what stands for a kind in a cell.
func (k kindCount) Short() string {
	return cmp.Or(map[string]string{
		"refinement": "Rf", "resolved": "✓", "recommendation": "Rc", "re": "Re", "concession": "Cc", "claim": "Cl",
	}[k.Kind], strings.ToUpper(k.Kind[:min(1, len(k.Kind))]))
}

// Legend returns the markers of the whole dialogue.
func (v *dialoguePage) Legend() []kindCount {
	sum := map[string]int{}
	for _, t := range v.Check.Turns {
		for kind, n := range t.Markers {
			sum[kind] += n
		}
	}
	return kindCounts(sum)
}

// Tensions draws from which round to which each tension counts.
func (v *dialoguePage) Tensions() chart {
	c := chart{
		Title:   "Tensions, from the round that raised them to the one that resolved them",
		Columns: []string{"tension", "status"}, Legend: []string{"open", "ended"},
	}
	if len(v.Score.Rounds) == 0 {
		return c
	}
	low, high := v.Score.Rounds[0].Round, v.Score.Rounds[len(v.Score.Rounds)-1].Round
	for _, t := range v.Score.Tensions {
		low, high = min(low, t.From), max(high, t.From, *cmp.Or(t.To, &t.From))
	}
	along := axis{float64(low), float64(high + 1), 1}
	for r := low; r <= high; r += 1 + (high-low)/10 {
		c.Ticks = append(c.Ticks, tick{along.at(float64(r) + .5), fmt.Sprint(r)})
	}
	for _, t := range v.Score.Tensions {
		end, class, title := high, "series0", fmt.Sprintf("%s, raised: %s", t.ID, cmp.Or(t.Raised, "not said by whom"))
		if t.To != nil {
			end, class, title = *t.To, "series1", title+"; "+t.Status+": "+t.Resolved
		}
		c.Rows = append(c.Rows, chartRow{Label: t.ID + " " + t.Tension, Numbers: []string{t.Status}, Marks: []mark{
			along.span(float64(t.From)+.2, float64(end)+.8, class, title),
		}})
	}
	c.Rows, c.More = cut(c.Rows, mostShown)
	return c
}

// Curves draws the scores and the velocity of the rounds.
func (v *dialoguePage) Curves() []curves {
	var labels []string
	var all [5]series
	for i, name := range []string{"score", "sum so far", "velocity", "open tensions", "new perspectives"} {
		all[i].Name = name
	}
	for _, r := range v.Score.Rounds {
		labels = append(labels, fmt.Sprint(r.Round))
		values := []*int{&r.Score, &r.Cumulative, &r.Velocity, &r.Open, &r.New}
		for i, value := range values {
			if i < 2 && !r.Judged() || len(r.Given) == 0 {
				value = nil
			}
			all[i].Values = append(all[i].Values, value)
		}
	}
	drawings := []curves{drawn("Scores by round", labels, all[:2]...), drawn("Velocity by round", labels, all[2:]...)}
	return slices.DeleteFunc(drawings, curves.isEmpty)
}

// address returns that of a page with one value in its query.
func address(path, key, value string) string {
	return path + "?" + url.Values{key: {value}}.Encode()
}

package web

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A searchPage is what was asked, and what was found.
type searchPage struct {
	Query   string
	Command []string // that finds the same
	Fields  []field
	Found   struct {
		Total      int
		TotalAll   int `json:"total_all"`
		Unknown    []string
		Corrected  map[string]string
		DidYouMean string `json:"did_you_mean"`
		Refused    string
		Next, More int
		Hits       []hit
		Facets     map[string]facet
		Hidden     []struct {
			Condition string
			Total     int
		}
	}
	Previous *int        // offset of the page before
	Chosen   string      // the name of the hit whose record stands beside the hits
	Record   *recordPage // that record
	Refused  string      // why it is not there
}

// A hit is a record that was found.
type hit struct {
	Name, Ref, Tree, Kind, Path, Title, Section, Snippet string
	Lines                                                []int
	Marks                                                [][2]int
	Tokens                                               int
	Agent, Status                                        string
	Time                                                 time.Time
	Written                                              *time.Time
	Like                                                 []string
	By                                                   string `json:"superseded_by"`
}

type facet struct {
	Values []facetValue
	More   int
}

// A facetValue is a value that hits have.
type facetValue struct {
	Value string
	Count int
}

// A field is a condition with the values that it may have.
type field struct {
	Name, Chosen string
	Values       []facetValue
	More         int
}

// searchFields are the conditions of a search, as flags.
func searchFields() []string {
	return []string{"kind", "agent", "tag", "tree", "session", "task", "run", "conversation", "status", "since", "until"}
}

// shownHits is how many hits a page has.
const shownHits = 20

func loadSearch(ctx context.Context, s *Site, r *http.Request) (any, error) {
	v := &searchPage{Query: r.FormValue("q")}
	conditions := []string{"search"}
	for _, name := range searchFields() {
		if chosen := r.FormValue(name); chosen != "" {
			conditions = append(conditions, "--"+name+"="+flagValue(name, chosen))
		}
	}
	conditions = append(conditions, fmt.Sprint("--limit=", shownHits))
	if offset, _ := strconv.Atoi(r.FormValue("offset")); offset > 0 { // 0 if it is none
		conditions = append(conditions, fmt.Sprint("--offset=", offset))
		v.Previous = new(max(offset-shownHits, 0))
	}
	asked := append(slices.Clip(conditions), "--facets=kind,agent,tag,tree,session,time", "--no-git", "--")
	err := s.Ask(ctx, &v.Found, append(asked, v.Query)...)
	if letters := strings.TrimRight(v.Query, `*"'/)`); err == nil && v.Found.Total == 0 && letters != "" && letters == strings.TrimSpace(v.Query) {
		v.Query += "*" // the last word is half typed
		err = s.Ask(ctx, &v.Found, append(asked, v.Query)...)
	}
	if err != nil {
		return nil, err
	}
	if v.Command = slices.Concat(s.Flags, conditions); v.Query != "" {
		v.Command = append(v.Command, "--", v.Query)
	}
	for _, name := range searchFields() {
		facet := v.Found.Facets[name]
		v.Fields = append(v.Fields, field{name, r.FormValue(name), facet.Values, facet.More})
	}
	if v.Chosen = r.FormValue("name"); v.Chosen == "" && len(v.Found.Hits) > 0 {
		v.Chosen = v.Found.Hits[0].Name
	}
	if v.Chosen == "" {
		return v, nil
	}
	if v.Record, err = s.record(ctx, v.Chosen, r); err != nil {
		v.Refused = err.Error() // the hits are there all the same
		return v, nil
	}
	for _, h := range v.Found.Hits {
		if h.Name == v.Chosen && r.FormValue("lines") == "" && len(h.Lines) == 2 {
			v.Record.Passage = passage{h.Lines[0], h.Lines[1], h.words()}
		}
	}
	return v, nil
}

func (v *searchPage) title() string { return cmp.Or(v.Query, "Search") }

// words returns the words of a snippet that were found, a line each.
func (h *hit) words() (words string) {
	for _, part := range marked(h.Snippet, h.Marks) {
		if part.Marked {
			words += part.Text + "\n"
		}
	}
	return words
}

// leading is how many values of conditions stand above the hits.
const leading = 6

// A suggestion is a value of a condition that narrows a search.
type suggestion struct {
	Name string
	facetValue
}

// Leading returns the values that cut the hits nearest to the middle, the best first. Those of a single hit are left to the list of all.
func (v *searchPage) Leading() (best []suggestion) {
	cuts := func(s suggestion) int { return min(s.Count, v.Found.Total-s.Count) }
	for _, f := range v.Fields {
		for _, value := range f.Values {
			if s := (suggestion{f.Name, value}); f.Chosen == "" && value.Count > 1 && cuts(s) > 0 {
				best = append(best, s)
			}
		}
	}
	slices.SortStableFunc(best, func(a, b suggestion) int { return cuts(b) - cuts(a) })
	return best[:min(len(best), leading)]
}

// flagValue returns a text as a flag reads it that would take it apart at its commas.
func flagValue(name, text string) string {
	if name == "since" || name == "until" || !strings.ContainsAny(text, ",\"\r\n") {
		return text
	}
	return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
}

// A bar is a column of the picture of times: a day, a month or a year.
type bar struct {
	Label, Since, Until string
	Count               int
	X, Y, Height        int // in units of the picture, where a bar has 10, and the highest 40
}

// Times returns the bars of the times of all hits, the first first, one also where there is none.
func (v *searchPage) Times() (bars []bar) {
	counts, most, values := map[string]int{}, 1, v.Found.Facets["time"].Values
	for _, value := range values {
		counts[value.Value], most = value.Count, max(most, value.Count)
	}
	if len(values) == 0 {
		return nil
	}
	last := values[0].Value
	form := time.DateOnly[:min(len(last), len(time.DateOnly))]
	step := [3]int{}
	step[strings.Count(form, "-")] = 1
	at, err := time.Parse(form, values[len(values)-1].Value)
	for ; err == nil && at.Format(form) <= last; at = at.AddDate(step[0], step[1], step[2]) {
		label := at.Format(form)
		height := (40*counts[label] + most - 1) / most
		next := at.AddDate(step[0], step[1], step[2]).Format(time.RFC3339)
		bars = append(bars, bar{label, at.Format(time.RFC3339), next, counts[label], 10 * len(bars), 40 - height, height})
	}
	return bars
}

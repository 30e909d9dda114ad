package web

import (
	"context"
	"net/http"
	"strconv"
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
	}
	Record *recordPage // beside the hits
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
func searchFields() []string { return []string{"kind", "agent", "tag", "tree", "session"} }

func loadSearch(ctx context.Context, s *Site, r *http.Request) (any, error) {
	v := &searchPage{Query: r.FormValue("q")}
	v.Command = []string{"search"}
	for _, field := range append(searchFields(), "since", "until") {
		if value := r.FormValue(field); value != "" {
			v.Command = append(v.Command, "--"+field+"="+value)
		}
	}
	offset, _ := strconv.Atoi(r.FormValue("offset")) // 0 if it is none
	v.Command = append(v.Command, "--limit=20", "--offset="+strconv.Itoa(max(offset, 0)))
	asked := append([]string{}, v.Command...)
	if err := s.Ask(ctx, &v.Found, append(asked, "--facets=kind,agent,tag,tree,session", "--no-git", "--", v.Query)...); err != nil {
		return nil, err
	}
	if v.Query != "" {
		v.Command = append(v.Command, "--", v.Query)
	}
	for _, name := range searchFields() {
		facet := v.Found.Facets[name]
		v.Fields = append(v.Fields, field{name, r.FormValue(name), facet.Values, facet.More})
	}
	if name := r.FormValue("name"); name != "" {
		var err error
		if v.Record, err = s.record(ctx, name, r); err != nil {
			return nil, err
		}
	}
	return v, nil
}

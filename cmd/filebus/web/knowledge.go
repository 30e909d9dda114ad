package web

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
)

// A knowledgePage is entries of knowledge as a table; their picture is fetched by script.
type knowledgePage struct {
	graph
	Total, Drawn int
	Rows         []*node // of the table
	Next         int     // where the table goes on; 0: it does not
	Fields       []field
	Command      []string // that says the same
	TooMany      error    // to be read without a choice
	Map          struct {
		Components []struct{ Component, Location, Task, Notes string }
		More       int
	}
}

// A graph is what the command of that name says, with a place for each node.
type graph struct {
	Nodes    []*node   `json:"nodes"`
	Edges    []edge    `json:"edges"`
	Clusters []cluster `json:"clusters"`
}

// A node is an entry.
type node struct {
	ID           string   `json:"id"`
	Name         string   `json:"name"`
	Type         string   `json:"type"`
	Summary      string   `json:"summary"`
	Confidence   string   `json:"confidence,omitempty"`
	Source       string   `json:"source,omitempty"`
	Tags         []string `json:"tags,omitempty"`
	SupersededBy string   `json:"superseded_by,omitempty"`
	X            float64  `json:"x"`
	Y            float64  `json:"y"`
	Links        []edge   `json:"-"`  // that the entry states
	In           int      `json:"in"` // the cluster
}

// An edge says how one entry is connected with another.
type edge struct {
	From string   `json:"from"`
	To   string   `json:"to"`
	Type string   `json:"type"`
	Ends [2]*node `json:"-"`
}

// The bounds of the page.
const (
	maxNodes  = "--limit=20000" // of more than these something must be chosen
	maxDrawn  = 5_000
	maxWhole  = 500 // entries that are drawn without a choice
	tableRows = 100
	maxChips  = 30
)

// knowledge asks for the entries that a request wants, and connects them.
func (s *Site) knowledge(ctx context.Context, r *http.Request) (g graph, command []string, err error) {
	command = []string{"knowledge", "graph"}
	for _, name := range []string{"tag", "type"} {
		if value := r.FormValue(name); value != "" {
			command = append(command, "--"+name+"="+value)
		}
	}
	command = append(command, maxNodes)
	err = s.Ask(ctx, &g, command...)
	byID, shared := map[string]*node{}, []string{"tags", "task", "files"} // other edges are stated by entries
	for _, n := range g.Nodes {
		byID[n.ID] = n
	}
	for i := range g.Edges {
		e := &g.Edges[i]
		if e.Ends = [2]*node{byID[e.From], byID[e.To]}; !slices.Contains(shared, e.Type) {
			e.Ends[0].Links = append(e.Ends[0].Links, *e)
		}
	}
	return g, command, err
}

func loadKnowledge(ctx context.Context, s *Site, r *http.Request) (any, error) {
	v := &knowledgePage{}
	if v.graph, v.Command, v.TooMany = s.knowledge(ctx, r); v.TooMany != nil {
		var known struct{ Tags []struct{ Tag string } }
		if err := s.Ask(ctx, &known, "knowledge", "tags"); err != nil || len(known.Tags) == 0 {
			return nil, v.TooMany
		}
		for _, t := range known.Tags {
			v.Nodes = append(v.Nodes, &node{Tags: []string{t.Tag}})
		}
	}
	types := func(n *node) []string { return []string{n.Type} }
	v.Fields = []field{v.chips(r, "type", types), v.chips(r, "tag", func(n *node) []string { return n.Tags })}
	if v.TooMany != nil {
		return v, nil
	}
	if v.Total = len(v.Nodes); v.Total <= maxWhole || r.FormValue("tag") != "" {
		v.Drawn = min(v.Total, maxDrawn)
	}
	offset, _ := strconv.Atoi(r.FormValue("offset")) // 0 if it is none
	offset = min(max(offset, 0), v.Total)
	if v.Rows, v.Next = cut(v.Nodes[offset:], tableRows); v.Next > 0 {
		v.Next = offset + tableRows
	}
	return v, s.Ask(ctx, &v.Map, "component", "show")
}

// chips returns the values of a condition, the most frequent first.
func (g *graph) chips(r *http.Request, name string, of func(*node) []string) field {
	f, counts := field{Name: name, Chosen: r.FormValue(name)}, map[string]int{}
	for _, n := range g.Nodes {
		for _, value := range of(n) {
			counts[value]++
		}
	}
	delete(counts, "")
	f.Values, f.More = cut(counted(counts), maxChips)
	return f
}

// serveGraph answers with the graph as JSON, for the script that draws it: of very many nodes the first.
func (s *Site) serveGraph(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), longest)
	defer cancel()
	g, _, err := s.knowledge(ctx, r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	drawn := map[*node]bool{}
	g.Nodes = g.Nodes[:min(len(g.Nodes), maxDrawn)]
	for _, n := range g.Nodes {
		n.Summary, drawn[n] = visible(n.Summary), true
	}
	g.Edges = slices.DeleteFunc(g.Edges, func(e edge) bool { return !drawn[e.Ends[0]] || !drawn[e.Ends[1]] })
	g.arrange()
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	_ = json.NewEncoder(w).Encode(g) // the browser may be gone
}

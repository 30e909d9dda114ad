package query

import (
	"cmp"
	"context"
	"slices"

	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// A Related is an entry that edges lead to from another.
type Related struct {
	Knowledge
	Depth int         // how many edges away
	Via   record.Name // the entry one edge nearer that they come from
	Edges []Edge      // the strongest first
}

// NoKnowledge is the error of a name that no entry of knowledge has.
func NoKnowledge(name record.Name) error {
	return record.NotFound.Errorf("there is no entry of knowledge %s", name).Because(ErrNoKnowledge)
}

// Related walks breadth-first over all edges, in both directions, from the entry
// with a name, up to depth edges away from it, 0: 1, and to a limit of entries, 0: 10. The nearer entries come first, of one distance those that are not
// superseded, then those with the stronger edges, then by name. More says that
// there are others.
func (g *graph) Related(ctx context.Context, name record.Name, depth, limit int) (found []Related, more int, err error) {
	start, known := g.numbers[name]
	if !known {
		return nil, 0, NoKnowledge(name)
	}
	limit = cmp.Or(limit, DefaultLimit)
	all := g.around(start, depth, len(g.nodes))
	if more = len(all) - limit; more > 0 {
		all = all[:limit]
	}
	found, err = g.describeSteps(ctx, all)
	return found, max(more, 0), err
}

// around walks from a node up to depth edges away, 0: 1, in the order of Related. It ends
// early behind the level in which it comes to more than so many nodes.
func (g *graph) around(start, depth, most int) (all []step) {
	seen, front := map[int]bool{start: true}, []step{{node: start}}
	for away := 0; away < max(depth, 1) && len(front) > 0 && len(all) <= most; away++ {
		front = g.next(front, seen)
		all = append(all, front...)
	}
	return all
}

// A step is a node that a walk has come to.
type step struct {
	node, from, depth int
	edges             []Edge
	strength          float64
}

// steps returns the ways from a node to its neighbours over edges that are wanted.
func (g *graph) steps(from step, isWanted func(Edge) bool) (all []step) {
	for to, edges := range g.neighbours(from.node) {
		s := step{node: to, from: from.node, depth: from.depth + 1}
		for _, e := range edges {
			if isWanted(e) {
				s.edges, s.strength = append(s.edges, e), s.strength+e.Strength
			}
		}
		if len(s.edges) > 0 {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, g.compareSteps)
	return all
}

// next returns the nodes one edge further that were not seen.
func (g *graph) next(front []step, seen map[int]bool) (steps []step) {
	var all []step
	for _, s := range front {
		all = append(all, g.steps(s, func(Edge) bool { return true })...)
	}
	slices.SortStableFunc(all, g.compareSteps)
	for _, s := range all {
		if !seen[s.node] {
			seen[s.node] = true
			steps = append(steps, s)
		}
	}
	return steps
}

func (g *graph) compareSteps(a, b step) int {
	return cmp.Or(
		compareBool(g.nodes[a.node].stand.IsOld(), g.nodes[b.node].stand.IsOld()), cmp.Compare(b.strength, a.strength),
		record.Name.Compare(g.name(a.node), g.name(b.node)), record.Name.Compare(g.name(a.from), g.name(b.from)),
	)
}

func (g *graph) describeSteps(ctx context.Context, steps []step) ([]Related, error) {
	entries, err := g.describe(ctx, markdown.Each(steps, func(s step) int { return s.node }))
	if err != nil {
		return nil, err
	}
	var found []Related
	for i, s := range steps {
		slices.SortFunc(s.edges, func(a, b Edge) int {
			return cmp.Or(cmp.Compare(b.Strength, a.Strength), compareEdges(a, b))
		})
		found = append(found, Related{entries[i], s.depth, g.name(s.from), s.edges})
	}
	return found, nil
}

// describe reads what lists show of nodes.
func (g *graph) describe(ctx context.Context, nodes []int) ([]Knowledge, error) {
	var entries []Knowledge
	err := EachOf(ctx, g.reader, nodes, func(tx *store.Tx, node int) error {
		n := g.nodes[node]
		entry, _ := (&KnowledgeRequest{}).match(Summarize(tx, n.version))
		entry.Stand = n.stand
		entries = append(entries, entry)
		return nil
	})
	return entries, err
}

// A PartRequest picks a part of a graph. Fields that are set must all match.
type PartRequest struct {
	record.Filter
	Types []string    // any of them
	From  record.Name // only what is Depth edges away from this entry, and itself
	Depth int         // 0: 1
	Limit int         // of nodes; 0: none
	// Stated leaves out the edges that no entry states.
	Stated bool
}

// A Part is some entries of a graph, by name, with the edges between them.
type Part struct {
	Nodes []Knowledge
	Edges []Edge
}

func tooMany(nodes, limit int) error {
	err := record.Usage.Errorf("the graph has %d entries, more than the limit of %d", nodes, limit)
	return err.Because(ErrTooMany).With(nodes)
}

// Part returns a part of the graph. Of the edges that no entry states each node
// has its three strongest, so that a picture can be read. It returns a
// ErrTooMany if there are more nodes than allowed.
func (g *graph) Part(ctx context.Context, request PartRequest) (Part, error) {
	nodes, err := g.within(request)
	if err != nil {
		return Part{}, err
	}
	request.Tags = record.NormalizeTags(request.Tags)
	nodes = slices.DeleteFunc(nodes, func(n int) bool { return !request.Accepts(g.nodes[n].version.Record) })
	if len(request.Types) == 0 && request.Limit > 0 && len(nodes) > request.Limit {
		return Part{}, tooMany(len(nodes), request.Limit)
	}
	slices.SortFunc(nodes, func(a, b int) int { return record.Name.Compare(g.name(a), g.name(b)) })
	entries, err := g.describe(ctx, nodes)
	if err != nil {
		return Part{}, err
	}
	in := map[int]bool{}
	part := Part{}
	for i, entry := range entries {
		if len(request.Types) == 0 || slices.Contains(request.Types, entry.Type) {
			part.Nodes = append(part.Nodes, entry)
			in[nodes[i]] = true
		}
	}
	if request.Limit > 0 && len(part.Nodes) > request.Limit {
		return Part{}, tooMany(len(part.Nodes), request.Limit)
	}
	part.Edges = g.edgesIn(in, request.Stated)
	return part, nil
}

// within returns the nodes around the one that a request begins at, or all.
func (g *graph) within(request PartRequest) ([]int, error) {
	if request.From.IsZero() {
		all := make([]int, len(g.nodes))
		for i := range all {
			all[i] = i
		}
		return all, nil
	}
	start, known := g.numbers[request.From]
	if !known {
		return nil, NoKnowledge(request.From)
	}
	nodes := []int{start}
	for _, s := range g.around(start, request.Depth, maxWithin-1) {
		nodes = append(nodes, s.node)
	}
	if len(nodes) > maxWithin {
		return nil, tooMany(len(nodes), cmp.Or(request.Limit, maxWithin))
	}
	return nodes, nil
}

// maxWithin bounds how many nodes are walked through around one.
const maxWithin = 5000

// edgesIn returns the edges between some nodes, in a fixed order.
func (g *graph) edgesIn(in map[int]bool, statedOnly bool) []Edge {
	var edges []Edge
	paired := map[[2]int]bool{}
	for n := range in {
		for _, l := range g.nodes[n].links {
			if in[l.to] && !l.back {
				edges = append(edges, g.stated(n, l))
			}
		}
		if !statedOnly {
			edges = append(edges, g.strongest(n, in, paired)...)
		}
	}
	for i := range edges {
		if !edges[i].IsStated() && record.Name.Compare(edges[i].To, edges[i].From) < 0 {
			edges[i].From, edges[i].To = edges[i].To, edges[i].From
		}
	}
	slices.SortFunc(edges, compareEdges)
	return edges
}

// strongest returns the edges that no entry states from a node to the neighbours
// that share most with it. Pairs that have theirs already are left out.
func (g *graph) strongest(n int, in map[int]bool, paired map[[2]int]bool) []Edge {
	near := g.steps(step{node: n}, func(e Edge) bool { return !e.IsStated() })
	near = slices.DeleteFunc(near, func(s step) bool { return !in[s.node] })
	var edges []Edge
	const sharedEdges = 3 // how many neighbours each node has in a part that no link leads to
	for _, s := range near[:min(sharedEdges, len(near))] {
		pair := [2]int{min(n, s.node), max(n, s.node)}
		if !paired[pair] {
			paired[pair] = true
			edges = append(edges, s.edges...)
		}
	}
	return edges
}

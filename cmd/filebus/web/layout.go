package web

import (
	"cmp"
	"math"
	"slices"
)

// A cluster is the nodes that share a tag; that without a tag has all others.
type cluster struct {
	Tag   string  `json:"tag"`
	Count int     `json:"count"`
	X     float64 `json:"x"`
	Y     float64 `json:"y"`
	R     float64 `json:"r"`
	nodes []*node
}

const (
	apart       = 20.0 // of two nodes, in units of the picture
	maxClusters = 100  // beside that of the others
	settling    = 20   // rounds of moving nodes
)

// arrange gives each node its place: in its cluster, near what it is connected with. The same
// graph gets the same places, in a time that grows with the number of its nodes and edges: some 100 ms for 5,000.
func (g *graph) arrange() {
	g.group()
	for i := range g.Clusters {
		c := &g.Clusters[i]
		c.place(g.Clusters[:i])
		for k, n := range c.nodes { // as the seeds of a sunflower: evenly, in any number
			n.X, n.Y = polar(0.6*apart*math.Sqrt(float64(k)+0.5), float64(k)*2.39996, c.X, c.Y)
			n.In = i
		}
	}
	for range settling {
		for _, e := range g.Edges { // the ends pull each other, within their cluster
			if a, b := e.Ends[0], e.Ends[1]; a.In == b.In {
				dx, dy := (b.X-a.X)/25, (b.Y-a.Y)/25
				a.X, a.Y, b.X, b.Y = a.X+dx, a.Y+dy, b.X-dx, b.Y-dy
			}
		}
		g.spread()
	}
	for i := range g.Clusters {
		g.Clusters[i].measure()
	}
}

func polar(r, angle, x, y float64) (float64, float64) {
	return x + r*math.Cos(angle), y + r*math.Sin(angle)
}

// group puts each node into the cluster of that tag of it which most others have. What more than half
// of them have tells nothing apart.
func (g *graph) group() {
	counts, members := map[string]int{}, map[string][]*node{}
	for _, n := range g.Nodes {
		for _, tag := range n.Tags {
			counts[tag]++
		}
	}
	for _, n := range g.Nodes {
		best := ""
		for _, tag := range n.Tags {
			if counts[tag] <= max(len(g.Nodes)/2, 2) && cmp.Or(counts[best]-counts[tag], cmp.Compare(tag, best)) < 0 {
				best = tag
			}
		}
		members[best] = append(members[best], n)
	}
	var all []cluster
	for tag, nodes := range members {
		all = append(all, cluster{Tag: tag, nodes: nodes})
	}
	slices.SortFunc(all, func(a, b cluster) int {
		return cmp.Or(len(b.nodes)-len(a.nodes), cmp.Compare(a.Tag, b.Tag))
	})
	others := cluster{}
	for _, c := range all {
		if c.Tag == "" || len(c.nodes) == 1 || len(g.Clusters) == maxClusters {
			others.nodes = append(others.nodes, c.nodes...)
		} else {
			g.Clusters = append(g.Clusters, c)
		}
	}
	if len(others.nodes) > 0 {
		g.Clusters = append(g.Clusters, others)
	}
}

// place finds the first place on a spiral that none of the clusters before it has.
func (c *cluster) place(before []cluster) {
	c.R = apart * (0.6*math.Sqrt(float64(len(c.nodes))) + 1)
	isTaken := func(o cluster) bool { return math.Hypot(o.X-c.X, o.Y-c.Y) < o.R+c.R }
	for angle := 0.0; slices.ContainsFunc(before, isTaken); angle += c.R / (6*angle + c.R) {
		c.X, c.Y = polar(6*angle, angle, 0, 0)
	}
}

// measure makes a cluster the circle around its nodes.
func (c *cluster) measure() {
	c.Count, c.X, c.Y, c.R = len(c.nodes), 0, 0, 0
	for _, n := range c.nodes {
		n.X, n.Y = math.Round(n.X), math.Round(n.Y)
		c.X, c.Y = c.X+n.X/float64(c.Count), c.Y+n.Y/float64(c.Count)
	}
	for _, n := range c.nodes {
		c.R = max(c.R, math.Hypot(n.X-c.X, n.Y-c.Y)+apart)
	}
}

// spread moves nodes apart that are too near. Only those of neighbouring squares are compared, and of
// each square a few, so that a heap of nodes costs no more than others.
func (g *graph) spread() {
	const most = 6
	squares := map[[2]int][]*node{}
	for i, n := range g.Nodes {
		x, y := int(math.Floor(n.X/apart)), int(math.Floor(n.Y/apart))
		for k := range 9 {
			for _, o := range squares[[2]int{x + k%3 - 1, y + k/3 - 1}] {
				n.leave(o, float64(i))
			}
		}
		if at := [2]int{x, y}; len(squares[at]) < most {
			squares[at] = append(squares[at], n)
		}
	}
}

// leave moves two nodes half of what they lack; two at one place in a direction of their own.
func (n *node) leave(o *node, direction float64) {
	dx, dy := n.X-o.X, n.Y-o.Y
	d := dx*dx + dy*dy
	switch {
	case d >= apart*apart:
		return
	case d < 0.01:
		dx, dy = polar(1, direction, 0, 0)
		d = 1
	}
	d = math.Sqrt(d)
	by := (apart - d) / 4 / d
	n.X, n.Y, o.X, o.Y = n.X+dx*by, n.Y+dy*by, o.X-dx*by, o.Y-dy*by
}

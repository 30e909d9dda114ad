package web

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// knowledgeGraph is n nodes, of which every one has some of the tags and an edge to an earlier one.
func knowledgeGraph(n int, tags func(i int) []string) *graph {
	g := &graph{}
	for i := range n {
		g.Nodes = append(g.Nodes, &node{ID: fmt.Sprint("é", i), Tags: tags(i)})
		for _, to := range []int{i / 2, i / 3, i - 1} {
			g.Edges = append(g.Edges, edge{Type: "tags", Ends: [2]*node{g.Nodes[i], g.Nodes[max(to, 0)]}})
		}
	}
	return g
}

func TestArrange(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		about    string
		n        int
		tags     func(i int) []string
		clusters int
	}{
		{"nothing", 0, nil, 0},
		{"one node", 1, func(int) []string { return []string{"a"} }, 1},
		{"two that share a tag", 2, func(int) []string { return []string{"a", "a"} }, 1},
		{"no tags", 1000, func(int) []string { return nil }, 1},
		{"one tag for all", 1000, func(int) []string { return []string{"all"} }, 1},
		{"a tag for each", 1000, func(i int) []string { return []string{fmt.Sprint(i)} }, 1},
		{"a tag for two", 1000, func(i int) []string { return []string{fmt.Sprint(i / 2)} }, maxClusters + 1},
		{"many tags", 5000, func(i int) []string { return []string{"all", fmt.Sprint(i % 7), fmt.Sprint(i % 300)} }, 7},
	} {
		t.Run(test.about, func(t *testing.T) {
			g, again := knowledgeGraph(test.n, test.tags), knowledgeGraph(test.n, test.tags)
			begun := time.Now()
			g.arrange()
			t.Logf("%v", time.Since(begun))
			again.arrange()
			if len(g.Clusters) != test.clusters {
				t.Errorf("%d clusters, want %d", len(g.Clusters), test.clusters)
			}
			counted := 0
			for _, c := range g.Clusters {
				counted += c.Count
			}
			if counted != test.n {
				t.Errorf("%d nodes are in clusters, want %d", counted, test.n)
			}
			for i, n := range g.Nodes {
				c := g.Clusters[n.In]
				if d := math.Hypot(n.X-c.X, n.Y-c.Y); !(d <= c.R) {
					t.Fatalf("node %d is at %v, %v, outside its cluster %+v", i, n.X, n.Y, c)
				}
				if n.X != again.Nodes[i].X || n.Y != again.Nodes[i].Y {
					t.Fatalf("node %d has another place the second time", i)
				}
			}
		})
	}
}

package query

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// The types of the edges that no entry states: what two entries share. Those of
// stated ones are the types of links, such as layout.LinkSupersedes.
const (
	edgeTags  = "tags"  // both have the tags
	edgeTask  = "task"  // both were learned in the task
	edgeFiles = "files" // the tasks that they were learned in changed the files
)

// An Edge connects two entries of knowledge.
type Edge struct {
	Type     string
	From, To record.Name
	Shared   []string // the tags, task or files, the rarest first
	Strength float64
}

// IsStated reports whether an entry states the edge as a link.
func (e Edge) IsStated() bool { return e.Type != edgeTags && e.Type != edgeTask && e.Type != edgeFiles }

// A graph is the knowledge of a store with what connects it, as it was when the
// graph was read. It is safe for use by several goroutines.
type graph struct {
	reader  *Reader
	nodes   []graphNode
	numbers map[record.Name]int
	tags    map[string][]int  // the nodes that have a tag
	tasks   map[treeKey][]int // that come from a task
	files   map[treeKey][]int // whose task has changed a file
	// Unread is the number of handoffs that were not looked at for the files that
	// they changed: the older ones, of very many.
	Unread int
}

// A treeKey is a task or a file of a tree.
type treeKey struct {
	tree record.Tree
	text string
}

// A graphNode is an entry with its stated edges, and the files that its task has
// changed.
type graphNode struct {
	version store.Version
	links   []graphLink
	files   []string
	stand   Stand
}

// A graphLink is a stated edge as one of its ends sees it.
type graphLink struct {
	to   int
	kind string
	back bool // the other end states it
}

// Graph reads the knowledge of some trees; without trees, of all.
func (r *Reader) Graph(ctx context.Context, trees ...record.Tree) (*graph, error) {
	g := &graph{
		reader: r, numbers: map[record.Name]int{},
		tags: map[string][]int{}, tasks: map[treeKey][]int{}, files: map[treeKey][]int{},
	}
	versions, err := r.knowledgeVersions(ctx)
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		if len(trees) > 0 && !slices.Contains(trees, v.Record.Name.Tree) {
			continue
		}
		n := len(g.nodes)
		g.nodes = append(g.nodes, graphNode{version: v})
		g.numbers[v.Record.Name] = n
		for _, tag := range v.Record.Tags {
			g.tags[tag] = append(g.tags[tag], n)
		}
		if task := v.Record.Task; task != "" {
			key := treeKey{v.Record.Name.Tree, layout.TaskKey(task)}
			g.tasks[key] = append(g.tasks[key], n)
		}
	}
	if err := g.connect(ctx); err != nil {
		return nil, err
	}
	return g, g.readFiles(ctx)
}

// knowledgeVersions returns the current entries, newest first. They are read in
// two halves at once: decoding is most of the work.
func (r *Reader) knowledgeVersions(ctx context.Context) ([]store.Version, error) {
	all, err := r.places(ctx, store.FieldKind, string(record.KindKnowledge))
	if err != nil {
		return nil, err
	}
	half := len(all) / 2
	parts := [2][]store.Place{all[:half], all[half:]}
	var found [2][]store.Version
	err = parallel(len(parts), func(i int) (err error) {
		found[i], err = r.versions(ctx, parts[i])
		return err
	})
	return slices.Concat(found[:]...), err
}

// connect adds the stated edges to both of their ends, and finds out what is
// superseded. Targets that no entry has are left out.
func (g *graph) connect(ctx context.Context) error {
	for from := range g.nodes {
		for _, l := range g.nodes[from].version.Record.Links {
			name, err := record.ParseName(l.Target)
			to, found := g.numbers[name]
			if err != nil || !found || to == from {
				continue
			}
			if l.Type == layout.LinkSupersededBy {
				g.link(to, from, layout.LinkSupersedes)
			} else {
				g.link(from, to, l.Type)
			}
		}
	}
	stands, err := g.reader.Standings(ctx)
	for i := range g.nodes {
		g.nodes[i].stand = stands.Of(g.name(i))
	}
	return err
}

func (g *graph) link(from, to int, kind string) {
	out := graphLink{to, kind, false}
	if slices.Contains(g.nodes[from].links, out) {
		return // both ends state it
	}
	g.nodes[from].links = append(g.nodes[from].links, out)
	g.nodes[to].links = append(g.nodes[to].links, graphLink{from, kind, true})
}

// compareEdges orders edges by type, then by their ends.
func compareEdges(a, b Edge) int {
	return cmp.Or(strings.Compare(a.Type, b.Type), record.Name.Compare(a.From, b.From), record.Name.Compare(a.To, b.To))
}

// rarity is what it says of two entries that they share something which n have.
func rarity(n int) float64 { return 1 / (1 + math.Log2(float64(max(n, 2)))) }

func (g *graph) stated(from int, l graphLink) Edge {
	e := Edge{Type: l.kind, From: g.name(from), To: g.name(l.to), Strength: statedStrength}
	if l.back {
		e.From, e.To = e.To, e.From
	}
	if l.kind == layout.LinkRelatesTo {
		e.Strength = relatedStrength
	}
	return e
}

func (g *graph) name(i int) record.Name { return g.nodes[i].version.Record.Name }

// neighbours returns the edges of a node, by the node at their other end.
func (g *graph) neighbours(i int) map[int][]Edge {
	near := map[int][]Edge{}
	for _, l := range g.nodes[i].links {
		near[l.to] = append(near[l.to], g.stated(i, l))
	}
	r := g.nodes[i].version.Record
	if task := g.tasks[treeKey{r.Name.Tree, layout.TaskKey(r.Task)}]; r.Task != "" && len(task) <= maxSharing {
		for _, to := range task {
			g.share(near, i, to, edgeTask, r.Task, taskStrength)
		}
	}
	for _, tag := range g.rarestFirst(r.Tags, func(tag string) int { return len(g.tags[tag]) }) {
		for _, to := range g.tags[tag] {
			g.share(near, i, to, edgeTags, tag, rarity(len(g.tags[tag])))
		}
	}
	have := func(file string) []int { return g.files[treeKey{r.Name.Tree, file}] }
	for _, file := range g.rarestFirst(g.nodes[i].files, func(file string) int { return len(have(file)) }) {
		for _, to := range have(file) {
			if layout.TaskKey(g.nodes[to].version.Record.Task) == layout.TaskKey(r.Task) {
				continue // it is the same handoff
			}
			g.share(near, i, to, edgeFiles, file, rarity(len(have(file))))
		}
	}
	return near
}

// rarestFirst returns those of some things that lead somewhere, the rarest first.
func (g *graph) rarestFirst(things []string, count func(string) int) []string {
	var rare []string
	for _, thing := range things {
		if n := count(thing); n > 1 && n <= maxSharing {
			rare = append(rare, thing)
		}
	}
	slices.SortStableFunc(rare, func(a, b string) int { return cmp.Or(count(a)-count(b), strings.Compare(a, b)) })
	return rare
}

// share adds a thing that two nodes share to the edge between them.
func (g *graph) share(near map[int][]Edge, from, to int, kind, thing string, strength float64) {
	if from == to {
		return
	}
	edges := near[to]
	at := slices.IndexFunc(edges, func(e Edge) bool { return e.Type == kind })
	if at < 0 {
		at = len(edges)
		edges = append(edges, Edge{Type: kind, From: g.name(from), To: g.name(to)})
		near[to] = edges
	}
	edges[at].Shared = append(edges[at].Shared, thing)
	edges[at].Strength += strength
}

// maxHandoffs is how many handoffs are looked at for the files that they changed,
// the newest ones: a hundred take some 10 ms.
const maxHandoffs = 500

// readFiles finds the files that the tasks of the entries have changed, in the
// handoffs of these tasks.
func (g *graph) readFiles(ctx context.Context) error {
	var texts []store.Content
	var keys []treeKey
	all, err := g.reader.places(ctx, store.FieldKind, string(record.KindHandoff))
	if err != nil || len(g.tasks) == 0 {
		return err
	}
	err = g.reader.eachVersion(ctx, all, func(tx *store.Tx, v store.Version) bool {
		key := treeKey{v.Record.Name.Tree, layout.TaskKey(v.Record.Task)}
		if v.Record.Task == "" || g.tasks[key] == nil || strings.HasSuffix(v.Record.Path, ".json") {
			return false
		}
		if len(texts) == maxHandoffs {
			g.Unread++
			return false
		}
		if content, err := contentOf(tx, v); err == nil {
			texts, keys = append(texts, content), append(keys, key)
		}
		return false
	})
	if err != nil {
		return err
	}
	found := make([][]string, len(texts))
	err = parallel(len(texts), func(i int) error {
		found[i] = changedFiles(texts[i])
		return nil
	})
	for i, key := range keys {
		for _, n := range g.tasks[key] {
			g.addFiles(n, found[i])
		}
	}
	return err
}

func (g *graph) addFiles(n int, files []string) {
	for _, file := range files {
		if slices.Contains(g.nodes[n].files, file) {
			continue // another handoff of the task has it
		}
		g.nodes[n].files = append(g.nodes[n].files, file)
		key := treeKey{g.name(n).Tree, file}
		g.files[key] = append(g.files[key], n)
	}
}

// changedFiles returns the files that a journal's handoff names. A damaged one
// names none: verify reports it.
func changedFiles(journal store.Content) []string {
	text, damaged, err := headOf(journal, "")
	start, end, found := layout.HandoffSection(text)
	if damaged || err != nil || !found {
		return nil
	}
	handoff, _ := layout.ParseHandoff(text[start:end])
	var files []string
	for _, f := range handoff.Files {
		if f.Path != "" {
			files = append(files, f.Path)
		}
	}
	return files
}

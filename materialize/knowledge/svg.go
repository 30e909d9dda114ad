package knowledge

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"

	"gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/layout"
)

// The measures of a picture, in pixels.
const (
	boxWidth   = 190
	boxHeight  = 44
	edgeLength = 240 // between the middles of two boxes, about
	margin     = 40
	charWidth  = 6.2 // of the small letters, about
	rowWidth   = 1600
)

// A point is the middle of a box.
type point struct{ x, y float64 }

// writeSVG draws the graph. Each connected part is laid out by itself, as parts
// that nothing holds together would drive each other out of the picture; then they
// are put in rows, the largest first.
func (d drawing) writeSVG(w io.Writer) error {
	at := make([]point, len(d.nodes))
	width, height := d.place(at)
	var out strings.Builder
	fmt.Fprintf(&out, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="sans-serif">`+"\n", width, height, width, height)
	out.WriteString(`<defs><marker id="arrow" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" fill="#444"/></marker></defs>` + "\n")
	for _, e := range d.edges {
		writeEdge(&out, e, at[e.from], at[e.to])
	}
	for i, n := range d.nodes {
		writeBox(&out, n, at[i])
	}
	out.WriteString("</svg>\n")
	_, err := io.WriteString(w, out.String())
	return err
}

// writeEdge draws a line from the side of one box to that of another.
func writeEdge(out *strings.Builder, e drawnEdge, from, to point) {
	style := ` stroke="#444" marker-end="url(#arrow)"`
	if !e.stated {
		style = ` stroke="#aaa" stroke-dasharray="3 4"`
	}
	a, b := boxSide(from, to), boxSide(to, from)
	fmt.Fprintf(out, `<path d="M%.0f %.0fL%.0f %.0f"%s><title>%s</title></path>`+"\n",
		a.x, a.y, b.x, b.y, style, xmlText(e.From+" "+e.label()+" "+e.To))
	if e.stated {
		fmt.Fprintf(out, `<text x="%.0f" y="%.0f" font-size="9" text-anchor="middle" fill="#444">%s</text>`+"\n",
			(a.x+b.x)/2, (a.y+b.y)/2-3, xmlText(e.Type))
	}
}

// boxSide returns where the line from the middle of a box to another point leaves
// the box.
func boxSide(box, other point) point {
	dx, dy := other.x-box.x, other.y-box.y
	if dx == 0 && dy == 0 {
		return box
	}
	scale := math.Min(boxWidth/2/math.Max(math.Abs(dx), 1e-9), boxHeight/2/math.Max(math.Abs(dy), 1e-9))
	return point{box.x + dx*scale, box.y + dy*scale}
}

// writeBox draws a node: its id, and as much of its summary as a line holds.
func writeBox(out *strings.Builder, n drawnNode, at point) {
	style := ""
	if n.SupersededBy != "" {
		style = ` stroke-dasharray="4 3"`
	}
	id, text := clipLabel(n.ID, 8), clipLabel(n.Summary, charWidth)
	fmt.Fprintf(out, `<g><title>%s</title><rect x="%.0f" y="%.0f" width="%d" height="%d" rx="6" fill="%s" stroke="#666"%s/>`,
		xmlText(n.ID+": "+n.Summary), at.x-boxWidth/2, at.y-boxHeight/2, boxWidth, boxHeight, colour(n), style)
	fmt.Fprintf(out, `<text x="%.0f" y="%.0f" font-size="12" font-weight="bold" text-anchor="middle">%s</text>`, at.x, at.y-4, xmlText(id))
	fmt.Fprintf(out, `<text x="%.0f" y="%.0f" font-size="10" text-anchor="middle">%s</text></g>`+"\n", at.x, at.y+12, xmlText(text))
}

// clipLabel returns what of a text fits into a box.
func clipLabel(text string, charWidth float64) string {
	limit := int((boxWidth - 12) / charWidth)
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return firstWords(text, limit)
}

// xmlText escapes a text; what XML cannot hold is replaced.
func xmlText(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text)) // a Builder takes all
	return out.String()
}

// place finds a point for each node, and returns the size of the picture.
func (d drawing) place(at []point) (width, height float64) {
	near := d.neighbours()
	x, y, row := float64(margin), float64(margin), 0.0
	width = 2 * margin
	for _, part := range parts(near) {
		w, h := placePart(part, near, at)
		if x > margin && x+w > rowWidth {
			x, y, row = margin, y+row+margin, 0
		}
		for _, n := range part {
			at[n] = point{at[n].x + x, at[n].y + y}
		}
		x += w + margin
		row = math.Max(row, h)
		width = math.Max(width, x)
	}
	return math.Ceil(width), math.Ceil(y + row + margin)
}

// neighbours returns the nodes that edges lead to from each node, sorted.
func (d drawing) neighbours() [][]int {
	near := make([][]int, len(d.nodes))
	for _, e := range d.edges {
		if e.from != e.to {
			near[e.from] = append(near[e.from], e.to)
			near[e.to] = append(near[e.to], e.from)
		}
	}
	for i := range near {
		slices.Sort(near[i])
		near[i] = slices.Compact(near[i])
	}
	return near
}

// parts returns the connected parts of a graph, the largest first.
func parts(near [][]int) [][]int {
	var all [][]int
	seen := make([]bool, len(near))
	for first := range near {
		if seen[first] {
			continue
		}
		seen[first] = true
		part := []int{first}
		for i := 0; i < len(part); i++ {
			for _, n := range near[part[i]] {
				if !seen[n] {
					seen[n] = true
					part = append(part, n)
				}
			}
		}
		slices.Sort(part)
		all = append(all, part)
	}
	slices.SortStableFunc(all, func(a, b []int) int { return len(b) - len(a) })
	return all
}

// updates is how often the forces between the nodes are applied.
const updates = 150

// placePart lays out the nodes of one part by the springs of Eades, moves boxes
// apart that overlap, and returns the size of what it takes.
func placePart(part []int, near [][]int, at []point) (width, height float64) {
	if len(part) > 1 {
		spring(part, near, at)
		separate(part, at)
	}
	low, high := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, n := range part {
		low = point{math.Min(low.x, at[n].x), math.Min(low.y, at[n].y)}
		high = point{math.Max(high.x, at[n].x), math.Max(high.y, at[n].y)}
	}
	for _, n := range part {
		at[n] = point{math.Round(at[n].x - low.x + boxWidth/2), math.Round(at[n].y - low.y + boxHeight/2)}
	}
	return high.x - low.x + boxWidth, high.y - low.y + boxHeight
}

// spring lays out a connected part by the springs of Eades. The more edges a node
// has, the smaller the steps must be that it is moved by. A layout that flies apart
// all the same becomes a circle.
func spring(part []int, near [][]int, at []point) {
	most := 0
	for _, n := range part {
		most = max(most, len(near[n]))
	}
	rate := math.Min(0.05, 0.4/float64(most))
	springs := layout.EadesR2{Updates: updates, Repulsion: 1, Rate: rate, Theta: 0.1, Src: rand.NewPCG(1, 1)}
	o := layout.NewOptimizerR2(&network{part, near}, springs.Update)
	for o.Update() {
		continue
	}
	isSound := true
	for _, n := range part {
		c := o.Coord2(int64(n))
		at[n] = point{c.X * edgeLength, c.Y * edgeLength / 2}
		isSound = isSound && math.Abs(c.X)+math.Abs(c.Y) < float64(100+len(part)) // not so of NaN
	}
	for i, n := range part {
		if !isSound {
			angle := 2 * math.Pi * float64(i) / float64(len(part))
			radius := float64(len(part)) * boxWidth / math.Pi
			at[n] = point{radius * math.Cos(angle), radius * math.Sin(angle) / 2}
		}
	}
}

// pairs bounds how many pairs of boxes are compared: of thousands some may overlap.
const pairs = 30_000_000

// separate pushes boxes apart that overlap, a little more each time.
func separate(part []int, at []point) {
	const gapX, gapY = boxWidth + 20, boxHeight + 24
	for range max(1, min(60, pairs/(len(part)*len(part)))) {
		moved := false
		for i, a := range part {
			for _, b := range part[i+1:] {
				dx, dy := at[b].x-at[a].x, at[b].y-at[a].y
				overX, overY := gapX-math.Abs(dx), gapY-math.Abs(dy)
				if overX <= 0 || overY <= 0 {
					continue
				}
				moved = true
				if overX*gapY < overY*gapX {
					push := math.Copysign(overX/2+0.5, dx)
					at[a].x, at[b].x = at[a].x-push, at[b].x+push
				} else {
					push := math.Copysign(overY/2+0.5, dy)
					at[a].y, at[b].y = at[a].y-push, at[b].y+push
				}
			}
		}
		if !moved {
			return
		}
	}
}

// A network is a connected part as the layout sees it. Its nodes come in a fixed
// order, so that the same graph gets the same picture.
type network struct {
	part []int
	near [][]int
}

// A vertex is a node of a network.
type vertex int64

// ID returns the number of the node.
func (v vertex) ID() int64 { return int64(v) }

func (n *network) Node(id int64) graph.Node { return vertex(id) }

func (n *network) Nodes() graph.Nodes { return ordered(n.part) }

func (n *network) From(id int64) graph.Nodes { return ordered(n.near[id]) }

func (n *network) HasEdgeBetween(x, y int64) bool {
	_, found := slices.BinarySearch(n.near[x], int(y))
	return found
}

func (n *network) Edge(u, v int64) graph.Edge { return nil }

func ordered(numbers []int) graph.Nodes {
	nodes := make([]graph.Node, len(numbers))
	for i, n := range numbers {
		nodes[i] = vertex(n)
	}
	return iterator.NewOrderedNodes(nodes)
}

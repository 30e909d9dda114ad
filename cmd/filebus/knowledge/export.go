package knowledge

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// Formats returns the forms in which a graph is written for other programs, the default
// first: of Graphviz, a flowchart for Markdown, and JSON.
func Formats() []string { return []string{"dot", "mermaid", "json"} }

// WriteGraph writes a part of a graph. The same part gives the same bytes.
func WriteGraph(w io.Writer, part query.Part, format string) error {
	d := drawingOf(part)
	text := ""
	switch format {
	case "dot":
		text = d.dot()
	case "mermaid":
		text = d.mermaid()
	case "json":
		encoder := json.NewEncoder(w)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(d)
	default:
		return record.Usage.Errorf("format %q is not one of dot, mermaid, json", format)
	}
	_, err := io.WriteString(w, text)
	return err
}

// A drawing is what is written of a part of a graph, in the order in which it is
// written.
type drawing struct {
	Nodes []drawnNode `json:"nodes"`
	Edges []drawnEdge `json:"edges"`
}

type drawnNode struct {
	ID           string   `json:"id"` // tree:id in a captured tree
	Type         string   `json:"type,omitempty"`
	Summary      string   `json:"summary,omitempty"`
	Tags         []string `json:"tags,omitempty"`
	Confidence   string   `json:"confidence,omitempty"`
	Source       string   `json:"source,omitempty"`
	SupersededBy string   `json:"superseded_by,omitempty"`

	Name record.Name `json:"name"`
}

type drawnEdge struct {
	From     string   `json:"from"`
	To       string   `json:"to"`
	Type     string   `json:"type"`
	Shared   []string `json:"shared,omitempty"`
	from, to int      // places in nodes
	stated   bool
}

// maxLabel bounds the text of a node, in characters.
const maxLabel = 60

// drawingOf returns what to write of a part. No text in it has control characters.
func drawingOf(part query.Part) drawing {
	d := drawing{[]drawnNode{}, []drawnEdge{}}
	places := map[record.Name]int{}
	for i, k := range part.Nodes {
		r := k.Version.Record
		n := drawnNode{
			ID: shortName(r.Name), Type: markdown.OneLine(k.Type), Tags: r.Tags,
			Summary:    markdown.OneLine(cmp.Or(k.Description.Title, k.Description.Preview)),
			Confidence: markdown.OneLine(k.Confidence), Source: markdown.OneLine(r.Task), Name: r.Name,
		}
		if !k.By.IsZero() {
			n.SupersededBy = shortName(k.By)
		}
		places[r.Name] = i
		d.Nodes = append(d.Nodes, n)
	}
	for _, e := range part.Edges {
		from, isFrom := places[e.From]
		to, isTo := places[e.To]
		if isFrom && isTo {
			kind, shared := markdown.OneLine(e.Type), markdown.Each(e.Shared, markdown.OneLine)
			d.Edges = append(d.Edges, drawnEdge{d.Nodes[from].ID, d.Nodes[to].ID, kind, shared, from, to, e.IsStated()})
		}
	}
	return d
}

// shortName returns the id of an entry, behind its tree if it is captured.
func shortName(name record.Name) string {
	id := markdown.OneLine(name.ID)
	if name.Tree != "" {
		return markdown.OneLine(string(name.Tree)) + ":" + id
	}
	return id
}

// label returns what a node shows below its id.
func (n drawnNode) label() string { return markdown.FirstWords(n.Summary, maxLabel) }

// label returns what stands at an edge.
func (e drawnEdge) label() string {
	if e.stated {
		return e.Type
	}
	return markdown.FirstWords(e.Type+": "+strings.Join(e.Shared, ", "), maxLabel)
}

// dotQuote writes a string of DOT, in which a backslash begins an escape.
func dotQuote(lines ...string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(strings.Join(lines, "\n")) + `"`
}

func (d drawing) dot() string {
	var out strings.Builder
	out.WriteString("digraph knowledge {\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=10];\n  edge [fontname=\"sans-serif\", fontsize=8];\n")
	for _, n := range d.Nodes {
		style := ""
		if n.SupersededBy != "" {
			style = `, style="rounded,dashed"`
		}
		fmt.Fprintf(&out, "  %s [label=%s, fillcolor=%q%s];\n", dotQuote(n.ID), dotQuote(n.ID, n.label()), colour(n),
			style)
	}
	for _, e := range d.Edges {
		style := ""
		if !e.stated {
			style = ", dir=none, style=dotted"
		}
		fmt.Fprintf(&out, "  %s -> %s [label=%s%s];\n", dotQuote(e.From), dotQuote(e.To), dotQuote(e.label()), style)
	}
	return out.String() + "}\n"
}

// colour returns the colour that nodes of a type are filled with.
func colour(n drawnNode) string {
	if n.SupersededBy != "" {
		return "#ffffff"
	}
	colours := map[string]string{"pattern": "#d9ead3", "gotcha": "#f4cccc", "decision": "#cfe2f3", "insight": "#fff2cc"}
	return cmp.Or(colours[n.Type], "#eeeeee")
}

// mermaidText escapes a text between quotes: Mermaid has entities with "#".
func mermaidText(text string) string {
	return strings.NewReplacer(
		"#", "#35;", `"`, "#quot;", "<", "#lt;", ">", "#gt;", "&", "#amp;", "`", "#96;", ";", "#59;", `\`, "#92;", "%", "#37;",
	).Replace(text)
}

func (d drawing) mermaid() string {
	var out strings.Builder
	out.WriteString("flowchart LR\n")
	for i, n := range d.Nodes {
		fmt.Fprintf(&out, "  n%d[\"%s<br/>%s\"]\n", i, mermaidText(n.ID), mermaidText(n.label()))
	}
	for _, e := range d.Edges {
		line := "-->"
		if !e.stated {
			line = "-.-"
		}
		fmt.Fprintf(&out, "  n%d %s|\"%s\"| n%d\n", e.from, line, mermaidText(e.label()), e.to)
	}
	for i, n := range d.Nodes {
		stroke := ""
		if n.SupersededBy != "" {
			stroke = ",stroke-dasharray:4 3"
		}
		fmt.Fprintf(&out, "  style n%d fill:%s,stroke:#666%s\n", i, colour(n), stroke)
	}
	return out.String()
}

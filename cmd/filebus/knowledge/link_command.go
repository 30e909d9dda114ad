package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

type knowledgeLink struct {
	Remove bool `flag:"remove"`
}

// LinkJSON is what a command prints with --json.
type LinkJSON struct {
	From    string `json:"from"`
	Type    string `json:"type"`
	To      string `json:"to"`
	Changed bool   `json:"changed"`
}

func (o *knowledgeLink) Do(ctx context.Context, w *cli.Work, args []string) error {
	known, _ := layout.ParseLinkType(args[1])
	from, err := changeableName(ctx, w, args[0])
	if err != nil {
		return err
	}
	to, err := knowledgeName(ctx, w, args[2])
	if err != nil { // a record of another kind?
		v, resolveErr := w.VersionOf(ctx, args[2])
		if resolveErr != nil {
			return err
		}
		to = v.Record.Name
	}
	act := Knowledge(w).Link
	if o.Remove {
		act = Knowledge(w).Unlink
	}
	changed, err := act(ctx, from, known, to)
	if err != nil {
		return err
	}
	l := LinkJSON{LinkEnd(from), known, LinkEnd(to), changed}
	err = w.Print(l, "%s\n", cli.OneLine(l.From+" "+l.Type+" "+l.To))
	switch {
	case !changed && o.Remove:
		w.Remark("there was no such link")
	case !changed:
		w.Remark("it was linked so already")
	case o.Remove:
		w.Remark("taken away")
	}
	return err
}

// LinkEnd is how an end of a link is shown: an entry by its id.
func LinkEnd(name record.Name) string {
	if name.Kind == record.KindKnowledge && name.IsEntry() {
		return strings.TrimPrefix(strings.Replace(name.String(), ":"+string(name.Kind)+"/", ":", 1), string(name.Kind)+"/")
	}
	return name.String()
}

type knowledgeRelated struct {
	Depth     int `flag:"depth"`
	Limit     int `flag:"limit"`
	MaxTokens int `flag:"max-tokens"`
}

func (o *knowledgeRelated) Check(*cli.Environ, []string) error {
	if o.Depth < 1 || o.Depth > maxDepth || o.Limit < 1 || o.Limit > maxRelated || o.MaxTokens < 0 {
		return cli.UsageError("--depth is from 1 to %d, --limit from 1 to %d, --max-tokens not negative",
			maxDepth, maxRelated)
	}
	return nil
}

func (o *knowledgeRelated) Do(ctx context.Context, w *cli.Work, args []string) error {
	name, err := knowledgeName(ctx, w, args[0])
	if err != nil {
		return err
	}
	g, err := w.Reader.Graph(ctx)
	if err != nil {
		return err
	}
	found, more, err := g.Related(ctx, name, o.Depth, o.Limit)
	if err != nil {
		return err
	}
	if g.Unread > 0 {
		w.Note("%s not looked at for the files that they changed", cli.Plural(g.Unread, "older handoff"))
	}
	list := RelatedListJSON{LinkEnd(name), markdown.Each(found, relatedView), more}
	return printRelated(w, list, o.MaxTokens)
}

// RelatedListJSON is what a command prints with --json.
type RelatedListJSON struct {
	Of      string        `json:"of"`
	Related []relatedJSON `json:"related"`
	More    int           `json:"more,omitempty"`
}

type relatedJSON struct {
	ID           string   `json:"id"`
	Type         string   `json:"type,omitempty"`
	Confidence   string   `json:"confidence,omitempty"`
	Summary      string   `json:"summary"`
	Depth        int      `json:"depth"`
	Via          string   `json:"via,omitempty"` // of those further away
	Why          []string `json:"why"`
	SupersededBy string   `json:"superseded_by,omitempty"`
}

// The bounds of a walk.
const (
	maxDepth   = 10
	maxRelated = 1000
)

func relatedView(r query.Related) relatedJSON {
	j := relatedJSON{
		ID: LinkEnd(r.Version.Record.Name), Type: r.Type, Confidence: r.Confidence,
		Summary: markdown.Clip(cli.OneLine(r.Description.Preview), cli.MaxSummaryCell), Depth: r.Depth,
		SupersededBy: supersededText(r.By, ""),
	}
	if r.Depth > 1 {
		j.Via = LinkEnd(r.Via)
	}
	j.Why = markdown.Each(r.Edges, func(e query.Edge) string { return edgeText(e, r.Version.Record.Name) })
	return j
}

// shownShared is how many things that two entries share are named.
const shownShared = 3

// edgeText says what an edge is, as seen from the entry at its far end.
func edgeText(e query.Edge, far record.Name) string {
	if e.IsStated() && e.From == far {
		return e.Type + " " + LinkEnd(e.To)
	}
	if e.IsStated() {
		return LinkEnd(e.From) + " " + e.Type + " it"
	}
	text := e.Type + " " + strings.Join(e.Shared[:min(shownShared, len(e.Shared))], " ")
	if more := len(e.Shared) - shownShared; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func printRelated(w *cli.Work, list RelatedListJSON, maxTokens int) error {
	all := list.Related
	printed, err := w.Present(cli.Presentation{
		Entries: len(all), MaxTokens: maxTokens, What: list.Of,
		JSON: func(n int) any { return RelatedListJSON{list.Of, all[:n], list.More + len(all) - n} },
		Text: func(n int) string { return strings.Join(markdown.Each(all[:n], relatedText), "") },
	})
	switch {
	case err != nil || w.Global.JSON:
		return err
	case len(all) == 0:
		w.Note("nothing is related to %s", list.Of)
	case printed < len(all):
		w.NoteRest(list.More+len(all)-printed, "--max-tokens 0")
	default:
		w.NoteRest(list.More, fmt.Sprintf("--limit %d", min(list.More+len(all), maxRelated)))
	}
	return nil
}

// relatedText returns the two lines of an entry.
func relatedText(r relatedJSON) string {
	head := r.ID + "  " + cmp.Or(r.Confidence, "-")
	if r.Via != "" {
		head += "  via " + r.Via
	}
	if r.SupersededBy != "" {
		head += "  superseded by " + r.SupersededBy
	}
	return cli.OneLine(head+"  "+strings.Join(r.Why, "; ")) + "\n  " + cli.OneLine(r.Summary) + "\n"
}

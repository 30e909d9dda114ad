package dialogue

import (
	"fmt"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// maxSummary is how long the summary of a round may be, in bytes: about 600 tokens.
const maxSummary = 2400

// A summaryPart is a section of a summary.
type summaryPart struct {
	title string
	lines []string
}

// summaryText returns the summary of the round with an index: what a judge's own
// would have in numbers and names.
func (b *Board) summaryText(i int) []byte {
	r, p := b.Rounds[i], b.Presence[i]
	head := fmt.Sprintf("# Round %d summary — %s\n\n", r.Round, markdown.Clip(oneSpaced(b.Dialogue.Pool.Title), maxLabel))
	head += fmt.Sprintf("Open tensions: %d | New perspectives: %d | **Velocity: %d** | Converge: %d%%",
		r.OpenTensions, r.NewPerspectives, r.Velocity, r.Converge)
	if r.Judged {
		head += fmt.Sprintf(" | Score: %d", r.Score)
	}
	head += "\n\n" + b.presenceLine(p) + "\n"
	return derived([]byte(head + fitParts(b.summaryParts(r.Round), maxSummary-len(head))))
}

// presenceLine says who wrote and who is missing.
func (b *Board) presenceLine(p Presence) string {
	line := fmt.Sprintf("%d of %d agents gave a turn", len(p.Given), len(p.Given)+len(p.Absent))
	var absent []string
	for _, a := range p.Absent {
		text := b.label(a.Agent) + " " + string(a.Reason)
		if a.Stub != "" {
			text += " (" + markdown.Clip(a.Stub, 60) + ")"
		}
		absent = append(absent, text)
	}
	if len(absent) > 0 {
		line += "; " + markdown.Clip(strings.Join(absent, ", "), 300)
	}
	return line + "."
}

// summaryParts returns what happened in a round, the most important first.
func (b *Board) summaryParts(round int) (parts []summaryPart) {
	lines := map[string][]string{} // by title
	add := func(title, format string, args ...any) {
		lines[title] = append(lines[title], fmt.Sprintf(format, args...))
	}
	for _, t := range b.Tensions {
		if t.Round == round && t.counts() {
			add("Tensions raised", "%s %s", t, clipLabel(t.Label))
		}
		for _, e := range t.Events {
			switch by := b.label(e.Agent); {
			case e.Round != round || e.Agent == "":
			case e.Kind == WasResolved:
				add("Tensions resolved", "%s by %s: %s", t, by, clipLabel(t.Label))
			case e.Kind == WasReopened:
				add("Tensions reopened", "%s %s by %s", t, e.Kind, by)
			default:
				add("Tensions addressed", "%s %s by %s", t, e.Kind, by)
			}
		}
	}
	for _, p := range b.Perspectives {
		if p.Round == round {
			add("New perspectives", "%s %s: %s", b.label(p.Agent), p.ID, clipLabel(p.Label))
		}
	}
	moves := map[layout.MarkerKind]string{layout.MarkerConcession: "Concessions", layout.MarkerRefinement: "Refinements"}
	for _, t := range b.Dialogue.Round(round).given() {
		for _, m := range t.Markers {
			if title := moves[m.Kind]; title != "" {
				add(title, "%s: %s", b.label(t.Agent), clipLabel(m.Label))
			}
		}
	}
	for _, title := range []string{
		"Tensions raised", "Tensions resolved", "Tensions reopened", "Tensions addressed", "New perspectives", "Concessions",
		"Refinements",
	} {
		if len(lines[title]) > 0 {
			parts = append(parts, summaryPart{title, lines[title]})
		}
	}
	return parts
}

func clipLabel(label string) string { return markdown.Clip(oneSpaced(label), 90) }

// fitParts writes the sections that there are, a line each in turn until the room in
// bytes is used up, so that none takes it all. Each says how many lines it lacks.
func fitParts(parts []summaryPart, room int) string {
	shown := make([]int, len(parts))
	for _, p := range parts {
		room -= len("\n## \n\n- and 9999 more\n") + len(p.title) + len(" (9999)")
	}
	for more := true; more; {
		more = false
		for i, p := range parts {
			if shown[i] == len(p.lines) {
				continue
			}
			if size := len(p.lines[shown[i]]) + len("- \n"); size <= room {
				room -= size
				shown[i]++
				more = true
			}
		}
	}
	var out strings.Builder
	for i, p := range parts {
		fmt.Fprintf(&out, "\n## %s (%d)\n\n", p.title, len(p.lines))
		for _, line := range p.lines[:shown[i]] {
			out.WriteString("- " + line + "\n")
		}
		if left := len(p.lines) - shown[i]; left > 0 {
			fmt.Fprintf(&out, "- and %d more\n", left)
		}
	}
	return out.String()
}

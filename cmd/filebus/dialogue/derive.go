package dialogue

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// A DerivedFile is a file that is computed from the turns and the scores.
type DerivedFile struct {
	Path      string // below the dialogue's folder
	Text      []byte
	File      string // absolute; "" if it was not written
	Unchanged bool
	Kept      bool // somebody wrote it by hand, so it was left alone
}

// derive returns the files that are computed from the turns and the scores of a
// dialogue: scoreboard.md, tensions.md, and the summary of each round. The same
// records give the same bytes.
func (b *Board) derive() []DerivedFile {
	if !b.HasTurns() {
		return nil
	}
	files := []DerivedFile{
		{Path: scoreboardFile, Text: derived(layout.AppendScoreboard(b.titled("Scoreboard"), b.Scoreboard))},
		{Path: tensionsFile, Text: b.tensionsText()},
	}
	for i, r := range b.Rounds {
		files = append(files, DerivedFile{Path: summaryFile(r.Round), Text: b.summaryText(i)})
	}
	return files
}

// summaryFile returns the name of the summary of a round, below the dialogue's folder.
func summaryFile(round int) string { return roundFolder(round) + ".summary.md" }

// WriteDerived stores and writes the files of derive. One that somebody has written or
// changed by hand is left alone, unless force is set. For a dialogue of a captured
// tree it returns ErrCaptured.
func (f *Dialogues) WriteDerived(ctx context.Context, b *Board, force bool) ([]DerivedFile, error) {
	key := b.Dialogue.Key
	if err := key.checkOwn(); err != nil {
		return nil, err
	}
	files := b.derive()
	for i := range files {
		file := &files[i]
		name := fileName(key, file.Path)
		put, err := f.w.EditText(ctx, name.Kind, name.ID, record.SourcePut, func(old []byte, head *store.Version) ([]byte, error) {
			if head != nil && !isBlank(old) && !isDerived(old) && !force {
				file.Kept = true
				return nil, errors.New("it was written by hand")
			}
			return file.Text, nil
		})
		switch {
		case file.Kept: // the edit has ended
		case err != nil:
			return files, fmt.Errorf("writing %s: %w", file.Path, err)
		default:
			file.File, file.Unchanged = put.File, put.Unchanged
		}
	}
	return files, nil
}

// A derived file begins with a comment that holds the digest of what follows. By it
// a file that somebody has written or changed by hand is told from one that may be
// written again, wherever it was copied.
const (
	derivedHead = "<!-- filebus dialogue score: "
	derivedTail = " -->\n"
)

// derived returns the text of a derived file.
func derived(body []byte) []byte {
	return append([]byte(derivedHead+derivedDigest(body)+derivedTail), body...)
}

// isDerived reports whether a text is that of a derived file, unchanged. Line ends
// do not count: some tools change them.
func isDerived(text []byte) bool {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	head, body, _ := bytes.Cut(text, []byte("\n"))
	return string(head)+"\n" == derivedHead+derivedDigest(body)+derivedTail
}

func derivedDigest(body []byte) string {
	digest := sha256.Sum256(body)
	return hex.EncodeToString(digest[:4])
}

// summaryText returns the summary of the round with an index: what a judge's own
// would have in numbers and names.
func (b *Board) summaryText(i int) []byte {
	r, p := b.Rounds[i], b.Presence[i]
	head := fmt.Sprintf("# Round %d summary — %s\n\n", r.Round, markdown.Clip(markdown.OneLine(b.Dialogue.Pool.Title),
		maxLabel))
	head += fmt.Sprintf("Open tensions: %d | New perspectives: %d | **Velocity: %d** | Converge: %d%%",
		r.OpenTensions, r.NewPerspectives, r.Velocity, r.Converge)
	if r.Judged {
		head += fmt.Sprintf(" | Score: %d", r.Score)
	}
	head += "\n\n" + b.presenceLine(p) + "\n"
	const maxSummary = 2400 // how long the summary of a round may be, in bytes: about 600 tokens
	return derived([]byte(head + fitParts(b.summaryLines(r.Round), maxSummary-len(head))))
}

// presenceLine says who wrote and who is missing.
func (b *Board) presenceLine(p Presence) string {
	line := fmt.Sprintf("%d of %d agents gave a turn", len(p.Given), len(p.Given)+len(p.Absent))
	var absent []string
	for _, a := range p.Absent {
		text := b.label(a.Agent) + " " + a.Reason
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

// summaryTitles returns the sections of a summary, the most important first.
func summaryTitles() []string {
	return []string{
		"Tensions raised", "Tensions resolved", "Tensions reopened", "Tensions addressed", "New perspectives",
		"Concessions", "Refinements",
	}
}

// summaryLines returns what happened in a round, by the titles of sections.
func (b *Board) summaryLines(round int) map[string][]string {
	lines := map[string][]string{}
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
			case e.Kind == statusResolved:
				add("Tensions resolved", "%s by %s: %s", t, by, clipLabel(t.Label))
			case e.Kind == statusReopened:
				add("Tensions reopened", "%s reopened by %s", t, by)
			default:
				add("Tensions addressed", "%s %s by %s", t, e.Kind, by)
			}
		}
	}
	for _, p := range b.Perspectives {
		if p.Round == round && !p.isMarked(round) {
			add("New perspectives", "%s %s: %s", b.label(p.Agent), p.ID, clipLabel(p.Label))
		}
	}
	moves := map[layout.MarkerKind]string{
		layout.MarkerConcession: "Concessions", layout.MarkerRefinement: "Refinements",
	}
	for _, t := range b.Dialogue.Round(round).given() {
		for _, m := range t.Markers {
			if title := moves[m.Kind]; title != "" {
				add(title, "%s: %s", b.label(t.Agent), clipLabel(m.Label))
			}
		}
	}
	return lines
}

func clipLabel(label string) string { return markdown.Clip(markdown.OneLine(label), 90) }

// fitParts writes the sections that there are, a line each in turn until the room in
// bytes is used up, so that none takes it all. Each says how many lines it lacks.
func fitParts(lines map[string][]string, room int) string {
	shown := map[string]int{}
	for title := range lines {
		room -= len("\n## \n\n- and 9999 more\n") + len(title) + len(" (9999)")
	}
	for more := true; more; {
		more = false
		for _, title := range summaryTitles() {
			if shown[title] == len(lines[title]) {
				continue
			}
			if size := len(lines[title][shown[title]]) + len("- \n"); size <= room {
				room -= size
				shown[title]++
				more = true
			}
		}
	}
	var out strings.Builder
	for _, title := range summaryTitles() {
		if len(lines[title]) == 0 {
			continue
		}
		fmt.Fprintf(&out, "\n## %s (%d)\n\n", title, len(lines[title]))
		for _, line := range lines[title][:shown[title]] {
			out.WriteString("- " + line + "\n")
		}
		if left := len(lines[title]) - shown[title]; left > 0 {
			fmt.Fprintf(&out, "- and %d more\n", left)
		}
	}
	return out.String()
}

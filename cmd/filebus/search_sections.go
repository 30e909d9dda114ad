package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"unicode"

	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// sectionPage gathers sections as far as there is room.
type sectionPage struct {
	*hitPage
	read func(*query.Hit) *query.Reader
	room int             // bytes that are left
	seen map[string]bool // texts

	out    strings.Builder
	hits   []hitJSON // in JSON
	shown  int       // hits that were dealt with
	same   int       // hits whose text another had
	noText int       // hits without lines of text
}

// sections returns the sections of the page, best first, as many as there is room
// for, and how many hits they took.
func (p *hitPage) sections(ctx context.Context, read func(*query.Hit) *query.Reader) (text string, shown int, err error) {
	s := sectionPage{hitPage: p, read: read, room: p.opts.room(), seen: map[string]bool{}}
	head, err := s.head()
	if err != nil || len(head) > s.room {
		return "", 0, err
	}
	s.room -= len(head)
	for more := true; more && s.shown < len(p.answer.Hits); {
		if more, err = s.add(ctx, &p.answer.Hits[s.shown]); err != nil {
			return "", 0, err
		}
	}
	if s.same > 0 {
		p.env.note("%s with the same text left out", plural(s.same, "section"))
	}
	if s.noText > 0 {
		p.env.note("%s without text left out", plural(s.noText, "hit"))
	}
	if !p.env.global.json {
		return head + s.out.String(), s.shown, nil
	}
	value := p.emptyJSON()
	value.Hits, value.Next = append(value.Hits, s.hits...), p.next(s.shown)
	text, err = jsonLine(value)
	return text, s.shown, err
}

// head returns what stands before the sections; in JSON, around the hits.
func (p *hitPage) head() (string, error) {
	if p.env.global.json {
		value := p.emptyJSON()
		longest := math.MaxInt32 // as long as any
		value.Next = &longest
		return jsonLine(value)
	}
	return facetLines(p.answer.Facets, p.facets()), nil
}

// add adds the section of the next hit. It reports whether there may be room for
// more.
func (s *sectionPage) add(ctx context.Context, h *query.Hit) (more bool, err error) {
	section := query.SectionText{}
	size := s.room
	for {
		section, err = s.read(h).Section(ctx, h, size)
		if errors.Is(err, store.ErrDamaged) {
			section, err = query.SectionText{}, nil // it was said which one
		}
		if err != nil {
			return false, err
		}
		if section.Last == 0 && section.Left == 0 {
			s.shown, s.noText = s.shown+1, s.noText+1
			return true, nil
		}
		if s.seen[string(section.Text)] && section.Left == 0 {
			s.shown, s.same = s.shown+1, s.same+1
			return true, nil
		}
		if section.Left > 0 && h.Lines.From < h.Words.From && restFrom(h, section) <= h.Words.To {
			h, size = fromItsWords(h), s.room
			continue
		}
		over, err := s.take(h, section)
		if err != nil {
			return false, err
		}
		if over <= 0 {
			s.seen[string(section.Text)] = true
			s.shown++
			return section.Left == 0, nil
		}
		// What is around the text, and how it is escaped, is known only now.
		if size = min(size, len(section.Text)) - over; size < leastSection {
			return false, nil
		}
	}
}

// fromItsWords returns a hit without the lines before the words that were searched:
// a section that is cut shall have them.
func fromItsWords(h *query.Hit) *query.Hit {
	there := *h
	if h.FileLines.From > 0 {
		there.FileLines.From += h.Words.From - h.Lines.From
	}
	there.Lines.From = h.Words.From
	return &there
}

// leastSection is the size of the shortest piece of a section worth printing, in
// bytes.
const leastSection = 40

// take appends a section if there is room; if not it returns how many bytes are
// too much.
func (s *sectionPage) take(h *query.Hit, section query.SectionText) (over int, err error) {
	if s.env.global.json {
		hit := sectionJSON(h, section)
		line, err := jsonLine(hit)
		if over = len(line) - s.room; over <= 0 && err == nil { // a comma takes the place of its line end
			s.hits = append(s.hits, hit)
			s.room -= len(line)
		}
		return over, err
	}
	gap := ""
	if s.out.Len() > 0 {
		gap = "\n"
	}
	size := len(gap) + len(s.sectionText(h, section, nil))
	if over = size - s.room; over <= 0 {
		s.out.WriteString(gap + s.sectionText(h, section, s.marks)) // marks are no text, and take no room
		s.room -= size
	}
	return over, nil
}

// sectionText is a section as it is printed: a line that names it, its lines, and
// how to get the rest of it. On a terminal what marks tells of the lines is bold.
func (p *hitPage) sectionText(h *query.Hit, section query.SectionText, marks func([]byte) []query.ByteRun) string {
	line := fmt.Sprintf("==> %s --lines %s%s  %s", shellName(h), h.Lines.String(), p.env.storeFlag(h.Store), h.Ref.Short())
	if title := sectionTitle(h, section.Text); title != "" {
		line += "  " + title
	}
	text := string(section.Text)
	if p.env.outTerminal {
		text = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				return ' '
			}
			return r
		}, text)
		if marks != nil {
			text = p.env.boldRuns(text, marks([]byte(text)))
		}
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if section.Left > 0 {
		text += fmt.Sprintf("[~%d more tokens: filebus get %s --lines %d-%d%s]\n",
			record.EstimateTokens(section.Left), h.Ref.Short(), restFrom(h, section), h.Lines.To, p.env.storeFlag(h.Store))
	}
	return p.env.bold(line+" <==") + "\n" + text
}

// sectionTitle is what the first line of a section does not say of its place.
func sectionTitle(h *query.Hit, text []byte) string {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	place := query.Hit{Title: h.Title, Section: h.Section}
	if bytes.Contains(first, []byte(h.Section)) {
		place.Section = ""
	}
	if bytes.Contains(first, []byte(h.Title)) {
		place.Title = ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(hitHeading(&place, maxHeading), " > "), ": ")
}

// restFrom returns the line from which a section that was cut goes on: again the
// last one if it is cut itself.
func restFrom(h *query.Hit, section query.SectionText) int {
	switch {
	case section.Last == 0:
		return h.Lines.From
	case strings.HasSuffix(string(section.Text), "\n"):
		return section.Last + 1
	}
	return section.Last
}

// sectionJSON is a hit in JSON with its text, and the lines of that, in place of
// the snippet.
func sectionJSON(h *query.Hit, section query.SectionText) hitJSON {
	there := *h
	if cut := h.Lines.To - section.Last; section.Left > 0 {
		there.Lines.To -= cut
		there.FileLines.To = max(0, there.FileLines.To-cut)
	}
	j := toHitJSON(&there)
	j.Snippet, j.Marks = "", nil
	j.Text, j.Left = string(section.Text), record.EstimateTokens(section.Left)
	return j
}

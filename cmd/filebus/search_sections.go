package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"filebus/cmd/filebus/cli"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A sectionPage is the sections of a page, best first.
type sectionPage struct {
	*hitPage
	sections     []hitSection
	same, noText []int // hits that are left out, and why: another has their text, or they have none
	read         int   // hits that were looked at
}

// A hitSection is a hit with the text of its lines.
type hitSection struct {
	query.Hit
	text query.SectionText
	at   int // of the hit, among all
}

const (
	// maxSection bounds what is read of a section, in bytes.
	maxSection = 1 << 20
	// leastSection is the size of the shortest piece of a section worth printing, in
	// bytes.
	leastSection = 48
	// passageSize is the size of the passages of candidates, in bytes.
	passageSize = 1500
	// sharedSize is what there must be for sections to share it, in bytes.
	sharedSize = 1000
)

// readSections reads as many sections as there may be room for.
func (p *hitPage) readSections(ctx context.Context, set *storeSet) (*sectionPage, error) {
	s := &sectionPage{hitPage: p}
	seen, room, read := map[string]bool{}, bytesPerToken*p.opts.room(), 0
	most := maxSection
	if p.opts.Candidates > 0 {
		most, room = passageSize, cmp.Or(room, passageSize*p.opts.Candidates)
	}
	for s.read < len(p.answer.Hits) && read <= room {
		h := &p.answer.Hits[s.read]
		section, err := set.reader(h).Section(ctx, h, maxSection)
		switch {
		case err != nil && !errors.Is(err, store.ErrDamaged) && !errors.Is(err, store.ErrDropped): // it was said which one is damaged
			return nil, err
		case len(section.Text) == 0:
			s.noText = append(s.noText, s.read)
		case seen[string(section.Text)] && section.Left == 0:
			s.same = append(s.same, s.read)
		default:
			seen[string(section.Text)] = true
			s.sections = append(s.sections, hitSection{*h, section, s.read}.cut(most))
			read += min(len(section.Text), 3*room/5)
		}
		s.read++
	}
	return s, nil
}

// size returns how many bytes the sections have.
func (s *sectionPage) size() (size int) {
	for _, section := range s.sections {
		size += len(section.text.Text)
	}
	return size
}

// upTo returns sections of so many bytes, of which the last and those that would take most
// may be cut, and how many hits they take.
func (s *sectionPage) upTo(size int) (sections []hitSection, hits int) {
	most := size
	if len(s.sections) > 1 && s.size() > size && size >= sharedSize {
		most = 3 * size / 5 // no one section takes all
	}
	for _, section := range s.sections {
		whole := len(section.text.Text)
		section = section.cut(min(size, most))
		isCut := len(section.text.Text) < whole
		if isCut && size < leastSection {
			return sections, section.at
		}
		sections = append(sections, section)
		if isCut && size <= most {
			return sections, section.at + 1
		}
		size -= len(section.text.Text)
	}
	return sections, s.read
}

// cut returns the section with at most size bytes. What is cut shall have the words
// that were searched: it begins with their lines if it must.
func (s hitSection) cut(size int) hitSection {
	text := s.text.Cut(size)
	if text.Left > 0 && s.Lines.From < s.Words.From && text.Next() <= s.Words.To {
		text = s.text.From(s.Words.From).Cut(size)
		if s.FileLines.From > 0 {
			s.FileLines.From += s.Words.From - s.Lines.From
		}
		s.Lines.From = s.Words.From
	}
	s.text = text
	return s
}

// shown says which hits were left out, and returns how many hits the sections of so
// many bytes take.
func (s *sectionPage) shown(size int) int {
	_, hits := s.upTo(size)
	count := func(places []int) int {
		behind, _ := slices.BinarySearch(places, hits)
		return behind
	}
	if same := count(s.same); same > 0 {
		s.env.Note("%s with the same text left out", cli.Plural(same, "section"))
	}
	if noText := count(s.noText); noText > 0 {
		s.env.Note("%s without text left out", cli.Plural(noText, "hit"))
	}
	return hits
}

// json returns sections of so many bytes in JSON: hits with their text, and the
// lines of that, in place of the snippet.
func (s *sectionPage) json(size int) any {
	sections, shown := s.upTo(size)
	hits := make([]query.Hit, len(sections))
	for i, section := range sections {
		h := section.Hit
		if cut := h.Lines.To - section.text.Last; section.text.Left > 0 {
			h.Lines.To -= cut
			h.FileLines.To = max(0, h.FileLines.To-cut)
		}
		h.Snippet, h.Body, h.Left = query.Snippet{}, string(section.text.Text), record.EstimateTokens(section.text.Left)
		hits[i] = h
	}
	return s.pageJSON(shown, hits)
}

// plain returns sections of so many bytes as text.
func (s *sectionPage) plain(size int) string {
	sections, _ := s.upTo(size)
	texts := markdown.Each(sections, func(of hitSection) string { return s.sectionText(&of) })
	return s.facetLines() + strings.Join(texts, "\n")
}

// sectionText is a section as it is printed: a line that names it, its lines, and
// how to get the rest of it. On a terminal the words of the search are bold.
func (p *hitPage) sectionText(s *hitSection) string {
	line := fmt.Sprintf("==> %s --lines %s%s  %s", shellName(p.env, &s.Hit), s.Lines, p.env.StoreFlag(s.Store), s.Ref)
	if title := sectionTitle(s); title != "" {
		line += "  " + title
	}
	text := string(s.text.Text)
	if p.env.OutTerminal {
		text = strings.Map(func(r rune) rune {
			if unicode.IsControl(r) && r != '\n' && r != '\t' {
				return ' '
			}
			return r
		}, text)
		text = boldRuns(p.env, text, p.marks([]byte(text)))
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if s.text.Left > 0 {
		text += fmt.Sprintf("[~%d more tokens: filebus get %s --lines %d-%d%s]\n",
			record.EstimateTokens(s.text.Left), s.Ref, s.text.Next(), s.Lines.To, p.env.StoreFlag(s.Store))
	}
	return p.env.Bold(line+" <==") + "\n" + text
}

// sectionTitle is what the first line of a section does not say of its place.
func sectionTitle(s *hitSection) string {
	first, _, _ := strings.Cut(string(s.text.Text), "\n")
	place := query.Hit{Title: s.Title, Section: s.Section}
	if strings.Contains(first, s.Section) {
		place.Section = ""
	}
	if strings.Contains(first, s.Title) {
		place.Title = ""
	}
	return strings.TrimSuffix(strings.TrimPrefix(hitHeading(&place, maxHeading), " > "), ": ")
}

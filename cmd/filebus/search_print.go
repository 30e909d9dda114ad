package main

import (
	"context"
	"fmt"
	"path"
	"sort"
	"strings"
	"unicode/utf8"

	"filebus/materialize/layout"
	"filebus/query"
)

// A hitPage is an answer on its way to the output.
type hitPage struct {
	env    *environ
	answer *query.SearchAnswer
	opts   *answerOptions
	limit  int                               // hits at most
	offset int                               // of the first one
	more   bool                              // hits behind the last one
	marks  func(text []byte) []query.ByteRun // where the words of the search are
}

// The bounds of what a hit says, so that ten hits take 900 tokens at most: long
// names shorten snippets.
const (
	tokensPerHit = 90
	maxHeading   = 80  // of what a hit says of its place, in characters
	fullSnippet  = 200 // bytes; snippets are made shorter than this
	leastSnippet = 40  // where hits may be left out
	shortSnippet = 20  // where all are wanted
)

// print prints the page and returns about how many bytes that took. Read is the
// reader of a hit's store.
func (p *hitPage) print(ctx context.Context, read func(*query.Hit) *query.Reader) (size int, err error) {
	var text string
	shown := 0
	switch {
	case p.opts.sections:
		text, shown, err = p.sections(ctx, read)
	case p.env.global.json:
		text, shown, err = p.json()
	default:
		text, shown = p.plain()
	}
	if err != nil {
		return 0, err
	}
	p.env.printf("%s", text)
	p.sayRest(shown)
	return len(text), nil
}

// sayRest tells how to go on behind the hits that were shown.
func (p *hitPage) sayRest(shown int) {
	answer, next := p.answer, p.offset+shown
	room := plural(p.opts.room()/bytesPerToken, "token")
	switch {
	case len(answer.Hits) == 0 && p.env.global.json:
		// the total tells
	case p.limit == 0 && answer.Total > 0:
		p.env.note("%s", plural(int(answer.Total), "hit"))
	case len(answer.Hits) == 0 && answer.Total > 0:
		p.env.note("%s, none behind the first %d; start with --offset 0", plural(int(answer.Total), "hit"), p.offset)
	case len(answer.Hits) == 0:
		p.env.note("no hits")
	case shown == 0:
		p.env.note("%s; the first has no room in %s; give more --max-tokens", plural(int(answer.Total), "hit"), room)
	case shown < len(answer.Hits):
		p.env.note("%d of %s; %d more found no room in %s; go on with --offset %d",
			shown, plural(int(answer.Total), "hit"), len(answer.Hits)-shown, room, next)
	case p.env.global.json && p.opts.maxTokens == 0 && !p.opts.sections:
		// the value tells
	case p.more:
		p.env.note("%d of %s; go on with --offset %d", shown, plural(int(answer.Total), "hit"), next)
	}
}

// plain returns the page as text, and how many hits it has.
func (p *hitPage) plain() (text string, shown int) {
	facets := facetLines(p.answer.Facets, p.facets())
	hits := p.answer.Hits
	write := func(n, snippet int) string {
		var out strings.Builder
		for i := range hits[:n] {
			p.writeHit(&out, &hits[i], snippet)
		}
		return out.String()
	}
	room := p.opts.room()
	switch {
	case room == 0 && (p.opts.explain || p.env.outTerminal):
		return facets + write(len(hits), fullSnippet), len(hits)
	case room == 0:
		text, _ := fit(len(hits), len(hits)*tokensPerHit*bytesPerToken, true, write)
		return facets + text, len(hits)
	}
	if len(facets) > room {
		facets = ""
		p.env.note("the counts have no room in %s", plural(p.opts.maxTokens, "token"))
	}
	text, shown = fit(len(hits), room-len(facets), false, write)
	return facets + text, shown
}

// fit returns what write makes of the first n hits with snippets of some size, in
// at most room bytes: with shorter snippets where it must be, and with fewer hits
// unless all are wanted in any case.
func fit(n, room int, all bool, write func(n, snippet int) string) (text string, shown int) {
	if text = write(n, fullSnippet); len(text) <= room {
		return text, n
	}
	least, wanted := shortSnippet, n
	if !all {
		least = leastSnippet
		n = sort.Search(n, func(i int) bool { return len(write(i+1, least)) > room })
	}
	if n == 0 {
		return fitOne(wanted, room, write)
	}
	for snippet := fullSnippet; snippet >= least; snippet -= 10 {
		if text = write(n, snippet); len(text) <= room {
			break
		}
	}
	return text, n
}

// fitOne returns the first of n hits without a snippet, or what stands around hits,
// or nothing.
func fitOne(n, room int, write func(n, snippet int) string) (text string, shown int) {
	for n = min(n, 1); n >= 0; n-- {
		if text = write(n, 0); len(text) <= room {
			return text, n
		}
	}
	return "", 0
}

// writeHit writes a hit in two lines: where it is and what it says.
func (p *hitPage) writeHit(out *strings.Builder, h *query.Hit, snippet int) {
	env := p.env
	name, place := shellName(h), ""
	if h.Lines.From > 0 {
		place = " --lines " + h.Lines.String()
	}
	place += env.storeFlag(h.Store)
	out.WriteString(env.bold(name) + place)
	facts := []string{h.Ref.Short(), tokenText(h.Tokens), oneLine(h.Agent), h.Time.UTC().Format("2006-01-02"), placeText(h)}
	if n := len(h.Like); n > 0 {
		facts = append(facts, fmt.Sprintf("+%d alike", n))
	}
	if h.Commits > 0 {
		facts = append(facts, plural(h.Commits, "commit")+" since")
	}
	if h.Older {
		facts = append(facts, "(older version)")
	}
	env.writeFacts(out, utf8.RuneCountInString(name+place), facts)
	out.WriteString("\n")
	if snippet > 0 {
		heading := hitHeading(h, min(maxHeading, 15+snippet/2))
		if strings.Contains(h.Snippet.Text, strings.TrimSuffix(strings.TrimSuffix(heading, ": "), "…")) {
			heading = "" // the text says it
		}
		env.writeWrapped(out, heading, h.Snippet.Clip(snippet))
	}
	if p.opts.explain {
		out.WriteString("  = " + explainText(h) + "\n")
	}
}

// shellName is the name of a hit as a shell takes it for one word.
func shellName(h *query.Hit) string {
	name := oneLine(h.Name.String())
	if strings.ContainsAny(name, " '\"`$&|;<>()*?[]{}!\\") {
		return quote(name)
	}
	return name
}

// placeText says in which file a hit stands, where its name does not.
func placeText(h *query.Hit) string {
	base := path.Base(h.Path)
	if h.Path == "" || strings.Contains(h.Name.ID, strings.TrimSuffix(base, path.Ext(base))) {
		return ""
	}
	place := oneLine(validText(h.Path))
	if h.FileLines.From > 0 {
		place += fmt.Sprintf(":%d", h.FileLines.From)
	}
	return place
}

// hitHeading returns the title of a hit and the heading of its section, with a
// colon, in at most size characters and that.
func hitHeading(h *query.Hit, size int) string {
	heading := h.Title // most first sections repeat it
	title, section := unmarked(h.Title), unmarked(h.Section)
	switch {
	case strings.Contains(section, title):
		heading = h.Section
	case section != "" && !strings.Contains(title, section):
		heading += " > " + h.Section
	}
	if heading == "" {
		return ""
	}
	clipped := layout.Clip(heading, size)
	if before, cut := strings.CutSuffix(clipped, " >…"); cut {
		clipped = before + "…"
	}
	return oneLine(clipped) + ": "
}

// unmarked returns a heading without the marks of Markdown that titles leave out.
func unmarked(heading string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("`*_", r) {
			return -1
		}
		return r
	}, heading)
}

package main

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"

	"filebus/cmd/filebus/cli"
	"filebus/cmd/filebus/knowledge"
	"filebus/index"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// A hitPage is an answer on its way to the output.
type hitPage struct {
	env    *cli.Environ
	answer query.SearchAnswer
	opts   *answerFlags
	fields []index.Facet                     // whose values are counted
	limit  int                               // hits at most
	offset int                               // of the first one
	more   int                               // behind the last one
	folded int                               // hits that stand behind others on this page; none if hits may be left out
	stale  []staleTree                       // of the hits
	marks  func(text []byte) []query.ByteRun // where the words of the search are
	query  string                            // what hits were scored by
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

// print prints the page, and says how to go on behind it.
func (p *hitPage) print(ctx context.Context, set *storeSet, text string) error {
	whole := cli.Presentation{Entries: len(p.answer.Hits), JSON: p.json, Text: p.plain}
	shown := func(entries int) int { return entries }
	if p.opts.Sections {
		s, err := p.readSections(ctx, set)
		if err != nil {
			return err
		}
		whole = cli.Presentation{Entries: s.size(), JSON: s.json, Text: s.plain}
		shown = s.shown
	}
	whole.MaxTokens, whole.Exact, whole.Strict, whole.What = p.opts.room(), true, true, text
	p.dropExtras(&whole)
	printed, err := cmp.Or(set.own, &cli.Work{Environ: p.env}).Present(whole)
	p.sayRest(shown(printed))
	return err
}

// dropExtras leaves out what stands before the hits if it has no room alone.
func (p *hitPage) dropExtras(whole *cli.Presentation) {
	fits := func() bool {
		text := whole.Text(0)
		if p.env.Global.JSON {
			text = jsonText(whole.JSON(0))
		}
		return whole.MaxTokens == 0 || len(text) <= bytesPerToken*whole.MaxTokens
	}
	if !fits() { // stderr has them
		p.answer.AsPhrase, p.answer.Unknown, p.answer.DidYouMean, p.answer.Hidden, p.answer.Corrected = "", nil, "", nil, nil
	}
	if len(p.fields) > 0 && !fits() {
		p.fields = nil
		p.env.Note("the counts have no room in %s", cli.Plural(whole.MaxTokens, "token"))
	}
}

// narrowLine offers flags that leave a part of the hits, with how many of the best.
func (p *hitPage) narrowLine() (line string) {
	for _, n := range p.answer.Narrow {
		line += fmt.Sprintf(" --%s %s (%d)", n.Field,
			record.ShellWord(cli.OneLine(cli.TreeText(string(n.Field), n.Value))), n.Count)
	}
	return line
}

// sayRest tells how to go on behind the hits that were shown.
func (p *hitPage) sayRest(shown int) {
	answer := &p.answer
	next, more := p.offset+shown+p.folded, p.more+len(answer.Hits)-shown
	room := cli.Plural(p.opts.room(), "token")
	switch {
	case len(answer.Hits) == 0 && p.env.Global.JSON:
		// the total tells
	case p.limit == 0 && answer.Total > 0:
		p.env.Note("%s", cli.Plural(int(answer.Total), "hit"))
	case len(answer.Hits) == 0 && answer.Total > 0:
		p.env.Note("%s, none behind the first %d; start with --offset 0", cli.Plural(int(answer.Total), "hit"), p.offset)
	case len(answer.Hits) == 0:
		p.env.Note("no hits")
	case shown == 0:
		p.env.Note("%s; the first has no room in %s; give more --max-tokens", cli.Plural(int(answer.Total), "hit"), room)
	default:
		words := fmt.Sprintf(" (%d with all words, %d with any)", answer.TotalAll, answer.Total)
		if more > 0 {
			words = map[bool]string{true: words}[answer.TotalAll < answer.Total]
			p.env.Remark("… and %d more%s; %s", more, words, p.env.Again(fmt.Sprintf("--offset %d", next)))
		} else if answer.TotalAll == 0 && len(answer.Unknown) == 0 {
			p.env.Remark("no record has all words")
		}
		if line := p.narrowLine(); line != "" {
			p.env.Remark("narrow:%s", line)
		}
	}
}

// plain returns the first n hits as text.
func (p *hitPage) plain(n int) string {
	page := func(snippet int) string {
		var out strings.Builder
		out.WriteString(p.facetLines())
		for i := range p.answer.Hits[:n] {
			p.writeHit(&out, &p.answer.Hits[i], snippet)
		}
		return out.String()
	}
	if p.opts.room() == 0 && (p.opts.Why || p.env.OutTerminal) {
		return page(fullSnippet)
	}
	return page(p.snippetSize(n, page))
}

// snippetSize returns the size of the longest snippets with which a page of n hits
// fits, or of the shortest that there may be.
func (p *hitPage) snippetSize(n int, page func(snippet int) string) int {
	room, least := p.opts.room()*bytesPerToken, leastSnippet
	if room == 0 {
		room, least = len(p.facetLines())+n*tokensPerHit*bytesPerToken-len(p.narrowLine()), shortSnippet
	}
	switch {
	case len(page(least)) <= room:
		for size := fullSnippet; size > least; size -= 10 {
			if len(page(size)) <= room {
				return size
			}
		}
	case n == 1 && p.opts.room() > 0:
		return 0
	}
	return least
}

// writeHit writes a hit in two lines: where it is and what it says.
func (p *hitPage) writeHit(out *strings.Builder, h *query.Hit, snippet int) {
	env := p.env
	name, place := shellName(env, h), ""
	if h.Lines.From > 0 {
		place = " --lines " + h.Lines.String()
	}
	place += env.StoreFlag(h.Store)
	out.WriteString(env.Bold(name) + place)
	status, stands := h.Status, h.Stand != nil && h.Standing != query.Current
	if stands { // that says it
		status = ""
	}
	facts := []string{
		h.Ref.String(), cli.TokenText(h.Tokens),
		strings.Join(strings.Fields(cli.OneLine(status+" "+h.Priority+" "+h.Type)), " "), cli.OneLine(h.Agent),
		env.DateText(h.Time, h.Written, cli.UTCDay), placeText(h),
	}
	for _, e := range h.Elsewhere {
		facts = append(facts, cli.OneLine(e.Status)+" in "+cli.OneLine(path.Base(e.Path)))
	}
	if n := len(h.Like); n > 0 {
		facts = append(facts, fmt.Sprintf("+%d alike", n))
	}
	if h.Commits > 0 {
		facts = append(facts, cli.Plural(h.Commits, "commit")+" since")
	}
	if stands {
		facts = append(facts, knowledge.StandText(*h.Stand, h.By))
	}
	facts = append(facts, knowledge.DueText(h.Due))
	if h.Older {
		facts = append(facts, "(older version)")
	}
	writeFacts(env, out, utf8.RuneCountInString(name+place), facts)
	out.WriteString("\n")
	if snippet > 0 {
		heading := hitHeading(h, min(maxHeading, 15+snippet/2))
		if strings.Contains(h.Snippet.Text, strings.TrimSuffix(strings.TrimSuffix(heading, ": "), "…")) {
			heading = "" // the text says it
		}
		writeWrapped(env, out, heading, h.Clip(snippet))
	}
	if p.opts.Why {
		out.WriteString("  " + p.why(h) + "\n")
	}
}

// shellName is the name of a hit as a shell takes it for one word, or a tool as it is.
func shellName(e *cli.Environ, h *query.Hit) string {
	name := cli.OneLine(h.Name.String())
	if e.Call == nil && strings.ContainsAny(name, " '\"`$&|;<>()*?[]{}!\\") {
		return record.ShellWord(name)
	}
	return name
}

// placeText says in which file a hit stands, where its name does not.
func placeText(h *query.Hit) string {
	base := path.Base(h.Path)
	if h.Path == "" || strings.Contains(h.Name.ID, strings.TrimSuffix(base, path.Ext(base))) {
		return ""
	}
	place := cli.OneLine(strings.ToValidUTF8(h.Path, "\ufffd"))
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
	clipped := markdown.Clip(heading, size)
	if before, cut := strings.CutSuffix(clipped, " >…"); cut {
		clipped = before + "…"
	}
	return cli.OneLine(clipped) + ": "
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

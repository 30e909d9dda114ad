package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/index"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// A complexity says how much context a task deserves: how many patterns, gotchas,
// components, prior tasks and notes.
type complexity string

var complexities = map[complexity][5]int{
	"easy": {3, 2, 5, 2, 2}, "normal": {5, 3, 10, 4, 3}, "complex": {10, 5, 20, 8, 6},
}

// ParseComplexity reads the name of a complexity; an empty text is normal.
func ParseComplexity(text string) (complexity, error) {
	c := complexity(cmp.Or(text, "normal"))
	if _, known := complexities[c]; !known {
		return "", fmt.Errorf("unknown complexity %q: it is easy, normal or complex", text)
	}
	return c, nil
}

// limits returns how many items each section of a context has.
func (c complexity) limits() map[contextSection]int {
	n := complexities[cmp.Or(c, "normal")]
	return map[contextSection]int{
		sectionDepends: 20, sectionPatterns: n[0], sectionGotchas: n[1], sectionComponents: n[2],
		sectionTasks: n[3], sectionResults: n[3], sectionNotes: n[4],
	}
}

// A contextSection is a part of a context, by its heading.
type contextSection string

// The sections of a context. They are printed in the order of their best items, but for the first.
const (
	sectionDepends    contextSection = "Depends on"
	sectionPatterns   contextSection = "Patterns"
	sectionGotchas    contextSection = "Gotchas"
	sectionComponents contextSection = "Components"
	sectionTasks      contextSection = "Prior tasks"
	sectionResults    contextSection = "Results"
	sectionNotes      contextSection = "Notes"
)

// DefaultContextTokens is the size of a context that names none, about.
const DefaultContextTokens = 2000

// A ContextRequest says what a new task is about.
type ContextRequest struct {
	Text       string   // what is to be done, in any words
	Files      []string // paths that the task touches, as the workspace has them
	Tags       []string
	Task       string   // a task whose journal may name the tasks that it depends on, in any spelling
	Entry      *Summary // a task that stands in a file of a convention: what it waits for, and what is joined to it, comes along
	Complexity complexity
	MaxTokens  int // of all that is printed, about; 0: DefaultContextTokens
	// Size tells how many tokens an answer has as it will be printed, about. Nil:
	// it is printed as Markdown.
	Size func(*ContextAnswer) int
	// Changed tells when files were last changed; those that it does not know are
	// left out. Nil: no item is checked.
	Changed func(ctx context.Context, files []string) (map[string]time.Time, error)
}

// A contextItem is a record that a new task should know of.
type contextItem struct {
	Section contextSection
	Summary
	Text    string   // what it says, on one line, perhaps cut
	Score   float64  // on the scale of all sections
	Why     []string // what speaks for it
	Changed []string // files that it names and that changed since
}

// An Omission is a record that was considered and left out.
type Omission struct {
	Name   record.Name `json:"name"`
	Reason string      `json:"reason"`
	Needed bool        `json:"-"` // the task builds on it
}

// A ContextAnswer is what is handed to a new task.
type ContextAnswer struct {
	Items     []contextItem // in the order of the sections, best first
	LeftOut   []Omission
	NoRoom    int    // of those left out: how many MaxTokens has no room for
	Tokens    int    // as it is printed, about
	Unindexed uint64 // log entries that could not be looked at
}

// ContextFor selects what a new task should know: knowledge, components, and the
// handoffs and results of earlier tasks. Items are ranked by the index, the tags
// and files they share with the request, their confidence and their age beside
// the newest; near-duplicates and superseded entries are left out. The same
// store and request give the same answer, which never exceeds MaxTokens.
func (r *Reader) ContextFor(ctx context.Context, request ContextRequest) (ContextAnswer, error) {
	if request.MaxTokens <= 0 {
		request.MaxTokens = DefaultContextTokens
	}
	request.Tags = record.NormalizeTags(request.Tags)
	c := contextBuilder{reader: r, request: &request, seen: map[record.Name]bool{}}
	for _, gather := range []func(context.Context) error{c.depends, c.knowledge, c.components, c.tasks, c.results, c.notes} {
		if err := gather(ctx); err != nil {
			return ContextAnswer{}, err
		}
	}
	c.rank()
	if err := c.warn(ctx); err != nil {
		return ContextAnswer{}, err
	}
	return c.fit(), nil
}

// A contextBuilder gathers and ranks candidates.
type contextBuilder struct {
	reader     *Reader
	request    *ContextRequest
	candidates []considered
	seen       map[record.Name]bool
	leftOut    []Omission
	unindexed  uint64
	stands     Stands
}

// A considered is an item that has not been judged yet.
type considered struct {
	contextItem
	text  float64  // the score of the index, infinite of what is asked for by name; since rank 1 for the best
	fixed float64  // a score that nothing is added to
	files []string // that it names

	relevance float64 // the score without confidence and age
}

// maxCandidates is how many hits of each search are looked at.
const maxCandidates = 60

// search adds the hits of some kinds.
func (c *contextBuilder) search(ctx context.Context, section func(Summary) contextSection, kinds ...record.Kind) error {
	queries := append([]string{c.request.Text}, c.request.Files...)
	for i, query := range queries {
		if strings.TrimSpace(query) == "" {
			continue
		}
		request := SearchRequest{Request: index.Request{Query: query, Limit: maxCandidates, Duplicates: true}}
		request.Kinds = kinds
		ranked, caughtUp, err := c.reader.rank(ctx, &request)
		if err != nil {
			return err
		}
		c.unindexed = max(c.unindexed, caughtUp.behind())
		found, err := c.reader.candidates(ctx, ranked.Hits, true)
		if err != nil {
			return err
		}
		for _, f := range found {
			if f.gone {
				continue
			}
			score := f.ranked.Score
			if i > 0 { // a search for a file finds what names it; how often says little
				score = 0
			}
			c.add(f.Summary, section(f.Summary), score)
		}
	}
	return nil
}

// add takes a candidate in, once.
func (c *contextBuilder) add(s Summary, section contextSection, text float64) {
	name := s.Name
	if c.seen[name] || section == "" {
		return
	}
	c.seen[name] = true
	if stand := c.stands.Of(name); stand.Standing != Current {
		c.leftOut = append(c.leftOut, Omission{Name: name, Reason: stand.String()})
		return
	}
	if s.Doubt != "" {
		c.leftOut = append(c.leftOut, Omission{Name: name, Reason: s.Doubt})
		return
	}
	c.candidates = append(c.candidates, considered{
		contextItem: contextItem{Section: section, Summary: s, Text: s.Line()},
		text:        text, files: filesNamed(s.Title + " " + s.Description.Preview),
	})
}

// Line returns what a record says in one line: its title where the preview does not
// begin with it, and its preview.
func (s Summary) Line() string {
	title, preview := s.Title, s.Description.Preview
	switch start := strings.TrimSuffix(title, "…"); {
	case preview == "" || strings.HasPrefix(title, preview):
		return title
	case title == "" || strings.HasPrefix(preview, start):
		return preview
	}
	return title + ": " + preview
}

// knowledge adds entries of the graph, by text and by tag.
func (c *contextBuilder) knowledge(ctx context.Context) error {
	section := func(s Summary) contextSection {
		switch s.Attributes[record.AttributeType] {
		case "gotcha":
			return sectionGotchas
		case "task":
			return sectionTasks
		}
		return sectionPatterns
	}
	var err error
	if c.stands, err = c.reader.Standings(ctx); err != nil {
		return err
	}
	if err := c.search(ctx, section, record.KindKnowledge); err != nil || len(c.request.Tags) == 0 {
		return err
	}
	found, _, err := c.reader.Knowledge(ctx, KnowledgeRequest{Wanted: c.request.Tags, Limit: maxCandidates})
	for _, k := range found {
		c.add(k.Summary, section(k.Summary), 0)
	}
	return err
}

// tasks adds the journals of other tasks that have ended.
func (c *contextBuilder) tasks(ctx context.Context) error {
	return c.search(ctx, func(s Summary) contextSection {
		if s.Status == layout.StatusInProgress || s.Status == layout.StatusPending {
			return ""
		}
		return sectionTasks
	}, record.KindHandoff)
}

func (c *contextBuilder) results(ctx context.Context) error {
	return c.search(ctx, func(Summary) contextSection { return sectionResults }, record.KindResult)
}

// notes adds the documents of the workspace and of captured trees.
func (c *contextBuilder) notes(ctx context.Context) error {
	section := func(Summary) contextSection { return sectionNotes }
	return c.search(ctx, section, record.KindNote, record.KindArtifact)
}

// components adds the rows of the context map that have to do with the request.
func (c *contextBuilder) components(ctx context.Context) error {
	rows, err := c.reader.List(ctx, ListRequest{Filter: record.Filter{Kinds: []record.Kind{record.KindComponent}}})
	if err != nil {
		return err
	}
	words := contextWords(c.request.Text)
	for _, row := range rows.Entries {
		score, why := componentScore(row.Description, c.request.Files, words)
		name := row.Version.Record.Name
		if score == 0 || c.seen[name] {
			continue
		}
		c.seen[name] = true
		c.candidates = append(c.candidates, considered{
			contextItem: contextItem{
				Section: sectionComponents, Summary: row, Text: cmp.Or(row.Description.Preview,
					row.Description.Title), Why: why,
			},
			fixed: score, files: []string{row.Description.Title},
		})
	}
	return nil
}

// depends adds the journals that the request's task names as those it builds on.
func (c *contextBuilder) depends(ctx context.Context) error {
	if c.request.Entry != nil {
		return c.joined(ctx, c.request.Entry)
	}
	if c.request.Task == "" {
		return nil
	}
	own, err := c.handoff(ctx, c.request.Task, "has no journal: the tasks that it depends on are not known")
	if err != nil || own.Version.Record == nil {
		return err
	}
	c.seen[own.Name] = true
	journal, err := c.reader.Journal(ctx, own.Version)
	if err != nil {
		return err
	}
	dir, _ := path.Split(own.Name.ID)
	for _, task := range dependencies(journal) {
		s, err := c.handoff(ctx, dir+task, "named as a dependency, but has no journal")
		if err != nil {
			return err
		}
		if s.Version.Record != nil {
			c.add(s, sectionDepends, math.Inf(1))
		}
	}
	return nil
}

// joined adds what a task of a convention waits for, and the notes that tell of it or of what it is a part of.
func (c *contextBuilder) joined(ctx context.Context, of *Summary) error {
	joined, err := c.reader.Joined(ctx, of.Name.Tree, of.Task, of.Path)
	names := map[string]contextSection{}
	for _, j := range joined {
		names[j.Name] = sectionNotes
	}
	for _, l := range of.Version.Record.Links {
		names[l.Target] = sectionDepends
	}
	for _, text := range slices.Sorted(maps.Keys(names)) {
		name, nameErr := record.ParseName(text)
		if s, headErr := c.reader.Head(ctx, name); nameErr == nil && headErr == nil {
			c.add(s, names[text], math.Inf(1))
		}
	}
	return err
}

// Journal reads a version of a journal, as far as it is one.
func (r *Reader) Journal(ctx context.Context, v store.Version) (*layout.Journal, error) {
	content, err := r.content(ctx, v)
	if err != nil {
		return nil, err
	}
	const maxJournal = 8 << 20 // bounds how much of a journal is read, in bytes
	text, err := content.Head(maxJournal)
	journal, _ := layout.ParseJournal(text) // what departs from the layout was reported when it was captured
	return &journal, err
}

// handoff returns the newest journal of a task of the own tree; or nothing, and says so.
func (c *contextBuilder) handoff(ctx context.Context, task, absent string) (Summary, error) {
	name := record.Name{Kind: record.KindHandoff, ID: layout.TaskKey(task)} // no journal has this one
	v, err := c.reader.Resolve(ctx, name.String(), ResolveOptions{})
	switch {
	case errors.Is(err, record.NotFound) || errors.Is(err, record.Usage):
		name.ID = layout.JournalID(task)
		c.leftOut = append(c.leftOut, Omission{name, absent, true})
		return Summary{}, nil
	case err != nil:
		return Summary{}, err
	}
	return c.reader.Head(ctx, v.Record.Name)
}

// dependencies returns the tasks that a journal names in its metadata.
func dependencies(j *layout.Journal) []string {
	var tasks []string
	for _, p := range j.Extra {
		if !slices.Contains([]string{"depends", "depends_on", "dependencies"}, markdown.Fold(p.Key)) {
			continue
		}
		for _, id := range strings.FieldsFunc(p.Value, func(r rune) bool { return strings.ContainsRune(" ,;，、[]`\"", r) }) {
			if !markdown.IsNothing(id) && !slices.Contains(tasks, id) {
				tasks = append(tasks, id)
			}
		}
	}
	return tasks
}

// rank scores the candidates and puts the best first, behind what the task depends on.
func (c *contextBuilder) rank() {
	var newest time.Time
	best := math.SmallestNonzeroFloat64
	for _, k := range c.candidates {
		if date := k.Version.Record.Date(); date.After(newest) {
			newest = date
		}
		if !math.IsInf(k.text, 1) {
			best = max(best, k.text)
		}
	}
	for i := range c.candidates {
		k := &c.candidates[i]
		k.text = min(k.text/best, 1)
		k.judge(c.request, newest)
	}
	slices.SortFunc(c.candidates, func(a, b considered) int {
		return cmp.Or(
			compareBool(a.Section != sectionDepends, b.Section != sectionDepends),
			cmp.Compare(b.Score, a.Score),
			strings.Compare(a.Version.Record.Name.String(), b.Version.Record.Name.String()),
		)
	})
}

package knowledge

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/noun"
	"filebus/index"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/likeness"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Harvest is what the handoff of a task has for the knowledge graph and the
// context map.
type Harvest struct {
	Task      string     `json:"task"`
	Proposals []Proposal `json:"proposals"`
}

// A Proposal is one entry or one row that a handoff suggests.
type Proposal struct {
	Number    int              `json:"number"` // from 1
	Type      string           `json:"type"`   // of the entry; "component": a row
	Text      string           `json:"text"`
	Tags      []string         `json:"tags,omitempty"`
	Component string           `json:"component,omitempty"` // of a row
	Known     string           `json:"known,omitempty"`     // the id of the entry or row that has it already
	Like      []noun.Likeness  `json:"like,omitempty"`      // three at most
	Draft     layout.Knowledge `json:"-"`                   // of an entry
	Touch     Touch            `json:"-"`                   // of a row
}

// IsRow reports whether the proposal is a row of the context map.
func (p Proposal) IsRow() bool { return p.Component != "" }

// Open returns the proposals that are not known yet.
func (h *Harvest) Open() []Proposal {
	return slices.DeleteFunc(slices.Clone(h.Proposals), func(p Proposal) bool { return p.Known != "" })
}

// Harvest reads the handoff in a version of a journal and proposes entries from
// its patterns and gotchas, and rows from the files that it changed. The same
// handoff and the same store give the same proposals. Their tags are the ones given, tags of the
// store and words of the task's files that a proposal has the words of, and the task's components.
func (b *Entries) Harvest(ctx context.Context, v store.Version, tags []string) (*Harvest, error) {
	journal, err := b.handedOver(ctx, v)
	if err != nil {
		return nil, err
	}
	handoff := *journal.Handoff
	h := &Harvest{Task: cmp.Or(v.Record.Task, path.Base(v.Record.Name.ID))}
	known, err := b.learnedIn(ctx, h.Task)
	if err != nil {
		return nil, err
	}
	rows, err := b.Rows(ctx)
	if err != nil {
		return nil, err
	}
	touched := rowProposals(rows, handoff, h.Task)
	words, err := b.vocabulary(ctx, handoff.Files)
	if err != nil {
		return nil, err
	}
	const maxLike = 3 // how many entries are named that a proposal is like
	for _, d := range drafts(handoff, h.Task) {
		d.Tags = fittingTags(record.NormalizeTags(tags), words, touched, d)
		layout.KnowledgeFields().Clean(&d)
		p := Proposal{Type: d.Type, Text: d.Content, Tags: d.Tags, Draft: d}
		if i := slices.IndexFunc(known, func(e Entry) bool { return saysAs(d, e) }); i >= 0 {
			p.Known = known[i].ID
		} else if p.Like, err = b.Similar(ctx, p.Draft); err != nil {
			return nil, err
		}
		p.Like = p.Like[:min(maxLike, len(p.Like))]
		h.Proposals = append(h.Proposals, p)
	}
	for _, p := range touched {
		if p.Known, err = b.touchedBy(ctx, p.Touch, v.Record.Name, journal.Started); err != nil {
			return nil, err
		}
		h.Proposals = append(h.Proposals, p)
	}
	for i := range h.Proposals {
		h.Proposals[i].Number = i + 1
	}
	return h, nil
}

// handedOver reads a journal that has a handoff.
func (b *Entries) handedOver(ctx context.Context, v store.Version) (*layout.Journal, error) {
	if v.Record.Name.Kind != record.KindHandoff {
		return nil, errNoHandoff(v.Record.Name)
	}
	journal, err := b.Read.Journal(ctx, v)
	if err == nil && journal.Handoff == nil {
		err = errNoHandoff(v.Record.Name)
	}
	return journal, err
}

// saysAs reports whether an entry says what a draft does, and was learned in the
// same task.
func saysAs(d layout.Knowledge, e Entry) bool {
	return e.Type == d.Type && layout.TaskKey(e.Fields.Source) == layout.TaskKey(d.Source) &&
		markdown.OneLine(e.Fields.Content) == markdown.OneLine(d.Content)
}

// learnedIn returns the entries of the own tree that come from a task, as they are
// and as they once were: what was harvested and then changed is known.
func (b *Entries) learnedIn(ctx context.Context, task string) (entries []Entry, err error) {
	learned, err := b.Read.Own(ctx, record.Filter{Kinds: []record.Kind{record.KindKnowledge}, Tasks: layout.TaskForms(task)})
	if err != nil {
		return nil, err
	}
	err = query.EachOf(ctx, b.Read, learned, func(tx *store.Tx, s query.Summary) error {
		for old, err := range query.Versions(tx, s.Name) {
			if err != nil {
				return err
			}
			content, err := tx.Content(old.Record)
			if err != nil {
				return err
			}
			text, err := content.Head(store.InlineLimit)
			if err != nil {
				return fmt.Errorf("reading %s: %w", s.Name, err)
			}
			if e, err := b.made(b.Entry(s.Name, old.Record.Path, text)); err == nil { // else it is in no file of knowledge
				entries = append(entries, e)
			}
		}
		return nil
	})
	return entries, err
}

// drafts returns the entries that a handoff suggests.
func drafts(h layout.Handoff, task string) []layout.Knowledge {
	var all []layout.Knowledge
	add := func(kind, text, lead1, clause1, lead2, clause2 string) {
		for _, text := range sentences(text, clause1+clause2 == "") {
			text = appendClause(appendClause(text, lead1, clause1), lead2, clause2)
			all = append(all, layout.Knowledge{Type: kind, Content: text, Source: task, Confidence: "medium"})
		}
	}
	for _, p := range h.Patterns {
		add("pattern", p.Pattern, "at ", p.Location, "applies to ", p.AppliesTo)
	}
	for _, g := range h.Gotchas {
		add("gotcha", g.Issue, "mitigation: ", g.Mitigation, "severity: ", g.Severity)
	}
	return slices.DeleteFunc(all, func(d layout.Knowledge) bool { return d.Content == "" })
}

func appendClause(text, lead, clause string) string {
	if clause = markdown.OneLine(clause); clause == "" || text == "" {
		return text
	}
	return strings.TrimRight(text, ".;, ") + "; " + lead + clause
}

// leastWords is how many words each part of a cell must have so that a semicolon
// separates two things rather than the halves of one.
const leastWords = 5

// sentences returns the things that an item names. In a cell of a table agents put
// semicolons between them.
func sentences(text string, isCell bool) []string {
	parts := strings.Split(text, "; ")
	short := slices.ContainsFunc(parts, func(p string) bool { return len(strings.Fields(p)) < leastWords })
	if !isCell || short {
		return []string{markdown.OneLine(text)}
	}
	return markdown.Each(parts, markdown.OneLine)
}

// Untagged is the tag of harvested entries that get no other.
const Untagged = "untagged"

// vocabulary returns the tags to choose from: those of the store, most used first, then the words
// of some files and of their folders.
func (b *Entries) vocabulary(ctx context.Context, files []layout.HandoffFile) ([]string, error) {
	counts, err := b.Read.TagCounts(ctx, "")
	slices.SortStableFunc(counts, func(x, y query.TagCount) int { return y.Count - x.Count })
	tags := markdown.Each(counts, func(c query.TagCount) string { return c.Tag })
	for _, f := range files {
		file := layout.PlainPath(f.Path)
		tags = append(tags, likeness.Words(path.Base(path.Dir(file))+" "+strings.TrimSuffix(path.Base(file), path.Ext(file)))...)
	}
	return markdown.Each(tags, strings.ToLower), err
}

// fittingTags returns the tags of a draft: those given, those of a vocabulary whose words it has, and
// the components of its task. A tag that lets a text out, or keeps it in, is nobody's to guess.
func fittingTags(given, vocabulary []string, touched []Proposal, d layout.Knowledge) []string {
	const maxHarvestTags = 5 // how many tags a proposal gets besides those given
	tags, words := slices.Clone(given), index.Terms(d.Title+" "+d.Content)
	add := func(tag string) {
		isReserved := slices.Contains([]string{"", Untagged, materialize.TagPrivate, materialize.TagPublic}, tag)
		if !isReserved && !slices.Contains(tags, tag) && len(tags) < len(given)+maxHarvestTags {
			tags = append(tags, tag)
		}
	}
	for _, tag := range vocabulary {
		all := slices.Collect(maps.Keys(index.Terms(tag)))
		if len(all) > 0 && !slices.ContainsFunc(all, func(w string) bool { return !words[w] }) {
			add(tag)
		}
	}
	for _, p := range touched {
		if name := path.Base(layout.PlainPath(p.Component)); path.Ext(name) == "" {
			add(strings.ToLower(strings.Join(likeness.Words(name), "-")))
		}
	}
	if len(tags) == 0 {
		tags = []string{Untagged}
	}
	return tags
}

// rowProposals returns a row for each component that a handoff's files lie in:
// the deepest one that the map has, else the folder of the file.
func rowProposals(rows []Row, h layout.Handoff, task string) []Proposal {
	var all []Proposal
	seen := map[string]bool{}
	for _, f := range h.Files {
		file := layout.PlainPath(f.Path)
		if file == "" || path.IsAbs(file) || strings.HasPrefix(file, "..") {
			continue
		}
		p := Proposal{Touch: Touch{Name: folderOf(file), Modified: task}}
		if row, found := deepest(rows, file); found {
			p.Touch.Name = row.Name
		} else {
			p.Touch.Notes = markdown.FirstWords(cmp.Or(f.Description, h.Summary), layout.MaxKnowledgeTitle)
		}
		p.Type, p.Component, p.Text = "component", p.Touch.Name, p.Touch.Notes
		if key := layout.PlainPath(p.Component); !seen[key] {
			seen[key] = true
			all = append(all, p)
		}
	}
	return all
}

// touchedBy returns the id of a component whose row says, or has said since the task of a
// touch began, that it was changed by that: a later task is not taken back, and an earlier
// one of the same id is another. It is empty if there is none.
func (b *Entries) touchedBy(ctx context.Context, t Touch, journal record.Name, started string) (id string, err error) {
	since, _ := time.Parse(time.RFC3339, started) // zero: any time counts
	name, err := record.NewName("", record.KindComponent, layout.Component{Name: t.Name}.ID())
	if err != nil {
		return "", nil // a name that is no id: its row is touched again
	}
	err = b.Work.Store.View(ctx, func(tx *store.Tx) error {
		begun, err := tx.History(journal)
		if err != nil {
			return err
		}
		for v, err := range query.Versions(tx, name) {
			if err != nil {
				return err
			}
			// Journals have whole seconds: in the first one the log tells two runs apart.
			isSince := v.Record.Time.Sub(since) >= time.Second || len(begun) > 0 && v.Position > begun[0].Position
			if layout.TaskKey(v.Record.Task) == layout.TaskKey(t.Modified) && isSince {
				id = name.ID
			}
		}
		return nil
	})
	return id, err
}

// folderOf returns the component that a file without one makes: its folder, or
// the file itself at the top.
func folderOf(file string) string {
	if dir := path.Dir(file); dir != "." {
		return dir + "/"
	}
	return file
}

// deepest returns the row with the longest name that holds a file.
func deepest(rows []Row, file string) (best Row, found bool) {
	for _, row := range rows {
		if inComponent(row.Component, file) && (!found || len(row.Name) > len(best.Name)) {
			best, found = row, true
		}
	}
	return best, found
}

// Take adds the proposals with some numbers; those that are known already, or that
// another process has added meanwhile, are left out. It returns the ids of what
// was added: of entries as they are, of rows their components.
func (b *Entries) Take(ctx context.Context, h *Harvest, numbers []int) (added []string, err error) {
	var drafts []layout.Knowledge
	var touches []Touch
	for _, n := range numbers {
		if n < 1 || n > len(h.Proposals) {
			err := record.Usage.Errorf("there is no proposal %d: the last is %d", n, len(h.Proposals))
			return nil, err.Try("run it again without --add")
		}
		switch p := h.Proposals[n-1]; {
		case p.Known != "":
		case p.IsRow():
			touches = append(touches, p.Touch)
		default:
			drafts = append(drafts, p.Draft)
		}
	}
	names, err := b.addNew(ctx, drafts)
	if err != nil {
		return nil, err
	}
	rows, err := b.Touch(ctx, touches...)
	added = append(added, markdown.Each(names, func(n record.Name) string { return n.ID })...)
	added = append(added, markdown.Each(rows, func(r Row) string { return r.Name })...)
	return added, err
}

// addNew adds entries to the knowledge graph in one change, without those that
// stand there already.
func (b *Entries) addNew(ctx context.Context, drafts []layout.Knowledge) (names []record.Name, err error) {
	if len(drafts) == 0 {
		return nil, nil
	}
	p, err := b.file("")
	if err != nil {
		return nil, err
	}
	err = b.Work.EditEntriesIn(ctx, p, record.SourcePut, func(file *materialize.Entries) error {
		names = nil
		there := b.In(file)
		for _, d := range drafts {
			isThere := func(e noun.Entry[layout.Knowledge]) bool {
				made, err := b.made(e, nil)
				return err == nil && saysAs(d, made)
			}
			if slices.ContainsFunc(there, isThere) {
				continue
			}
			err := b.CheckFor(p, &d)
			if err != nil {
				return err
			}
			name, err := b.Insert(file, d)
			if err != nil {
				return err
			}
			names = append(names, name)
		}
		return nil
	})
	if err != nil || len(names) == 0 {
		return nil, err
	}
	_, err = b.Added(ctx, p, names[0])
	return names, err
}

package layout

import (
	"cmp"
	"embed"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// A Declaration says as data where a convention keeps its files, and what stands in them:
// docs/layouts/conventions.md describes the format. filebus reads these files, and writes of them
// what Boxes, Set and New say, and notes that no program keeps.
type Declaration struct {
	Layout string // its name: spec-kit
	Owner  string // the command that keeps the files; "": agents write them by hand
	File   []*FileRule
	Place  []*Place                     // folders that its tool's settings can move
	own    bool                         // it is a workspace's own
	Map    map[string]map[string]string // the words of a field, by what they mean here
	text   string
}

// A FileRule is a sort of file of a convention.
type FileRule struct {
	Path     []string // templates: {x} is a part of a name, {x...} several folders, {x:re} what a pattern fits
	Not      []string // patterns of paths that are left out
	Kind     record.Kind
	Type     string            // the attribute "type"
	Entries  string            // "": the file is one record; items, sections, lines, json, jsonl, yaml
	Newest   string            // of jsonl: where each says when it was written; of several with one id the latest counts
	At       []string          // levels of headings, or pointers to what is an entry: /tasks/*
	Key      string            // of json and jsonl: pointer to the id of an entry; "": /id
	Inside   string            // pointer to the entries in an entry: /subtasks/*
	Match    string            // of the text of an item, a heading, a line or a key
	Heading  string            // of headings that are entries among items
	Find     map[string]string // patterns that are looked for in an entry, by the capture
	Need     string            // "id": an entry has one; "id?": if any of the file has
	Nest     string            // of items: "part" belongs to the entry above
	Fences   bool              // items in fences and comments are some, too
	Skip     []string          // headings whose items are none
	Above    map[string]string // patterns of the headings above, by the capture
	Default  map[string]string // what a capture is where nothing says it
	ID       string            // a template of captures, "/" before it for ids of the whole tree; "": made of path and title
	Parent   string            // the same, of the entry above
	Task     string            // the same, of the task that the file or entry tells of, if that is another; it joins what stands in several files
	Fields   map[string]any    // facts by where they stand: see source
	Boxes    bool              // everybody may tick the boxes of its items
	Working  string            // the mark of a box for work that goes on; "": there is none
	Set      []string          // facts that everybody may change, where they stand
	New      string            // what everybody may add: a template of a file, or of a section; "": nothing
	Replaced string            // a template of the status of what another file takes the place of
	layout   *Declaration
	moved    bool     // settings of its tool say where its files lie
	said     []int    // how much of a path each template says, in bytes
	paths    []string // the patterns of the templates
	sources  map[string]source
	facts    []string // of two dates "updated" comes first
}

var (
	//go:embed declared/*.toml
	declarationFiles embed.FS
)

// conventions are the declarations, with the folders at the top of a workspace in which their files lie,
// and what all paths of these have. A declaration is read when the first such path is met.
var conventions = []*convention{
	{file: "agent-os", marks: []string{"agent-os/"}, folders: "agent-os .agent-os"},
	{file: "backlog", marks: []string{"backlog/"}, folders: "backlog .backlog",
		settings: "backlog/config.yml .backlog/config.yml backlog.config.yml"},
	{file: "beads", marks: []string{".beads/"}, folders: ".beads"},
	{file: "bmad", marks: []string{"_bmad-output/", "docs/stories/", "sprint-artifacts/", "docs/qa/gates/"},
		folders:  "_bmad-output docs/stories docs/sprint-artifacts docs/qa/gates",
		settings: ".bmad-core/core-config.yaml _bmad/bmm/config.yaml"},
	{file: "conductor", marks: []string{"conductor/"}, folders: "conductor"},
	{file: "decisions", marks: []string{"adr/", "adrs/", "decisions/", "architecture/"},
		folders:  "docs/adr docs/adrs doc/adr docs/decisions docs/architecture/decisions adr .agents/architecture",
		settings: ".adr-dir"},
	{file: "gsd", marks: []string{".planning/"}, folders: ".planning"},
	{file: "handoff", marks: []string{"handoff", "HANDOFF"},
		folders: "handoffs HANDOFF.md handoff.md .agents/HANDOFF.md .agents/sessions/handoffs"},
	{file: "kiro", marks: []string{".kiro/"}, folders: ".kiro"},
	{file: "memory-bank", marks: []string{"memory-bank/"}, folders: "memory-bank"},
	{file: "openspec", marks: []string{"openspec/"}, folders: "openspec"},
	{file: "planning-with-files", marks: []string{"task_plan.md", "findings.md", "progress.md"},
		folders: "task_plan.md findings.md progress.md"},
	{file: "progress", marks: []string{"PROGRESS.md", "progress.md"}, folders: "PROGRESS.md docs/progress.md"},
	{file: "serena", marks: []string{".serena/memories/"}, folders: ".serena"},
	{file: "spec-kit", marks: []string{"specs/", ".specify/"}, folders: "specs .specify", settings: ".specify/feature.json"},
	{file: "taskmaster", marks: []string{"tasks.json", ".taskmaster/"}, folders: ".taskmaster"},
	{file: "tasks-folder", marks: []string{"tasks/"}, folders: "tasks"},
}

// A convention is a declaration that is read when it is needed.
type convention struct {
	file, folders string
	settings      string // files of its tool's settings that can move its folders
	marks         []string
	once          sync.Once
	rules         []*FileRule
}

func (c *convention) read() []*FileRule {
	c.once.Do(func() {
		text, err := declarationFiles.ReadFile("declared/" + c.file + ".toml")
		d := &Declaration{}
		if err == nil {
			d, err = ParseDeclaration(text)
		}
		if err != nil {
			panic(fmt.Sprintf("declared/%s.toml: %v", c.file, err)) // a test reads them all
		}
		c.rules = d.File
	})
	return c.rules
}

// compiled returns a pattern of a declaration, which was checked; it is compiled once.
var compiled = func() func(string) *regexp.Regexp {
	patterns := &sync.Map{}
	return func(text string) *regexp.Regexp {
		if p, found := patterns.Load(text); found {
			return p.(*regexp.Regexp)
		}
		p := regexp.MustCompile(text)
		patterns.Store(text, p)
		return p
	}
}()

var templateVariable = Pattern(`\{(\w+)(\.\.\.)?(?::((?:[^{}]|\{[^{}]*\})*))?\}`)

// templatePattern returns the pattern of a template's paths, with what stands before as "prefix".
func templatePattern(template string) string {
	pattern, at := `^(?:(?P<prefix>.+)/)?`, 0
	for _, m := range templateVariable().FindAllStringSubmatchIndex(template, -1) {
		is := `[^/]+?`
		switch {
		case m[6] >= 0:
			is = template[m[6]:m[7]]
		case m[4] >= 0:
			is = `.+?`
		}
		pattern += regexp.QuoteMeta(template[at:m[0]]) + `(?P<` + template[m[2]:m[3]] + `>` + is + `)`
		at = m[1]
	}
	return pattern + regexp.QuoteMeta(template[at:]) + `$`
}

// captures returns what the named groups of a pattern have taken, "" of those that took nothing; nil if it does not fit.
func captures(pattern, text string) map[string]string {
	p := compiled(pattern)
	m := p.FindStringSubmatch(text)
	if m == nil {
		return nil
	}
	found := map[string]string{}
	for i, name := range p.SubexpNames() {
		if name != "" && (m[i] != "" || found[name] == "") {
			found[name] = m[i]
		}
	}
	return found
}

// declaredAt returns what a convention says of the file at a path. Of several rules the one counts whose
// template says most of the path.
func declaredAt(path string, own *Conventions) (place Location, found bool) {
	best, all := 0, conventions
	if own != nil {
		all = slices.Concat(own.all, conventions)
	}
	for _, c := range all {
		if !slices.ContainsFunc(c.marks, func(mark string) bool { return strings.Contains(path, mark) }) {
			continue
		}
		for _, r := range c.read() {
			for i, said := range r.said {
				if said <= best {
					continue
				}
				vars := captures(r.paths[i], path)
				isOut := func(not string) bool { return compiled(not).MatchString(path) }
				if vars != nil && !slices.ContainsFunc(r.Not, isOut) {
					best, place, found = said, r.place(path, vars), r.Kind != "none"
				}
			}
		}
	}
	return place, found
}

// place returns what the file at a path is, with what its template took from the path.
func (r *FileRule) place(path string, vars map[string]string) Location {
	for name, value := range r.Default {
		vars[name] = cmp.Or(vars[name], value)
	}
	at := Location{Kind: r.Kind, ID: path, Layout: &declared{r, vars}, Root: vars["prefix"], Entries: r.Kind, Declared: r.layout.Layout}
	if strings.HasPrefix(r.ID, "/") {
		vars["prefix"] = ""
	}
	switch {
	case r.Entries != "":
		at.Kind = record.KindFrame
	case r.Kind != record.KindNote:
		at.ID = record.WholeFile + path
	}
	return at
}

// DeclaredFolders returns the folders at the top of a workspace in which files of conventions may lie.
func DeclaredFolders() (all []string) {
	for _, c := range conventions {
		all = append(all, strings.Fields(c.folders)...)
	}
	return all
}

// A declared is the layout of a file by its rule.
type declared struct {
	*FileRule
	vars map[string]string // of its path
}

func (d *declared) kindOf() record.Kind { return d.Kind }

// A span is a part of a file, and what was captured of it.
type span struct {
	start, end, line int
	first, next      int // of its lines
	id               string
	vars             map[string]string
	text             string // without its mark; of a heading that has an id the title
	data             any    // of JSON
	front            map[string][]string
}

// Parse cuts a file into its entries, or makes it one record. A file that is broken is one record too, by
// its path, and that is reported.
func (d *declared) Parse(path string, text []byte) (File, []*SyntaxError) {
	if d.Entries == "" {
		whole, problems := span{vars: d.vars, text: string(text)}, []*SyntaxError(nil)
		if strings.HasSuffix(path, ".json") {
			if value, err := markdown.ParseObject(text); err != nil {
				problems = []*SyntaxError{{File: path, Line: err.Line, Err: err.Err}}
			} else {
				whole.data = value.Data()
			}
		}
		facts := d.read(text, whole)
		facts.Task = d.fill(d.Task, d.vars) // of front matter, it is about more than one
		entry := &Entry{Kind: d.Kind, Text: text, Line: 1, Facts: facts}
		return File{Path: path, Parts: []Part{{Entry: entry}}}, problems
	}
	c := newFileCutter(path, text)
	spans := d.spans(c)
	hasID := slices.ContainsFunc(spans, func(s span) bool { return s.vars["id"] != "" })
	for _, s := range spans {
		if s.vars["id"] == "" && (d.Need == "id" || d.Need == "id?" && hasID) {
			continue
		}
		facts := d.read(text[s.start:s.end], s)
		id := d.fill(d.ID, s.vars)
		if line, taken := c.used[id]; taken && id != "" {
			c.repeated(s.line, id, line)
			id = ""
		}
		if id, ok := c.claim(id, cmp.Or(facts.Title, s.text), s.line); ok {
			if d.Kind == record.KindTask {
				facts.Task = cmp.Or(d.fill(d.Task, s.vars), id)
			}
			c.add(&Entry{Kind: d.Kind, ID: id, Line: s.line, Facts: facts}, s.start, s.end)
		}
	}
	return c.finish()
}

// fill puts captures into a template: "" if one of them is missing. {id-1} is an id without its last part.
func (d *declared) fill(template string, vars map[string]string) string {
	whole := true
	filled := compiled(`\{[\w-]+\}`).ReplaceAllStringFunc(template, func(name string) string {
		name, up := strings.CutSuffix(strings.Trim(name, "{}"), "-1")
		value := vars[name]
		if up {
			value = value[:max(strings.LastIndexByte(value, '.'), 0)]
		}
		whole = whole && value != ""
		return value
	})
	if !whole || template == "" {
		return ""
	}
	return join(vars["prefix"], strings.TrimPrefix(filled, "/"))
}

// A source says where a fact stands: one or several places, the first that says something counts.
type source struct {
	From []string // each with a form of its text, or of the members of an object, behind " | "
	All  string   // between the texts of all places; such a text is no fact, but for other fields and commands
	Map  string   // the words of it that mean another
	Find string   // a pattern; its group is the value
	List string   // what stands between the items of a list
	Link string   // the type of the links that the value names; "*": the value's first word is
	To   string   // what a link leads to, where it is not the name: task/{feature}/{}
	Date bool
}

// sourceOf reads a source as declarations have it: a text, a list, or a table.
func sourceOf(value any) (s source) {
	texts := func(value any) (all []string) {
		switch value := value.(type) {
		case string:
			return []string{value}
		case []any:
			for _, v := range value {
				all = append(all, fmt.Sprint(v))
			}
		}
		return all
	}
	table, is := value.(map[string]any)
	if !is {
		return source{From: texts(value)}
	}
	word := func(key string) string { text, _ := table[key].(string); return text }
	s = source{From: texts(table["from"]), All: word("all"), Map: word("map"), Find: word("find"), List: word("list"), Link: word("link"), To: word("to")}
	s.Date, _ = table["date"].(bool)
	return s
}

// read returns what an entry says about itself.
func (d *declared) read(text []byte, s span) (f Facts) {
	if d.Entries == "" {
		f = FrontFacts(text)
	}
	if d.Type != "" {
		f.setFact(record.AttributeType, d.Type)
	}
	if d.layout.own || d.moved {
		f.setFact(AttributeLayout, d.layout.Layout)
	}
	s.front, _ = markdown.FrontMatter(text)
	for _, fact := range d.facts {
		src, values := d.said(fact, text, s)
		if src.All != "" {
			continue
		}
		for name, value := range s.vars {
			src.To = strings.ReplaceAll(src.To, "{"+name+"}", value)
		}
		if kind, rest, found := strings.Cut(src.To, "/"); found && s.vars["prefix"] != "" {
			file, isWhole := strings.CutPrefix(rest, record.WholeFile)
			src.To = kind + "/" + map[bool]string{true: record.WholeFile}[isWhole] + s.vars["prefix"] + "/" + file // in the same nested root
		}
		clean := d.clean(src, values)
		if parent := s.vars["id"][:max(strings.LastIndexByte(s.vars["id"], '.'), 0)]; parent != "" && src.Link != "" {
			for i, v := range clean { // a number alone is that of a sibling
				if isDigits(v) {
					clean[i] = parent + "." + v
				}
			}
		}
		f.take(fact, src, clean)
		if own := factLine(cmp.Or(values...)); fact == "status" && !strings.EqualFold(own, f.Status) {
			f.setFact("state", own) // in its own words
		}
	}
	if parent := d.fill(d.Parent, s.vars); parent != "" && record.CheckID(parent) == nil {
		f.Links = appendLink(f.Links, "parent", string(d.Kind)+"/"+parent)
	}
	if f.Attributes["archived"] != "" && f.Status != StatusComplete {
		f.setFact("state", f.Status)
		f.Status = statusArchived
	}
	return f
}

// said returns the source of a field, and what an entry says there as it is written.
func (d *declared) said(field string, text []byte, s span) (src source, values []string) {
	src = d.sources[field]
	for _, from := range src.From {
		place, form, _ := strings.Cut(from, " | ")
		found := d.valuesAt(place, form, text, s)
		if strings.Contains(form, "{}") {
			found = markdown.Each(found, func(v string) string { return strings.ReplaceAll(form, "{}", v) })
		}
		if values = append(values, found...); src.All == "" && len(values) > 0 {
			return src, values
		}
	}
	if len(values) > 0 {
		values = []string{strings.Join(values, src.All)}
	}
	return src, values
}

// clean returns the values of a source as facts have them.
func (d *declared) clean(src source, values []string) []string {
	if src.List != "" && len(values) == 1 {
		values = strings.Split(strings.Trim(values[0], "[]"), src.List)
	}
	if src.Find != "" {
		var found []string
		for _, v := range values {
			for _, m := range compiled(src.Find).FindAllStringSubmatch(v, -1) {
				found = append(found, m[len(m)-1])
			}
		}
		values = found
	}
	words := d.layout.Map[src.Map]
	return factList(values, func(v string) string {
		v = strings.TrimSpace(v)
		if words == nil {
			return v
		}
		if kind, of, found := strings.Cut(v, " "); found && src.Link == "*" {
			kind = strings.ToLower(kind)
			return cmp.Or(words[kind], kind) + " " + of
		}
		first := append(compiled(`^[^\p{L}]*([\p{L}-]+)`).FindStringSubmatch(strings.ToLower(v)), "", "")
		return cmp.Or(words[strings.ToLower(v)], words[first[1]], v)
	})
}

// ownFacts set the facts that are no attributes of one line as they are written.
var ownFacts = map[string]func(f *Facts, value string){
	"title":                  func(f *Facts, value string) { f.Title = factText(value, maxFactTitle) },
	"summary":                func(f *Facts, value string) { f.Summary = factSummary(value) },
	"status":                 func(f *Facts, value string) { f.Status = statusFact(value) },
	"author":                 func(f *Facts, value string) { f.Agent = word(value) }, // as it is written
	"agent":                  func(f *Facts, value string) { f.Agent = Slug(value) },
	record.AttributePriority: func(f *Facts, value string) { f.setFact(record.AttributePriority, priorityFact(value)) },
}

// take sets a fact to what was found of it.
func (f *Facts) take(fact string, src source, values []string) {
	value, kind := cmp.Or(values...), src.Link
	switch {
	case value == "":
	case src.Link != "":
		for _, v := range values {
			if src.Link == "*" {
				kind, v, _ = strings.Cut(v, " ")
			}
			for _, id := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == ' ' }) {
				if to := strings.ReplaceAll(cmp.Or(src.To, "{}"), "{}", id); record.CheckID(id) == nil {
					f.Links = appendLink(f.Links, kind, to)
				}
			}
		}
	case fact == "tags":
		f.Tags = factList(values, factLine)
	case ownFacts[fact] != nil:
		ownFacts[fact](f, value)
	case src.Date:
		f.setFact(fact, factLine(value))
		if date, ok := ParseDate(value); ok {
			f.Dates = append(f.Dates, date)
		}
	default:
		f.setFact(fact, factLine(strings.Join(values, ", ")))
	}
}

// valuesAt returns what stands at a place: box, boxes, heading, match.x, path.x, above.x, front.key,
// label.Name, section.Title, json./pointer, key, value, bold, text, field.x, or =word.
func (d *declared) valuesAt(from, form string, text []byte, s span) []string {
	of, name, _ := strings.Cut(from, ".")
	one := func(value string) []string {
		if value == "" {
			return nil
		}
		return []string{value}
	}
	switch of {
	case "match", "path", "above":
		return one(s.vars[name])
	case "box":
		return one(cmp.Or(d.layout.Map["box"][s.vars["$box"]], boxWord(s.vars["$box"])))
	case "boxes":
		return one(ticked(text))
	case "key", "value":
		return one(s.vars["$"+of])
	case "front":
		return s.front[strings.ToLower(name)]
	case "field":
		_, values := d.said(name, text, s)
		return values
	case "text":
		return one(string(text))
	case "json":
		return formed(pointed(s.data, splitPointer(name)), form)
	case "heading":
		return one(firstHeading(text))
	case "label", "section":
		start, end := placeOf(of, name, text)
		return one(string(text[start:end]))
	case "bold":
		if m := compiled(`(?m)^\*\*(.+?)\*\*`).FindSubmatch(text); m != nil {
			return one(string(m[1]))
		}
	}
	if constant, is := strings.CutPrefix(from, "="); is {
		return one(constant)
	}
	return nil
}

// firstHeading returns the text of the first heading.
func firstHeading(text []byte) string {
	for _, l := range markdown.Lines(text) {
		if l.Level > 0 {
			_, title := markdown.Heading(l.Text)
			return title
		}
	}
	return ""
}

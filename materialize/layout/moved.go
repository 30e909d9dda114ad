package layout

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"filebus/materialize/markdown"
)

// A Place is what the settings of a convention's tool say: where it has a folder, or which words it has.
type Place struct {
	File string // of settings, below the workspace: JSON, YAML, or the value alone
	At   string // the pointer to the value; "": it is all of the file
	Find string // a pattern; its group is the folder
	From string // what templates begin with where the folder is not moved
	As   string // what they begin with where it is, with the folder as a pattern in place of {}; "": the folder
	Map  string // it is no folder, but a list of words for these, in the order in which a task goes through them
}

// WithMoved returns the conventions of a workspace, of which there may be none, with those whose folders the settings
// of their tools move. read reads a file of the workspace.
func (c *Conventions) WithMoved(read func(name string) ([]byte, error)) *Conventions {
	var moved []*convention
	for _, known := range conventions {
		texts := map[string][]byte{}
		for _, file := range strings.Fields(known.settings) {
			if text, err := read(file); err == nil { // there are none, as a rule
				texts[file] = text
			}
		}
		if len(texts) == 0 {
			continue
		}
		is := known
		for _, p := range known.read()[0].layout.Place {
			text, isThere := texts[p.File]
			folder := ""
			if isThere && p.Map == "" {
				folder = p.folder(text)
			} else if words := p.node(text).Texts(); isThere && len(words) > 0 {
				is = is.worded(p.Map, words)
				moved = append(moved, is)
			}
			if folder != "" && checkPath(folder) == nil && !strings.ContainsAny(folder, "{}") {
				moved = append(moved, is.moved(p, folder))
			}
		}
	}
	if len(moved) == 0 {
		return c
	}
	if c != nil {
		moved = slices.Concat(c.all, moved)
	}
	return &Conventions{moved}
}

// node returns what settings have at the place.
func (p *Place) node(text []byte) markdown.Node {
	node, err := markdown.ParseJSONNode(text)
	if err != nil {
		node, _ = markdown.ParseYAML(string(text), 1)
	}
	for _, key := range splitPointer(p.At) {
		node = node.Get(markdown.Fold(key))
	}
	return node
}

// folder returns the folder that settings name, or "".
func (p *Place) folder(text []byte) string {
	value := string(text)
	if p.At != "" {
		value = p.node(text).Text()
	}
	value = strings.TrimSpace(value)
	if p.Find != "" {
		value = append(compiled(p.Find).FindStringSubmatch(value), "", "")[1]
	}
	if value == "" || path.IsAbs(value) {
		return ""
	}
	return path.Clean(value)
}

// worded returns a convention in which words that nobody knows mean a status by their place in a list: before the first
// known one of work that goes on, or at the front, they wait; before what is done, which is the last if no word says it,
// they go on.
func (c *convention) worded(field string, words []string) *convention {
	to := *c.read()[0].layout
	to.Map = maps.Clone(to.Map)
	to.Map[field] = maps.Clone(to.Map[field])
	index := func(status string, none int) int {
		at := slices.IndexFunc(words, func(word string) bool { return NormalizeStatus(word) == status })
		return map[bool]int{true: none, false: at}[at < 0]
	}
	begun, done := index(StatusInProgress, 1), index(StatusComplete, len(words)-1)
	for i, word := range words[:done+1] {
		if word = strings.ToLower(strings.TrimSpace(word)); cmp.Or(to.Map[field][word], NormalizeStatus(word)) == "" {
			status := StatusInProgress
			if i < begun {
				status = StatusPending
			} else if i == done {
				status = StatusComplete
			}
			to.Map[field][word] = status
		}
	}
	m := &convention{file: c.file, marks: c.marks}
	m.once.Do(func() {}) // it is read
	for _, r := range c.read() {
		rule := *r
		rule.layout = &to
		m.rules = append(m.rules, &rule)
	}
	return m
}

// moved returns a convention whose files lie in another folder.
func (c *convention) moved(p *Place, folder string) *convention {
	to := folder
	if p.As != "" {
		to = strings.ReplaceAll(p.As, "{}", regexp.QuoteMeta(folder))
	}
	m := &convention{file: c.file, marks: []string{folder}, folders: folder}
	m.once.Do(func() {}) // it is read
	for _, r := range c.read() {
		moved := *r
		moved.Path, moved.said, moved.paths, moved.moved = nil, nil, nil, true
		for _, template := range r.Path {
			if rest, is := strings.CutPrefix(template, p.From+"/"); is {
				moved.Path = append(moved.Path, to+"/"+rest)
			}
		}
		if _, err := moved.check(); err == nil && len(moved.Path) > 0 {
			m.rules = append(m.rules, &moved)
		}
	}
	return m
}

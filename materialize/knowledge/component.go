package knowledge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Map is the context map of a workspace's own tree: a row for each component
// that says which task changed it last, and what to know of it.
type Map struct {
	work *materialize.Workspace
	read *query.Reader
}

// NewMap returns the context map of a workspace. The reader is of the same store.
func NewMap(w *materialize.Workspace, r *query.Reader) *Map { return &Map{w, r} }

// A Row is a component of the map.
type Row struct {
	layout.Component
	ID   string    // of its record
	Path string    // of its file, slash-separated, below the workspace
	Time time.Time // when the row was stored as it is
}

// A NoComponentError says that the map has no row for a component.
type NoComponentError struct{ Name string }

func (e *NoComponentError) Error() string {
	return fmt.Sprintf("the context map has no component %s", e.Name)
}

// Rows returns all rows, in the order of their files.
func (m *Map) Rows(ctx context.Context) ([]Row, error) {
	paths, times, err := m.stored(ctx)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, p := range paths {
		var frame store.Version
		err := m.work.Store.View(ctx, func(tx *store.Tx) (err error) {
			frame, err = tx.Head(record.Name{Kind: record.KindFrame, ID: p})
			return err
		})
		if errors.Is(err, store.ErrNotFound) {
			continue // it went away a moment ago
		}
		var text bytes.Buffer
		if err == nil {
			_, err = m.read.WriteBody(ctx, &text, frame, query.BodyRequest{})
		}
		if err != nil {
			return nil, err
		}
		file, _ := layout.ContextMap{}.Parse(p, text.Bytes())
		columns := layout.ContextMap{}.Columns(file)
		for _, e := range file.Entries() {
			c, _ := layout.ParseComponent(e.Text, columns) // a row that is too short is one too
			rows = append(rows, Row{c, e.ID, p, times[e.ID]})
		}
	}
	return rows, nil
}

// stored returns the files that hold rows, and when each row was stored.
func (m *Map) stored(ctx context.Context) (paths []string, times map[string]time.Time, err error) {
	times = map[string]time.Time{}
	err = m.work.Store.View(ctx, func(tx *store.Tx) error {
		for ref, err := range tx.Lookup(store.FieldKind, string(record.KindComponent)) {
			if err != nil {
				return err
			}
			v, err := tx.Get(ref)
			if err != nil {
				return err
			}
			if r := v.Record; r.Name.Tree == "" {
				times[r.Name.ID] = r.Time
				paths = append(paths, r.Path)
			}
		}
		return nil
	})
	slices.Sort(paths)
	return slices.Compact(paths), times, err
}

// Find returns the rows of the component with a name, spelled with or without a
// final slash.
func (m *Map) Find(ctx context.Context, name string) ([]Row, error) {
	rows, err := m.Rows(ctx)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool { return componentKey(r.Name) != componentKey(name) })
	if len(rows) == 0 {
		return nil, &NoComponentError{name}
	}
	return rows, nil
}

// componentKey is what two spellings of a component have in common.
func componentKey(name string) string {
	return strings.TrimSuffix(strings.TrimSpace(strings.Trim(oneLine(name), "` ")), "/")
}

// A Touch says what a task has done to a component. What is empty stays as it is.
type Touch struct {
	Name     string // a path, mostly
	Task     string
	Notes    string
	Location string // where it is, when the name is no path
}

// maxCell bounds the text of a cell, in bytes: a row is read by agents, and costs
// about 50 tokens.
const maxCell = 1000

func (t Touch) clean() (Touch, error) {
	t.Name = strings.TrimSpace(strings.Trim(oneLine(t.Name), "` "))
	t.Notes, t.Location, t.Task = oneLine(t.Notes), oneLine(t.Location), oneLine(t.Task)
	if layout.TaskID(t.Task) != "" {
		t.Task = layout.TaskID(t.Task)
	}
	switch {
	case componentKey(t.Name) == "":
		return t, &FieldError{"component", "", "the path or name of a part of the project"}
	case len(t.Name)+len(t.Notes)+len(t.Location)+len(t.Task) > maxCell:
		return t, &RowSizeError{len(t.Name) + len(t.Notes) + len(t.Location) + len(t.Task)}
	}
	return t, nil
}

// A RowSizeError says that a row is too long for a table that agents read.
type RowSizeError struct{ Bytes int }

func (e *RowSizeError) Error() string {
	return fmt.Sprintf("a row of %d bytes is too long for the context map, which takes %d: say what to know in a sentence", e.Bytes, maxCell)
}

// Touch sets what a touch says in the row of its component; a component without a
// row gets one. It reports whether the row is new.
func (m *Map) Touch(ctx context.Context, t Touch) (row Row, isNew bool, err error) {
	rows, made, err := m.TouchAll(ctx, []Touch{t})
	if err != nil {
		return Row{}, false, err
	}
	return rows[0], made == 1, nil
}

// TouchAll is Touch for several components, one after another, if all of them can
// be. It returns their rows, and how many are new; beside an error those that were
// set before it.
func (m *Map) TouchAll(ctx context.Context, touches []Touch) (rows []Row, made int, err error) {
	touches = slices.Clone(touches)
	for i, t := range touches {
		if touches[i], err = t.clean(); err != nil {
			return nil, 0, err
		}
	}
	for _, t := range touches {
		var row Row
		isNew := false
		id := layout.Component{Name: t.Name}.ID()
		err = m.work.EditEntries(ctx, record.KindComponent, id, record.SourcePut, func(e *materialize.Entries) error {
			var err error
			row, isNew, err = t.apply(e)
			return err
		})
		if err != nil {
			return rows, made, err
		}
		if rows = append(rows, row); isNew {
			made++
		}
	}
	return rows, made, nil
}

// apply carries out a touch in the file of the map.
func (t Touch) apply(e *materialize.Entries) (row Row, isNew bool, err error) {
	file, _ := layout.ContextMap{}.Parse(e.Path, e.Text())
	columns := layout.ContextMap{}.Columns(file)
	hasLocation := slices.ContainsFunc(columns, func(c string) bool { return strings.EqualFold(c, "location") || strings.EqualFold(c, "path") })
	if t.Location != "" && !hasLocation {
		return t.applyWide(e, file)
	}
	for _, old := range e.List() {
		if c, _ := layout.ParseComponent(old.Text, columns); componentKey(c.Name) == componentKey(t.Name) {
			text := t.set(old.Text, columns)
			if !bytes.Equal(text, old.Text) {
				e.Set(old.Name, text)
			}
			c, _ = layout.ParseComponent(text, columns)
			return Row{Component: c, ID: old.Name.ID, Path: e.Path}, false, nil
		}
	}
	c := layout.Component{Name: t.Name, Modified: t.Task, Location: t.Location, Notes: t.Notes}
	text := layout.AppendComponent(nil, c, columns)
	e.Add(record.KindComponent, c.ID(), text)
	return Row{Component: c, ID: c.ID(), Path: e.Path}, true, nil
}

// set returns a row with what the touch says.
func (t Touch) set(row []byte, columns []string) []byte {
	for _, f := range []struct{ column, value string }{
		{"Last Modified", t.Task}, {"Notes", t.Notes}, {"Location", t.Location},
	} {
		if f.value != "" {
			row = layout.SetComponentField(row, columns, f.column, f.value)
		}
	}
	return row
}

// applyWide is apply for a table that has no column for the location yet: it gets
// one, so that every row changes.
func (t Touch) applyWide(e *materialize.Entries, file layout.File) (row Row, isNew bool, err error) {
	find := func(f layout.File, columns []string) *layout.Entry {
		for _, entry := range f.Entries() {
			if c, _ := layout.ParseComponent(entry.Text, columns); componentKey(c.Name) == componentKey(t.Name) {
				return entry
			}
		}
		return nil
	}
	columns := layout.ContextMap{}.Columns(file)
	if isNew = find(file, columns) == nil; isNew {
		c := layout.Component{Name: t.Name}
		file = layout.ContextMap{}.Insert(file, layout.Entry{Kind: record.KindComponent, ID: c.ID(), Text: layout.AppendComponent(nil, c, columns)})
	}
	file, _ = layout.ContextMap{}.Parse(e.Path, layout.AddComponentColumn(file.Append(nil), "Location"))
	columns = layout.ContextMap{}.Columns(file)
	entry := find(file, columns)
	if entry == nil {
		return Row{}, false, &BrokenError{e.Path}
	}
	entry.Text = t.set(entry.Text, columns)
	c, _ := layout.ParseComponent(entry.Text, columns)
	e.Replace(file.Append(nil))
	return Row{Component: c, ID: entry.ID, Path: e.Path}, isNew, nil
}

// A Match is a row with what speaks for it.
type Match struct {
	Row
	Score    int
	Files    []string // that lie in the component
	Words    []string // that its name or location has
	NoteHits []string // words that its notes have
}

// The points that a row gets.
const (
	fileScore = 3 // for each file in the component
	wordScore = 2 // for each word of its name or location
	noteScore = 1 // for each word of its notes
)

// MaxMatches is how many rows For returns.
const MaxMatches = 10

// For returns the rows that concern some files and a text about them, those with
// most points first: 3 for a file in the component, 2 for a word that its name or
// location has, 1 for a word that its notes have. The words are those of the text
// and of the files' names. Of equal points the row stored last comes first.
func (m *Map) For(ctx context.Context, files []string, text string) ([]Match, error) {
	rows, err := m.Rows(ctx)
	if err != nil {
		return nil, err
	}
	return RankRows(rows, files, text), nil
}

// RankRows is Map.For for rows that were read before.
func RankRows(rows []Row, files []string, text string) []Match {
	words := keywords(files, text)
	var matches []Match
	for _, row := range rows {
		match := Match{Row: row}
		for _, file := range files {
			if inComponent(row.Component, file) {
				match.Files = append(match.Files, file)
			}
		}
		name, notes := terms(row.Name+" "+row.Location), terms(row.Notes)
		for _, w := range words {
			if name[w] {
				match.Words = append(match.Words, w)
			}
			if notes[w] {
				match.NoteHits = append(match.NoteHits, w)
			}
		}
		match.Score = fileScore*len(match.Files) + wordScore*len(match.Words) + noteScore*len(match.NoteHits)
		if match.Score > 0 {
			matches = append(matches, match)
		}
	}
	slices.SortStableFunc(matches, func(a, b Match) int {
		return cmp.Or(b.Score-a.Score, b.Time.Compare(a.Time), strings.Compare(a.Name, b.Name))
	})
	return matches[:min(MaxMatches, len(matches))]
}

// inComponent reports whether a file is a component, lies below it, or is matched
// by it.
func inComponent(c layout.Component, file string) bool {
	file = cleanPath(file)
	for place := range strings.SplitSeq(c.Name+","+c.Location, ",") {
		place = cleanPath(place)
		if place == "" || file == "" {
			continue
		}
		folder, _, deep := strings.Cut(place, "**")
		matched, err := path.Match(place, file)
		if file == place || strings.HasPrefix(file, place+"/") || err == nil && matched || deep && folder != "" && strings.HasPrefix(file, folder) {
			return true
		}
	}
	return false
}

// cleanPath returns a path as agents name it in one form.
func cleanPath(file string) string {
	file = componentKey(file)
	if file == "" {
		return ""
	}
	return path.Clean(file)
}

// keywords returns the words by which rows are found, in the order in which they
// come: as the index has them, without those that most paths hold.
func keywords(files []string, text string) []string {
	var words []string
	seen := map[string]bool{}
	add := func(text string) {
		for _, part := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("/.,:;()[]{}\"'`*", r) || r <= ' ' }) {
			for w := range terms(part) {
				if !seen[w] && len(w) > 2 && !isCommon(w) {
					seen[w] = true
					words = append(words, w)
				}
			}
		}
	}
	for _, file := range files {
		file = cleanPath(file)
		add(strings.TrimSuffix(file, path.Ext(file)))
	}
	add(text)
	slices.Sort(words)
	return words
}

// isCommon reports whether a word says nothing of a component.
func isCommon(w string) bool {
	return slices.Contains([]string{
		"src", "lib", "pkg", "app", "cmd", "internal", "intern", "index", "main", "test", "tests", "doc", "docs", "file", "code",
		"the", "and", "for", "with", "from", "that", "this", "into", "add", "all", "are", "not", "use", "new",
	}, w)
}

package knowledge

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/cmd/filebus/noun"
	"filebus/index"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Row is a component of the context map: which task changed it last, and what to
// know of it.
type Row struct {
	layout.Component
	ID   string    `json:"-"` // of its record
	Path string    `json:"-"` // of its file, slash-separated, below the workspace
	Time time.Time `json:"-"` // when the row was stored as it is
	New  bool      `json:"-"` // it was made just now
}

// Rows returns all rows, in the order of their files.
func (b *Entries) Rows(ctx context.Context) ([]Row, error) {
	stored, err := b.Read.Own(ctx, record.Filter{Kinds: []record.Kind{record.KindComponent}})
	if err != nil {
		return nil, err
	}
	times, paths := map[string]time.Time{}, map[string]bool{}
	for _, s := range stored {
		times[s.Name.ID], paths[s.Path] = s.Time, true
	}
	var rows []Row
	for _, p := range slices.Sorted(maps.Keys(paths)) {
		frame, err := b.Read.Head(ctx, record.Name{Kind: record.KindFrame, ID: p})
		if errors.Is(err, store.ErrNotFound) {
			continue // it went away a moment ago
		}
		var text bytes.Buffer
		if err == nil {
			_, err = b.Read.WriteBody(ctx, &text, frame.Version, query.BodyRequest{})
		}
		if err != nil {
			return nil, err
		}
		entries, components := layout.Components(p, text.Bytes())
		for i, e := range entries {
			rows = append(rows, Row{Component: components[i], ID: e.ID, Path: p, Time: times[e.ID]})
		}
	}
	return rows, nil
}

// Find returns the rows of the component with a name, spelled with or without a
// final slash.
func (b *Entries) Find(ctx context.Context, name string) ([]Row, error) {
	rows, err := b.Rows(ctx)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r Row) bool { return layout.PlainPath(r.Name) != layout.PlainPath(name) })
	if len(rows) == 0 {
		return nil, record.NotFound.Errorf("the context map has no component %s", name).Try("filebus component show")
	}
	return rows, nil
}

// A Touch says what a task has done to a component. What is empty stays as it is.
type Touch layout.Component

// maxCell bounds the text of a cell, in bytes: a row is read by agents, and costs
// about 50 tokens.
const maxCell = 1000

func (t Touch) clean() (Touch, error) {
	t.Name = strings.TrimSpace(strings.Trim(markdown.OneLine(t.Name), "` "))
	t.Notes, t.Location, t.Modified = markdown.OneLine(t.Notes), markdown.OneLine(t.Location), layout.SourceTask(t.Modified)
	size := len(t.Name) + len(t.Notes) + len(t.Location) + len(t.Modified)
	switch {
	case layout.PlainPath(t.Name) == "":
		err := record.Usage.Errorf("no component is given: the path or name of a part of the project")
		return t, err.Try("filebus component touch NAME")
	case size > maxCell:
		return t, record.Usage.Errorf("a row of %d bytes is too long for the context map, which takes %d: "+
			"say what to know in a sentence", size, maxCell).Try("run it again with a shorter --notes")
	}
	return t, nil
}

// Touch sets what touches say in the rows of their components, one after another, if
// all of them can be; a component without a row gets one. It returns the rows; beside
// an error those that were set before it.
func (b *Entries) Touch(ctx context.Context, touches ...Touch) (rows []Row, err error) {
	touches = slices.Clone(touches)
	for i, t := range touches {
		if touches[i], err = t.clean(); err != nil {
			return nil, err
		}
	}
	for _, t := range touches {
		var row Row
		id := layout.Component{Name: t.Name}.ID()
		err = b.Work.EditEntries(ctx, record.KindComponent, id, record.SourcePut,
			func(e *materialize.Entries) (err error) {
				row, err = t.apply(e)
				return err
			})
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

// apply carries out a touch in the file of the map.
func (t Touch) apply(e *materialize.Entries) (Row, error) {
	text, c, id, isNew := layout.SetComponent(e.Path, e.Text(), layout.Component(t))
	if id == "" {
		return Row{}, noun.ErrBroken(e.Path)
	}
	if !bytes.Equal(text, e.Text()) {
		e.Replace(text)
	}
	return Row{Component: c, ID: id, Path: e.Path, New: isNew}, nil
}

// A Match is a row with what speaks for it.
type Match struct {
	Row
	Score int      `json:"score"`
	Files []string `json:"files,omitempty"` // that lie in the component
	Words []string `json:"words,omitempty"` // that its name or location has, then those that its notes have
}

// The points that a row gets.
const (
	fileScore = 3 // for each file in the component
	wordScore = 2 // for each word of its name or location
	noteScore = 1 // for each word of its notes
)

// maxMatches is how many rows For returns.
const maxMatches = 10

// For returns the rows that concern some files and a text about them, those with
// most points first: 3 for a file in the component, 2 for a word that its name or
// location has, 1 for a word that its notes have. The words are those of the text
// and of the files' names. Of equal points the row stored last comes first.
func (b *Entries) For(ctx context.Context, files []string, text string) ([]Match, error) {
	rows, err := b.Rows(ctx)
	if err != nil {
		return nil, err
	}
	return rankRows(rows, files, text), nil
}

// rankRows is For for rows that were read before.
func rankRows(rows []Row, files []string, text string) []Match {
	words := keywords(files, text)
	var matches []Match
	for _, row := range rows {
		match := Match{Row: row}
		isElsewhere := func(file string) bool { return !inComponent(row.Component, file) }
		match.Files = slices.DeleteFunc(slices.Clone(files), isElsewhere)
		name, notes := index.Terms(row.Name+" "+row.Location), index.Terms(row.Notes)
		ofName := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !name[w] })
		ofNotes := slices.DeleteFunc(slices.Clone(words), func(w string) bool { return !notes[w] })
		match.Words = slices.Concat(ofName, ofNotes)
		match.Score = fileScore*len(match.Files) + wordScore*len(ofName) + noteScore*len(ofNotes)
		if match.Score > 0 {
			matches = append(matches, match)
		}
	}
	slices.SortStableFunc(matches, func(a, b Match) int {
		return cmp.Or(b.Score-a.Score, b.Time.Compare(a.Time), strings.Compare(a.Name, b.Name))
	})
	return matches[:min(maxMatches, len(matches))]
}

// inComponent reports whether a file is a component, lies below it, or is matched
// by it.
func inComponent(c layout.Component, file string) bool {
	return slices.ContainsFunc(strings.Split(c.Name+","+c.Location, ","), func(place string) bool {
		return layout.Covers(layout.PlainPath(place), layout.PlainPath(file))
	})
}

// keywords returns the words by which rows are found, sorted: as the index has them,
// without those that most paths hold.
func keywords(files []string, text string) []string {
	for _, file := range files {
		file = layout.PlainPath(file)
		text += " " + strings.TrimSuffix(file, path.Ext(file))
	}
	words := map[string]bool{}
	isBetween := func(r rune) bool { return strings.ContainsRune("/.,:;()[]{}\"'`*", r) || r <= ' ' }
	for _, part := range strings.FieldsFunc(text, isBetween) {
		maps.Copy(words, index.Terms(part))
	}
	maps.DeleteFunc(words, func(w string, _ bool) bool { return len(w) <= 2 || isCommon(w) })
	return slices.Sorted(maps.Keys(words))
}

// isCommon reports whether a word says nothing of a component.
func isCommon(w string) bool {
	return slices.Contains([]string{
		"src", "lib", "pkg", "app", "cmd", "internal", "intern", "index", "main", "test", "tests", "doc", "docs", "file", "code",
		"the", "and", "for", "with", "from", "that", "this", "into", "add", "all", "are", "not", "use", "new",
	}, w)
}

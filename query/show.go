package query

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"time"

	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// A Detail is what there is to say about a version besides its body.
type Detail struct {
	Summary
	Current  bool           `json:"current"` // it is the head of its name
	FullRef  record.Ref     `json:"full_ref"`
	Body     record.Digest  `json:"body"`
	Size     int64          `json:"size"`
	Words    int            `json:"words,omitempty"`
	Preview  string         `json:"preview,omitempty"`
	Source   record.Source  `json:"source"`
	Links    []record.Link  `json:"links,omitempty"`
	From     []record.Ref   `json:"from,omitempty"`
	Joined   []Joined       `json:"joined,omitempty"`
	Targets  []Target       `json:"targets,omitempty"` // of a task's links, those that are there
	Versions []versionEvent `json:"versions"`          // what happened to its name, oldest first
	Outline  []heading      `json:"outline,omitempty"` // of a text, as far as it is listed
	More     int            `json:"more_headings,omitempty"`
	Entries  []fileEntry    `json:"entries,omitempty"` // of a frame: those of its file, in order
}

// A versionEvent is one line of a name's history.
type versionEvent struct {
	Position uint64          `json:"position"`
	Time     time.Time       `json:"time"`
	Change   string          `json:"change"` // put, retire, conflict, resolve, drop
	Ref      record.ShortRef `json:"ref"`
	Tokens   int             `json:"tokens,omitempty"` // of the version's body, about; 0 when it is dropped
	Agent    string          `json:"agent,omitempty"`  // that made the version
}

// A heading is a line of an outline.
type heading struct {
	Title  string `json:"title"`
	Level  int    `json:"level"`  // 1 to 6
	Lines  Span   `json:"lines"`  // in the body, of the whole section
	Tokens int    `json:"tokens"` // of the whole section, about
}

// Show returns the details of a version.
func (r *Reader) Show(ctx context.Context, v store.Version) (Detail, error) {
	of := v.Record
	d := Detail{FullRef: v.Ref, Body: of.Body, Size: of.Size, Source: of.Source, Links: of.Links, From: of.From}
	err := r.store.View(ctx, func(tx *store.Tx) (err error) {
		d.Summary = Summarize(tx, v)
		d.Words, d.Preview = d.Description.Words, d.Description.Preview
		d.Versions, d.Current, err = versions(tx, v)
		for _, l := range of.Links {
			name, nameErr := record.ParseName(l.Target)
			if to, headErr := tx.Head(name); nameErr == nil && headErr == nil && of.Name.Kind == record.KindTask {
				s := Summarize(tx, to)
				d.Targets = append(d.Targets, Target{s.Name.String(), s.Status, s.Title})
			}
		}
		return err
	})
	if err != nil {
		return d, err
	}
	if of.Name.Kind == record.KindFrame {
		d.Entries, err = r.entries(ctx, v)
		return d, err
	}
	if of.Task != "" && IsDeclared(d.Summary) {
		if d.Joined, err = r.Joined(ctx, of.Name.Tree, of.Task, of.Path); err != nil {
			return d, err
		}
	}
	d.Outline, d.More, err = r.outline(ctx, v)
	return d, err
}

// versions lists what happened to the name of v, and reports whether v is its head.
// A dropped version is listed without what its content would tell.
func versions(tx *store.Tx, v store.Version) (list []versionEvent, current bool, err error) {
	head, isHead, err := tx.Last(v.Record.Name)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return nil, false, err
	}
	current = err == nil && isHead && head.Ref == v.Ref
	events, err := tx.History(v.Record.Name)
	if err != nil {
		return nil, false, err
	}
	for _, e := range events {
		entry, err := tx.Entry(e.Position)
		if err != nil {
			return nil, false, err
		}
		line := versionEvent{e.Position, entry.Time, e.Change.String(), record.ShortRef(e.Ref), 0, ""}
		of, err := tx.Get(e.Ref)
		switch {
		case errors.Is(err, store.ErrDropped):
		case err != nil:
			return nil, false, err
		default:
			line.Tokens, line.Agent = record.EstimateTokens(of.Record.Size), of.Record.Agent
		}
		list = append(list, line)
	}
	return list, current, nil
}

// maxOutline is how many headings of a text are listed.
const maxOutline = 10_000

// outline returns the headings of a version's body, of any size, and how many more there are; none of a body
// that is not text.
func (r *Reader) outline(ctx context.Context, v store.Version) (outline []heading, more int, err error) {
	content, err := r.content(ctx, v)
	if err != nil {
		return nil, 0, err
	}
	open, _, err := source(content.Open).asText(content.Size)
	if err != nil {
		return nil, 0, err
	}
	body, err := open()
	if err != nil {
		return nil, 0, err
	}
	text, sections := bufio.NewReaderSize(body, 8<<10), []markdown.Section(nil)
	if head, _ := text.Peek(8 << 10); !markdown.IsBinary(head) { // an error is that of the outline too
		sections, more, err = markdown.OutlineReader(text)
	}
	if err = errors.Join(err, body.Close()); err != nil {
		return nil, 0, fmt.Errorf("reading %s: %w", v.Record.Name, err)
	}
	listed := sections[:min(len(sections), maxOutline)]
	for _, s := range listed {
		tokens := record.EstimateTokens(int64(s.End - s.Start))
		outline = append(outline, heading{s.Title, s.Level, Span{s.Line, s.EndLine}, tokens})
	}
	return outline, more + len(sections) - len(listed), nil
}

// entries lists what stands in an aggregate file.
func (r *Reader) entries(ctx context.Context, v store.Version) ([]fileEntry, error) {
	plan, err := r.readFile(ctx, v)
	if err != nil {
		return nil, err
	}
	var entries []fileEntry
	for _, p := range plan.pieces {
		if e := plan.entries[p.Slot]; e != nil {
			entries = append(entries, *e)
		}
	}
	return entries, nil
}

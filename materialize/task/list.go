package task

import (
	"cmp"
	"context"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store/record"
)

// ListOptions say which tasks are listed.
type ListOptions struct {
	Running bool          // only those that have not ended and have no marker
	Late    time.Duration // a running task is late that began longer ago; 0: none is
}

// An Item is a task in a list.
type Item struct {
	ID      string `json:"task"`    // as its journal has it
	Status  string `json:"status"`  // in_progress, complete, ...
	Seconds int    `json:"seconds"` // since the start, or else since the journal changed
	Quiet   int    `json:"quiet"`   // seconds since the journal changed
	Agent   string `json:"agent,omitempty"`
	Marked  bool   `json:"marker"` // its marker is there
	Late    bool   `json:"late,omitempty"`
	Title   string `json:"title,omitempty"` // its beginning, in one line
}

// maxItemTitle is how many characters of a title a list has.
const maxItemTitle = 120

// List returns the tasks of the own tree that have a journal, the one that changed
// last first. Of several tasks that had one id, the last is listed.
func (b *Board) List(ctx context.Context, opts ListOptions) ([]Item, error) {
	listing, err := b.read.List(ctx, query.ListRequest{
		Filter: record.Filter{Kinds: []record.Kind{record.KindHandoff}, Trees: []record.Tree{""}},
	})
	if err != nil {
		return nil, err
	}
	var items []Item
	seen := map[string]bool{}
	for _, s := range listing.Entries {
		p := s.Version.Record.Path
		_, isJournal := layout.Recognize(p).Layout.(layout.Journals) // reports are handoffs too
		if seen[p] || !isJournal {
			continue
		}
		seen[p] = true
		item := b.item(s, opts.Late)
		if !opts.Running || !item.Marked && !layout.HasEnded(item.Status) {
			items = append(items, item)
		}
	}
	return items, nil
}

func (b *Board) item(s query.Summary, late time.Duration) Item {
	r := s.Version.Record
	quiet := max(b.now().Sub(r.Time), 0)
	age := quiet
	if at, err := time.Parse(time.RFC3339, s.Description.Attributes[layout.AttributeStarted]); err == nil {
		age = max(b.now().Sub(at), 0)
	}
	i := Item{
		ID: cmp.Or(r.Task, r.Name.ID), Title: markdown.Clip(markdown.OneLine(s.Description.Title), maxItemTitle),
		Status: r.Status, Agent: r.Agent, Seconds: int(age.Seconds()), Quiet: int(quiet.Seconds()),
	}
	if id, err := ParseID(i.ID); err == nil {
		found, _ := b.markers(id) // what stands in the place of one is none
		i.Marked = len(found) > 0
	}
	i.Late = late > 0 && age >= late && !i.Marked && !layout.HasEnded(i.Status)
	return i
}

package dialogue

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store/record"
)

// An Item is a dialogue in a list.
type Item struct {
	Key    Key       `json:"dialogue"`
	Title  string    `json:"title"`          // the slug, where the pool says none
	Rounds int       `json:"rounds"`         // that have a file
	Last   *int      `json:"last,omitempty"` // the number of the last of them; nil: there is none
	Turns  int       `json:"turns"`          // files of agents in the last round, stubs among them
	Owed   int       `json:"owed,omitempty"` // files that the panel of the last round asks for; 0: it has none
	Agents []string  `json:"agents,omitempty"`
	Status string    `json:"status,omitempty"` // open or converged, by the last scoreboard; "" without one
	Time   time.Time `json:"time"`             // of the newest record
}

// The statuses of a dialogue.
const (
	DialogueOpen      = "open"
	DialogueConverged = "converged"
)

// List returns the dialogues with the newest record first, limit of them at most,
// and how many there are. A limit of 0 is none.
func (f *Forum) List(ctx context.Context, limit int) ([]Item, int, error) {
	keys, files, err := f.byKey(ctx)
	if err != nil {
		return nil, 0, err
	}
	total := len(keys)
	if limit > 0 {
		keys = keys[:min(limit, total)]
	}
	var items []Item
	for _, key := range keys {
		item, err := f.item(ctx, key, files[key])
		if err != nil {
			return nil, 0, err
		}
		items = append(items, item)
	}
	return items, total, nil
}

// item describes a dialogue from what is known of its files, and reads three of them:
// the pool, the scoreboard and the panel of the last round.
func (f *Forum) item(ctx context.Context, key Key, files map[string]query.Summary) (Item, error) {
	item, last := Item{Key: key}, -1
	agents, turns := map[string]bool{}, map[int]map[string]bool{} // by round, who wrote
	for path, e := range files {
		r := e.Version.Record
		if r.Time.After(item.Time) {
			item.Time = r.Time.UTC()
		}
		round, found := roundOf(e, path)
		if !found {
			continue
		}
		if turns[round] == nil {
			turns[round] = map[string]bool{}
		}
		if r.Name.Kind == record.KindTurn {
			turns[round][r.Agent], agents[r.Agent] = true, true
		}
		last = max(last, round)
	}
	if item.Rounds, item.Turns = len(turns), len(turns[last]); last >= 0 {
		item.Last = &last
	}
	d := &Dialogue{Key: key}
	if err := f.addKnown(ctx, d, &item, last, files); err != nil {
		return item, err
	}
	for _, e := range named(d.Pool.Experts) {
		agents[e.Name] = true
	}
	delete(agents, "")
	item.Agents = slices.Sorted(maps.Keys(agents))
	item.Title = cmp.Or(d.title(), key.Slug())
	return item, nil
}

// addKnown reads the pool, the last panel and the scoreboard.
func (f *Forum) addKnown(ctx context.Context, d *Dialogue, item *Item, last int, files map[string]query.Summary) error {
	if e, found := files[PoolFile]; found {
		if err := f.addPool(ctx, d, e.Version); err != nil {
			return err
		}
	}
	path := roundFolder(last) + "/" + PanelFile
	if e, found := files[path]; found {
		if err := f.add(ctx, d, e, path); err != nil {
			return err
		}
		if r := d.Last(); r != nil && r.Panel != nil {
			item.Owed = len(r.Panel.Experts)
		}
	}
	e, found := files[ScoreboardFile]
	if !found {
		return nil
	}
	text, err := f.text(ctx, e.Version)
	if err != nil {
		return err
	}
	board, found := layout.ParseScoreboard(text)
	if n := len(board.Rounds); found && n > 0 {
		item.Status = DialogueOpen
		if r := board.Rounds[n-1]; r.Velocity == 0 && r.Converge >= 100 && r.Round >= last {
			item.Status = DialogueConverged
		}
	}
	return nil
}

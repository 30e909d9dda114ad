package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

type logCommand struct {
	Since string `flag:"since"`
	cli.FilterFlags
	Follow bool `flag:"follow"`
	Limit  int  `flag:"limit" least:"0"`
}

func (o *logCommand) Do(ctx context.Context, w *cli.Work, _ []string) error {
	l := logPrinter{Work: w, kinds: o.Filter.Kinds}
	if err := l.begin(ctx, o.Since, o.Limit); err != nil {
		return err
	}
	if o.Follow {
		return l.follow(ctx)
	}
	return nil
}

// A logPrinter prints entries of the log and knows how far it is.
type logPrinter struct {
	*cli.Work
	kinds    []record.Kind
	position uint64        // of the last entry that was looked at
	told     func(logLine) // is called for each line that was printed; may be nil
	bars     map[record.Ref]store.Bar
	known    uint64 // the position of the log's end when the bars were read
}

// A logLine is an entry with what is known of its record.
type logLine struct {
	Position uint64          `json:"position"`
	Time     time.Time       `json:"time"`
	Op       store.Op        `json:"op"`
	Ref      record.ShortRef `json:"ref"`
	Name     string          `json:"name,omitempty"` // empty when the record was destroyed
	Path     string          `json:"path,omitempty"`
	Agent    string          `json:"agent,omitempty"`
	Task     string          `json:"task,omitempty"`
	Status   string          `json:"status,omitempty"`
	Conflict bool            `json:"conflict,omitempty"` // kept beside the head
	Tokens   int             `json:"tokens,omitempty"`
	Barred   bool            `json:"barred,omitempty"` // the text that was destroyed stays out
}

// begin prints the entries there are: the last limit of those since a time.
func (l *logPrinter) begin(ctx context.Context, since string, limit int) error {
	if since != "" {
		at, err := cli.ParseTime(since, l.Now())
		if err != nil {
			return err
		}
		before := at.Add(-time.Nanosecond)
		l.position, err = query.View(ctx, l.Store, func(tx *store.Tx) (uint64, error) { return tx.AsOf(before) })
		if err != nil {
			return err
		}
	}
	if limit == 0 {
		return l.forward(ctx)
	}
	lines, left, err := l.last(ctx, l.position, limit)
	slices.Reverse(lines)
	if err != nil {
		return err
	}
	if left > 0 { // no line of JSON could say it
		l.Note("%s", l.Rest(left, "--limit 0"))
	}
	if len(lines) == 0 && !l.Global.JSON {
		l.Note("no entries")
	}
	return l.printLines(lines)
}

// last returns the last entries behind a position, newest first, and how many are before
// them, and moves to the log's end.
func (l *logPrinter) last(ctx context.Context, after uint64, limit int) (lines []logLine, left int, err error) {
	next, begun := uint64(0), false
	err = l.Reader.InSlices(ctx, func(tx *store.Tx) (done bool, err error) {
		if !begun {
			next, begun = tx.Position(), true
			l.position = next
		}
		if next <= after || len(lines) == limit && (len(l.kinds) == 0 || left == query.MaxCounted) {
			return true, nil
		}
		lines, err = l.add(lines, tx, next)
		if next--; len(lines) > limit { // it only counts
			lines, left = lines[:limit], left+1
		}
		return false, err
	})
	if len(l.kinds) == 0 {
		left = int(next - after)
	}
	return lines, left, err
}

// forward prints every entry behind the position and moves to the log's end.
func (l *logPrinter) forward(ctx context.Context) error {
	const most = 1000 // entries that are held at once
	for more := true; more; {
		var lines []logLine
		err := l.Reader.InSlices(ctx, func(tx *store.Tx) (done bool, err error) {
			if more = l.position < tx.Position(); !more || len(lines) == most {
				return true, nil
			}
			l.position++
			lines, err = l.add(lines, tx, l.position)
			return false, err
		})
		if err == nil {
			err = l.printLines(lines)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// add describes the entry at a position, if it is about a wanted kind.
func (l *logPrinter) add(lines []logLine, tx *store.Tx, position uint64) ([]logLine, error) {
	e, err := tx.Entry(position)
	if err != nil {
		return nil, err
	}
	line := logLine{Position: position, Time: e.Time, Op: e.Op, Ref: record.ShortRef(e.Ref)}
	if e.Op == store.OpDrop && l.known < tx.Position() {
		l.bars, l.known = tx.Bars(), tx.Position()
	}
	_, isBarred := l.bars[e.Ref]
	line.Barred = isBarred && e.Op == store.OpDrop
	v, err := tx.Get(e.Ref)
	dropped := errors.Is(err, store.ErrDropped)
	switch {
	case err != nil && !dropped:
		return nil, err
	case len(l.kinds) > 0 && (dropped || !slices.Contains(l.kinds, v.Record.Name.Kind)):
		return lines, nil
	case !dropped:
		r := v.Record
		line.Name, line.Path, line.Agent, line.Task, line.Status = r.Name.String(), r.Path, r.Agent, r.Task, r.Status
		line.Conflict, line.Tokens = r.IsConflict(), record.EstimateTokens(r.Size)
	}
	return append(lines, line), nil
}

func (l *logPrinter) printLines(lines []logLine) error {
	for i := range lines {
		line := &lines[i]
		if err := l.Print(line, "%s\n", l.text(line)); err != nil {
			return err
		}
		if err := l.OutputError(); err != nil {
			return err
		}
		if l.told != nil {
			l.told(*line)
		}
	}
	return nil
}

// text is a line for people.
func (l *logPrinter) text(line *logLine) string {
	op := string(line.Op)
	if line.Conflict {
		op += "!" // a version beside the head
	}
	name := cmp.Or(cli.OneLine(line.Name), "-")
	text := fmt.Sprintf("@%d  %s  %-6s  %s  %s", line.Position, l.Minute(line.Time), op, line.Ref, name)
	if line.Barred {
		text += "  stays out"
	}
	if line.Agent != "" {
		text += "  " + cli.OneLine(line.Agent)
	}
	return text
}

// followPause is how long a follower waits before it looks again.
const followPause = 200 * time.Millisecond

// follow prints new entries until the context ends. A look is a stat of the
// database; it is opened only when that has changed.
func (l *logPrinter) follow(ctx context.Context) error {
	file := filepath.Join(l.Store.Dir(), cli.StoreFile)
	var seen time.Time
	ticker := time.NewTicker(followPause)
	defer ticker.Stop()
	for {
		info, err := os.Stat(file)
		if err != nil {
			return fmt.Errorf("following the log: %w", err)
		}
		// A change within the clock's last step may not move the time again.
		if !info.ModTime().Equal(seen) || time.Since(info.ModTime()) < 2*followPause {
			seen = info.ModTime()
			if err := l.forward(ctx); err != nil {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

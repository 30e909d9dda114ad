package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"filebus/store"
	"filebus/store/record"
)

type logOptions struct {
	since string
	filterFlags
	follow bool
	limit  int
}

func newLogCommand(env *environ) *cobra.Command {
	var opts logOptions
	cmd := &cobra.Command{
		Use:  "log [flags]",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runLog(cmd.Context(), env, opts)
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.since, "since", "", "")
	opts.add(cmd, "kind")
	flags.BoolVar(&opts.follow, "follow", false, "")
	flags.IntVar(&opts.limit, "limit", 50, "")
	return cmd
}

func runLog(ctx context.Context, env *environ, opts logOptions) error {
	filter, err := opts.filter(env)
	if err != nil {
		return err
	}
	if opts.limit < 0 {
		return usageError("--limit %d is negative", opts.limit)
	}
	s, err := env.openFresh(ctx)
	if err != nil {
		return err
	}
	l := logPrinter{env: env, store: s.Store, kinds: filter.Kinds}
	if err := l.begin(ctx, opts.since, opts.limit); err != nil {
		return err
	}
	if opts.follow {
		return l.follow(ctx)
	}
	return nil
}

// A logPrinter prints entries of the log and knows how far it is.
type logPrinter struct {
	env      *environ
	store    *store.Store
	kinds    []record.Kind
	position uint64 // of the last entry that was looked at
}

// A logLine is an entry with what is known of its record.
type logLine struct {
	Position uint64    `json:"position"`
	Time     time.Time `json:"time"`
	Op       store.Op  `json:"op"`
	Ref      string    `json:"ref"`
	Name     string    `json:"name,omitempty"` // empty when the record was destroyed
	Agent    string    `json:"agent,omitempty"`
	Task     string    `json:"task,omitempty"`
	Status   string    `json:"status,omitempty"`
	Conflict bool      `json:"conflict,omitempty"` // kept beside the head
	Tokens   int       `json:"tokens,omitempty"`
}

// logSlice is how long one read transaction lasts.
const logSlice = 50 * time.Millisecond

// begin prints the entries there are: the last limit of those since a time.
func (l *logPrinter) begin(ctx context.Context, since string, limit int) error {
	if since != "" {
		at, err := parseTime(since, l.env.now())
		if err != nil {
			return err
		}
		err = l.store.View(ctx, func(tx *store.Tx) error {
			l.position, err = tx.AsOf(at.Add(-time.Nanosecond))
			return err
		})
		if err != nil {
			return err
		}
	}
	if limit == 0 {
		return l.forward(ctx)
	}
	lines, err := l.last(ctx, l.position, limit)
	if err != nil {
		return err
	}
	for i := range lines {
		if err := l.print(&lines[len(lines)-1-i]); err != nil {
			return err
		}
	}
	return nil
}

// last returns the last entries behind a position, newest first, and moves to
// the log's end.
func (l *logPrinter) last(ctx context.Context, after uint64, limit int) (lines []logLine, err error) {
	next, begun, done := uint64(0), false, false
	for !done && err == nil {
		err = l.store.View(ctx, func(tx *store.Tx) error {
			if !begun {
				next, begun = tx.Position(), true
				l.position = next
			}
			for end := time.Now().Add(logSlice); next > after && len(lines) < limit && time.Now().Before(end); next-- {
				e, err := tx.Entry(next)
				if err != nil {
					return err
				}
				line, wanted, err := l.line(tx, e)
				if err != nil {
					return err
				}
				if wanted {
					lines = append(lines, line)
				}
			}
			done = next <= after || len(lines) == limit
			return nil
		})
	}
	return lines, err
}

// forward prints every entry behind the position and moves to the log's end.
func (l *logPrinter) forward(ctx context.Context) error {
	for more := true; more; {
		var lines []logLine
		more = false
		err := l.store.View(ctx, func(tx *store.Tx) error {
			end := time.Now().Add(logSlice)
			for e, err := range tx.Log(l.position + 1) {
				if err != nil {
					return err
				}
				line, wanted, err := l.line(tx, e)
				if err != nil {
					return err
				}
				if wanted {
					lines = append(lines, line)
				}
				l.position = e.Position
				if more = time.Now().After(end); more {
					return nil
				}
			}
			return nil
		})
		for i := 0; err == nil && i < len(lines); i++ {
			err = l.print(&lines[i])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// line describes an entry, and reports whether it is about a wanted kind.
func (l *logPrinter) line(tx *store.Tx, e store.Entry) (line logLine, wanted bool, err error) {
	line = logLine{Position: e.Position, Time: e.Time, Op: e.Op, Ref: e.Ref.Short()}
	v, err := tx.Get(e.Ref)
	if errors.Is(err, store.ErrDropped) {
		return line, len(l.kinds) == 0, nil
	}
	if err != nil {
		return line, false, err
	}
	r := v.Record
	line.Name, line.Agent, line.Task, line.Status = r.Name.String(), r.Agent, r.Task, r.Status
	line.Conflict, line.Tokens = r.IsConflict(), record.EstimateTokens(r.Size)
	return line, anyKind(l.kinds, r.Name.Kind), nil
}

func anyKind(kinds []record.Kind, kind record.Kind) bool {
	for _, k := range kinds {
		if k == kind {
			return true
		}
	}
	return len(kinds) == 0
}

func (l *logPrinter) print(line *logLine) error {
	if l.env.global.json {
		return l.env.printJSON(line)
	}
	op := string(line.Op)
	if line.Conflict {
		op += "!" // a version beside the head
	}
	text := fmt.Sprintf("%s  %s  %-6s  %s  %s", "@"+strconv.FormatUint(line.Position, 10), l.env.minute(line.Time), op, line.Ref, orDash(oneLine(line.Name)))
	if line.Agent != "" {
		text += "  " + oneLine(line.Agent)
	}
	l.env.printf("%s\n", text)
	return l.env.outputError()
}

// followPause is how long a follower waits before it looks again.
const followPause = 200 * time.Millisecond

// follow prints new entries until the context ends. A look is a stat of the
// database; it is opened only when that has changed.
func (l *logPrinter) follow(ctx context.Context) error {
	file := filepath.Join(l.store.Dir(), "store.db")
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

package store

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.etcd.io/bbolt"

	"filebus/store/record"
)

// ahead is how far the log's last entry may lie ahead of the clock before a writer
// takes that for a clock that was wrong, and goes back to its own. Clocks that are
// corrected while they run, and wrong time zones, stay below it.
const ahead = 24 * time.Hour

// firstTime is before any store was made: a clock that is earlier has lost the time,
// as after its battery was empty, and nobody goes back to that.
func firstTime() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// A step is a place where the log's time goes back: that of its entry is earlier than
// the one before.
type step struct {
	position uint64
	time     time.Time
}

// now is the time of this transaction: later than the last entry of the log, also when
// the clock stood still or jumped back, so that a record that was dropped and is put
// again gets another ref; but that of the clock where the last entry lies far ahead.
func (tx *Tx) now() time.Time {
	if !tx.began.IsZero() {
		return tx.began
	}
	tx.began = tx.store.opts.Now().UTC()
	if tx.position > 0 && !tx.began.After(tx.lastTime) && !tx.isAhead() {
		tx.began = tx.lastTime.Add(1)
	}
	return tx.began
}

// isAhead reports whether the last entry lies so far ahead that the log's time steps
// back.
func (tx *Tx) isAhead() bool {
	return tx.lastTime.Sub(tx.began) > ahead && tx.began.After(firstTime())
}

// readSteps reads the list of steps: "position SP time LF" for each.
func (tx *Tx) readSteps(meta *bbolt.Bucket) error {
	for line := range strings.Lines(string(meta.Get([]byte(metaSteps)))) {
		number, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		position, err := strconv.ParseUint(number, 10, 64)
		at, timeErr := record.ParseTime(text)
		if err != nil || timeErr != nil {
			return damaged("malformed step of the log's time %.100q", line)
		}
		tx.steps = append(tx.steps, step{position, at})
	}
	return nil
}

// stepBack adds an entry to the list of steps if it is one.
func (tx *Tx) stepBack(e Entry) error {
	if !e.Time.Before(tx.lastTime) {
		return nil
	}
	list := fmt.Appendf(bytes.Clone(tx.meta.Get([]byte(metaSteps))), "%d %s\n", e.Position, record.FormatTime(e.Time))
	tx.steps, tx.wasAhead = append(tx.steps, step{e.Position, e.Time}), tx.lastTime
	return tx.meta.Put([]byte(metaSteps), list)
}

// asOf returns the time at which what stands at a position counts as made: its own, or
// that of a later step back if it lies ahead of that.
func (tx *Tx) asOf(position uint64, at time.Time) time.Time {
	for _, s := range tx.steps {
		if s.position > position && at.After(s.time) {
			at = s.time
		}
	}
	return at
}

// settle gives a record that lies ahead of a later step back, and of the clock, the
// time as of which it counts. What the clock has come up with since was not wrong.
func (tx *Tx) settle(v *Version) {
	for _, t := range []*time.Time{&v.Record.Time, &v.Record.Written} {
		if at := tx.asOf(v.Position, *t); at.Before(*t) && t.After(tx.store.opts.Now()) {
			*t = at
		}
	}
}

// SteppedBack returns the position of the last entry whose time is earlier than that of
// the one before, because a clock was wrong, and the position behind which entries count
// as of such a step: what was derived of their times before it is wrong. Both are 0 if
// there is none.
func (tx *Tx) SteppedBack() (position, behind uint64, err error) {
	for _, s := range tx.steps {
		sound, asOfErr := tx.AsOf(s.time.Add(-1))
		if position == 0 || sound < behind {
			behind = sound
		}
		position, err = s.position, errors.Join(err, asOfErr)
	}
	return position, behind, err
}

// Around returns the first and the last position of the transaction that an entry
// belongs to.
func (tx *Tx) Around(position uint64) (first, last uint64, err error) {
	of, err := tx.Entry(position)
	if err != nil {
		return 0, 0, err
	}
	first, last = position, position
	same := func(next uint64) bool {
		e, nextErr := tx.Entry(next)
		err = nextErr
		return err == nil && e.Time.Equal(of.Time)
	}
	for first > 1 && same(first-1) {
		first--
	}
	for err == nil && last < tx.position && same(last+1) {
		last++
	}
	return first, last, err
}

// checkTime looks at the order of the log's times: they go back only where the list of
// steps says so.
func (c *checker) checkTime(tx *Tx, e Entry) {
	i := len(tx.steps) - 1
	for i >= 0 && tx.steps[i].position != e.Position {
		i--
	}
	switch back := e.Time.Before(c.last.Time); {
	case back && i < 0:
		c.fault("log entry %d: earlier than the one before", e.Position)
	case i >= 0 && (!back || !tx.steps[i].time.Equal(e.Time)):
		c.fault("log entry %d: it is no step back to %v, as is listed", e.Position, tx.steps[i].time)
	case back:
		c.remark("log entry %d: a clock was wrong: the time went back from %s to %s, and later times count as of then",
			e.Position, record.FormatTime(c.last.Time), record.FormatTime(e.Time))
	}
}

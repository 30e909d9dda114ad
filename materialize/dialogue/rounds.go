package dialogue

import (
	"fmt"
	"strings"

	"filebus/store"
)

// A NoRoundError says that a dialogue has no round of a number.
type NoRoundError struct {
	Key   Key
	Round int
	Has   []int // the rounds that have begun
}

func (e *NoRoundError) Error() string {
	if e.Round < 0 {
		return fmt.Sprintf("round %d: rounds are counted from 0", e.Round)
	}
	var has []string
	for _, n := range e.Has {
		has = append(has, fmt.Sprint(n))
	}
	switch {
	case len(has) == 0:
		return fmt.Sprintf("%s has no round %d: none has begun", e.Key, e.Round)
	case e.Round < e.Has[len(has)-1]:
		return fmt.Sprintf("round %d of %s was skipped; it has %s", e.Round, e.Key, strings.Join(has, ", "))
	}
	return fmt.Sprintf("%s has no round %d; it has %s", e.Key, e.Round, strings.Join(has, ", "))
}

// Is reports whether target is store.ErrNotFound.
func (e *NoRoundError) Is(target error) bool { return target == store.ErrNotFound }

// noRound returns the error that there is no such round.
func (d *Dialogue) noRound(number int) *NoRoundError {
	e := &NoRoundError{Key: d.Key, Round: number}
	for _, r := range d.Rounds {
		if r.hasBegun() {
			e.Has = append(e.Has, r.Number)
		}
	}
	return e
}

package release

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"filebus/store/record"
)

// A Retention says which names of the project's own tree are kept no longer. All
// fields that are set must be met.
type Retention struct {
	Kind          record.Kind // neither entries of files nor frames: those live in their files
	Conversations []string    // any of them; none: all
	Before        time.Time   // only names whose newest version is older; zero: of any age
	// Keep is how many of the newest current names of each conversation stay,
	// whatever else is said.
	Keep    int
	Removed bool // only names that are hidden
}

// Check reports what keeps the retention from being carried out.
func (r *Retention) Check() error {
	if r.Kind.IsEntry() || r.Kind == record.KindFrame {
		return fmt.Errorf("the kind %s lives in files with others: it is given up name by name", r.Kind)
	}
	if r.Keep < 0 {
		return fmt.Errorf("%d names cannot be kept", r.Keep)
	}
	return nil
}

// picks reports whether a name is kept no longer, but for Keep.
func (r *Retention) picks(c *Candidate) bool {
	return (len(r.Conversations) == 0 || slices.Contains(r.Conversations, c.Last.Conversation)) &&
		(r.Before.IsZero() || c.Last.Time.Before(r.Before)) && !(r.Removed && c.Current)
}

// split divides candidates into those that are kept no longer and those that
// only Keep holds back.
func (r *Retention) split(all []*Candidate) (going, newest []*Candidate) {
	slices.SortFunc(all, func(a, b *Candidate) int { return cmp.Compare(b.position, a.position) })
	current := map[string]int{} // of each conversation
	for _, c := range all {
		held := false
		if c.Current {
			current[c.Last.Conversation]++
			held = current[c.Last.Conversation] <= r.Keep
		}
		switch {
		case !r.picks(c):
		case held:
			newest = append(newest, c)
		default:
			going = append(going, c)
		}
	}
	return going, newest
}

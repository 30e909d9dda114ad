package dialogue

import (
	"strconv"
	"strings"

	"filebus/store/record"
)

// Why something fails that is asked of dialogues.
const (
	ErrNoDialogue  record.Reason = "no such dialogue"    // names those that are called alike, at most five
	ErrSeveral     record.Reason = "several dialogues"   // names them, at most five
	ErrCaptured    record.Reason = "a captured dialogue" // which is only read
	ErrRequest     record.Reason = "malformed dialogue"  // nothing that a dialogue can be made of
	ErrSlug        record.Reason = "malformed slug"
	ErrSlugTaken   record.Reason = "slug taken"      // and so are all of its numbers
	ErrName        record.Reason = "malformed agent" // a text that cannot name one
	ErrTwice       record.Reason = "agent named twice"
	ErrNotInPool   record.Reason = "agent not in the pool"   // names the pool
	ErrNoRound     record.Reason = "no such round"           // names the dialogue and the round that can begin, if one can
	ErrNotLaunched record.Reason = "agent not launched"      // names dialogue, round and agent, if it takes part
	ErrNobody      record.Reason = "nobody owes a turn"      // neither a panel nor the pool has names
	ErrLate        record.Reason = "turns are late"          // names who has none
	ErrOccupied    record.Reason = "another turn is there"   // nothing was changed; names its ref
	ErrGood        record.Reason = "the turn is good"        // and so was not replaced; names it
	ErrEmpty       record.Reason = "nothing in the turn"     // names dialogue, round and agent
	ErrTooLong     record.Reason = "turn too long"           // longer than MaxTurn
	ErrNoText      record.Reason = "no text of the agent"    // that is a turn; names dialogue, round and agent
	ErrAbsent      record.Reason = "an absent agent"         // is never scored; names the dialogue and the round
	ErrMark        record.Reason = "malformed mark"          // a number that no judge may give
	ErrEdited      record.Reason = "document edited by hand" // or not one that was assembled; names its file
)

// maxNear is how many names an error lists.
const maxNear = 5

// typed returns keys as they are typed, as many as an error names.
func typed(keys []Key) []string {
	var texts []string
	for _, k := range keys[:min(len(keys), maxNear)] {
		texts = append(texts, k.String())
	}
	return texts
}

// checkOwn returns ErrCaptured for a dialogue that is not the workspace's own.
func (k Key) checkOwn() error {
	if k.IsOwn() {
		return nil
	}
	return record.Usage.Errorf("%s is in a captured tree, which is only read", k).Because(ErrCaptured)
}

// noRound returns ErrNoRound for a number, of which there is no round.
func (d *Dialogue) noRound(number int) error {
	if number < 0 {
		return record.NotFound.Errorf("round %d: rounds are counted from 0", number).Because(ErrNoRound)
	}
	var has []string
	for _, r := range d.Rounds {
		if r.hasBegun() {
			has = append(has, strconv.Itoa(r.Number))
		}
	}
	list, last := strings.Join(has, ", "), d.lastBegun()
	if number < last {
		return record.NotFound.Errorf("round %d of %s was skipped; it has %s", number, d.Key, list).Because(ErrNoRound)
	}
	err := record.NotFound.Errorf("%s has no round %d; it has %s", d.Key, number, list)
	if list == "" {
		err = record.NotFound.Errorf("%s has no round %d: none has begun", d.Key, number)
	}
	if !d.Key.IsOwn() {
		return err.Because(ErrNoRound)
	}
	return err.Because(ErrNoRound, d.Key.String(), strconv.Itoa(last+1))
}

// occupied returns ErrOccupied for the turn that stands at a seat.
func (s Seat) occupied(ref record.Ref) error {
	err := record.Conflict.Errorf("%s has another turn in round %d already: %s", s.Agent, s.Round, s.File)
	return err.Because(ErrOccupied, ref.Short())
}

// refuse returns an error about what a user asked for.
func refuse(reason record.Reason, format string, args ...any) error {
	return record.Usage.Errorf(format, args...).Because(reason)
}

// listed returns names behind a text, nothing where there are none.
func listed(text string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	return text + strings.Join(names, ", ")
}

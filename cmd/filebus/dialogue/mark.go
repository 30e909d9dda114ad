package dialogue

import (
	"fmt"
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store/record"
)

// An itemMark is the judge's word on a perspective or a tension, in the scores of a round.
type itemMark struct {
	layout.ItemMark
	round int
}

// isMarked reports whether the judge has marked it by the end of a round: it counts no more.
func (t *tension) isMarked(round int) bool { return t.mark != nil && t.mark.round <= round }

// meant returns what an id means in a round, a perspective or a tension: without a round
// one that was raised in it.
func (t *tracking) meant(id string, round int) (*tension, error) {
	all := slices.Concat(t.Perspectives, t.Tensions)
	ref, isRef := tensionRef(strings.ToUpper(id))
	if !isRef || ref.Round < 0 {
		ref.Round = round
	}
	found := slices.DeleteFunc(slices.Clone(all), func(i *tension) bool {
		isIt := i.ID == ref.ID && i.Round == ref.Round && (ref.Agent == "" || ref.Agent == i.Agent)
		return !isIt && !strings.EqualFold(i.String(), id) || i.ID == ""
	})
	if len(found) == 1 {
		return found[0], nil
	}
	if len(found) > 1 {
		all = found
	}
	names := markdown.Each(all[:min(len(all), 2*maxNear)], (*tension).String)
	const form = "%s fits %d tensions and perspectives that were raised%s"
	return nil, record.NotFound.Errorf(form, id, len(found), listed(": ", names)).Try("run it again with one of these ids")
}

// resolveMarks puts whole ids into marks of a round.
func (t *tracking) resolveMarks(round int, marks []layout.ItemMark) error {
	for i := range marks {
		for _, id := range []*string{&marks[i].ID, &marks[i].Other} {
			if *id == "" {
				continue
			}
			found, err := t.meant(*id, round)
			if err != nil {
				return err
			}
			*id = found.String()
		}
		if marks[i].ID == marks[i].Other {
			return refuse("", "%s cannot take the place of itself", marks[i].ID)
		}
	}
	return nil
}

// readMarks puts the judge's marks to what they mean.
func (t *tracking) readMarks(d *Dialogue) {
	for _, r := range d.Rounds {
		for _, m := range r.Scores.Marks {
			found, err := t.meant(m.ID, r.Number)
			if err != nil {
				t.notes = append(t.notes, fmt.Sprintf("%s/%s: %v", roundFolder(r.Number), scoresFile, err))
				continue
			}
			found.mark = &itemMark{m, r.Number}
			t.notes = append(t.notes, fmt.Sprintf("round %d: the judge: %s %s", r.Number, found, m))
		}
	}
}

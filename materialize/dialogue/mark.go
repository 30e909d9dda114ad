package dialogue

import (
	"cmp"
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

// An item is a perspective or a tension.
type item struct {
	layout.MarkerRef
	id   string     // the whole id
	mark **itemMark // of the judge
}

// items returns what a judge can mark.
func (t *tracking) items() (all []item) {
	for i := range t.Perspectives {
		p := &t.Perspectives[i]
		ref := layout.MarkerRef{Agent: p.Agent, Round: p.Round, ID: p.ID}
		all = append(all, item{ref, refText(ref), &p.mark})
	}
	for _, tension := range t.Tensions {
		all = append(all, item{tension.MarkerRef, tension.String(), &tension.mark})
	}
	return slices.DeleteFunc(all, func(i item) bool { return i.ID == "" })
}

// meant returns the one item that an id means in a round: one that names no round means
// what was raised in it.
func (t *tracking) meant(id string, round int) (found item, _ error) {
	ref, all := layout.MarkerRef{Round: round}, t.items()
	for _, m := range layout.ParseMarkers([]byte("[RE:SUPPORT " + strings.ToUpper(id) + "]")) {
		ref = append(m.Refs, ref)[0]
	}
	if ref.Round < 0 {
		ref.Round = round
	}
	meant := slices.DeleteFunc(slices.Clone(all), func(i item) bool {
		isIt := i.ID == ref.ID && i.Round == ref.Round && (ref.Agent == "" || ref.Agent == i.Agent)
		return !isIt && !strings.EqualFold(i.id, id)
	})
	if len(meant) == 1 {
		return meant[0], nil
	}
	if len(meant) > 1 {
		all = meant
	}
	ids := markdown.Each(all[:min(len(all), 2*maxNear)], func(i item) string { return i.id })
	err := record.NotFound.Errorf("%s means %d of what was raised: %s", id, len(meant), cmp.Or(strings.Join(ids, ", "), "nothing"))
	return found, err.Try("run it again with one of these ids")
}

// resolveMarks puts whole ids into marks of a round, all or nothing.
func (t *tracking) resolveMarks(round int, marks []layout.ItemMark) error {
	for i := range marks {
		for _, id := range []*string{&marks[i].ID, &marks[i].Other} {
			if *id == "" {
				continue
			}
			found, err := t.meant(*id, round)
			if *id = found.id; err != nil {
				return err
			}
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
		for _, m := range r.scores().Marks {
			i, err := t.meant(m.ID, r.Number)
			if err != nil {
				t.notes = append(t.notes, fmt.Sprintf("%s/%s: %v", roundFolder(r.Number), scoresFile, err))
				continue
			}
			*i.mark = &itemMark{m, r.Number}
		}
	}
}

// Marks returns what the judge has marked.
func (t *tracking) Marks() (all []string) {
	for _, i := range t.items() {
		if m := *i.mark; m != nil {
			all = append(all, fmt.Sprintf("round %d: %s %s", m.round, i.id, m))
		}
	}
	return all
}

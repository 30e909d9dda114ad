package dialogue

import (
	"cmp"
	"context"
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

// An item is a perspective or a tension, by its whole id.
type item struct {
	layout.MarkerRef
	id   string
	mark **itemMark
}

// items returns what a judge can mark.
func (t *tracking) items() (all []item) {
	for i := range t.Perspectives {
		if p := &t.Perspectives[i]; p.ID != "" {
			ref := layout.MarkerRef{Agent: p.Agent, Round: p.Round, ID: p.ID}
			all = append(all, item{ref, refText(ref), &p.mark})
		}
	}
	for _, tension := range t.Tensions {
		if tension.counts() {
			all = append(all, item{tension.MarkerRef, tension.String(), &tension.mark})
		}
	}
	return all
}

// meant returns the one item that a text means in a round: that of the round before those
// of earlier ones.
func (t *tracking) meant(text, agent string, round int) (item, error) {
	ref := layout.MarkerRef{Round: -1, ID: strings.ToUpper(text)}
	for _, m := range layout.ParseMarkers([]byte("[RE:SUPPORT " + ref.ID + "]")) {
		if len(m.Refs) > 0 {
			ref = m.Refs[0]
		}
	}
	ref.Agent = cmp.Or(ref.Agent, foldExpert(agent))
	all := slices.DeleteFunc(t.items(), func(i item) bool { return i.Round > round })
	found := all
	for _, isMeant := range []func(item) bool{
		func(i item) bool { return strings.EqualFold(i.id, text) },
		func(i item) bool {
			return i.ID == ref.ID && (ref.Agent == "" || ref.Agent == i.Agent) && (ref.Round < 0 || ref.Round == i.Round)
		},
	} {
		found = slices.DeleteFunc(slices.Clone(all), func(i item) bool { return !isMeant(i) })
		isNow := func(i item) bool { return i.Round == round }
		if slices.ContainsFunc(found, isNow) {
			found = slices.DeleteFunc(found, func(i item) bool { return !isNow(i) })
		}
		if len(found) == 1 {
			return found[0], nil
		}
	}
	names := func(items []item) string {
		return strings.Join(markdown.Each(items[:min(len(items), 2*maxNear)], func(i item) string { return i.id }), ", ")
	}
	if len(found) == 0 {
		const text_ = "nobody raised %s up to round %d; there is %s"
		return item{}, record.NotFound.Errorf(text_, text, round, cmp.Or(names(all), "nothing")).
			Try("run it again with one of them")
	}
	return item{}, refuse("run it again with a whole id, or with --agent", "%s may be %s", text, names(found))
}

// readMarks puts the judge's marks to what they mean.
func (t *tracking) readMarks(d *Dialogue) {
	for _, r := range d.Rounds {
		for _, m := range r.scores().Marks {
			i, err := t.meant(m.ID, "", r.Number)
			if err != nil {
				t.notes = append(t.notes, fmt.Sprintf("round %d: %s: %v", r.Number, scoresFile, err))
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

// Marked is what a judge has marked in a round.
type Marked struct {
	Dialogue  Key               `json:"dialogue"`
	Round     int               `json:"round"`
	Marks     []layout.ItemMark `json:"marks"`
	File      string            `json:"file"` // absolute
	Unchanged bool              `json:"unchanged"`
}

// Mark records the judge's word on perspectives and tensions in a round, all or nothing;
// without a mark it takes back what was recorded there.
func (f *Forum) Mark(ctx context.Context, key Key, round int, ids []string, agent string, mark layout.ItemMark) (
	*Marked, error,
) {
	d, err := f.readOwn(ctx, key)
	if err != nil {
		return nil, err
	}
	if _, err = d.require(round); err != nil {
		return nil, err
	}
	t, out := track(d), &Marked{Dialogue: key, Round: round}
	if mark.Other != "" {
		other, err := t.meant(mark.Other, "", round)
		if err != nil {
			return nil, err
		}
		mark.Other = other.id
	}
	for _, id := range ids {
		i, err := t.meant(id, agent, round)
		if err == nil && i.id == mark.Other {
			err = refuse("", "%s cannot take the place of itself", i.id)
		}
		if err != nil {
			return nil, err
		}
		mark.ID = i.id
		out.Marks = append(out.Marks, mark)
	}
	name := fileName(key, roundFolder(round)+"/"+scoresFile)
	put, err := f.w.EditText(ctx, name.Kind, name.ID, record.SourcePut, scoresEdit(name, round, func(s *layout.Scores) {
		for _, m := range out.Marks {
			s.Marks = slices.DeleteFunc(slices.Clone(s.Marks), func(old layout.ItemMark) bool { return old.ID == m.ID })
			if m.Mark != "" {
				s.Marks = append(s.Marks, m)
			}
		}
	}))
	if err != nil {
		return nil, err
	}
	out.File, out.Unchanged = put.File, put.Unchanged
	return out, nil
}

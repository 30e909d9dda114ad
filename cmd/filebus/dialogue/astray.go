package dialogue

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// findAstray finds the texts that stand in the place of a turn and are none of that round:
// one that says no more than that a file was written, one that was there before the launch,
// and one with the bytes of another round's turn. What a command was given is the turn that
// it was given as; of two files, the one that was stored first.
func (d *Dialogue) findAstray() {
	var turns []*Turn
	for _, r := range d.Rounds {
		early := slices.DeleteFunc(slices.Clone(r.Turns), func(t *Turn) bool { return t.state() != stateTurn || !r.isEarly(t) })
		for _, t := range r.Turns {
			switch {
			case isConfirmation(t.Text, t.Agent):
				t.Astray = "it says only that a file was written"
			case len(early) > 1 && 2*len(early) > len(r.Panel.Experts): // the round was begun without filebus
			case r.isEarly(t) && !t.isGiven():
				t.Astray = fmt.Sprintf("it stood there before round %d was launched", r.Number)
			}
		}
		turns = append(turns, r.Turns...)
	}
	byFile := func(t *Turn) int { return slices.Index([]bool{true, false}, t.isGiven()) }
	slices.SortStableFunc(turns, func(a, b *Turn) int {
		return cmp.Or(byFile(a)-byFile(b), cmp.Compare(a.Version.Position, b.Version.Position))
	})
	first := map[record.Digest]*Turn{}
	for _, t := range turns {
		switch was := first[t.Version.Record.Body]; {
		case t.state() != stateTurn || !t.isTelling():
		case was == nil:
			first[t.Version.Record.Body] = t
		case was.Round != t.Round && !t.isGiven():
			t.Astray = fmt.Sprintf("it is the same text as %s/%s", roundFolder(was.Round), was.fileName())
		}
	}
}

// isEarly reports whether a turn was stored before its round was launched: both times are
// of this store's clock.
func (r *Round) isEarly(t *Turn) bool {
	return r.Panel != nil && t.Version.Record.Time.Before(r.Panel.Launched)
}

// isGiven reports whether a turn was handed to a command, which was told whose it is.
func (t *Turn) isGiven() bool { return isCommand(t.Version.Record.Source) }

// isTelling reports whether a text is hardly written twice in the same bytes: it raises
// something, or is more than a sentence. To converge anew is no copy.
func (t *Turn) isTelling() bool {
	const sentence = 20 // words
	return t.Text == nil || len(bytes.Fields(t.Text)) >= sentence || len(t.perspectives()) > 0
}

// sentinel is how the line begins with which an agent says that its file is whole.
const sentinel = "FILE_WRITTEN"

// isConfirmation reports whether a file says no more than that the agent has written its
// file: it does so in few words, and has no marker.
func isConfirmation(text []byte, agent string) bool {
	const most = 60 // words
	_, isStub := layout.ParseStub(text)
	if isStub || len(bytes.Fields(text)) > most || len(layout.ParseMarkers(text)) > 0 {
		return false
	}
	said := strings.TrimLeft(strings.TrimPrefix(string(text), "\ufeff"), "*`> \t\r\n")
	above, _, _ := strings.Cut(said, "\n"+sentinel) // below a text it is the sign that this is whole
	return strings.HasPrefix(said, sentinel) || namesFile(above, agent)
}

// namesFile reports whether a text names the file of an agent.
func namesFile(text, agent string) bool {
	words := strings.FieldsFunc(norm.NFC.String(strings.ToLower(text)), isForeign)
	return slices.ContainsFunc(words, func(word string) bool { return strings.TrimRight(word, ".") == agent+".md" })
}

package plan

import (
	"bytes"
	"slices"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// A Frame is an aggregate file with its entries taken out: literal text, and
// slots that name the records that stand in their places, in the frame's tree. It
// is stored as a record.Frame.
type Frame []record.Piece

// Slots returns the names of the frame's entries in the order of the file.
func (f Frame) Slots() []record.Name { return record.Frame(f).Slots() }

// addText returns f with literal text behind it.
func (f Frame) addText(text []byte) Frame {
	switch last := len(f) - 1; {
	case len(text) == 0:
	case last >= 0 && !f[last].IsSlot():
		f[last].Text = slices.Concat(f[last].Text, text)
	default:
		f = append(f, record.Piece{Text: text})
	}
	return f
}

// neighbours returns, for each slot that stands right behind another, that one.
func (f Frame) neighbours() map[record.Name]record.Name {
	before := map[record.Name]record.Name{}
	for i := 1; i < len(f); i++ {
		if f[i].IsSlot() && f[i-1].IsSlot() {
			before[f[i].Slot] = f[i-1].Slot
		}
	}
	return before
}

// Without returns f without some of its slots. The blank lines behind an entry
// go with it where others stand before it, and in a list its comma does.
func (f Frame) Without(gone func(slot record.Name) bool, list bool) Frame {
	var out Frame
	dropped := false // the piece before
	for _, p := range f {
		switch {
		case p.IsSlot() && gone(p.Slot):
			dropped = true
			continue
		case p.IsSlot():
			out = append(out, p)
		case dropped && list:
			out = out.closeList(p.Text)
		case dropped && out.endsBlank():
			out = out.addText(bytes.TrimLeft(p.Text, " \t\r\n"))
		default:
			out = out.addText(p.Text)
		}
		dropped = false
	}
	return out
}

// closeList adds the text that followed an element which is gone: one of the
// commas around it goes too, or, with the last element, the space before it.
func (f Frame) closeList(text []byte) Frame {
	if rest, found := bytes.CutPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte(",")); found {
		return f.addText(bytes.TrimLeft(rest, " \t\r\n"))
	}
	if last := len(f) - 1; last >= 0 {
		before := bytes.TrimRight(f[last].Text, " \t\r\n")
		if rest, found := bytes.CutSuffix(before, []byte(",")); found {
			f[last].Text = rest
		} else if bytes.HasSuffix(before, []byte("[")) {
			f[last].Text = before // the list is empty now
		}
	}
	return f.addText(text)
}

// endsBlank reports whether a blank line, or nothing at all, stands before what
// is added next.
func (f Frame) endsBlank() bool {
	if len(f) == 0 {
		return true
	}
	text, ended := bytes.CutSuffix(f[len(f)-1].Text, []byte("\n"))
	text = bytes.TrimRight(text, " \t\r")
	return ended && (len(text) == 0 || text[len(text)-1] == '\n')
}

// frameOf takes the entries of a parsed file out; names gives the record name
// of each entry, in order.
func frameOf(file layout.File, names []record.Name) Frame {
	var f Frame
	for _, part := range file.Parts {
		if part.Entry == nil {
			f = f.addText(part.Text)
			continue
		}
		f = append(f, record.Piece{Slot: names[0]})
		names = names[1:]
	}
	return f
}

// addSlots returns f with the slots that only other has, each behind the slot
// that it follows in other, or before all if it follows none: with the blank
// space that follows it there, or in a list with the separator.
func addSlots(f, other Frame, separator []byte) Frame {
	have := map[record.Name]bool{}
	for _, name := range f.Slots() {
		have[name] = true
	}
	behind := map[record.Name][]record.Piece{} // what to add, by the slot before
	var before record.Name
	for i, p := range other {
		switch {
		case !p.IsSlot():
		case have[p.Slot]:
			before = p.Slot
		case separator != nil && before.IsZero():
			behind[before] = append(behind[before], p, record.Piece{Text: separator})
		case separator != nil:
			behind[before] = append(behind[before], record.Piece{Text: separator}, p)
		default:
			behind[before] = append(behind[before], p)
			if i+1 < len(other) && isBlank(other[i+1]) {
				behind[before] = append(behind[before], other[i+1])
			}
		}
	}
	var out Frame
	first, next := behind[record.Name{}], []record.Piece(nil)
	for i, p := range f {
		if p.IsSlot() {
			out, first, next = append(out, first...), nil, behind[p.Slot]
		}
		if out = append(out, p); i+1 == len(f) || !isBlank(f[i+1]) { // which belongs to the slot
			out, next = append(out, next...), nil
		}
	}
	return append(out, first...)
}

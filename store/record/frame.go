package record

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// frameHeader begins the body of every frame record.
const frameHeader = "filebus frame 1\n"

// A Frame is an aggregate file with its entries taken out: the body of a record
// of KindFrame. Its pieces, each slot filled with its entry's text, joined, are
// the file.
type Frame []Piece

// A Piece is literal text, or the place of an entry when Slot is set.
type Piece struct {
	Text []byte
	Slot Name // in the frame's own tree
}

// IsSlot reports whether the piece is the place of an entry.
func (p Piece) IsSlot() bool { return !p.Slot.IsZero() }

// Encode returns the canonical encoding: a header, then each piece as a field,
// "text SP length SP bytes LF" or "slot SP length SP kind/id LF".
func (f Frame) Encode() []byte {
	e := encoder(frameHeader)
	for _, p := range f {
		if p.IsSlot() {
			e.field("slot", Name{Kind: p.Slot.Kind, ID: p.Slot.ID}.String())
		} else {
			e.field("text", string(p.Text))
		}
	}
	return e
}

// otherFrame is what helps where the bytes of a frame are those that were stored.
const otherFrame = "update filebus: another program, or a later filebus, wrote it"

// DecodeFrame reads what Encode wrote, and nothing else. The pieces share the
// bytes of data; their slots are names in the given tree.
func DecodeFrame(tree Tree, data []byte) (Frame, error) {
	rest, found := bytes.CutPrefix(data, []byte(frameHeader))
	if !found {
		return nil, Damaged.Errorf("decoding frame: the header is missing").Try(otherFrame)
	}
	var f Frame
	for len(rest) > 0 {
		p, after, err := decodePiece(tree, rest)
		if err != nil {
			return nil, Damaged.Errorf("decoding frame at byte %d: %w", len(data)-len(rest), err).Try(otherFrame)
		}
		f, rest = append(f, p), after
	}
	return f, nil
}

func decodePiece(tree Tree, data []byte) (p Piece, rest []byte, err error) {
	key, rest, _ := bytes.Cut(data, []byte(" "))
	digits, rest, found := bytes.Cut(rest, []byte(" "))
	n, err := strconv.ParseUint(string(digits), 10, 31)
	if !found || err != nil || n >= uint64(len(rest)) || rest[n] != '\n' || strconv.FormatUint(n, 10) != string(digits) {
		return p, nil, errors.New("a piece with a wrong length")
	}
	value, rest := rest[:n], rest[n+1:]
	switch string(key) {
	case "text":
		return Piece{Text: value}, rest, nil
	case "slot":
		name, err := ParseName(string(value))
		if err == nil && name.Tree != "" {
			err = fmt.Errorf("the slot %q names a tree", value)
		}
		name.Tree = tree
		return Piece{Slot: name}, rest, err
	}
	return p, nil, fmt.Errorf("unknown piece %q", key)
}

// AroundEntries returns the text that stands around the entries of an encoded frame, of which data may be the
// beginning. Other data is returned as it is.
func AroundEntries(data []byte) []byte {
	rest, isFrame := bytes.CutPrefix(data, []byte(frameHeader))
	if !isFrame {
		return data
	}
	text := []byte{}
	for len(rest) > 0 {
		p, after, err := decodePiece("", rest)
		if err != nil { // it is cut short
			if cut := bytes.SplitN(rest, []byte(" "), 3); len(cut) == 3 && string(cut[0]) == "text" {
				text = append(text, cut[2]...)
			}
			break
		}
		text, rest = append(text, p.Text...), after
	}
	return text
}

// Slots returns the names of the frame's entries in the order of the file.
func (f Frame) Slots() []Name {
	var names []Name
	for _, p := range f {
		if p.IsSlot() {
			names = append(names, p.Slot)
		}
	}
	return names
}

// Words returns the words between the entries: blank space comes and goes with
// entries, and so do the commas of a list, so they do not count as a change of
// the text.
func (f Frame) Words() string {
	var words [][]byte
	for i, p := range f {
		found := bytes.Fields(p.Text)
		between := i > 0 && i+1 < len(f) && f[i-1].IsSlot() && f[i+1].IsSlot()
		if between && len(found) == 1 && string(found[0]) == "," {
			continue
		}
		words = append(words, found...)
	}
	return string(bytes.Join(words, []byte(" ")))
}

package layout

import (
	"bytes"
	"slices"

	"filebus/materialize/markdown"
)

// A Box says where the text of a file shows the status of an entry: the mark in the box of a check list's item, or the
// section that states it. The zero Box is none.
type Box struct {
	Line, Offset int
	Was, Now     []byte // what stands there, and what stands for a status; nil: there is nothing for that
}

// HasBoxes reports whether everybody may tick the boxes of a file.
func (pl Location) HasBoxes() bool {
	d, is := pl.Layout.(*declared)
	return is && d.Boxes
}

// Box returns where the text of a file shows the status of an entry, and what its convention writes there for another
// one: none where the file is not for others to write.
func (pl Location) Box(path string, text []byte, id, status string) (b Box) {
	if !pl.HasBoxes() {
		return b
	}
	d := pl.Layout.(*declared)
	file, _ := d.Parse(path, text) // an entry is an entry
	start := 0
	for _, part := range file.Parts {
		if part.Entry == nil || part.Entry.ID != id {
			start += part.size()
			continue
		}
		b = Box{Line: part.Entry.Line, Offset: start, Was: part.Entry.Text}
		line, _, _ := bytes.Cut(bytes.TrimPrefix(b.Was, []byte(markdown.ByteOrderMark)), []byte("\n"))
		m := boxed().FindSubmatchIndex(line)
		isBox := m != nil && m[5]-m[4] == 1
		if isBox {
			b.Offset += bytes.Index(b.Was, line) + m[4]
			b.Was = line[m[4]:m[5]]
		}
		switch {
		case part.Entry.Facts.Status == status: // also where it is spelled otherwise
			b.Now = b.Was
		case !isBox && slices.Contains(d.Set, "status"):
			b.Now = pl.SetFact(b.Was, "status", status)
		case !isBox:
			return Box{}
		case status == StatusComplete:
			b.Now = []byte("x")
		case status == StatusInProgress && d.Working != "":
			b.Now = []byte(d.Working)
		case status == StatusPending:
			b.Now = []byte(" ")
		}
		return b
	}
	return b
}

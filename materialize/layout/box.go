package layout

import "bytes"

// A Box is the box of a check list's item. The zero Box is none.
type Box struct {
	Line, Offset int  // of its mark, which is one byte
	Mark         byte // that stands for a status; 0: there is none
}

// HasBoxes reports whether everybody may tick the boxes of a file.
func (pl Location) HasBoxes() bool {
	d, is := pl.Layout.(*declared)
	return is && d.Boxes
}

// Box returns where the box of an entry stands in the text of a file, and the mark that its convention has for a
// status: none where the file is not for others to write.
func (pl Location) Box(path string, text []byte, id, status string) (b Box) {
	if !pl.HasBoxes() {
		return b
	}
	d := pl.Layout.(*declared)
	file, _ := d.Parse(path, text) // an entry is an entry
	for _, part := range file.Parts {
		if part.Entry == nil || part.Entry.ID != id {
			continue
		}
		start := 0
		for range part.Entry.Line - 1 {
			start += bytes.IndexByte(text[start:], '\n') + 1
		}
		line, _, _ := bytes.Cut(text[start:], []byte("\n"))
		m := boxed().FindSubmatchIndex(line)
		if m == nil || m[5]-m[4] != 1 {
			return b
		}
		b = Box{Line: part.Entry.Line, Offset: start + m[4]}
		switch {
		case part.Entry.Facts.Status == status: // also where it is spelled otherwise
			b.Mark = text[b.Offset]
		case status == StatusComplete:
			b.Mark = 'x'
		case status == StatusInProgress && d.Working != "":
			b.Mark = d.Working[0]
		case status == StatusPending:
			b.Mark = ' '
		}
		return b
	}
	return b
}

package pdf

import (
	"strings"
	"unicode/utf8"
)

// A frag is text in one face.
type frag struct {
	text  string
	face  face
	size  float64 // points
	style style
	link  target
	mark  int
	width float64
}

// An atom is what stays together on a line: a word, with its punctuation.
type atom struct {
	frags []frag
	width float64
	space float64 // before it, if it does not begin a line
	brk   bool    // it ends a line whatever its width
}

// A textLine is a line of a paragraph.
type textLine struct {
	atoms []atom
	width float64
	last  bool // of the paragraph, or before a forced break
}

// fit breaks pieces into lines of at most width points, in a size.
func (d *document) fit(pieces []piece, width, size float64) []textLine {
	return d.fonts.breakLines(d.atoms(pieces, size), max(width, size))
}

// An atomizer cuts pieces into atoms.
type atomizer struct {
	fonts *fonts
	size  float64
	atoms []atom
	open  bool    // the last atom goes on
	space float64 // to come before the next atom
	wide  bool    // the last character was a wide one
	text  strings.Builder
}

func (d *document) atoms(pieces []piece, size float64) []atom {
	a := &atomizer{fonts: d.fonts, size: size}
	for _, p := range pieces {
		switch {
		case p.brk == hardBreak:
			a.end()
			a.atoms = append(a.atoms, atom{brk: true})
			a.space = 0
		case p.brk == softBreak:
			a.blank(style{}, !a.wide)
		case p.image != nil:
			a.add(piece{text: d.alt(p.image), style: style{italic: true}, link: p.link})
		default:
			a.add(p)
		}
	}
	return a.atoms
}

// blank ends an atom at white space.
func (a *atomizer) blank(s style, visible bool) {
	a.end()
	if visible && len(a.atoms) > 0 {
		name, _ := a.fonts.faceOf(s, ' ')
		a.space = a.fonts.metrics(name).width(' ') * s.size(a.size)
	}
}

func (a *atomizer) end() { a.open = false }

func (a *atomizer) add(p piece) {
	f := frag{size: p.style.size(a.size), style: p.style, link: p.link, mark: p.mark}
	flush := func() {
		if f.text = a.text.String(); f.text != "" {
			a.push(f)
			f.width, f.mark = 0, 0
			a.text.Reset()
		}
	}
	for _, r := range p.text {
		if r == ' ' {
			flush()
			a.blank(p.style, true)
			a.wide = false
			continue
		}
		name, shown := a.fonts.faceOf(p.style, r)
		wide := isWide(r)
		if (wide || a.wide) && !staysLeft(r) {
			flush()
			a.end()
		}
		if name != f.face {
			flush()
			f.face = name
		}
		a.wide = wide
		a.text.WriteRune(shown)
		f.width += a.fonts.metrics(name).width(shown) * f.size
	}
	flush()
}

// push adds a fragment to the open atom, or to a new one.
func (a *atomizer) push(f frag) {
	if !a.open || len(a.atoms) == 0 {
		a.atoms = append(a.atoms, atom{space: a.space})
		a.space, a.open = 0, true
	}
	last := &a.atoms[len(a.atoms)-1]
	last.frags = append(last.frags, f)
	last.width += f.width
}

// breakLines fills lines with atoms, as many as go in. An atom longer than a line
// is cut.
func (f *fonts) breakLines(atoms []atom, width float64) []textLine {
	var lines []textLine
	var line textLine
	end := func(last bool) {
		line.last = last
		lines = append(lines, line)
		line = textLine{}
	}
	for _, a := range atoms {
		if a.brk {
			end(true)
			continue
		}
		if len(line.atoms) > 0 && line.width+a.space+a.width > width+slack {
			end(false)
		}
		for a.width > width+slack && !a.isOneRune() {
			var head atom
			head, a = f.cut(a, width)
			line.atoms, line.width = []atom{head}, head.width
			end(false)
		}
		if len(line.atoms) == 0 {
			a.space = 0
		}
		line.atoms = append(line.atoms, a)
		line.width += a.space + a.width
	}
	if len(line.atoms) > 0 {
		end(true)
	}
	return lines
}

// slack is what rounding may add to a width, in points.
const slack = 0.01

func (a atom) isOneRune() bool {
	_, size := utf8.DecodeRuneInString(a.frags[0].text)
	return len(a.frags) == 1 && size == len(a.frags[0].text)
}

// cut cuts an atom that is wider than a line: after the last character that fits,
// or after a mark such as a slash not far before it.
func (f *fonts) cut(a atom, width float64) (head, tail atom) {
	tail = a
	for len(tail.frags) > 1 && head.width+tail.frags[0].width <= width {
		head.frags = append(head.frags, tail.frags[0])
		head.width += tail.frags[0].width
		tail.frags = tail.frags[1:]
	}
	first := tail.frags[0]
	if at, used := f.fitting(first, width-head.width, len(head.frags) == 0); at > 0 {
		part := first
		part.text, part.width = first.text[:at], used
		head.frags, head.width = append(head.frags, part), head.width+used
		first.text, first.width, first.mark = first.text[at:], first.width-used, 0
	}
	tail.frags = append([]frag{first}, tail.frags[1:]...)
	if first.text == "" && len(tail.frags) > 1 {
		tail.frags = tail.frags[1:]
	}
	tail.width = a.width - head.width
	return head, tail
}

// fitting returns how many bytes of a fragment fit into a width, and theirs. At
// least one character does if it must.
func (f *fonts) fitting(g frag, width float64, must bool) (at int, used float64) {
	soft, softUsed := 0, 0.0
	m := f.metrics(g.face)
	for i, r := range g.text {
		w := m.width(r) * g.size
		if used+w > width && !(must && i == 0) {
			break
		}
		at, used = i+utf8.RuneLen(r), used+w
		if strings.ContainsRune(" /-_.,?&=;:|", r) {
			soft, softUsed = at, used
		}
	}
	if at < len(g.text) && soft*3 > at*2 {
		return soft, softUsed
	}
	return at, used
}

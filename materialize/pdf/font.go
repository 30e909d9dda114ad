package pdf

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"codeberg.org/go-fonts/dejavu/dejavusansbold"
	"codeberg.org/go-fonts/dejavu/dejavusansboldoblique"
	"codeberg.org/go-fonts/dejavu/dejavusansmono"
	"codeberg.org/go-fonts/dejavu/dejavusansmonobold"
	"codeberg.org/go-fonts/dejavu/dejavusansoblique"
	"github.com/go-pdf/fpdf"
)

// A face names one of the fonts of a document.
type face int

const (
	faceSans face = iota
	faceBold
	faceItalic
	faceBoldItalic
	faceMono
	faceMonoBold
	faceOwn // Options.Font
	faceCount
)

func (f face) family() string {
	return [...]string{"sans", "bold", "italic", "bolditalic", "mono", "monobold", "own"}[f]
}

// ttf returns the face's file.
func (f face) ttf() []byte {
	return [...][]byte{
		dejavusans.TTF, dejavusansbold.TTF, dejavusansoblique.TTF, dejavusansboldoblique.TTF,
		dejavusansmono.TTF, dejavusansmonobold.TTF,
	}[f]
}

// fonts gives text its faces. A face is read when the first text needs it: most
// documents use two or three.
type fonts struct {
	out     *fpdf.Fpdf
	ownTTF  []byte // Options.Font, or nil
	read    [faceCount]*metrics
	added   [faceCount]bool
	missing map[rune]bool // characters that no face has
	current font          // that the page's stream has selected last
}

// A font is a face in a size.
type font struct {
	face face
	size float64 // 0: none
}

// use selects a font for what is written next.
func (f *fonts) use(name face, size float64) {
	if f.current == (font{name, size}) {
		return
	}
	f.add(name)
	f.out.SetFont(name.family(), "", size)
	f.current = font{name, size}
}

func newFonts(out *fpdf.Fpdf, own []byte) (*fonts, error) {
	f := &fonts{out: out, missing: map[rune]bool{}}
	if own == nil {
		return f, nil
	}
	m, err := readOwn(own)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFont, err)
	}
	f.read[faceOwn], f.ownTTF = m, own
	return f, nil
}

func (f *fonts) metrics(name face) *metrics {
	if f.read[name] == nil {
		m, err := readMetrics(name.ttf())
		if err != nil {
			panic(stop{fmt.Errorf("reading the font %s: %w", name.family(), err)})
		}
		f.read[name] = m
	}
	return f.read[name]
}

// add makes a face known to the PDF. It gets a copy of the file, since fpdf
// writes into what it is given.
func (f *fonts) add(name face) {
	if f.added[name] {
		return
	}
	f.added[name] = true
	ttf := f.ownTTF
	if name != faceOwn {
		ttf = name.ttf()
	}
	f.out.AddUTF8FontFromBytes(name.family(), "", bytes.Clone(ttf))
}

// faceOf returns the face that shows a character in a style, and the character:
// a substitute, or an empty box, if no face has it.
func (f *fonts) faceOf(s style, r rune) (face, rune) {
	if name, found := f.find(s, r); found {
		return name, r
	}
	if other := substitute(r); other != r {
		if name, found := f.find(s, other); found {
			return name, other
		}
	}
	f.missing[r] = true
	return faceSans, box
}

func (f *fonts) find(s style, r rune) (face, bool) {
	name := s.face()
	if name == faceSans && f.ownTTF != nil {
		name = faceOwn
	}
	if f.metrics(name).has(r) {
		return name, true
	}
	if f.ownTTF != nil && f.metrics(faceOwn).has(r) {
		return faceOwn, true
	}
	return faceSans, f.metrics(faceSans).has(r)
}

// warn says which characters could not be shown.
func (f *fonts) warn(n *notes) {
	if len(f.missing) == 0 {
		return
	}
	all := slices.Sorted(maps.Keys(f.missing))
	const shown = 5
	var list string
	for _, r := range all[:min(shown, len(all))] {
		list += fmt.Sprintf(" U+%04X", r)
	}
	if len(all) > shown {
		list += " …"
	}
	n.add("no font has %d of the characters, shown as boxes:%s", len(all), list)
}

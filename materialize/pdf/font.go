package pdf

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"unicode"

	"github.com/go-pdf/fpdf"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
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

var (
	//go:embed faces/*.gz
	faces embed.FS // half of what they are as files
)

// ttf returns the face's file.
func (f face) ttf() ([]byte, error) {
	packed, err := faces.Open("faces/DejaVuSans" + [...]string{"", "-Bold", "-Oblique", "-BoldOblique", "Mono", "Mono-Bold"}[f] + ".ttf.gz")
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// fonts gives text its faces. A face is read when the first text needs it: most
// documents use two or three.
type fonts struct {
	out     *fpdf.Fpdf
	ttf     [faceCount][]byte // files that were needed, and Options.Font
	read    [faceCount]*metrics
	added   [faceCount]bool
	missing map[rune]bool // characters that no face has
	isRight bool          // something is written from right to left
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
	own = firstFace(own)
	m, err := readOwn(own)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFont, err)
	}
	f.read[faceOwn], f.ttf[faceOwn] = m, own
	return f, nil
}

func (f *fonts) metrics(name face) *metrics {
	if f.read[name] == nil {
		ttf, err := name.ttf()
		var m *metrics
		if err == nil {
			m, err = readMetrics(ttf)
		}
		if err != nil {
			panic(stop{fmt.Errorf("reading the font %s: %w", name.family(), err)})
		}
		f.read[name], f.ttf[name] = m, ttf
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
	f.metrics(name) // reads it
	f.out.AddUTF8FontFromBytes(name.family(), "", bytes.Clone(f.ttf[name]))
}

// faceOf returns the face that shows a character in a style, and the character:
// a substitute, or an empty box, if no face has it.
func (f *fonts) faceOf(s style, r rune) (face, rune) {
	f.isRight = f.isRight || unicode.In(r, unicode.Hebrew, unicode.Arabic, unicode.Syriac, unicode.Thaana, unicode.Nko)
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
	if name == faceSans && f.ttf[faceOwn] != nil {
		name = faceOwn
	}
	if f.metrics(name).has(r) {
		return name, true
	}
	if f.ttf[faceOwn] != nil && f.metrics(faceOwn).has(r) {
		return faceOwn, true
	}
	return faceSans, f.metrics(faceSans).has(r)
}

// warn says which characters could not be shown.
func (f *fonts) warn(n *notes) {
	if f.isRight {
		n.add("text that runs from right to left is written from left to right, and its letters are not joined: it does not read right")
	}
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
	n.add("no font has %d of the characters, shown as boxes:%s; --font FILE.ttf takes one that does", len(all), list)
}

// metrics tell which characters a TrueType font has, and how wide they are.
type metrics struct {
	font   *sfnt.Font
	buffer sfnt.Buffer
	widths map[rune]float64 // of the characters that were asked for
}

const (
	noGlyph  = -1
	unhinted = 0 // font.HintingNone: widths are not rounded to pixels
)

func readMetrics(ttf []byte) (*metrics, error) {
	f, err := sfnt.Parse(ttf)
	return &metrics{font: f, widths: map[rune]float64{}}, err
}

func (m *metrics) has(r rune) bool { return m.width(r) != noGlyph }

// width returns the width of a character in sizes of the font, rounded as fpdf rounds
// it, or noGlyph.
func (m *metrics) width(r rune) float64 {
	width, known := m.widths[r]
	if !known {
		width = noGlyph
		em := fixed.I(int(m.font.UnitsPerEm()))
		if g, err := m.font.GlyphIndex(&m.buffer, r); err == nil && g > 0 && r > 0 && r < 0xFFFF {
			if advance, err := m.font.GlyphAdvance(&m.buffer, g, em, unhinted); err == nil {
				width = math.Round(1000*float64(advance)/float64(em)) / 1000
			}
		}
		m.widths[r] = width
	}
	return width
}

// firstFace returns the first font of a collection (.ttc) as a file of its own, and any other file as it is.
func firstFace(file []byte) []byte {
	u32 := func(at int) int { return u16(file, at)<<16 | u16(file, at+2) }
	at := u32(12)
	end := at + 12 + 16*u16(file, at+4)
	if !bytes.HasPrefix(file, []byte("ttcf")) || end > len(file) {
		return file
	}
	face := bytes.Clone(file[at:end])
	for i := 12; i < end-at; i += 16 {
		start, size := u32(at+i+8), u32(at+i+12)
		if start > len(file) || size > len(file)-start {
			return file
		}
		binary.BigEndian.PutUint32(face[i+8:], uint32(len(face)))
		face = append(face, file[start:start+size]...)
		face = append(face, make([]byte, -size&3)...) // tables begin at multiples of 4
	}
	return face
}

// readOwn reads a font of the user, which may be any file.
func readOwn(ttf []byte) (*metrics, error) {
	switch string(ttf[:min(4, len(ttf))]) {
	case "\x00\x01\x00\x00", "true":
	case "OTTO":
		return nil, errors.New("an OpenType font with PostScript outlines; only TrueType outlines can be embedded")
	default:
		return nil, errors.New("not a TrueType font")
	}
	m, err := readMetrics(ttf)
	if err == nil {
		err = checkFont(ttf, m)
	}
	return m, err
}

// checkFont refuses fonts that fpdf cannot embed. It does not always say so itself: it
// prints to stdout, and follows a glyph that is made of itself for ever.
func checkFont(ttf []byte, m *metrics) (err error) {
	switch rights := u16(table(ttf, "OS/2"), 8); {
	case rights == 2 || rights&0x300 != 0:
		return errors.New("its license does not allow it to be embedded")
	case u16(table(ttf, "name"), 0) != 0 || u16(table(ttf, "head"), 52) != 0 || u16(table(ttf, "hhea"), 32) != 0:
		return errors.New("its tables have an unknown format")
	case !mapsBasicPlane(table(ttf, "cmap")):
		return errors.New("it has no table of Unicode characters")
	}
	em := fixed.I(int(m.font.UnitsPerEm()))
	for g := range m.font.NumGlyphs() {
		if _, err := m.font.LoadGlyph(&m.buffer, sfnt.GlyphIndex(g), em, nil); err != nil {
			return fmt.Errorf("its glyph %d: %w", g, err)
		}
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("damaged TrueType file: %v", p)
		}
	}()
	fpdf.New("", "", "", "").AddUTF8FontFromBytes("own", "", bytes.Clone(ttf))
	return nil
}

// table returns a table of a font that sfnt has read, so that it lies in the file.
func table(ttf []byte, name string) []byte {
	for i := range u16(ttf, 4) {
		if entry := ttf[12+16*i:]; string(entry[:4]) == name {
			start, size := binary.BigEndian.Uint32(entry[8:]), binary.BigEndian.Uint32(entry[12:])
			return ttf[start : start+size]
		}
	}
	return nil
}

// mapsBasicPlane reports whether characters have the only kind of map that fpdf reads.
func mapsBasicPlane(cmap []byte) bool {
	for i := range u16(cmap, 2) {
		platform, encoding, at := u16(cmap, 4+8*i), u16(cmap, 6+8*i), u16(cmap, 8+8*i)<<16|u16(cmap, 10+8*i)
		if (platform == 0 || platform == 3 && encoding == 1) && u16(cmap, at) == 4 {
			return true
		}
	}
	return false
}

// u16 reads a number; beyond the end there are zeros.
func u16(b []byte, at int) int {
	if at+2 > len(b) {
		return 0
	}
	return int(binary.BigEndian.Uint16(b[at:]))
}

package pdf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// metrics are the widths of a TrueType font's characters in the basic plane, in
// thousandths of the font's size; 0xFFFF stands for a character that it lacks.
type metrics struct{ widths []uint16 }

const noGlyph = 0xFFFF

func (m *metrics) has(r rune) bool { return r < 0x10000 && m.widths[r] != noGlyph }

func (m *metrics) width(r rune) float64 { return float64(m.widths[r]) / 1000 }

var errTTF = errors.New("damaged TrueType file")

// An sfnt gives the tables of a TrueType file. Reading beyond the end gives 0.
type sfnt struct {
	data   []byte
	tables map[string][]byte
}

// openTTF reads the list of tables. It accepts only what can be embedded: the PDF
// writer prints to stdout, or worse, what it does not like.
func openTTF(data []byte) (*sfnt, error) {
	f := &sfnt{data: data, tables: map[string][]byte{}}
	switch tag := u32(data, 0); tag {
	case 0x00010000, 0x74727565:
	case 0x4F54544F:
		return nil, errors.New("an OpenType font with PostScript outlines; only TrueType outlines can be embedded")
	case 0x74746366:
		return nil, errors.New("a collection of fonts; only a single TrueType font can be embedded")
	default:
		return nil, errors.New("not a TrueType font")
	}
	for i := range u16(data, 4) {
		entry := 12 + 16*i
		if entry+16 > len(data) {
			return nil, errTTF
		}
		start, size := u32(data, entry+8), u32(data, entry+12)
		if start+size > len(data) {
			return nil, fmt.Errorf("%w: table %q ends after the file", errTTF, data[entry:entry+4])
		}
		f.tables[string(data[entry:entry+4])] = data[start : start+size]
	}
	return f, f.check()
}

// check makes sure that the tables are there that embedding needs.
func (f *sfnt) check() error {
	for name, size := range map[string]int{"head": 54, "hhea": 36, "maxp": 6, "hmtx": 4, "loca": 4, "glyf": 0, "cmap": 4, "post": 32, "name": 6} {
		if table, found := f.tables[name]; !found || len(table) < size {
			return fmt.Errorf("%w: no table %q", errTTF, name)
		}
	}
	if u16(f.tables["head"], 18) == 0 || u16(f.tables["head"], 52) != 0 || u16(f.tables["hhea"], 32) != 0 || u16(f.tables["hhea"], 34) == 0 {
		return errTTF
	}
	if u16(f.tables["name"], 0) != 0 {
		return errors.New("its table of names has an unknown format")
	}
	if os2 := f.tables["OS/2"]; os2 != nil {
		if rights := u16(os2, 8); rights == 2 || rights&0x300 != 0 {
			return errors.New("its license does not allow it to be embedded")
		}
	}
	return nil
}

func u16(b []byte, at int) int {
	if at < 0 || at+2 > len(b) {
		return 0
	}
	return int(binary.BigEndian.Uint16(b[at:]))
}

func u32(b []byte, at int) int {
	if at < 0 || at+4 > len(b) {
		return 0
	}
	return int(binary.BigEndian.Uint32(b[at:]))
}

// readMetrics reads the widths of the characters that a font has.
func readMetrics(data []byte) (*metrics, error) {
	f, err := openTTF(data)
	if err != nil {
		return nil, err
	}
	segments := f.segments()
	if segments == nil {
		return nil, errors.New("it has no table of Unicode characters")
	}
	m := &metrics{widths: make([]uint16, 0x10000)}
	for r := range m.widths {
		m.widths[r] = noGlyph
	}
	glyphs, scale := u16(f.tables["maxp"], 4), 1000/float64(u16(f.tables["head"], 18))
	count := u16(segments, 6) / 2
	for i := range count {
		first, last := u16(segments, 16+2*count+2*i), u16(segments, 14+2*i)
		for r := first; r <= min(last, 0xFFFE); r++ {
			if g := glyphOf(segments, count, i, r); g > 0 && g < glyphs {
				m.widths[r] = f.advance(g, scale)
			}
		}
	}
	m.widths[0] = noGlyph
	return m, nil
}

// segments returns the part of the table cmap that maps characters of the basic
// plane (format 4), or nil.
func (f *sfnt) segments() []byte {
	cmap := f.tables["cmap"]
	for i := range u16(cmap, 2) {
		platform, encoding, at := u16(cmap, 4+8*i), u16(cmap, 6+8*i), u32(cmap, 8+8*i)
		if (platform == 0 || platform == 3 && encoding == 1) && u16(cmap, at) == 4 {
			return cmap[at:]
		}
	}
	return nil
}

// glyphOf returns the glyph of a character in a segment; 0 is none.
func glyphOf(segments []byte, count, i, r int) int {
	delta, rangeAt := u16(segments, 16+4*count+2*i), 16+6*count+2*i
	offset := u16(segments, rangeAt)
	if offset == 0 {
		return (r + delta) & 0xFFFF
	}
	g := u16(segments, rangeAt+offset+2*(r-u16(segments, 16+2*count+2*i)))
	if g == 0 {
		return 0
	}
	return (g + delta) & 0xFFFF
}

func (f *sfnt) advance(glyph int, scale float64) uint16 {
	last := u16(f.tables["hhea"], 34) - 1
	width := u16(f.tables["hmtx"], 4*min(glyph, last))
	return uint16(min(math.Round(float64(width)*scale), 4000))
}

// maxParts is how many glyphs a glyph may be made of, all levels counted.
const maxParts = 500

// checkGlyphs makes sure that no glyph of a font is made of itself: whoever
// follows the parts of such a glyph never returns.
func checkGlyphs(data []byte) error {
	f, err := openTTF(data)
	if err != nil {
		return err
	}
	parts := make([]int, u16(f.tables["maxp"], 4)) // 0: not counted yet
	for g := range parts {
		if f.countParts(g, parts, 0) > maxParts {
			return fmt.Errorf("%w: glyph %d has too many parts", errTTF, g)
		}
	}
	return nil
}

func (f *sfnt) countParts(glyph int, parts []int, depth int) int {
	switch {
	case glyph >= len(parts) || depth > 16:
		return maxParts + 1
	case parts[glyph] > 0:
		return parts[glyph]
	}
	n := 1
	for _, part := range f.partsOf(glyph) {
		if n += f.countParts(part, parts, depth+1); n > maxParts {
			break
		}
	}
	parts[glyph] = n
	return n
}

// partsOf returns the glyphs that a composite glyph is made of.
func (f *sfnt) partsOf(glyph int) []int {
	outline := f.outline(glyph)
	if u16(outline, 0)&0x8000 == 0 {
		return nil
	}
	var parts []int
	for at, flags := 10, 0x20; flags&0x20 != 0 && at+4 <= len(outline) && len(parts) <= maxParts; {
		flags = u16(outline, at)
		parts = append(parts, u16(outline, at+2))
		at += 6
		if flags&1 != 0 {
			at += 2
		}
		switch {
		case flags&8 != 0:
			at += 2
		case flags&0x40 != 0:
			at += 4
		case flags&0x80 != 0:
			at += 8
		}
	}
	return parts
}

func (f *sfnt) outline(glyph int) []byte {
	loca, glyf := f.tables["loca"], f.tables["glyf"]
	start, end := 2*u16(loca, 2*glyph), 2*u16(loca, 2*glyph+2)
	if u16(f.tables["head"], 50) != 0 {
		start, end = u32(loca, 4*glyph), u32(loca, 4*glyph+4)
	}
	if start > end || end > len(glyf) {
		return nil
	}
	return glyf[start:end]
}

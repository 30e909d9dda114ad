package pdf_test

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"

	"filebus/materialize/pdf"
)

// The tests read what Render writes without another program: enough of PDF for the
// files that it makes.

// A readFile is a PDF taken apart.
type readFile struct {
	t       *testing.T
	data    []byte
	objects map[int][]byte
	fonts   map[string]*readFont
	pages   []readPage
	titles  []outlineItem
}

// A readPage has the texts of a page in the order in which they are written.
type readPage struct {
	runs  []run
	links []link
	draws int // of images
}

// A run is a text at a place, in points from the page's lower left corner.
type run struct {
	text       string
	font       string
	size       float64
	x, y       float64
	width      float64
	red, green float64
}

// A link leads to an address or to a place in the document.
type link struct {
	uri  string
	page int // counted from 1; 0: to an address
	y    float64
	x0   float64
	y0   float64
}

type outlineItem struct {
	title string
	level int
	page  int
}

type readFont struct {
	name   string
	gids   []byte
	hmtx   []byte
	long   int // entries of hmtx that have a width
	em     float64
	glyphs int
}

func be16(b []byte, at int) int { return int(binary.BigEndian.Uint16(b[at:])) }
func be32(b []byte, at int) int { return int(binary.BigEndian.Uint32(b[at:])) }

// render renders a source that is expected to work.
func render(t *testing.T, source string, o pdf.Options) (*readFile, pdf.Report) {
	t.Helper()
	var out bytes.Buffer
	report, err := pdf.Render(&out, []byte(source), o)
	if err != nil {
		t.Fatalf("Render(%.80q): %v", source, err)
	}
	f := readPDF(t, out.Bytes())
	if len(f.pages) != report.Pages {
		t.Errorf("Render(%.80q): %d pages, the report says %d", source, len(f.pages), report.Pages)
	}
	return f, report
}

var (
	xrefEntry = regexp.MustCompile(`(?m)^(\d{10}) 00000 n`)
	lengthOf  = regexp.MustCompile(`/Length (\d+)`)
	fontEntry = regexp.MustCompile(`/F([0-9a-f]+) (\d+) 0 R`)
	annotURI  = regexp.MustCompile(`/Rect \[([\d.-]+) ([\d.-]+) [^\]]*\] /Border \[0 0 0\] (?:/A <</S /URI /URI \((.*?)\)>>|/Dest \[(\d+) 0 R /XYZ 0 ([\d.-]+) null\])>>`)
)

func readPDF(t *testing.T, data []byte) *readFile {
	t.Helper()
	f := &readFile{t: t, data: data, objects: map[int][]byte{}, fonts: map[string]*readFont{}}
	start := bytes.LastIndex(data, []byte("\nxref\n"))
	if start < 0 || !bytes.HasPrefix(data, []byte("%PDF-1.")) || !bytes.HasSuffix(data, []byte("%%EOF\n")) {
		t.Fatalf("not a PDF of %d bytes: %.20q … %.20q", len(data), data, data[max(0, len(data)-20):])
	}
	for i, m := range xrefEntry.FindAllSubmatch(data[start:], -1) {
		offset, _ := strconv.Atoi(string(m[1]))
		var n int
		if _, err := fmt.Sscanf(string(data[offset:min(offset+20, len(data))]), "%d 0 obj", &n); err != nil || n != i+1 {
			t.Fatalf("object %d is not at %d: %.20q", i+1, offset, data[offset:])
		}
		f.objects[n] = data[offset:]
	}
	f.readFonts()
	for n := 3; strings.Contains(f.dict(n), "/Type /Page\n"); n += 2 {
		f.pages = append(f.pages, f.readPage(n))
	}
	f.readOutline()
	return f
}

// dict returns an object without its stream.
func (f *readFile) dict(n int) string {
	text, found := f.objects[n]
	if !found {
		return ""
	}
	end := bytes.Index(text, []byte("endobj"))
	if stream := bytes.Index(text, []byte("\nstream\n")); stream >= 0 && stream < end {
		end = stream
	}
	return string(text[:end])
}

func (f *readFile) stream(n int) []byte {
	text := f.objects[n]
	start := bytes.Index(text, []byte("\nstream\n")) + len("\nstream\n")
	m := lengthOf.FindStringSubmatch(f.dict(n))
	if m == nil {
		f.t.Fatalf("object %d has no stream: %s", n, f.dict(n))
	}
	size, _ := strconv.Atoi(m[1])
	stream := text[start : start+size]
	if !strings.Contains(f.dict(n), "FlateDecode") {
		return stream
	}
	r, err := zlib.NewReader(bytes.NewReader(stream))
	if err == nil {
		stream, err = io.ReadAll(r)
	}
	if err != nil {
		f.t.Fatalf("object %d: %v", n, err)
	}
	return stream
}

// ref returns the object that a key of a dictionary names.
func (f *readFile) ref(dict, key string) int {
	m := regexp.MustCompile(key + ` \[?(\d+) 0 R`).FindStringSubmatch(dict)
	if m == nil {
		f.t.Fatalf("no %s in %s", key, dict)
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

func (f *readFile) readFonts() {
	for _, m := range fontEntry.FindAllStringSubmatch(f.dict(2), -1) {
		n, _ := strconv.Atoi(m[2])
		below := f.dict(f.ref(f.dict(n), "/DescendantFonts"))
		ttf := f.stream(f.ref(f.dict(f.ref(below, "/FontDescriptor")), "/FontFile2"))
		font := &readFont{name: f.dict(n), gids: f.stream(f.ref(below, "/CIDToGIDMap"))}
		for i := range be16(ttf, 4) {
			entry := ttf[12+16*i:]
			table := ttf[be32(entry, 8) : be32(entry, 8)+be32(entry, 12)]
			switch string(entry[:4]) {
			case "head":
				font.em = float64(be16(table, 18))
			case "hhea":
				font.long = be16(table, 34)
			case "hmtx":
				font.hmtx = table
			case "maxp":
				font.glyphs = be16(table, 4)
			}
		}
		f.fonts[m[1]] = font
	}
}

func (r *readFont) width(text string) float64 {
	sum := 0
	for _, c := range utf16.Encode([]rune(text)) {
		gid := be16(r.gids, 2*int(c))
		sum += be16(r.hmtx, 4*min(gid, r.long-1))
	}
	return float64(sum) / r.em
}

// operands of a content stream: names, numbers and strings in brackets.
var operand = regexp.MustCompile(`(?s)\((?:[^\\)]|\\.)*\)|[^\s()]+`)

func (f *readFile) readPage(n int) readPage {
	var p readPage
	var stack []string
	var now run
	number := func(back int) float64 {
		v, _ := strconv.ParseFloat(stack[len(stack)-back], 64)
		return v
	}
	for _, token := range operand.FindAllString(string(f.stream(n+1)), -1) {
		switch token {
		case "Tf":
			now.font, now.size = strings.TrimPrefix(stack[len(stack)-2], "/F"), number(1)
		case "Td":
			now.x, now.y = number(2), number(1)
		case "g":
			now.red, now.green = number(1), number(1)
		case "rg":
			now.red, now.green = number(3), number(2)
		case "Tj":
			now.text = decode(stack[len(stack)-1])
			now.width = f.fonts[now.font].width(now.text) * now.size
			p.runs = append(p.runs, now)
		case "Do":
			p.draws++
		default:
			stack = append(stack, token)
			continue
		}
		stack = nil
	}
	for _, m := range annotURI.FindAllStringSubmatch(f.dict(n), -1) {
		l := link{uri: m[3]}
		l.x0, _ = strconv.ParseFloat(m[1], 64)
		l.y0, _ = strconv.ParseFloat(m[2], 64)
		if m[4] != "" {
			object, _ := strconv.Atoi(m[4])
			l.page = (object - 1) / 2
			l.y, _ = strconv.ParseFloat(m[5], 64)
		}
		p.links = append(p.links, l)
	}
	return p
}

// decode reads a string of UTF-16 in brackets.
func decode(token string) string {
	var raw []byte
	for i := 1; i < len(token)-1; i++ {
		c := token[i]
		if c == '\\' {
			i++
			if c = token[i]; c == 'r' {
				c = '\r'
			}
		}
		raw = append(raw, c)
	}
	raw = bytes.TrimPrefix(raw, []byte("\xFE\xFF"))
	var units []uint16
	for i := 0; i+1 < len(raw); i += 2 {
		units = append(units, uint16(be16(raw, i)))
	}
	return string(utf16.Decode(units))
}

var outlineEntry = regexp.MustCompile(`(?s)<</Title (\((?:[^\\)]|\\.)*\))\n/Parent (\d+) 0 R.*?/Dest \[(\d+) 0 R /XYZ`)

func (f *readFile) readOutline() {
	levels := map[int]int{}
	for n := 1; n <= len(f.objects); n++ {
		m := outlineEntry.FindStringSubmatch(f.dict(n))
		if m == nil {
			continue
		}
		parent, _ := strconv.Atoi(m[2])
		page, _ := strconv.Atoi(m[3])
		levels[n] = levels[parent] + 1
		f.titles = append(f.titles, outlineItem{decode(m[1]), levels[n], (page - 1) / 2})
	}
}

// text returns the text of a page, or of all pages for 0: a line for each
// baseline, with a space where there is room for one.
func (f *readFile) text(page int) string {
	var out strings.Builder
	for i, p := range f.pages {
		if page > 0 && page != i+1 {
			continue
		}
		for j, r := range p.runs {
			if j > 0 {
				before := p.runs[j-1]
				switch gap := r.x - before.x - before.width; {
				case r.y != before.y:
					out.WriteByte('\n')
				case gap > 1 || gap < -1:
					out.WriteByte(' ')
				}
			}
			out.WriteString(r.text)
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// words returns a text with single spaces in place of all white space.
func words(text string) string {
	return strings.Join(strings.Fields(text), " ")
}

// checkFrame reports what stands outside of the page.
func (f *readFile) checkFrame() {
	f.t.Helper()
	for i, p := range f.pages {
		for _, r := range p.runs {
			if r.x < 55 || r.x+r.width > 595.28-55 || r.y < 20 || r.y > 841.89-40 {
				f.t.Errorf("page %d: %q stands at %.0f,%.0f, %.0f wide: outside of the page", i+1, r.text, r.x, r.y, r.width)
				return
			}
		}
		for _, l := range p.links {
			if l.page > len(f.pages) || l.page == 0 && l.uri == "" {
				f.t.Errorf("page %d: a link leads nowhere: %+v", i+1, l)
			}
		}
	}
}

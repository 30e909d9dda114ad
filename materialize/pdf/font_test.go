package pdf_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"codeberg.org/go-fonts/dejavu/dejavusans"
	"codeberg.org/go-fonts/dejavu/dejavusansbold"
	"codeberg.org/go-fonts/dejavu/dejavusansboldoblique"
	"codeberg.org/go-fonts/dejavu/dejavusansmono"
	"codeberg.org/go-fonts/dejavu/dejavusansmonobold"
	"codeberg.org/go-fonts/dejavu/dejavusansoblique"
	"codeberg.org/go-fonts/dejavu/dejavuserif"

	"filebus/materialize/pdf"
)

// TestOwnFont sets plain text in the user's font, and what that lacks in DejaVu.
func TestOwnFont(t *testing.T) {
	t.Parallel()
	f, report := render(t, "plain **bold** `code` ☑", pdf.Options{Font: dejavuserif.TTF})
	got := map[string]string{}
	for _, r := range f.pages[0].runs {
		name := f.fonts[r.font].name
		name = name[strings.Index(name, "/utf8")+len("/utf8"):]
		got[strings.TrimSpace(r.text)] = name[:strings.Index(name, "\n")]
	}
	for text, want := range map[string]string{"plain": "own", "bold": "bold", "code": "mono", "1 / 1": "own"} {
		if got[text] != want {
			t.Errorf("%q is set in %q, want %q; all: %v", text, got[text], want, got)
		}
	}
	if len(report.Warnings) > 0 {
		t.Errorf("warnings: %q", report.Warnings)
	}
}

// TestCollection sets text in the first font of a collection as in the font itself.
func TestCollection(t *testing.T) {
	t.Parallel()
	const head = "ttcf\x00\x01\x00\x00\x00\x00\x00\x01\x00\x00\x00\x10"
	face := bytes.Clone(dejavuserif.TTF)
	for i := range int(binary.BigEndian.Uint16(face[4:])) {
		at := face[12+16*i+8:]
		binary.BigEndian.PutUint32(at, binary.BigEndian.Uint32(at)+uint32(len(head)))
	}
	var got, want bytes.Buffer
	for out, font := range map[*bytes.Buffer][]byte{&got: append([]byte(head), face...), &want: dejavuserif.TTF} {
		if _, err := pdf.Render(out, []byte("a plain text"), pdf.Options{Font: font}); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(got.Bytes(), want.Bytes()) {
		t.Errorf("a collection makes a PDF of %d bytes, its font one of %d", got.Len(), want.Len())
	}
}

func TestUnusableFonts(t *testing.T) {
	t.Parallel()
	without := func(table string) []byte {
		data := bytes.Clone(dejavusansmono.TTF)
		at := bytes.Index(data, []byte(table))
		copy(data[at:], "none")
		return data
	}
	restricted := bytes.Clone(dejavusansmono.TTF)
	entry := bytes.Index(restricted, []byte("OS/2"))
	restricted[binary.BigEndian.Uint32(restricted[entry+8:])+9] = 2
	for name, font := range map[string][]byte{
		"empty": {}, "text": []byte("no font at all"), "PostScript outlines": []byte("OTTO" + strings.Repeat("\x00", 60)),
		"collection": []byte("ttcf" + strings.Repeat("\x00", 60)), "cut": dejavusans.TTF[:5000], "head": dejavusans.TTF[:12],
		"no glyphs": without("glyf"), "no characters": without("cmap"), "no names": without("name"), "restricted": restricted,
		"made of itself": selfMade(t),
	} {
		var out bytes.Buffer
		if _, err := pdf.Render(&out, []byte("x"), pdf.Options{Font: font}); !errors.Is(err, pdf.ErrFont) || out.Len() > 0 {
			t.Errorf("%s: error %v and %d bytes, want %v and none", name, err, out.Len(), pdf.ErrFont)
		}
	}
}

// selfMade returns a font with a glyph that is made of itself.
func selfMade(t *testing.T) []byte {
	t.Helper()
	data := bytes.Clone(dejavusansmono.TTF)
	table := func(name string) int {
		return int(binary.BigEndian.Uint32(data[bytes.Index(data, []byte(name))+8:]))
	}
	glyf, loca, long := table("glyf"), table("loca"), binary.BigEndian.Uint16(data[table("head")+50:]) != 0
	for g := 0; g < int(binary.BigEndian.Uint16(data[table("maxp")+4:])); g++ {
		at := 2 * int(binary.BigEndian.Uint16(data[loca+2*g:]))
		if long {
			at = int(binary.BigEndian.Uint32(data[loca+4*g:]))
		}
		if outline := data[glyf+at:]; binary.BigEndian.Uint16(outline) == 0xFFFF {
			binary.BigEndian.PutUint16(outline[12:], uint16(g))
			return data
		}
	}
	t.Fatal("the font has no glyph that is made of others")
	return nil
}

// TestDamagedFonts changes a font at many places: it is used, or refused, and
// nothing else happens.
func TestDamagedFonts(t *testing.T) {
	t.Parallel()
	for i := 0; i < 3000; i += 37 {
		font := bytes.Clone(dejavusansmono.TTF)
		font[i] ^= 0xFF
		var out bytes.Buffer
		switch _, err := pdf.Render(&out, []byte("some Text é"), pdf.Options{Font: font}); {
		case err == nil:
			readPDF(t, out.Bytes())
		case !errors.Is(err, pdf.ErrFont):
			t.Errorf("a font with byte %d changed: %v, want an ErrFont", i, err)
		}
	}
}

// TestFaces holds the packed faces against the module that they are from.
func TestFaces(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]byte{
		"": dejavusans.TTF, "-Bold": dejavusansbold.TTF, "-Oblique": dejavusansoblique.TTF, "-BoldOblique": dejavusansboldoblique.TTF,
		"Mono": dejavusansmono.TTF, "Mono-Bold": dejavusansmonobold.TTF,
	} {
		packed, err := os.Open("faces/DejaVuSans" + name + ".ttf.gz")
		if err != nil {
			t.Fatal(err)
		}
		defer packed.Close()
		r, err := gzip.NewReader(packed)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, want) {
			t.Errorf("DejaVuSans%s is not the module's (%v)", name, err)
		}
	}
}

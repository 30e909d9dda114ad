package pdf_test

import (
	"bytes"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"filebus/materialize/pdf"
)

// testImage makes the images of the tests: their form is that of the extension.
func testImage(name string) ([]byte, error) {
	width, height := 60, 40
	switch {
	case strings.HasPrefix(name, "broken"), strings.HasSuffix(name, ".svg"):
		return []byte("<svg></svg>"), nil
	case strings.HasPrefix(name, "large"):
		width, height = 3000, 2000
	case strings.HasPrefix(name, "tall"):
		width, height = 20, 3000
	case strings.HasPrefix(name, "clear"), strings.HasPrefix(name, "test"):
	default:
		return nil, errors.New("no such image")
	}
	picture := image.NewNRGBA(image.Rect(0, 0, width, height))
	for x := range width {
		for y := range height {
			c := color.NRGBA{uint8(x), uint8(y), uint8(len(name)), 255}
			if strings.HasPrefix(name, "clear") {
				c.A = uint8(x)
			}
			picture.SetNRGBA(x, y, c)
		}
	}
	var out bytes.Buffer
	var err error
	switch {
	case strings.HasSuffix(name, ".jpg"):
		err = jpeg.Encode(&out, picture, nil)
	case strings.HasSuffix(name, ".gif"):
		err = gif.Encode(&out, picture, nil)
	default:
		err = png.Encode(&out, picture)
	}
	return out.Bytes(), err
}

func TestImages(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, source string
		draws        int
		want         string
	}{
		{"png", "![a](test.png)", 1, "a"},
		{"jpeg", "![a](test.jpg)", 1, "a"},
		{"gif", "![a](test.gif)", 1, "a"},
		{"transparent", "![a](clear.png)", 1, "a"},
		{"title", "![a](test.png \"Figure 1\")", 1, "Figure 1"},
		{"large", "![a](large.png)", 1, "a"},
		{"tall", "![a](tall.png)", 1, "a"},
		{"in text", "before ![a](test.png) after", 1, "before a after"},
		{"several", "![](test.png)\n\n![](test1.png)\n\n![](test.jpg)", 3, ""},
		{"the same twice", "![](test.png)\n\n![](test.png)", 2, ""},
		{"missing", "![the alt *text*](gone.png)", 0, "the alt text"},
		{"linked", "[![a](test.png)](https://example.org)", 1, "a"},
		{"in a table", "|a|\n|-|\n|![x](test.png)|", 0, "a x"},
		{"in a heading", "## a ![x](test.png)", 0, "1 a x"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f, _ := render(t, test.source, pdf.Options{Image: testImage, Title: "T"})
			draws := 0
			for _, p := range f.pages {
				draws += p.draws
			}
			got := strings.TrimPrefix(words(f.text(0)), "T")
			got = strings.TrimSpace(got[:strings.LastIndex(got, "1 / ")])
			if draws != test.draws || got != test.want {
				t.Errorf("%q draws %d images and shows %q, want %d and %q", test.source, draws, got, test.draws, test.want)
			}
		})
	}
}

// TestDamagedImages cuts and changes images at every few bytes: each is drawn or
// said to be damaged.
func TestDamagedImages(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"test.png", "test.jpg", "test.gif", "clear.png"} {
		whole, err := testImage(name)
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(whole); i += 1 + len(whole)/8 {
			changed := bytes.Clone(whole)
			changed[i] ^= 0x41
			for _, data := range [][]byte{whole[:i], changed} {
				_, report := render(t, "![alt](x)", pdf.Options{Image: func(string) ([]byte, error) { return data, nil }})
				for _, warning := range report.Warnings {
					if !strings.HasPrefix(warning, "image x is shown as its text: ") {
						t.Errorf("%s damaged at %d: %s", name, i, warning)
					}
				}
			}
		}
	}
}

// TestHugeImage claims more pixels than memory has.
func TestHugeImage(t *testing.T) {
	t.Parallel()
	data, err := testImage("test.png")
	if err != nil {
		t.Fatal(err)
	}
	copy(data[16:24], []byte{0, 1, 0xFF, 0xFF, 0, 1, 0xFF, 0xFF})
	header := data[12:29]
	sum := crc32.ChecksumIEEE(header)
	copy(data[29:33], []byte{byte(sum >> 24), byte(sum >> 16), byte(sum >> 8), byte(sum)})
	_, report := render(t, "![alt](x)", pdf.Options{Image: func(string) ([]byte, error) { return data, nil }})
	if len(report.Warnings) != 1 || !strings.Contains(report.Warnings[0], "too large: 131071 × 131071 pixels") {
		t.Errorf("warnings %q, want one about the size", report.Warnings)
	}
}

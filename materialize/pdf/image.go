package pdf

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	_ "image/gif"  // for image.Decode
	_ "image/jpeg" // likewise
	"image/png"
	"strings"

	"github.com/go-pdf/fpdf"
	"github.com/yuin/goldmark/ast"
)

// The limits of images.
const (
	maxImage   = 20_000_000 // bytes of a file
	maxPixels  = 16_000_000 // of an image
	allPixels  = 100_000_000
	maxImages  = 2_000
	pixelSize  = 72.0 / 120 // points: images are shown with 120 pixels an inch, or smaller
	imageWarns = "image %s is shown as its text: %v"
)

// images reads the images of a document, each once.
type images struct {
	d      *document
	read   map[string]*picture // by destination; nil: cannot be shown
	pixels int
}

// A picture is an image that the PDF has.
type picture struct {
	name          string // in fpdf
	width, height float64
}

// of returns the picture of an image, or nil if its text is to be shown.
func (m *images) of(n *ast.Image) *picture {
	destination := string(n.Destination)
	p, known := m.read[destination]
	if known {
		return p
	}
	p, err := m.load(destination)
	if err != nil {
		m.d.notes.add(imageWarns, destination, err)
	}
	m.read[destination] = p
	return p
}

func (m *images) load(destination string) (*picture, error) {
	if scheme, _, found := strings.Cut(destination, ":"); found && len(scheme) > 1 && !strings.ContainsAny(scheme, "/.") {
		return nil, errors.New("it is not a file; nothing is fetched")
	}
	if m.d.options.Image == nil {
		return nil, errors.New("the source has no folder")
	}
	if len(m.read) >= maxImages {
		return nil, fmt.Errorf("the document has more than %d images", maxImages)
	}
	data, err := m.d.options.Image(destination)
	if err != nil {
		return nil, err
	}
	if len(data) > maxImage {
		return nil, fmt.Errorf("it has more than %d bytes", maxImage)
	}
	return m.add(data)
}

// add decodes an image, whatever the extension of its file says, and gives it to
// the PDF in a form that fpdf reads without fault.
func (m *images) add(data []byte) (*picture, error) {
	config, format, err := image.DecodeConfig(bytes.NewReader(data))
	if err != nil {
		return nil, errors.New("it is no PNG, JPEG or GIF")
	}
	pixels := config.Width * config.Height
	if pixels <= 0 || config.Width > maxPixels || config.Height > maxPixels || pixels > maxPixels || m.pixels+pixels > allPixels {
		return nil, fmt.Errorf("it is too large: %d × %d pixels", config.Width, config.Height)
	}
	m.pixels += pixels
	decoded, _, err := image.Decode(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("it is damaged: %w", err)
	}
	kind := "png"
	if format == "jpeg" && (config.ColorModel == color.GrayModel || config.ColorModel == color.YCbCrModel) {
		kind = "jpg"
	} else if data, err = encode(decoded); err != nil {
		return nil, err
	}
	p := &picture{fmt.Sprintf("image%d", len(m.read)), float64(config.Width), float64(config.Height)}
	info := m.d.out.RegisterImageOptionsReader(p.name, fpdf.ImageOptions{ImageType: kind}, bytes.NewReader(data))
	if err := m.d.out.Error(); err != nil {
		m.d.out.ClearError() // of this image alone: the document goes on
		return nil, err
	}
	return p, distinguish(info, len(m.read))
}

// encode writes an image as the simplest kind of PNG.
func encode(m image.Image) ([]byte, error) {
	plain := image.NewNRGBA(image.Rect(0, 0, m.Bounds().Dx(), m.Bounds().Dy()))
	draw.Draw(plain, plain.Bounds(), m, m.Bounds().Min, draw.Src)
	var out bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, plain)
	return out.Bytes(), err
}

// distinguish gives an image a width of its own, by less than a pixel that counts.
// The PDF writer orders images by width, and equal ones at random.
func distinguish(info *fpdf.ImageInfoType, n int) error {
	var data, smask, pal []byte
	var id, bpc int
	var w, h, scale, dpi float64
	var cs, filter, parameters string
	var trns []int
	fields := []any{&data, &smask, &id, &w, &h, &cs, &pal, &bpc, &filter, &parameters, &trns, &scale, &dpi}
	encoded, err := info.GobEncode()
	decoder := gob.NewDecoder(bytes.NewReader(encoded))
	for i := 0; i < len(fields) && err == nil; i++ {
		err = decoder.Decode(fields[i])
	}
	if err != nil {
		return err
	}
	w += float64(n) / (4 * maxImages)
	var out bytes.Buffer
	encoder := gob.NewEncoder(&out)
	for i := 0; i < len(fields) && err == nil; i++ {
		err = encoder.Encode(fields[i])
	}
	if err != nil {
		return err
	}
	return info.GobDecode(out.Bytes())
}

// write shows a picture on lines of its own, with its title or its alternative text
// below.
func (m *images) write(p *picture, from piece) {
	d := m.d
	width, height := p.width*pixelSize, p.height*pixelSize
	if room := d.right - d.left; width > room {
		width, height = room, height*room/width
	}
	if room := (pageBottom - marginTop) * 0.8; height > room {
		width, height = width*room/height, room
	}
	d.gap(d.size * 0.8)
	d.need(height + d.size*2.2)
	x := d.left + (d.right-d.left-width)/2
	d.out.ImageOptions(p.name, x, d.y, width, height, false, fpdf.ImageOptions{}, from.link.id, from.link.uri)
	d.advance(height)
	caption := oneLine(string(from.image.Title))
	caption = cmp.Or(caption, d.alt(from.image))
	if caption != "" {
		d.gap(4)
		pieces := []piece{{text: caption, style: style{italic: true}}}
		d.paint(d.fit(pieces, d.right-d.left, smallSize), block{size: smallSize, leading: smallSize * 1.35, align: alignCenter, ink: inkPale})
	}
	d.gap(d.size * 0.8)
}

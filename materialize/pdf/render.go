package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"
)

// MaxSource is the longest source that is rendered, in bytes.
const MaxSource = 20_000_000

// maxPages is where a document ends that would not come to an end by itself: a
// short source can ask for many pages.
const maxPages = 10_000

// Errors that callers can tell apart.
var (
	ErrTooLarge = errors.New("too large for a PDF") // the source, or the document that it makes
	ErrFont     = errors.New("unusable font")
)

// Options say how a source is rendered. The zero value is good: title, authors and
// date then come from the source's front matter.
type Options struct {
	Title string // empty: that of the front matter, else the first heading
	// Fallback is the title of a source that has none itself.
	Fallback string
	Authors  []string  // none: those of the front matter
	Date     time.Time // zero: that of the front matter, if it has one
	// Font is a TrueType font in place of DejaVu Sans; nil: DejaVu Sans. Its bytes
	// are not kept.
	Font []byte
	// Image returns the bytes of an image that the source names, as it names it. Nil,
	// or an error: the image's alternative text is shown. Remote images are never
	// asked for.
	Image func(destination string) ([]byte, error)
}

// A Report says what was made.
type Report struct {
	Title    string // as it stands in the document; may be empty
	Pages    int
	Warnings []string // what could not be shown as the source has it, a line each
}

// Render writes source, which is Markdown in UTF-8, to w as a PDF. Nothing is
// written unless the document is complete.
func Render(w io.Writer, source []byte, o Options) (report Report, err error) {
	if len(source) > MaxSource {
		return report, fmt.Errorf("%w: %d bytes of Markdown, at most %d", ErrTooLarge, len(source), MaxSource)
	}
	defer func() {
		if p := recover(); p != nil {
			report, err = Report{}, fmt.Errorf("rendering the PDF: %v", p) // a fault of a library
			if ended, ok := p.(stop); ok {
				err = ended.error
			}
		}
	}()
	d, err := newDocument(source, o)
	if err != nil {
		return report, err
	}
	d.write()
	var out bytes.Buffer
	if err := d.out.Output(&out); err != nil {
		return report, fmt.Errorf("writing the PDF: %w", err)
	}
	_, err = out.WriteTo(w)
	return Report{Title: d.title, Pages: d.out.PageCount(), Warnings: d.notes.list()}, err
}

// A stop is thrown to end the rendering from deep within.
type stop struct{ error }

// notes collects the warnings, each once.
type notes struct {
	lines []string
	more  int
}

func (n *notes) add(format string, args ...any) {
	line := clean(fmt.Sprintf(format, args...))
	const maxWarnings = 20 // how many warnings are kept word by word
	switch {
	case slices.Contains(n.lines, line):
	case len(n.lines) == maxWarnings:
		n.more++
	default:
		n.lines = append(n.lines, line)
	}
}

func (n *notes) list() []string {
	if n.more > 0 {
		return append(n.lines, fmt.Sprintf("%d more warnings", n.more))
	}
	return n.lines
}

package web

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// raw answers with the bytes of a text as they are stored, as they come: a picture as one, all else
// as a file to save, never as a page.
func (s *Site) raw(w http.ResponseWriter, r *http.Request) {
	out := &rawWriter{w: w, name: r.FormValue("name")}
	buffered := bufio.NewWriterSize(out, 64<<10)
	err := s.Print(r.Context(), buffered, "get", "--", out.name)
	if err != nil && !out.begun {
		http.Error(w, err.Error(), status(err))
		return
	}
	if err = cmp.Or(err, buffered.Flush()); err != nil {
		panic(http.ErrAbortHandler) // so that what has come is not taken for all of it
	}
	out.begin(nil) // of an empty text
}

// status returns the status of an answer that is an error.
func status(err error) int {
	refused, codes := new(Refusal), map[string]int{"not_found": http.StatusNotFound, "usage": http.StatusBadRequest}
	if errors.As(err, &refused) && codes[refused.Code] != 0 {
		return codes[refused.Code]
	}
	return http.StatusInternalServerError
}

// A rawWriter says what follows when it sees how that begins.
type rawWriter struct {
	w     http.ResponseWriter
	name  string
	begun bool
}

func (o *rawWriter) Write(p []byte) (int, error) {
	o.begin(p)
	return o.w.Write(p)
}

func (o *rawWriter) begin(head []byte) {
	if o.begun {
		return
	}
	o.begun = true
	kind, how := shownType(head), "inline"
	if kind == "" {
		kind, how = "application/octet-stream", "attachment"
	}
	if kind == typePDF {
		o.w.Header().Set("Content-Security-Policy", framed)
	}
	file := strings.ToValidUTF8(fmt.Sprintf("%.100s", strings.ReplaceAll(visible(o.name), "/", "-")), "")
	o.w.Header().Set("Content-Type", kind)
	o.w.Header().Set("Content-Disposition", mime.FormatMediaType(how, map[string]string{"filename": file}))
}

const typePDF = "application/pdf"

// shownType returns the type of a picture or PDF that can do nothing but be seen, "" if bytes are none: SVG is
// a page with scripts.
func shownType(head []byte) string {
	kind := http.DetectContentType(head)
	if slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp", typePDF}, kind) {
		return kind
	}
	return ""
}

// difference returns the lines in which one text differs from another, with those around them, up to
// a bound.
func difference(was, is string) []string {
	text := string(diff.Diff("", []byte(was), "", []byte(is)))
	_, text, _ = strings.Cut(text, "+++ \n") // which says their names
	if text == "" {
		return nil
	}
	lines := sourceLines(strings.ReplaceAll(text, "\r", "␍"))
	if left := len(lines) - shownLines; left > 0 {
		lines = append(lines[:shownLines], fmt.Sprintf("… %d lines more", left))
	}
	return lines
}

// sourceLines returns a text as it stands, in lines.
func sourceLines(text string) []string {
	return strings.Split(strings.TrimSuffix(visible(text), "\n"), "\n")
}

// lineKind says what a line of a difference is.
func lineKind(line string) string {
	return map[byte]string{'@': "place", '+': "added", '-': "taken"}[(line + " ")[0]]
}

package cli

import (
	"bytes"
	"context"
	"io"
	"unicode/utf8"

	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// PrintText prints the text that a user's name means, or a part of it. Unless all is
// wanted, long lines are cut for people and where lines are asked for.
func (w *Work) PrintText(
	ctx context.Context, name string, v store.Version, request query.BodyRequest, all bool,
) error {
	if !all && (request.Lines != (query.Span{}) || w.OutTerminal && !w.Global.JSON) {
		request.LineBytes = maxLine
	}
	w.NoteIfAltered(ctx, v.Record.Name)
	if err := w.textHere(name, v, &request); err != nil {
		return err
	}
	return w.PrintBody(ctx, name, v, request)
}

// maxLine is how much of a line is printed where lines are asked for, in bytes: about 2,000
// tokens.
const maxLine = 8 << 10

// NoteIfAltered says that a file which is written once was changed, and is not what counts.
func (w *Work) NoteIfAltered(ctx context.Context, name record.Name) {
	if file := w.AlteredFile(ctx, name); file != "" {
		w.Note(AlteredText, OneLine(file))
	}
}

// AlteredText says of a file that is written once that it was changed.
const AlteredText = "%s was changed since it was written: what is stored counts; filebus sync --repair writes it back, and keeps the change"

// textHere makes a request read the file that a user's text names by its path, if that
// has another text than the version. It is said.
func (w *Work) textHere(text string, v store.Version, request *query.BodyRequest) error {
	if w.Global.NoSync || !w.Paths().IsPath(text, v.Record) {
		return nil
	}
	file, size, _, err := w.TextHere(v)
	switch {
	case err != nil || file == nil:
		return err
	case v.Record.Name.Kind != record.KindFrame:
		w.Note("this is the file as it stands here; filebus get %s prints the text that the store has", v.Record.Name)
	}
	request.Size = size
	request.Open = func() (io.ReadCloser, error) { // as often as needed, until the command ends
		_, err := file.Seek(0, io.SeekStart)
		return io.NopCloser(file), err
	}
	return nil
}

// noteLong says which lines were printed only in part.
func (e *Environ) noteLong(text string, long []query.LongLine) {
	for _, l := range long[:min(shownProblems, len(long))] {
		e.Note("%s of line %d left out; filebus get %s --lines %d --full prints all of it",
			ByteSize(l.Left), l.Line, record.ShellWord(text), l.Line)
	}
	if more := len(long) - shownProblems; more > 0 {
		e.Note("%s cut as well; --full prints all of them", Plural(more, "more line"))
	}
}

// PrintBody prints a body, or a part of it.
func (w *Work) PrintBody(ctx context.Context, name string, v store.Version, request query.BodyRequest) error {
	var buffer bytes.Buffer
	var out io.Writer = w.Out
	if w.Global.JSON {
		out = &buffer
	}
	result, err := w.Reader.WriteBody(ctx, out, v, request)
	if err != nil {
		return err
	}
	w.Said.What = v.Record.Name.String()
	w.noteLong(name, result.Long)
	if w.Call != nil {
		w.Call.Left = result.Left
	}
	if !w.Global.JSON {
		return nil
	}
	b := BodyJSON{
		Name: v.Record.Name, Ref: record.ShortRef(v.Ref), Lines: lineRange(result.Lines), Tokens: result.Tokens,
		Left: result.Left, Long: result.Long,
	}
	if text := buffer.String(); utf8.ValidString(text) {
		b.Text = &text
	} else {
		b.Base64 = buffer.Bytes()
	}
	return w.PrintJSON(b)
}

// BodyJSON is what a command prints with --json.
type BodyJSON struct {
	Name   record.Name      `json:"name"`
	Ref    record.ShortRef  `json:"ref"`
	Lines  lineRange        `json:"lines,omitzero"`
	Tokens int              `json:"tokens"`
	Left   int              `json:"left,omitempty"`
	Long   []query.LongLine `json:"cut_lines,omitempty"`
	Text   *string          `json:"text,omitempty"`
	Base64 []byte           `json:"base64,omitempty"`
}

// A lineRange is a Span as an object.
type lineRange struct {
	From int `json:"from"`
	To   int `json:"to"`
}

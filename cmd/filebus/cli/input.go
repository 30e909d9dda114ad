package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// An InputText is the beginning of what a user named: a file, standard input or
// what is stored under a name.
type InputText struct {
	Text   []byte
	Whole  bool           // nothing was left out
	Size   int64          // of all of it, in bytes; of what was read if that is not known
	Found  *store.Version // under which it is stored; nil: a file or standard input
	Stored string         // the preview that it is stored with
}

// ReadInput reads at most limit bytes of a file, of standard input ("-"), or of what
// is stored under a name. A file of the disk comes first.
func (e *Environ) ReadInput(ctx context.Context, arg string, limit int64) (InputText, error) {
	info, err := os.Stat(e.Abs(arg))
	if arg == "-" || err == nil && !info.IsDir() {
		return e.ReadFile(arg, limit)
	}
	in, err := e.readStored(ctx, arg, limit)
	if info != nil && (errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrNoStore)) {
		return in, UsageError("%s is a folder, not a file", arg)
	}
	if errors.Is(err, store.ErrNoStore) {
		return in, fmt.Errorf("%s is not a file, and there is no store to look for the name in: %w", arg, err)
	}
	return in, err
}

// OpenInput opens a file that the user names, or standard input ("-").
func (e *Environ) OpenInput(file string) (io.ReadCloser, error) {
	if file == "-" {
		in, err := e.Input()
		return io.NopCloser(in), err
	}
	f, err := os.Open(e.Abs(file))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, errors.Unwrap(err))
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_ = f.Close() // only opened
		return nil, UsageError("%s is a folder; filebus capture takes folders", file)
	}
	return f, nil
}

// Input returns standard input. One without a byte is refused, unless the command takes
// it: mostly what should have written it has failed.
func (e *Environ) Input() (io.Reader, error) {
	in := bufio.NewReader(e.In)
	e.In = in
	if _, err := in.Peek(1); errors.Is(err, io.EOF) && !e.EmptyInput {
		return in, record.Wanting.Errorf("standard input is empty: the command before the pipe may have failed")
	}
	return in, nil
}

// ReadFile reads at most limit bytes of a file that the user names, or of standard input.
func (e *Environ) ReadFile(file string, limit int64) (in InputText, err error) {
	f, err := e.OpenInput(file)
	if err != nil {
		return in, err
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	in = InputText{Text: text[:min(int64(len(text)), limit)], Whole: int64(len(text)) <= limit, Size: int64(len(text))}
	if f, ok := f.(*os.File); ok {
		if info, statErr := f.Stat(); statErr == nil && info.Mode().IsRegular() {
			in.Size = max(in.Size, info.Size())
		}
		if err != nil {
			err = fmt.Errorf("reading %s: %w", file, err)
		}
	}
	return in, err
}

func (e *Environ) readStored(ctx context.Context, arg string, limit int64) (InputText, error) {
	s, v, err := e.find(ctx, arg)
	if err != nil {
		return InputText{}, err
	}
	head := headWriter{limit: limit}
	_, err = s.Reader.WriteBody(ctx, &head, v, query.BodyRequest{})
	if err != nil && !errors.Is(err, errEnough) {
		return InputText{}, err
	}
	in := InputText{Text: head.text, Whole: err == nil, Size: max(v.Record.Size, int64(len(head.text))), Found: &v}
	err = s.Store.View(ctx, func(tx *store.Tx) error {
		in.Stored = tx.Description(v.Ref).Preview
		return nil
	})
	return in, err
}

// errEnough ends a copy that has what it needs.
var errEnough = errors.New("enough was read")

// A headWriter keeps the beginning of what is written to it.
type headWriter struct {
	text  []byte
	limit int64
}

func (h *headWriter) Write(p []byte) (int, error) {
	if left := h.limit - int64(len(h.text)); int64(len(p)) > left {
		h.text = append(h.text, p[:left]...)
		return int(left), errEnough
	}
	h.text = append(h.text, p...)
	return len(p), nil
}

// ReadText replaces a text of "-" by standard input, as far as a limit, in bytes.
func (e *Environ) ReadText(what string, text *string, limit int64) error {
	if *text != "-" {
		return nil
	}
	in, err := e.ReadFile("-", limit)
	if err != nil {
		return fmt.Errorf("reading the %s: %w", what, err)
	}
	*text = string(in.Text)
	return nil
}

// ReadWhole is ReadFile for a file that is refused if it has more than limit bytes.
func (e *Environ) ReadWhole(file string, limit int64, why string) ([]byte, error) {
	in, err := e.ReadFile(file, limit)
	if err == nil && !in.Whole {
		err = UsageError("%s has more than %d bytes%s", file, limit, why)
	}
	return in.Text, err
}

// CheckUTF8 refuses what a file of Markdown could not hold byte for byte.
func CheckUTF8(what, text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return Coded(record.Usage, "filebus put FILE", fmt.Errorf("the %s is not UTF-8: convert it, or store the bytes as a result", what))
}

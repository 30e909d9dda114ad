package main

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

// An inputText is the beginning of what a user named: a file, standard input or
// what is stored under a name.
type inputText struct {
	text   []byte
	whole  bool           // nothing was left out
	size   int64          // of all of it, in bytes; of what was read if that is not known
	found  *store.Version // under which it is stored; nil: a file or standard input
	stored string         // the preview that it is stored with
}

// readInput reads at most limit bytes of a file, of standard input ("-"), or of what
// is stored under a name. A file of the disk comes first.
func (e *environ) readInput(ctx context.Context, arg string, limit int64) (inputText, error) {
	info, err := os.Stat(e.abs(arg))
	if arg == "-" || err == nil && !info.IsDir() {
		return e.readFile(arg, limit)
	}
	in, err := e.readStored(ctx, arg, limit)
	if info != nil && (errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrNoStore)) {
		return in, usageError("%s is a folder, not a file", arg)
	}
	if errors.Is(err, store.ErrNoStore) {
		return in, fmt.Errorf("%s is not a file, and there is no store to look for the name in: %w", arg, err)
	}
	return in, err
}

// openInput opens a file that the user names, or standard input ("-").
func (e *environ) openInput(file string) (io.ReadCloser, error) {
	if file == "-" {
		in, err := e.input()
		return io.NopCloser(in), err
	}
	f, err := os.Open(e.abs(file))
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, errors.Unwrap(err))
	}
	if info, err := f.Stat(); err == nil && info.IsDir() {
		_ = f.Close() // only opened
		return nil, usageError("%s is a folder; filebus capture takes folders", file)
	}
	return f, nil
}

// input returns standard input. One without a byte is refused, unless the command takes
// it: mostly what should have written it has failed.
func (e *environ) input() (io.Reader, error) {
	in := bufio.NewReader(e.in)
	e.in = in
	if _, err := in.Peek(1); errors.Is(err, io.EOF) && !e.emptyInput {
		return in, record.Wanting.Errorf("standard input is empty: the command before the pipe may have failed")
	}
	return in, nil
}

// readFile reads at most limit bytes of a file that the user names, or of standard input.
func (e *environ) readFile(file string, limit int64) (in inputText, err error) {
	f, err := e.openInput(file)
	if err != nil {
		return in, err
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	in = inputText{text: text[:min(int64(len(text)), limit)], whole: int64(len(text)) <= limit, size: int64(len(text))}
	if f, ok := f.(*os.File); ok {
		if info, statErr := f.Stat(); statErr == nil && info.Mode().IsRegular() {
			in.size = max(in.size, info.Size())
		}
		if err != nil {
			err = fmt.Errorf("reading %s: %w", file, err)
		}
	}
	return in, err
}

func (e *environ) readStored(ctx context.Context, arg string, limit int64) (inputText, error) {
	s, v, err := e.find(ctx, arg)
	if err != nil {
		return inputText{}, err
	}
	head := headWriter{limit: limit}
	_, err = s.read.WriteBody(ctx, &head, v, query.BodyRequest{})
	if err != nil && !errors.Is(err, errEnough) {
		return inputText{}, err
	}
	in := inputText{text: head.text, whole: err == nil, size: max(v.Record.Size, int64(len(head.text))), found: &v}
	err = s.Store.View(ctx, func(tx *store.Tx) error {
		in.stored = tx.Description(v.Ref).Preview
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

// readText replaces a text of "-" by standard input, as far as a limit, in bytes.
func (e *environ) readText(what string, text *string, limit int64) error {
	if *text != "-" {
		return nil
	}
	in, err := e.readFile("-", limit)
	if err != nil {
		return fmt.Errorf("reading the %s: %w", what, err)
	}
	*text = string(in.text)
	return nil
}

// readWhole is readFile for a file that is refused if it has more than limit bytes.
func (e *environ) readWhole(file string, limit int64, why string) ([]byte, error) {
	in, err := e.readFile(file, limit)
	if err == nil && !in.whole {
		err = usageError("%s has more than %d bytes%s", file, limit, why)
	}
	return in.text, err
}

// checkUTF8 refuses what a file of Markdown could not hold byte for byte.
func checkUTF8(what, text string) error {
	if utf8.ValidString(text) {
		return nil
	}
	return coded(record.Usage, "filebus put FILE", fmt.Errorf("the %s is not UTF-8: convert it, or store the bytes as a result", what))
}

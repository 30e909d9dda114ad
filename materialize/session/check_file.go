package session

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"filebus/store/record"
)

// scanFile reads a file to its end, and returns its state after that. A file that
// lost its name meanwhile is an error, even where its text can still be read.
func scanFile(file string) (*tailScan, os.FileInfo, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = f.Close() }() // only read
	scan := newTailScan()
	if _, err := io.Copy(scan, f); err != nil {
		return nil, nil, err
	}
	info, err := os.Lstat(file)
	return scan, info, err
}

// beginsWith reports whether the first size bytes of a body have a digest.
func (r *Registry) beginsWith(ctx context.Context, file *record.Record, size int64, digest record.Digest) (bool, error) {
	content, err := r.content(ctx, file)
	if err != nil {
		return false, err
	}
	body, err := content.Open()
	if err != nil {
		return false, err
	}
	head := record.NewDigester()
	_, err = io.Copy(head, io.LimitReader(body, size))
	return head.Digest() == digest, errors.Join(err, body.Close())
}

func kindOf(mode fs.FileMode) string {
	switch {
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	}
	return "a device or socket"
}

// quote returns a text as a shell takes it for one word.
func quote(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:~@%+=,-") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

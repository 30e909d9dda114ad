package result

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"filebus/materialize"
	"filebus/materialize/secrets"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// PutReport stores the final report of an agent that a client has run, once: a text that is a version of the
// result already, newest or not, is not stored again. Another text, as of an agent that was resumed, is a new
// version, so that none is lost.
func PutReport(ctx context.Context, w *materialize.Workspace, c Call, source record.Source, text []byte) (*Stored, error) {
	if c.Secrets == secrets.Refuse || c.Secrets == "" && w.Settings.Secrets == secrets.Refuse {
		c.Secrets = secrets.Redact // nobody is there to be told so
	}
	const maxTries = 5 // how many others may be faster
	for try := 0; ; try++ {
		r, err := c.request(source, bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		name := record.Name{Kind: record.KindResult, ID: r.ID}
		head, same, err := findBody(ctx, w, name, record.DigestOf(text))
		var put *materialize.PutResult
		r.Expect, r.Replaces = store.Current(head), head != record.Ref{}
		switch {
		case err == nil && same:
			p, _ := w.RecordPath(name.Kind, name.ID) // it has one
			if put, err = w.PutResultOf(ctx, name, p); err == nil {
				put.Unchanged = true
			}
		case err == nil:
			put, err = w.Put(ctx, r)
		}
		if err == nil {
			return &Stored{PutResult: put}, nil
		}
		if !errors.Is(err, store.ErrConflict) || try == maxTries {
			return nil, err
		}
	}
}

// findBody returns the version that a name has now, if any, and whether that or one before it has a body.
func findBody(ctx context.Context, w *materialize.Workspace, name record.Name, body record.Digest) (head record.Ref, same bool, err error) {
	err = w.Store.View(ctx, func(tx *store.Tx) error {
		v, err := tx.Head(name)
		for head = v.Ref; err == nil && !same; v, err = tx.Get(v.Record.Prev) {
			if same = v.Record.Body == body; v.Record.Prev == (record.Ref{}) {
				break
			}
		}
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDropped) {
			err = nil
		}
		return err
	})
	return head, same, err
}

// A spooledReport is the first line of a file of the spool; the report stands behind it.
type spooledReport struct {
	Version int           `json:"version"`
	Source  record.Source `json:"source"`
	Call
}

const (
	reportSuffix  = ".report"
	reportVersion = 1
	maxReport     = 96 << 20 // the longest file that is read back, in bytes
)

// SpoolReport keeps a report beside a store that is busy or cannot be used: the next command that opens the
// store finds it there, by Recover. It is durable when it returns.
func SpoolReport(dir string, c Call, source record.Source, text []byte) error {
	head, err := json.Marshal(spooledReport{reportVersion, source, c})
	if err != nil {
		return err
	}
	all, file := folder.At(dir).Sub(spoolFolder), append(append(head, '\n'), text...)
	name := record.DigestOf(file).String()[:24] + reportSuffix // a hook that runs twice leaves it once
	for range 2 {                                              // a command may have just removed the empty folder
		if err = all.Make("."); err == nil {
			err = all.Replace(name, file, true)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return err
}

// recoverEntry recovers what one entry of the spool holds: a report in a file, or the output of a command in a
// folder. A file that is being written, or was when its process was ended, is left alone.
func recoverEntry(ctx context.Context, w *materialize.Workspace, all folder.Folder, entry os.DirEntry) (*Stored, error) {
	name := entry.Name()
	switch {
	case entry.Type().IsRegular() && folder.IsTemporary(name):
		return nil, nil
	case !entry.Type().IsRegular() || !strings.HasSuffix(name, reportSuffix):
		return recoverFolder(ctx, w, newFolder(all, name))
	}
	text, err := all.ReadUpTo(name, maxReport)
	if err != nil {
		return nil, unlessGone(err)
	}
	head, body, _ := bytes.Cut(text, []byte{'\n'})
	var r spooledReport
	decoder := json.NewDecoder(bytes.NewReader(head))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil || r.Version != reportVersion {
		return nil, errors.Join(fmt.Errorf("%w, or of another version of filebus", errForeign), err)
	}
	stored, err := PutReport(ctx, w, r.Call, r.Source, body)
	if err == nil {
		err = unlessGone(all.Remove(name))
	}
	return stored, err
}

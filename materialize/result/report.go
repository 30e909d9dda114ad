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
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// PutReport stores the final report of an agent that a client has run, once: a text that
// is a version of the result already, newest or not, is not stored again. Another text, as
// of an agent that was resumed, is a new version, so that none is lost.
func PutReport(ctx context.Context, w *materialize.Workspace, c Call, source record.Source, text []byte) (*Stored, error) {
	c.Raw = true
	if c.Secrets == secrets.Refuse || c.Secrets == "" && w.Settings.Secrets == secrets.Refuse {
		c.Secrets = secrets.Redact // nobody is there to be told so
	}
	const maxTries = 5 // how many others may be faster
	for try := 0; ; try++ {
		r, err := c.request(source, bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		name, err := record.NewName("", record.KindResult, r.ID)
		if err != nil {
			return nil, errCall("%w", err)
		}
		head, same, err := findBody(ctx, w, name, record.DigestOf(text))
		if err != nil {
			return nil, err
		}
		if same {
			return describeHead(ctx, w, name)
		}
		r.Expect, r.Replaces = store.Current(head), head != record.Ref{}
		stored, err := c.store(ctx, w, r)
		if !errors.Is(err, store.ErrConflict) || try == maxTries {
			return stored, err
		}
	}
}

// findBody returns the version that a name has now, if any, and whether that or one
// before it has a body.
func findBody(ctx context.Context, w *materialize.Workspace, name record.Name, body record.Digest) (head record.Ref, same bool, err error) {
	err = w.Store.View(ctx, func(tx *store.Tx) error {
		v, err := tx.Head(name)
		for head = v.Ref; err == nil && !same; v, err = tx.Get(v.Record.Prev) {
			same = v.Record.Body == body
			if v.Record.Prev == (record.Ref{}) {
				return nil
			}
		}
		if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDropped) {
			err = nil
		}
		return err
	})
	return head, same, err
}

// describeHead returns what is stored under a name.
func describeHead(ctx context.Context, w *materialize.Workspace, name record.Name) (*Stored, error) {
	return query.View(ctx, w.Store, func(tx *store.Tx) (*Stored, error) {
		v, err := tx.Head(name)
		if err != nil {
			return nil, err
		}
		put := &materialize.PutResult{
			Ref: v.Ref, Name: name, File: w.FilePath(v.Record.Path), Unchanged: true, Record: v.Record,
			Description: tx.Description(v.Ref),
		}
		return &Stored{PutResult: put}, nil
	})
}

// A spooled report is one file: a line of JSON that says whose it is, and the text.
const (
	reportSuffix  = ".report"
	reportVersion = 1
	maxReport     = 96 << 20 // the longest file that is read back, in bytes
)

type spooledReport struct {
	Version int           `json:"version"`
	Source  record.Source `json:"source"`
	Call
}

// SpoolReport keeps a report beside a store that is busy or cannot be used: the next
// command that opens the store finds it there, by Recover. It is durable when it returns.
func SpoolReport(dir string, c Call, source record.Source, text []byte) error {
	if _, err := c.id(); err != nil {
		return err
	}
	head, err := json.Marshal(spooledReport{reportVersion, source, c})
	if err != nil {
		return err
	}
	all := folder.At(dir).Sub(spoolFolder)
	digest := record.DigestOf(append(head, text...))
	write := func() error {
		if err := all.Make("."); err != nil {
			return err
		}
		// One name for one report: a hook that runs twice leaves it once.
		return all.Replace(digest.String()[:24]+reportSuffix, append(append(head, '\n'), text...), true)
	}
	if err = write(); errors.Is(err, fs.ErrNotExist) {
		err = write() // a command has just removed the empty folder
	}
	return err
}

// recoverReport stores the report in a file of the spool and takes the file away.
func recoverReport(ctx context.Context, w *materialize.Workspace, all folder.Folder, file string) (*Stored, error) {
	text, err := all.ReadUpTo(file, maxReport)
	if err != nil {
		return nil, unlessGone(err)
	}
	head, body, found := bytes.Cut(text, []byte{'\n'})
	var r spooledReport
	decoder := json.NewDecoder(bytes.NewReader(head))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&r); err != nil || !found {
		return nil, errors.Join(errForeign, err)
	}
	if r.Version != reportVersion {
		return nil, fmt.Errorf("version %d; this filebus knows %d", r.Version, reportVersion)
	}
	stored, err := PutReport(ctx, w, r.Call, r.Source, body)
	if err != nil {
		return nil, err
	}
	return stored, unlessGone(all.Remove(file))
}

// recoverEntry recovers what one entry of the spool holds. A file that is being written,
// or was when its process was ended, is left alone.
func recoverEntry(ctx context.Context, w *materialize.Workspace, all folder.Folder, entry os.DirEntry) (*Stored, error) {
	switch name := entry.Name(); {
	case entry.Type().IsRegular() && folder.IsTemporary(name):
		return nil, nil
	case entry.Type().IsRegular() && strings.HasSuffix(name, reportSuffix):
		return recoverReport(ctx, w, all, name)
	default:
		return recoverFolder(ctx, w, newFolder(all, name))
	}
}

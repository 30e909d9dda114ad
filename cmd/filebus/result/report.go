package result

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/secrets"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// PutReport stores the final report of an agent that a client has run, once: what the store knows already (see knows)
// is not stored again. Another text, as of an agent that was resumed, is a new version, so that none is lost.
func PutReport(ctx context.Context, w *materialize.Workspace, c Call, source record.Source, text []byte) (*Stored, error) {
	if c.Secrets == secrets.Refuse || c.Secrets == "" && w.Settings.Secrets == secrets.Refuse {
		c.Secrets = secrets.Redact // nobody is there to be told so
	}
	for {
		r, err := c.request(source, bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		var put *materialize.PutResult
		name := record.Name{Kind: record.KindResult, ID: r.ID}
		known, seen, err := c.knows(ctx, w, name, string(text))
		switch {
		case err != nil && !errors.Is(err, record.Damaged): // what is damaged is put again, and whole then
			return nil, err
		case known && err == nil:
			p, _ := w.RecordPath(name.Kind, name.ID) // it has one
			if put, err = w.PutResultOf(ctx, name, p); err == nil {
				put.Unchanged = true
			}
		default:
			r.Replaces, r.Expect = true, seen
			put, err = w.Put(ctx, r)
		}
		if !errors.Is(err, store.ErrConflict) { // else another process has stored it, or another text, meanwhile
			return &Stored{PutResult: put}, err
		}
	}
}

// A spooledReport is a file of the spool.
type spooledReport struct {
	Source record.Source `json:"source"`
	Call
	Report string `json:"report"`
}

const reportSuffix = ".report"

// SpoolReport keeps a report beside a store that is busy or cannot be used: the next command that opens the
// store finds it there, by Recover, in the order in which reports came. It is durable when it returns.
func SpoolReport(dir string, c Call, source record.Source, text string) error {
	file, err := json.Marshal(spooledReport{source, c, text})
	if err != nil {
		return err
	}
	all := folder.At(dir).Sub(spoolFolder)
	name := time.Now().UTC().Format("20060102T150405.000000000-") + record.DigestOf(file).String()[:8] + reportSuffix
	for range 2 { // a command may have just removed the empty folder
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
	var r spooledReport
	if err := readJSON(all, name, &r); err != nil {
		return nil, unlessGone(err)
	}
	stored, err := PutReport(ctx, w, r.Call, r.Source, []byte(r.Report))
	if err == nil {
		err = unlessGone(all.Remove(name))
	}
	return stored, err
}

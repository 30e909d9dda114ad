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
	"time"

	"filebus/materialize"
	"filebus/materialize/secrets"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// PutReport stores the final report of an agent that a client has run, once: what the store knows already (see knows)
// is not stored again. Another text is a new version, or that of a call of its own, CALL-2 and so on, where the agent was
// resumed, so that none is lost.
func PutReport(ctx context.Context, w *materialize.Workspace, c Call, source record.Source, text []byte) (*Stored, error) {
	if c.Secrets == secrets.Refuse || c.Secrets == "" && w.Settings.Secrets == secrets.Refuse {
		c.Secrets = secrets.Redact // nobody is there to be told so
	}
	for {
		put, err := putReport(ctx, w, c, source, text)
		if !errors.Is(err, store.ErrConflict) { // else another process has stored it, or another text, meanwhile
			return &Stored{PutResult: put}, err
		}
	}
}

func putReport(ctx context.Context, w *materialize.Workspace, c Call, source record.Source, text []byte) (*materialize.PutResult, error) {
	first, last, seen, before := c.ID, c.ID, store.Absent(), record.Name{}
	for n := 2; ; n++ {
		r, err := c.request(source, bytes.NewReader(text))
		if err != nil {
			return nil, err
		}
		name := record.Name{Kind: record.KindResult, ID: r.ID}
		known, now, err := c.knows(ctx, w, name, string(text))
		switch {
		case errors.Is(err, record.Damaged) || err == nil && c.Restores: // it is put again, and whole then
			r.Replaces, r.Expect = true, now
			return w.Put(ctx, r)
		case err != nil:
			return nil, err
		case known:
			put, err := standing(ctx, w, name)
			isFailure := err == nil && !c.Told && c.Status == materialize.StatusFailed
			if isFailure && put.Record.Status != c.Status { // what was taken for a report
				r.Replaces, r.Expect = true, now
				return w.Put(ctx, r)
			}
			return put, err
		case now == store.Absent() && c.Yields && n > 2: // to the last that there is
			return standing(ctx, w, before)
		case now == store.Absent():
			if c.Resumed || n == 2 {
				last, seen = c.ID, now
			}
			c.ID = last
			if r, err = c.request(source, bytes.NewReader(text)); err != nil {
				return nil, err
			}
			r.Replaces, r.Expect = true, seen
			return w.Put(ctx, r)
		}
		before, last, seen, c.ID = name, c.ID, now, fmt.Sprintf("%s-%d", first, n)
	}
}

// standing returns a report as it was stored.
func standing(ctx context.Context, w *materialize.Workspace, name record.Name) (*materialize.PutResult, error) {
	p, _ := w.RecordPath(name.Kind, name.ID) // it has one
	put, err := w.PutResultOf(ctx, name, p)
	if err == nil {
		put.Unchanged = true
	}
	return put, err
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
	if err == nil || errors.Is(err, store.ErrBarred) {
		err = errors.Join(err, unlessGone(all.Remove(name)))
	}
	return stored, err
}

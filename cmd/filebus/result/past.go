package result

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/mirror"
	"filebus/materialize/secrets"
	"filebus/materialize/transcript"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// A Past is the work of a client's agents, as their transcripts tell it.
type Past struct {
	Client   string
	Files    []transcript.File
	Since    time.Time                // what was written before is left out
	Sessions bool                     // the final answers of sessions too
	Log      *query.Reader            // that is told of what agents have read; nil: none
	Progress func(done, total uint64) // in bytes of transcripts
}

// A PastReport says what has come of the transcripts.
type PastReport struct {
	Files      int                  `json:"files"`
	Unchanged  int                  `json:"unchanged"` // since they were read last
	Rewritten  int                  `json:"rewritten"` // where they had been read already
	Internal   int                  `json:"internal"`  // of what the client does on its own
	Unfinished int                  `json:"unfinished"`
	Known      int                  `json:"known"` // reports that the store has
	Reads      int                  `json:"reads"` // of stored files, new in the log of reads
	Stored     []record.Name        `json:"stored"`
	Skipped    []mirror.Skipped     `json:"skipped"`
	Secrets    []materialize.Secret `json:"secrets,omitempty"`
}

// marksFile says how transcripts were when they were read, below the store's folder: a mark for each path.
const marksFile = "transcripts.json"

type mark struct {
	Size     int64     `json:"size"`
	Offset   int64     `json:"offset"` // from which it is read on
	Head     string    `json:"head"`   // a digest of how it begins, before that
	Modified time.Time `json:"modified"`
	Read     time.Time `json:"read"` // the last call of a tool that is in the log of reads
	Sessions bool      `json:"sessions,omitempty"`
	All      bool      `json:"all,omitempty"` // each report was looked for, and whether it stands behind what is none
}

// finalAnswer is what the final answer of a session is called in its conversation.
const finalAnswer = "final"

// TakeIn stores the reports of a past, each once, as results of their sessions' conversations, and notes what agents have
// read with their own tools. A transcript that cannot be read is left out and named.
func TakeIn(ctx context.Context, w *materialize.Workspace, past Past) (*PastReport, error) {
	report := &PastReport{Files: len(past.Files), Stored: []record.Name{}, Skipped: []mirror.Skipped{}}
	own, marks := folder.At(w.Location.Store), map[string]mark(nil)
	text, _ := own.ReadFile(marksFile)
	if json.Unmarshal(text, &marks) != nil || marks == nil {
		marks = map[string]mark{} // what is missing or damaged is read again
	}
	var fatal error
	var done, total int64 // bytes
	for _, f := range past.Files {
		total += f.Size
	}
	for i := 0; i < len(past.Files) && fatal == nil; i++ {
		f := past.Files[i]
		f.Progress = func(at int64) { past.Progress(uint64(done+at), uint64(total)) }
		now, err := past.take(ctx, w, f, marks[f.Path], report)
		done += f.Size
		switch marks[f.Path] = now; {
		case err != nil && (ctx.Err() != nil || errors.Is(err, record.Busy)):
			fatal = err // what was done until then is remembered
		case err != nil:
			report.Skipped = append(report.Skipped, mirror.Skipped{Path: f.Path, Reason: mirror.Cause(err)})
		}
	}
	text, err := json.Marshal(marks)
	if err == nil {
		err = own.Replace(marksFile, text, false)
	}
	return report, errors.Join(fatal, err)
}

// take reads what is new of a transcript, stores its report and returns its new mark.
func (p Past) take(
	ctx context.Context, w *materialize.Workspace, f transcript.File, before mark, report *PastReport,
) (now mark, err error) {
	head, err := headOf(f.Path, before.Offset)
	isSame, isTaken := head == before.Head && f.Size >= before.Size, f.ID != "" || p.Sessions
	isMore := isTaken && (f.ID == "" && !before.Sessions || f.ID != "" && !before.All)
	switch {
	case f.IsForeign:
		report.Internal++
		return before, nil
	case err != nil || f.Modified.Before(p.Since):
		return before, err
	case isSame && !isMore && f.Size == before.Size && f.Modified.Equal(before.Modified):
		report.Unchanged++
		return before, nil
	case isSame && !isMore:
		f.Offset = before.Offset
	case !isSame && before.Head != "":
		report.Rewritten++
	}
	now = mark{Size: f.Size, Modified: f.Modified, Read: before.Read, Sessions: before.Sessions || p.Sessions, All: true}
	err = f.ReadFile(ctx, f.Path, transcript.MaxText)
	var broken error // what it tells before counts
	if errors.Is(err, transcript.ErrEndless) && f.Rows > 0 {
		broken, err = err, nil
	}
	if err == nil && (f.Rows == 0 && f.Offset > 0 || f.Session == "") {
		err = record.Failed.Errorf("it has no row of a session: another version, or damaged")
	}
	const still = time.Minute // in which a call may follow a text
	isOpen := !f.Ended && (p.Client == "codex" || time.Since(f.Modified) < still)
	switch {
	case err != nil:
	case isTaken && (f.Text == "" || isOpen):
		report.Unfinished++
		now.Modified = time.Time{} // it is looked at again though nothing follows
	case isTaken && !f.Time.IsZero() && f.Time.Before(p.Since):
		return before, nil // it is for a time without that limit
	case isTaken:
		err = p.store(ctx, w, f, report)
	}
	if err != nil {
		return before, err
	}
	if p.Log != nil {
		now.Read = p.noteReads(ctx, w, f, report, before.Read)
	}
	now.Offset = f.Offset
	now.Head, err = headOf(f.Path, f.Offset)
	return now, cmp.Or(err, broken)
}

// store stores the reports of an agent, unless the store has them.
func (p Past) store(ctx context.Context, w *materialize.Workspace, f transcript.File, report *PastReport) error {
	reports := slices.CompactFunc(f.Reports(), func(a, b transcript.Report) bool { return a.Text == b.Text })
	for i, r := range reports {
		c := Call{
			Conversation: f.Session, Session: f.Session, ID: f.ID, Agent: f.Agent, Title: secrets.Text(f.Title()),
			Written: r.Time, Status: materialize.StatusDone, Resumed: i > 0,
		}
		if f.ID == "" {
			c.ID, c.Agent = finalAnswer, p.Client
		}
		if FailureIn(strings.NewReader(r.Text)) != "" {
			c.Status = materialize.StatusFailed
		}
		id, err := c.id()
		if err != nil {
			return err
		}
		name := record.Name{Kind: record.KindResult, ID: id}
		isKnown, err := knew(ctx, w, name, r)
		if isKnown && err == nil {
			c.Restores, err = c.isBehind(ctx, w, name, reports)
			isKnown = !c.Restores
		}
		stored := &Stored{PutResult: &materialize.PutResult{Unchanged: isKnown, Name: name}}
		if err == nil && !isKnown {
			stored, err = PutReport(ctx, w, c, record.SourceTranscript, []byte(r.Text))
		}
		switch {
		case err != nil:
			return err
		case stored.Unchanged:
			report.Known++
		default:
			report.Stored = append(report.Stored, stored.Name)
		}
	}
	return nil
}

// knew reports whether a report is an older version of a name, or the name was taken away since it was written.
func knew(ctx context.Context, w *materialize.Workspace, name record.Name, r transcript.Report) (is bool, err error) {
	body := record.DigestOf([]byte(r.Text))
	err = w.Store.View(ctx, func(tx *store.Tx) error {
		events, err := tx.History(name)
		for _, e := range events {
			v, err := tx.Get(e.Ref)
			is = is || err == nil && v.Record.Body == body
		}
		if _, absent := tx.Head(name); err != nil || len(events) == 0 || !query.IsAbsent(absent) {
			return err
		}
		end, err := tx.Entry(events[len(events)-1].Position)
		is = !r.Time.After(end.Time)
		return err
	})
	return is, err
}

// isBehind reports whether what a hook has stored stands before an agent's own reports, and is none of them.
func (c Call) isBehind(
	ctx context.Context, w *materialize.Workspace, name record.Name, reports []transcript.Report,
) (bool, error) {
	v, err := query.View(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Head(name) })
	if query.IsAbsent(err) { // it was taken away
		return false, nil
	}
	for _, r := range reports {
		for _, text := range []string{r.Text, secrets.Text(r.Text)} {
			if known, _, err := c.knows(ctx, w, name, text); known || err != nil {
				return false, err
			}
		}
	}
	return v.Record.Source == record.SourceHook, err
}

// knows reports whether what is stored under a name has the words of a text, or is what the text refers to: a hook has
// given the reference in its place. What only a client told is known where one has the other.
// It returns the version that it has seen, for who stores another one.
func (c Call) knows(
	ctx context.Context, w *materialize.Workspace, name record.Name, text string,
) (known bool, seen store.Expect, err error) {
	v, err := query.View(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Head(name) })
	if err != nil {
		if query.IsAbsent(err) {
			return false, store.Absent(), nil
		}
		return false, store.Expect{}, err
	}
	const longest = 400 // of a line that stands for it, with some words around, in bytes
	var r record.Reference
	isFile := json.Unmarshal([]byte(text), &r) == nil && strings.HasSuffix(filepath.ToSlash(r.ResultFile), "/"+path.Base(name.ID)+".md")
	if isFile || len(strings.TrimSpace(text)) <= longest && strings.Contains(text, v.Ref.Short()) {
		return true, store.Current(v.Ref), nil
	}
	words := func(text string) string { return " " + strings.Join(strings.Fields(text), " ") + " " } // so only whole ones are alike
	old, err := w.TextOf(ctx, v)
	a, b := words(string(old)), words(text)
	isLess := strings.HasPrefix(a, strings.TrimRight(b, " .…")+" ") && len(b) < len(a) // it was cut
	return a == b || isLess || c.Told && (strings.Contains(a, b) || strings.Contains(b, a)), store.Current(v.Ref), err
}

// noteReads notes which stored files an agent has read after a time, of the session that the first of a session's is of.
// It returns the time of the last.
func (p Past) noteReads(
	ctx context.Context, w *materialize.Workspace, f transcript.File, report *PastReport, last time.Time,
) time.Time {
	var reads []query.Read
	session, since := "", last
	for _, read := range f.Reads {
		rel, err := filepath.Rel(w.Root, read.File)
		if err != nil || !filepath.IsLocal(rel) || !read.Time.After(since) {
			continue
		}
		place := w.Settings.Profile.Recognize(filepath.ToSlash(rel))
		name := record.Name{Kind: place.Kind, ID: place.ID}
		last, session = read.Time, cmp.Or(session, place.Facts.Session)
		if _, err := query.View(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Head(name) }); err == nil {
			reads = append(reads, query.Read{
				Time: read.Time, Op: "read", What: name.String(), Agent: cmp.Or(f.Agent, f.ID), Tokens: record.EstimateTokens(read.Size),
			})
		}
	}
	for _, read := range reads {
		read.Session = session
		p.Log.NoteRead(read)
	}
	report.Reads += len(reads)
	return last
}

// headOf returns a digest of how a file begins, of what stands before an offset.
func headOf(path string, offset int64) (string, error) {
	const most = 16 << 10 // bytes
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	text, err := io.ReadAll(io.LimitReader(f, min(offset, most)))
	return record.DigestOf(text).String(), err
}

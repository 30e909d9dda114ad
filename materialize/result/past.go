package result

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
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
	Since    time.Time // what was written before is left out
	Sessions bool      // the final answers of sessions too
	DryRun   bool
	NoReads  bool // what agents have read is not noted
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

// marksFile says how far transcripts were read, below the store's folder: a mark for each path.
const marksFile = "transcripts.json"

// finalAnswer is what the final answer of a session is called in its conversation.
const finalAnswer = "final"

// A mark is how a transcript was when it was read.
type mark struct {
	Size     int64     `json:"size"`
	Offset   int64     `json:"offset"` // from which it is read on
	Head     string    `json:"head"`   // of what stands before that, at its beginning and end
	Modified time.Time `json:"modified"`
	Read     time.Time `json:"read"` // the last call of a tool that is in the log of reads
	Sessions bool      `json:"sessions,omitempty"`
}

// taker takes a past in.
type taker struct {
	Past
	*PastReport
	w     *materialize.Workspace
	read  *query.Reader
	marks map[string]mark
}

// TakeIn stores the reports of a past, each once, as results of their sessions' conversations, and notes what the agents
// have read with their own tools. A transcript that cannot be read is left out and named.
func TakeIn(ctx context.Context, w *materialize.Workspace, read *query.Reader, past Past) (*PastReport, error) {
	t := &taker{past, &PastReport{Files: len(past.Files), Stored: []record.Name{}, Skipped: []mirror.Skipped{}}, w, read, map[string]mark{}}
	own := folder.At(w.Location.Store)
	if text, err := own.ReadFile(marksFile); err == nil {
		_ = json.Unmarshal(text, &t.marks) // what is damaged is read again
	}
	for _, f := range past.Files {
		before := t.marks[f.Path]
		err := t.take(ctx, f)
		if err != nil && (ctx.Err() != nil || errors.Is(err, record.Busy)) {
			return t.PastReport, err
		}
		if err != nil {
			t.marks[f.Path] = before
			t.Skipped = append(t.Skipped, mirror.Skipped{Path: f.Path, Reason: mirror.Cause(err)})
		}
	}
	text, err := json.Marshal(t.marks)
	if err == nil && !past.DryRun {
		err = own.Replace(marksFile, text, false)
	}
	return t.PastReport, err
}

// take reads what is new of a transcript and stores its report.
func (t *taker) take(ctx context.Context, f transcript.File) error {
	before, wasRead := t.marks[f.Path]
	head, err := headOf(f.Path, before.Offset)
	isSame, isMore := head == before.Head && f.Size >= before.Size, f.ID == "" && t.Sessions && !before.Sessions
	switch {
	case f.IsForeign:
		t.Internal++
		return nil
	case err != nil || f.Modified.Before(t.Since):
		return err
	case isSame && !isMore && f.Size == before.Size && f.Modified.Equal(before.Modified):
		t.Unchanged++
		return nil
	case isSame && !isMore:
		f.Offset = before.Offset
	case wasRead && !isSame:
		t.Rewritten++
	}
	if err := f.ReadFile(ctx, f.Path, transcript.MaxText); err != nil {
		return err
	}
	if f.Rows == 0 || f.Session == "" {
		return record.Failed.Errorf("it has no row of a session: another version, or damaged")
	}
	const still = time.Minute // in which a call may follow a text
	isOpen := !f.Ended && (t.Client == "codex" || time.Since(f.Modified) < still)
	if isTaken := f.ID != "" || t.Sessions; isTaken && (f.Text == "" || isOpen) {
		t.Unfinished++
	} else if isTaken && !f.Time.Before(t.Since) {
		err = t.store(ctx, f)
	}
	now := mark{Size: f.Size, Offset: f.Offset, Modified: f.Modified, Read: before.Read, Sessions: before.Sessions || t.Sessions}
	if isOpen {
		now.Modified = time.Time{} // it is looked at again though nothing follows
	}
	if err == nil && !t.DryRun && !t.NoReads {
		now.Read, err = t.noteReads(ctx, f, before.Read)
	}
	if err == nil {
		now.Head, err = headOf(f.Path, f.Offset)
		t.marks[f.Path] = now
	}
	return err
}

// store stores a report, unless the store has it.
func (t *taker) store(ctx context.Context, f transcript.File) error {
	c := Call{
		Conversation: f.Session, ID: f.ID, Agent: f.Agent, Title: secrets.Text(f.Title()), Written: f.Time, Status: materialize.StatusDone,
	}
	if f.ID == "" {
		c.ID, c.Agent = finalAnswer, t.Client
	}
	id, err := c.id()
	name := record.Name{Kind: record.KindResult, ID: id}
	var isKnown bool
	if err == nil {
		isKnown, err = t.knows(ctx, name, f.Text)
	}
	if err == nil && !isKnown && !t.DryRun {
		var stored *Stored
		if stored, err = PutReport(ctx, t.w, c, record.SourceTranscript, []byte(f.Text)); err == nil {
			isKnown = stored.Unchanged
		}
	}
	switch {
	case err != nil:
	case isKnown:
		t.Known++
	default:
		t.Stored = append(t.Stored, name)
	}
	return err
}

// knows reports whether a report is stored: as a version of its name, with the same words, or as what a reference to it
// stands for, which a hook has given in its place.
func (t *taker) knows(ctx context.Context, name record.Name, text string) (bool, error) {
	head, isSame, err := findBody(ctx, t.w, name, record.DigestOf([]byte(text)))
	if err != nil || isSame || head == (record.Ref{}) {
		return isSame, err
	}
	v, err := query.View(ctx, t.w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Get(head) })
	if err != nil {
		return false, err
	}
	const longest = 4 << 10 // of a reference, in bytes
	if len(text) < longest && (strings.Contains(text, head.Short()) || strings.Contains(text, name.ID)) {
		return true, nil
	}
	old, err := t.w.TextOf(ctx, v)
	return slices.Equal(strings.Fields(string(old)), strings.Fields(text)), err
}

// noteReads notes which stored files an agent has read since a time. They are of the session that a file of it is of.
func (t *taker) noteReads(ctx context.Context, f transcript.File, since time.Time) (last time.Time, err error) {
	last = since
	session := ""
	var reads []query.Read
	for _, read := range f.Reads {
		rel, err := filepath.Rel(t.w.Root, read.File)
		if err != nil || !filepath.IsLocal(rel) || !read.Time.After(since) {
			continue
		}
		last = read.Time
		place := t.w.Settings.Profile.Recognize(filepath.ToSlash(rel))
		name := record.Name{Kind: place.Kind, ID: place.ID}
		session = cmp.Or(session, place.Facts.Session)
		if head, _, err := findBody(ctx, t.w, name, record.Digest{}); err == nil && head != (record.Ref{}) {
			reads = append(reads, query.Read{
				Time: read.Time, Op: "read", What: name.String(), Agent: f.Agent, Tokens: record.EstimateTokens(read.Size),
			})
		}
	}
	for _, read := range reads {
		read.Session = session
		t.read.NoteRead(read)
	}
	t.Reads += len(reads)
	return last, nil
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

package result

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/secrets"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// The spool holds the outputs of commands that run: a folder each, in
// .filebus/spool. A folder that holds call.json is one whose output is to be
// stored, once nobody has it locked any more.
const (
	spoolFolder = "spool"
	lockFile    = "lock"        // locked by the process that runs the command, as long as it lives
	outputFile  = "output"      // the command's stdout; on Unix locked by whoever has it as stdout
	callFile    = "call.json"   // whose output it is; written last, before the start
	schemaFile  = "schema.json" // for the command to read
	endFile     = "end.json"    // how the command has ended
	probeFile   = "probe"       // to see whether there is room
	storedFile  = "stored"      // call.json, when the output is stored: the folder may go
	newSuffix   = ".new"        // of a file that is being written
)

// A spool is the folder of one command, which this process has locked.
type spool struct {
	all    folder.Folder // of all commands
	name   string        // of the folder there
	own    folder.Folder // the folder itself
	lock   *os.File
	output *os.File // that the command writes to; nil when it is closed
	call   spooledCall
}

func newFolder(all folder.Folder, name string) *spool {
	return &spool{all: all, name: name, own: all.Sub(name)}
}

func spools(w *materialize.Workspace) folder.Folder {
	return folder.At(w.Location.Store).Sub(spoolFolder)
}

// newSpool makes the folder of a command, under ids that nobody has. Nothing is
// left of it after an error.
func newSpool(ctx context.Context, w *materialize.Workspace, c Call, args []string) (*spool, error) {
	if c.Name != "" {
		return nil, errCall("the result of a command is named by its conversation and call")
	}
	if _, err := c.id(); err != nil {
		return nil, err
	}
	c.Secrets = cmp.Or(c.Secrets, w.Settings.Secrets)
	for {
		ids, name := c, w.NewID() // unique among the commands that run
		switch {
		case c.Conversation == "":
			var err error
			if name, err = w.NewConversation(ctx); err != nil {
				return nil, err
			}
			ids.Conversation, ids.ID = name, w.NewID()
		case c.ID == "":
			ids.ID = name
		}
		err := mayStore(ctx, w, ids, c.Conversation == "")
		if errors.Is(err, errTaken) && c.ID == "" {
			continue
		}
		if err != nil {
			return nil, err
		}
		s, err := makeSpool(spools(w), name, ids, args)
		if err == nil {
			return s, nil
		}
		if !errors.Is(err, errRaced) {
			return nil, fmt.Errorf("making room for the output: %w", err)
		}
	}
}

// errRaced says that another process came between.
var errRaced = errors.New("another process was faster")

// makeSpool makes a folder, locks it, and writes call.json last. Recover may
// find it half-made and take it away: then it is errRaced.
func makeSpool(all folder.Folder, name string, c Call, args []string) (*spool, error) {
	s := newFolder(all, name)
	if err := all.Make("."); err != nil {
		return nil, err
	}
	err := all.MakeNew(name)
	if err != nil {
		return nil, racedIf(err, fs.ErrExist, fs.ErrNotExist)
	}
	s.call = spooled(c, args)
	if s.lock, err = s.own.OpenFile(lockFile, os.O_RDWR|os.O_CREATE); err != nil {
		return nil, racedIf(err, fs.ErrNotExist)
	}
	free, err := turnstile.TryLock(s.lock, turnstile.Exclusive)
	if err != nil || !free {
		return nil, errors.Join(cmp.Or(err, errRaced), s.lock.Close())
	}
	if err := s.fill(c.Schema); err != nil {
		return nil, errors.Join(racedIf(err, fs.ErrNotExist), s.discard())
	}
	return s, nil
}

func racedIf(err error, raced ...error) error {
	if slices.ContainsFunc(raced, func(target error) bool { return errors.Is(err, target) }) {
		return errRaced
	}
	return err
}

// fill makes the files of a locked folder.
func (s *spool) fill(schema *Schema) (err error) {
	s.output, err = s.own.OpenFile(outputFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE|os.O_EXCL)
	if err != nil {
		return err
	}
	if err := lockOutput(s.output); err != nil {
		return err
	}
	if schema != nil { // as the command is to see it: with a summary
		text, _ := schema.Inject()
		if err := s.own.Replace(schemaFile, text, false); err != nil {
			return err
		}
	}
	if err := s.own.WriteFile(endFile+newSuffix, roomForEnd()); err != nil {
		return err
	}
	text, err := json.Marshal(s.call)
	if err != nil {
		return err
	}
	return s.own.Replace(callFile, append(text, '\n'), true)
}

// roomForEnd returns what stands in place of end.json while the command runs: the
// disk may be full when it has ended.
func roomForEnd() []byte { return bytes.Repeat([]byte{'\n'}, 128) }

// readSchema reads the schema that an output is to fit, if there is one.
func (s *spool) readSchema() *Schema {
	text, err := s.own.ReadFile(schemaFile)
	if err != nil {
		return nil
	}
	schema, err := ParseSchema(s.own.Path(schemaFile), text)
	if err != nil {
		return nil // it was one when the command began; the output counts more
	}
	return schema
}

// environ returns the environment of the command: base, with what is known of the
// call in place of what base says of another.
func (s *spool) environ(w *materialize.Workspace, base []string) []string {
	c := s.call.Call
	name, _ := resultName(c.Conversation, c.ID) // it was made from them
	file, _ := w.PathOf(name)                   // as before
	schema := ""
	if c.Schema != nil {
		schema = s.own.Path(schemaFile)
	}
	known := [][2]string{
		{"FILEBUS_STORE", w.Location.Store}, {"FILEBUS_CONVERSATION", c.Conversation}, {"FILEBUS_CALL", c.ID},
		{"FILEBUS_AGENT", c.Agent}, {"FILEBUS_TASK", c.Task}, {"FILEBUS_SESSION", c.Session}, {"FILEBUS_RUN", c.Run},
		{"FILEBUS_RESULT_FILE", file}, {"FILEBUS_SCHEMA", schema},
	}
	env := slices.DeleteFunc(slices.Clone(base), func(variable string) bool {
		key, _, _ := strings.Cut(variable, "=")
		return slices.ContainsFunc(known, func(k [2]string) bool { return k[0] == key })
	})
	for _, k := range known {
		if k[1] != "" {
			env = append(env, k[0]+"="+k[1])
		}
	}
	return env
}

// settle is how long an output that a background process still has open is
// waited for: long enough for a last "tee" of the command to end.
const settle = 200 * time.Millisecond

// quiet closes the output and reports whether nobody else has it open.
func (s *spool) quiet() bool {
	_ = s.output.Close() // the command has written it, not we
	s.output = nil
	for end := time.Now().Add(settle); ; time.Sleep(settle / 40) {
		if free, err := isFree(s.own); free || err != nil {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// writeEnd writes down how the command has ended, in case that this process does not
// come to store it.
func (s *spool) writeEnd(end ending) error {
	text, err := json.Marshal(end)
	if err != nil {
		return err
	}
	f, err := s.own.OpenFile(endFile+newSuffix, os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(append(text, roomForEnd()[len(text):]...), 0)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	return s.own.Rename(endFile+newSuffix, endFile)
}

// isFull reports whether nothing can be written behind the output any more: its command
// may not have noticed.
func (s *spool) isFull() bool {
	info, err := s.own.Stat(outputFile)
	if err != nil || info.Size() == 0 {
		return false
	}
	f, err := s.own.OpenFile(probeFile, os.O_WRONLY|os.O_CREATE)
	if err == nil {
		end := info.Size()
		if runtime.GOOS == "windows" {
			end = 0 // what lies before it would be written too
		}
		_, err = f.WriteAt(make([]byte, 4096), end)
		err = errors.Join(err, f.Close())
	}
	_ = s.own.Remove(probeFile) // else discard does it
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EFBIG) || errors.Is(err, syscall.EDQUOT)
}

// copyTo gives the output to somebody, who may be nobody.
func (s *spool) copyTo(to io.Writer) error {
	f, err := s.own.Open(outputFile)
	if err != nil || to == nil {
		return err
	}
	_, err = io.Copy(to, f)
	return errors.Join(err, f.Close())
}

// release lets others have the folder.
func (s *spool) release() error { return s.lock.Close() }

// discard removes the folder, in an order that leaves no doubt what it was if it
// is cut off. Removing the folder of all commands as well is worth a try.
func (s *spool) discard() error {
	if s.output != nil {
		_ = s.output.Close() // it is removed
	}
	if err := s.own.Rename(callFile, storedFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, s.release())
	}
	files := []string{outputFile, probeFile, endFile, endFile + newSuffix, schemaFile, schemaFile + newSuffix, callFile + newSuffix}
	entries, _ := s.own.ReadDir(".") // what is left of it is named by Recover
	for _, entry := range entries {
		if folder.IsTemporary(entry.Name()) { // of a file that was never finished
			files = append(files, entry.Name())
		}
	}
	for _, file := range files {
		if err := s.own.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(err, s.release())
		}
	}
	err := s.release() // Windows removes no open files
	_ = s.own.Remove(lockFile)
	_ = s.own.Remove(storedFile)
	_ = s.all.Remove(s.name) // if something is in it, Recover names it
	_ = s.all.Remove(".")
	return err
}

// callVersion is the version of call.json.
const callVersion = 1

// A spooledCall is call.json: what is known of a command that runs.
type spooledCall struct {
	Version int `json:"version"`
	Call
	Command []string  `json:"command"` // for whoever looks into the folder
	Started time.Time `json:"started"`
	PID     int       `json:"pid"`
	Host    string    `json:"host"`
}

// An ending is end.json: how a command has ended.
type ending struct {
	Status string `json:"status"`
	Exit   *int   `json:"exit"`
}

// readJSON reads one JSON object with the known keys and nothing else.
func readJSON(own folder.Folder, name string, to any) error {
	file := own.Path(name)
	info, err := own.Stat(name)
	const maxSpooledJSON = 512 << 20 // the longest JSON file of a spool that is read, in bytes: a report, escaped
	if err == nil && info.Size() > maxSpooledJSON {
		err = fmt.Errorf("%s is not a file of filebus", file)
	}
	if err != nil {
		return err
	}
	text, err := own.ReadFile(name)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(to); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("reading %s: there is something behind its object", file)
	}
	return nil
}

func (s *spool) readCall() (spooledCall, error) {
	var c spooledCall
	if err := readJSON(s.own, callFile, &c); err != nil {
		return c, err
	}
	if c.Version != callVersion {
		return c, fmt.Errorf("reading %s: version %d; this filebus knows %d", s.own.Path(callFile), c.Version, callVersion)
	}
	_, err := resultName(c.Conversation, c.ID)
	return c, err
}

// readEnding reads how a command has ended. Nil means that nobody knows.
func (s *spool) readEnding() *ending {
	var end ending
	known := []string{
		materialize.StatusDone, materialize.StatusFailed, materialize.StatusKilled, materialize.StatusTimeout,
		materialize.StatusInterrupted,
	}
	if readJSON(s.own, endFile, &end) != nil || end.Exit == nil || !slices.Contains(known, end.Status) {
		return nil
	}
	return &end
}

func spooled(c Call, args []string) spooledCall {
	host, _ := os.Hostname()       // "": nobody knows
	c.Agent = layout.Slug(c.Agent) // the command is told of an agent only that was given
	return spooledCall{callVersion, c, args, time.Now().UTC(), os.Getpid(), host}
}

// store stores the output under the call's ids; end is nil if nobody knows how
// the command has ended. Ids that hold another text by now are left to it.
func (s *spool) store(ctx context.Context, w *materialize.Workspace, c Call, end *ending) (*Stored, error) {
	f, err := s.own.Open(outputFile)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	output := io.NewSectionReader(f, 0, info.Size()) // what a background process adds is not waited for
	if end == nil {
		end = &ending{Status: materialize.StatusInterrupted}
	}
	for {
		stored, err := c.putOutput(ctx, w, *end, store.Current(c.Replaces), output)
		var conflict *store.ConflictError
		if !errors.As(err, &conflict) {
			return stored, err
		}
		same, err := isBodyOf(ctx, w, conflict.Actual, output)
		switch {
		case err != nil:
			return nil, err
		case !same:
			c.ID, c.Replaces = w.NewID(), record.Ref{}
		case end.Exit == nil: // stored before, and better
			return c.putOutput(ctx, w, ending{}, store.Expect{}, output)
		default:
			return c.putOutput(ctx, w, *end, store.Expect{}, output)
		}
	}
}

func (c Call) putOutput(ctx context.Context, w *materialize.Workspace, end ending, expect store.Expect, output *io.SectionReader) (*Stored, error) {
	if _, err := output.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	c.Status = end.Status
	r, err := c.request(record.SourceExec, output)
	if err != nil {
		return nil, err
	}
	r.Exit, r.Expect, r.Replaces = end.Exit, expect, expect == store.Current(c.Replaces)
	if c.Command != "" {
		r.Links = []record.Link{{Type: record.LinkCommand, Target: c.Command}}
	}
	return c.store(ctx, w, r)
}

// isBodyOf reports whether a text is the body of a version, or was received for it.
func isBodyOf(ctx context.Context, w *materialize.Workspace, ref record.Ref, text *io.SectionReader) (bool, error) {
	if _, err := text.Seek(0, io.SeekStart); err != nil {
		return false, err
	}
	digest, err := digestOf(ctx, text)
	if err != nil {
		return false, err
	}
	v, err := query.View(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Get(ref) })
	if err == nil && v.Record.Body != digest && v.Record.Prev != (record.Ref{}) {
		v, err = query.View(ctx, w.Store, func(tx *store.Tx) (store.Version, error) { return tx.Get(v.Record.Prev) })
	}
	return err == nil && v.Record.Body == digest, err
}

// Recover stores reports that SpoolReport has kept, and the outputs of commands whose Exec was ended before it could
// store them, as interrupted if nobody saw the command end. What a living command
// still writes is left to it. Processes that do this at once store each output
// once.
//
// It returns what it has stored, and an error that names each folder of the spool
// that it left alone, because it could not be stored or is none of filebus. It costs
// the listing of a folder that is mostly not there.
func Recover(ctx context.Context, w *materialize.Workspace) ([]*Stored, error) {
	spools := spools(w)
	entries, err := spools.ReadDir(".")
	if err != nil {
		return nil, unlessGone(err)
	}
	all, failed := []*Stored(nil), []error(nil)
	for _, entry := range entries {
		stored, err := recoverEntry(ctx, w, spools, entry)
		if errors.Is(err, store.ErrBarred) {
			failed = append(failed, fmt.Errorf("what waited to be stored was let go: %w", err))
		} else if err != nil {
			failed = append(failed, fmt.Errorf("%s is left alone: %w", spools.Path(entry.Name()), err))
		}
		if stored != nil {
			all = append(all, stored)
		}
	}
	if len(all) > 0 || len(entries) == 0 {
		_ = spools.Remove(".") // unless something is in it
	}
	return all, errors.Join(failed...)
}

// errForeign says of a folder or file of the spool that it did not come there by
// Exec.
var errForeign = errors.New("it is not the output of a command")

// recoverFolder stores the output of one folder of the spool, or finishes what was
// begun with it. It returns nil if there is nothing to store, or not yet.
func recoverFolder(ctx context.Context, w *materialize.Workspace, s *spool) (*Stored, error) {
	if err := s.takeLock(); s.lock == nil || err != nil {
		return nil, err
	}
	call, err := s.waiting()
	switch {
	case err != nil:
		return nil, errors.Join(err, s.release())
	case call == nil:
		return nil, s.discard()
	}
	if free, err := isFree(s.own); err != nil || !free {
		return nil, errors.Join(err, s.release())
	}
	end := s.readEnding()
	if end != nil {
		call.Schema = s.readSchema()
	}
	if call.Secrets == secrets.Refuse { // nobody is there to be told so
		call.Secrets = secrets.Redact
	}
	stored, err := s.store(ctx, w, *call, end)
	if err != nil && !errors.Is(err, store.ErrBarred) {
		return nil, errors.Join(err, s.release())
	}
	_ = s.discard() // it is stored; what could not be removed the next command removes
	return stored, err
}

// takeLock locks a folder that nobody else has. There is no lock if somebody has it,
// or if it is gone by now.
func (s *spool) takeLock() (err error) {
	s.lock, err = s.own.OpenFile(lockFile, os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return s.removeEmpty()
	}
	if err != nil {
		return err
	}
	free, err := turnstile.TryLock(s.lock, turnstile.Exclusive)
	if err != nil || !free {
		err = errors.Join(err, s.release())
		s.lock = nil
	}
	return err
}

// unlessGone takes what is not there any more for the work of another process.
func unlessGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// removeEmpty removes a folder without a lock that was only begun, or that is all
// but removed. One that has a lock by now is being filled.
func (s *spool) removeEmpty() error {
	entries, err := s.own.ReadDir(".")
	if err != nil {
		return unlessGone(err)
	}
	for _, entry := range entries {
		switch name := entry.Name(); {
		case name == lockFile:
			return nil
		case name != storedFile && !folder.IsTemporary(name): // the last to go
			return errForeign
		}
	}
	for _, entry := range entries {
		_ = s.own.Remove(entry.Name()) // it may be gone
	}
	_ = s.all.Remove(s.name) // a process that is making it makes another
	return nil
}

// waiting returns whose output a locked folder holds. Nil means that nothing in it
// is to be stored: it was only begun, or its output is stored.
func (s *spool) waiting() (*Call, error) {
	output, outputErr := s.own.Stat(outputFile)
	if _, err := s.own.Stat(storedFile); err == nil {
		return nil, nil
	}
	call, err := s.readCall()
	switch {
	case errors.Is(err, fs.ErrNotExist) && errors.Is(outputErr, fs.ErrNotExist):
		return nil, nil
	case errors.Is(err, fs.ErrNotExist) && outputErr == nil && output.Size() == 0:
		return nil, nil // no command starts before there is a call
	case err != nil:
		return nil, err
	case outputErr != nil:
		return nil, outputErr
	}
	return &call.Call, nil
}

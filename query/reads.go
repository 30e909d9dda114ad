package query

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"

	"filebus/materialize/markdown"
	"filebus/materialize/secrets"
	"filebus/store/record"
)

// readsFile is the log of what was read, below the store's folder.
const readsFile = "reads.log"

// A Read is one line of the log of reads: what a command has printed, and an agent has
// taken into its context by that. Budgets are computed from it.
type Read struct {
	Time    time.Time `json:"time"`
	Op      string    `json:"op"`   // the command: get, task show, search, ...
	What    string    `json:"what"` // a name, or the text of a query
	Agent   string    `json:"agent,omitempty"`
	Session string    `json:"session,omitempty"`
	Task    string    `json:"task,omitempty"`
	Run     string    `json:"run,omitempty"`
	Tokens  int       `json:"tokens"`
	Seconds float64   `json:"seconds,omitempty"` // that a wait took
}

// maxWhat bounds a line, so that appending it is one write, which other
// processes cannot cut in two.
const maxWhat = 1024

// NoteRead appends a line to the log of reads. It takes no lock and reports no
// error: a line may be lost, and a read never fails for it. A zero Time is now.
func (r *Reader) NoteRead(read Read) {
	if read.Time.IsZero() {
		read.Time = r.opts.Now()
	}
	read.Time = read.Time.UTC()
	read.What = secrets.Text(read.What)
	read.What = markdown.Head(read.What, maxWhat)
	line, err := json.Marshal(read)
	if err != nil {
		return // as with any other failure: the line is lost
	}
	_ = r.own.Append(readsFile, append(line, '\n')) // lossy by contract
}

// Reads returns the logged reads since a time, oldest first. Lines that are
// damaged are left out; a log that does not exist is empty.
func (r *Reader) Reads(since time.Time) ([]Read, error) {
	f, err := r.own.Open(readsFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	var reads []Read
	for lines := bufio.NewReaderSize(f, maxReadLine); ; {
		line, err := lines.ReadSlice('\n')
		var read Read
		if json.Unmarshal(line, &read) == nil && !read.Time.IsZero() && !read.Time.Before(since) {
			reads = append(reads, read)
		}
		if errors.Is(err, io.EOF) {
			return reads, nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) { // what is longer is damaged
			return reads, err
		}
	}
}

// ForgetReads takes the words of what was asked out of the log of reads.
func (r *Reader) ForgetReads() error {
	reads, err := r.Reads(time.Time{})
	if err != nil || len(reads) == 0 {
		return err
	}
	var text []byte
	for _, read := range reads {
		if read.Op == "search" || read.Op == "context" {
			read.What = ""
		}
		line, _ := json.Marshal(read) // it was read from such a line
		text = append(append(text, line...), '\n')
	}
	return r.own.Replace(readsFile, text, true)
}

// maxReadLine is longer than any line of the log, in bytes: the log is never held
// in memory as a whole.
const maxReadLine = 64 << 10

// channels are all channels, the ways in which an orchestrator and its agents
// communicate, in the order in which they are shown: those of the file-based
// communication document first, in its order. Each is that of commands by their first
// words or by both, and of any record that is read by the kind of it; the first counts.
var channels = []struct{ name, of string }{
	{"waits", "wait dialogue_wait kind:marker"},
	{"prompts", "task_start task_prompt dialogue_prompt"},
	{"handoffs", "task kind:handoff"},
	{"issue queue", "issue kind:issue"},
	{"session state", "run status kind:state"},
	{"knowledge graph", "knowledge kind:knowledge"},
	{"context map", "component kind:component"},
	{"context", "context"},
	{"results", "exec put combine pdf conversation kind:result"},
	{"search", "search"},
	{"snapshots", "snapshot kind:snapshot"},
	{"other", ""}, // all else
}

// Channels returns all channels, which budgets count reads by, in the order in which
// they are shown.
func Channels() []string {
	var all []string
	for _, c := range channels {
		all = append(all, c.name)
	}
	return all
}

// Channel returns the channel of a read.
func (r Read) Channel() string {
	word, _, _ := strings.Cut(r.Op, " ")
	if name, err := record.ParseName(r.What); err == nil && (word == "get" || word == "show" || word == "read") {
		word = "kind:" + string(name.Kind)
	}
	both := strings.ReplaceAll(r.Op, " ", "_")
	for _, c := range channels {
		if of := strings.Fields(c.of); slices.Contains(of, word) || slices.Contains(of, both) {
			return c.name
		}
	}
	return channels[len(channels)-1].name
}

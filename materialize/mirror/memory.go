package mirror

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"strconv"
	"strings"

	"filebus/store/folder"
	"filebus/store/record"
)

// A Memo is what is known of a file: how it was when disk and store were last
// compared, and up to where in the log.
type Memo struct {
	Position uint64 // of the log; later changes of the store are not in the file
	Size     int64  // bytes
	modTime  int64  // nanoseconds since 1970
	Digest   record.Digest
	State    MemoState
	Mode     fs.FileMode // of the file; 0: the usual one
}

// notedMode returns what is remembered of a mode.
func notedMode(mode fs.FileMode) fs.FileMode {
	if mode == 0o644 {
		return 0
	}
	return mode
}

// A MemoState says how a file stood to the store when they were compared.
type MemoState byte

// The states of a file.
const (
	Agreed  MemoState = iota // disk and store had the same bytes
	Kept                     // they differed, and the file was left as it is: it is git's, or older
	Deleted                  // the file was here once, and was gone
)

// Matches reports whether a file has the size and time that are remembered.
func (m Memo) Matches(stat Stat) bool {
	return m.State != Deleted && m.Size == stat.Size && m.modTime == stat.ModTime.UnixNano() && m.Mode == notedMode(stat.Mode)
}

// A memory is what is known of one root's files. It is a text file to which
// lines are appended, the last one about a path counting; a line that was cut
// short by a crash is ignored. It is state: who loses it loses nothing that is
// stored, but a new memory knows of no file that it was deleted, and begins at the
// end of the log, so that nothing is written which is not new.
type memory struct {
	own     folder.Folder
	file    string // its name there
	root    string
	saved   savedLines
	changed map[string]change // since it was loaded
	counts  stateCounts
	Settled uint64 // every log entry up to here was looked at
	IsNew   bool   // nothing says where in the log it begins: see Begin
	lines   int
	pending bytes.Buffer
	holders map[record.Digest][]string // see Holders
}

// A Memory is what is known of one root's files: see memory.
type Memory = memory

// stateCounts counts files by their states, too many where lines are broken.
type stateCounts [unknown + 1]int

// A change is what became of a path since a memory was loaded.
type change struct {
	memo Memo
	gone bool
}

// memoryHeader begins the file, with the root after it.
const memoryHeader = "filebus mirror 1 "

func newMemory(own folder.Folder, root string) *memory {
	file := record.DigestOf([]byte(root)).String()[:16] + ".txt"
	return &memory{own: own, file: file, root: root, changed: map[string]change{}}
}

// Settled returns the farthest position of the log that a memory in the folder knows.
func Settled(own folder.Folder) (farthest uint64) {
	for text := range memories(own) {
		farthest = max(farthest, findLines(string(text)).settled)
	}
	return farthest
}

// PutAside moves all memories, while the lock is held, into a folder of a store that was put aside.
// Those of captured trees, which are caches, go.
func (s *Mirrors) PutAside(into string) error {
	own := folder.At(s.opts.Store)
	if err := own.RemoveAll("seen"); err != nil || into == "" {
		return err
	}
	entries, err := own.ReadDir("mirror")
	err = errors.Join(err, own.Make(into+"/mirror"))
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".txt") {
			err = errors.Join(err, own.Rename("mirror/"+e.Name(), into+"/mirror/"+e.Name()))
		}
	}
	return err
}

// memories returns the texts of those in a folder that can be read.
func memories(own folder.Folder) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		entries, _ := own.ReadDir(".") // no folder: no memories
		for _, e := range entries {
			text, err := own.ReadFile(e.Name())
			if err == nil && strings.HasSuffix(e.Name(), ".txt") && !yield(text) {
				return
			}
		}
	}
}

func loadMemory(own folder.Folder, root string) (*memory, error) {
	m := newMemory(own, root)
	text, err := own.ReadFile(m.file)
	if errors.Is(err, fs.ErrNotExist) {
		m.IsNew = true
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the mirror's memory: %w", err)
	}
	m.saved = findLines(string(text))
	m.counts, m.lines = m.saved.counts, m.saved.lines
	m.Settled, m.IsNew = m.saved.settled, !m.saved.hasSettled
	if len(text) > 0 && text[len(text)-1] != '\n' {
		m.pending.WriteByte('\n') // after a line that was cut short
	}
	return m, nil
}

// Recall returns what is remembered in a folder of the files of a captured tree. It is a
// cache there, without deleted files: where it cannot be read, nothing is known.
func Recall(own folder.Folder, tree string) *Memory {
	m, err := loadMemory(own, tree)
	if err != nil {
		m = newMemory(own, tree)
		m.IsNew = true
	}
	if m.IsNew {
		m.Begin(0)
	}
	return m
}

// Erase deletes the memory's file.
func (m *memory) Erase() error { return m.own.Remove(m.file) }

// Begin says at which position of the log a new memory begins: nothing that the
// store had before is written unasked.
func (m *memory) Begin(position uint64) {
	fmt.Fprintf(&m.pending, "%s%s\n%s%d\n", memoryHeader, m.root, lineSettled, position)
	m.Settled, m.IsNew = position, false
	m.lines += 2
}

// Get returns what is known of a path, also of one that was deleted.
func (m *memory) Get(path string) (f Memo, remembered bool) {
	if c, found := m.changed[path]; found {
		return c.memo, !c.gone
	}
	return m.saved.get(path)
}

// OnDisk returns how many files are remembered to be there, too many where lines are
// broken.
func (m *memory) OnDisk() int { return m.counts[Agreed] + m.counts[Kept] }

// All returns what is known of each path, also of those that were deleted, in no order.
// The memory must not be changed meanwhile.
func (m *memory) All() iter.Seq2[string, Memo] {
	return func(yield func(string, Memo) bool) {
		for path, c := range m.changed {
			if !c.gone && !yield(path, c.memo) {
				return
			}
		}
		for path, f := range m.saved.all() {
			if _, found := m.changed[path]; !found && !yield(path, f) {
				return
			}
		}
	}
}

// Set remembers the state of a file that the store has as well, at a position of the
// log.
func (m *memory) Set(f File, position uint64) { m.set(f.Path, memoOf(f, position, Agreed)) }

// Keep remembers the state of a file that is left as it is, though the store has
// something else for it at a position of the log.
func (m *memory) Keep(f File, position uint64) { m.set(f.Path, memoOf(f, position, Kept)) }

// Delete remembers that a file is gone which was here, at a position of the log, and
// which bytes it had if they are to be known again: see Holders.
func (m *memory) Delete(path string, position uint64, had record.Digest) {
	known, _ := m.Get(path)
	m.set(path, Memo{Position: position, State: Deleted, Digest: had, Mode: known.Mode})
}

// Holders returns the paths of files that had some bytes when this was first asked.
func (m *memory) Holders(bytes record.Digest) []string {
	if m.holders == nil {
		m.holders = map[record.Digest][]string{}
		for path, f := range m.All() {
			m.holders[f.Digest] = append(m.holders[f.Digest], path)
		}
	}
	return m.holders[bytes]
}

func memoOf(f File, position uint64, state MemoState) Memo {
	return Memo{Position: position, Size: f.Size, modTime: f.ModTime.UnixNano(), Digest: f.Digest, State: state, Mode: notedMode(f.Mode)}
}

func (m *memory) set(path string, f Memo) {
	known, remembered := m.Get(path)
	if remembered && known == f {
		return
	}
	if remembered {
		m.counts[known.State]--
	}
	m.counts[f.State]++
	m.changed[path] = change{memo: f}
	m.lines++
	fmt.Fprintf(&m.pending, "%s%d %d %d %s %s%s\n",
		stateWords[f.State], f.Position, f.Size, f.modTime, f.Digest, strings.TrimPrefix(fmt.Sprintf("%o ", f.Mode), "0 "), strconv.Quote(path))
}

// Forget says that nothing is known of a path any more.
func (m *memory) Forget(path string) {
	if known, remembered := m.Get(path); remembered {
		m.counts[known.State]--
		m.changed[path] = change{gone: true}
		m.lines++
		fmt.Fprintf(&m.pending, "%s%s\n", lineGone, strconv.Quote(path))
	}
}

// Settle says that every log entry up to a position was looked at.
func (m *memory) Settle(position uint64) {
	if position > m.Settled {
		m.Settled = position
		m.lines++
		fmt.Fprintf(&m.pending, "settled %d\n", position)
	}
}

// Save appends what is new, or writes the file anew when most of it is old.
func (m *memory) Save() error {
	if m.pending.Len() == 0 {
		return nil
	}
	if m.lines > 2*(m.OnDisk()+m.counts[Deleted])+1000 {
		return m.rewrite()
	}
	return m.append()
}

// append writes what is new behind what is there, in one call, so that several
// processes may do so at once.
func (m *memory) append() error {
	err := m.own.Make(".")
	if err == nil {
		err = m.own.Append(m.file, m.pending.Bytes())
	}
	if err != nil {
		return fmt.Errorf("writing the mirror's memory: %w", err)
	}
	m.pending.Reset()
	return nil
}

func (m *memory) rewrite() error {
	anew := newMemory(m.own, m.root)
	anew.Begin(m.Settled)
	for path, f := range m.All() {
		anew.set(path, f)
	}
	err := m.own.Replace(m.file, anew.pending.Bytes(), false)
	anew.pending.Reset()
	*m = *anew
	return err
}

// The lines of a memory: "settled POSITION", "gone PATH", of which nothing is known, and
// "file POSITION SIZE TIME DIGEST PATH", or another word for another state, with an octal MODE
// before the path unless that is 644. Paths are quoted as in Go.
const (
	lineGone    = "gone "
	lineSettled = "settled "
)

var stateWords = [...]string{Agreed: "file ", Kept: "kept ", Deleted: "deleted ", unknown: lineGone}

// unknown is the state of a path of which nothing is known any more.
const unknown = Deleted + 1

// cutState returns the state that a line about a path begins with, and the rest of it.
func cutState(line string) (state MemoState, rest string, found bool) {
	for i, word := range stateWords {
		if rest, found = strings.CutPrefix(line, word); found {
			return MemoState(i), rest, true
		}
	}
	return 0, "", false
}

// savedLines are the lines of a memory's file. Every reading command loads them,
// of 100,000 files 15 MB, and asks for the few files that it gets to look at. So
// loading only finds the last line about each path; it is read when it is asked
// for.
type savedLines struct {
	text   string
	last   map[string]lastLine // by the paths, in quotes
	counts stateCounts
	lines  int

	settled    uint64
	hasSettled bool
}

// A lastLine is where the last line about a path begins, and the state that it says.
type lastLine struct {
	at    uint32
	state MemoState
}

// findLines finds the last line about each path of a text.
func findLines(text string) savedLines {
	s := savedLines{text: text, last: make(map[string]lastLine, strings.Count(text, "\n"))}
	for end, at := 0, 0; at < len(text); at = end {
		s.lines++
		end = s.next(at)
		line := strings.TrimSuffix(strings.TrimSuffix(text[at:end], "\n"), "\r")
		if position, found := strings.CutPrefix(line, lineSettled); found {
			if n, err := strconv.ParseUint(position, 10, 64); err == nil {
				s.settled, s.hasSettled = n, true
			}
		} else if path, state := quotedPath(line); path != "" {
			s.last[path] = lastLine{uint32(at), state}
		}
	}
	for _, last := range s.last {
		s.counts[last.state]++
	}
	return s
}

// next returns where the line after the one that begins at a place begins.
func (s *savedLines) next(at int) int {
	if end := strings.IndexByte(s.text[at:], '\n'); end >= 0 {
		return at + end + 1
	}
	return len(s.text)
}

// lineOf returns the line that begins at a place, without its end.
func (s *savedLines) lineOf(at int) string { return strings.TrimRight(s.text[at:s.next(at)], "\r\n") }

// quotedPath returns the path that a line is about, in its quotes, and the state that it says.
// The path is "" if the line is about none, as one that was cut short.
func quotedPath(line string) (path string, state MemoState) {
	state, rest, found := cutState(line)
	quote := strings.IndexByte(rest, '"') // neither numbers nor digests have one
	if !found || quote < 0 || quote == len(rest)-1 || rest[len(rest)-1] != '"' {
		return "", 0
	}
	return rest[quote:], state
}

// get returns what the lines say of a path.
func (s *savedLines) get(path string) (f Memo, found bool) {
	var buffer [256]byte
	quoted := appendQuoted(buffer[:0], path)
	last, found := s.last[string(quoted)]
	if !found {
		return Memo{}, false
	}
	return s.read(int(last.at))
}

// appendQuoted is strconv.AppendQuote, faster for most paths: a sync quotes each.
func appendQuoted(dst []byte, path string) []byte {
	for i := range len(path) {
		if c := path[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return strconv.AppendQuote(dst, path)
		}
	}
	return append(append(append(dst, '"'), path...), '"')
}

// read reads a line about a path, or the last one before it that is whole.
func (s *savedLines) read(at int) (f Memo, found bool) {
	for {
		if f, found = readFileLine(s.lineOf(at)); found {
			return f, f.State != unknown
		}
		quoted, _ := quotedPath(s.lineOf(at))
		if at = s.before(at, quoted); at < 0 {
			return Memo{}, false
		}
	}
}

// before returns where the last line about a path begins that stands before a
// place, or -1. It is slow, and needed only behind a line that nobody wrote.
func (s *savedLines) before(at int, quoted string) int {
	for at > 0 {
		at = strings.LastIndexByte(s.text[:at-1], '\n') + 1
		if path, _ := quotedPath(s.lineOf(at)); path == quoted {
			return at
		}
	}
	return -1
}

// all returns what the lines say of each path, in no order.
func (s *savedLines) all() iter.Seq2[string, Memo] {
	return func(yield func(string, Memo) bool) {
		for quoted, last := range s.last {
			path, err := strconv.Unquote(quoted)
			if f, found := s.read(int(last.at)); err == nil && found && !yield(path, f) {
				return
			}
		}
	}
}

// readFileLine reads a line about a path. It reports whether it is whole.
func readFileLine(line string) (f Memo, whole bool) {
	state, text, found := cutState(line)
	if !found || state == unknown {
		return Memo{State: unknown}, found && strings.HasPrefix(text, `"`)
	}
	var numbers [3]int64 // position, size, time
	for i := range numbers {
		word, rest, _ := strings.Cut(text, " ")
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return Memo{}, false
		}
		numbers[i], text = n, rest
	}
	const digits = 2 * len(record.Digest{})
	if numbers[0] < 0 || len(text) < digits+2 || text[digits] != ' ' || strings.ContainsAny(text[:digits], "ABCDEF") {
		return Memo{}, false
	}
	octal, _, _ := strings.Cut(text[digits+1:], `"`)
	mode, err := strconv.ParseUint(cmp.Or(strings.TrimSuffix(octal, " "), "0"), 8, 9)
	if err != nil {
		return Memo{}, false
	}
	f = Memo{Position: uint64(numbers[0]), Size: numbers[1], modTime: numbers[2], State: state, Mode: fs.FileMode(mode)}
	_, err = hex.Decode(f.Digest[:], []byte(text[:digits]))
	return f, err == nil
}

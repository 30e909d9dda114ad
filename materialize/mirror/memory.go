package mirror

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"iter"
	"math/bits"
	"os"
	"path/filepath"
	"strconv"

	"filebus/store/record"
)

// A Memo is what is known of a file on disk: the state in which disk and store
// last agreed.
type Memo struct {
	Position uint64 // of the log, at which the store had these bytes
	size     int64
	modTime  int64 // nanoseconds since 1970
	Digest   record.Digest
}

// Matches reports whether a file has the size and time that are remembered.
func (m Memo) Matches(stat Stat) bool {
	return m.size == stat.Size && m.modTime == stat.ModTime.UnixNano()
}

// A Memory is what is known of one root's files. It is a text file to which
// lines are appended, the last one about a path counting; it is derived, so a
// line that was cut short by a crash is ignored, and a lost file costs only
// reading the mirror again.
type Memory struct {
	file    string
	root    string
	saved   savedLines
	changed map[string]change // since it was loaded
	Count   int               // files that are remembered, or more where lines are broken
	Settled uint64            // every log entry up to here was looked at
	lines   int
	pending bytes.Buffer
}

// A change is what became of a path since a memory was loaded.
type change struct {
	memo Memo
	gone bool
}

// memoryHeader begins the file, with the root after it.
const memoryHeader = "filebus mirror 1 "

func newMemory(folder, root string) *Memory {
	file := filepath.Join(folder, record.DigestOf([]byte(root)).String()[:16]+".txt")
	return &Memory{file: file, root: root, changed: map[string]change{}}
}

func loadMemory(folder, root string) (*Memory, error) {
	m := newMemory(folder, root)
	text, err := os.ReadFile(m.file)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(&m.pending, "%s%s\n", memoryHeader, root)
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the mirror's memory: %w", err)
	}
	m.saved = findLines(text)
	m.Count, m.Settled, m.lines = m.saved.files, m.saved.settled, m.saved.lines
	if len(text) > 0 && text[len(text)-1] != '\n' {
		m.pending.WriteByte('\n') // after a line that was cut short
	}
	return m, nil
}

// Get returns what is known of a path.
func (m *Memory) Get(path string) (f Memo, remembered bool) {
	if c, found := m.changed[path]; found {
		return c.memo, !c.gone
	}
	return m.saved.get(path)
}

// Paths returns the paths that are remembered, in no order. The memory must not
// be changed meanwhile.
func (m *Memory) Paths() iter.Seq[string] {
	return func(yield func(string) bool) {
		for path, c := range m.changed {
			if !c.gone && !yield(path) {
				return
			}
		}
		for path := range m.saved.paths() {
			if _, found := m.changed[path]; !found && !yield(path) {
				return
			}
		}
	}
}

// Set remembers the state of a file that the store has as well, at a position of the
// log.
func (m *Memory) Set(f File, position uint64) {
	m.set(f.Path, Memo{Position: position, size: f.Size, modTime: f.ModTime.UnixNano(), Digest: f.Digest})
}

func (m *Memory) set(path string, f Memo) {
	known, remembered := m.Get(path)
	if remembered && known == f {
		return
	}
	if !remembered {
		m.Count++
	}
	m.changed[path] = change{memo: f}
	m.lines++
	fmt.Fprintf(&m.pending, "file %d %d %d %s %s\n", f.Position, f.size, f.modTime, f.Digest, strconv.Quote(path))
}

// Forget says that nothing is known of a path any more.
func (m *Memory) Forget(path string) {
	if _, remembered := m.Get(path); remembered {
		m.changed[path] = change{gone: true}
		m.Count--
		m.lines++
		fmt.Fprintf(&m.pending, "gone %s\n", strconv.Quote(path))
	}
}

// Settle says that every log entry up to a position was looked at.
func (m *Memory) Settle(position uint64) {
	if position > m.Settled {
		m.Settled = position
		m.lines++
		fmt.Fprintf(&m.pending, "settled %d\n", position)
	}
}

// Save appends what is new, or writes the file anew when most of it is old.
func (m *Memory) Save() error {
	if m.pending.Len() == 0 {
		return nil
	}
	if m.lines > 2*m.Count+1000 {
		return m.rewrite()
	}
	return m.append()
}

// append writes what is new behind what is there, in one call, so that several
// processes may do so at once.
func (m *Memory) append() error {
	if err := os.MkdirAll(filepath.Dir(m.file), 0o777); err != nil {
		return fmt.Errorf("writing the mirror's memory: %w", err)
	}
	f, err := os.OpenFile(m.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return fmt.Errorf("writing the mirror's memory: %w", err)
	}
	_, err = f.Write(m.pending.Bytes())
	m.pending.Reset()
	return errors.Join(err, f.Close())
}

func (m *Memory) rewrite() error {
	anew := &Memory{file: m.file, root: m.root, changed: map[string]change{}}
	anew.lines = 1
	fmt.Fprintf(&anew.pending, "%s%s\n", memoryHeader, m.root)
	for path := range m.Paths() {
		f, _ := m.Get(path)
		anew.set(path, f)
	}
	anew.Settle(m.Settled)
	tmp := m.file + ".new"
	err := os.WriteFile(tmp, anew.pending.Bytes(), 0o666)
	anew.pending.Reset()
	*m = *anew
	return errors.Join(err, os.Rename(tmp, m.file))
}

// The lines of a memory: "settled POSITION", "file POSITION SIZE TIME DIGEST PATH"
// and "gone PATH". Paths are quoted as in Go.
const (
	lineFile    = "file "
	lineGone    = "gone "
	lineSettled = "settled "
)

// savedLines are the lines of a memory's file. Every reading command loads them,
// of 100,000 files 15 MB, and asks for the few files that it gets to look at. So
// loading only finds the last line about each path; it is read when it is asked
// for.
type savedLines struct {
	text    []byte
	seed    maphash.Seed
	table   []lastLine // by the hash of the quoted path; a power of two, half of it empty
	files   int        // paths whose last line does not say that they are gone; some may be broken
	lines   int
	settled uint64
}

// A lastLine is where the last line about a path begins.
type lastLine struct {
	hash uint64 // of the path
	next int    // the place plus 1; 0: there is none
	gone bool   // it says that the path is gone
}

// findLines finds the last line about each path of a text.
func findLines(text []byte) savedLines {
	s := savedLines{text: text, seed: maphash.MakeSeed()}
	s.table = make([]lastLine, 2<<bits.Len(uint(bytes.Count(text, []byte{'\n'}))))
	for at := 0; at < len(text); {
		line, begin := lineAt(text, at), at
		at += len(line) + 1
		line = bytes.TrimRight(line, "\r")
		s.lines++
		if position, found := bytes.CutPrefix(line, []byte(lineSettled)); found {
			if n, err := strconv.ParseUint(string(position), 10, 64); err == nil {
				s.settled = n
			}
		} else if path := quotedPath(line); path != nil {
			s.add(path, begin, isGone(line, path))
		}
	}
	return s
}

// lineAt returns the line that begins at a place, without the newline.
func lineAt(text []byte, at int) []byte {
	if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
		return text[at : at+end]
	}
	return text[at:]
}

// lineOf returns the line that begins at a place, without its end.
func (s *savedLines) lineOf(at int) []byte { return bytes.TrimRight(lineAt(s.text, at), "\r") }

// quotedPath returns the path that a line is about, in its quotes. It is nil if
// the line is about none, as one that was cut short.
func quotedPath(line []byte) []byte {
	if !bytes.HasPrefix(line, []byte(lineFile)) && !bytes.HasPrefix(line, []byte(lineGone)) {
		return nil
	}
	quote := bytes.IndexByte(line, '"') // neither numbers nor digests have one
	if quote < 0 || quote == len(line)-1 || line[len(line)-1] != '"' {
		return nil
	}
	return line[quote:]
}

// isGone reports whether a line about a quoted path says that it is gone.
func isGone(line, quoted []byte) bool {
	return len(line) == len(lineGone)+len(quoted) && line[0] == lineGone[0]
}

// add makes the line at a place the last one about its path.
func (s *savedLines) add(path []byte, at int, gone bool) {
	last := s.find(path)
	if last.next > 0 && !last.gone {
		s.files--
	}
	if !gone {
		s.files++
	}
	last.next, last.gone = at+1, gone
}

// find returns the place in the table of a path, which is empty if there is no
// line about it.
func (s *savedLines) find(path []byte) *lastLine {
	hash, mask := maphash.Bytes(s.seed, path), uint64(len(s.table)-1)
	for slot := hash & mask; ; slot = (slot + 1) & mask {
		last := &s.table[slot]
		if last.next == 0 {
			last.hash = hash
			return last
		}
		if last.hash == hash && bytes.Equal(quotedPath(s.lineOf(last.next-1)), path) {
			return last
		}
	}
}

// get returns what the lines say of a path.
func (s *savedLines) get(path string) (f Memo, found bool) {
	if s.lines == 0 {
		return Memo{}, false
	}
	var buffer [256]byte
	quoted := appendQuoted(buffer[:0], path)
	last := s.find(quoted)
	if last.next == 0 || last.gone {
		return Memo{}, false
	}
	return s.read(last.next-1, quoted)
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

// read reads the last line about a path, or the one before it that is whole.
func (s *savedLines) read(at int, quoted []byte) (f Memo, found bool) {
	for {
		line := s.lineOf(at)
		if isGone(line, quoted) {
			return Memo{}, false
		}
		if f, found = readFileLine(line); found {
			return f, true
		}
		if at = s.before(at, quoted); at < 0 {
			return Memo{}, false
		}
	}
}

// before returns where the last line about a path begins that stands before a
// place, or -1. It is slow, and needed only behind a line that nobody wrote.
func (s *savedLines) before(at int, quoted []byte) int {
	for at > 0 {
		at = bytes.LastIndexByte(s.text[:at-1], '\n') + 1
		if bytes.Equal(quotedPath(s.lineOf(at)), quoted) {
			return at
		}
	}
	return -1
}

// paths returns the paths whose last line does not say that they are gone, in no
// order.
func (s *savedLines) paths() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, last := range s.table {
			if last.next == 0 || last.gone {
				continue
			}
			quoted := quotedPath(s.lineOf(last.next - 1))
			path, err := strconv.Unquote(string(quoted))
			if err != nil {
				continue
			}
			if _, found := s.read(last.next-1, quoted); found && !yield(path) {
				return
			}
		}
	}
}

// readFileLine reads a line about a file. It reports whether it is whole.
func readFileLine(line []byte) (f Memo, whole bool) {
	text, found := bytes.CutPrefix(line, []byte(lineFile))
	if !found {
		return Memo{}, false
	}
	var numbers [3]int64 // position, size, time
	for i := range numbers {
		word, rest, _ := bytes.Cut(text, []byte{' '})
		n, err := strconv.ParseInt(string(word), 10, 64)
		if err != nil {
			return Memo{}, false
		}
		numbers[i], text = n, rest
	}
	const digits = 2 * len(record.Digest{})
	if numbers[0] < 0 || len(text) < digits+2 || text[digits] != ' ' || text[digits+1] != '"' || bytes.ContainsAny(text[:digits], "ABCDEF") {
		return Memo{}, false
	}
	f = Memo{Position: uint64(numbers[0]), size: numbers[1], modTime: numbers[2]}
	_, err := hex.Decode(f.Digest[:], text[:digits])
	return f, err == nil
}

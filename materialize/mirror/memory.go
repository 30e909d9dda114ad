package mirror

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
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

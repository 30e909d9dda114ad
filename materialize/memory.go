package materialize

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"filebus/store/record"
)

// mirrorFolder is where a store keeps what it knows of its files on disk.
const mirrorFolder = "mirror"

// A memo is what is known of a file on disk: the state in which disk and store
// last agreed.
type memo struct {
	position uint64 // of the log, at which the store had these bytes
	size     int64
	modTime  int64 // nanoseconds since 1970
	digest   record.Digest
}

func (m memo) matches(stat fileStat) bool {
	return m.size == stat.size && m.modTime == stat.modTime.UnixNano()
}

// A memory is what is known of one root's files. It is a text file to which
// lines are appended, the last one about a path counting; it is derived, so a
// line that was cut short by a crash is ignored, and a lost file costs only
// reading the mirror again.
type memory struct {
	file    string
	saved   savedLines
	changed map[string]change // since it was loaded
	count   int               // files that are remembered, or more where lines are broken
	settled uint64            // every log entry up to here was looked at
	lines   int
	pending bytes.Buffer
}

// A change is what became of a path since a memory was loaded.
type change struct {
	memo memo
	gone bool
}

// memoryHeader begins the file, with the root after it.
const memoryHeader = "filebus mirror 1 "

func memoryFile(folder, root string) string {
	return filepath.Join(folder, record.DigestOf([]byte(root)).String()[:16]+".txt")
}

func newMemory(file string) *memory { return &memory{file: file, changed: map[string]change{}} }

func loadMemory(folder, root string) (*memory, error) {
	m := newMemory(memoryFile(folder, root))
	text, err := os.ReadFile(m.file)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(&m.pending, "%s%s\n", memoryHeader, root)
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the mirror's memory: %w", err)
	}
	m.saved = findLines(text)
	m.count, m.settled, m.lines = m.saved.files, m.saved.settled, m.saved.lines
	if len(text) > 0 && text[len(text)-1] != '\n' {
		m.pending.WriteByte('\n') // after a line that was cut short
	}
	return m, nil
}

// get returns what is known of a path.
func (m *memory) get(path string) (f memo, remembered bool) {
	if c, found := m.changed[path]; found {
		return c.memo, !c.gone
	}
	return m.saved.get(path)
}

// paths returns the paths that are remembered, in no order. The memory must not
// be changed meanwhile.
func (m *memory) paths() iter.Seq[string] {
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

func (m *memory) set(path string, f memo) {
	known, remembered := m.get(path)
	if remembered && known == f {
		return
	}
	if !remembered {
		m.count++
	}
	m.changed[path] = change{memo: f}
	m.lines++
	fmt.Fprintf(&m.pending, "file %d %d %d %s %s\n", f.position, f.size, f.modTime, f.digest, strconv.Quote(path))
}

func (m *memory) forget(path string) {
	if _, remembered := m.get(path); remembered {
		m.changed[path] = change{gone: true}
		m.count--
		m.lines++
		fmt.Fprintf(&m.pending, "gone %s\n", strconv.Quote(path))
	}
}

func (m *memory) settle(position uint64) {
	if position > m.settled {
		m.settled = position
		m.lines++
		fmt.Fprintf(&m.pending, "settled %d\n", position)
	}
}

// save appends what is new, or writes the file anew when most of it is old.
func (m *memory) save(root string) error {
	if m.pending.Len() == 0 {
		return nil
	}
	if m.lines > 2*m.count+1000 {
		return m.rewrite(root)
	}
	return m.append()
}

// append writes what is new behind what is there, in one call, so that several
// processes may do so at once.
func (m *memory) append() error {
	f, err := os.OpenFile(m.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return fmt.Errorf("writing the mirror's memory: %w", err)
	}
	_, err = f.Write(m.pending.Bytes())
	m.pending.Reset()
	return errors.Join(err, f.Close())
}

func (m *memory) rewrite(root string) error {
	anew := newMemory(m.file)
	anew.lines = 1
	fmt.Fprintf(&anew.pending, "%s%s\n", memoryHeader, root)
	for path := range m.paths() {
		f, _ := m.get(path)
		anew.set(path, f)
	}
	anew.settle(m.settled)
	tmp := m.file + ".new"
	err := os.WriteFile(tmp, anew.pending.Bytes(), 0o666)
	anew.pending.Reset()
	*m = *anew
	return errors.Join(err, os.Rename(tmp, m.file))
}

// memoOf is the memo of a file that was just written or read.
func memoOf(stat fileStat, digest record.Digest, position uint64) memo {
	return memo{position: position, size: stat.size, modTime: stat.modTime.UnixNano(), digest: digest}
}

// isStill reports whether a file was left alone for long enough to be whole.
func isStill(stat fileStat, now time.Time) bool { return now.Sub(stat.modTime) >= StillFor }

// StillFor is how long a file must not have changed before a command that only
// reads takes it in.
const StillFor = 2 * time.Second

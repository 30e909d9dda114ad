package materialize

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
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
	files   map[string]memo
	settled uint64 // every log entry up to here was looked at
	lines   int
	pending bytes.Buffer
}

// memoryHeader begins the file, with the root after it.
const memoryHeader = "filebus mirror 1 "

func memoryFile(folder, root string) string {
	return filepath.Join(folder, record.DigestOf([]byte(root)).String()[:16]+".txt")
}

func loadMemory(folder, root string) (*memory, error) {
	m := &memory{file: memoryFile(folder, root), files: map[string]memo{}}
	text, err := os.ReadFile(m.file)
	if errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(&m.pending, "%s%s\n", memoryHeader, root)
		return m, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the mirror's memory: %w", err)
	}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		m.line(lines.Text())
	}
	if len(text) > 0 && text[len(text)-1] != '\n' {
		m.pending.WriteByte('\n') // after a line that was cut short
	}
	return m, lines.Err()
}

// line reads one line: "settled POSITION", "file POSITION SIZE TIME DIGEST PATH"
// or "gone PATH". Paths are quoted as in Go.
func (m *memory) line(text string) {
	m.lines++
	verb, rest, _ := strings.Cut(text, " ")
	switch verb {
	case "settled":
		if n, err := strconv.ParseUint(rest, 10, 64); err == nil {
			m.settled = n
		}
	case "gone":
		if path, err := strconv.Unquote(rest); err == nil {
			delete(m.files, path)
		}
	case "file":
		m.fileLine(rest)
	}
}

func (m *memory) fileLine(text string) {
	parts := strings.SplitN(text, " ", 5)
	if len(parts) != 5 {
		return
	}
	position, err1 := strconv.ParseUint(parts[0], 10, 64)
	size, err2 := strconv.ParseInt(parts[1], 10, 64)
	modTime, err3 := strconv.ParseInt(parts[2], 10, 64)
	digest, err4 := record.ParseDigest(parts[3])
	path, err5 := strconv.Unquote(parts[4])
	if errors.Join(err1, err2, err3, err4, err5) == nil {
		m.files[path] = memo{position, size, modTime, digest}
	}
}

func (m *memory) set(path string, f memo) {
	if m.files[path] == f {
		return
	}
	m.files[path] = f
	m.lines++
	fmt.Fprintf(&m.pending, "file %d %d %d %s %s\n", f.position, f.size, f.modTime, f.digest, strconv.Quote(path))
}

func (m *memory) forget(path string) {
	if _, known := m.files[path]; known {
		delete(m.files, path)
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
	if m.lines > 2*len(m.files)+1000 {
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
	files, settled := m.files, m.settled
	m.files, m.settled, m.lines = map[string]memo{}, 0, 1
	m.pending.Reset()
	fmt.Fprintf(&m.pending, "%s%s\n", memoryHeader, root)
	for path, f := range files {
		m.set(path, f)
	}
	m.settle(settled)
	tmp := m.file + ".new"
	err := os.WriteFile(tmp, m.pending.Bytes(), 0o666)
	m.pending.Reset()
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

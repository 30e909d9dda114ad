package mirror

import (
	"iter"
	"maps"
	"path/filepath"
	"strings"
)

// Roots returns the roots that have a memory, as these say themselves.
func (s *Mirrors) Roots() (roots []string) {
	for text := range memories(s.folder) {
		line, _, whole := strings.Cut(string(text), "\n")
		if root, found := strings.CutPrefix(line, memoryHeader); whole && found && filepath.IsAbs(root) {
			roots = append(roots, root)
		}
	}
	return roots
}

// Memos returns what is known of the files of a root; nothing if its memory cannot be read.
func (s *Mirrors) Memos(root string) iter.Seq2[string, Memo] {
	m, err := loadMemory(s.folder, root)
	if err != nil {
		return maps.All(map[string]Memo{})
	}
	return m.All()
}

// Mend takes out of a root's memory the lines that cannot be read, and what is not to be kept.
// The log ends at a position. It returns how many lines these were, and the paths. The lock
// must be held.
func (s *Mirrors) Mend(
	root string, end uint64, isKept func(path string, m Memo) bool,
) (broken int, forgotten []string, err error) {
	m, err := loadMemory(s.folder, root)
	if err != nil {
		return 0, nil, err
	}
	broken = m.saved.broken()
	for path, memo := range maps.Collect(m.All()) {
		if !isKept(path, memo) {
			m.Forget(path)
			forgotten = append(forgotten, path)
		}
	}
	if broken+len(forgotten) == 0 && m.Settled <= end {
		return 0, nil, nil
	}
	if m.Settled = min(m.Settled, end); m.IsNew { // the line is lost
		m.Settled = end
	}
	return broken, forgotten, m.rewrite()
}

// broken returns how many lines say nothing.
func (s *savedLines) broken() (n int) {
	for line := range strings.Lines(s.text) {
		line = strings.TrimRight(line, "\r\n")
		_, whole := readFileLine(line)
		isOther := line == "" || strings.HasPrefix(line, memoryHeader) || strings.HasPrefix(line, lineSettled)
		if !whole && !isOther {
			n++
		}
	}
	return n
}

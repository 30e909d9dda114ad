package run

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"filebus/materialize/layout"
)

// maxPatch is the size of the largest diff.patch, in bytes, about: 1.3 million
// tokens, more than anybody reads.
const maxPatch = 5 << 20

// A patch collects the difference of two trees, file by file. Of a file that would
// make it too large only the header stays.
type patch struct {
	limit   int
	text    []byte
	file    []byte // the lines of the current file
	changes []layout.SnapshotChange
	total   int // files
	unnamed int // of them: even their headers were too much
	added   int
	removed int

	now    layout.SnapshotChange
	header int // bytes of file before its first hunk
	over   bool
	midway bool // the next piece goes on with a line
}

// write takes the next line, or the next piece of a long one.
func (p *patch) write(line []byte) error {
	begins := !p.midway
	p.midway = !bytes.HasSuffix(line, []byte("\n"))
	if begins {
		p.look(line)
	}
	if len(p.text)+len(p.file)+len(line) > p.limit && p.header > 0 {
		p.over = true
	}
	if !p.over {
		p.file = append(p.file, line...)
	}
	return nil
}

// look learns from a line about the file that it belongs to. Changed lines begin
// with a space or a sign, so no other line looks like a header.
func (p *patch) look(line []byte) {
	text := strings.TrimRight(string(line[:min(len(line), 4096)]), "\r\n")
	rest := func(prefix string) (string, bool) { return strings.CutPrefix(text, prefix) }
	if names, found := rest("diff --git "); found {
		p.end()
		p.now = layout.SnapshotChange{Path: pathOfHeader(names), Status: "changed"}
		return
	}
	switch {
	case strings.HasPrefix(text, "@@ ") && p.header == 0:
		p.header = len(p.file)
		return
	case p.header > 0 && strings.HasPrefix(text, "+"):
		p.now.Added++
	case p.header > 0 && strings.HasPrefix(text, "-"):
		p.now.Removed++
	}
	if p.header > 0 {
		return
	}
	switch {
	case strings.HasPrefix(text, "new file mode"):
		p.now.Status = "added"
	case strings.HasPrefix(text, "deleted file mode"):
		p.now.Status = "deleted"
	case strings.HasPrefix(text, "new mode"):
		p.now.Status = "mode"
	case strings.HasPrefix(text, "index ") && p.now.Status == "mode":
		p.now.Status = "changed"
	case strings.HasPrefix(text, "Binary files "):
		p.now.Binary = true
	}
	if was, found := rest("rename from "); found {
		p.now.Was, p.now.Status = unquotePath(was), "renamed"
	}
	if is, found := rest("rename to "); found {
		p.now.Path = unquotePath(is)
	}
}

// end ends the current file.
func (p *patch) end() {
	if len(p.file) > 0 {
		if p.over {
			p.now.Cut = true
			p.file = fmt.Appendf(p.file[:p.header], "# left out: %d lines added, %d removed\n", p.now.Added, p.now.Removed)
		}
		if len(p.text)+len(p.file) > p.limit+p.limit/10 {
			p.now.Cut = true
			p.unnamed++
		} else {
			p.text = append(p.text, p.file...)
		}
		p.total++
		p.added += p.now.Added
		p.removed += p.now.Removed
		if len(p.changes) < layout.MaxSnapshotChanges {
			p.changes = append(p.changes, p.now)
		}
	}
	p.file, p.header, p.over = p.file[:0], 0, false
}

// cut returns how many files are only named.
func (p *patch) cut() (n int) {
	for _, c := range p.changes {
		if c.Cut {
			n++
		}
	}
	return n
}

// pathOfHeader returns the path of "a/x b/x", whose two halves are the same but
// for a rename, which further lines tell.
func pathOfHeader(names string) string {
	if strings.HasPrefix(names, `"`) {
		if _, second, found := strings.Cut(names, `" "`); found {
			return strings.TrimPrefix(unquotePath(`"`+second), "b/")
		}
	}
	half := names[len(names)/2:]
	if i := strings.Index(half, "b/"); i >= 0 && i < 3 {
		return half[i+len("b/"):]
	}
	_, second, _ := strings.Cut(names, " b/")
	return second
}

// unquotePath reads a path that git has put between quotes.
func unquotePath(path string) string {
	if plain, err := strconv.Unquote(path); err == nil && strings.HasPrefix(path, `"`) {
		return plain
	}
	return path
}

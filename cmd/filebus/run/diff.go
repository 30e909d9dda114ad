package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"filebus/materialize/layout"
	"filebus/query"
)

// diff makes diff.patch: the difference of two trees of git, or else a list of
// the files that have changed.
func (t *taking) diff(ctx context.Context) ([]byte, error) {
	g, err := t.git(ctx, t.manifest.Run)
	switch {
	case errors.Is(err, errNoGit):
		return t.diffFiles(ctx, err)
	case err != nil:
		return nil, err
	}
	if t.start != nil && t.start.Tree == "" && len(t.start.Files) > 0 {
		return t.diffFiles(ctx, errors.New("the loop began before there was a git repository"))
	}
	return t.diffTrees(ctx, g)
}

// The ways in which a snapshot finds the changes of a loop.
const (
	methodGit   = "git"   // the difference of two trees of git
	methodFiles = "files" // size, time and digest of each file
)

// maxChanges is how many changed files a manifest names.
const maxChanges = 1000

// diffTrees makes diff.patch with git.
func (t *taking) diffTrees(ctx context.Context, g *gitTree) ([]byte, error) {
	m := &t.manifest
	m.Method = methodGit
	if m.To.Tree == "" {
		if err := t.endWithGit(ctx, g); err != nil {
			return nil, err
		}
	} else {
		t.leftOut(t.next.LeftOut)
	}
	from, err := t.base(ctx, g)
	if err != nil {
		return nil, err
	}
	p := &patch{limit: maxPatch}
	if err := g.diff(ctx, from, m.To.Tree, p.write); err != nil {
		return nil, err
	}
	p.end()
	m.FilesChanged, m.LinesAdded, m.LinesRemoved, m.Changed = p.total, p.added, p.removed, p.changes
	if p.cut > 0 {
		t.note("of %d changed files only the names are kept: the patch would be larger than %d bytes", p.cut, maxPatch)
	}
	if p.unnamed > 0 {
		t.note("%d changed files are not in the patch at all", p.unnamed)
	}
	return append(t.header(layout.DiffStat{Files: p.total, Added: p.added, Removed: p.removed}.String()), p.text...), nil
}

// base returns the tree at the loop's beginning. If nothing was noted, or what was
// is gone, it is the commit of then, or that which is checked out.
func (t *taking) base(ctx context.Context, g *gitTree) (string, error) {
	from := &t.manifest.From
	switch {
	case from.Tree != "" && g.has(ctx, from.Tree):
		return from.Tree, nil
	case from.Tree != "" && from.Commit != "" && g.has(ctx, from.Commit):
		t.note("the tree of the loop's beginning is gone: the changes are those since its commit")
		return from.Commit, nil
	case from.Tree != "":
		t.note("the tree of the loop's beginning is gone: the changes are those since the commit that is checked out")
	}
	from.Tree, from.Commit = "", g.commit(ctx)
	if from.Commit != "" {
		return from.Commit, nil
	}
	empty, err := g.Run(ctx, nil, nil, "hash-object", "-t", "tree", "--stdin") // which every repository knows
	return strings.TrimSpace(string(empty)), err
}

// endWithGit notes the loop's end: now.
func (t *taking) endWithGit(ctx context.Context, g *gitTree) (err error) {
	var leftOut []string
	m := &t.manifest
	m.To.Commit = g.commit(ctx)
	if m.To.Tree, leftOut, err = g.capture(ctx); err != nil {
		return err
	}
	t.leftOut(leftOut)
	m.To.Position, err = query.Position(ctx, t.w.Store)
	return err
}

// leftOut notes files that count neither at the beginning nor at the end.
func (t *taking) leftOut(files []string) {
	const most = 20
	for _, f := range files[:min(len(files), most)] {
		t.note("left out: %s", f)
	}
	if len(files) > most {
		t.note("left out: %d files more", len(files)-most)
	}
}

// header returns the lines that stand before the patch. Programs that apply
// patches skip them.
func (t *taking) header(counts string) []byte {
	m := t.manifest
	from := "its beginning"
	from = cmp.Or(m.Started, from)
	if m.From.Commit != "" {
		from += ", commit " + m.From.Commit
	}
	text := fmt.Appendf(nil, "# %s/loop-%d: %s since %s\n", m.Run, m.Loop, counts, from)
	for _, note := range m.Notes {
		text = fmt.Appendf(text, "# %s\n", strings.Join(strings.Fields(note), " "))
	}
	return append(text, '\n')
}

// diffFiles makes diff.patch without git: it says which files have changed, not
// how.
func (t *taking) diffFiles(ctx context.Context, why error) ([]byte, error) {
	m := &t.manifest
	m.Method = methodFiles
	t.note("%v: this says which files have changed, by size, time and SHA-256, not how", why)
	before, end := filesOf(t.start), t.next
	if end == nil {
		end = &layout.LoopStart{}
		var err error
		if end.Files, end.LeftOut, err = scanFiles(ctx, t.w.Root, t.excluded(), before); err != nil {
			return nil, err
		}
		if m.To.Position, err = query.Position(ctx, t.w.Store); err != nil {
			return nil, err
		}
	}
	t.leftOut(end.LeftOut)
	var changes []fileChange
	if t.start != nil {
		changes = compareFiles(before, end.Files)
	}
	var lines strings.Builder
	for i, c := range changes {
		if lines.Len() > maxPatch {
			fmt.Fprintf(&lines, "# and %d files more\n", len(changes)-i)
			break
		}
		lines.WriteString(c.line)
	}
	m.FilesChanged = len(changes)
	for _, c := range changes[:min(len(changes), maxChanges)] {
		m.Changed = append(m.Changed, layout.SnapshotChange{Path: c.path, Status: c.status})
	}
	return append(t.header(fmt.Sprintf("changed files: %d,", len(changes))), lines.String()...), nil
}

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
	cut     int // of changes: only named
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
	if names, found := strings.CutPrefix(text, "diff --git "); found {
		p.end()
		p.now = layout.SnapshotChange{Path: pathOfHeader(names), Status: "changed"}
		return
	}
	switch word, rest, _ := strings.Cut(text, " "); {
	case word == "@@" && p.header == 0:
		p.header = len(p.file)
	case p.header > 0 && strings.HasPrefix(text, "+"):
		p.now.Added++
	case p.header > 0 && strings.HasPrefix(text, "-"):
		p.now.Removed++
	case p.header > 0:
	case strings.HasPrefix(text, "new file mode"):
		p.now.Status = "added"
	case strings.HasPrefix(text, "deleted file mode"):
		p.now.Status = "deleted"
	case strings.HasPrefix(text, "new mode"):
		p.now.Status = "mode"
	case word == "index" && p.now.Status == "mode":
		p.now.Status = "changed"
	case strings.HasPrefix(text, "Binary files "):
		p.now.Binary = true
	case strings.HasPrefix(text, "rename from "):
		p.now.Was, p.now.Status = unquotePath(strings.TrimPrefix(rest, "from ")), "renamed"
	case strings.HasPrefix(text, "rename to "):
		p.now.Path = unquotePath(strings.TrimPrefix(rest, "to "))
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
		if len(p.changes) < maxChanges {
			p.changes = append(p.changes, p.now)
			if p.now.Cut {
				p.cut++
			}
		}
	}
	p.file, p.header, p.over = p.file[:0], 0, false
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

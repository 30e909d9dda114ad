package run

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
)

// A Comparison says what came between the ends of two loops.
type Comparison struct {
	From         string                  `json:"from"` // RUN/loop-N
	To           string                  `json:"to"`
	Issues       []layout.CompletedIssue `json:"issues"` // completed after the first, up to the second
	FilesChanged int                     `json:"files_changed"`
	Files        []string                `json:"files"` // the first ones, with how they were changed
	State        []string                `json:"state"` // what differs in the session state, a line each
	// Missing are the loops between the two that no snapshot was taken of: what
	// they did is not in Issues and, without git, not in Files.
	Missing []string `json:"missing,omitempty"`
	Diff    string   `json:"diff,omitempty"` // of one file, for others to fill in
	Left    int      `json:"left,omitempty"` // tokens of it that are missing
}

// Compare compares the snapshots that two texts name; see Find.
func (b *Book) Compare(ctx context.Context, first, second string) (*Comparison, error) {
	from, to, err := b.findBoth(ctx, first, second)
	if err != nil {
		return nil, err
	}
	c := &Comparison{From: from.Name(), To: to.Name()}
	steps, err := b.between(ctx, from, to, c)
	if err != nil {
		return nil, err
	}
	for _, s := range steps {
		issues, err := b.textOf(ctx, s, layout.SnapshotIssues)
		if err != nil {
			return nil, err
		}
		c.Issues = append(c.Issues, layout.ParseCompletedIssues(issues)...)
	}
	if err := b.compareFiles(ctx, from, to, steps, c); err != nil {
		return nil, err
	}
	old, now, err := b.textsIn(ctx, from, to, layout.SnapshotState)
	before, _ := layout.ParseState(old)
	after, _ := layout.ParseState(now)
	c.State = compareStates(before, after)
	return c, err
}

func (b *Book) findBoth(ctx context.Context, first, second string) (from, to *Snapshot, err error) {
	if from, err = b.Find(ctx, first); err == nil {
		to, err = b.Find(ctx, second)
	}
	return from, to, err
}

// textOf reads a file of a snapshot; nothing if it has none of that name.
func (b *Book) textOf(ctx context.Context, s *Snapshot, name string) ([]byte, error) {
	f, err := s.file(name)
	if err != nil {
		return nil, nil // snapshots of others may lack it
	}
	return b.text(ctx, f.Version)
}

// textsIn reads a file of two snapshots.
func (b *Book) textsIn(ctx context.Context, from, to *Snapshot, name string) (old, now []byte, err error) {
	if old, err = b.textOf(ctx, from, name); err == nil {
		now, err = b.textOf(ctx, to, name)
	}
	return old, now, err
}

// between returns the snapshots after the first, up to the second, of a run; of
// two runs, or backwards, the second alone.
func (b *Book) between(ctx context.Context, from, to *Snapshot, c *Comparison) ([]*Snapshot, error) {
	if from.Run != to.Run || from.Loop >= to.Loop {
		return []*Snapshot{to}, nil
	}
	all, err := b.Snapshots(ctx, from.Run)
	if err != nil {
		return nil, err
	}
	var steps []*Snapshot
	for loop := from.Loop + 1; loop <= to.Loop; loop++ {
		i := slices.IndexFunc(all, func(s *Snapshot) bool { return s.Loop == loop })
		if i < 0 {
			if len(c.Missing) < 20 {
				c.Missing = append(c.Missing, fmt.Sprintf("loop-%d", loop))
			}
			continue
		}
		if err := b.ReadManifest(ctx, all[i]); err != nil {
			return nil, err
		}
		steps = append(steps, all[i])
	}
	return steps, nil
}

// compareFiles finds the files that differ: from the trees of git or, without
// them, as the snapshots say.
func (b *Book) compareFiles(ctx context.Context, from, to *Snapshot, steps []*Snapshot, c *Comparison) error {
	p := &patch{}
	err := b.diffBetween(ctx, from, to, nil, p.write)
	p.end()
	files := p.changes
	c.FilesChanged = p.total
	if errors.Is(err, errNoGit) {
		err = nil
		files, c.FilesChanged = changesOf(steps)
	}
	const comparedFiles = 100 // how many files a comparison names
	c.Files = markdown.Each(files[:min(len(files), comparedFiles)], changeText)
	return err
}

// changesOf returns the files that snapshots say were changed, by path, each once,
// and how many they are with those that they do not name.
func changesOf(steps []*Snapshot) (files []layout.SnapshotChange, total int) {
	seen := map[string]int{}
	for _, s := range steps {
		if s.Manifest == nil {
			continue
		}
		for _, change := range s.Manifest.Changed {
			if i, found := seen[change.Path]; found {
				files[i].Added += change.Added
				files[i].Removed += change.Removed
				continue
			}
			seen[change.Path] = len(files)
			files = append(files, change)
		}
		total = max(total+s.FilesChanged-len(s.Manifest.Changed), 0)
	}
	slices.SortFunc(files, func(a, b layout.SnapshotChange) int { return strings.Compare(a.Path, b.Path) })
	return files, total + len(files)
}

// diffBetween writes the difference of the work trees at the ends of two loops,
// or returns errNoGit if they were not kept.
func (b *Book) diffBetween(ctx context.Context, from, to *Snapshot, only []string, write func([]byte) error) error {
	if from.Manifest == nil || to.Manifest == nil || from.Manifest.To.Tree == "" || to.Manifest.To.Tree == "" {
		return fmt.Errorf("%w: the snapshots have no trees of git", errNoGit)
	}
	g, err := b.git(ctx, from.Run)
	if err != nil {
		return err
	}
	for _, tree := range []string{from.Manifest.To.Tree, to.Manifest.To.Tree} {
		if !g.has(ctx, tree) {
			return fmt.Errorf("%w: the tree %s is gone", errNoGit, tree)
		}
	}
	return g.diff(ctx, from.Manifest.To.Tree, to.Manifest.To.Tree, only, write)
}

// CompareFile returns the difference of one file as diff -u prints it: of the snapshots, such as
// state.md, or of the workspace, by its path. It is empty if they are the same.
func (b *Book) CompareFile(ctx context.Context, first, second, name string) ([]byte, error) {
	from, to, err := b.findBoth(ctx, first, second)
	if err != nil {
		return nil, err
	}
	_, errFrom := from.file(name)
	_, errTo := to.file(name)
	if errFrom == nil || errTo == nil {
		old, now, err := b.textsIn(ctx, from, to, name)
		return unifiedDiff(from.Name()+"/"+name, to.Name()+"/"+name, old, now), err
	}
	p := &patch{limit: maxPatch}
	err = b.diffBetween(ctx, from, to, []string{name}, p.write)
	if errors.Is(err, errNoGit) {
		return nil, errTo
	}
	p.end()
	return p.text, err
}

// unifiedDiff returns the difference of two texts as diff -u prints it, or nothing if
// they are the same.
func unifiedDiff(oldName, newName string, a, b []byte) []byte {
	_, text, _ := bytes.Cut(diff.Diff(oldName, a, newName, b), []byte("\n")) // without "diff old new"
	return text
}

// compareStates says in lines what differs between two session states.
func compareStates(a, b layout.State) []string {
	var lines []string
	for _, f := range []struct{ what, from, to string }{
		{"run", a.RunID, b.RunID}, {"loop", a.Loop, b.Loop}, {"focus", a.Focus, b.Focus},
		{"ended", a.Ended, b.Ended},
	} {
		if f.from != f.to {
			lines = append(lines, fmt.Sprintf("%s: %s -> %s", f.what, cmp.Or(f.from, "none"), cmp.Or(f.to, "none")))
		}
	}
	before, after := stateLists(a), stateLists(b)
	for i, what := range []string{"at work", "ended", "history"} {
		lines = appendMissing(lines, "+ "+what+": ", after[i], before[i])
		lines = appendMissing(lines, "- "+what+": ", before[i], after[i])
	}
	return lines
}

// appendMissing appends the texts of a list that another lacks, with a lead.
func appendMissing(lines []string, lead string, list, other []string) []string {
	isThere := func(text string) bool { return slices.Contains(other, text) }
	missing := slices.DeleteFunc(slices.Clone(list), isThere)
	return append(lines, markdown.Each(missing, func(text string) string { return lead + text })...)
}

// stateLists returns who is at work, who has ended and the history of a state.
func stateLists(s layout.State) [3][]string {
	row := func(a layout.Agent) string {
		return markdown.SingleSpaced(a.ID + " " + a.Task + " " + a.Outcome + " " + a.Duration)
	}
	return [3][]string{markdown.Each(s.Running, row), markdown.Each(s.Completed, row), s.History}
}

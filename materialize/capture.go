package materialize

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/store"
	"filebus/store/record"
)

// CaptureOptions say how a folder is taken in.
type CaptureOptions struct {
	Tree     record.Tree     // the tree's name; required
	Profile  *layout.Profile // the folder is a root of this profile; nil: files are known by their paths
	DryRun   bool            // store nothing
	Progress func(done, total int)
}

// A CaptureReport says what a capture did.
type CaptureReport struct {
	Tree      record.Tree           `json:"tree"`
	Files     int                   `json:"files"`
	Bytes     int64                 `json:"bytes"`
	Changed   int                   `json:"changed_files"` // files of which something was stored
	Records   int                   `json:"records"`       // that were stored
	Removed   []string              `json:"removed"`       // paths that the folder has no more; they were retired
	Skipped   []mirror.Skipped      `json:"skipped"`
	Problems  []*layout.SyntaxError `json:"-"` // places where files depart from their layout; stored all the same
	Planned   []PlannedFile         `json:"planned,omitempty"`
	KindCount map[record.Kind]int   `json:"kinds"` // files and entries by kind
}

// A PlannedFile says what a file is taken to be.
type PlannedFile struct {
	Path  string        `json:"path"`
	Names []record.Name `json:"names"`
}

// Partial reports whether something was left out that should have been taken.
func (r *CaptureReport) Partial() bool {
	return slices.ContainsFunc(r.Skipped, func(s mirror.Skipped) bool { return !s.Harmless })
}

// The bounds of one transaction of a capture.
const (
	batchFiles = 512
	batchBytes = 8 << 20
)

// Capture takes a folder in as a tree: every regular file below it, known
// layouts and notes alike. What is stored already is not stored again, so a
// capture that was cut short is finished by running it again. A file that the
// tree had and the folder has no more is retired.
func (w *Workspace) Capture(ctx context.Context, dir string, opts CaptureOptions) (*CaptureReport, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	found, err := mirror.WalkTree(ctx, dir)
	if err != nil {
		return nil, err
	}
	profile, err := w.claimTree(opts.Tree, dir, opts.DryRun)
	if err != nil {
		return nil, err
	}
	c := &capture{opts: opts, walk: found}
	c.loader = loader{w: w, dir: dir, tree: opts.Tree, source: record.SourceCapture, place: profile.Recognize}
	if opts.Profile != nil {
		c.place = opts.Profile.Within
	}
	c.report = &CaptureReport{Tree: opts.Tree, Skipped: found.Skipped, KindCount: map[record.Kind]int{}, Removed: []string{}}
	if err := c.run(ctx); err != nil {
		return c.report, err
	}
	if !opts.DryRun {
		err = c.retireMissing(ctx)
	}
	return c.report, err
}

// claimTree notes which folder a tree was captured from, and refuses another:
// two projects that both call a folder "src" must not overwrite each other. With
// it the note keeps the profile that the tree's files are named by.
func (w *Workspace) claimTree(tree record.Tree, dir string, dryRun bool) (layout.Profile, error) {
	note := filepath.Join(w.Location.Store, "trees", string(tree))
	text, err := os.ReadFile(note)
	folder, rest, _ := strings.Cut(string(text), "\n")
	if err == nil && folder != dir {
		if _, err := os.Stat(folder); err == nil {
			return layout.Profile{}, record.Conflict.Errorf("the tree %s is a capture of %s", tree,
				folder).Because(ErrTreeTaken)
		}
	}
	profile, unknown := layout.ParseProfile(strings.TrimSpace(rest))
	if unknown != nil {
		profile = profileIn(dir)
	}
	if dryRun || err == nil && folder == dir {
		return profile, nil
	}
	if err := os.MkdirAll(filepath.Dir(note), 0o777); err != nil {
		return profile, err
	}
	return profile, os.WriteFile(note, []byte(dir+"\n"+profile.Name+"\n"), 0o666)
}

// profileIn returns the first profile whose root a folder has, so that the names
// of its files are as short as its own agents know them.
func profileIn(dir string) layout.Profile {
	for _, p := range layout.Profiles() {
		if info, err := os.Stat(filepath.Join(dir, p.Root)); err == nil && info.IsDir() {
			return p
		}
	}
	return layout.Claude()
}

// ErrTreeTaken says that a tree's name belongs to another folder.
const ErrTreeTaken record.Reason = "the tree is taken"

type capture struct {
	loader
	opts   CaptureOptions
	walk   *mirror.Walk
	report *CaptureReport
	done   int
}

// A loader reads files to be stored, in batches.
type loader struct {
	w      *Workspace
	dir    string // that the paths lie below
	tree   record.Tree
	source record.Source
	place  func(path string) layout.Place
}

// A batch is a run of files that go into one transaction.
type batch struct {
	sources []sourceFile
	states  []placeState
	plans   []*plan
	skipped []mirror.Skipped
	files   int
	err     error
}

// run reads and prepares batches on one goroutine's schedule while another
// writes the batch before.
func (c *capture) run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	ready := make(chan *batch, 1)
	go func() {
		defer close(ready)
		for _, files := range cutBatches(c.walk.Files) {
			b := c.prepare(ctx, files)
			select {
			case ready <- b:
			case <-ctx.Done():
				return
			}
			if b.err != nil {
				return
			}
		}
	}()
	for b := range ready {
		if b.err != nil {
			return b.err
		}
		if err := c.write(ctx, b); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func cutBatches(files []mirror.Stat) [][]mirror.Stat {
	var batches [][]mirror.Stat
	start, size := 0, int64(0)
	for i, f := range files {
		if i > start && (i-start == batchFiles || size+f.Size > batchBytes) {
			batches = append(batches, files[start:i])
			start, size = i, 0
		}
		size += f.Size
	}
	if start < len(files) {
		batches = append(batches, files[start:])
	}
	return batches
}

// prepare reads, parses, describes and compresses a batch on all cores.
func (c *loader) prepare(ctx context.Context, files []mirror.Stat) *batch {
	b := &batch{files: len(files)}
	read := make([]*sourceFile, len(files))
	reasons := make([]string, len(files))
	parallel(len(files), func(i int) { read[i], reasons[i] = c.read(ctx, files[i]) })
	for i, f := range read {
		if f == nil {
			b.skipped = append(b.skipped, mirror.Skipped{Path: files[i].Path, Reason: reasons[i]})
			continue
		}
		b.sources = append(b.sources, *f)
	}
	b.states = make([]placeState, len(b.sources))
	b.err = c.w.Store.View(ctx, func(tx *store.Tx) error {
		for i, f := range b.sources {
			if f.place.Kind == record.KindFrame {
				continue
			}
			old, err := seatedAt(tx, f.tree, f.path)
			if err == nil {
				b.states[i], err = stateOf(tx, f, old)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if b.err == nil {
		c.planBatch(ctx, b)
	}
	return b
}

// planBatch plans the files that are single records and changed; aggregates are
// planned when they are written, one by one.
func (c *loader) planBatch(ctx context.Context, b *batch) {
	b.plans = make([]*plan, len(b.sources))
	errs := make([]error, len(b.sources))
	parallel(len(b.sources), func(i int) {
		f, state := &b.sources[i], b.states[i]
		if f.place.Kind == record.KindFrame || isStored(*f, state.old) {
			return
		}
		if errs[i] = f.prepare(ctx, c.w.Store); errs[i] == nil {
			b.plans[i] = c.w.planWhole(*f, state)
		}
	})
	b.err = errors.Join(errs...)
}

// isStored reports whether a file's bytes are those of the version at its place.
func isStored(f sourceFile, old *seated) bool {
	if old == nil || old.name().Kind != f.place.Kind {
		return false
	}
	stored := old.version.Record
	if f.body.Size > 0 {
		return stored.Body == f.body.Digest
	}
	return stored.Size == int64(len(f.text)) && stored.Body == record.DigestOf(f.text)
}

// parallel calls do for 0 to n-1 on all cores.
func parallel(n int, do func(i int)) {
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}

// write stores a batch: the single records in one transaction, then each
// aggregate in one of its own.
func (c *capture) write(ctx context.Context, b *batch) error {
	c.report.Files += b.files - len(b.skipped)
	c.report.Skipped = append(c.report.Skipped, b.skipped...)
	if !c.opts.DryRun {
		files, records, _, err := c.apply(ctx, b)
		if errors.Is(err, store.ErrConflict) {
			files, records, err = 0, 0, c.writeSingly(ctx, b)
		}
		c.report.Changed += files
		c.report.Records += records
		if err != nil {
			return err
		}
	}
	for i, f := range b.sources {
		c.report.Bytes += max(int64(len(f.text)), f.body.Size)
		if err := c.writeOne(ctx, f, b.states[i]); err != nil {
			return err
		}
		if p := b.plans[i]; p != nil {
			c.report.Problems = append(c.report.Problems, p.problems...)
		}
		if err := f.body.Discard(); err != nil {
			return err
		}
	}
	c.done += b.files
	if c.opts.Progress != nil {
		c.opts.Progress(c.done, len(c.walk.Files))
	}
	return nil
}

// apply carries out the plans of a batch in one transaction and returns how many
// files and records were stored, and the position of the log after it.
func (c *loader) apply(ctx context.Context, b *batch) (files, records int, position uint64, err error) {
	err = c.w.Store.Update(ctx, func(tx *store.Tx) error {
		files, records = 0, 0
		for _, p := range b.plans {
			if p == nil {
				continue
			}
			n, err := p.apply(tx)
			if err != nil {
				return err
			}
			files, records = files+min(n, 1), records+n
		}
		position = tx.Position()
		return nil
	})
	return files, records, position, err
}

// writeSingly stores the files of a batch of which one lost a race, each by
// itself and planned anew.
func (c *capture) writeSingly(ctx context.Context, b *batch) error {
	for i, f := range b.sources {
		if b.plans[i] == nil {
			continue
		}
		result, err := c.w.storeFile(ctx, f)
		if err != nil {
			return err
		}
		c.report.Changed += min(result.records, 1)
		c.report.Records += result.records
	}
	return nil
}

// writeOne stores an aggregate, and counts a file that is a single record.
func (c *capture) writeOne(ctx context.Context, f sourceFile, state placeState) error {
	if f.place.Kind != record.KindFrame {
		name := state.fresh
		if state.old != nil && state.old.name().Kind == name.Kind {
			name = state.old.name()
		}
		c.count(f.path, name)
		return nil
	}
	if c.opts.DryRun {
		p, names, err := c.w.planFile(ctx, f, f.seated)
		if err == nil {
			c.report.Problems = append(c.report.Problems, p.problems...)
			c.count(f.path, names...)
		}
		return err
	}
	result, err := c.w.storeFile(ctx, f)
	if err != nil {
		return err
	}
	c.report.Changed += min(result.records, 1)
	c.report.Records += result.records
	c.report.Problems = append(c.report.Problems, result.problems...)
	c.count(f.path, result.names...)
	return nil
}

func (c *capture) count(path string, names ...record.Name) {
	for _, name := range names {
		c.report.KindCount[name.Kind]++
	}
	if c.opts.DryRun {
		c.report.Planned = append(c.report.Planned, PlannedFile{path, names})
	}
}

// retireMissing retires what the tree has and the folder has no more, except
// below folders that could not be read and files that were skipped.
func (c *capture) retireMissing(ctx context.Context) error {
	here := map[string]bool{}
	for _, f := range c.walk.Files {
		here[f.Path] = true
	}
	for _, s := range c.report.Skipped {
		here[s.Path] = true
	}
	return c.w.Store.Update(ctx, func(tx *store.Tx) error {
		gone, err := missing(tx, c.opts.Tree, func(path string) bool {
			return here[path] || slices.ContainsFunc(c.walk.Blind, func(dir string) bool { return dir == "" || strings.HasPrefix(path, dir+"/") })
		})
		if err != nil {
			return err
		}
		for _, v := range gone {
			if err := retireFile(tx, v); err != nil {
				return err
			}
			c.report.Removed = append(c.report.Removed, v.Record.Path)
		}
		return nil
	})
}

// missing returns the files of a tree whose paths are not here.
func missing(tx *store.Tx, tree record.Tree, here func(path string) bool) ([]store.Version, error) {
	var gone []store.Version
	prefix := store.PathValue(tree, "")
	for value, err := range tx.Values(store.FieldPath, prefix) {
		if err != nil {
			return nil, err
		}
		path := strings.TrimPrefix(value.Text, prefix)
		if here(path) {
			continue
		}
		for ref, err := range tx.Lookup(store.FieldPath, value.Text) {
			if err != nil {
				return nil, err
			}
			v, err := tx.Get(ref)
			if err != nil {
				return nil, err
			}
			gone = append(gone, v)
		}
	}
	return gone, nil
}

// retireFile retires a file's record, and the entries of an aggregate with it.
func retireFile(tx *store.Tx, v store.Version) error {
	s, err := seat(tx, v, tx.Head)
	if err != nil {
		return err
	}
	for _, name := range s.frame.slots() {
		if err := tx.Retire(name, store.Expect{}); err != nil {
			return err
		}
	}
	return tx.Retire(v.Record.Name, store.Current(v.Ref))
}

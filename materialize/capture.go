package materialize

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/materialize/plan"
	"filebus/materialize/secrets"
	"filebus/store"
	"filebus/store/record"
)

// CaptureOptions say how a folder is captured.
type CaptureOptions struct {
	Tree     record.Tree     // the tree's name; required
	Profile  *layout.Profile // the folder is a root of this profile; nil: files are known by their paths
	DryRun   bool            // store nothing
	Quick    bool            // leave files unread that have the size and time of when they were taken in
	MayEmpty bool            // a folder that has no files any more is taken as it is
	Again    bool            // what was destroyed before may come in
	MayMove  bool            // the tree may be that of a folder that is gone
	Rules    func(*Rules)    // changes what is remembered of the tree; nil: it holds
	Progress func(done, total int)
}

// A CaptureReport says what a capture did.
type CaptureReport struct {
	Tree      record.Tree           `json:"tree"`
	Files     int                   `json:"files"`
	Bytes     int64                 `json:"bytes"`
	Changed   int                   `json:"changed_files"` // files of which something was stored
	Added     int                   `json:"new_files"`     // of those, at paths that had none
	Records   int                   `json:"records"`       // that were stored
	Removed   []string              `json:"removed"`       // paths that the folder has no more; they were retired
	Moved     []MovedFile           `json:"moved"`         // of the removed, where their bytes stand now
	Rules     Rules                 `json:"-"`
	LeftOut   []mirror.LeftOut      `json:"left_out"`         // by a rule
	Unused    []string              `json:"-"`                // patterns of the rules that matched nothing
	Hidden    []HiddenFile          `json:"hidden,omitempty"` // of that, what an earlier capture took in
	Skipped   []mirror.Skipped      `json:"skipped"`
	Problems  []*layout.SyntaxError `json:"-"` // places where files depart from their layout; stored all the same
	Planned   []plannedFile         `json:"planned,omitempty"`
	KindCount map[record.Kind]int   `json:"kinds"`             // files and entries by kind
	Secrets   []Secret              `json:"secrets,omitempty"` // that were found in the files, the first of them
}

// A HiddenFile was taken in and is left out now: its record was retired.
type HiddenFile struct {
	Path string      `json:"path"`
	Name record.Name `json:"name"`
}

// A plannedFile says what a file is taken to be.
type plannedFile struct {
	Path  string        `json:"path"`
	Names []record.Name `json:"names"`
}

// Partial reports whether something was left out that should have been taken.
func (r *CaptureReport) Partial() bool {
	return slices.ContainsFunc(r.Skipped, func(s mirror.Skipped) bool { return !s.Harmless })
}

// The bounds of one transaction of a capture.
const (
	batchFiles = 2048
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
	tree, err := w.claimTree(opts.Tree, dir, opts.MayMove)
	if err != nil {
		return nil, err
	}
	if opts.Rules != nil {
		opts.Rules(&tree.Rules)
	}
	if opts.Profile != nil {
		tree.Profile, tree.IsRoot = *opts.Profile, true
	} else if tree.IsRoot { // by an earlier capture
		tree.Profile, tree.IsRoot = profileIn(dir), false
	}
	stored, err := w.StoredPaths(ctx, opts.Tree) // what comes in from here on is not retired
	if err != nil {
		return nil, err
	}
	found, err := w.walkTree(ctx, dir, tree)
	if err != nil {
		return nil, err
	}
	c := &capture{opts: opts, walk: found, begun: time.Now(), stored: stored, added: map[record.Digest][]string{}}
	if !opts.MayEmpty {
		err = c.checkEmpty(dir)
	}
	if tree.Captured = w.now(); err == nil && !opts.DryRun {
		err = w.saveTree(tree)
	}
	if err != nil {
		return nil, err
	}
	c.seen = w.recall(tree)
	c.fresh = slices.DeleteFunc(slices.Clone(found.Files), c.isSeen)
	c.loader = loader{w: w, dir: dir, tree: opts.Tree, source: record.SourceCapture, again: opts.Again, place: w.placeIn(dir, tree.place())}
	if !opts.DryRun {
		c.changed = changeTimes(ctx, mirror.NewRepository(dir, w.Settings.Variables), c.fresh)
	}
	c.report = &CaptureReport{
		Tree: opts.Tree, Rules: tree.Rules, Skipped: append([]mirror.Skipped{}, found.Skipped...),
		KindCount: map[record.Kind]int{}, Removed: []string{}, Moved: []MovedFile{},
		LeftOut: append([]mirror.LeftOut{}, found.LeftOut...), Unused: found.Unused(),
	}
	if err := c.run(ctx); err != nil {
		return c.report, err
	}
	if err = c.retireMissing(ctx); err == nil && !opts.DryRun {
		_ = c.seen.Save() // what it lacks is read again
	}
	return c.report, err
}

// walkTree lists the files of a tree's folder, without the store if that lies there.
func (w *Workspace) walkTree(ctx context.Context, dir string, tree *Tree) (*mirror.Walk, error) {
	found, err := mirror.WalkTree(ctx, dir, w.filter(dir, tree.Rules, tree.place()))
	if own, relErr := filepath.Rel(dir, w.Location.Store); err == nil && relErr == nil && filepath.IsLocal(own) {
		own = filepath.ToSlash(own) + "/"
		found.Files = slices.DeleteFunc(found.Files, func(f mirror.Stat) bool { return strings.HasPrefix(f.Path, own) })
	}
	return found, err
}

// filter returns the filter of rules for what lies below a folder. No name makes a secret
// of a file that a layout knows by it; those of artifacts and the like are free.
func (w *Workspace) filter(dir string, rules Rules, place func(path string) layout.Location) *mirror.Filter {
	f := mirror.NewFilter(dir, rules)
	f.Variables = w.Settings.Variables
	f.Known = func(p string) bool {
		free := []record.Kind{record.KindNote, record.KindArtifact, record.KindDialogue, record.KindSnapshot}
		at := place(p)
		return !slices.Contains(free, at.Kind) && !at.IsOwn()
	}
	return f
}

type capture struct {
	loader
	opts   CaptureOptions
	walk   *mirror.Walk
	report *CaptureReport
	done   int
	begun  time.Time                  // by the clock of the disk: before files are read
	stored map[string]uint64          // paths the tree had before the folder was looked at, and the newest position of each
	seen   *mirror.Memory             // of the files as they were taken in
	fresh  []mirror.Stat              // files that were not taken in as their size and time are
	added  map[record.Digest][]string // files at paths that had none
}

// A loader reads files to be stored, in batches.
type loader struct {
	w      *Workspace
	dir    string // that the paths lie below
	tree   record.Tree
	source record.Source
	again  bool // what was destroyed before may come in
	place  func(path string) layout.Location
	// changed tells when a file was changed, once that is needed; nil: nobody needs it.
	changed func(mirror.Stat) time.Time
}

// A source is a file that was found in a folder, to be stored.
type source struct {
	plan.File
	stat    mirror.Stat   // as it was listed
	at      plan.Single   // what the store has at its place
	content store.Content // of that, if it is as long
	plan    *plan.Plan    // nil: an aggregate
	err     error
}

// A batch is a run of files that go into one transaction.
type batch struct {
	sources []*source
	skipped []mirror.Skipped
	at      uint64 // the position of the log at which the store was looked at
}

// skip leaves files out that failed.
func (b *batch) skip(failed func(err error) bool) {
	b.sources = slices.DeleteFunc(b.sources, func(f *source) bool {
		if failed(f.err) {
			b.skipped = append(b.skipped, mirror.Skipped{Path: f.stat.Path, Reason: mirror.Cause(f.err)})
		}
		return failed(f.err)
	})
}

// run reads and prepares each batch while the one before is written.
func (c *capture) run(ctx context.Context) error {
	return ahead(ctx, slices.Values(cutBatches(c.unread())), c.prepare, c.write)
}

// ahead makes something of each item and takes it, while the next is being made.
func ahead[I, T any](
	ctx context.Context, items iter.Seq[I],
	prepare func(context.Context, I) (T, error), take func(context.Context, T) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	made := make(chan func() (T, error), 1)
	go func() {
		defer close(made)
		for item := range items {
			next, err := prepare(ctx, item)
			select {
			case made <- func() (T, error) { return next, err }:
			case <-ctx.Done():
				return
			}
		}
	}()
	for result := range made {
		next, err := result()
		if err == nil {
			err = take(ctx, next)
		}
		if err != nil {
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

// prepare reads, parses, describes and compresses a batch on all cores. It plans the
// files that are single records and changed; aggregates are planned when they are
// written, one by one.
func (l *loader) prepare(ctx context.Context, files []mirror.Stat) (*batch, error) {
	b := &batch{sources: make([]*source, len(files))}
	parallel(len(files), func(i int) { b.sources[i] = l.read(ctx, files[i]) })
	b.skip(func(err error) bool { return err != nil })
	err := l.w.Store.View(ctx, func(tx *store.Tx) error {
		b.at = tx.Position()
		for _, f := range b.sources {
			if err := f.lookUp(tx); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	parallel(len(b.sources), func(i int) { b.sources[i].err = l.plan(ctx, b.sources[i]) })
	b.skip(func(err error) bool { return errors.Is(err, ErrSecret) })
	for _, f := range b.sources {
		err = errors.Join(err, f.err)
	}
	return b, err
}

// lookUp reads what the store has at the place of a file that is a single record.
func (f *source) lookUp(tx *store.Tx) error {
	if f.Location.Kind == record.KindFrame {
		return nil
	}
	old, err := plan.At(tx, f.Tree, f.Path)
	if err == nil {
		f.at, err = plan.SingleOf(tx, f.File, old)
	}
	if err == nil && old != nil && old.Version.Record.Size == f.Size() {
		if f.content, err = tx.Content(old.Version.Record); errors.Is(err, store.ErrDamaged) {
			err = nil // its text is here
		}
	}
	return err
}

// plan plans a file that is a single record.
func (l *loader) plan(ctx context.Context, f *source) (err error) {
	old := f.at.Old
	switch isFrame := f.Location.Kind == record.KindFrame; {
	case !isFrame && isStored(&f.File, old) && f.content.Holds(f.Text, f.Body):
		f.plan = &plan.Plan{Names: []record.Name{old.Name()}}
		return nil
	case !isFrame && isStored(&f.File, old):
		f.plan, err = l.w.planner().Again(ctx, f.File, old)
		return err
	}
	if err = l.w.guardFile(&f.File); err != nil || f.Location.Kind == record.KindFrame {
		return err
	}
	if err = f.Prepare(ctx, l.w.Store); err == nil {
		f.plan = l.w.planner().Single(f.File, f.at)
	}
	return err
}

// isStored reports whether a file's bytes are those of the version at its place.
func isStored(f *plan.File, old *plan.State) bool {
	return old != nil && old.Name().Kind == f.Location.Kind &&
		old.Version.Record.Size == f.Size() && old.Version.Record.Body == f.Digest()
}

// parallel calls do for 0 to n-1 on all cores.
func parallel(n int, do func(i int)) {
	var wg sync.WaitGroup
	var begun atomic.Int64
	for range min(n, runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for i := int(begun.Add(1)); i <= n; i = int(begun.Add(1)) {
				do(i - 1)
			}
		})
	}
	wg.Wait()
}

// write stores a batch: the single records in one transaction, then each
// aggregate in one of its own.
func (c *capture) write(ctx context.Context, b *batch) error {
	c.report.Files += len(b.sources)
	c.report.Skipped = append(c.report.Skipped, b.skipped...)
	after, alone := uint64(0), false // a file lost a race: each is stored by itself and planned anew
	if !c.opts.DryRun {
		position, err := c.apply(ctx, b)
		if after, alone = position, errors.Is(err, store.ErrConflict); err != nil && !alone {
			return err
		}
	}
	for _, f := range b.sources {
		p, err := f.plan, f.err
		switch {
		case err != nil:
		case p == nil && c.opts.DryRun:
			p, err = c.w.planner().File(ctx, f.File, at(f.File))
		case p == nil, alone && len(p.Puts) > 0:
			p, err = c.w.storeFile(ctx, f.File)
		}
		if errors.Is(err, store.ErrBarred) {
			c.report.LeftOut = append(c.report.LeftOut, mirror.LeftOut{Path: f.Path, Rule: mirror.RuleDestroyed})
			p, err = &plan.Plan{}, nil
		}
		if err != nil {
			return err
		}
		c.count(f.File, p)
		if f.plan != nil && !alone {
			c.remember(f, p, b.at, after)
		}
		if err := f.Body.Discard(); err != nil {
			return err
		}
	}
	c.done += len(b.sources) + len(b.skipped)
	if c.opts.Progress != nil {
		c.opts.Progress(c.done, len(c.walk.Files))
	}
	return nil
}

// apply carries out the plans of a batch in one transaction and returns the position
// of the log after it.
func (l *loader) apply(ctx context.Context, b *batch) (position uint64, err error) {
	err = l.w.Store.Update(ctx, func(tx *store.Tx) error {
		for _, f := range b.sources {
			if f.plan == nil {
				continue
			}
			if f.err = f.plan.Admits(tx); errors.Is(f.err, store.ErrBarred) {
				f.plan = nil
				continue
			}
			if err := cmp.Or(f.err, f.plan.Apply(tx)); err != nil {
				return err
			}
		}
		position = tx.Position()
		return nil
	})
	return position, err
}

// count adds a file to the report.
func (c *capture) count(f plan.File, p *plan.Plan) {
	c.report.Bytes += f.Size()
	isChanged := p.Changed > 0 || c.opts.DryRun && len(p.Puts) > 0
	if isChanged {
		c.report.Changed++
	}
	if _, had := c.stored[f.Path]; !had && isChanged {
		c.report.Added++
		c.added[f.Digest()] = append(c.added[f.Digest()], f.Path)
	}
	c.report.Records += p.Changed
	c.report.Problems = append(c.report.Problems, p.Problems...)
	for _, name := range p.Names {
		c.report.KindCount[name.Kind]++
	}
	if c.opts.DryRun {
		c.report.Planned = append(c.report.Planned, plannedFile{f.Path, p.Names})
	}
}

// retireMissing retires what the tree had and the folder has no more, except
// below folders that could not be read and files that were skipped. What another process
// has stored since the folder was looked at stays.
func (c *capture) retireMissing(ctx context.Context) error {
	here := map[string]bool{}
	for _, f := range c.walk.Files {
		here[f.Path] = true
	}
	for _, s := range c.report.Skipped { // what a link or the like took the place of is gone
		here[s.Path] = !s.Harmless
	}
	leftOut := map[string]bool{}
	for _, l := range c.walk.LeftOut {
		leftOut[strings.TrimPrefix(l.Path, "./")] = true
	}
	var missing []string
	for p := range c.stored {
		isAbove := func(dir string) bool { return dir == "" || strings.HasPrefix(p, dir+"/") }
		if !here[p] && !slices.ContainsFunc(c.walk.Blind, isAbove) {
			missing = append(missing, p)
		}
	}
	slices.Sort(missing)
	in := c.w.Store.Update
	if c.opts.DryRun {
		in = c.w.Store.View
	}
	for paths := range slices.Chunk(missing, batchFiles) {
		var gone []store.Version
		if err := in(ctx, func(tx *store.Tx) (err error) {
			gone, err = c.retire(tx, paths)
			return err
		}); err != nil {
			return err
		}
		for _, v := range gone {
			if c.seen.Forget(v.Record.Path); isIn(leftOut, v.Record.Path) {
				c.report.Hidden = append(c.report.Hidden, HiddenFile{v.Record.Path, v.Record.Name})
			} else {
				c.report.Removed = append(c.report.Removed, v.Record.Path)
				if err := c.findMoved(ctx, v.Record); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// retire retires what stands at paths and stood there when the folder was looked at.
func (c *capture) retire(tx *store.Tx, paths []string) (gone []store.Version, err error) {
	for _, p := range paths {
		for at, err := range tx.Lookup(store.FieldPath, store.PathValue(c.opts.Tree, p)) {
			if err != nil {
				return nil, err
			}
			v, err := tx.Find(at)
			if err != nil {
				return nil, err
			}
			if v.Position <= c.stored[p] {
				gone = append(gone, v)
			}
		}
	}
	for _, v := range gone { // which were not changed while they were found
		if c.opts.DryRun {
			break
		}
		if err := retireFile(tx, v, nil); err != nil {
			return nil, err
		}
	}
	return gone, nil
}

// isIn reports whether a path, or a folder that it lies in, is one of those named: folders
// end with a slash, and "" is all.
func isIn(named map[string]bool, p string) bool {
	for dir := p; dir != ""; dir, _ = path.Split(strings.TrimSuffix(dir, "/")) {
		if named[dir] {
			return true
		}
	}
	return named[""]
}

// retireFile retires a file's record, and the entries of an aggregate with it, after do, which may
// be nil, has seen them all.
func retireFile(tx *store.Tx, v store.Version, do func(*store.Tx, []store.Version) error) error {
	s, err := plan.Read(tx, v, tx.Head, nil)
	if err != nil {
		return err
	}
	all := []store.Version{v}
	for _, name := range s.Frame.Slots() {
		all = append(all, s.Entries[name].Version)
	}
	if do != nil {
		err = do(tx, all)
	}
	for _, v := range slices.Backward(all) {
		if err == nil {
			err = tx.Retire(v.Record.Name, store.Current(v.Ref))
		}
	}
	return err
}

// read reads one file. A large one is streamed into a temporary body.
func (l *loader) read(ctx context.Context, stat mirror.Stat) *source {
	f := &source{stat: stat}
	f.File = plan.File{Tree: l.tree, Path: stat.Path, Location: l.place(stat.Path), Mode: stat.Mode, Source: l.source, Again: l.again}
	if l.changed != nil {
		f.Changed = func() time.Time { return l.changed(stat) }
	}
	f.err = readInto(ctx, l.w.Store, &f.File, filepath.Join(l.dir, filepath.FromSlash(stat.Path)), stat.Size)
	return f
}

// withFile does something with a file of the mirror that is to be stored. It must still be
// what was seen.
func (r *reconciler) withFile(ctx context.Context, seen mirror.File, do func(f plan.File) error) error {
	f := plan.File{Path: seen.Path, Location: r.w.recognise(seen.Path), Mode: seen.Mode, Source: record.SourceSync, Again: r.again}
	changed := r.dates(ctx)
	f.Changed = func() time.Time { return changed(seen.Stat) }
	file, err := r.File(ctx, f.Path, false)
	if err == nil {
		err = readInto(ctx, r.w.Store, &f, file, seen.Size)
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Body.Discard() }() // a temporary file, swept later if it stays
	if f.Digest() != seen.Digest {
		return mirror.ErrRaced
	}
	if err := r.w.guardFile(&f); err != nil {
		return err
	}
	return do(f)
}

// aggregateLimit is the size in bytes up to which a file is cut into entries: it
// must be held in memory for that. A larger one is a note.
const aggregateLimit = 64 << 20

// readInto reads the text of f from a file, or prepares its body if it is large, and
// makes sure that the file did not change meanwhile.
func readInto(ctx context.Context, s *store.Store, f *plan.File, file string, size int64) error {
	limit := int64(store.InlineLimit)
	switch {
	case f.Location.Kind == record.KindFrame && size > aggregateLimit:
		f.Location = layout.TooLarge(f.Path)
	case f.Location.Kind == record.KindFrame:
		limit = aggregateLimit
	}
	err := mirror.ReadStable(file, func(from *os.File, size int64) (n int64, err error) {
		if size > limit {
			looked := secrets.NewReader(from, false)
			f.Content, err = prepareStream(ctx, s, looked)
			f.Secrets, f.SecretCount = looked.Found, looked.Count
			return f.Body.Size, err
		}
		whole := bytes.NewBuffer(make([]byte, 0, size+bytes.MinRead))
		n, err = whole.ReadFrom(io.LimitReader(from, limit+1))
		f.Content = plan.Content{Text: whole.Bytes()}
		return n, err
	})
	if errors.Is(err, mirror.ErrRaced) {
		err = errors.Join(err, f.Body.Discard())
	}
	return err
}

// prepareStream prepares a body of any size in flat memory and keeps its
// beginning.
func prepareStream(ctx context.Context, s *store.Store, r io.Reader) (plan.Content, error) {
	head := &headWriter{limit: DescribeLimit}
	body, err := s.PrepareReader(ctx, io.TeeReader(r, head))
	c := plan.Content{Text: head.text, Body: body}
	if body.Size > int64(len(head.text)) {
		c.Words = head.words
	}
	return c, err
}

// A headWriter keeps the first limit bytes of what is written to it and counts
// the words of all, nearly: a word that two writes share may count twice.
type headWriter struct {
	text   []byte
	limit  int
	words  int
	inWord bool
}

func (h *headWriter) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), h.limit-len(h.text))]...)
	if h.words += markdown.Words(p); h.inWord && len(bytes.TrimLeft(p[:1], " \t\r\n\v\f")) > 0 {
		h.words-- // it goes on
	}
	h.inWord = len(bytes.TrimRight(p[len(p)-1:], " \t\r\n\v\f")) > 0
	return len(p), nil
}

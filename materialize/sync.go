package materialize

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/materialize/plan"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
)

// SyncOptions say how disk and store are brought in step.
type SyncOptions struct {
	DryRun      bool     // only say what would be done
	Repair      bool     // write back what was altered or rolled back on disk
	Accept      bool     // import files that hold an older version again
	Announced   bool     // take files also that were written in the last 2 s
	Finished    bool     // of those, the ones that nobody has open for writing
	CaptureOnly bool     // write no files
	Problems    bool     // report the places of all files that depart from their layouts, not only of those that changed
	TakeOver    bool     // make the outside folders of the store that stood here before the store's own
	TakeIn      []string // folders, absolute, in outside roots: look at their files, which stay their program's
	Progress    func(done, total int)
	// Restore says which files are written again; nil: none. A file may have been deleted
	// in this root, or never have been here.
	Restore func(path string, wasDeleted bool) bool
	Budget  time.Duration // stop looking after about this time; 0: never
}

// What sync did, or in a dry run would do, about a file. The words are printed.
const (
	actionCaptured   = "captured"    // the file's changes were stored
	actionWritten    = "written"     // the store's text was written
	actionDeleted    = "deleted"     // the file is gone, as the store retired it
	actionCleared    = "cleared"     // a deleted marker was retired
	actionRetired    = "retired"     // as was a note, or the entries of a file
	actionRenamed    = "renamed"     // the file of a record was moved
	actionMerged     = "merged"      // both had changed
	actionConflict   = "conflict"    // both had changed the same; the file's is kept beside
	actionRolledBack = "rolled back" // the file holds an older version: not captured
	actionAltered    = "altered"     // a write-once file was changed: kept as a note
	actionRestored   = "restored"    // the store's text was put back
	actionWaiting    = "waiting"     // the file is still being written
	actionApart      = "apart"       // the file has the place of a record of another store, and is none of it
	actionDestroyed  = "destroyed"   // the file was changed, and what it was made of is destroyed: not captured
	actionLeftOut    = "left out"    // the file had been captured, and a rule leaves it out by now
)

// A SyncedFile is a file that something was done about.
type SyncedFile struct {
	Path   string `json:"path"`
	Action string `json:"action"` // such as "captured"
	Detail string `json:"detail,omitempty"`
}

// A SyncReport says what a sync did in one root.
type SyncReport struct {
	Root      string                `json:"root"`
	Files     []SyncedFile          `json:"files"`
	LeftOut   []mirror.LeftOut      `json:"left_out,omitempty"` // by a rule
	News      []mirror.LeftOut      `json:"-"`                  // of that, what no sync has told before
	Skipped   []mirror.Skipped      `json:"skipped"`
	Kept      int                   `json:"kept,omitempty"`      // files left as they are, as git tracks them
	Unwritten int                   `json:"unwritten,omitempty"` // files left, where filebus writes nothing
	Left      []string              `json:"-"`                   // of all those, absolute, what the store has no more
	Unmade    int                   `json:"-"`                   // files that are not made, as git does not ignore them
	Git       string                `json:"git,omitempty"`       // why git could not be asked
	Problems  []*layout.SyntaxError `json:"-"`
	Found     []mirror.Stat         `json:"-"`        // all files on disk that belong to the mirror
	Unlooked  int                   `json:"unlooked"` // changed files that the budget left no time for
	TakenOver []string              `json:"-"`        // folders, absolute
	Back      []string              `json:"-"`        // files, and what of them is older, or less, than it was
	Failed    int                   `json:"-"`        // of the skipped: changes that could not be stored or written
	Unread    int                   `json:"-"`        // folders, with all below them, that it left no time for
	Watched   mirror.Watched        `json:"-"`        // where what happens next is seen
}

// Count returns how many files an action was taken on.
func (r *SyncReport) Count(action string) int {
	n := 0
	for _, f := range r.Files {
		if f.Action == action {
			n++
		}
	}
	return n
}

// Sync brings the files of a root and the store in step, both ways, by comparing
// each with the state in which they last agreed. Files that no layout recognises
// are never looked at.
func (w *Workspace) Sync(ctx context.Context, root string, opts SyncOptions) (*SyncReport, error) {
	report := &SyncReport{Root: root, Files: []SyncedFile{}, Skipped: []mirror.Skipped{}}
	peeked := *report
	seen, isInStep := w.peek(ctx, root, opts, &peeked) // who reads waits for a turn only to take something in
	if isInStep {
		return &peeked, nil
	}
	err := w.withMirror(ctx, root, func(r *reconciler) error {
		r.opts, r.report, r.seen = opts, report, seen
		err := r.run(ctx)
		if r.git != nil && r.git.Err() != nil {
			report.Git = r.git.Err().Error()
		}
		return err
	})
	return report, err
}

// peek looks at the files of a root without the mirror lock. It returns what it found, nil if that says nothing, and
// whether none of it is to be taken in. Only commands that read do so.
func (w *Workspace) peek(ctx context.Context, root string, opts SyncOptions, report *SyncReport) (*mirror.Walk, bool) {
	if !opts.CaptureOnly || !opts.Finished || opts.DryRun {
		return nil, false
	}
	m, err := w.mirrors.Peek(root, w.outside())
	if err != nil {
		return nil, false
	}
	defer m.Leave()
	r, isInStep := w.reconciler(m), false
	r.opts, r.report = opts, report
	found, _, err := r.look(ctx)
	if err == nil {
		gone, paths := r.candidates(ctx, found, map[string]bool{})
		isInStep = len(gone)+len(paths) == 0
	}
	return found, isInStep
}

// look lists the files on disk, and reports what is to be known of that.
func (r *reconciler) look(ctx context.Context) (found *mirror.Walk, deadline time.Time, err error) {
	if found, deadline, err = r.findFiles(ctx); err == nil {
		r.report.Skipped = append(r.report.Skipped, found.Skipped...)
		r.report.Watched, r.report.LeftOut, r.report.Found = found.Watched, found.LeftOut, found.Files
		r.found, r.syncs = found.Files, true
	}
	return found, deadline, err
}

func (r *reconciler) run(ctx context.Context) error {
	found, deadline, err := r.look(ctx)
	if err != nil {
		return err
	}
	touched, position, err := r.touched(ctx)
	if err != nil {
		return err
	}
	if err := r.addRestored(ctx, found, touched); err != nil {
		return err
	}
	if err := r.addMisnamed(ctx, touched); err != nil {
		return err
	}
	gone, paths := r.candidates(ctx, found, touched)
	damage, err := r.retireGone(ctx, gone)
	if err == nil {
		paths, err = r.importNew(ctx, found, paths, deadline)
	}
	if err != nil {
		return err
	}
	more, err := r.each(ctx, paths, deadline)
	if damage = errors.Join(damage, more); err != nil || damage != nil {
		return errors.Join(damage, err)
	}
	if !r.opts.CaptureOnly {
		err = r.w.findNews(r.report, r.opts.DryRun)
	}
	if r.opts.Problems {
		r.report.Problems = r.w.problems(found.Files)
	}
	if !r.opts.DryRun && !r.opts.CaptureOnly && r.report.Failed == 0 { // else the next sync tries again
		r.Memory.Settle(position)
	}
	return err
}

// problems returns where files depart from their layouts.
func (w *Workspace) problems(files []mirror.Stat) (all []*layout.SyntaxError) {
	for _, f := range files {
		in, size := w.openHere(f.Path)
		if in == nil {
			continue // it is gone
		}
		text, err := io.ReadAll(io.LimitReader(in, aggregateLimit))
		if err = errors.Join(err, in.Close()); err == nil && size <= aggregateLimit { // else it is one note
			_, found := w.recognise(f.Path).Parse(f.Path, text)
			all = append(all, found...)
		}
	}
	return all
}

// findNews picks what was left out and not told before, and remembers it.
func (w *Workspace) findNews(report *SyncReport, dryRun bool) error {
	news, err := w.untold("left-out", markdown.Each(report.LeftOut, func(l mirror.LeftOut) string { return l.Path }), dryRun)
	for _, l := range report.LeftOut {
		if news[l.Path] {
			report.News = append(report.News, l)
		}
	}
	return err
}

// untold returns which of some paths it has not returned before, and remembers them in a file of the mirror.
func (w *Workspace) untold(file string, paths []string, dryRun bool) (news map[string]bool, err error) {
	notes := folder.At(w.Location.Store).Sub("mirror")
	told, err := notes.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	known, more := map[string]bool{}, []byte(nil)
	for line := range strings.SplitSeq(string(told), "\n") {
		known[line] = true
	}
	news = map[string]bool{}
	for _, p := range paths {
		if line := strconv.Quote(p); !known[line] {
			news[p], more = true, append(more, line+"\n"...)
		}
	}
	if more == nil || dryRun {
		return news, nil
	}
	return news, notes.Append(file, more)
}

// NewPlaces returns the files of conventions that lie at places where none did before, by these places, and remembers the
// places unless it is a dry run.
func (w *Workspace) NewPlaces(files []mirror.Stat, dryRun bool) (map[string][]string, error) {
	at, folders := map[string][]string{}, w.Settings.Profile.Folders()
	for _, f := range files {
		isIn := func(place string) bool {
			rest, found := strings.CutPrefix(f.Path, place)
			return found && (rest == "" || rest[0] == '/')
		}
		if i := slices.IndexFunc(folders, isIn); i >= 0 {
			at[folders[i]] = append(at[folders[i]], f.Path)
		}
	}
	isOther := func(p string) bool { return w.recognise(p).Declared == "" }
	maps.DeleteFunc(at, func(_ string, files []string) bool {
		return !slices.ContainsFunc(files, func(p string) bool { return !isOther(p) })
	})
	news, err := w.untold("places", slices.Sorted(maps.Keys(at)), dryRun)
	for place, files := range at {
		if at[place] = slices.DeleteFunc(files, isOther); !news[place] {
			delete(at, place)
		}
	}
	return at, err
}

// each reconciles paths until a deadline, which may be zero. One lost body keeps no other
// file from being reconciled: that is the damage.
func (r *reconciler) each(ctx context.Context, paths []string, deadline time.Time) (damage, err error) {
	for i, p := range paths {
		if !deadline.IsZero() && time.Now().After(deadline) {
			r.report.Unlooked = len(paths) - i
			break
		}
		err := r.one(ctx, p)
		switch {
		case errors.Is(err, store.ErrDamaged):
			damage = errors.Join(damage, fmt.Errorf("%s: %w", p, err))
		case err != nil:
			return damage, err
		case r.opts.Progress != nil:
			r.opts.Progress(i+1, len(paths))
		}
	}
	return damage, nil
}

// findFiles lists the files on disk, and says until when they may be reconciled:
// when looking took the whole budget, half as much again is left for that. Only
// files that are there are imported then, so that a part of them will do.
func (r *reconciler) findFiles(ctx context.Context) (found *mirror.Walk, deadline time.Time, err error) {
	if r.opts.Budget > 0 {
		deadline = r.start.Add(r.opts.Budget)
	}
	if !r.opts.CaptureOnly {
		found, err = r.scan(ctx, time.Time{})
		return found, deadline, err
	}
	if found = r.seen; found == nil {
		found, err = r.scan(ctx, deadline)
	}
	if err != nil || deadline.IsZero() {
		return found, deadline, err
	}
	r.report.Unread = found.Unlooked
	if least := time.Now().Add(r.opts.Budget / 2); least.After(deadline) {
		deadline = least
	}
	return found, deadline, nil
}

// touched returns the paths of the own tree that the log names since the mirror
// was last reconciled, and the position of the log's end.
func (r *reconciler) touched(ctx context.Context) (paths map[string]bool, position uint64, err error) {
	paths, position = map[string]bool{}, r.Memory.Settled
	if r.opts.CaptureOnly {
		return paths, 0, nil
	}
	isDropped := false
	err = r.w.Store.EachEntry(ctx, position+1, func(tx *store.Tx, e store.Entry) error {
		position = e.Position
		v, err := tx.Get(e.Ref)
		if errors.Is(err, store.ErrDropped) {
			isDropped = true
			return nil
		}
		if err == nil && v.Record.Name.Tree == "" && v.Record.Path != "" {
			f, remembered := r.Memory.Get(v.Record.Path)
			isKnown := remembered && f.Position >= e.Position // disk and store agreed after this change
			paths[v.Record.Path] = paths[v.Record.Path] || !isKnown
		}
		return err
	})
	if err == nil && isDropped { // what was dropped does not say where it stood
		err = r.w.Store.View(ctx, func(tx *store.Tx) error {
			for p, f := range r.Memory.All() {
				if f.State == mirror.Agreed && !paths[p] {
					now, err := plan.At(tx, "", p)
					if paths[p] = now == nil; err != nil {
						return err
					}
				}
			}
			return nil
		})
	}
	maps.DeleteFunc(paths, func(_ string, is bool) bool { return !is })
	return paths, position, err
}

// addRestored adds the paths of the store whose files are to be written again.
func (r *reconciler) addRestored(ctx context.Context, found *mirror.Walk, paths map[string]bool) error {
	if r.opts.Restore == nil {
		return nil
	}
	add := func(p string) {
		if !found.Has(p) && r.isRestored(p, true) {
			paths[p] = true
		}
	}
	for p, f := range r.Memory.All() { // what was retired is in no look-up
		if f.State == mirror.Deleted {
			add(p)
		}
	}
	return r.w.Store.View(ctx, func(tx *store.Tx) error {
		prefix := store.PathValue("", "")
		for value, err := range tx.Values(store.FieldPath, prefix) {
			if err != nil {
				return err
			}
			add(strings.TrimPrefix(value.Text, prefix))
		}
		return nil
	})
}

// addMisnamed adds the paths of files that are, or are no more, of the kind of their folder.
func (r *reconciler) addMisnamed(ctx context.Context, paths map[string]bool) error {
	if r.opts.CaptureOnly {
		return nil
	}
	whole, noted := map[string]bool{}, map[string]bool{} // names are asked, not files: there are fewer
	err := r.w.Store.View(ctx, func(tx *store.Tx) error {
		for _, from := range []record.Name{{Kind: record.KindKnowledge, ID: record.WholeFile}, {Kind: record.KindNote}} {
			for n, err := range tx.Names(from) {
				p, isOf := strings.CutPrefix(n.Name.ID, from.ID)
				if err != nil {
					return err
				}
				if n.Name.Kind != from.Kind || n.Name.Tree != "" || !isOf {
					break
				}
				if from.ID != "" {
					whole[p] = true
				} else if at := r.w.recognise(p); isMisnamed(from.Kind, at) && at.Declared != "" {
					noted[p] = true // it was a note before its convention was known
				}
			}
		}
		return nil
	})
	for p := range whole {
		paths[p] = paths[p] || !isWholeEntry(r.w.recognise(p))
	}
	for _, f := range r.found {
		if noted[f.Path] || len(r.w.Settings.Kinds) > 0 && !whole[f.Path] && isWholeEntry(r.w.recognise(f.Path)) {
			paths[f.Path] = true
		}
	}
	maps.DeleteFunc(paths, func(_ string, misnamed bool) bool { return !misnamed })
	return err
}

// isMisnamed reports whether a file whose record is of a kind is to be one of another.
func isMisnamed(kind record.Kind, at layout.Location) bool {
	isNote := at.Declared != "" && kind == record.KindNote && at.Kind != record.KindNote
	return isNote || (kind == record.KindKnowledge) != isWholeEntry(at)
}

func isWholeEntry(at layout.Location) bool { return at.Kind == record.KindKnowledge }

// candidates returns the paths that may have something to be done about them: those at
// which no file is, which may have been moved, and the others, markers last, as they
// announce the other files.
func (r *reconciler) candidates(
	ctx context.Context, found *mirror.Walk, touched map[string]bool,
) (gone, paths []string) {
	remembered := 0
	for _, f := range found.Files {
		if f.Agreed && r.seen == nil {
			remembered++
			continue
		}
		known, ok := r.Memory.Get(f.Path)
		if ok && known.State != mirror.Deleted {
			remembered++
		}
		if !ok || !known.Matches(f) || known.State == mirror.Kept && (r.isAsked(f.Path, false) || r.opts.Accept) {
			paths = append(paths, f.Path)
			delete(touched, f.Path)
		}
	}
	if r.report.Unread == 0 {
		for p := range r.missed(remembered) {
			if !found.Has(p) && (!r.opts.CaptureOnly || r.isGone(ctx, p)) {
				touched[p] = true
			}
		}
	}
	for p := range touched {
		if !found.Has(p) && r.rank(p) == 0 {
			gone = append(gone, p)
		} else {
			paths = append(paths, p)
		}
	}
	slices.Sort(gone)
	slices.SortFunc(paths, func(a, b string) int {
		return cmp.Or(cmp.Compare(r.rank(a), r.rank(b)), strings.Compare(a, b))
	})
	return gone, paths
}

// missed returns the paths at which a file was, here or in another root, while some of those
// remembered here were found.
func (r *reconciler) missed(found int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for p := range r.leftElsewhere() {
			if !yield(p) {
				return
			}
		}
		if found == r.Memory.OnDisk() {
			return
		}
		for p, f := range r.Memory.All() {
			if f.State != mirror.Deleted && !yield(p) {
				return
			}
		}
	}
}

// importNew stores the files that are new to both mirror and store, many in one
// transaction, and returns the paths that are left to be reconciled one by one:
// among them aggregates, and markers, which must come last.
func (r *reconciler) importNew(
	ctx context.Context, found *mirror.Walk, paths []string, deadline time.Time,
) ([]string, error) {
	candidate := make(map[string]bool, len(paths))
	for _, p := range paths {
		candidate[p] = true
	}
	var files []mirror.Stat
	for _, f := range found.Files {
		if candidate[f.Path] && r.isNew(ctx, f) {
			files = append(files, f)
		}
	}
	if r.opts.DryRun || len(files) < 2 {
		return paths, nil
	}
	l := &loader{w: r.w, dir: r.Dir, source: record.SourceSync, place: r.w.recognise, changed: r.dates(ctx)}
	for i, batch := range cutBatches(files) {
		if i > 0 && !deadline.IsZero() && time.Now().After(deadline) {
			break
		}
		if err := r.importBatch(ctx, l, batch, candidate); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(paths, func(p string) bool { return !candidate[p] }), nil
}

// StillFor is how long a file must not have changed before a command that only
// reads takes it in.
const StillFor = mirror.StillFor

// isStill reports whether a file was left alone for long enough to be whole.
func isStill(stat mirror.Stat, now time.Time) bool { return now.Sub(stat.ModTime) >= StillFor }

func (r *reconciler) isNew(ctx context.Context, f mirror.Stat) bool {
	if known, remembered := r.Memory.Get(f.Path); remembered && known.State != mirror.Deleted || r.rank(f.Path) > 0 {
		return false
	}
	return !isOutside(f.Path) && (r.opts.Announced || isStill(f, r.w.now()) || r.opts.Finished && r.isFinished(ctx, f.Path))
}

// importBatch stores those of a batch that nothing stands for yet and takes them
// off the candidates. What cannot be read, and what loses a race, stays one.
func (r *reconciler) importBatch(ctx context.Context, l *loader, files []mirror.Stat, candidate map[string]bool) error {
	b, err := l.prepare(ctx, files)
	if err != nil {
		return err
	}
	for _, f := range b.sources {
		if f.at.Old != nil || r.mayBeMoved(ctx, f.File) {
			f.plan = nil
		}
		defer func() { _ = f.Body.Discard() }() // a temporary file, swept later if it stays
	}
	position, err := l.apply(ctx, b)
	if errors.Is(err, store.ErrConflict) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, f := range b.sources {
		if f.plan == nil {
			continue
		}
		delete(candidate, f.Path)
		r.Memory.Set(mirror.File{Stat: f.stat, Exists: true, Digest: f.Digest()}, position)
		r.report.Problems = append(r.report.Problems, f.plan.Problems...)
		r.report.Files = append(r.report.Files, SyncedFile{Path: f.Path, Action: actionCaptured})
	}
	return nil
}

// one reconciles one path and reports it. What is wrong with one file is reported
// and keeps no other from being reconciled.
func (r *reconciler) one(ctx context.Context, p string) error {
	done, err := r.reconcile(ctx, p)
	switch {
	case errors.Is(err, mirror.ErrRaced):
		done = SyncedFile{Path: p, Action: actionWaiting}
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded),
		errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrNoStore):
		return err
	case err != nil:
		r.report.Skipped = append(r.report.Skipped, mirror.Skipped{Path: p, Reason: mirror.Cause(err)})
		r.report.Failed++
		return nil
	}
	if done.Action != "" {
		r.report.Files = append(r.report.Files, done)
	}
	return nil
}

// AgentFolders returns the folders in which agents keep their files by themselves.
func AgentFolders() []string {
	return []string{".claude", ".orchestrator", ".blue", ".beads", "agent_tool_results"}
}

// scan lists the files on disk that belong to the mirror: those that a layout
// recognises below the folders that layouts know or the configuration names, those of the
// configured note folders, and below outside roots those of the conversations and dialogues that this
// store has.
func (r *reconciler) scan(ctx context.Context, deadline time.Time) (*mirror.Walk, error) {
	p := r.w.Settings.Profile
	folders := append(AgentFolders(), p.Folders()...)
	for _, root := range []string{p.Root, p.Markers, p.Results, p.Dialogues, p.Sessions} {
		if root != "" && !strings.HasPrefix(root, "/") && !strings.HasPrefix(root, "~/") {
			folders = append(folders, root)
		}
	}
	folders = slices.Concat(folders, r.w.noteFolders(), r.w.Settings.AgentFolders)
	below := map[string][]string{}
	for _, o := range r.w.outside() {
		found, err := view(ctx, r.w.Store, func(tx *store.Tx) ([]string, error) { return foldersBelow(tx, o.Prefix) })
		if err != nil {
			return nil, err
		}
		for _, dir := range r.opts.TakeIn {
			if top := filepath.Base(dir); filepath.Dir(dir) == o.Dir && !slices.Contains(found, top) {
				found = append(found, top)
			}
		}
		below[o.Prefix] = found
	}
	if r.opts.TakeOver {
		r.report.TakenOver = r.TakeOver(ctx, below)
	}
	return r.Scan(ctx, folders, below, r.w.isMirrored, r.rules(), deadline)
}

// rules returns what is left out of the root.
func (r *reconciler) rules() *mirror.Filter {
	if r.filter == nil {
		r.filter = r.w.rootFilter(r.Dir)
	}
	return r.filter
}

// rootFilter returns the filter of a root.
func (w *Workspace) rootFilter(root string) *mirror.Filter {
	f := w.filter(root, Rules{}, w.Settings.Profile.Recognize)
	f.Named = append([]string{}, w.noteFolders()...) // not nil
	f.Noted = func(p string) bool { at := w.recognise(p); return at.Kind == record.KindNote && at.Declared == "" }
	return f
}

// noteFolders returns the folders that are synced by the settings, as notes or as what
// their texts are.
func (w *Workspace) noteFolders() []string {
	return slices.Concat(w.Settings.NoteFolders, slices.Sorted(maps.Keys(w.Settings.Kinds)))
}

// isMirrored reports whether sync may look at a file of the workspace.
func (w *Workspace) isMirrored(p string) bool {
	below := func(place string) bool { return p == place || strings.HasPrefix(p, place+"/") }
	at := w.recognise(p)
	return !w.isAway(p) && (at.Kind != record.KindNote || at.Declared != "" || slices.ContainsFunc(w.noteFolders(), below))
}

// foldersBelow returns the first folders of the paths below a prefix that the store
// has, each once.
func foldersBelow(tx *store.Tx, prefix string) ([]string, error) {
	var folders []string
	prefix = store.PathValue("", prefix)
	for value, err := range tx.Values(store.FieldPath, prefix) {
		if err != nil {
			return nil, err
		}
		folder, _, _ := strings.Cut(strings.TrimPrefix(value.Text, prefix), "/")
		if n := len(folders); n == 0 || folders[n-1] != folder {
			folders = append(folders, folder)
		}
	}
	return folders, nil
}

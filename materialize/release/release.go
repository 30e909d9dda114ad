// Package release owns the end of records: which names are given up by name or by a
// retention, what still refers to them, and the destruction of their versions. It
// works on the store alone; whoever carries a release out deletes the files.
package release

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"filebus/store"
	"filebus/store/record"
)

// A Request says which names are given up: those that are named, or those
// that a retention picks.
type Request struct {
	Names     []record.Name
	Retention *Retention // nil: Names; these go together or not at all
	DryRun    bool       // only say what would be done
	// Versions, if there are any, are purged: they go alone, whoever refers to them. With
	// Everywhere, all versions go that have one of their texts. Files that still have one, of
	// which FilesOf tells, keep all, as they would bring it back, unless they go too: Files.
	Versions []record.Ref
	// Files of captured trees, which are their owners', go with Trees alone. Found, if not nil, is
	// told the files before anything is destroyed.
	Everywhere, Files, Trees bool
	Found                    func(files []string)
	FilesOf                  func(v store.Version) []string // of v's record: name, path and body
	// What is purged stays out from then on, once nothing has it any more: see store.Bar. Short texts do
	// only with Short. SaidOf tells what an entry says, as store.Draft has it.
	Short  bool
	SaidOf func(tx *store.Tx, v store.Version) record.Digest
	// Heir, if not nil, is told, in the transaction that does it, of a name which has another store's
	// version in the place of one that was dropped.
	Heir func(tx *store.Tx, v store.Version) error
	// Scanned and Dropped, if not nil, are told how far looking for references and
	// giving up are.
	Scanned, Dropped func(done, total int)
}

// A Report says what was given up and what was not.
type Report struct {
	Released []ReleasedName `json:"released"`
	Kept     []Kept         `json:"kept"`
	Bytes    int64          `json:"bytes"`            // of the texts that nothing has any more
	Swept    int            `json:"swept"`            // body files that killed processes had left
	Barred   int            `json:"barred,omitempty"` // texts that stay out from now on
	Left     []string       `json:"left,omitempty"`   // files of captured trees that have it, and stay
	Files    []string       `json:"files,omitempty"`  // that have, or had, a text that is purged
}

// A ReleasedName is a name whose versions are all destroyed.
type ReleasedName struct {
	Name     record.Name `json:"name"`
	Ref      string      `json:"ref"`    // of the last version, 12 digits
	Tokens   int         `json:"tokens"` // of the last version, about
	Bytes    int64       `json:"bytes"`  // of all versions
	Versions int         `json:"versions"`
}

// A Kept is a name that was picked and stays.
type Kept struct {
	Name    record.Name `json:"name"`
	Because string      `json:"because"`
}

// ErrStillNeeded says that names which were to be given up together stay. It names
// them; the detail is the []Kept.
const ErrStillNeeded record.Reason = "still needed"

// ErrOnDisk says that files have a text that was to be purged. It names them.
const ErrOnDisk record.Reason = "on disk"

// A Run carries one release out: after Choose come Entries, Next until it gives
// nothing, for each batch what keeps names, Retire and Drop, and at last Finish.
type Run struct {
	report  *Report
	store   *store.Store
	request Request
	refs    *references
	going   map[record.Name]*Candidate   // picked, and neither kept nor dropped
	uses    map[record.Name][]*Candidate // what of those a picked name refers to
	gone    map[record.Name]bool         // dropped
	before  map[record.Name]record.Name  // what names were in trees of other names, by that
	order   []*Candidate                 // that are still to be looked at
	total   int
}

// Choose finds the names that can be given up. A dry run is over after that.
func Choose(ctx context.Context, s *store.Store, request Request) (*Run, error) {
	r := &Run{
		store: s, request: request, going: map[record.Name]*Candidate{}, gone: map[record.Name]bool{},
		before: map[record.Name]record.Name{}, uses: map[record.Name][]*Candidate{}, report: &Report{Released: []ReleasedName{}, Kept: []Kept{}},
	}
	for _, step := range [...]func(context.Context) error{r.addBefore, r.read, r.pick} {
		if err := step(ctx); err != nil {
			return r, err
		}
	}
	r.closeOver()
	if err := r.refused(); err != nil {
		return r, err
	}
	r.order = r.sort()
	r.total = len(r.order)
	if request.DryRun {
		return r, r.wouldFree(ctx, r.order)
	}
	return r, nil
}

// LinkRenamed is the type of the link from a record to the one that it was in a tree of
// another name. It is stored.
const LinkRenamed = "renamed-from"

// addBefore adds to the names that were asked for what they were in trees of other names,
// as that has the same texts.
func (r *Run) addBefore(ctx context.Context) error {
	all := slices.Clone(r.request.Names)
	for found := all; len(found) > 0; all = append(all, found...) {
		these := found
		found = nil
		err := store.ViewEach(ctx, r.store, these, func(tx *store.Tx, name record.Name) error {
			return before(tx, name, func(was record.Name) {
				if r.before[was].IsZero() && !slices.Contains(r.request.Names, was) {
					r.before[was] = name
					found = append(found, was)
				}
			})
		})
		if err != nil {
			return err
		}
	}
	r.request.Names = all
	return nil
}

// before finds what a name was in trees of other names. A link that a text states itself is
// not believed.
func before(tx *store.Tx, name record.Name, found func(record.Name)) error {
	if name.Tree == "" {
		return nil
	}
	events, err := tx.History(name)
	for _, e := range events {
		v, err := tx.Get(e.Ref)
		if err != nil { // it was destroyed
			continue
		}
		for _, l := range v.Record.Links {
			ref, err := record.ParseRef(l.Target)
			if l.Type != LinkRenamed || err != nil {
				continue
			}
			old, err := tx.Get(ref)
			if err != nil || old.Record.Body != v.Record.Body {
				continue
			}
			if was := old.Record.Name; was.Tree != "" && was.Kind == name.Kind && was.ID == name.ID {
				found(was)
			}
		}
	}
	return err
}

// refused returns ErrStillNeeded if names stay that were to go together.
func (r *Run) refused() error {
	isPurged := len(r.request.Versions) > 0 && len(r.gone) == r.total // the others were only to be told of
	if r.request.Retention != nil || isPurged || len(r.report.Kept) == 0 {
		return nil
	}
	var lines, names []string
	for _, k := range r.report.Kept {
		lines = append(lines, fmt.Sprintf("%s stays: %s", k.Name, k.Because))
		names = append(names, k.Name.String())
	}
	return record.Conflict.Errorf("%s", strings.Join(lines, "; ")).Because(ErrStillNeeded, names...).With(r.report.Kept)
}

// Report says what was done until now.
func (r *Run) Report() *Report {
	slices.SortFunc(r.report.Released, func(a, b ReleasedName) int { return record.Name.Compare(a.Name, b.Name) })
	slices.SortStableFunc(r.report.Kept, func(a, b Kept) int { return record.Name.Compare(a.Name, b.Name) })
	return r.report
}

// Finish ends a release that has come to its end.
func (r *Run) Finish(ctx context.Context) (err error) {
	if r.request.Retention != nil {
		r.report.Swept, err = r.store.Sweep(ctx)
		return err
	}
	return r.refused()
}

// read walks through the log once.
func (r *Run) read(ctx context.Context) error {
	named := map[record.Name]bool{}
	for _, name := range r.request.Names {
		named[name] = true
	}
	wanted := func(name record.Name) bool { return named[name] || len(r.request.Versions) > 0 }
	if keep := r.request.Retention; keep != nil {
		if err := keep.Check(); err != nil {
			return err
		}
		wanted = func(name record.Name) bool { return name.Tree == "" && name.Kind == keep.Kind }
	}
	r.refs = &references{
		wanted: wanted, names: map[record.Name]*Candidate{},
		byRef: map[record.Ref][]record.Name{}, byText: map[string][]record.Name{},
	}
	const most = 1000 // entries that one read transaction looks at
	for end := uint64(1); r.refs.position < end; {
		err := r.store.View(ctx, func(tx *store.Tx) error {
			end = tx.Position()
			for e, err := range tx.Log(r.refs.position + 1) {
				if err == nil {
					err = r.refs.read(tx, e, func(record.Name) {})
				}
				if err != nil || e.Position%most == 0 {
					return err
				}
			}
			return nil
		})
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return fmt.Errorf("looking for references: %w", err)
		}
		if r.request.Scanned != nil {
			r.request.Scanned(int(r.refs.position), int(end))
		}
	}
	return nil
}

// pick finds the names that are to go.
func (r *Run) pick(ctx context.Context) error {
	all := r.purged(slices.SortedFunc(maps.Values(r.refs.names), func(a, b *Candidate) int { return a.Name.Compare(b.Name) }))
	err := store.ViewEach(ctx, r.store, all, func(tx *store.Tx, c *Candidate) error { return c.look(tx) })
	if err != nil {
		return err
	}
	going := all
	if keep := r.request.Retention; keep != nil {
		var newest []*Candidate
		going, newest = keep.split(all)
		for _, c := range newest {
			r.report.Kept = append(r.report.Kept, Kept{c.Name, fmt.Sprintf("one of the newest %d", keep.Keep)})
		}
	}
	missing := slices.DeleteFunc(slices.Clone(r.request.Names), func(n record.Name) bool { return r.refs.names[n] != nil })
	err = store.ViewEach(ctx, r.store, missing, func(tx *store.Tx, name record.Name) error {
		if events, err := tx.History(name); err != nil || len(events) > 0 { // it was destroyed before
			return err
		}
		return fmt.Errorf("%s: %w", name, store.ErrNotFound)
	})
	if err != nil {
		return err
	}
	for _, c := range going {
		r.going[c.Name] = c
	}
	if len(r.request.Versions) > 0 {
		return r.findFiles(going)
	}
	return store.ViewEach(ctx, r.store, going, func(tx *store.Tx, c *Candidate) error {
		if by := r.before[c.Name]; c.Current && !by.IsZero() {
			r.Keep(c, by.String()+" was it, and it is in use again; hide it first: filebus rm "+record.ShellWord(c.Name.String()))
		}
		for _, err := range tx.Lookup(store.FieldConflict, c.Name.String()) {
			if err == nil {
				r.Keep(c, "it has an open conflict")
			}
			return err
		}
		return nil
	})
}

// purged returns those of which something is purged, with only that, and notes who else
// has the same text, and who refers to it, as kept. Where nothing is purged it returns all.
func (r *Run) purged(all []*Candidate) []*Candidate {
	if len(r.request.Versions) == 0 {
		return all
	}
	texts := map[record.Digest]bool{}
	isAsked := func(v versionOf) bool { return slices.Contains(r.request.Versions, v.ref) }
	for _, c := range all {
		for _, v := range c.versions {
			texts[v.body] = texts[v.body] || isAsked(v)
		}
	}
	return slices.DeleteFunc(all, func(c *Candidate) bool {
		stays := func(v versionOf) bool { return !isAsked(v) && !(r.request.Everywhere && texts[v.body]) }
		if slices.ContainsFunc(c.versions, func(v versionOf) bool { return stays(v) && texts[v.body] }) {
			r.report.Kept = append(r.report.Kept, Kept{c.Name, "it has the same text; --everywhere destroys that too"})
		}
		c.versions = slices.DeleteFunc(c.versions, stays)
		for _, v := range c.versions {
			for _, by := range r.refs.byRef[v.ref] {
				r.report.Kept = append(r.report.Kept, Kept{by, "it refers to " + c.Name.String()})
			}
		}
		return len(c.versions) == 0
	})
}

// findFiles refuses a purge while files have the text.
func (r *Run) findFiles(going []*Candidate) error {
	var apart []string // versions that no file has
	for _, c := range going {
		for _, v := range c.versions {
			text := &record.Record{Name: c.Name, Path: c.Last.Path, Body: v.body, Size: v.size}
			files := r.request.FilesOf(store.Version{Ref: v.ref, Record: text})
			if stays := c.replaced && v.body == c.Last.Body; stays || len(files) == 0 {
				files, apart = nil, append(apart, v.ref.Short())
			}
			r.report.Files = append(r.report.Files, files...)
		}
	}
	slices.Sort(r.report.Files)
	r.report.Files = slices.Compact(r.report.Files)
	if r.request.Found != nil && (r.request.DryRun || r.request.Files) {
		r.request.Found(r.report.Files)
	}
	if len(r.report.Files) == 0 || r.request.DryRun || r.request.Files {
		return nil
	}
	hint := "run it again with --files, which deletes {all}, or takes the entry out"
	if len(apart) > 0 {
		hint = "filebus purge NAME@VERSION, for one that no file has (" + strings.Join(apart[:min(len(apart), 10)], ", ") + "), or " + hint
	}
	return record.Conflict.Errorf("nothing was destroyed: the text is still in %s, and would be stored again",
		strings.Join(r.report.Files, ", ")).Because(ErrOnDisk, r.report.Files...).Try(hint)
}

// closeOver keeps what anything that stays refers to.
func (r *Run) closeOver() {
	var needed []keeping
	for _, name := range slices.SortedFunc(maps.Keys(r.going), record.Name.Compare) {
		c := r.going[name]
		for _, by := range r.refs.to(c) {
			r.uses[by] = append(r.uses[by], c)
		}
		if because := r.needed(c); because != "" {
			needed = append(needed, keeping{c, because})
		}
	}
	r.keepAll(needed)
}

// needed returns why a name that one refers to which is not going has to stay, or
// "".
func (r *Run) needed(c *Candidate) string {
	staying := slices.DeleteFunc(r.refs.to(c), func(n record.Name) bool { return r.going[n] != nil || r.gone[n] })
	if len(staying) == 0 || len(r.request.Versions) > 0 {
		return ""
	}
	return referredTo(staying)
}

// referredTo says who refers to a name.
func referredTo(by []record.Name) string {
	const most = 3
	var list []string
	for _, name := range by[:min(len(by), most)] {
		list = append(list, name.String())
	}
	text := "referred to by " + strings.Join(list, ", ")
	if len(by) > most {
		text += fmt.Sprintf(" and %d more", len(by)-most)
	}
	return text
}

// A keeping is a name that stays, with the reason.
type keeping struct {
	c       *Candidate
	because string
}

// Keep takes a name off those that are going, and with it what it refers to.
func (r *Run) Keep(c *Candidate, because string) { r.keepAll([]keeping{{c, because}}) }

func (r *Run) keepAll(queue []keeping) {
	for ; len(queue) > 0; queue = queue[1:] {
		next := queue[0]
		if r.going[next.c.Name] == nil {
			continue
		}
		delete(r.going, next.c.Name)
		if next.c.Retired {
			next.because += "; it is hidden now"
		}
		r.report.Kept = append(r.report.Kept, Kept{next.c.Name, next.because})
		for _, used := range r.uses[next.c.Name] {
			queue = append(queue, keeping{used, referredTo([]record.Name{next.c.Name})})
		}
	}
}

// sort returns what is going so that whatever refers to a name comes before it:
// an interrupted release then leaves no record behind whose origins are gone.
// Names that refer to each other in a circle are the exception.
func (r *Run) sort() []*Candidate {
	var order []*Candidate
	entered := map[record.Name]bool{}
	var enter func(name record.Name)
	enter = func(name record.Name) {
		c := r.going[name]
		if c == nil || entered[name] {
			return
		}
		entered[name] = true
		for _, by := range slices.Backward(r.refs.to(c)) {
			enter(by)
		}
		order = append(order, c)
	}
	for _, name := range slices.SortedFunc(maps.Keys(r.going), record.Name.Compare) {
		enter(name)
	}
	r.pair(order)
	return order
}

// pair puts what a name was right behind it: an interrupted release must not leave that
// alone, as nothing would lead to it.
func (r *Run) pair(order []*Candidate) {
	at := map[record.Name]int{}
	for i, c := range order {
		at[c.Name] = i
	}
	last := func(c *Candidate) int {
		name := c.Name
		for !r.before[name].IsZero() {
			name = r.before[name]
		}
		return at[name]
	}
	slices.SortStableFunc(order, func(a, b *Candidate) int { return last(a) - last(b) })
}

// wouldFree fills in the report of a dry run.
func (r *Run) wouldFree(ctx context.Context, order []*Candidate) error {
	uses := map[record.Digest]uint64{}
	for _, c := range order {
		r.released(c)
		for _, v := range c.versions {
			uses[v.body]++
		}
	}
	counted := map[record.Digest]bool{}
	return store.ViewEach(ctx, r.store, order, func(tx *store.Tx, c *Candidate) error {
		for _, v := range c.versions {
			all, err := tx.Uses(v.body)
			if err != nil {
				return err
			}
			if all == uses[v.body] && !counted[v.body] {
				counted[v.body] = true
				r.report.Bytes += v.size
			}
		}
		return nil
	})
}

// released adds a name to the report.
func (r *Run) released(c *Candidate) {
	r.report.Released = append(r.report.Released, ReleasedName{
		Name: c.Name, Ref: c.versions[len(c.versions)-1].ref.Short(),
		Tokens: record.EstimateTokens(c.Last.Size), Bytes: c.bytes, Versions: c.count,
	})
}

// A Retention says which names of the project's own tree are kept no longer. All
// fields that are set must be met.
type Retention struct {
	Kind          record.Kind // neither entries of files nor frames: those live in their files
	Conversations []string    // any of them; none: all
	Before        time.Time   // only names whose newest version is older; zero: of any age
	// Keep is how many of the newest current names of each conversation stay,
	// whatever else is said.
	Keep    int
	Removed bool // only names that are hidden
}

// Check reports what keeps the retention from being carried out.
func (r *Retention) Check() error {
	if r.Kind.IsEntry() || r.Kind == record.KindFrame {
		return fmt.Errorf("records of the kind %s share files: they are destroyed by their names", r.Kind)
	}
	if r.Keep < 0 {
		return fmt.Errorf("%d names cannot be kept", r.Keep)
	}
	return nil
}

// picks reports whether a name is kept no longer, but for Keep.
func (r *Retention) picks(c *Candidate) bool {
	return (len(r.Conversations) == 0 || slices.Contains(r.Conversations, c.Last.Conversation)) &&
		(r.Before.IsZero() || c.Last.Time.Before(r.Before)) && !(r.Removed && c.Current)
}

// split divides candidates into those that are kept no longer and those that
// only Keep holds back.
func (r *Retention) split(all []*Candidate) (going, newest []*Candidate) {
	slices.SortFunc(all, func(a, b *Candidate) int { return cmp.Compare(b.position, a.position) })
	current := map[string]int{} // of each conversation
	for _, c := range all {
		held := false
		if c.Current {
			current[c.Last.Conversation]++
			held = current[c.Last.Conversation] <= r.Keep
		}
		switch {
		case !r.picks(c):
		case held:
			newest = append(newest, c)
		default:
			going = append(going, c)
		}
	}
	return going, newest
}

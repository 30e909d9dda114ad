package materialize

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"filebus/store"
	"filebus/store/record"
)

// A ReleaseRequest says which names are given up: those that are named, or those
// that a retention picks.
type ReleaseRequest struct {
	Names     []record.Name
	Retention *Retention // nil: Names; these go together or not at all
	DryRun    bool       // only say what would be done
	// Scanned and Dropped, if not nil, are told how far looking for references and
	// giving up are.
	Scanned, Dropped func(done, total int)
}

// A ReleaseReport says what was given up and what was not.
type ReleaseReport struct {
	Released []ReleasedName `json:"released"`
	Kept     []KeptName     `json:"kept"`
	Bytes    int64          `json:"bytes"` // of the texts that nothing has any more
	Swept    int            `json:"swept"` // body files that killed processes had left
}

// A ReleasedName is a name whose versions are all destroyed.
type ReleasedName struct {
	Name     record.Name `json:"name"`
	Ref      string      `json:"ref"`    // of the last version, 12 digits
	Tokens   int         `json:"tokens"` // of the last version, about
	Bytes    int64       `json:"bytes"`  // of all versions
	Versions int         `json:"versions"`
}

// A KeptName is a name that was picked and stays.
type KeptName struct {
	Name    record.Name `json:"name"`
	Because string      `json:"because"`
}

// ErrStillNeeded says that names which were to be given up together stay. It names
// them; the detail is the []KeptName.
const ErrStillNeeded record.Reason = "still needed"

func stillNeeded(kept []KeptName) error {
	var lines, names []string
	for _, k := range kept {
		lines = append(lines, fmt.Sprintf("%s stays: %s", k.Name, k.Because))
		names = append(names, k.Name.String())
	}
	return record.Conflict.Errorf("%s", strings.Join(lines, "; ")).Because(ErrStillNeeded, names...).With(kept)
}

// Release destroys all versions of names that nothing else needs, and deletes
// their files. A name stays if a record that stays was made from a version of it
// or links to it, if it has an open conflict, or if its file holds what the store
// does not have. Names that are given up together may refer to each other.
//
// It works in batches, each complete in itself: it hides the names, deletes their
// files, and then drops their versions. What was interrupted is finished by the
// same request, as hidden names are given up too. The report says what was done,
// also beside an error.
func (w *Workspace) Release(ctx context.Context, request ReleaseRequest) (*ReleaseReport, error) {
	r := &releaser{
		w: w, request: request, going: map[record.Name]*candidate{}, gone: map[record.Name]bool{},
		uses: map[record.Name][]*candidate{}, report: &ReleaseReport{Released: []ReleasedName{}, Kept: []KeptName{}},
	}
	err := r.run(ctx)
	slices.SortFunc(r.report.Released, func(a, b ReleasedName) int { return compareNames(a.Name, b.Name) })
	slices.SortFunc(r.report.Kept, func(a, b KeptName) int { return compareNames(a.Name, b.Name) })
	return r.report, err
}

// A releaser carries one release out.
type releaser struct {
	w       *Workspace
	request ReleaseRequest
	refs    *references
	going   map[record.Name]*candidate   // picked, and neither kept nor dropped
	uses    map[record.Name][]*candidate // what of those a picked name refers to
	gone    map[record.Name]bool         // dropped
	report  *ReleaseReport
}

func (r *releaser) run(ctx context.Context) error {
	if err := r.read(ctx); err != nil {
		return err
	}
	if err := r.pick(ctx); err != nil {
		return err
	}
	r.closeOver()
	if r.request.Retention == nil && len(r.report.Kept) > 0 {
		return stillNeeded(r.report.Kept)
	}
	order := r.order()
	if r.request.DryRun {
		return r.wouldFree(ctx, order)
	}
	err := r.hideEntries(ctx, order)
	if err == nil {
		err = r.drop(ctx, order)
	}
	if err != nil || r.request.Retention == nil {
		if err == nil && len(r.report.Kept) > 0 {
			err = stillNeeded(r.report.Kept)
		}
		return err
	}
	r.report.Swept, err = r.w.Store.Sweep(ctx)
	return err
}

// read walks through the log once.
func (r *releaser) read(ctx context.Context) error {
	named := map[record.Name]bool{}
	for _, name := range r.request.Names {
		named[name] = true
	}
	wanted := func(name record.Name) bool { return named[name] }
	if keep := r.request.Retention; keep != nil {
		if err := keep.Check(); err != nil {
			return err
		}
		wanted = func(name record.Name) bool { return name.Tree == "" && name.Kind == keep.Kind }
	}
	r.refs = &references{
		wanted: wanted, names: map[record.Name]*candidate{},
		byRef: map[record.Ref][]record.Name{}, byText: map[string][]record.Name{},
	}
	for {
		var end uint64
		err := r.w.Store.View(ctx, func(tx *store.Tx) error {
			end = tx.Position()
			return r.refs.read(tx, end, func(record.Name) {})
		})
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("looking for references: %w", err)
		}
		if r.request.Scanned != nil {
			r.request.Scanned(int(r.refs.position), int(end))
		}
		if r.refs.position >= end {
			return nil
		}
	}
}

// pick finds the names that are to go.
func (r *releaser) pick(ctx context.Context) error {
	all := slices.Collect(maps.Values(r.refs.names))
	err := r.inViews(ctx, all, func(tx *store.Tx, c *candidate) error { return c.look(tx) })
	if err != nil {
		return err
	}
	going := all
	if keep := r.request.Retention; keep != nil {
		var newest []*candidate
		going, newest = keep.split(all)
		for _, c := range newest {
			r.report.Kept = append(r.report.Kept, KeptName{c.name, fmt.Sprintf("one of the newest %d", keep.Keep)})
		}
	}
	for _, name := range r.request.Names {
		if r.refs.names[name] == nil {
			return fmt.Errorf("%s: %w", name, store.ErrNotFound)
		}
	}
	for _, c := range going {
		r.going[c.name] = c
	}
	return r.inViews(ctx, going, func(tx *store.Tx, c *candidate) error {
		reason, err := openConflict(tx, c.name)
		if reason != "" {
			r.keep(c, reason)
		}
		return err
	})
}

// viewCandidates is how many candidates one read transaction looks at.
const viewCandidates = 2000

func (r *releaser) inViews(ctx context.Context, all []*candidate, look func(tx *store.Tx, c *candidate) error) error {
	for chunk := range slices.Chunk(all, viewCandidates) {
		err := r.w.Store.View(ctx, func(tx *store.Tx) error {
			for _, c := range chunk {
				if err := look(tx, c); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// openConflict returns why a name whose conflict is not decided stays, or "".
func openConflict(tx *store.Tx, name record.Name) (string, error) {
	for _, err := range tx.Lookup(store.FieldConflict, name.String()) {
		if err != nil {
			return "", err
		}
		return "it has an open conflict", nil
	}
	return "", nil
}

// closeOver keeps what anything that stays refers to.
func (r *releaser) closeOver() {
	var needed []keeping
	for _, name := range slices.SortedFunc(maps.Keys(r.going), compareNames) {
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
func (r *releaser) needed(c *candidate) string {
	staying := slices.DeleteFunc(r.refs.to(c), func(n record.Name) bool { return r.going[n] != nil || r.gone[n] })
	if len(staying) == 0 {
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
	c       *candidate
	because string
}

// keep takes a name off those that are going, and with it what it refers to.
func (r *releaser) keep(c *candidate, because string) { r.keepAll([]keeping{{c, because}}) }

func (r *releaser) keepAll(queue []keeping) {
	for ; len(queue) > 0; queue = queue[1:] {
		next := queue[0]
		if r.going[next.c.name] == nil {
			continue
		}
		delete(r.going, next.c.name)
		if next.c.retired {
			next.because += "; it is hidden now"
		}
		r.report.Kept = append(r.report.Kept, KeptName{next.c.name, next.because})
		for _, used := range r.uses[next.c.name] {
			queue = append(queue, keeping{used, referredTo([]record.Name{next.c.name})})
		}
	}
}

// order returns what is going so that whatever refers to a name comes before it:
// an interrupted release then leaves no record behind whose origins are gone.
// Names that refer to each other in a circle are the exception.
func (r *releaser) order() []*candidate {
	var order []*candidate
	entered, left := map[record.Name]bool{}, map[record.Name]bool{}
	for _, name := range slices.SortedFunc(maps.Keys(r.going), compareNames) {
		for stack := []record.Name{name}; len(stack) > 0; {
			top := stack[len(stack)-1]
			c := r.going[top]
			if c == nil || left[top] || entered[top] {
				stack = stack[:len(stack)-1]
				if c != nil && !left[top] {
					left[top] = true
					order = append(order, c)
				}
				continue
			}
			entered[top] = true
			for _, by := range r.refs.to(c) {
				if !entered[by] {
					stack = append(stack, by)
				}
			}
		}
	}
	return order
}

// wouldFree fills in the report of a dry run.
func (r *releaser) wouldFree(ctx context.Context, order []*candidate) error {
	uses := map[record.Digest]uint64{}
	for _, c := range order {
		r.released(c)
		for _, v := range c.versions {
			uses[v.body]++
		}
	}
	counted := map[record.Digest]bool{}
	return r.inViews(ctx, order, func(tx *store.Tx, c *candidate) error {
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
func (r *releaser) released(c *candidate) {
	r.report.Released = append(r.report.Released, ReleasedName{
		Name: c.name, Ref: c.versions[len(c.versions)-1].ref.Short(),
		Tokens: record.EstimateTokens(c.last.Size), Bytes: c.bytes, Versions: c.count,
	})
}

// hideEntries hides the entries of aggregate files, each in its file.
func (r *releaser) hideEntries(ctx context.Context, order []*candidate) error {
	for _, c := range order {
		if !c.current || !c.name.Kind.IsEntry() || r.going[c.name] == nil {
			continue
		}
		err := r.w.Remove(ctx, c.name)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		c.retired = true
	}
	return nil
}

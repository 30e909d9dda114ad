package query

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// ResolveOptions say where a path that a user types begins. The zero value
// takes paths as they are stored.
type ResolveOptions struct {
	Root string // the workspace's folder, absolute: for absolute paths
	Dir  string // the working directory, absolute: for paths below it
}

// Reasons of errors of this package, with what they name.
const (
	ErrAbsent      record.Reason = "nothing has the name" // names what comes near, at most ten; the detail is the text
	ErrRetired     record.Reason = "no current version"   // names the last version, its detail (a store.Version), and its name
	ErrNoPart      record.Reason = "no such part"         // a section or lines; names the record
	ErrSeveral     record.Reason = "several names"        // names them
	ErrNoKnowledge record.Reason = "no such knowledge"
	ErrTooMany     record.Reason = "too many entries" // the detail is how many there are, an int
)

// absent says that a text names no current record, and which names come near.
func absent(text string, retired store.Version, near []record.Name) error {
	if retired.Record != nil {
		ref := retired.Ref.Short()
		return record.NotFound.Errorf("%q is gone: it has no current version; its last one is %s", text, ref).
			Because(ErrRetired, ref, retired.Record.Name.String()).With(retired)
	}
	return record.NotFound.Errorf("%q not found", text).Because(ErrAbsent, markdown.Each(near, record.Name.String)...).With(text)
}

// Resolve returns the version that text means: a ref; the first eight or more
// digits of one; a name, kind/id or tree:kind/id; a mirrored path, of which the
// newest occupant counts, path or tree:path; an id that only one kind has; or
// the number of a task, whose journal is meant. What is not found is
// ErrAbsent or ErrRetired, what can be several things ErrSeveral or a
// *store.AmbiguousError.
func (r *Reader) Resolve(ctx context.Context, text string, opts ResolveOptions) (store.Version, error) {
	var found store.Version
	var retired store.Version
	err := r.store.View(ctx, func(tx *store.Tx) (err error) {
		s := resolver{tx: tx, text: text, opts: opts}
		found, err = s.resolve()
		retired = s.retired
		return err
	})
	if !errors.Is(err, store.ErrNotFound) {
		return found, err
	}
	near, err := r.near(ctx, text)
	if err != nil {
		return store.Version{}, err
	}
	return store.Version{}, absent(text, retired, near)
}

// A resolver tries the forms of a text in turn.
type resolver struct {
	tx      *store.Tx
	text    string
	opts    ResolveOptions
	retired store.Version // found by the way
}

// resolve takes the first form that finds something. Refs come first, since they
// are exact; ids last, since they are the vaguest.
func (s *resolver) resolve() (store.Version, error) {
	for _, try := range []func() (store.Version, error){s.ref, s.name, s.path, s.task, s.bareID, s.entry} {
		if v, err := try(); !errors.Is(err, store.ErrNotFound) {
			return v, err
		}
	}
	if err := malformedName(s.text); err != nil {
		return store.Version{}, err
	}
	return store.Version{}, store.ErrNotFound
}

// malformedName reports what is wrong with a text that begins with a kind, as a
// name does. Any other text can be a path.
func malformedName(text string) error {
	head, _, _ := strings.Cut(text, "/")
	_, kind, captured := strings.Cut(head, ":")
	if !captured {
		kind = head
	}
	if _, err := record.ParseKind(kind); err != nil || len(head) == len(text) {
		return nil
	}
	if _, err := record.ParseName(text); err != nil {
		return &record.Error{Code: record.Usage, Err: err}
	}
	return nil
}

// ref takes text for a ref or the beginning of one.
func (s *resolver) ref() (store.Version, error) {
	prefix, ok := record.ParsePrefix(s.text)
	if !ok {
		return store.Version{}, store.ErrNotFound
	}
	// A dropped ref is stored no more: Get tells it from one that never was.
	if ref, err := record.ParseRef(string(prefix)); err == nil {
		return s.tx.Get(ref)
	}
	ref, err := s.tx.Resolve(prefix)
	if err != nil {
		return store.Version{}, err
	}
	return s.tx.Get(ref)
}

// name takes text for a name. A name without a head is not found, but what it had
// last is remembered for the error.
func (s *resolver) name() (store.Version, error) {
	name, err := record.ParseName(s.text)
	if err != nil {
		return store.Version{}, store.ErrNotFound // not a name, perhaps a path
	}
	return s.last(name)
}

// last returns the head of a name, or remembers what it had last.
func (s *resolver) last(name record.Name) (store.Version, error) {
	v, head, err := s.tx.Last(name)
	if err == nil && !head {
		s.retired = v
		return store.Version{}, store.ErrNotFound
	}
	return v, err
}

// path looks for text as a path of a captured tree, as it is stored in the own
// tree, and below the working directory.
func (s *resolver) path() (store.Version, error) {
	var values []string
	if tree, rest, found := strings.Cut(s.text, ":"); found && rest != "" {
		values = append(values, store.PathValue(record.Tree(tree), path.Clean(rest)))
	}
	for _, p := range s.opts.Paths(s.text) {
		values = append(values, store.PathValue("", p))
	}
	for _, value := range values {
		if v, err := Occupant(s.tx, value); !errors.Is(err, store.ErrNotFound) {
			return v, err
		}
	}
	for _, p := range s.opts.Paths(s.text) { // a file of one record, that is gone
		for _, name := range []record.Name{
			{Kind: record.KindNote, ID: p}, {Kind: record.KindKnowledge, ID: record.WholeFile + p},
		} {
			if v, err := s.last(name); !errors.Is(err, store.ErrNotFound) {
				return v, err
			}
		}
	}
	return store.Version{}, store.ErrNotFound
}

// IsPath reports whether a user's text is the path that a record has.
func (o ResolveOptions) IsPath(text string, r *record.Record) bool {
	return r.Name.Tree == "" && slices.Contains(o.Paths(text), r.Path) && text != r.Name.String()
}

// Paths returns what a typed path can be below the workspace's root. Names are
// raw bytes, so the text itself comes first.
func (o ResolveOptions) Paths(text string) []string {
	if text == "" {
		return nil
	}
	out := []string{text}
	typed := filepath.FromSlash(text)
	switch {
	case o.Root == "":
		if clean := path.Clean(text); clean != text {
			out = append(out, clean)
		}
		return out
	case !filepath.IsAbs(typed):
		out = append(out, path.Clean(text))
		typed = filepath.Join(o.Dir, typed)
	}
	if below, err := filepath.Rel(o.Root, typed); err == nil && filepath.IsLocal(below) {
		out = append(out, filepath.ToSlash(below))
	}
	return out
}

// task looks for the journal of a task: 003, task-003 or handoff/TASK-V01 in any tree's form.
func (s *resolver) task() (store.Version, error) {
	if _, id := s.treeAndID(); !strings.HasPrefix(layout.TaskID(id), "task-") && !strings.HasPrefix(id, "handoff/") {
		return store.Version{}, store.ErrNotFound
	}
	return s.journal()
}

// journal looks for the journal of a task under any id, such as TASK-V01 or sub/proj/003. Of
// several tasks that have had the id, and so the place, one after the other, the newest counts.
func (s *resolver) journal() (store.Version, error) {
	tree, id := s.treeAndID()
	first := record.Name{Tree: tree, Kind: record.KindHandoff, ID: layout.JournalID(strings.TrimPrefix(id, "handoff/"))}
	for name, err := range s.tx.Names(first) {
		rest, isNear := strings.CutPrefix(name.Name.String(), first.String())
		switch {
		case err != nil:
			return store.Version{}, err
		case !isNear:
			return store.Version{}, store.ErrNotFound
		case rest == "" || rest[0] == '~':
			v, err := s.tx.Get(name.Ref)
			if err != nil || v.Record.Path == "" {
				return v, err
			}
			return Occupant(s.tx, store.PathValue(tree, v.Record.Path))
		}
	}
	return store.Version{}, store.ErrNotFound
}

// Occupant returns what stands at a place (store.PathValue), of several names the newest.
func Occupant(tx *store.Tx, place string) (store.Version, error) {
	for at, err := range tx.Lookup(store.FieldPath, place) {
		if err != nil {
			return store.Version{}, err
		}
		return tx.Find(at)
	}
	return store.Version{}, fmt.Errorf("%s: %w", place, store.ErrNotFound)
}

// treeAndID splits a bare id: id, or tree:id.
func (s *resolver) treeAndID() (record.Tree, string) {
	if text, id, found := strings.Cut(s.text, ":"); found {
		if tree, err := record.ParseTree(text); err == nil {
			return tree, id
		}
	}
	return "", s.text
}

// bareID looks for an id that one kind has. Markers and frames are beside what
// they announce or hold, so they count only where nothing else has the id.
func (s *resolver) bareID() (store.Version, error) {
	tree, id := s.treeAndID()
	var found, beside []store.Version
	for _, kind := range record.Kinds() {
		v, err := s.tx.Head(record.Name{Tree: tree, Kind: kind, ID: id})
		switch {
		case errors.Is(err, store.ErrNotFound):
		case err != nil:
			return store.Version{}, err
		case kind == record.KindMarker || kind == record.KindFrame:
			beside = append(beside, v)
		default:
			found = append(found, v)
		}
	}
	if len(found) == 0 {
		v, err := s.journal()
		if !errors.Is(err, store.ErrNotFound) {
			return v, err
		}
		found = beside
	}
	return s.oneOf(found)
}

// entry looks for the file that is a task which a list has by another id than its name: story/1.3.
func (s *resolver) entry() (store.Version, error) {
	tree, id := s.treeAndID()
	var found []store.Version
	for at, err := range s.tx.Lookup(store.FieldTask, id) {
		v, findErr := s.tx.Find(at)
		if err = cmp.Or(err, findErr); err != nil {
			return store.Version{}, err
		}
		if name := v.Record.Name; name.Kind == record.KindTask && name.Tree == tree {
			found = append(found, v)
		}
	}
	return s.oneOf(found)
}

// oneOf returns the version that is alone.
func (s *resolver) oneOf(found []store.Version) (store.Version, error) {
	switch len(found) {
	case 0:
		return store.Version{}, store.ErrNotFound
	case 1:
		return found[0], nil
	}
	names := markdown.Each(found, func(v store.Version) string { return v.Record.Name.String() })
	err := record.Ambiguous.Errorf("%q is ambiguous: it can be %s", s.text, strings.Join(names, ", "))
	return store.Version{}, err.Because(ErrSeveral, names...)
}

// A resolution is what one of several texts means.
type resolution struct {
	Version store.Version // zero if there is an error
	Err     error         // as of Resolve; ErrAbsent names nothing that comes near
}

// ResolveAll resolves many texts, each as Resolve does.
func (r *Reader) ResolveAll(ctx context.Context, texts []string, opts ResolveOptions) ([]resolution, error) {
	found := make([]resolution, 0, len(texts))
	err := EachOf(ctx, r, texts, func(tx *store.Tx, text string) error {
		s := resolver{tx: tx, text: text, opts: opts}
		v, err := s.resolve()
		if errors.Is(err, store.ErrNotFound) {
			err = absent(s.text, s.retired, nil)
		}
		found = append(found, resolution{v, err})
		return nil
	})
	return found, err
}

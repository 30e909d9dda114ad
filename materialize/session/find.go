package session

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"filebus/materialize/likeness"
	"filebus/query"
	"filebus/store/record"
)

// Keys returns every session, the one with the newest record first.
func (r *Registry) Keys(ctx context.Context) ([]Key, error) {
	entries, err := r.entries(ctx, "")
	return keysOf(entries), err
}

// entries lists the artifacts of all sessions, or of those with an id, newest first.
func (r *Registry) entries(ctx context.Context, id string) ([]query.Summary, error) {
	filter := record.Filter{Kinds: []record.Kind{record.KindArtifact}, Sessions: record.Any(id)}
	listing, err := r.read.List(ctx, query.ListRequest{Filter: filter})
	return listing.Entries, err
}

func keysOf(entries []query.Summary) []Key {
	var keys []Key
	seen := map[Key]bool{}
	for _, e := range entries {
		if k, found := keyOf(e); found && !seen[k] {
			seen[k] = true
			keys = append(keys, k)
		}
	}
	return keys
}

// Find returns the session that a text means: its key, its id alone, or the name
// that it was started with. One of the workspace itself comes first.
func (r *Registry) Find(ctx context.Context, text string) (Key, error) {
	found, near, err := r.lookup(ctx, text)
	if err != nil {
		return Key{}, err
	}
	return only(text, found, near)
}

// ID returns the id of the session that a text means and the trees that it is in,
// for what looks at all records of a session. One that has no artifacts any more, or
// only results, is named by its id, and may be in any tree.
func (r *Registry) ID(ctx context.Context, text string) (id string, trees []record.Tree, err error) {
	if id, err = IDOf(text); err != nil {
		return "", nil, err
	}
	found, near, err := r.lookup(ctx, text)
	switch {
	case err != nil:
		return "", nil, err
	case len(found) == 0 && !slices.ContainsFunc(near, func(k Key) bool { return k.ID == id }):
		return id, nil, nil
	case len(found) < 2 || slices.ContainsFunc(found, func(k Key) bool { return k.ID != id }):
		key, err := only(text, found, near)
		return key.ID, []record.Tree{key.Tree}, err
	}
	for _, k := range found {
		trees = append(trees, k.Tree)
	}
	return id, trees, nil
}

// IDOf returns the id of a session that may be given as TYPE/ID.
func IDOf(text string) (string, error) {
	id := text[strings.LastIndexByte(text, '/')+1:]
	if id == "" {
		return "", Unset(text)
	}
	return id, nil
}

// only returns the one session that was found.
func only(text string, found, near []Key) (Key, error) {
	switch len(found) {
	case 0:
		return Key{}, noSession(text, near)
	case 1:
		return found[0], nil
	}
	return Key{}, record.Ambiguous.Errorf("%s can be %d sessions", text, len(found)).Because(ErrSeveral,
		texts(found)...)
}

// lookup returns the sessions that a text means or, if there are none, those that
// come near.
func (r *Registry) lookup(ctx context.Context, text string) (found, near []Key, err error) {
	id := text[strings.LastIndexAny(text, "/:")+1:]
	if id == "" || strings.Contains(text, "//") {
		return nil, nil, Unset(text)
	}
	for _, id := range []string{id, ""} { // most have the id
		entries, err := r.entries(ctx, id)
		found, near = choose(keysOf(entries), text), nearest(keysOf(entries), text)
		if err != nil || len(found) > 0 {
			return found, nil, err
		}
	}
	return nil, near, nil
}

func noSession(text string, near []Key) error {
	return record.NotFound.Errorf("there is no session %s", text).Because(ErrNoSession, texts(near)...)
}

// Discover takes in what was written just now to the folder of the session that a text
// means. One that is not known is looked for on disk: an agent may have written its
// first file a moment before.
func (r *Registry) Discover(ctx context.Context, text string) error {
	key, err := r.Find(ctx, text)
	switch {
	case err == nil:
		return r.TakeInNew(ctx, key)
	case errors.Is(err, ErrSeveral):
		return nil
	case !errors.Is(err, ErrNoSession):
		return err
	}
	kind, id, hasType := strings.Cut(text, "/")
	if !hasType {
		kind, id = "*", text
	}
	if id == "" || strings.ContainsAny(id, `/\:`) || record.CheckID(id) != nil {
		return nil
	}
	types, _ := os.ReadDir(r.w.FilePath(r.w.Settings.Profile.Sessions)) // there may be none
	for _, d := range types {
		if d.IsDir() && (kind == "*" || kind == d.Name()) {
			if err := r.takeIn(ctx, Key{Type: d.Name(), ID: id}, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// choose returns the keys that a text means most exactly.
func choose(keys []Key, text string) []Key {
	for _, matches := range []func(Key) bool{
		func(k Key) bool { return k.String() == text },
		func(k Key) bool { return k.IsOwn() && k.ID == text },
		func(k Key) bool { return k.ID == text || strings.HasSuffix(k.String(), "/"+text) },
		func(k Key) bool { return k.IsOwn() && isNamed(k, text) },
	} {
		found := slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return !matches(k) })
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// isNamed reports whether an id ends with a name that Start was given, in any spelling
// that makes the same id.
func isNamed(k Key, text string) bool {
	name := slug(strings.TrimPrefix(text, k.Type+"/"))
	made, isMade := strings.CutSuffix(k.ID, "-"+name)
	return name != "" && isMade && len(made) == idLength
}

// nearest returns the newest sessions that are spelled like text.
func nearest(keys []Key, text string) []Key {
	kind, id, found := strings.Cut(text, "/")
	if !found {
		id = text
	}
	keys = slices.DeleteFunc(slices.Clone(keys), func(k Key) bool {
		return !(found && k.Type == kind) && !strings.Contains(k.String(), id) && !strings.Contains(text, k.ID) && likeness.Slips(k.ID, id) > 1
	})
	return keys[:min(len(keys), 5)]
}

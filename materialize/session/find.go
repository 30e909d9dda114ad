package session

import (
	"context"
	"os"
	"slices"
	"strings"

	"filebus/query"
	"filebus/store/record"
)

// Keys returns every session, the one with the newest record first.
func (r *Registry) Keys(ctx context.Context) ([]Key, error) {
	entries, err := r.entries(ctx, "")
	if err != nil {
		return nil, err
	}
	return keysOf(entries), nil
}

// entries lists the artifacts of all sessions, or of those with an id, newest first.
func (r *Registry) entries(ctx context.Context, id string) ([]query.Summary, error) {
	listing, err := r.read.List(ctx, query.ListRequest{Filter: record.Filter{Kinds: []record.Kind{record.KindArtifact}, Sessions: record.Any(id)}})
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
	id := text[strings.LastIndexAny(text, "/:")+1:]
	if id == "" || strings.Contains(text, "//") {
		return Key{}, &UnsetError{text}
	}
	entries, err := r.entries(ctx, id)
	if err != nil {
		return Key{}, err
	}
	if key, err := choose(keysOf(entries), text); key != (Key{}) || err != nil {
		return key, err
	}
	keys, err := r.Keys(ctx)
	if err != nil {
		return Key{}, err
	}
	if key, err := choose(keys, text); key != (Key{}) || err != nil {
		return key, err
	}
	return Key{}, &NotFoundError{text, near(keys, text)}
}

// Discover looks on disk for the session that a text means, takes in what lies there,
// and reports whether it has found any: an agent may have written the first file of
// a session a moment before.
func (r *Registry) Discover(ctx context.Context, text string) (found bool, err error) {
	kind, id, hasType := strings.Cut(text, "/")
	if !hasType {
		kind, id = "*", text
	}
	if id == "" || strings.ContainsAny(id, `/\:`) || record.CheckID(id) != nil {
		return false, nil
	}
	types, err := os.ReadDir(r.w.FilePath(r.w.Settings.Profile.Sessions))
	if err != nil {
		return false, nil // there are none
	}
	for _, d := range types {
		key := Key{Type: d.Name(), ID: id}
		if !d.IsDir() || kind != "*" && kind != d.Name() {
			continue
		}
		err := r.takeInIf(ctx, key, func(os.FileInfo) bool {
			found = true
			return true
		})
		if err != nil {
			return found, err
		}
	}
	return found, nil
}

// choose returns the one key that a text means, or the zero Key.
func choose(keys []Key, text string) (Key, error) {
	for _, matches := range []func(Key) bool{
		func(k Key) bool { return k.String() == text },
		func(k Key) bool { return k.IsOwn() && k.ID == text },
		func(k Key) bool { return k.ID == text || strings.HasSuffix(k.String(), "/"+text) },
		func(k Key) bool { return k.IsOwn() && isNamed(k, text) },
	} {
		found := slices.DeleteFunc(slices.Clone(keys), func(k Key) bool { return !matches(k) })
		switch {
		case len(found) == 1:
			return found[0], nil
		case len(found) > 1:
			return Key{}, &AmbiguousError{text, found}
		}
	}
	return Key{}, nil
}

// isNamed reports whether an id ends with a name that Start was given, in any spelling
// that makes the same id.
func isNamed(k Key, text string) bool {
	name := slug(strings.TrimPrefix(text, k.Type+"/"))
	made, isMade := strings.CutSuffix(k.ID, "-"+name)
	return name != "" && isMade && len(made) == idLength
}

// near returns the newest sessions that are spelled like text.
func near(keys []Key, text string) []Key {
	kind, id, found := strings.Cut(text, "/")
	if !found {
		id = text
	}
	keys = slices.DeleteFunc(slices.Clone(keys), func(k Key) bool {
		return !(found && k.Type == kind) && !strings.Contains(k.String(), id) && !strings.Contains(text, k.ID) && !isNearly(k.ID, id)
	})
	return keys[:min(len(keys), 5)]
}

// Package session holds the commands and the rules of sessions: the folders in which the agents of
// one command share files. It makes ids, stores artifacts, tells which are there,
// whether an agent can read what it was told to read, how a session stands, and
// what its files have saved. It gathers what a session's records refer to, now or at
// a step of the log, and lays it out with an index.
//
// A session is the artifacts whose field for the session is its id. There is no
// current one: whoever works in a session names it. Its main types are Sessions,
// Key and Session.
package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/likeness"
	"filebus/materialize/markdown"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// Sessions is the sessions of a workspace.
type Sessions struct {
	w      *materialize.Workspace
	read   *query.Reader
	now    func() time.Time
	Say    func(format string, args ...any) // hears what a user should know of what was done
	NoSync bool                             // what agents have written is not imported
}

// Open returns the Sessions of a workspace. Without one, nil, it can check files.
func Open(w *materialize.Workspace, read *query.Reader, now func() time.Time) *Sessions {
	return &Sessions{w: w, read: read, now: now, Say: func(string, ...any) {}}
}

// open opens a body, which stays readable after the transaction.
func (r *Sessions) open(ctx context.Context, file *record.Record) (io.ReadCloser, error) {
	content, err := query.View(ctx, r.w.Store, func(tx *store.Tx) (store.Content, error) { return tx.Content(file) })
	if err != nil {
		return nil, err
	}
	return content.Open()
}

// A Key says which session is meant.
type Key struct {
	Tree   record.Tree
	Prefix string // the folders that its root lies in, if these are not the workspace's own
	Type   string
	ID     string
}

// String returns the key as it is typed: type/id.
func (k Key) String() string {
	text := path.Join(k.Prefix, k.Type, k.ID)
	if k.Tree != "" {
		text = string(k.Tree) + ":" + text
	}
	return text
}

// MarshalText returns what String does.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// IsOwn reports whether the session is one of the workspace itself, whose files
// may be written.
func (k Key) IsOwn() bool { return k.Tree == "" }

// file returns the name of a file of the session.
func (k Key) file(name string) record.Name {
	return record.Name{Tree: k.Tree, Kind: record.KindArtifact, ID: path.Join(k.Prefix, layout.ArtifactID(k.Type, k.ID, name))}
}

// checkOwn refuses to write to a captured session.
func (k Key) checkOwn() error {
	if !k.IsOwn() {
		const text = "the session %s is part of the captured tree %s, which does not change"
		return record.Conflict.Errorf(text, k, k.Tree).Try("filebus materialize --tree {1} --to DIR", string(k.Tree))
	}
	return nil
}

// keyOf returns the session that a record belongs to, if it is one of its files.
func keyOf(e query.Summary) (Key, bool) {
	return keyIn(e.Version.Record.Name, e.Version.Record.Session, e.Description.Attributes)
}

func keyIn(name record.Name, id string, attributes map[string]string) (Key, bool) {
	k := Key{Tree: name.Tree, Type: attributes[layout.AttributeWorkflow], ID: id}
	if name.Kind != record.KindArtifact || k.Type == "" || k.ID == "" {
		return Key{}, false
	}
	if at := strings.Index("/"+name.ID, "/"+k.Type+"/"); at > 0 && !strings.HasPrefix(name.ID, "~/") {
		k.Prefix = name.ID[:at-1]
	}
	return k, true
}

// Reasons of errors of this package, with what they name.
const (
	ErrNoSession record.Reason = "no such session"  // names those that come near, at most five
	errSeveral   record.Reason = "several sessions" // names them, at most five
)

// Unset returns the error that a text leaves the id of a session out.
func Unset(text string) error {
	wrong := "empty"
	if text != "" {
		wrong = fmt.Sprintf("missing in %q", text)
	}
	return record.Usage.Errorf("the id of the session is %s: is the variable that holds it set?",
		wrong).Try("filebus session list")
}

// noWord returns the error that a text cannot be what it is meant for.
func noWord(what, text, rule string) error {
	return record.Usage.Errorf("%q is no %s: %s", text, what, rule).Try("filebus session --help")
}

// TooLong returns the error that a summary has too many words.
func TooLong(words int) error {
	const message = "the summary has %d words; it has to have fewer than %d, so nothing was stored"
	err := record.Wanting.Errorf(message, words, maxSummary+1)
	return err.Try(fmt.Sprintf("run it again with a summary of at most %d words", maxSummary))
}

// texts returns the first keys as they are typed.
func texts(keys []Key) []string {
	return markdown.Each(keys[:min(len(keys), 5)], Key.String)
}

// Keys returns every session, the one with the newest record first.
func (r *Sessions) Keys(ctx context.Context) ([]Key, error) {
	entries, err := r.entries(ctx, "")
	keys, _ := byKey(entries)
	return keys, err
}

// entries lists the artifacts of all sessions, or of those with an id, newest first.
func (r *Sessions) entries(ctx context.Context, id string) ([]query.Summary, error) {
	filter := record.Filter{Kinds: []record.Kind{record.KindArtifact}, Sessions: record.Any(id)}
	listing, err := r.read.List(ctx, query.ListRequest{Filter: filter})
	return listing.Entries, err
}

// byKey returns the sessions that records belong to, in the order of the records, and the
// records of each.
func byKey(entries []query.Summary) (keys []Key, of map[Key][]query.Summary) {
	of = map[Key][]query.Summary{}
	for _, e := range entries {
		k, found := keyOf(e)
		if !found {
			continue
		}
		if of[k] == nil {
			keys = append(keys, k)
		}
		of[k] = append(of[k], e)
	}
	return keys, of
}

// Find returns the session that a text means: its key, its id alone, or the name
// that it was started with. One of the workspace itself comes first.
func (r *Sessions) Find(ctx context.Context, text string) (Key, error) {
	found, near, err := r.lookup(ctx, text)
	if err != nil {
		return Key{}, err
	}
	return only(text, found, near)
}

// ID returns the id of the session that a text means and the trees that it is in,
// for what looks at all records of a session. One that has no artifacts any more, or
// only results, is named by its id, and may be in any tree.
func (r *Sessions) ID(ctx context.Context, text string) (id string, trees []record.Tree, err error) {
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
	return id, markdown.Each(found, func(k Key) record.Tree { return k.Tree }), nil
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
	several := record.Ambiguous.Errorf("%s can be %d sessions", text, len(found))
	return Key{}, several.Try("filebus session show {each}", texts(found)...).Because(errSeveral)
}

// lookup returns the sessions that a text means or, if there are none, those that
// come near.
func (r *Sessions) lookup(ctx context.Context, text string) (found, near []Key, err error) {
	id := text[strings.LastIndexAny(text, "/:")+1:]
	if id == "" || strings.Contains(text, "//") {
		return nil, nil, Unset(text)
	}
	var keys []Key
	for _, id := range []string{id, ""} { // most have the id
		entries, err := r.entries(ctx, id)
		keys, _ = byKey(entries)
		if found = choose(keys, text); err != nil || len(found) > 0 {
			return found, nil, err
		}
	}
	keys = r.withFolders(keys)
	found = choose(keys, text)
	return found, slices.DeleteFunc(keys, func(k Key) bool {
		return !likeness.IsNear(k.ID, id) && !strings.HasPrefix(text, k.Type+"/")
	}), nil
}

// withFolders adds the sessions of the workspace that have a folder or a file on disk.
func (r *Sessions) withFolders(keys []Key) []Key {
	top := r.w.Settings.Profile.Sessions
	types, _ := os.ReadDir(r.w.FilePath(top)) // there may be none
	for _, kind := range types {
		files, _ := os.ReadDir(r.w.FilePath(path.Join(top, kind.Name())))
		for _, f := range files {
			id := r.w.Settings.Profile.Recognize(path.Join(top, kind.Name(), f.Name())).Facts.Session // of a review
			if f.IsDir() {
				id = f.Name()
			}
			if key := (Key{Type: kind.Name(), ID: id}); id != "" && !slices.Contains(keys, key) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

func noSession(text string, near []Key) error {
	none := record.NotFound.Errorf("there is no session %s", text).Because(ErrNoSession)
	return nearest(none, "filebus session show {each}", texts(near))
}

// nearest adds to an error that a session is missing those that may be meant.
func nearest(none *record.Error, hint string, near []string) error {
	if len(near) == 0 {
		hint = "filebus session list"
	}
	return none.Try(hint, near[:min(len(near), 5)]...)
}

// nothing returns the error that nothing is stored of a session, with at most five
// ids that come near.
func (r *Sessions) nothing(ctx context.Context, id string) error {
	values, err := r.read.Values(ctx, store.FieldSession, "")
	ids := markdown.Each(values, func(v store.Value) string { return v.Text })
	near := slices.DeleteFunc(ids, func(other string) bool { return other == id || !likeness.IsNear(id, other) })
	none := record.NotFound.Errorf("nothing is stored of a session %q", id)
	return errors.Join(nearest(none, "filebus list --session {each}", near), err)
}

// Discover imports what was written to the folder of the session that a text means, if it means one.
func (r *Sessions) Discover(ctx context.Context, text string) error {
	key, err := r.Find(ctx, text)
	switch {
	case err == nil:
		return r.Import(ctx, key)
	case errors.Is(err, errSeveral), errors.Is(err, ErrNoSession):
		return nil
	}
	return err
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
// that makes the same id, or behind the date that a hand has put before it.
func isNamed(k Key, text string) bool {
	text = strings.TrimPrefix(text, k.Type+"/")
	name := slug(text)
	made, isMade := strings.CutSuffix(k.ID, "-"+name)
	word := layout.Slug(numbered().ReplaceAllString(k.ID, "$1"))
	return name != "" && isMade && len(made) == idLength || word != "" && word == layout.Slug(text)
}

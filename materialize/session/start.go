package session

import (
	"context"
	"crypto/rand"
	"errors"
	"path/filepath"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/store"
	"filebus/store/record"
)

// A Started is a session that was just begun.
type Started struct {
	Key     Key       `json:"session"`
	ID      string    `json:"id"`
	Type    string    `json:"type"`
	Name    string    `json:"name,omitempty"`
	Started time.Time `json:"started"`
	Folder  string    `json:"folder"` // absolute; it is there
}

const (
	idTime   = "20060102-150405"
	idRandom = 4
	idLength = len(idTime) + 1 + idRandom
	// startTries is how many ids are tried: two in one second have a million
	// different ends.
	startTries = 20
	maxName    = 40 // bytes of a name in an id
)

var (
	typeWord = layout.Pattern(`^[a-z0-9][a-z0-9_-]{0,39}$`)
	device   = layout.Pattern(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`) // no folder on Windows
	review   = layout.Pattern(`^pr_[0-9]{1,18}$`)
)

// CheckType returns an ErrWord for what cannot be the type of a session.
func CheckType(kind string) error {
	if !typeWord().MatchString(kind) || device().MatchString(kind) {
		return noWord("type of a session", kind, "it is a word of at most 40 lower-case letters, digits, - and _")
	}
	return nil
}

// Start begins a session of a type with an id that no session has, claimed by its
// metadata.json, and makes its folder. The id is the second at which it began, in
// UTC, four random characters and the name if there is one, so that ids sort by
// time. A review of a pull request (pr_reviews, pr_42) has its name as id.
func (r *Registry) Start(ctx context.Context, kind, name string) (*Started, error) {
	if err := CheckType(kind); err != nil {
		return nil, err
	}
	if layout.IsReviewSession(kind, name) && review().MatchString(name) {
		started, err := r.claim(ctx, Key{Type: kind, ID: name}, "")
		if isTaken(err) {
			key := kind + "/" + name
			err = record.Conflict.Errorf("the session %s is there already", key).Because(ErrTaken, key)
		}
		return started, err
	}
	word := slug(name)
	if name != "" && word == "" {
		return nil, noWord("name of a session", name, "it has no letter and no digit")
	}
	for try := 1; ; try++ {
		id := r.now().UTC().Format(idTime) + "-" + strings.ToLower(rand.Text()[:idRandom])
		if word != "" {
			id += "-" + word
		}
		started, err := r.claim(ctx, Key{Type: kind, ID: id}, strings.Join(strings.Fields(name), " "))
		if !isTaken(err) || try == startTries {
			return started, err
		}
	}
}

// isTaken reports whether a session could not begin as something has its id.
func isTaken(err error) bool {
	return errors.Is(err, store.ErrConflict) && !errors.Is(err, mirror.ErrLink)
}

// slug makes a part of an id of a name.
func slug(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	text := strings.Join(words, "-")
	return strings.Trim(text[:min(len(text), maxName)], "-")
}

// claim makes a session with an id that nothing belongs to yet, or returns a
// store.ErrConflict.
func (r *Registry) claim(ctx context.Context, key Key, name string) (*Started, error) {
	meta := layout.SessionMeta{
		Type: key.Type, ID: key.ID, Name: name, Started: r.now().UTC().Truncate(1e9), Status: layout.StatusInProgress,
	}
	text, err := layout.AppendSessionMeta(nil, meta)
	if err != nil {
		return nil, err
	}
	file := key.file(layout.SessionMetaFile)
	put, err := r.w.Put(ctx, materialize.PutRequest{
		Kind: file.Kind, ID: file.ID, Text: strings.NewReader(string(text)),
		Source: record.SourcePut, Expect: store.Absent(), NewSession: key.ID,
	})
	if err != nil {
		return nil, r.orLink(ctx, file, err)
	}
	return &Started{key, key.ID, key.Type, name, meta.Started, filepath.Dir(put.File)}, nil
}

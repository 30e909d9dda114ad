package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/markdown"
	"filebus/materialize/mirror"
	"filebus/materialize/secrets"
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
	noDevice   = ", and none of the names that Windows keeps for devices"
)

var (
	typeWord = layout.Pattern(`^[\p{Ll}\p{Lo}\pN][\p{Ll}\p{Lm}\p{Lo}\pM\pN_-]{0,39}$`)
	device   = layout.Pattern(`^(con|prn|aux|nul|com[0-9]|lpt[0-9])$`) // no folder on Windows
	review   = layout.Pattern(`^pr_[0-9]{1,18}$`)
)

// CheckType returns an error for what cannot be the type of a session.
func CheckType(kind string) error {
	if !typeWord().MatchString(kind) || device().MatchString(kind) {
		return noWord("type of a session", kind, "it is a word of at most 40 lower-case letters, digits, - and _"+noDevice)
	}
	return nil
}

// Start begins a session of a type with an id that no session has, claimed by its
// metadata.json, and makes its folder. The id is the second at which it began, in
// UTC, four random characters and the name if there is one, so that ids sort by
// time. A review of a pull request (pr_reviews, pr_42) has its name as id. It is complete when the
// artifacts asked are there.
func (r *Sessions) Start(ctx context.Context, kind, name string, asked ...string) (*Started, error) {
	if err := CheckType(kind); err != nil {
		return nil, err
	}
	for _, artifact := range asked {
		if err := checkArtifact(artifact); err != nil {
			return nil, err
		}
	}
	if layout.IsReviewSession(kind, name) && review().MatchString(name) {
		started, err := r.claim(ctx, Key{Type: kind, ID: name}, "", asked)
		if isTaken(err) {
			key := kind + "/" + name
			err = record.Conflict.Errorf("the session %s is there already", key).Try("filebus session show {1}", key)
		}
		return started, err
	}
	word := slug(secrets.Text(name))
	if name != "" && layout.Slug(name) == "" {
		return nil, noWord("name of a session", name, "it has no letter and no digit")
	}
	for try := 1; ; try++ {
		id := r.now().UTC().Format(idTime) + "-" + strings.ToLower(rand.Text()[:idRandom])
		if word != "" {
			id += "-" + word
		}
		started, err := r.claim(ctx, Key{Type: kind, ID: id}, strings.Join(strings.Fields(name), " "), asked)
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
func (r *Sessions) claim(ctx context.Context, key Key, name string, asked []string) (*Started, error) {
	meta := layout.SessionMeta{
		Type: key.Type, ID: key.ID, Name: name, Started: r.now().UTC().Truncate(1e9), Status: layout.StatusInProgress, Asked: asked,
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
		return nil, err
	}
	return &Started{key, key.ID, key.Type, name, meta.Started, filepath.Dir(put.File)}, nil
}

// End writes how a session has ended into its metadata.json, and returns it as it is
// then. The status "" leaves one that has ended as it is, and else takes what the
// artifacts say.
func (r *Sessions) End(ctx context.Context, key Key, status string) (*Session, error) {
	if err := key.checkOwn(); err != nil {
		return nil, err
	}
	if status != "" && !isEnd(status) {
		return nil, noWord("status that a session ends with", status, "it is completed, interrupted or failed")
	}
	s, err := r.Read(ctx, key)
	if err != nil {
		return nil, err
	}
	switch {
	case status == "" && s.hasEnded():
		return s, nil
	case status == "":
		var why string
		if status, why = s.outcome(); why != "" {
			r.Say("it counts as %s: %s; filebus session end %s --status completed says otherwise", status, why,
				record.ShellWord(key.String()))
		}
	}
	now := r.now().UTC().Truncate(time.Second)
	err = r.editMeta(ctx, key, func(m *layout.SessionMeta) {
		if m.Status != status || m.Ended.IsZero() {
			m.Status, m.Ended, m.Reopened = status, now, time.Time{}
		}
	})
	if err != nil {
		return nil, err
	}
	return r.Read(ctx, key)
}

// Reopen makes a session that had ended one in progress, as somebody works in it, and says so.
func (r *Sessions) Reopen(ctx context.Context, key Key) error {
	s, err := r.Read(ctx, key)
	if err != nil || !s.hasEnded() {
		return err
	}
	word := record.ShellWord(key.String())
	r.Say("%s had ended, %s, and is in progress again; filebus session end %s ends it", key, s.meta.Status, word)
	if s.Archive != "" {
		r.Say("its files until then are in %s; filebus session replay %s --steps lists them, "+
			"filebus rm --restore NAME brings one back", s.Archive, word)
	}
	return r.editMeta(ctx, key, func(m *layout.SessionMeta) {
		m.Status, m.Ended, m.Reopened = layout.StatusInProgress, time.Time{}, r.now().UTC().Truncate(time.Second)
	})
}

// editMeta changes the metadata of a session, which gets some if it has none that can
// be read. What stood there stays a version of the file.
func (r *Sessions) editMeta(ctx context.Context, key Key, edit func(*layout.SessionMeta)) error {
	name := key.file(layout.SessionMetaFile)
	_, err := r.w.EditText(ctx, name.Kind, name.ID, record.SourcePut, func(old []byte, _ *store.Version) ([]byte, error) {
		m, problem := layout.ParseSessionMeta(old)
		if problem != nil {
			m = layout.SessionMeta{}
			m.Started, _ = time.Parse(idTime, key.ID[:min(len(key.ID), len(idTime))]) // zero for ids of others
		}
		m.Type, m.ID = cmp.Or(m.Type, key.Type), cmp.Or(m.ID, key.ID)
		edit(&m)
		return layout.AppendSessionMeta(nil, m)
	})
	return err
}

// Old returns the sessions of the workspace that are kept no longer, the oldest
// last: of each type all but the newest keep ones, and of these only those of which
// nothing was stored since before, unless that is zero. One that is in progress, or
// that nobody has ended and that has changed within the last hour, stays and does
// not count, whatever its artifacts say; one to which records of other kinds belong,
// such as results, or files that were not stored yet, stays.
func (r *Sessions) Old(ctx context.Context, keep int, before time.Time) (old []*Session, err error) {
	list, _, err := r.List(ctx, "", cli.Page{})
	if err != nil {
		return nil, err
	}
	seen := map[string]int{}
	for _, s := range list {
		// A first report makes a session completed while the others are still written.
		inUse := s.Status == layout.StatusInProgress || !s.hasEnded() && isRecent(s.Changed, r.now())
		if !s.Key.IsOwn() || inUse {
			continue
		}
		seen[s.Type]++
		if seen[s.Type] <= keep || !before.IsZero() && !s.Changed.Before(before) {
			continue
		}
		changed := s.Changed
		if s, err = r.current(ctx, s.Key); err != nil { // with the others
			return nil, err
		}
		if s.Others == 0 && s.Changed.Equal(changed) {
			old = append(old, s)
		}
	}
	return old, nil
}

// RemoveFolder removes the folder of a session that has nothing in it any more.
func (r *Sessions) RemoveFolder(key Key) error {
	file, err := r.w.PathOf(key.file(layout.SessionMetaFile))
	if err != nil {
		return err
	}
	if err = os.Remove(filepath.Dir(file)); errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return nil // it is gone, or somebody uses it
	}
	return err
}

// Names returns the names of all files of a session.
func (s *Session) Names() []record.Name {
	return markdown.Each(s.Files, func(v store.Version) record.Name { return v.Record.Name })
}

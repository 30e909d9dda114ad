package session

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// End writes how a session has ended into its metadata.json, and returns it as it is
// then. The status "" leaves one that has ended as it is, and else takes what the
// artifacts say.
func (r *Registry) End(ctx context.Context, key Key, status string) (*Session, error) {
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
	if status == "" && s.hasEnded() {
		return s, nil
	}
	if status == "" {
		status = s.Outcome()
	}
	now := r.now().UTC().Truncate(time.Second)
	if err := r.editMeta(ctx, key, func(m *layout.SessionMeta) {
		if m.Status != status || m.Ended.IsZero() {
			m.Status, m.Ended = status, now
		}
	}); err != nil {
		return nil, err
	}
	return r.Read(ctx, key)
}

// editMeta changes the metadata of a session, which gets some if it has none that can
// be read. What stood there stays a version of the file.
func (r *Registry) editMeta(ctx context.Context, key Key, edit func(*layout.SessionMeta)) error {
	name := key.file(layout.SessionMetaFile)
	_, err := r.w.EditText(ctx, name.Kind, name.ID, record.SourcePut, func(old []byte, _ *store.Version) ([]byte, error) {
		m, problem := layout.ParseSessionMeta(old)
		if problem != nil {
			m = layout.SessionMeta{Started: startOf(key.ID)}
		}
		m.Type, m.ID = cmp.Or(m.Type, key.Type), cmp.Or(m.ID, key.ID)
		edit(&m)
		return layout.AppendSessionMeta(nil, m)
	})
	return r.orLink(ctx, name, err)
}

// startOf returns the time that an id of Start begins with, or zero.
func startOf(id string) time.Time {
	at, _ := time.Parse(idTime, id[:min(len(id), len(idTime))]) // zero for other ids
	return at
}

// An OldSession is a session that is kept no longer.
type OldSession struct {
	Key   Key
	Names []record.Name // of its files
}

// Old returns the sessions of the workspace that are kept no longer, the oldest
// last: of each type all but the newest keep ones, and of these only those of which
// nothing was stored since before, unless that is zero. One that is in progress, or
// that nobody has ended and that has changed within the last hour, stays and does
// not count, whatever its artifacts say; one to which records of other kinds belong,
// such as results, stays.
func (r *Registry) Old(ctx context.Context, keep int, before time.Time) ([]OldSession, error) {
	list, _, err := r.List(ctx, ListOptions{})
	if err != nil {
		return nil, err
	}
	var old []OldSession
	seen := map[string]int{}
	for _, s := range list {
		if !s.Key.IsOwn() || s.isInUse(r.now()) {
			continue
		}
		seen[s.Key.Type]++
		if seen[s.Key.Type] <= keep || !before.IsZero() && !s.Changed.Before(before) {
			continue
		}
		used, err := r.hasOthers(ctx, s.Key)
		if err == nil && !used && !s.hasEnded() {
			used, err = r.isWrittenTo(s.Key)
		}
		if err != nil {
			return nil, err
		}
		if !used {
			old = append(old, OldSession{s.Key, s.names()})
		}
	}
	return old, nil
}

// isInUse reports whether agents may be at work in a session. A first report makes
// it completed while the others are still written.
func (s *Session) isInUse(now time.Time) bool {
	return s.Status(now) == StatusInProgress || !s.hasEnded() && isRecent(s.Changed, now)
}

// isWrittenTo reports whether a file of a session has changed on disk within the last
// hour. It may not be stored yet.
func (r *Registry) isWrittenTo(key Key) (bool, error) {
	paths, err := r.paths(key)
	for _, p := range paths {
		if info, err := os.Lstat(r.w.FilePath(p)); err == nil && isRecent(info.ModTime(), r.now()) {
			return true, nil
		}
	}
	return false, err
}

// RemoveFolder removes the folder of a session that has nothing in it any more.
func (r *Registry) RemoveFolder(key Key) error {
	file, err := r.w.PathOf(key.file(layout.SessionMetaFile))
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(entries) > 0 {
		return nil // it is gone, or somebody uses it
	}
	err = os.Remove(filepath.Dir(file))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrExist) {
		return nil // by now
	}
	return err
}

// names returns the names of all files of a session.
func (s *Session) names() []record.Name {
	var names []record.Name
	for _, v := range s.Files {
		names = append(names, v.Record.Name)
	}
	return names
}

// hasOthers reports whether records of other kinds, such as results, belong to a
// session: then its files say where they come from.
func (r *Registry) hasOthers(ctx context.Context, key Key) (bool, error) {
	listing, err := r.read.List(ctx, query.ListRequest{Filter: record.Filter{Sessions: record.Any(key.ID), Trees: []record.Tree{""}}})
	if err != nil {
		return false, err
	}
	for _, e := range listing.Entries {
		if e.Version.Record.Name.Kind != record.KindArtifact {
			return true, nil
		}
	}
	return false, nil
}

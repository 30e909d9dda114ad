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
		status = s.outcome()
	}
	now := r.now().UTC().Truncate(time.Second)
	err = r.editMeta(ctx, key, func(m *layout.SessionMeta) {
		if m.Status != status || m.Ended.IsZero() {
			m.Status, m.Ended = status, now
		}
	})
	if err != nil {
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

// Old returns the sessions of the workspace that are kept no longer, the oldest
// last: of each type all but the newest keep ones, and of these only those of which
// nothing was stored since before, unless that is zero. One that is in progress, or
// that nobody has ended and that has changed within the last hour, stays and does
// not count, whatever its artifacts say; one to which records of other kinds belong,
// such as results, stays.
func (r *Registry) Old(ctx context.Context, keep int, before time.Time) (old []*Session, err error) {
	list, _, err := r.List(ctx, "", 0)
	if err != nil {
		return nil, err
	}
	seen := map[string]int{}
	for _, s := range list {
		// A first report makes a session completed while the others are still written.
		inUse := s.Status == StatusInProgress || !s.hasEnded() && isRecent(s.Changed, r.now())
		if !s.Key.IsOwn() || inUse {
			continue
		}
		seen[s.Type]++
		if seen[s.Type] <= keep || !before.IsZero() && !s.Changed.Before(before) {
			continue
		}
		if s, err = r.Read(ctx, s.Key); err != nil { // with the others
			return nil, err
		}
		written := false
		if s.Others == 0 && !s.hasEnded() {
			written, err = r.isWrittenTo(s.Key)
		}
		if err != nil {
			return nil, err
		}
		if s.Others == 0 && !written {
			old = append(old, s)
		}
	}
	return old, nil
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

// Names returns the names of all files of a session.
func (s *Session) Names() []record.Name {
	var names []record.Name
	for _, v := range s.Files {
		names = append(names, v.Record.Name)
	}
	return names
}

package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"

	"filebus/materialize/layout"
	"filebus/store/record"
)

// The states in which a check finds a file. Their text is printed.
const (
	FileOK         = "ok"
	FileMissing    = "missing"
	FileUnreadable = "unreadable"
	FileIrregular  = "irregular" // a link, a folder, a pipe
	FileEmpty      = "empty"
	FileTruncated  = "truncated"
	FileGrowing    = "growing" // or just written by nobody's command
	FileChanged    = "changed" // it is not what the store has
	FileOpen       = "open"    // its agent has not ended
)

// A Finding says how an agent finds a file that it was told to read.
type Finding struct {
	Artifact string `json:"artifact,omitempty"` // "" for a file of no session
	File     string `json:"file"`               // absolute
	State    string `json:"state"`
	Detail   string `json:"detail,omitempty"`
	Do       string `json:"do,omitempty"` // the command line that helps
	Tokens   int    `json:"tokens"`       // about
	Stored   bool   `json:"stored"`       // the store has these bytes
}

// Check looks at artifacts of a session as an agent would that was told to read
// them; without any, at all that the store or the folder has. It writes nothing.
func (r *Registry) Check(ctx context.Context, key Key, artifacts []string) ([]Finding, error) {
	if err := key.checkOwn(); err != nil {
		return nil, err
	}
	s, err := r.Read(ctx, key)
	if err != nil {
		return nil, err
	}
	known := map[string]target{}
	for _, a := range s.Artifacts {
		known[a.Name] = target{a.Name, r.w.FilePath(a.Path), a.Version.Record.Name, s}
	}
	if len(artifacts) == 0 {
		if artifacts, err = r.all(s, known); err != nil {
			return nil, err
		}
	}
	var targets []target
	for _, artifact := range artifacts {
		t, found := known[artifact]
		if !found {
			t = target{artifact: nameOf(key, artifact), of: s}
			if t.name, err = r.readable(ctx, key, artifact); err == nil {
				t.file, err = r.w.PathOf(t.name)
			}
		}
		if err != nil {
			return nil, err
		}
		targets = append(targets, t)
	}
	return r.lookAll(ctx, targets)
}

// A target is a file to be checked.
type target struct {
	artifact string
	file     string
	name     record.Name
	of       *Session // nil for a file of no session
}

// all adds to the artifacts that are known those that only the disk has, and names
// them all.
func (r *Registry) all(s *Session, known map[string]target) ([]string, error) {
	paths, err := r.paths(s.Key)
	for _, p := range paths {
		artifact := layout.ArtifactName(p, s.Type, s.ID)
		_, isSummary := layout.IsSummary(artifact)
		if _, found := known[artifact]; !found && !isSummary && !isOwnFile(artifact) {
			name := record.Name{Kind: record.KindArtifact, ID: r.w.Settings.Profile.Recognize(p).ID}
			known[artifact] = target{artifact, r.w.FilePath(p), name, s}
		}
	}
	return slices.Sorted(maps.Keys(known)), err
}

func (r *Registry) lookAll(ctx context.Context, targets []target) (findings []Finding, err error) {
	for _, t := range targets {
		found, err := r.look(ctx, t)
		if err != nil {
			return nil, err
		}
		findings = append(findings, found)
	}
	return findings, nil
}

// isOwnFile reports whether a file of a session is no agent's.
func isOwnFile(name string) bool {
	return name == layout.SessionMetaFile || name == layout.SessionLogFile
}

// paths returns what lies on disk of a session, as records have it: the files of its
// folder and, of a review, those beside the folder.
func (r *Registry) paths(key Key) (paths []string, err error) {
	file, err := r.w.PathOf(key.file(layout.SessionMetaFile))
	if err != nil {
		return nil, err
	}
	folder := filepath.Dir(file)
	top := folder
	if layout.IsReviewSession(key.Type, key.ID) {
		top = filepath.Dir(folder)
	}
	err = filepath.WalkDir(top, func(file string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // it went meanwhile
		case err != nil:
			return err
		case d.IsDir() && filepath.Dir(file) == top && top != folder && file != folder:
			return fs.SkipDir // of another session
		case d.IsDir():
			return nil
		}
		p, err := filepath.Rel(r.w.Root, file)
		place := r.w.Settings.Profile.Recognize(filepath.ToSlash(p))
		if err == nil && place.Kind == record.KindArtifact && place.Facts.Session == key.ID {
			paths = append(paths, filepath.ToSlash(p))
		}
		return nil // it is below the root
	})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", folder, err)
	}
	return paths, nil
}

// UnsetIn returns what is wrong with a path whose session was left out, as in
// sessions/build//context.md, or nil.
func UnsetIn(file string) error {
	if withoutSession().MatchString(filepath.ToSlash(file)) {
		return Unset(file)
	}
	return nil
}

var withoutSession = layout.Pattern(`(^|/)sessions/([^/]+/)?/`)

// CheckFiles looks at files, absolute, whatever they belong to, in the same way. The
// Registry of no workspace has nothing to compare them with.
func (r *Registry) CheckFiles(ctx context.Context, files []string) ([]Finding, error) {
	var targets []target
	for _, file := range files {
		t := target{file: file}
		if r.w != nil {
			var err error
			if t, err = r.targetOf(ctx, file); err != nil {
				return nil, err
			}
		}
		targets = append(targets, t)
	}
	return r.lookAll(ctx, targets)
}

// targetOf finds out what a file belongs to.
func (r *Registry) targetOf(ctx context.Context, file string) (target, error) {
	p, err := filepath.Rel(r.w.Root, file)
	if err != nil {
		p = ""
	}
	p = filepath.ToSlash(p)
	place := r.w.Settings.Profile.Recognize(p)
	t := target{file: file, name: record.Name{Kind: place.Kind, ID: place.ID}}
	key, isFile := keyIn(t.name, place.Facts.Session, place.Facts.Attributes)
	if !isFile {
		return t, nil
	}
	s, err := r.Read(ctx, key)
	if errors.Is(err, ErrNoSession) {
		return t, nil
	}
	t.artifact, t.of = layout.ArtifactName(p, key.Type, key.ID), s
	return t, err
}

package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// A File is the transcript of one run.
type File struct {
	Path     string
	Session  string
	ID       string // of a sub-agent; "": it is that of a session
	Agent    string // its type, if it is known
	Size     int64
	Modified time.Time
	// IsForeign says that no agent was asked for: see Run.
	IsForeign bool
}

// SubAgents lists the transcripts of a session's sub-agents, by the folder that is called as the session, in the
// order of their paths. A folder that is not there has none.
func SubAgents(dir string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		err := filepath.WalkDir(filepath.Join(dir, "subagents"), func(file string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // there is none, or it went meanwhile
			}
			id, isAgent := strings.CutPrefix(filepath.Base(file), "agent-")
			id, isLines := strings.CutSuffix(id, ".jsonl")
			if err != nil || !isAgent || !isLines || !d.Type().IsRegular() {
				return err
			}
			f, err := fileOf(file)
			f.Session, f.ID = filepath.Base(dir), id
			f.addMeta(strings.TrimSuffix(file, ".jsonl") + ".meta.json")
			if err == nil && !yield(f, nil) {
				return fs.SkipAll
			}
			return err
		})
		if err != nil {
			yield(File{}, err)
		}
	}
}

func fileOf(file string) (File, error) {
	info, err := os.Stat(file)
	if err != nil {
		return File{Path: file}, err
	}
	return File{Path: file, Size: info.Size(), Modified: info.ModTime()}, nil
}

// addMeta takes what the client says of an agent beside its transcript. Older versions say nothing.
func (f *File) addMeta(file string) {
	text, err := os.ReadFile(file)
	var meta struct {
		AgentType *string `json:"agentType"`
	}
	if err == nil && json.Unmarshal(text, &meta) == nil && meta.AgentType != nil {
		f.Agent, f.IsForeign = *meta.AgentType, *meta.AgentType == ""
	}
}

// Claude lists the transcripts of Claude Code that are of a project or a folder below it: each session's and then those
// of its sub-agents. config is the folder of its configuration.
func Claude(ctx context.Context, config, project string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		name := FolderName(project)
		folders, err := os.ReadDir(filepath.Join(config, "projects"))
		if err != nil {
			yield(File{}, err)
			return
		}
		for _, folder := range folders {
			if folder.Name() != name && !strings.HasPrefix(folder.Name(), name+"-") {
				continue
			}
			for f, err := range sessionsIn(ctx, filepath.Join(config, "projects", folder.Name()), project) {
				if !yield(f, err) {
					return
				}
			}
		}
	}
}

// sessionsIn lists the transcripts in one folder of Claude Code, of sessions that began in a project. Of a session whose
// own transcript is gone there are those of its sub-agents.
func sessionsIn(ctx context.Context, folder, project string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			yield(File{}, err)
			return
		}
		var sessions []string
		for _, e := range entries {
			if session, isLines := strings.CutSuffix(e.Name(), ".jsonl"); isLines || e.IsDir() {
				sessions = append(sessions, session)
			}
		}
		slices.Sort(sessions)
		for _, session := range slices.Compact(sessions) {
			var files []File
			if f, err := fileOf(filepath.Join(folder, session+".jsonl")); err == nil {
				f.Session = session
				files = append(files, f)
			}
			for f, err := range SubAgents(filepath.Join(folder, session)) {
				if err != nil {
					yield(f, err)
					return
				}
				files = append(files, f)
			}
			if len(files) == 0 || !isBelow(head(ctx, files[0].Path).Cwd, project) {
				continue
			}
			for _, f := range files {
				if !yield(f, nil) {
					return
				}
			}
		}
	}
}

// Codex lists the transcripts of Codex that are of a project or a folder below it, the oldest first. home is the folder
// of its configuration.
func Codex(ctx context.Context, home, project string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		err := filepath.WalkDir(filepath.Join(home, "sessions"), func(file string, d fs.DirEntry, err error) error {
			if ok, _ := filepath.Match("rollout-*.jsonl", filepath.Base(file)); err != nil || !ok || !d.Type().IsRegular() {
				return err
			}
			run := head(ctx, file)
			f, err := fileOf(file)
			f.Session, f.ID, f.Agent, f.IsForeign = run.Session, run.ID, run.Agent, run.IsForeign
			if err == nil && isBelow(run.Cwd, project) && !yield(f, nil) {
				return fs.SkipAll
			}
			return err
		})
		if err != nil {
			yield(File{}, err)
		}
	}
}

// head reads the beginning of a transcript, until it tells where its agent began.
func head(ctx context.Context, file string) *Run {
	run := &Run{}
	if f, err := os.Open(file); err == nil {
		defer func() { _ = f.Close() }() // only read
		for lines := NewLineReader(io.LimitReader(f, MaxText), MaxText); run.Cwd == "" && err == nil; {
			var line []byte
			line, err = lines.Next(ctx)
			if w, ok := parseRow(line); ok {
				run.Rows++
				run.take(w)
			}
		}
	}
	return run
}

// isBelow reports whether a folder is a project or below it, as they are called or as they are.
func isBelow(dir, project string) bool {
	for _, of := range []string{dir, resolved(dir)} {
		for _, top := range []string{project, resolved(project)} {
			if rel, err := filepath.Rel(top, of); dir != "" && err == nil && filepath.IsLocal(rel) {
				return true
			}
		}
	}
	return false
}

// resolved returns the path of a folder without links, or as it is called if it is gone.
func resolved(dir string) string {
	if path, err := filepath.EvalSymlinks(dir); err == nil {
		return path
	}
	return dir
}

// FolderName returns how Claude Code calls the folder of a project's transcripts.
func FolderName(project string) string {
	const most = 200
	var name []byte
	var hash int32
	for _, unit := range utf16.Encode([]rune(resolved(project))) {
		c := byte('-')
		if unit < 128 && strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", rune(unit)) {
			c = byte(unit)
		}
		name, hash = append(name, c), 31*hash+int32(unit)
	}
	if len(name) <= most {
		return string(name)
	}
	return string(name[:most]) + "-" + strconv.FormatInt(max(int64(hash), -int64(hash)), 36)
}

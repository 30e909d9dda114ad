package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"filebus/store/record"
)

// A File is the transcript of one run, of which the beginning was read.
type File struct {
	Run
	Path     string
	Size     int64
	Modified time.Time
}

// SubAgents lists the transcripts of a session's sub-agents, by the folder that is called as the
// session. A folder that is not there has none.
func SubAgents(ctx context.Context, dir string) (files []File, err error) {
	err = filepath.WalkDir(filepath.Join(dir, "subagents"), func(file string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // there is none, or it went meanwhile
		}
		id, isAgent := strings.CutPrefix(filepath.Base(file), "agent-")
		id, isLines := strings.CutSuffix(id, ".jsonl")
		if err != nil || !isAgent || !isLines || !d.Type().IsRegular() {
			return err
		}
		f := begin(ctx, file)
		f.Session, f.ID = filepath.Base(dir), id
		var meta struct{ AgentType *string } // older versions say nothing
		text, err := os.ReadFile(strings.TrimSuffix(file, ".jsonl") + ".meta.json")
		if err == nil && json.Unmarshal(text, &meta) == nil && meta.AgentType != nil {
			f.Agent, f.IsForeign = *meta.AgentType, *meta.AgentType == ""
		}
		files = append(files, f)
		return nil
	})
	return files, err
}

// Claude lists the transcripts of Claude Code that are of a project or a folder below it: of each
// session and of its sub-agents, which may outlive it. config is the folder of its configuration.
func Claude(ctx context.Context, config, project string) (files []File, err error) {
	all := filepath.Join(config, "projects", FolderName(project)+"*")
	found, _ := filepath.Glob(filepath.Join(all, "*.jsonl"))
	folders, _ := filepath.Glob(filepath.Join(all, "*", "subagents")) // both patterns are sound
	for _, folder := range folders {
		found = append(found, filepath.Dir(folder)+".jsonl")
	}
	slices.Sort(found)
	for _, file := range slices.Compact(found) {
		session := strings.TrimSuffix(file, ".jsonl")
		of, err := SubAgents(ctx, session)
		if err != nil {
			return nil, err
		}
		if f := begin(ctx, file); f.Size > 0 {
			f.Session, f.ID = filepath.Base(session), ""
			of = append([]File{f}, of...)
		}
		if slices.ContainsFunc(of, func(f File) bool { return isBelow(f.Cwd, project) }) {
			files = append(files, of...)
		}
	}
	return files, nil
}

// Codex lists the transcripts of Codex, in the same way.
func Codex(ctx context.Context, config, project string) (files []File, err error) {
	found, err := filepath.Glob(filepath.Join(config, "sessions", "*", "*", "*", "rollout-*.jsonl"))
	for _, file := range found {
		if f := begin(ctx, file); isBelow(f.Cwd, project) {
			files = append(files, f)
		}
	}
	return files, err
}

// begin reads the beginning of a transcript, until it tells where its agent began and what it was told.
func begin(ctx context.Context, file string) (f File) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return f
	}
	run := &Run{begins: true}
	_ = run.ReadFile(ctx, file, MaxText) // what cannot be read says nothing here
	f = File{Path: file, Size: info.Size(), Modified: info.ModTime()}
	f.Session, f.ID, f.Agent, f.Cwd = run.Session, run.ID, run.Agent, run.Cwd
	f.Prompt, f.IsForeign = run.Prompt, run.IsForeign
	return f
}

// isBelow reports whether a folder is a project or below it.
func isBelow(dir, project string) bool {
	if dir == "" || len(dir) > record.MaxID {
		return false
	}
	rel, err := filepath.Rel(resolved(project), resolved(dir))
	return err == nil && filepath.IsLocal(rel)
}

// resolved returns the path of a folder without links. Of one that is gone, the links above it count.
func resolved(dir string) string {
	path, err := filepath.EvalSymlinks(dir)
	if parent := filepath.Dir(dir); err != nil && parent != dir {
		path = filepath.Join(resolved(parent), filepath.Base(dir))
	}
	return path
}

// FolderName returns how Claude Code calls the folder of a project's transcripts; if that is long, how its name begins.
func FolderName(project string) string {
	const most = 200
	name := regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllStringFunc(resolved(project), func(c string) string {
		return "--"[:1+len(c)/4] // a dash for each unit of UTF-16
	})
	return name[:min(len(name), most)]
}

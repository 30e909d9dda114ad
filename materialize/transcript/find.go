package transcript

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"filebus/store/folder"
	"filebus/store/record"
)

// A File is the transcript of one run, of which the beginning was read.
type File struct {
	Run
	Path     string
	Size     int64
	Modified time.Time
	unread   bool // nothing of it could be read
}

// Claude lists the transcripts of Claude Code that are of a project or a folder below it: of each session of which one
// is, and of its sub-agents, which may outlive it. One that cannot be read is of the project that its folder is named
// for. config is the folder of its configuration.
func Claude(ctx context.Context, config, project string) (files []File, err error) {
	dirs, err := fs.Glob(os.DirFS(config), "projects/"+FolderName(project)+"*") // config is no pattern
	for _, dir := range dirs {
		dir = filepath.Join(config, dir)
		sessions := map[string][]File{}
		err := filepath.WalkDir(dir+string(filepath.Separator), func(file string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil // it went meanwhile
			}
			if f := claudeFile(ctx, dir, file); f.Path != "" {
				sessions[f.Session] = append(sessions[f.Session], f)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, session := range slices.Sorted(maps.Keys(sessions)) {
			of := sessions[session]
			if slices.ContainsFunc(of, func(f File) bool {
				return isBelow(f.Cwd, project) || f.unread && filepath.Base(dir) == FolderName(project)
			}) {
				files = append(files, of...)
			}
		}
	}
	return files, err
}

// claudeFile begins a file below the folder of a project: the transcript of a session or of one of its sub-agents. Any
// other is the zero File.
func claudeFile(ctx context.Context, of, file string) (f File) {
	text, isLines := strings.CutSuffix(strings.TrimPrefix(file, of+string(filepath.Separator)), ".jsonl")
	parts := strings.Split(filepath.ToSlash(text), "/")
	id, isAgent := strings.CutPrefix(parts[len(parts)-1], "agent-")
	if !isLines || len(parts) > 1 && (parts[1] != "subagents" || !isAgent) {
		return f
	}
	f = begin(ctx, file)
	if f.Session, f.ID = parts[0], ""; len(parts) > 1 {
		f.ID = id
		const most = 1 << 20                 // bytes
		var meta struct{ AgentType *string } // older versions say nothing
		// What is no file may never end.
		text, err := folder.At(filepath.Dir(file)).ReadUpTo("agent-"+id+".meta.json", most)
		if err == nil && json.Unmarshal(text, &meta) == nil && meta.AgentType != nil {
			f.Agent, f.IsForeign = *meta.AgentType, *meta.AgentType == ""
		}
	}
	return f
}

// Codex lists the transcripts of Codex, in the same way.
func Codex(ctx context.Context, config, project string) (files []File, err error) {
	found, err := fs.Glob(os.DirFS(config), "sessions/*/*/*/rollout-*.jsonl")
	for _, file := range found {
		if f := begin(ctx, filepath.Join(config, file)); isBelow(f.Cwd, project) {
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
	r := Run{begins: true}
	err = r.ReadFile(ctx, file, MaxText) // who reads it again says why it cannot be read
	begun := Run{Session: r.Session, ID: r.ID, Agent: r.Agent, Cwd: r.Cwd, Prompt: r.Prompt, IsForeign: r.IsForeign}
	return File{begun, file, info.Size(), info.ModTime(), err != nil && r.Rows == 0}
}

// isBelow reports whether a folder is a project or below it.
func isBelow(dir, project string) bool {
	if dir == "" || len(dir) > record.MaxID {
		return false
	}
	rel, err := filepath.Rel(folder.WithoutLinks(project), folder.WithoutLinks(dir))
	return err == nil && filepath.IsLocal(rel)
}

// FolderName returns how Claude Code calls the folder of a project's transcripts; if that is long, how its name begins.
func FolderName(project string) string {
	const most = 200
	name := regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllStringFunc(folder.WithoutLinks(project), func(c string) string {
		return "--"[:1+len(c)/4] // a dash for each unit of UTF-16
	})
	return name[:min(len(name), most)]
}

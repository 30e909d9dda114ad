package run

import (
	"context"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// LastChanged tells when files of a folder last changed: by git where it tracks
// them, and by their own times where they differ from what git has or there is no
// git. Paths are slash-separated, below the folder; those where nothing stands are
// left out, as are folders that git does not know. The variables are the
// environment for git, as of os.Environ.
func LastChanged(ctx context.Context, root string, files, variables []string) (map[string]time.Time, error) {
	changed, there := fileTimes(root, files)
	g, err := newGit(root, variables, "GIT_LITERAL_PATHSPECS=1")
	if err != nil || len(there) == 0 {
		return changed, ctx.Err()
	}
	dirty, err := g.paths(ctx, there, "diff", "--name-only", "--relative", "HEAD")
	if err != nil {
		return changed, ctx.Err() // no repository, or nothing committed yet: the files' own times stand
	}
	tracked, err := g.paths(ctx, there, "ls-files")
	if err != nil {
		return changed, ctx.Err()
	}
	there = slices.DeleteFunc(there, func(file string) bool {
		return slices.Contains(dirty, file) || !slices.ContainsFunc(tracked, func(p string) bool { return concerns(p, file) })
	})
	if len(there) > 0 {
		g.lastCommits(ctx, there, changed)
	}
	return changed, ctx.Err()
}

// fileTimes returns which of some files and folders are there, and the times of
// the files.
func fileTimes(root string, files []string) (times map[string]time.Time, there []string) {
	times = map[string]time.Time{}
	for _, file := range files {
		if !filepath.IsLocal(filepath.FromSlash(file)) {
			continue
		}
		info, err := os.Stat(filepath.Join(root, filepath.FromSlash(file)))
		if err != nil {
			continue // it names no file here
		}
		there = append(there, file)
		if !info.IsDir() {
			times[file] = info.ModTime()
		}
	}
	return times, there
}

// concerns reports whether a path is a file, or lies in it if that is a folder.
func concerns(p, file string) bool {
	file = path.Clean(file)
	return file == "." || isBelow(p, []string{file})
}

// paths runs git about some files, and returns the paths that it prints.
func (g *gitTree) paths(ctx context.Context, files []string, args ...string) ([]string, error) {
	out, err := g.run(ctx, nil, slices.Concat(args, []string{"-z", "--"}, files)...)
	return strings.Split(string(out), "\x00"), err
}

// lastCommits sets the times of files to those of the last commits that changed
// them. What git cannot tell stays as it is. All files are found in one walk, which
// ends with the last of them.
func (g *gitTree) lastCommits(ctx context.Context, files []string, changed map[string]time.Time) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	left := slices.Clone(files)
	g.log(ctx, files, func(_ int, at time.Time, p string) {
		left = slices.DeleteFunc(left, func(file string) bool {
			is := concerns(p, file)
			if is {
				changed[file] = at
			}
			return is
		})
		if len(left) == 0 {
			cancel() // the rest of the history is of no interest
		}
	})
}

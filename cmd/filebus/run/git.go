package run

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"filebus/materialize/mirror"
)

// A gitTree makes trees of git from a folder of files and compares them. It has
// an index and an object folder of its own, below the store; the repository's are
// only read.
type gitTree struct {
	*mirror.Git
	objects string   // where new objects go
	borrow  string   // the repository's objects
	others  []string // the objects of other runs
	index   string   // of the repository
	exclude []string // folders and files, slash-separated below root, that do not count
}

// errNoGit says that a folder's changes cannot be had from git.
var errNoGit = errors.New("there is no git repository")

// newGit returns git for a folder, or errNoGit.
func newGit(root string, variables []string, more ...string) (*gitTree, error) {
	g, err := mirror.NewGit(root, variables, more...)
	if err != nil {
		return nil, fmt.Errorf("%w that can be read, as there is no git program", errNoGit)
	}
	return &gitTree{Git: g}, nil
}

// openGit returns the git tree of a folder, or errNoGit with the reason.
func openGit(ctx context.Context, root, objects string, exclude, variables []string) (*gitTree, error) {
	g, err := newGit(root, variables)
	if err != nil {
		return nil, err
	}
	g.objects, g.exclude = objects, exclude
	out, err := g.Run(ctx, nil, nil,
		"rev-parse", "--path-format=absolute", "--is-inside-work-tree", "--git-path", "objects", "--git-path", "index")
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	switch {
	case err == nil && len(lines) == 3 && lines[0] == "true":
	case err == nil, strings.Contains(err.Error(), "not a git repository"):
		return nil, errNoGit
	default:
		return nil, fmt.Errorf("%w: %w", errNoGit, err)
	}
	g.borrow, g.index = lines[1], lines[2]
	g.others, err = filepath.Glob(filepath.Join(filepath.Dir(filepath.Dir(objects)), "*", objectsFolder))
	return g, err
}

// commit returns the commit that is checked out, or "" before the first one.
func (g *gitTree) commit(ctx context.Context) string {
	out, err := g.Run(ctx, nil, nil, "rev-parse", "-q", "--verify", "HEAD^{commit}")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// maxFile is the size of the largest file, in bytes, whose content is taken into
// a tree while it is not committed.
const maxFile = 5 << 20

// capture returns the tree of the files as they are, also of those that are not
// committed and not ignored, and says which it left out.
func (g *gitTree) capture(ctx context.Context) (tree string, leftOut []string, err error) {
	if err := os.MkdirAll(g.objects, 0o700); err != nil {
		return "", nil, err
	}
	folder, err := os.MkdirTemp(filepath.Dir(g.objects), "index-*")
	if err != nil {
		return "", nil, err
	}
	defer func() { _ = os.RemoveAll(folder) }() // of no use any more, and small
	index := filepath.Join(folder, "index")
	if err := copyFile(g.index, index); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", nil, fmt.Errorf("reading the index of git: %w", err)
	}
	// A tree has all of its objects in its own run's folder, or in the repository:
	// the folders of other runs may go.
	env := []string{alternates(g.borrow), "GIT_INDEX_FILE=" + index, "GIT_OBJECT_DIRECTORY=" + g.objects}
	if _, err := g.Run(ctx, nil, env, "update-index", "-q", "--refresh", "--unmerged"); ctx.Err() != nil {
		return "", nil, err // that some files differ is no error
	}
	paths, leftOut, err := g.candidates(ctx, env)
	if err != nil {
		return "", nil, err
	}
	if _, err := g.Run(ctx, paths, env, "update-index", "-z", "--add", "--remove", "--replace", "--stdin"); err != nil {
		return "", nil, err
	}
	out, err := g.Run(ctx, nil, env, "write-tree")
	return strings.TrimSpace(string(out)), leftOut, err
}

// alternates returns the variable by which git finds objects in further folders.
func alternates(folders ...string) string {
	return "GIT_ALTERNATE_OBJECT_DIRECTORIES=" + strings.Join(folders, string(os.PathListSeparator))
}

// candidates returns the paths that differ from the index or are not in it, each
// with a zero byte behind it.
func (g *gitTree) candidates(ctx context.Context, env []string) (paths []byte, leftOut []string, err error) {
	changed, err := g.Run(ctx, nil, env, "diff-files", "-z", "--name-only", "--relative", "--ignore-submodules=dirty")
	if err != nil {
		return nil, nil, err
	}
	untracked, err := g.Run(ctx, nil, env, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return nil, nil, err
	}
	seen := map[string]bool{}
	for _, path := range strings.Split(string(changed)+string(untracked), "\x00") {
		if path == "" || seen[path] || isBelow(path, g.exclude) {
			continue
		}
		seen[path] = true
		if reason := g.unfit(path); reason != "" {
			leftOut = append(leftOut, path+": "+reason)
			continue
		}
		paths = append(append(paths, path...), 0)
	}
	slices.Sort(leftOut)
	return paths, leftOut, nil
}

// unfit says why a file is not taken into a tree, or "".
func (g *gitTree) unfit(path string) string {
	if strings.HasSuffix(path, "/") {
		return "a git repository of its own"
	}
	file := filepath.Join(g.Dir, filepath.FromSlash(path))
	info, err := os.Lstat(file)
	switch {
	case err != nil, info.IsDir(), info.Mode()&fs.ModeSymlink != 0:
		return "" // deleted, a submodule or a link: git knows
	case !info.Mode().IsRegular():
		return "no regular file"
	case info.Size() > maxFile:
		return fmt.Sprintf("%d bytes", info.Size())
	}
	f, err := os.Open(file)
	if err != nil {
		return "cannot be read"
	}
	_ = f.Close() // nothing was read
	return ""
}

// has reports whether there is an object.
func (g *gitTree) has(ctx context.Context, object string) bool {
	_, err := g.Run(ctx, nil, g.objectsToRead(), "cat-file", "-e", object+"^{tree}")
	return err == nil
}

// objectsToRead returns the variables by which git finds all objects, those that
// captures have made included.
func (g *gitTree) objectsToRead() []string {
	env := []string{alternates(append([]string{g.borrow}, g.others...)...)}
	if _, err := os.Stat(g.objects); err == nil { // git wants the folder to be there
		env = append(env, "GIT_OBJECT_DIRECTORY="+g.objects)
	}
	return env
}

// diff writes the difference of two trees, as a patch, without what is excluded.
func (g *gitTree) diff(ctx context.Context, from, to string, write func(line []byte) error) error {
	args := []string{
		"diff-tree", "-r", "-p", "--find-renames", "--no-ext-diff", "--no-textconv", "--no-color", "--relative",
		"--src-prefix=a/", "--dst-prefix=b/", "--full-index", "--unified=3",
		"--inter-hunk-context=0", "--diff-algorithm=myers", "--submodule=short", from, to, "--", ":(literal).",
	}
	for _, path := range g.exclude {
		args = append(args, ":(exclude,literal)"+path)
	}
	return g.Stream(ctx, g.objectsToRead(), linesTo(write), args...)
}

// linesTo returns how to read lines to write, as eachLine does.
func linesTo(write func(line []byte) error) func(io.Reader) error {
	return func(r io.Reader) error { return eachLine(r, write) }
}

// eachLine calls write with each line of r, its ending included; a long line comes
// in pieces. It always reads to the end, so that the writer does not hang.
func eachLine(r io.Reader, write func(line []byte) error) error {
	lines := bufio.NewReaderSize(r, 64<<10)
	for {
		line, err := lines.ReadSlice('\n')
		if len(line) > 0 {
			if err := write(line); err != nil {
				_, _ = io.Copy(io.Discard, lines) // the first error counts
				return err
			}
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return err
		}
	}
}

// copyFile copies the index with its time, by which git tells that a file may have
// changed in the very moment in which the index was written.
func copyFile(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, text, 0o600)
	}
	return errors.Join(err, os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// isBelow reports whether a path is one of folders, or below one.
func isBelow(path string, folders []string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool {
		return path == folder || strings.HasPrefix(path, folder+"/") || path == folder+"/"
	})
}

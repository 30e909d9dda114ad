package mirror

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// ErrNoGit says that there is no git program.
var ErrNoGit = errors.New("there is no git program")

// A Git runs the git program in a folder, so that no setting of the user's makes it
// behave in another way, work on another repository, or run a hook.
type Git struct {
	program string
	Dir     string   // absolute
	env     []string // of all commands
}

// NewGit returns git for a folder, given the environment, or ErrNoGit.
func NewGit(dir string, variables []string, more ...string) (*Git, error) {
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, ErrNoGit
	}
	env := slices.DeleteFunc(slices.Clone(variables), func(v string) bool {
		return strings.HasPrefix(v, "GIT_") || strings.HasPrefix(v, "LC_ALL=")
	})
	env = append(env, "LC_ALL=C", "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat")
	return &Git{program, dir, append(env, more...)}, nil
}

// command returns a command of git.
func (g *Git) command(ctx context.Context, env []string, args ...string) *exec.Cmd {
	all := []string{"-C", g.Dir, "--no-pager"}
	for _, setting := range []string{
		"core.hooksPath=" + os.DevNull, "core.fsmonitor=false", "core.untrackedCache=false", "core.splitIndex=false",
		"core.quotePath=false", "core.looseCompression=1", "core.safecrlf=false", "core.bigFileThreshold=5m",
		"gc.auto=0", "maintenance.auto=false", "color.ui=false", "diff.renameLimit=400", "diff.orderFile=" + os.DevNull,
	} {
		all = append(all, "-c", setting)
	}
	cmd := exec.CommandContext(ctx, g.program, append(all, args...)...)
	cmd.Env = append(slices.Clone(g.env), env...)
	return cmd
}

// Run runs git to its end, with an input that may be nil, and returns what it prints.
func (g *Git) Run(ctx context.Context, in []byte, env []string, args ...string) ([]byte, error) {
	cmd := g.command(ctx, env, args...)
	cmd.Stdin = bytes.NewReader(in)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	return out, gitError(args[0], err, &said)
}

// Stream runs git and reads what it prints meanwhile.
func (g *Git) Stream(ctx context.Context, env []string, read func(io.Reader) error, args ...string) error {
	cmd := g.command(ctx, env, args...)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	readErr := read(out)
	return errors.Join(readErr, gitError(args[0], cmd.Wait(), &said))
}

// gitError says what git said before it failed.
func gitError(command string, err error, said *bytes.Buffer) error {
	if err == nil {
		return nil
	}
	text := strings.Join(strings.Fields(said.String()), " ")
	if len(text) > 300 {
		text = text[:300]
	}
	return fmt.Errorf("git %s: %w: %s", command, err, text)
}

// A Repository is what git knows of the files of a root. It is asked when it is
// needed first, and then once. Where git cannot say, every file counts as git's, so
// that none is written; without the git program, none does.
type Repository struct {
	git     *Git // nil: there is no repository, or no program
	err     error
	asked   bool
	tracked map[string]bool            // paths below the root
	changed map[string]bool            // of those, that are not as in git's index
	since   map[string]map[string]bool // or as they were when this work tree and another one parted, by its folder
	nested  map[string]*Repository
	dir     string
	env     []string
}

// NewRepository returns what git knows of the files below a folder.
func NewRepository(dir string, variables []string) *Repository {
	g := &Repository{dir: dir, env: variables, nested: map[string]*Repository{}, since: map[string]map[string]bool{}}
	if top, _ := GitFolder(dir); top == "" {
		return g
	}
	g.git, g.err = NewGit(dir, variables, "GIT_NO_LAZY_FETCH=1")
	return g
}

// GitFolder returns the top of the work tree that a folder lies in and git's folder of
// it, both empty outside of git. It reads what gitrepository-layout(5) documents; the
// git program is not needed. A .git that leads nowhere stands for itself.
func GitFolder(dir string) (top, folder string) {
	for last := ""; dir != last; last, dir = dir, filepath.Dir(dir) {
		folder := filepath.Join(dir, ".git")
		info, err := os.Stat(folder)
		if err != nil {
			continue
		}
		if !info.Mode().IsRegular() {
			return dir, folder
		}
		text, err := os.ReadFile(folder)
		if to, isLink := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: "); err == nil && isLink {
			folder = within(dir, to)
		}
		return dir, folder
	}
	return "", ""
}

// within returns a path that counts from a folder unless it is absolute.
func within(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}

// GitRepository returns the top of the work tree that a folder lies in and the folder of
// its repository, which work trees share, both empty outside of git. What cannot be
// followed, such as a submodule's .git, is a repository of its own.
func GitRepository(dir string) (top, common string) {
	top, folder := GitFolder(dir)
	text, err := os.ReadFile(filepath.Join(folder, "commondir"))
	switch {
	case top == "":
		return "", ""
	case err != nil:
		return top, filepath.Join(top, ".git")
	}
	return top, within(folder, strings.TrimSpace(string(text)))
}

// Err returns why git could not be asked, if it could not: to be told once.
func (g *Repository) Err() error { return g.err }

// Has reports whether the root lies in a repository that can be asked.
func (g *Repository) Has() bool { return g.git != nil }

// of returns the repository that a path belongs to, which may be one inside of the
// root such as a submodule, and the path in it.
func (g *Repository) of(p string) (*Repository, string) {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		if inner, known := g.nested[dir]; known {
			if inner != nil {
				return inner, strings.TrimPrefix(p, dir+"/")
			}
			continue
		}
		g.nested[dir] = nil
		full := filepath.Join(g.dir, filepath.FromSlash(dir))
		if _, err := os.Lstat(filepath.Join(full, ".git")); err == nil {
			g.nested[dir] = NewRepository(full, g.env)
			return g.of(p)
		}
	}
	return g, p
}

// ask reads git's index, once.
func (g *Repository) ask(ctx context.Context) {
	if g.asked || g.git == nil {
		return
	}
	g.asked = true
	out, err := g.run(ctx, nil, "rev-parse", "--is-inside-work-tree")
	if g.err = err; err == nil && string(out) != "true\n" {
		g.err = fmt.Errorf("git says %.20q of %s", out, g.dir)
	}
	if g.err == nil {
		g.tracked, g.err = g.list(ctx, "ls-files", "-z")
	}
	if g.err == nil {
		g.changed, g.err = g.differ(ctx)
	}
}

// gitPatience is how long git may take for an answer, while others wait for the mirror.
const gitPatience = 5 * time.Second

func (g *Repository) run(ctx context.Context, in []byte, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	return g.git.Run(ctx, in, nil, args...)
}

// Authored returns when the texts of files were changed last, by the dates of the authors.
// It is zero for files that are as git has them and that it cannot date in a few seconds,
// or at all in a shallow clone. Those that are not git's or have changes are left out. A
// file that was only moved is as old as before.
func (g *Repository) Authored(ctx context.Context, paths []string) map[string]time.Time {
	inside := map[*Repository]map[string]string{} // the paths, by those in the repository
	for _, p := range paths {
		r, at := g.of(p)
		if inside[r] == nil {
			inside[r] = map[string]string{}
		}
		inside[r][at] = p
	}
	l := authorLog{dates: map[string]time.Time{}}
	for r, wanted := range inside {
		if r.ask(ctx); r.git == nil {
			continue
		}
		dirty, err := r.differ(ctx, "HEAD")
		if err != nil && r.err == nil {
			continue // nothing is committed yet
		}
		for at, p := range wanted {
			if r.err == nil && (!r.tracked[at] || dirty[at]) {
				delete(wanted, at)
				continue
			}
			l.dates[p] = time.Time{}
		}
		if l.wanted = wanted; r.err == nil {
			r.readLog(ctx, &l)
		}
	}
	return l.dates
}

// An authorLog finds the newest change of files in a log.
type authorLog struct {
	dates   map[string]time.Time
	wanted  map[string]string // the files to date, by their paths in the commit at hand
	shallow bool
	at      time.Time // of the commit at hand, zero if it stands for all before it
}

// readLog reads the log until all files have a date, or the time is over.
func (g *Repository) readLog(ctx context.Context, l *authorLog) {
	ctx, cancel := context.WithTimeout(ctx, gitPatience)
	defer cancel()
	shallow, err := g.run(ctx, nil, "rev-parse", "--is-shallow-repository")
	if l.shallow = string(shallow) != "false\n"; err != nil || len(l.wanted) == 0 {
		return
	}
	// What was read before an error counts, and the end of what is needed is one.
	_ = g.git.Stream(ctx, nil, func(from io.Reader) error {
		r := bufio.NewReader(from)
		for len(l.wanted) > 0 {
			if err := l.read(func() (string, error) { return r.ReadString(0) }); err != nil {
				break
			}
		}
		cancel()
		return nil
	}, "log", "-z", "--format=%x01%at %P", "--name-status", "-M100%", "--relative", "--no-follow", "--no-show-signature",
		"--no-ext-diff", "--cc", "--root", "--encoding=UTF-8", "--", ".")
}

// read reads a change, or the line of a commit. Changes are "M NUL path NUL" or, of a file
// that was moved, "R100 NUL from NUL to NUL", the first behind a newline; of a merge, behind
// a NUL, the files that are as in none of its parents: "MM NUL path NUL".
func (l *authorLog) read(next func() (string, error)) error {
	status, err := next()
	status = strings.Trim(status, "\n\x00")
	if head, isCommit := strings.CutPrefix(status, "\x01"); isCommit && err == nil {
		seconds, parents, _ := strings.Cut(head, " ")
		status = ""
		unix, _ := strconv.ParseInt(seconds, 10, 64) // git prints nothing else
		if l.at = time.Unix(unix, 0); l.shallow && parents == "" {
			l.at = time.Time{}
		}
	}
	if status == "" || err != nil {
		return err
	}
	from, err := next()
	to := from
	if strings.HasPrefix(status, "R1") && err == nil {
		to, err = next()
	}
	from, to = strings.TrimSuffix(from, "\x00"), strings.TrimSuffix(to, "\x00")
	file, isWanted := l.wanted[to]
	if !isWanted || err != nil || status[0] == 'D' {
		return err
	}
	delete(l.wanted, to)
	if l.dates[file] = l.at; from != to && l.wanted[from] == "" {
		l.wanted[from] = file
	}
	return nil
}

// list returns the paths that a command of git prints, each ended by a NUL byte.
func (g *Repository) list(ctx context.Context, args ...string) (map[string]bool, error) {
	out, err := g.run(ctx, nil, args...)
	if err != nil {
		return nil, err
	}
	paths := map[string]bool{}
	for p := range strings.SplitSeq(string(out), "\x00") {
		paths[p] = true
	}
	return paths, nil
}

// differ returns the paths of tracked files that are not as in git's index, or a commit.
func (g *Repository) differ(ctx context.Context, commit ...string) (map[string]bool, error) {
	args := []string{"diff", "--name-only", "-z", "--relative", "--no-renames", "--no-ext-diff", "--ignore-submodules"}
	return g.list(ctx, append(args, commit...)...)
}

// Tracks reports whether a file is git's: one that it tracks. It is if git cannot say.
func (g *Repository) Tracks(ctx context.Context, p string) bool {
	g, p = g.of(p)
	g.ask(ctx)
	return g.git != nil && (g.err != nil || g.tracked[p])
}

// HasBytes reports whether a tracked file on disk is as it is in git's index: git has
// put it there, or has taken it over.
func (g *Repository) HasBytes(ctx context.Context, p string) bool {
	g, p = g.of(p)
	g.ask(ctx)
	return g.git != nil && g.err == nil && g.tracked[p] && !g.changed[p]
}

// IsBehind reports whether a tracked file is as it was when this work tree and the one in another folder parted:
// nobody has changed it here since.
func (g *Repository) IsBehind(ctx context.Context, p, other string) bool {
	g, p = g.of(p)
	g.ask(ctx)
	since, asked := g.since[other]
	if !asked && g.tracked[p] && g.err == nil {
		if head, err := g.run(ctx, nil, "-C", other, "rev-parse", "HEAD"); err == nil {
			since, _ = g.differ(ctx, "--merge-base", strings.TrimSpace(string(head))) // they may have nothing in common
		}
		g.since[other] = since
	}
	return since != nil && g.tracked[p] && !since[p]
}

// Ignores reports whether git ignores a path, at which there need not be a file.
func (g *Repository) Ignores(ctx context.Context, p string) bool {
	g, p = g.of(p)
	if g.git == nil {
		return false
	}
	_, err := g.run(ctx, nil, "check-ignore", "-q", "--", p)
	return err == nil
}

// Had reports whether git had a file that is gone, at HEAD or where that stood of
// late: then git may have taken it away.
func (g *Repository) Had(ctx context.Context, p string) bool {
	if g, p = g.of(p); g.git == nil {
		return false
	}
	var names bytes.Buffer
	const reflogDepth = 100 // how many places where HEAD stood are looked at for a file
	for n := range reflogDepth {
		fmt.Fprintf(&names, "HEAD@{%d}:./%s\n", n, p)
	}
	// It fails where HEAD has stood at fewer places, after it has named the others.
	out, _ := g.run(ctx, names.Bytes(), "cat-file", "--batch-check=%(objecttype)")
	return bytes.Contains(out, []byte("blob\n"))
}

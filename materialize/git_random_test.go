package materialize_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

// A gitRun does random things to a repository with two worktrees, by hand, by git and
// by command, and syncs now and then.
type gitRun struct {
	*rand.Rand
	roots  []*materialize.Workspace
	token  int
	did    []string
	stored []string // words that a sync or a command has acknowledged
}

func (r *gitRun) newToken() string { r.token++; return fmt.Sprintf("token%03dx", r.token) }

func (r *gitRun) git(t testing.TB, w *materialize.Workspace, args ...string) (string, bool) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", w.Root, "-c", "user.name=a", "-c", "user.email=a@b",
		"-c", "maintenance.auto=false", "-c", "core.fsync=none"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_EDITOR=:")
	out, err := cmd.CombinedOutput()
	return string(out), err == nil
}

const (
	trackedNote = "docs/überblick.md"
	ignoredLog  = ".claude/journal/task-ß7.md"
)

func newGitRun(t testing.TB, seed uint64) *gitRun {
	r := &gitRun{Rand: rand.New(rand.NewPCG(seed, 7))}
	top := t.TempDir()
	main, linked := filepath.Join(top, "main"), filepath.Join(top, "linked")
	settings := materialize.Settings{NoteFolders: []string{"docs"}, Variables: os.Environ()}
	if err := os.Mkdir(main, 0o777); err != nil {
		t.Fatal(err)
	}
	first := workspaceIn(t, main, settings)
	r.roots = []*materialize.Workspace{first}
	r.mustGit(t, first, "init", "-q", "-b", "main")
	writeTree(t, main, map[string]string{
		".gitignore": ".claude/journal/\n", trackedNote: "Über " + r.newToken() + "\n", issueFile: issueQueue,
	})
	runSync(t, first, materialize.SyncOptions{})
	r.mustGit(t, first, "add", "-A")
	r.mustGit(t, first, "commit", "-qm", "one")
	r.mustGit(t, first, "worktree", "add", "-q", "-b", "side", linked)
	at := first.Location
	at.Root = linked
	c := &testClock{now: time.Now().Add(time.Hour)}
	second, err := materialize.Open(at, settings, store.Options{Now: c.Now, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	r.roots = append(r.roots, second)
	for _, w := range r.roots {
		r.sync(t, w)
	}
	return r
}

func (r *gitRun) mustGit(t testing.TB, w *materialize.Workspace, args ...string) {
	t.Helper()
	if out, ok := r.git(t, w, args...); !ok {
		t.Fatalf("git %v: %s", args, out)
	}
}

// step does one thing in one worktree.
func (r *gitRun) step(t testing.TB) {
	w := r.roots[r.IntN(len(r.roots))]
	in := " in " + filepath.Base(w.Root)
	did := func(what string) { r.did = append(r.did, what+in) }
	switch r.IntN(16) {
	case 0, 1:
		did("note")
		writeTree(t, w.Root, map[string]string{fmt.Sprintf("docs/n%d.md", r.IntN(3)): "Note " + r.newToken() + "\n"})
	case 2:
		did("journal")
		writeTree(t, w.Root, map[string]string{ignoredLog: "# Task: " + r.newToken() + "\n"})
	case 3, 4:
		did("append")
		r.append(t, w)
	case 5, 6:
		did("put issue")
		token := r.newToken()
		id := fmt.Sprintf("ISSUE-%d-x", r.IntN(6))
		_, err := w.Put(t.Context(), materialize.PutRequest{
			Kind: record.KindIssue, ID: id, Text: strings.NewReader("### " + id + "\n\n- **Status**: pending\n\n" + token + "\n"),
			Source: record.SourcePut,
		})
		if err == nil {
			r.stored = append(r.stored, token)
		}
	case 7:
		did("commit")
		r.git(t, w, "add", "-A")
		r.git(t, w, "commit", "-qm", "more")
	case 8:
		did("checkout HEAD~1")
		r.git(t, w, "checkout", "-q", "--detach", "HEAD~1")
	case 9:
		did("checkout branch")
		r.git(t, w, "checkout", "-q", []string{"main", "side"}[r.IntN(2)])
	case 10:
		did("stash")
		r.git(t, w, "stash", "-q")
	case 11:
		did("stash pop")
		r.git(t, w, "stash", "pop", "-q")
	case 12:
		did("reset --hard")
		r.git(t, w, "reset", "-q", "--hard")
	case 13:
		did("move")
		_ = os.Rename(filepath.Join(w.Root, "docs/n1.md"), filepath.Join(w.Root, "docs/n2 – zwei.md")) // it may be missing
	case 14:
		did("delete")
		name := []string{"docs/n0.md", ignoredLog, issueFile, trackedNote}[r.IntN(4)]
		_ = os.Remove(filepath.Join(w.Root, name)) // it may be missing
	default:
		did("merge")
		if _, ok := r.git(t, w, "merge", "-q", "--no-edit", "side"); !ok {
			r.git(t, w, "merge", "--abort")
		}
	}
	if r.IntN(2) == 0 {
		r.sync(t, w)
	}
}

// append adds an issue by hand.
func (r *gitRun) append(t testing.TB, w *materialize.Workspace) {
	file := filepath.Join(w.Root, issueFile)
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		t.Fatal(err)
	}
	appendTo(t, file, fmt.Sprintf("\n### ISSUE-hand-%d\n\n- **Status**: pending\n\n%s\n", r.token, r.newToken()), 0)
}

func (r *gitRun) status(t testing.TB) string {
	var all strings.Builder
	for _, w := range r.roots {
		out, _ := r.git(t, w, "status", "--porcelain", "-uall")
		fmt.Fprintf(&all, "%s:\n%s", filepath.Base(w.Root), out)
	}
	return all.String()
}

// sync brings one worktree in step. It must change nothing that git shows, keep every
// word that a file has, and leave nothing to do.
func (r *gitRun) sync(t testing.TB, w *materialize.Workspace) {
	t.Helper()
	r.did = append(r.did, "sync "+filepath.Base(w.Root))
	onDisk := r.words(t, w)
	before := r.status(t)
	report := runSync(t, w, materialize.SyncOptions{})
	if after := r.status(t); after != before {
		t.Fatalf("%q: git status is changed by %v:\n%s\nand was:\n%s", r.did, actions(report), after, before)
	}
	for _, again := range actions(runSync(t, w, materialize.SyncOptions{})) {
		if !strings.HasPrefix(again, "skipped ") && again != "rolled back "+ignoredLog { // which are told each time
			t.Fatalf("%q: a second sync did %v", r.did, again)
		}
	}
	if len(report.Skipped) == 0 {
		r.stored = append(r.stored, onDisk...)
	}
	all := everStored(t, w)
	for _, token := range r.stored {
		if !strings.Contains(all, token) {
			t.Fatalf("%q: %s is lost; the sync did %v", r.did, token, actions(report))
		}
	}
}

// words returns the tokens in the files of a worktree.
func (r *gitRun) words(t testing.TB, w *materialize.Workspace) (words []string) {
	for _, text := range readTree(t, w.Root) {
		words = append(words, tokenPattern.FindAllString(text, -1)...)
	}
	return words
}

// TestGitSequences does random things with git beside filebus. FILEBUS_STEPS is how many
// to do, a hundred or so if it is not set.
func TestGitSequences(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	steps := 120
	if n, err := strconv.Atoi(os.Getenv("FILEBUS_STEPS")); err == nil {
		steps = n
	}
	const seeds = 8
	for seed := range uint64(seeds) {
		t.Run(strconv.FormatUint(seed, 10), func(t *testing.T) {
			t.Parallel()
			r := newGitRun(t, seed)
			for range steps / seeds {
				r.step(t)
			}
			for _, w := range r.roots {
				r.sync(t, w)
			}
			if report, err := r.roots[0].Store.Check(t.Context(), nil); err != nil || report.Err() != nil {
				t.Fatalf("%q: %v, %v", r.did, err, report.Err())
			}
		})
	}
}

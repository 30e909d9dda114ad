package run

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store/record"
)

// git runs git in the workspace.
func (x *bench) git(args ...string) string {
	x.t.Helper()
	program, err := exec.LookPath("git")
	if err != nil {
		x.t.Skip("there is no git program")
	}
	cmd := exec.CommandContext(x.t.Context(), program, append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"}, args...)...)
	cmd.Dir = x.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// patch returns diff.patch of a loop, from its file.
func (x *bench) patch(loop int) string {
	x.t.Helper()
	text, err := os.ReadFile(filepath.Join(x.dir, ".claude", "loop_snapshots", "run-2026-03-02-001", fmt.Sprintf("loop-%d", loop), "diff.patch"))
	x.must(err)
	return string(text)
}

func (x *bench) take(loop int) *layout.Manifest {
	x.t.Helper()
	s, err := x.b.Take(x.t.Context(), "", loop)
	x.must(err)
	return s.Manifest
}

// putIssue adds an issue to the queue, or gives it another status.
func (x *bench) putIssue(id, status string) {
	x.t.Helper()
	text := layout.IssueFields().Append(nil, layout.Issue{ID: id, Status: status, Type: "bug", Priority: "high",
		Summary: "About " + id})
	_, err := x.w.Put(x.t.Context(), materialize.PutRequest{Kind: record.KindIssue, ID: id, Text: bytes.NewReader(text), Source: record.SourcePut})
	x.must(err)
}

// statuses lists what the changes of a manifest are.
func statuses(m *layout.Manifest) (list []string) {
	for _, c := range m.Changed {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%s %s +%d -%d", c.Status, c.Path, c.Added, c.Removed)))
	}
	return list
}

// TestSnapshotGit takes snapshots of two loops of a repository with committed,
// uncommitted and untracked files, and leaves the repository as it was.
func TestSnapshotGit(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	x.git("init", "-q")
	x.write("kept.txt", "1\n2\n3\n")
	x.write("gone.txt", "bye\n")
	x.write(".gitignore", "*.log\n")
	x.git("add", ".")
	x.git("commit", "-qm", "one")
	x.write("before.txt", "untracked before the run\n")
	x.write("kept.txt", "1\n2\n3\nuncommitted before\n")
	x.start(StartRequest{})
	x.putIssue("ISSUE-20260302-001", "pending")
	x.putIssue("ISSUE-20260302-002", "complete")
	x.write("kept.txt", "1\nchanged\n3\nuncommitted before\n")
	x.must(os.Remove(filepath.Join(x.dir, "gone.txt")))
	x.write("new/a b.txt", "new\n")
	x.write("debug.log", "ignored\n")
	x.write("image", "\x00\x01")
	x.write(".claude/commands/mine.md", "not the loop's\n")
	before := x.git("status", "--porcelain") + x.git("for-each-ref") + x.git("count-objects", "-v") + x.git("diff", "--cached")
	m := x.take(0)
	after := x.git("status", "--porcelain") + x.git("for-each-ref") + x.git("count-objects", "-v") + x.git("diff", "--cached")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the repository (-before +after):\n%s", diff)
	}
	want := []string{"deleted gone.txt +0 -1", "added image +0 -0", "changed kept.txt +1 -1", "added new/a b.txt +1 -0"}
	if diff := cmp.Diff(want, statuses(m)); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ISSUE-20260302-002"}, m.Issues); diff != "" {
		t.Errorf("issues (-want +got):\n%s", diff)
	}
	if n := strings.Count("\n"+x.patch(1), "\n+++ "); n != 3 || m.LinesAdded != 2 || m.LinesRemoved != 2 {
		t.Errorf("the patch of %d files, +%d -%d:\n%s", n, m.LinesAdded, m.LinesRemoved, x.patch(1))
	}
	_, err := x.b.Take(t.Context(), "", 0)
	wantTry(t, "taking it again", err, "filebus snapshot show {1}, or filebus run loop")

	x.git("add", "-A")
	x.git("commit", "-qm", "all that was there is no change")
	_, err = x.b.Loop(t.Context(), 0)
	x.must(err)
	x.git("mv", "kept.txt", "moved.txt")
	x.putIssue("ISSUE-20260302-001", "complete")
	_, err = x.b.Loop(t.Context(), 0)
	x.must(err)
	x.write("third.txt", "of the third loop\n")
	m = x.take(2)
	if diff := cmp.Diff([]string{"renamed moved.txt +0 -0"}, statuses(m)); diff != "" {
		t.Errorf("changes of a loop that is over (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"ISSUE-20260302-001"}, m.Issues); diff != "" || m.Changed[0].Was != "kept.txt" {
		t.Errorf("%+v, issues (-want +got):\n%s", m.Changed, diff)
	}
}

// TestPatchApplies makes the files of a loop's end from those of its beginning,
// by its patch.
func TestPatchApplies(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	x.git("init", "-q")
	x.write("a.txt", strings.Repeat("line\n", 40)+"no end")
	x.write("crlf.txt", "a\r\nb\r\n")
	x.git("add", ".")
	x.git("commit", "-qm", "one")
	x.start(StartRequest{})
	x.write("a.txt", "first\n"+strings.Repeat("line\n", 40)+"--- no header\n+++ either\n")
	x.write("crlf.txt", "a\r\nc\r\n")
	x.write("ünï/\"q\".txt", "diff --git a/x b/x\n")
	x.take(0)
	want := map[string]string{}
	for _, name := range []string{"a.txt", "crlf.txt", "ünï/\"q\".txt"} {
		text, err := os.ReadFile(filepath.Join(x.dir, name))
		x.must(err)
		want[name] = string(text)
	}
	x.write("../patch", x.patch(1))
	x.git("stash", "-q", "-u", "--", ":(exclude).claude")
	x.git("apply", "../patch")
	for name, text := range want {
		got, err := os.ReadFile(filepath.Join(x.dir, name))
		if err != nil || string(got) != text {
			t.Errorf("%s is %q, %v; want %q", name, got, err, text)
		}
	}
}

// TestSnapshotOddRepositories takes snapshots where git makes it hard.
func TestSnapshotOddRepositories(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		before func(x *bench)
		during func(x *bench)
		want   []string
		note   string
	}{
		{"no commit yet", func(x *bench) { x.write("a", "1\n") }, func(x *bench) { x.write("a", "2\n") }, []string{"changed a +1 -1"}, ""},
		{"a merge that conflicts", func(x *bench) {
			x.write("a", "1\n")
			x.git("add", ".")
			x.git("commit", "-qm", "1")
			x.git("checkout", "-qb", "other")
			x.write("a", "2\n")
			x.git("commit", "-qam", "2")
			x.git("checkout", "-q", "main")
			x.write("a", "3\n")
			x.git("commit", "-qam", "3")
		}, func(x *bench) {
			cmd := exec.CommandContext(x.t.Context(), "git", "-C", x.dir, "-c", "user.name=a", "-c", "user.email=a@example.org", "merge", "other")
			_ = cmd.Run() // it conflicts
		}, []string{"changed a +4 -0"}, ""},
		{"a repository inside", func(*bench) {}, func(x *bench) {
			x.git("init", "-q", "inner")
			x.write("inner/x", "1\n")
		}, nil, "inner/"},
		{"a large file", func(*bench) {}, func(x *bench) { x.write("large", strings.Repeat("0123456789abcdef", 400_000)) }, nil, "large: 6400000 bytes"},
		{"an index of the same moment", func(x *bench) {
			moment := time.Now().Add(-time.Hour).Truncate(time.Second)
			touch := func(name string) { x.must(os.Chtimes(filepath.Join(x.dir, name), moment, moment)) }
			x.git("config", "core.trustctime", "false")
			x.write("a", "1\n1\n")
			touch("a")
			x.git("add", ".")
			x.git("commit", "-qm", "1")
			touch(".git/index")
			x.write("a", "2\n3\n")
			touch("a") // by size and time it is what git knows
		}, func(x *bench) { x.write("a", "2\n4\n") }, []string{"changed a +1 -1"}, ""},
		{"what was noted is gone", func(x *bench) {
			x.write("a", "1\n")
			x.git("add", ".")
			x.git("commit", "-qm", "1")
			x.write("a", "2\n")
		}, func(x *bench) {
			x.must(os.RemoveAll(objectsOf(x.w.Location.Store, "run-2026-03-02-001")))
			x.write("a", "3\n")
		}, []string{"changed a +1 -1"}, "is gone"},
	}
	for _, test := range tests {
		x := newBench(t, layout.Claude())
		x.git("init", "-q")
		test.before(x)
		x.start(StartRequest{})
		test.during(x)
		m := x.take(0)
		if diff := cmp.Diff(test.want, statuses(m)); diff != "" || !strings.Contains(strings.Join(m.Notes, "\n"), test.note) {
			t.Errorf("%s: notes %q, changes (-want +got):\n%s", test.name, m.Notes, diff)
		}
	}
}

// TestSnapshotFiles takes snapshots without a repository: what differs is listed.
func TestSnapshotFiles(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	if _, err := exec.LookPath("git"); err == nil {
		if out, _ := exec.CommandContext(t.Context(), "git", "-C", x.dir, "rev-parse", "--is-inside-work-tree").Output(); len(out) > 0 {
			t.Skip("temporary folders lie in a git repository")
		}
	}
	x.write("same.txt", "same\n")
	x.write("touched.txt", "touched\n")
	x.write("gone.txt", "gone\n")
	x.write("node_modules/x.js", "1")
	x.start(StartRequest{})
	later := time.Now().Add(time.Hour)
	x.must(os.Chtimes(filepath.Join(x.dir, "touched.txt"), later, later))
	x.must(os.Remove(filepath.Join(x.dir, "gone.txt")))
	x.write("new.txt", "new\n")
	x.write("node_modules/x.js", "2")
	m := x.take(0)
	if diff := cmp.Diff([]string{"deleted gone.txt +0 -0", "added new.txt +0 -0"}, statuses(m)); diff != "" || m.Method != methodFiles {
		t.Errorf("%s, changes (-want +got):\n%s", m.Method, diff)
	}
	for _, line := range []string{"# there is no git repository", "deleted  gone.txt  (5 bytes, ", "added    new.txt  (4 bytes, 7aa7a5359173d05b63cfd682e3c38487f3cb4f7f1d60659fe59fab1505977d4c)"} {
		if !strings.Contains(x.patch(1), line) {
			t.Errorf("no %q in\n%s", line, x.patch(1))
		}
	}
}

// TestCutShort takes a snapshot again that was cut short, and one beside files
// that an agent has put there.
func TestCutShort(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	x.start(StartRequest{})
	x.write(".claude/loop_snapshots/run-2026-03-02-001/loop-1/issues_completed.md", "- ISSUE-7: by hand\n")
	m := x.take(0)
	if notes := strings.Join(m.Notes, "\n"); !strings.Contains(notes, "issues_completed.md was there before") {
		t.Errorf("notes: %s", notes)
	}
	v, err := x.b.FileOf(t.Context(), "run-2026-03-02-001/loop-1", "issues_completed.md")
	x.must(err)
	text, err := x.w.TextOf(t.Context(), v)
	if err != nil || string(text) != "- ISSUE-7: by hand\n" {
		t.Errorf("the agent's file is %q, %v", text, err)
	}
}

// TestTakesAtOnce takes the snapshot of a loop many times at once: who comes too
// late is told so, and the manifest says what is kept.
func TestTakesAtOnce(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	x.start(StartRequest{})
	var takings sync.WaitGroup
	var taken atomic.Int32
	for i := range 6 {
		x.write(fmt.Sprintf("file%d.txt", i), "text\n") // so that the patches differ
		takings.Go(func() {
			_, err := x.b.Take(t.Context(), "", 0)
			if err == nil {
				taken.Add(1)
			} else if !strings.Contains(err.Error(), "was taken before, and is written once") {
				t.Errorf("a taking beside others: %v", err)
			}
		})
	}
	takings.Wait()
	if taken.Load() == 0 { // those that have found the same may both have taken it
		t.Error("nobody has taken the snapshot")
	}
	s, err := x.b.Find(t.Context(), "1")
	x.must(err)
	kept := map[string]string{}
	for _, f := range s.Files {
		kept[f.Path] = f.Version.Record.Body.String()
	}
	for _, f := range s.Manifest.Files {
		if kept[f.Path] != f.Digest {
			t.Errorf("%s is %s, by the manifest %s", f.Path, kept[f.Path], f.Digest)
		}
	}
}

func TestSnapshotNames(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	x.start(StartRequest{})
	x.take(0)
	for _, name := range []string{"1", "loop-1", "run-2026-03-02-001/1", "run-2026-03-02-001/loop-1/"} {
		if s, err := x.b.Find(t.Context(), name); err != nil || s.Name() != "run-2026-03-02-001/loop-1" || s.Manifest == nil {
			t.Errorf("%q is %+v, %v", name, s, err)
		}
	}
	for _, name := range []string{"", "x", "run-2026-03-02-001/", "0", "-1", "r/loop-x"} {
		_, err := x.b.Find(t.Context(), name)
		wantError(t, fmt.Sprintf("the name %q", name), err, record.Usage)
	}
	_, err := x.b.Find(t.Context(), "7")
	wantTry(t, "a loop without one", err, "filebus snapshot list")
	_, err = x.b.FileOf(t.Context(), "1", "diff")
	wantTry(t, "a file that it does not have", err, "filebus snapshot show {1}")
	_, err = x.b.Take(t.Context(), "", 5)
	wantTry(t, "a loop that has not begun", err, "filebus snapshot take --loop {1}")
	_, err = x.b.Take(t.Context(), "another", 0)
	wantError(t, "another run without a loop", err, record.Usage)
	_, err = x.b.Take(t.Context(), "another", 1)
	wantTry(t, "a run that never was", err, "filebus run show")
	if errors.Is(err, os.ErrNotExist) {
		t.Errorf("a run that never was is a missing file: %v", err)
	}
}

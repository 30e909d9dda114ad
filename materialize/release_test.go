package materialize_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/materialize/release"
	"filebus/store"
	"filebus/store/record"
)

func nameOf(t testing.TB, text string) record.Name {
	t.Helper()
	name, err := record.ParseName(text)
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// putFrom stores a text that was made from others, given by their names, and
// links that are "type target".
func putFrom(t testing.TB, w *materialize.Workspace, of, text string, from []string, links ...record.Link) record.Ref {
	t.Helper()
	name := nameOf(t, of)
	conversation, _, _ := strings.Cut(name.ID, "/")
	request := materialize.PutRequest{
		Kind: name.Kind, ID: name.ID, Text: strings.NewReader(text), Source: record.SourcePut, Links: links,
		Facts: layout.Facts{Conversation: conversation},
	}
	for _, other := range from {
		view(t, w, func(tx *store.Tx) {
			v, _, err := tx.Last(nameOf(t, other))
			if err != nil {
				t.Fatal(err)
			}
			request.From = append(request.From, v.Ref)
		})
	}
	result, err := w.Put(t.Context(), request)
	if err != nil {
		t.Fatalf("Put(%s): %v", of, err)
	}
	return result.Ref
}

// said shows a report as lines.
func said(report *release.Report) []string {
	lines := []string{}
	for _, n := range report.Released {
		lines = append(lines, "drop "+n.Name.String())
	}
	for _, k := range report.Kept {
		lines = append(lines, "keep "+k.Name.String()+": "+k.Because)
	}
	return lines
}

func releaseBy(t testing.TB, w *materialize.Workspace, pick release.Retention) *release.Report {
	t.Helper()
	dry, err := w.Release(t.Context(), release.Request{Retention: &pick, DryRun: true})
	if err != nil {
		t.Fatalf("Release(%+v), dry: %v", pick, err)
	}
	report, err := w.Release(t.Context(), release.Request{Retention: &pick})
	if err != nil {
		t.Fatalf("Release(%+v): %v", pick, err)
	}
	if diff := cmp.Diff(dry, report); diff != "" {
		t.Errorf("a dry run says another thing than is done (-dry +done):\n%s", diff)
	}
	return report
}

func wantSaid(t testing.TB, label string, report *release.Report, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, said(report)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", label, diff)
	}
}

func TestReleaseReferences(t *testing.T) {
	results := release.Retention{Kind: record.KindResult}
	linkTo := func(target string) record.Link { return record.Link{Type: "see", Target: target} }
	for label, test := range map[string]struct {
		prepare func(t testing.TB, w *materialize.Workspace)
		want    []string
	}{
		"nothing refers": {func(t testing.TB, w *materialize.Workspace) {}, []string{"drop result/c/a"}},
		"a chain goes": {func(t testing.TB, w *materialize.Workspace) {
			putFrom(t, w, "result/c/b", "b", []string{"result/c/a"})
			putFrom(t, w, "result/c/c", "c", []string{"result/c/b", "result/c/a"})
		}, []string{"drop result/c/a", "drop result/c/b", "drop result/c/c"}},
		"a chain is kept by its end": {func(t testing.TB, w *materialize.Workspace) {
			putFrom(t, w, "result/c/b", "b", []string{"result/c/a"})
			putFrom(t, w, "result/c/other", "other", nil)
			putFrom(t, w, "note/n.md", "n", []string{"result/c/b"})
		}, []string{
			"drop result/c/other",
			"keep result/c/a: referred to by result/c/b", "keep result/c/b: referred to by note/n.md",
		}},
		"a link to a name":         {link("result/c/a"), []string{"keep result/c/a: referred to by note/n.md"}},
		"a link to a path":         {link(".claude/agent_tool_results/c/a.md"), []string{"keep result/c/a: referred to by note/n.md"}},
		"a link to something else": {link("result/c/ab"), []string{"drop result/c/a"}},
		"a link to a ref": {func(t testing.TB, w *materialize.Workspace) {
			ref := putFrom(t, w, "result/c/a", "a", nil)
			putFrom(t, w, "note/n.md", "n", nil, linkTo(ref.String()))
			putFrom(t, w, "note/m.md", "m", nil, linkTo(ref.Short()))
		}, []string{"keep result/c/a: referred to by note/m.md, note/n.md"}},
		"many refer": {func(t testing.TB, w *materialize.Workspace) {
			for i := range 5 {
				putFrom(t, w, fmt.Sprintf("note/n%d.md", i), fmt.Sprint(i), []string{"result/c/a"})
			}
		}, []string{"keep result/c/a: referred to by note/n0.md, note/n1.md, note/n2.md and 2 more"}},
		"an older version refers": {func(t testing.TB, w *materialize.Workspace) {
			putFrom(t, w, "note/n.md", "old", []string{"result/c/a"})
			putFrom(t, w, "note/n.md", "new", nil)
		}, []string{"keep result/c/a: referred to by note/n.md"}},
		"what refers is hidden": {func(t testing.TB, w *materialize.Workspace) {
			putFrom(t, w, "note/n.md", "n", []string{"result/c/a"})
			remove(t, w, "note/n.md")
		}, []string{"keep result/c/a: referred to by note/n.md"}},
		"what referred was dropped": {func(t testing.TB, w *materialize.Workspace) {
			putFrom(t, w, "note/n.md", "n", []string{"result/c/a"})
			if _, err := w.Release(t.Context(),
				release.Request{Names: []record.Name{nameOf(t, "note/n.md")}}); err != nil {
				t.Fatal(err)
			}
		}, []string{"drop result/c/a"}},
		"an older version is referred to": {func(t testing.TB, w *materialize.Workspace) {
			putFrom(t, w, "note/n.md", "n", []string{"result/c/a"})
			tag(t, w, "result/c/a", "later")
		}, []string{"keep result/c/a: referred to by note/n.md"}},
		"it refers to itself": {func(t testing.TB, w *materialize.Workspace) {
			putFrom(t, w, "result/c/a", "a", []string{"result/c/a"}, linkTo("result/c/a"))
		}, []string{"drop result/c/a"}},
		"a circle": {func(t testing.TB, w *materialize.Workspace) {
			putFrom(t, w, "result/c/b", "b", []string{"result/c/a"}, linkTo("result/c/c"))
			putFrom(t, w, "result/c/c", "c", nil, linkTo("result/c/b"))
		}, []string{"drop result/c/a", "drop result/c/b", "drop result/c/c"}},
		"a circle that is referred to": {func(t testing.TB, w *materialize.Workspace) {
			putFrom(t, w, "result/c/b", "b", []string{"result/c/a"}, linkTo("result/c/c"))
			putFrom(t, w, "result/c/c", "c", nil, linkTo("result/c/b"))
			link("result/c/c")(t, w)
		}, []string{
			"keep result/c/a: referred to by result/c/b", "keep result/c/b: referred to by result/c/c",
			"keep result/c/c: referred to by note/n.md",
		}},
		"the file was altered": {func(t testing.TB, w *materialize.Workspace) {
			writeTree(t, w.Root, map[string]string{".claude/agent_tool_results/c/a.md": "mine"})
			runSync(t, w, materialize.SyncOptions{})
		}, []string{"keep result/c/a: referred to by note/.claude/agent_tool_results/c/a.md~altered"}},
		"an open conflict": {func(t testing.TB, w *materialize.Workspace) {
			err := w.Store.Update(t.Context(), func(tx *store.Tx) error {
				body, err := w.Store.Prepare(t.Context(), []byte("side"))
				if err == nil {
					_, err = tx.Put(store.Draft{Body: body, Record: record.Record{
						Name: nameOf(t, "result/c/a"), Source: record.SourceSync, Links: []record.Link{{Type: record.LinkConflict, Target: "x"}},
					}})
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
		}, []string{"keep result/c/a: it has an open conflict"}},
		"a settled conflict goes": {func(t testing.TB, w *materialize.Workspace) {
			var side record.Ref
			for _, do := range []func(tx *store.Tx) error{
				func(tx *store.Tx) error {
					body, err := w.Store.Prepare(t.Context(), []byte("side"))
					if err != nil {
						return err
					}
					outcome, err := tx.Put(store.Draft{Body: body, Record: record.Record{
						Name: nameOf(t, "result/c/a"), Source: record.SourceSync, Links: []record.Link{{Type: record.LinkConflict, Target: "x"}},
					}})
					side = outcome.Ref
					return err
				},
				func(tx *store.Tx) error { return tx.Settle(side) },
			} {
				if err := w.Store.Update(t.Context(), do); err != nil {
					t.Fatal(err)
				}
			}
		}, []string{"drop result/c/a"}},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			putFrom(t, w, "result/c/a", "a", nil)
			test.prepare(t, w)
			wantSaid(t, label, releaseBy(t, w, results), test.want...)
			dropped := 0
			for _, line := range test.want {
				if name, found := strings.CutPrefix(line, "drop "); found {
					dropped++
					wantNothingOf(t, w, name)
				}
			}
			if again := releaseBy(t, w, results); len(again.Released) > 0 || len(again.Kept) != len(test.want)-dropped {
				t.Errorf("the second time: %q", said(again))
			}
			if report := runSync(t, w, materialize.SyncOptions{}); report.Count("conflict")+report.Count("captured") > 0 {
				t.Errorf("sync after a release did %v", actions(report))
			}
		})
	}
}

// link puts a note that links to a target.
func link(target string) func(t testing.TB, w *materialize.Workspace) {
	return func(t testing.TB, w *materialize.Workspace) {
		t.Helper()
		putFrom(t, w, "note/n.md", "n", nil, record.Link{Type: "see", Target: target})
	}
}

func remove(t testing.TB, w *materialize.Workspace, name string) {
	t.Helper()
	if err := w.Remove(t.Context(), nameOf(t, name)); err != nil {
		t.Fatalf("Remove(%s): %v", name, err)
	}
}

func tag(t testing.TB, w *materialize.Workspace, name string, tags ...string) {
	t.Helper()
	if _, err := w.Tag(t.Context(), nameOf(t, name), tags, nil); err != nil {
		t.Fatalf("Tag(%s): %v", name, err)
	}
}

// wantNothingOf makes sure that no version of a name is left, nor its file.
func wantNothingOf(t testing.TB, w *materialize.Workspace, of string) {
	t.Helper()
	name := nameOf(t, of)
	view(t, w, func(tx *store.Tx) {
		if v, _, err := tx.Last(name); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s still has the version %s, %v", of, v.Ref.Short(), err)
		}
		events, err := tx.History(name)
		if err != nil {
			t.Error(err)
		}
		for _, e := range events {
			if _, err := tx.Get(e.Ref); !errors.Is(err, store.ErrDropped) {
				t.Errorf("%s: version %s: %v, want it dropped", of, e.Ref.Short(), err)
			}
		}
	})
	file, err := w.PathOf(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", file, err)
	}
}

// TestReleaseNames gives names up that are named: all of them or none.
func TestReleaseNames(t *testing.T) {
	t.Parallel()
	w := syncedWorkspace(t, map[string]string{issueFile: issueQueue})
	putFrom(t, w, "result/c/a", "shared", nil)
	putFrom(t, w, "result/c/b", "shared", []string{"result/c/a"})
	tag(t, w, "result/c/b", "x")
	drop := func(names ...string) (*release.Report, error) {
		var list []record.Name
		for _, n := range names {
			list = append(list, nameOf(t, n))
		}
		return w.Release(t.Context(), release.Request{Names: list})
	}
	before := position(t, w)
	if _, err := drop("result/c/a"); !errors.Is(err, release.ErrStillNeeded) ||
		!errors.Is(err, store.ErrConflict) || err.Error() != "result/c/a stays: referred to by result/c/b" {
		t.Errorf("a name that is referred to: %v", err)
	}
	if _, err := drop("result/c/a", "result/c/none"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a name that never was: %v", err)
	}
	if now := position(t, w); now != before {
		t.Errorf("refused releases wrote %d log entries", now-before)
	}
	report, err := drop("result/c/b")
	if err != nil || report.Bytes != 0 || report.Released[0].Versions != 2 || report.Released[0].Bytes != 12 {
		t.Errorf("a name whose text another has: %+v, %v", report, err)
	}
	report, err = drop("result/c/a", "issue/ISSUE-20260302-002")
	if err != nil || len(report.Released) != 2 {
		t.Errorf("a result and an entry: %+v, %v", report, err)
	}
	wantFile(t, w, issueFile, issueQueue[:strings.Index(issueQueue, "### ISSUE-20260302-002")])
	if _, err := os.Lstat(filepath.Join(w.Root, ".claude/agent_tool_results/c")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder of the empty conversation: %v", err)
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
	if report, err = drop("issue/ISSUE-20260302-002"); err != nil || len(report.Released) > 0 {
		t.Errorf("a name that was dropped: %+v, %v", report, err)
	}
}

// TestReleaseOfPlaces gives up tasks whose journals had one place, one after the
// other.
func TestReleaseOfPlaces(t *testing.T) {
	t.Parallel()
	const file = ".claude/journal/task-003.md"
	journal := func(day int) string {
		return fmt.Sprintf("# Task: t\n\n## Metadata\n\n- Status: complete\n- Started: 2026-03-0%d 10:00\n", day)
	}
	for label, test := range map[string]struct {
		names []string
		left  map[string]string
	}{
		"the first": {[]string{"handoff/task-003"}, map[string]string{file: journal(2)}},
		"both":      {[]string{"handoff/task-003", "handoff/task-003~2"}, map[string]string{}},
	} {
		t.Run(label, func(t *testing.T) {
			w := syncedWorkspace(t, map[string]string{file: journal(1)})
			writeTree(t, w.Root, map[string]string{file: journal(2)})
			runSync(t, w, materialize.SyncOptions{})
			var names []record.Name
			for _, n := range test.names {
				names = append(names, nameOf(t, n))
			}
			report, err := w.Release(t.Context(), release.Request{Names: names})
			if err != nil || len(report.Released) != len(names) {
				t.Fatalf("Release: %q, %v", said(report), err)
			}
			if diff := cmp.Diff(test.left, readTree(t, w.Root)); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			wantActions(t, runSync(t, w, materialize.SyncOptions{}))
		})
	}
}

// TestReleaseMeanwhile puts things between the look at the references and what is
// done about them.
func TestReleaseMeanwhile(t *testing.T) {
	for label, test := range map[string]struct {
		meanwhile func(t testing.TB, w *materialize.Workspace)
		want      []string
	}{
		"a reference": {func(t testing.TB, w *materialize.Workspace) { putFrom(t, w, "note/n.md", "n", []string{"result/c/b"}) },
			[]string{"drop result/c/x", "keep result/c/a: referred to by result/c/b", "keep result/c/b: referred to by note/n.md"}},
		"a tag": {func(t testing.TB, w *materialize.Workspace) { tag(t, w, "result/c/b", "new") },
			[]string{"drop result/c/x", "keep result/c/a: referred to by result/c/b", "keep result/c/b: it has changed meanwhile"}},
		"another result": {func(t testing.TB, w *materialize.Workspace) {
			putFrom(t, w, "result/c/new", "new", []string{"result/c/x"})
		},
			[]string{"drop result/c/a", "drop result/c/b", "keep result/c/x: referred to by result/c/new"}},
		"hidden": {func(t testing.TB, w *materialize.Workspace) { remove(t, w, "result/c/b") },
			[]string{"drop result/c/a", "drop result/c/b", "drop result/c/x"}},
		"dropped by another": {func(t testing.TB, w *materialize.Workspace) {
			if _, err := w.Release(t.Context(),
				release.Request{Names: []record.Name{nameOf(t, "result/c/b")}}); err != nil {
				t.Fatal(err)
			}
		}, []string{"drop result/c/a", "drop result/c/x"}},
		"the file is altered": {func(t testing.TB, w *materialize.Workspace) {
			writeTree(t, w.Root, map[string]string{".claude/agent_tool_results/c/b.md": "mine"})
		}, []string{
			"drop result/c/x", "keep result/c/a: referred to by result/c/b",
			"keep result/c/b: its file was altered; the text is note/.claude/agent_tool_results/c/b.md~altered",
		}},
		"the file is a folder": {func(t testing.TB, w *materialize.Workspace) {
			p := filepath.Join(w.Root, ".claude/agent_tool_results/c/b.md")
			if err := errors.Join(os.Remove(p), os.Mkdir(p, 0o777)); err != nil {
				t.Fatal(err)
			}
		}, []string{
			"drop result/c/x", "keep result/c/a: referred to by result/c/b",
			"keep result/c/b: its file: .claude/agent_tool_results/c/b.md is not a regular file",
		}},
		"the files are gone": {func(t testing.TB, w *materialize.Workspace) {
			if err := os.RemoveAll(filepath.Join(w.Root, ".claude")); err != nil {
				t.Fatal(err)
			}
		}, []string{"drop result/c/a", "drop result/c/b", "drop result/c/x"}},
		"the file is not written yet": {func(t testing.TB, w *materialize.Workspace) {
			memory := filepath.Join(w.Location.Store, "mirror")
			remembered := readTree(t, memory)
			for name, text := range remembered {
				var lines string
				for line := range strings.Lines(text) {
					if !strings.Contains(line, "/b.md") {
						lines += line
					}
				}
				remembered[name] = lines
			}
			writeTree(t, memory, remembered)
			if err := os.Remove(filepath.Join(w.Root, ".claude/agent_tool_results/c/b.md")); err != nil {
				t.Fatal(err)
			}
		}, []string{
			"drop result/c/x", "keep result/c/a: referred to by result/c/b", "keep result/c/b: its file is being written",
		}},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			w := newWorkspace(t)
			putFrom(t, w, "result/c/a", "a", nil)
			putFrom(t, w, "result/c/b", "b", []string{"result/c/a"})
			putFrom(t, w, "result/c/x", "x", nil)
			once := false
			report, err := w.Release(t.Context(), release.Request{
				Retention: &release.Retention{Kind: record.KindResult},
				Dropped:   func(int, int) {},
				Scanned: func(done, total int) {
					if done == total && !once {
						once = true
						test.meanwhile(t, w)
					}
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			wantSaid(t, label, report, test.want...)
		})
	}
}

// TestReleaseManyVersions gives a name up that has more versions than one
// transaction drops.
func TestReleaseManyVersions(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	w := newWorkspace(t)
	const versions = 1100
	for from := 0; from < versions; from += 100 {
		err := w.Store.Update(t.Context(), func(tx *store.Tx) error {
			for i := from; i < from+100; i++ {
				body, err := w.Store.Prepare(t.Context(), fmt.Appendf(nil, "version %d", i))
				if err != nil {
					return err
				}
				if _, err := tx.Put(store.Draft{Body: body, Record: record.Record{Name: nameOf(t, "note/n.md"), Path: "n.md", Source: record.SourcePut}}); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	put(t, w, "note/m.md", "m")
	report := releaseBy(t, w, release.Retention{Kind: record.KindNote})
	wantSaid(t, "many versions", report, "drop note/m.md", "drop note/n.md")
	if report.Released[1].Versions != versions {
		t.Errorf("%d versions, want %d", report.Released[1].Versions, versions)
	}
	wantNothingOf(t, w, "note/n.md")
}

// TestReleaseLarge drops a body that is a file of its own, once nothing has it.
func TestReleaseLarge(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	text := strings.Repeat("many words\n", 200_000)
	putFrom(t, w, "result/c/a", text, nil)
	putFrom(t, w, "result/c/b", text, nil)
	bodies := func() int { return len(readTree(t, filepath.Join(w.Location.Store, "bodies"))) }
	for i, of := range []string{"result/c/a", "result/c/b"} {
		report, err := w.Release(t.Context(), release.Request{Names: []record.Name{nameOf(t, of)}})
		if want := int64(i * len(text)); err != nil || report.Bytes != want || bodies() != 1-i {
			t.Errorf("release of %s: %+v, %v; %d body files; want %d bytes", of, report, err, bodies(), want)
		}
	}
}

// TestReleaseThenFileAgain writes a file again that was given up: it is a new one.
func TestReleaseThenFileAgain(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	file := ".claude/agent_tool_results/c/a.md"
	putFrom(t, w, "result/c/a", "a", nil)
	releaseBy(t, w, release.Retention{Kind: record.KindResult})
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
	writeTree(t, w.Root, map[string]string{file: "a"})
	wantActions(t, runSync(t, w, materialize.SyncOptions{Announced: true}), "captured "+file)
	if got := textOf(t, w, "result/c/a"); got != "a" {
		t.Errorf("the result that an agent wrote again = %q", got)
	}
}

// TestReleaseInWorktrees gives up what has files in a linked worktree too.
func TestReleaseInWorktrees(t *testing.T) {
	t.Parallel()
	main, linked := linkedWorktree(t)
	w := workspaceIn(t, main, materialize.Settings{})
	there := openAt(t, materialize.Location{Store: w.Location.Store, Main: main, Root: linked})
	for _, of := range []string{"result/c/a", "result/c/b"} {
		putFrom(t, w, of, of, nil)
	}
	runSync(t, there, materialize.SyncOptions{})
	writeTree(t, linked, map[string]string{".claude/agent_tool_results/c/b.md": "mine"})
	report, err := w.Release(t.Context(), release.Request{Retention: &release.Retention{Kind: record.KindResult}})
	if err != nil {
		t.Fatal(err)
	}
	wantSaid(t, "in two roots", report, "drop result/c/a",
		"keep result/c/b: its file was altered; the text is note/.claude/agent_tool_results/c/b.md~altered")
	want := map[string]string{".claude/agent_tool_results/c/b.md": "mine"}
	files := readTree(t, linked)
	delete(files, ".git")
	if diff := cmp.Diff(want, files); diff != "" {
		t.Errorf("files of the worktree (-want +got):\n%s", diff)
	}
	wantActions(t, runSync(t, there, materialize.SyncOptions{}), "altered .claude/agent_tool_results/c/b.md")
}

// linkedWorktree makes a repository with a linked worktree.
func linkedWorktree(t testing.TB) (main, linked string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	main, linked = filepath.Join(base, "main"), filepath.Join(base, "linked")
	if err := os.Mkdir(main, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q"}, {"commit", "-q", "--allow-empty", "-m", "first"}, {"worktree", "add", "-q", linked},
	} {
		cmd := exec.Command("git", append([]string{"-C", main, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	return main, linked
}

func openAt(t testing.TB, at materialize.Location) *materialize.Workspace {
	t.Helper()
	c := &testClock{now: time.Now().Add(time.Hour)}
	w, err := materialize.Open(at, materialize.Settings{}, store.Options{Now: c.Now, Wait: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// TestReleaseRandom gives up random parts of random graphs. Whatever is left must
// have everything that it refers to.
func TestReleaseRandom(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(seed, 1))
			w := newWorkspace(t)
			var names []string
			for i := range 25 {
				of := fmt.Sprintf("result/c%d/k%d", random.IntN(4), i)
				if random.IntN(4) == 0 {
					of = fmt.Sprintf("note/n%d.md", i)
				}
				var from []string
				for range random.IntN(3) {
					if len(names) > 0 {
						from = append(from, names[random.IntN(len(names))])
					}
				}
				putFrom(t, w, of, fmt.Sprint("text ", random.IntN(9)), from)
				names = append(names, of)
				if random.IntN(5) == 0 {
					tag(t, w, names[random.IntN(len(names))], fmt.Sprint("t", i))
				}
			}
			for range 3 {
				report := releaseBy(t, w, release.Retention{
					Kind: record.KindResult, Conversations: []string{fmt.Sprint("c", random.IntN(4))}, Keep: random.IntN(3),
				})
				for _, n := range report.Released {
					wantNothingOf(t, w, n.Name.String())
				}
				wantNoDangling(t, w)
			}
		})
	}
}

func wantNoDangling(t testing.TB, w *materialize.Workspace) {
	t.Helper()
	view(t, w, func(tx *store.Tx) {
		for e, err := range tx.Log(1) {
			if err != nil {
				t.Fatal(err)
			}
			v, err := tx.Get(e.Ref)
			if e.Op != store.OpPut || err != nil {
				continue
			}
			for _, from := range v.Record.From {
				if _, err := tx.Get(from); err != nil {
					t.Errorf("%s was made from %s: %v", v.Record.Name, from.Short(), err)
				}
			}
		}
	})
}

package materialize_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"filebus/materialize"
	"filebus/materialize/mirror"
	"filebus/store"
	"filebus/store/record"
)

func TestOutsideRoots(t *testing.T) {
	t.Parallel()
	home, dialogues := t.TempDir(), filepath.Join(t.TempDir(), "blue-dialogue")
	profile := profileOf("seed")
	profile.Dialogues = filepath.ToSlash(dialogues)
	settings := materialize.Settings{Profile: profile, Home: home}
	w := workspaceIn(t, t.TempDir(), settings)

	result := put(t, w, "result/c1/call1", "# Finding\n\nText.\n")
	if want := filepath.Join(home, ".qark", "agent_tool_results", "c1", "call1.md"); result.File != want {
		t.Errorf("result file = %s, want %s", result.File, want)
	}
	turn := put(t, w, "turn/x/round-0/muffin", "[PERSPECTIVE P01: One]\n")
	if want := filepath.Join(dialogues, "x", "round-0", "muffin.md"); turn.File != want {
		t.Errorf("turn file = %s, want %s", turn.File, want)
	}
	for _, r := range []*materialize.PutResult{result, turn} {
		if _, err := os.Stat(r.File); err != nil {
			t.Errorf("%s: %v", r.Name, err)
		}
	}
	// Only what belongs to a dialogue that this store made is looked at.
	writeTree(t, dialogues, map[string]string{"x/round-0/scone.md": "[TENSION T01: Two]\n", "foreign/round-0/a.md": "text"})
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "captured file:"+filepath.ToSlash(dialogues)+"/x/round-0/scone.md")
	if got := textOf(t, w, "turn/x/round-0/scone"); !strings.HasPrefix(got, "[TENSION") {
		t.Errorf("scone = %q", got)
	}

	other := workspaceIn(t, t.TempDir(), settings)
	_, err := other.Put(t.Context(), materialize.PutRequest{
		Kind: record.KindResult, ID: "c1/call2", Text: strings.NewReader("text"), Source: record.SourcePut,
	})
	if n := position(t, other); n != 0 {
		t.Errorf("the refused put left %d log entries", n)
	}
	if !errors.Is(err, mirror.ErrRootTaken) {
		t.Errorf("a second store in a folder of the first: %v", err)
	}
	put(t, other, "result/c2/call1", "Another.\n") // the root is everybody's
	// What belongs to another store is neither looked at nor written.
	writeTree(t, home, map[string]string{".qark/agent_tool_results/c2/by-hand.md": "By hand.\n"})
	wantActions(t, runSync(t, w, materialize.SyncOptions{}))
	wantActions(t, runSync(t, other, materialize.SyncOptions{}), "captured ~/.qark/agent_tool_results/c2/by-hand.md")
}

// TestTakeOver has a store that was made anew take the folders of the one that was deleted, and of no other.
func TestTakeOver(t *testing.T) {
	t.Parallel()
	home, profile := t.TempDir(), profileOf("seed")
	dialogues := filepath.Join(t.TempDir(), "blue-dialogue")
	profile.Dialogues = filepath.ToSlash(dialogues)
	settings := materialize.Settings{Profile: profile, Home: home}
	dir, theirs := t.TempDir(), workspaceIn(t, t.TempDir(), settings)
	put(t, theirs, "turn/theirs/round-0/muffin", "[PERSPECTIVE P01: Theirs]\n")
	noteOf := func(dir string) string { return "0a0a\n" + filepath.Join(dir, ".filebus") + "\n" }
	writeTree(t, dialogues, map[string]string{
		"ours/.filebus-owner": noteOf(dir), "ours/round-0/muffin.md": "[PERSPECTIVE P01: Ours]\n", "ours/plain.txt": "kept",
		"lost/.filebus-owner": noteOf(filepath.Join(dir, "gone")), "lost/round-0/muffin.md": "[PERSPECTIVE P01: Lost]\n",
		// An older program had one note for the whole root.
		".filebus-owner": noteOf(dir), "old/round-0/Scone.md": "[PERSPECTIVE P01: Old]\r\n",
	})
	w := workspaceIn(t, dir, settings)
	_, err := w.Put(t.Context(), materialize.PutRequest{Kind: record.KindTurn, ID: "ours/round-1/muffin", Text: strings.NewReader("text"), Source: record.SourcePut})
	if e := (*record.Error)(nil); !errors.As(err, &e) || e.Reason != mirror.ErrRootTaken || e.Hint != "filebus init --take-over" {
		t.Fatalf("a folder of the store that was deleted: %v", err)
	}
	prefix := "captured file:" + filepath.ToSlash(dialogues)
	report := runSync(t, w, materialize.SyncOptions{TakeOver: true, Announced: true, CaptureOnly: true})
	wantActions(t, report, prefix+"/old/round-0/Scone.md", prefix+"/ours/plain.txt", prefix+"/ours/round-0/muffin.md")
	put(t, w, "turn/ours/round-1/muffin", "text")
	wantActions(t, runSync(t, theirs, materialize.SyncOptions{}))
	put(t, theirs, "turn/theirs/round-1/muffin", "text")
	_, err = w.Put(t.Context(), materialize.PutRequest{Kind: record.KindTurn, ID: "lost/round-1/muffin", Text: strings.NewReader("text"), Source: record.SourcePut})
	if e := (*record.Error)(nil); !errors.As(err, &e) || !strings.HasPrefix(e.Hint, "mv {1} {2} ") {
		t.Errorf("a folder of a store that was elsewhere: %v", err)
	}
	_, err = theirs.Put(t.Context(), materialize.PutRequest{Kind: record.KindTurn, ID: "ours/round-2/muffin", Text: strings.NewReader("text"), Source: record.SourcePut})
	if e := (*record.Error)(nil); !errors.As(err, &e) || e.Hint != "run it again under another name, or with --store {3}" {
		t.Errorf("a folder that was taken over: %v", err)
	}
}

func TestLocate(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	project := filepath.Join(home, "project")
	deep := filepath.Join(project, "src", "deep")
	for _, dir := range []string{deep, filepath.Join(project, ".git")} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	at, err := materialize.Locate(deep, "", home)
	if !errors.Is(err, store.ErrNoStore) || at.Main != project {
		t.Errorf("without a store = %+v, %v; want one to be made in %s", at, err, project)
	}
	workspaceIn(t, project, materialize.Settings{})
	if at, err := materialize.Locate(deep, "", home); err != nil || at.Root != project {
		t.Errorf("below a store = %+v, %v", at, err)
	}
	workspaceIn(t, home, materialize.Settings{})
	if at, err := materialize.Locate(t.TempDir(), "", home); !errors.Is(err, store.ErrNoStore) {
		t.Errorf("elsewhere = %+v, %v", at, err)
	}
	if at, err := materialize.Locate(home, "", home); err != nil || at.Root != home {
		t.Errorf("in the home folder = %+v, %v: a store that was made here must be found", at, err)
	}
	below := filepath.Join(home, "other")
	if err := os.Mkdir(below, 0o777); err != nil {
		t.Fatal(err)
	}
	if at, err := materialize.Locate(below, "", home); !errors.Is(err, store.ErrNoStore) {
		t.Errorf("below the home folder = %+v, %v: it is shared by all projects", at, err)
	}
	explicit := filepath.Join(project, ".filebus")
	if at, err := materialize.Locate(t.TempDir(), explicit, home); err != nil || at.Main != project {
		t.Errorf("with an explicit store = %+v, %v", at, err)
	}
}

func TestWorktree(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	main, linked := t.TempDir(), filepath.Join(t.TempDir(), "linked")
	git := func(args ...string) {
		cmd := exec.Command("git", append([]string{"-C", main, "-c", "user.name=a", "-c", "user.email=a@b"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	git("commit", "-q", "--allow-empty", "-m", "first")
	git("worktree", "add", "-q", linked)
	w := workspaceIn(t, main, materialize.Settings{})
	put(t, w, "issue/ISSUE-20260302-001", "### ISSUE-20260302-001\n\n- **Status**: pending\n")

	at, err := materialize.Locate(linked, "", t.TempDir())
	if err != nil || at.Store != w.Location.Store || at.Root != linked {
		t.Fatalf("Locate in a linked worktree = %+v, %v", at, err)
	}
	c := &testClock{now: time.Now().Add(time.Hour)}
	there, err := materialize.Open(at, materialize.Settings{}, store.Options{Now: c.Now})
	if err != nil {
		t.Fatal(err)
	}
	wantActions(t, runSync(t, there, materialize.SyncOptions{})) // nothing is written unasked
	put(t, there, "issue/ISSUE-20260302-002", "### ISSUE-20260302-002\n\n- **Status**: pending\n")
	if roots := w.Roots(); len(roots) != 2 || roots[1] != linked {
		t.Errorf("Roots = %v", roots)
	}
	wantActions(t, runSync(t, w, materialize.SyncOptions{}), "written "+issueFile)
	both := "# Issue Queue\n\n### ISSUE-20260302-001\n\n- **Status**: pending\n\n### ISSUE-20260302-002\n\n- **Status**: pending\n"
	wantFile(t, w, issueFile, both)
	wantFile(t, there, issueFile, both)
	wantActions(t, runSync(t, there, materialize.SyncOptions{}))
}

// TestStrangers has a dialogue that another program wrote taken in when that is asked for, and its files left to it.
func TestStrangers(t *testing.T) {
	t.Parallel()
	home, profile := t.TempDir(), profileOf("seed")
	dialogues := filepath.Join(t.TempDir(), "blue-dialogue")
	profile.Dialogues = filepath.ToSlash(dialogues)
	settings := materialize.Settings{Profile: profile, Home: home}
	w, other := workspaceIn(t, t.TempDir(), settings), workspaceIn(t, t.TempDir(), settings)
	put(t, other, "turn/theirs/round-0/muffin", "[PERSPECTIVE P01: Theirs]\n")
	writeTree(t, dialogues, map[string]string{
		"gâteau/round-0/muffin.md": "[PERSPECTIVE P01: Seen]\n", "gâteau/expert-pool.json": "{}", "empty/x.bin": "x", "loose.md": "x",
	})
	at := filepath.Join(dialogues, "gâteau")
	if found, err := w.Strangers(t.Context()); err != nil || len(found) != 1 || found[0] != at {
		t.Fatalf("Strangers = %q, %v", found, err)
	}
	if dirs := w.Outside("../" + filepath.Base(dialogues) + "/x/gâteau"); dirs != nil {
		t.Errorf("Outside leads to %q", dirs)
	}
	report := runSync(t, w, materialize.SyncOptions{TakeIn: w.Outside("gâteau"), Announced: true, CaptureOnly: true})
	prefix := "file:" + filepath.ToSlash(at)
	wantActions(t, report, "captured "+prefix+"/expert-pool.json", "captured "+prefix+"/round-0/muffin.md")
	if found, err := w.Strangers(t.Context()); err != nil || found != nil {
		t.Errorf("Strangers = %q, %v", found, err)
	}
	_, err := w.Put(t.Context(), materialize.PutRequest{Kind: record.KindTurn, ID: "gâteau/round-0/muffin", Text: strings.NewReader("mine"), Source: record.SourcePut})
	if !errors.Is(err, materialize.ErrForeignFile) {
		t.Errorf("a put over the file of another program: %v", err)
	}
	put(t, w, "turn/gâteau/round-0/scone", "[PERSPECTIVE P01: Ours]\n")
	put(t, w, "turn/gâteau/round-0/scone", "[PERSPECTIVE P01: Ours, again]\n")
	for _, id := range []string{"muffin", "scone"} {
		if err := w.Remove(t.Context(), record.Name{Kind: record.KindTurn, ID: "gâteau/round-0/" + id}); err != nil {
			t.Fatal(err)
		}
	}
	runSync(t, w, materialize.SyncOptions{Repair: true})
	if _, err := os.Stat(filepath.Join(at, "round-0", "scone.md")); err == nil {
		t.Error("the file that the store wrote stays")
	}
	if text, err := os.ReadFile(filepath.Join(at, "round-0", "muffin.md")); err != nil || string(text) != "[PERSPECTIVE P01: Seen]\n" {
		t.Errorf("the other program's file = %q, %v", text, err)
	}
	report = runSync(t, w, materialize.SyncOptions{TakeIn: w.Outside("theirs"), Announced: true, CaptureOnly: true})
	if len(report.Files) != 0 || len(report.Skipped) != 1 {
		t.Errorf("the folder of another store is skipped: %v", report.Skipped)
	}
}

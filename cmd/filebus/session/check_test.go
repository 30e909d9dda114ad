package session

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/layout"
	"filebus/materialize/mirror"
	"filebus/store/record"
)

// TestCheck leaves files in all the states in which an agent may find them.
func TestCheck(t *testing.T) {
	t.Parallel()
	const long = "# Plan\n\nOne.\n\nTwo.\n"
	tests := []struct {
		name  string
		make  func(x *bench, key Key, file string)
		state string
		do    string // the beginning of the command
	}{
		{"stored", func(x *bench, key Key, _ string) { x.put(key, "plan", long, "") }, "ok", ""},
		{"by hand", func(x *bench, _ Key, file string) { x.file(file, long) }, "ok", ""},
		{"a closed block", func(x *bench, _ Key, file string) { x.file(file, "````md\n```\nx\n````\n~~~\n```\n~~~") }, "ok", ""},
		{"an open block", func(x *bench, _ Key, file string) { x.file(file, "a\n```go\nx\n```go\n") }, "truncated", "filebus session put"},
		{"within a character", func(x *bench, _ Key, file string) { x.file(file, "na\xc3") }, "truncated", "filebus session put"},
		{"nothing", func(*bench, Key, string) {}, "missing", "filebus session put"},
		{"deleted", func(x *bench, key Key, file string) {
			x.put(key, "plan", long, "")
			x.remove(file)
		}, "missing", "filebus sync"},
		{"retired", func(x *bench, key Key, file string) {
			put := x.put(key, "plan", long, "")
			if err := x.w.Remove(x.t.Context(), put.Name); err != nil {
				x.t.Fatal(err)
			}
		}, "missing", "filebus rm --restore artifact/"},
		{"empty", func(x *bench, _ Key, file string) { x.file(file, "") }, "empty", "filebus session put"},
		{"emptied", func(x *bench, key Key, file string) {
			x.put(key, "plan", long, "")
			x.file(file, "")
		}, "empty", "filebus get "},
		{"emptied and taken in", func(x *bench, key Key, file string) {
			x.put(key, "plan", long, "")
			x.file(file, "")
			x.sync()
		}, "empty", "filebus get "},
		{"cut", func(x *bench, key Key, file string) {
			x.put(key, "plan", long, "")
			x.file(file, long[:9])
		}, "truncated", "filebus get "},
		{"cut and taken in", func(x *bench, key Key, file string) {
			x.put(key, "plan", long, "")
			x.file(file, long[:9])
			x.sync()
		}, "truncated", "filebus get "},
		{"changed", func(x *bench, key Key, file string) {
			x.put(key, "plan", long, "")
			x.file(file, "# Other\n")
		}, "changed", "filebus sync"},
		{"just written", func(x *bench, _ Key, file string) { x.touch(x.file(file, long)) }, "growing", "sleep 2 && filebus session check "},
		{"just stored", func(x *bench, key Key, file string) {
			x.put(key, "plan", long, "")
			x.touch(filepath.Join(x.dir, filepath.FromSlash(file)))
		}, "ok", ""},
		{"a folder", func(x *bench, _ Key, file string) { x.file(file+"/x", "x") }, "irregular", "mv "},
		{"its agent at work", func(x *bench, key Key, file string) {
			x.file(file, "---\nagent: web-tester\n---\nText.\n")
			x.sync()
			x.note(key, "START", "Web Tester")
		}, "open", "check again when Web Tester"},
		{"another agent at work", func(x *bench, key Key, file string) {
			x.file(file, "---\nagent: other\n---\nText.\n")
			x.sync()
			x.note(key, "START", "Web Tester")
		}, "ok", ""},
		{"announced while its agent goes on", func(x *bench, key Key, file string) {
			x.note(key, "START", "Web Tester")
			x.put(key, "plan", long, "")
		}, "ok", ""},
		{"awaited", func(x *bench, key Key, file string) { x.note(key, "START", "Web Tester") }, "missing", "check again when Web Tester"},
	}
	for _, test := range tests {
		x := newBench(t, layout.Claude())
		x.NoSync = true // what the store has is what test.make has stored
		key := x.start("build", "")
		test.make(x, key, ".claude/sessions/build/"+key.ID+"/plan.md")
		got, err := x.Check(t.Context(), key, []string{"plan"})
		if err != nil || len(got) != 1 {
			t.Errorf("%s: %+v, %v", test.name, got, err)
			continue
		}
		if f := got[0]; f.Rule != test.state || !strings.HasPrefix(f.Remedy, test.do) || (f.Rule == "ok") != (f.Remedy == "") || f.Artifact != "plan" {
			t.Errorf("%s: %+v; want %s, %s…", test.name, f, test.state, test.do)
		}
		byPath, err := x.CheckFiles(t.Context(), []string{got[0].File})
		if err != nil || len(byPath) != 1 || !cmp.Equal(byPath[0], got[0]) {
			t.Errorf("%s, by its path: %+v, %v; want %+v", test.name, byPath, err, got[0])
		}
	}
}

func (x *bench) remove(p string) {
	x.t.Helper()
	if err := os.Remove(filepath.Join(x.dir, filepath.FromSlash(p))); err != nil {
		x.t.Fatal(err)
	}
}

// touch makes a file look as if it was written just now.
func (x *bench) touch(file string) {
	x.t.Helper()
	if err := os.Chtimes(file, x.now, x.now.Add(-time.Second)); err != nil {
		x.t.Fatal(err)
	}
}

func (x *bench) note(key Key, event, agent string) {
	x.t.Helper()
	if _, err := x.Note(x.t.Context(), key, event, agent, ""); err != nil {
		x.t.Fatal(err)
	}
}

func TestCheckLink(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	key := x.start("build", "")
	target := x.file("secret.txt", "secret\n")
	link := filepath.Join(x.dir, ".claude", "sessions", "build", key.ID, "plan.md")
	if err := os.Symlink(target, link); err != nil {
		t.Skipf("there are no symbolic links here: %v", err)
	}
	got, err := x.Check(t.Context(), key, nil)
	if err != nil || len(got) != 1 || got[0].Rule != "irregular" || !strings.Contains(got[0].Message, "symbolic link") ||
		!strings.HasPrefix(got[0].Remedy, "mv -n "+link+" "+link+".old && filebus ") {
		t.Errorf("a link: %+v, %v; want it named, and moved away", got, err)
	}
	if err := os.Rename(link, link+".old"); err != nil {
		t.Fatal(err)
	}
	if got, err := x.Check(t.Context(), key, nil); err != nil || len(got) > 0 {
		t.Errorf("moved away, it is still looked at: %+v, %v", got, err)
	}
	if _, err := x.Archive(t.Context(), key, filepath.Join(x.dir, "a.tgz"), false); err != nil {
		t.Errorf("archiving beside a link: %v", err)
	}
}

// TestPlantedLink starts a session where a link leads out of the workspace.
func TestPlantedLink(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	outside := t.TempDir()
	x.file(".claude/sessions/build/k7/plan.md", "text\n")
	x.sync()
	if err := os.Symlink(outside, filepath.Join(x.dir, ".claude", "sessions", "evil")); err != nil {
		t.Skipf("there are no symbolic links here: %v", err)
	}
	key := Key{Type: "evil", ID: "k7"}
	for what, write := range map[string]func() error{
		"start": func() error { _, err := x.Start(t.Context(), "evil", ""); return err },
		"path":  func() error { _, err := x.Path(t.Context(), key); return err },
		"log":   func() error { _, err := x.Note(t.Context(), key, "START", "a", ""); return err },
		"put": func() error {
			_, err := x.Put(t.Context(), key, PutRequest{Artifact: "plan", Text: strings.NewReader("text")})
			return err
		},
		"summary": func() error {
			_, err := x.Put(t.Context(), key, PutRequest{Artifact: "plan", Text: strings.NewReader("text"), Summary: "short"})
			return err
		},
	} {
		var planted *record.Error
		if err := write(); !errors.As(err, &planted) || planted.Reason != mirror.ErrLink ||
			planted.Names[0] != filepath.Join(x.dir, ".claude", "sessions", "evil") {
			t.Errorf("%s: %v; want the link refused and named", what, err)
		}
	}
	if left, err := os.ReadDir(outside); err != nil || len(left) > 0 {
		t.Errorf("outside of the workspace: %v, %v", left, err)
	}
}

func TestCheckUnreadable(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	key := x.start("build", "")
	file := x.file(".claude/sessions/build/"+key.ID+"/plan.md", "text\n")
	if err := os.Chmod(file, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := os.ReadFile(file); err == nil {
		t.Skip("whoever runs this may read everything")
	}
	got, err := x.Check(t.Context(), key, []string{"plan"})
	if err != nil || len(got) != 1 || got[0].Rule != "unreadable" || !strings.HasPrefix(got[0].Remedy, "chmod u+r ") {
		t.Errorf("an unreadable file: %+v, %v", got, err)
	}
}

// TestCheckBeside checks a file while it is written, replaced and deleted: each look
// finds it in one state or another, and none fails.
func TestCheckBeside(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	key := x.start("build", "")
	file := x.file(".claude/sessions/build/"+key.ID+"/plan.md", "text\n")
	text := []byte(strings.Repeat("a line of text\n", 20_000))
	stop := make(chan struct{})
	var agent sync.WaitGroup
	agent.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
				t.Errorf("deleting: %v", err)
			}
			if err := os.WriteFile(file, text, 0o666); err != nil {
				t.Errorf("writing: %v", err)
			}
		}
	})
	for range 200 {
		got, err := x.Check(t.Context(), key, []string{"plan"})
		if err != nil || len(got) != 1 {
			t.Errorf("beside a writer: %+v, %v", got, err)
			break
		}
		switch f := got[0]; f.Rule {
		case "ok", "missing", "growing", "empty":
		default:
			t.Errorf("beside a writer: %+v", f)
		}
	}
	close(stop)
	agent.Wait()
}

// TestCheckOddNames checks what agents have left under names that no command takes.
func TestCheckOddNames(t *testing.T) {
	t.Parallel()
	x := newBench(t, layout.Claude())
	key := x.start("build", "")
	folder := ".claude/sessions/build/" + key.ID + "/"
	for _, name := range []string{"LICENSE", "my plan.md", "sub/plan.md", "plan.md"} {
		x.file(folder+name, "text of "+name+"\n")
	}
	for _, step := range []string{"by hand", "taken in"} {
		got, err := x.Check(t.Context(), key, nil)
		var names []string
		for _, f := range got {
			names = append(names, f.Artifact+" "+f.Rule)
		}
		if want := "LICENSE~ ok, my plan ok, plan ok, sub/plan ok"; strings.Join(names, ", ") != want || err != nil {
			t.Errorf("%s: %q, %v; want %s", step, names, err, want)
		}
		x.sync()
	}
	if got, err := x.Check(t.Context(), key, []string{"my plan", "sub/plan"}); err != nil || len(got) != 2 || got[1].Rule != "ok" {
		t.Errorf("by their names: %+v, %v", got, err)
	}
	for _, name := range []string{"LICENSE", "my plan.md", "sub/plan.md"} { // which put does not take
		file := x.file(folder+name, "")
		got, err := x.CheckFiles(t.Context(), []string{file})
		if err != nil || len(got) != 1 || got[0].Rule != "empty" || !strings.HasPrefix(got[0].Remedy, "filebus get ") || strings.Contains(got[0].Remedy, "put") {
			t.Errorf("emptied: %+v, %v; want the stored text back by filebus get", got, err)
		}
	}
	file := x.file(folder+"sub/new.md", "")
	if got, err := x.CheckFiles(t.Context(), []string{file}); err != nil || len(got) != 1 || got[0].Remedy != "cp FILE "+file {
		t.Errorf("never stored: %+v, %v; want cp", got, err)
	}
}

func TestUnsetIn(t *testing.T) {
	t.Parallel()
	tests := []struct {
		path string
		want bool
	}{
		{"sessions/build//context.md", true},
		{".claude/sessions/build//context.md", true},
		{"/src/.claude/sessions//context.md", true},
		{".claude/sessions/build/k7/context.md", false},
		{"docs//idea.md", false},
		{"oursessions/build//context.md", false},
	}
	for _, test := range tests {
		if got := UnsetIn(test.path) != nil; got != test.want {
			t.Errorf("UnsetIn(%q) = %t, want %t", test.path, got, test.want)
		}
	}
}

func TestCheckAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "a.md")
	if err := os.WriteFile(file, []byte("```\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	later := func() time.Time { return time.Now().Add(time.Minute) }
	got, err := Open(nil, nil, later).CheckFiles(t.Context(), []string{file, dir, filepath.Join(file, "x")})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"truncated", "irregular", "missing"}
	for i, f := range got {
		if f.Rule != want[i] || f.Remedy == "" {
			t.Errorf("%s: %+v, want %s", f.File, f, want[i])
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d findings, want %d", len(got), len(want))
	}
}

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"filebus/cmd/filebus/cli"
)

// TestReplicate lets two workspaces follow each other through a folder: what is written to a file here becomes a file
// there. A folder that goes away is said once; an interrupt ends it, and leaves both sound.
func TestReplicate(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("no interrupt can be sent there")
	}
	top := t.TempDir()
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := filebusCommand(t, filepath.Join(top, name), args...)
		cmd.Env = append(cmd.Env, "FILEBUS_STATE="+filepath.Join(top, "state"))
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s %q: %v\n%s", name, args, err, out)
		}
		return string(out)
	}
	both, shared := []string{"a", "b"}, filepath.Join(top, "shared")
	for _, name := range both {
		must(t, os.Mkdir(filepath.Join(top, name), 0o777))
		run(name, "init")
		run(name, "config", "set", "notes", "docs")
		run(name, "remote", "add", "team", shared)
	}
	for _, name := range both {
		writeIn(t, filepath.Join(top, name), "docs/from-"+name+".md", "Of "+name+".\n")
		run(name, "push") // else there is nobody to trust
	}
	start := func(name string) *watchProcess {
		run(name, "remote", "trust", "--all")
		p := &watchProcess{t: t, cmd: filebusCommand(t, filepath.Join(top, name), "replicate", "--every", "1s")}
		p.cmd.Env = append(p.cmd.Env, "FILEBUS_STATE="+filepath.Join(top, "state"))
		out, err := p.cmd.StdoutPipe()
		must(t, err)
		errs, err := p.cmd.StderrPipe()
		must(t, err)
		must(t, p.cmd.Start())
		t.Cleanup(func() { _ = p.cmd.Process.Kill() }) // it may have ended
		p.collect(out, &p.out)
		p.collect(errs, &p.errs)
		return p
	}
	started := map[string]*watchProcess{"a": start("a"), "b": start("b")}
	writeIn(t, filepath.Join(top, "a"), "docs/one.md", "One.\n")
	started["b"].waitFor(&started["b"].out, "note/docs/from-a.md", "note/docs/one.md", " new\n")
	writeIn(t, filepath.Join(top, "b"), "docs/one.md", "One and two.\n")
	a := started["a"]
	a.waitFor(&a.out, "note/docs/from-b.md")
	for !strings.Contains(run("a", "get", "note/docs/one.md"), "two") {
	}
	must(t, os.Rename(shared, shared+".away"))
	a.waitFor(&a.errs, "no remote is at "+shared)
	writeIn(t, filepath.Join(top, "a"), "docs/away.md", "Written meanwhile.\n")
	a.waitFor(&a.out, "note/docs/away.md")
	must(t, os.Rename(shared+".away", shared))
	started["b"].waitFor(&started["b"].out, "note/docs/away.md")
	for _, name := range both {
		if code := started[name].end(); code != cli.ExitInterrupted {
			_, errs := started[name].said()
			t.Errorf("%s, interrupted: exit code %d\n%s", name, code, errs)
		}
		run(name, "verify")
		if got := run(name, "get", "note/docs/away.md"); got != "Written meanwhile.\n" {
			t.Errorf("%s has %q", name, got)
		}
	}
	if _, err := exec.LookPath("git"); err == nil { // files that git would take for work are not made, which is said
		dir := filepath.Join(top, "c")
		must(t, exec.Command("git", "init", "--quiet", dir).Run())
		run("a", "issue", "add", "Of a", "--type", "bug")
		run("a", "push")
		run("c", "init")
		run("c", "remote", "add", "team", shared)
		c := start("c")
		c.waitFor(&c.errs, "left to git, which does not ignore them: ", "filebus materialize --to ")
		c.end()
	}
	if out, errs := a.said(); strings.Count(errs, "no remote is at") != 1 || strings.Contains(out, "pushed 0 records") {
		t.Errorf("it says too much:\n%s\n%s", out, errs)
	}
}

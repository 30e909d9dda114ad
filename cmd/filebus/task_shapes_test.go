package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"filebus/cmd/filebus/cli"
)

// taskShapes is every command that takes a task, ID, in a row that makes sense. What follows
// the arrow must be in the output.
const taskShapes = `
task start ID --agent worker → agent_complete/ID.done
task note ID step
task prompt ID
task show ID
exec --agent worker --task ID -- echo output
task start ID --restart
put f.txt --agent putter --task ID
task done ID --summary Second_run --pattern Tokens_of_ID_expire_after_a_quarter_of_an_hour --files src/auth.go → agent_complete/ID.done
wait ID --timeout 5s
task show ID → Second run
get ID → Second run
show ID → ~2
path ID
knowledge harvest ID --add all → added
list --task ID → result/
list --task ID → handoff/
search expire --task ID → ~2
task start next-ID --depends ID
context --task next-ID anything → Depends on
context --task next-ID anything → Second run
context --task ID anything
run agent start w-NUMBER --task ID`

// TestTaskShapes takes ids in ten shapes through these commands: one id is one thing.
func TestTaskShapes(t *testing.T) {
	if testing.Short() {
		t.Skip("some two hundred commands")
	}
	t.Parallel()
	if _, err := exec.LookPath("echo"); err != nil {
		t.Skip("there is no echo to run")
	}
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "f.txt"), []byte("A text to put.\n"), 0o666))
	mustRun(t, dir, "run", "start")
	for n, id := range strings.Fields("001 task-002 TASK-V01 fix-login ISSUE-20251212-001 BUILD-003 42a 修复登录 v1.2.3 20251212") {
		for line := range strings.Lines(strings.TrimSpace(taskShapes)) {
			command, want, _ := strings.Cut(strings.TrimSpace(line), " → ")
			args := strings.Fields(command)
			for i, arg := range args {
				arg = strings.ReplaceAll(arg, "_", " ") // as a shell passes what is quoted
				args[i] = strings.NewReplacer("ID", id, "NUMBER", strconv.Itoa(n)).Replace(arg)
			}
			out, errText, code := ranIn(t, dir, args...)
			if want = strings.ReplaceAll(want, "ID", id); code != cli.ExitDone || !strings.Contains(filepath.ToSlash(out+errText), want) {
				t.Errorf("filebus %q: exit code %d; want %q in\n%s%s", args, code, want, out, errText)
			}
		}
	}
}

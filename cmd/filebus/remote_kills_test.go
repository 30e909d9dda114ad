package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/cli"
)

// TestRemoteKills lets three stores put texts and exchange them over a folder while their commands are killed with SIGKILL
// at random moments. Afterwards they must exchange the rest, be sound, and all have what was ever acknowledged.
// FILEBUS_KILLS says how many, as in
//
//	FILEBUS_KILLS=500 go test ./cmd/filebus -run '^TestRemoteKills$' -timeout 2h -v
func TestRemoteKills(t *testing.T) {
	t.Parallel()
	want, kills, commands := effort(t, "FILEBUS_KILLS", 8), 0, 0
	random := chance(t)
	top := t.TempDir()
	var sites []*site
	for _, label := range []string{"a", "b", "c"} {
		s := &site{t, filepath.Join(top, label)}
		must(t, os.Mkdir(s.dir, 0o777))
		s.must("init")
		s.must("remote", "add", "shared", filepath.Join(top, "shared"), "--label", label)
		s.must("put", "--name", "note/"+label, "-")
		s.must("push")
		sites = append(sites, s)
	}
	for _, s := range sites {
		s.must("remote", "trust", "--all")
	}
	acked := map[string]string{}
	for kills < want && !t.Failed() {
		commands++
		s, n := sites[random.IntN(3)], fmt.Sprint("n", commands)
		text := fmt.Sprintf("text %d of %s\n%s", commands, s.dir, strings.Repeat("more ", random.IntN(50)))
		if random.IntN(6) == 0 { // one that travels apart
			text = strings.Repeat(fmt.Sprint(random.Uint64(), random.Uint64()), 20_000)
		}
		name, args := "", [][]string{{"push"}, {"pull"}, {"issue", "add", "Summary " + n, "--type", "bug"}}[random.IntN(3)]
		if random.IntN(3) == 0 {
			name, args = "note/"+n, []string{"put", "--name", "note/" + n, "-"}
		}
		after := time.Duration(0)
		if random.IntN(3) > 0 {
			after = time.Duration(1+random.IntN(120)) * time.Millisecond
		}
		switch f := s.run(after, text, args...); {
		case f.code == -1:
			kills++
		case name != "" && f.code == cli.ExitDone:
			acked[name] = text
		case !slices.Contains([]int{cli.ExitDone, cli.ExitConflict, cli.ExitPartly}, f.code):
			t.Errorf("filebus %s: exit code %d\n%s%s", strings.Join(args, " "), f.code, f.out, f.err)
		}
	}
	for range 4 {
		for _, s := range sites {
			if f := s.run(0, "", "pull"); f.code != cli.ExitDone && f.code != cli.ExitConflict {
				t.Errorf("pull: exit code %d\n%s", f.code, f.err)
			}
			s.must("push")
		}
	}
	first, conflicts := heads(t, sites[0].dir), sites[0].run(0, "", "conflicts", "--json").out
	for _, s := range sites {
		wantSound(t, s.dir)
		if diff := cmp.Diff(first, heads(t, s.dir)); diff != "" {
			t.Errorf("%s and %s have other texts:\n%.3000s", sites[0].dir, s.dir, diff)
		}
		if diff := cmp.Diff(conflicts, s.run(0, "", "conflicts", "--json").out); diff != "" {
			t.Errorf("%s and %s have other conflicts:\n%.3000s", sites[0].dir, s.dir, diff)
		}
	}
	for name, text := range acked {
		if first[name] != text {
			t.Errorf("%s was acknowledged, and is %.100q", name, first[name])
		}
	}
	t.Logf("%d kills in %d commands", kills, commands)
}

// A site is a store of a test, with a home of its own.
type site struct {
	t   *testing.T
	dir string
}

// run runs a command line, and kills it after a while unless that is 0.
func (s *site) run(after time.Duration, input string, args ...string) finished {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	if after > 0 {
		defer time.AfterFunc(after, cancel).Stop()
	}
	cmd := filebusCommand(s.t, s.dir, args...)
	killable := exec.CommandContext(ctx, cmd.Path, cmd.Args[1:]...)
	killable.Args, killable.Dir = cmd.Args, cmd.Dir
	killable.Env = append(cmd.Env, "FILEBUS_STATE="+s.dir+".state")
	return runCommand(s.t, killable, input)
}

// must is run of a command that must end well.
func (s *site) must(args ...string) {
	s.t.Helper()
	if f := s.run(0, "a text of "+s.dir+"\n", args...); f.code != cli.ExitDone {
		s.t.Fatalf("filebus %s: exit code %d\n%s%s", strings.Join(args, " "), f.code, f.out, f.err)
	}
}

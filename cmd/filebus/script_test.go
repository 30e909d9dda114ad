package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	switch strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") {
	case "filebus":
		collectLate() // as main does
		if slices.Contains(os.Args, "serve") || slices.Contains(os.Args, "mcp") {
			go endAlone(os.Getppid())
		}
		code := runMain()
		tellPeak()
		os.Exit(code)
	case "speaker":
		speak()
		return
	}
	// The stores of tests are not remembered among the user's: only a script may
	// say where.
	err := os.Setenv("FILEBUS_STATE", "off")
	// Some tests wait for clocks and processes, which others may use. A flag -parallel comes later.
	if err = errors.Join(err, flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0)))); err != nil {
		panic(err)
	}
	// Many short commands leave much garbage and keep little of it.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(1 << 29)
	time.Local = time.UTC // as TZ says to the programs of scripts
	// Programs that scripts find by their plain names. As keys, these would hide
	// the script command filebus.
	testscript.Main(m, map[string]func(){"./filebus": nil, "./speaker": nil})
}

// endAlone ends a server that a test has left alone, as a test run that is killed does.
func endAlone(parent int) {
	for os.Getppid() == parent {
		time.Sleep(time.Second)
	}
	os.Exit(1)
}

// speak is a program that says its arguments, and ends when its input does.
func speak() {
	fmt.Println(strings.Join(os.Args[1:], " "))
	_, err := io.Copy(io.Discard, os.Stdin)
	if err != nil {
		os.Exit(1)
	}
}

// TestScripts runs testdata/script/<command>_<case>.txtar, each in a folder of
// its own with a store of its own.
func TestScripts(t *testing.T) {
	t.Parallel()
	hints := &hintList{}
	t.Cleanup(func() { hints.follow(t) })
	testscript.Run(t, scriptParams(t, "testdata/script", func(env *testscript.Env) {
		env.Setenv("FILEBUS_STORE", env.WorkDir+"/.filebus")
		env.Values[hintsKey{}] = hints
	}))
}

// clearBeside removes, when all scripts have ended, what one has left beside its folder, such as
// a backup: the folder above it is made for the scripts of one test, and is left unless empty.
func clearBeside(t *testing.T, env *testscript.Env) {
	if keep := flag.Lookup("testwork"); keep == nil || keep.Value.String() == "false" {
		t.Cleanup(func() { must(t, os.RemoveAll(filepath.Dir(env.WorkDir))) })
	}
}

// scriptParams say how the scripts of a folder are run; setup sets what they find
// besides in their environment.
func scriptParams(t *testing.T, dir string, setup func(env *testscript.Env)) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			clearBeside(t, env)
			env.Setenv("FILEBUS_STATE", env.WorkDir+"/.tmp/state")
			env.Setenv("TZ", "UTC")
			setup(env)
			env.Values[variablesKey{}] = env.Vars
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name != "root" {
				return false, fmt.Errorf("unknown condition %q", name)
			}
			return os.Geteuid() == 0, nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"filebus": cmdFilebus,
			"code":    cmdCode,
			"mended":  cmdMended,
			"aged":    cmdAged,
			"repeat":  cmdRepeat,
			"flip":    cmdFlip,
		},
	}
}

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	// The stores of tests are not remembered among the user's: only the program that
	// a script runs may be told where.
	if strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe") != "filebus" {
		if err := os.Setenv("FILEBUS_STATE", "off"); err != nil {
			panic(err)
		}
	}
	testscript.Main(m, map[string]func(){
		"filebus": func() { os.Exit(runMain()) },
		"speaker": speak,
	})
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
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("FILEBUS_STORE", env.WorkDir+"/.filebus")
			env.Setenv("FILEBUS_STATE", env.WorkDir+"/.tmp/state")
			env.Setenv("TZ", "UTC")
			return nil
		},
		// code runs a command that must end with an exit code other than 0 and 1.
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"code": cmdCode},
	})
}

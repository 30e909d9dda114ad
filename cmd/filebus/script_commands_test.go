package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"filebus/cmd/filebus/cli"
)

// variablesKey is where the variables that a script begins with are found.
type variablesKey struct{}

// cmdFilebus is the script command "filebus args... [<file]": it runs a command
// line within the process of the tests, which takes a tenth of the time that
// "exec filebus args..." takes.
func cmdFilebus(ts *testscript.TestScript, neg bool, args []string) {
	if code := runFilebus(ts, args); (code != 0) != neg {
		ts.Fatalf("filebus %v ended with exit code %d", args, code)
	}
}

// runFilebus runs a command line with what the script knows, and returns the exit
// code. The input is empty, or the file that the last argument names: "<file".
// Of the variables that the script has set, programs that filebus starts get only
// those that it began with.
func runFilebus(ts *testscript.TestScript, args []string) int {
	input := ""
	if last := len(args) - 1; last >= 0 && strings.HasPrefix(args[last], "<") {
		input = ts.ReadFile(args[last][1:])
		args = args[:last]
	}
	env := scriptEnviron(ts)
	env.In = strings.NewReader(input)
	var said bytes.Buffer
	env.Err = io.MultiWriter(env.Err, &said)
	code := run(context.Background(), env, args)
	if code != 0 {
		keepHints(ts, args, said.String())
	}
	return code
}

// scriptEnviron returns what a command line of a script runs in.
func scriptEnviron(ts *testscript.TestScript) *cli.Environ {
	env := &cli.Environ{
		SyncBudget: time.Minute, // a busy machine must not change what is said
		GitBudget:  usualGitBudget,
		Out:        ts.Stdout(),
		Err:        ts.Stderr(),
		Dir:        ts.MkAbs("."),
		Getenv:     ts.Getenv,
		Now:        time.Now,
	}
	for _, variable := range ts.Value(variablesKey{}).([]string) {
		name, _, _ := strings.Cut(variable, "=")
		env.Variables = append(env.Variables, name+"="+ts.Getenv(name))
	}
	return env
}

// cmdMended is the script command "mended": it does what the command before has advised, where
// one command's output is the other's input.
func cmdMended(ts *testscript.TestScript, neg bool, args []string) {
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		from, to, isPipe := strings.Cut(strings.TrimSpace(line), " | ")
		if !isPipe {
			continue
		}
		var text bytes.Buffer
		reads, writes := scriptEnviron(ts), scriptEnviron(ts)
		reads.Out, writes.In = &text, &text
		for _, side := range []struct {
			env  *cli.Environ
			line string
		}{{reads, from}, {writes, to}} {
			if code := run(context.Background(), side.env, adviceWords(side.line)[1:]); code != 0 {
				ts.Fatalf("%s ended with exit code %d", side.line, code)
			}
		}
	}
}

// cmdCode is the script command "code N program args...": it fails unless the
// program ends with exit code N. Its output is checked with stdout and stderr,
// as after exec. The program filebus runs as cmdFilebus runs it.
func cmdCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: code N program args...")
	}
	if got := exitCode(ts, args[1], args[2:]); got != args[0] {
		ts.Fatalf("%v ended with exit code %s; want %s", args[1:], got, args[0])
	}
}

// exitCode runs a program and returns its exit code.
func exitCode(ts *testscript.TestScript, program string, args []string) string {
	switch program {
	case "filebus":
		return strconv.Itoa(runFilebus(ts, args))
	case "exec":
		program, args = args[0], args[1:]
	}
	err := ts.Exec(program, args...)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return strconv.Itoa(exit.ExitCode())
	case err != nil:
		ts.Fatalf("%v", err)
	}
	return "0"
}

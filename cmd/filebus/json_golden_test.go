package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/testscript"

	"filebus"
)

var update = flag.Bool("update", false, "write testdata/json.golden anew")

const goldenFile = "testdata/json.golden"

// TestJSONGolden runs the scripts in testdata/json, each in a copy of the sample
// workspace, and compares the shape of all JSON that they print with the golden
// file: the keys in the order of the output, with the types of their values.
// What a reader of JSON depends on is in there: a change of the file has to be
// meant. go test ./cmd/filebus -run JSONGolden -update writes it anew.
func TestJSONGolden(t *testing.T) {
	t.Parallel()
	scripts, err := filepath.Glob("testdata/json/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("testdata/json: %d scripts, %v", len(scripts), err)
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git program")
	}
	shapes := map[string]*bytes.Buffer{}
	for _, script := range scripts {
		shapes[strings.TrimSuffix(filepath.Base(script), ".txtar")] = &bytes.Buffer{}
	}
	t.Run("scripts", func(t *testing.T) { // returns when all of them have ended
		testscript.Run(t, testscript.Params{
			Dir:                 "testdata/json",
			RequireExplicitExec: true,
			Setup:               func(env *testscript.Env) error { clearBeside(t, env); return setupGolden(env) },
			Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
				"json": func(ts *testscript.TestScript, _ bool,
					args []string) {
					printShape(ts, shapes[ts.Name()], args)
				},
			},
		})
	})
	var got bytes.Buffer
	for _, script := range scripts {
		name := strings.TrimSuffix(filepath.Base(script), ".txtar")
		fmt.Fprintf(&got, "== %s\n%s", name, shapes[name])
	}
	if *update {
		if err := os.WriteFile(goldenFile, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatalf("reading: %v", err)
	}
	for _, run := range strings.Split(got.String(), "\n$ ")[1:] {
		line, shapes, _ := strings.Cut(run, "\n")
		if isList := strings.Contains(shapes, "\n["); isList && !strings.HasPrefix(line, "filebus schema inject") {
			t.Errorf("%s prints a list, not an object", line) // a schema stays what it is
		}
	}
	if diff := gocmp.Diff(strings.Split(string(want), "\n"), strings.Split(got.String(), "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", goldenFile, diff)
	}
}

// setupGolden makes the workspace of a script: the sample, and over it the
// script's own files.
func setupGolden(env *testscript.Env) error {
	sample, err := filebus.Sample()
	if err == nil {
		err = os.CopyFS(env.WorkDir, sample)
	}
	env.Setenv("FILEBUS_STORE", filepath.Join(env.WorkDir, ".filebus"))
	env.Setenv("FILEBUS_STATE", filepath.Join(env.WorkDir, ".tmp", "state"))
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("AGE", "0s")
	return err
}

// printShape is the script command "json ARGS... [< FILE]": it runs a command
// line with --json and adds its exit code and the shape of its JSON to out. The
// variable AGE says how long after the start of the script's day that is; with
// INTERRUPTED the command is interrupted at once.
func printShape(ts *testscript.TestScript, out io.Writer, args []string) {
	var stdout, stderr bytes.Buffer
	env := docEnviron(ts.MkAbs("."), &stdout)
	env.Err, env.Getenv, env.GitBudget = &stderr, ts.Getenv, time.Minute
	env.Variables = append(os.Environ(), "FILEBUS_STORE="+ts.Getenv("FILEBUS_STORE"))
	age, err := time.ParseDuration(ts.Getenv("AGE"))
	ts.Check(err)
	now := env.Now().Add(age)
	env.Now = func() time.Time { return now }
	line := strings.Join(args, " ")
	if i := slices.Index(args, "<"); i >= 0 {
		env.In, args = strings.NewReader(ts.ReadFile(args[i+1])), args[:i]
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if ts.Getenv("INTERRUPTED") != "" {
		cancel()
	}
	code := run(ctx, env, append([]string{"--json"}, args...))
	fmt.Fprintf(out, "\n$ filebus %s\nexit code %d\n", strings.ReplaceAll(line, ts.Getenv("WORK"), "$WORK"), code)
	var failures strings.Builder
	for said := range strings.Lines(stderr.String()) {
		if strings.HasPrefix(said, `{"error":`) {
			failures.WriteString(said)
		}
	}
	for _, text := range []string{stdout.String(), failures.String()} {
		var s shape
		if err := s.readAll(text); !errors.Is(err, io.EOF) {
			fmt.Fprintln(out, "no JSON") // as of a document
		} else if text != "" {
			fmt.Fprintln(out, &s)
			s.print(out, "")
		}
	}
}

// A shape is what the JSON values in one place look like.
type shape struct {
	types []string          // that were met there
	keys  []string          // of objects, in the order of the output
	inner map[string]*shape // by key; "[]" for what lists hold
}

// readAll reads values up to the end of a text.
func (s *shape) readAll(text string) error {
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		err := s.read(d)
		if err != nil {
			return err
		}
	}
}

// read reads the next value.
func (s *shape) read(d *json.Decoder) error {
	token, err := d.Token()
	if err != nil {
		return err
	}
	delim, _ := token.(json.Delim)
	plain := strings.NewReplacer("float64", "number", "json.Delim", delim.String(), "<nil>", "null")
	s.meet(plain.Replace(fmt.Sprintf("%T", token)))
	if delim == 0 {
		return nil
	}
	place := 0 // a key that only some objects have stands where they have it
	for d.More() {
		key := "[]"
		if delim == '{' {
			name, err := d.Token()
			if err != nil {
				return err
			}
			key = fmt.Sprint(name)
			if known := slices.Index(s.keys, key); known >= 0 {
				place = known
			} else {
				s.keys = slices.Insert(s.keys, place, key)
			}
			place++
		}
		if err := s.at(key).read(d); err != nil {
			return err
		}
	}
	_, err = d.Token() // the end of the object or list
	return err
}

// meet notes a type.
func (s *shape) meet(kind string) {
	if !slices.Contains(s.types, kind) {
		s.types = append(s.types, kind)
	}
}

// at returns the shape of what objects have under a key.
func (s *shape) at(key string) *shape {
	if s.inner == nil {
		s.inner = map[string]*shape{}
	}
	if s.inner[key] == nil {
		s.inner[key] = &shape{}
	}
	return s.inner[key]
}

// String returns the types, as in [string]|null, for a list of strings or null.
func (s *shape) String() string {
	text := strings.Join(s.types, "|")
	elements := ""
	if inner := s.inner["[]"]; inner != nil {
		elements = inner.String()
	}
	return strings.NewReplacer("{", "{}", "[", "["+elements+"]").Replace(text)
}

// print writes the keys of objects, a line for each place.
func (s *shape) print(out io.Writer, path string) {
	if inner := s.inner["[]"]; inner != nil {
		inner.print(out, path+"[]")
	}
	if len(s.keys) == 0 {
		return
	}
	var fields []string
	for _, key := range s.keys {
		fields = append(fields, key+" "+s.inner[key].String())
	}
	fmt.Fprintf(out, ".%s: %s\n", strings.TrimPrefix(path, "."), strings.Join(fields, ", "))
	for _, key := range s.keys {
		s.inner[key].print(out, path+"."+key)
	}
}

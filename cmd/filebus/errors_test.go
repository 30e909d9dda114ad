package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
	"filebus/index"
	"filebus/query"
	"filebus/store"
	"filebus/store/folder"
	"filebus/store/record"
	"filebus/store/turnstile"
)

// fakeEnviron returns an environment in an empty folder, with what is printed.
func fakeEnviron(t *testing.T, variables ...string) (env *cli.Environ, out, stderr *bytes.Buffer) {
	t.Helper()
	out, stderr = new(bytes.Buffer), new(bytes.Buffer)
	return &cli.Environ{
		In: strings.NewReader(""), Out: out, Err: stderr, Dir: t.TempDir(),
		Getenv: func(name string) string {
			for i := 0; i < len(variables); i += 2 {
				if variables[i] == name {
					return variables[i+1]
				}
			}
			return ""
		},
		Now: func() time.Time { return time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC) },
	}, out, stderr
}

func TestExplain(t *testing.T) {
	name := record.Name{Kind: record.KindNote, ID: "a b.md"}
	ref := record.RefOf([]byte("x"))
	for _, c := range []struct {
		err       error
		exit      int
		code      string
		hint      string
		retryable bool
	}{
		{errors.New("anything"), 1, "failed", "", false},
		{fs.ErrPermission, 1, "failed", "", false},
		{cli.UsageError("no"), 2, "usage", "", false},
		{record.NotFound.Errorf("x").Because(query.ErrAbsent).With("it's"), 3, "not_found", `filebus search 'it'\''s'`,
			false},
		{record.NotFound.Errorf("x").Because(query.ErrAbsent).With(""), 3, "not_found", "filebus list", false},
		{record.NotFound.Errorf("x").Because(query.ErrAbsent, name.String()), 3, "not_found",
			"filebus get 'note/a b.md'", false},
		{record.NotFound.Errorf("x").Because(query.ErrRetired, ref.Short(), "note/a"), 3, "not_found",
			"filebus get --stored note/a, or filebus rm --restore note/a", false},
		{record.NotFound.Errorf("x").Because(query.ErrNoPart, name.String()), 3, "not_found",
			"filebus show 'note/a b.md'", false},
		{record.Ambiguous.Errorf("x").Because(query.ErrSeveral, name.String()), 2, "ambiguous",
			"filebus show 'note/a b.md'", false},
		{&store.AmbiguousError{Prefix: "2d711642", Candidates: []record.Ref{ref}}, 2, "ambiguous", "filebus show " + ref.String()[:24], false},
		{&store.SchemaError{Dir: "d", Have: 1, Want: 2}, 1, "newer_store", "install a newer filebus", false},
		{record.NotFound.Errorf("x").Try("filebus conversation show {each}", "a b", "c"), 3, "not_found",
			"filebus conversation show 'a b'\n       filebus conversation show c", false},
		{record.NotFound.Errorf("x").Try("filebus {2} {1}", "a b", "c"), 3, "not_found", "filebus c 'a b'", false},
		{store.ErrNoStore, 3, "no_store", "filebus init, or --store FOLDER/.filebus", false},
		{store.ErrDropped, 3, "dropped", "", false},
		{&store.ConflictError{Name: name}, 4, "conflict", "filebus show 'note/a b.md'", false},
		{&turnstile.BusyError{}, 5, "busy", "run it again with a longer --lock-wait", true},
		{index.ErrBusy, 5, "busy", "run it again with a longer --lock-wait", true},
		{context.DeadlineExceeded, 5, "timeout", "", true},
		{store.ErrDamaged, 7, "damaged", "filebus verify --repair", false},
		{index.ErrDamaged, 7, "damaged", "filebus reindex", false},
		{cli.Coded(record.Wanting, "look", errors.New("x")), 8, "wanting", "look", false},
		{cli.SilentError(record.Partly), 9, "partly", "", false},
		{context.Canceled, 130, "interrupted", "", false},
		{syscall.EPIPE, 141, "pipe", "", false},
	} {
		got := cli.Explain(fmt.Errorf("doing it: %w", c.err))
		want := cli.Failure{Exit: c.exit, Code: c.code, Message: got.Message, Hint: c.hint, Retryable: c.retryable}
		if got != want {
			t.Errorf("explain(%v) = %+v; want %+v", c.err, got, want)
		}
	}
}

func TestFail(t *testing.T) {
	notFound := record.NotFound.Errorf("%q not found", "x").Because(query.ErrAbsent).With("x")
	for _, c := range []struct {
		name string
		err  error
		json bool
		want string
	}{
		{"plain", notFound, false, "filebus: \"x\" not found\n  try: filebus search x\n"},
		{"json", notFound, true, `{"error":{"code":"not_found","message":"\"x\" not found","hint":"filebus search x","retryable":false}}` + "\n"},
		{"many lines", errors.Join(errors.New("a\n\tb"), errors.New("c")), false, "filebus: a b c\n"},
		{"silent", cli.SilentError(record.Partly), false, ""},
		{"silent json", cli.SilentError(record.Partly), true, ""},
		{"interrupted", context.Canceled, false, ""},
		{"pipe", syscall.EPIPE, false, ""},
		{"pipe json", syscall.EPIPE, true, ""},
	} {
		env, _, stderr := fakeEnviron(t)
		env.Global.JSON = c.json
		env.Fail(c.err)
		if got := stderr.String(); got != c.want {
			t.Errorf("%s: %q; want %q", c.name, got, c.want)
		}
	}
}

// brokenPipe is an output whose reader has gone away.
type brokenPipe struct{ writes int }

func (b *brokenPipe) Write([]byte) (int, error) {
	b.writes++
	return 0, fmt.Errorf("write: %w", syscall.EPIPE)
}

func TestBrokenPipe(t *testing.T) {
	env, _, stderr := fakeEnviron(t)
	pipe := &brokenPipe{}
	env.Out = pipe
	if code := run(t.Context(), env, []string{"version"}); code != cli.ExitPipe || stderr.Len() > 0 || pipe.writes != 1 {
		t.Errorf("version into a broken pipe: code %d, %d writes, stderr %q; want %d, one, none", code, pipe.writes, stderr,
			cli.ExitPipe)
	}
}

func TestInterrupted(t *testing.T) {
	env, _, _ := fakeEnviron(t)
	if code := run(t.Context(), env, []string{"init"}); code != cli.ExitDone {
		t.Fatalf("init: code %d", code)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range [][]string{{"list"}, {"search", "x"}, {"log", "--follow"}, {"verify"}} {
		if code := run(ctx, env, args); code != cli.ExitInterrupted {
			t.Errorf("%v interrupted: code %d; want %d", args, code, cli.ExitInterrupted)
		}
	}
}

func TestBusyStore(t *testing.T) {
	env, _, stderr := fakeEnviron(t)
	if code := run(t.Context(), env, []string{"init"}); code != cli.ExitDone {
		t.Fatalf("init: code %d", code)
	}
	at, err := env.Locate()
	if err != nil {
		t.Fatal(err)
	}
	hold, err := turnstile.New(folder.At(at.Store), "a long import").Acquire(t.Context(), turnstile.Exclusive, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	stderr.Reset()
	code := run(t.Context(), env, []string{"list", "--no-sync", "--json", "--lock-wait", "20ms"})
	if code != cli.ExitBusy || !strings.Contains(stderr.String(), `"code":"busy"`) || !strings.Contains(stderr.String(), `"retryable":true`) {
		t.Errorf("list of a busy store: code %d, %s; want %d and a retryable error", code, stderr, cli.ExitBusy)
	}
	if err := hold.Release(); err != nil {
		t.Fatal(err)
	}
}

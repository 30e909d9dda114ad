package index

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"filebus/store/folder"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want error // nil: neither damaged nor busy
	}{
		{errors.New("timeout"), ErrBusy},
		{fmt.Errorf("opening: %w", ErrBusy), ErrBusy},
		{errors.New("invalid database"), ErrDamaged},
		{fmt.Errorf("reading: %w", ErrDamaged), ErrDamaged},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.ENOENT}, ErrDamaged},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, nil},
		{fmt.Errorf("writing: %w", syscall.ENOSPC), nil},
		{fmt.Errorf("opening: %w", syscall.EMFILE), nil},
	} {
		got := classify(test.err)
		for _, reason := range []error{ErrBusy, ErrDamaged} {
			if errors.Is(got, reason) != (reason == test.want) {
				t.Errorf("classify(%v) = %v, want %v", test.err, got, test.want)
			}
		}
		if !errors.Is(got, test.err) && test.want != ErrBusy {
			t.Errorf("classify(%v) = %v has lost the error", test.err, got)
		}
	}
}

func TestGuard(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	for _, test := range []struct {
		name string
		f    func() error
		want error
	}{
		{"nothing", func() error { return nil }, nil},
		{"error", func() error { return boom }, boom},
		{"panic", func() error { panic("torn page") }, ErrDamaged},
		{"index out of range", func() error { return fmt.Errorf("%d", []int{1}[len(os.Args)+9]) }, ErrDamaged},
	} {
		if got := guard(test.f); !errors.Is(got, test.want) || got != nil && test.want == nil {
			t.Errorf("%s: guard returns %v, want %v", test.name, got, test.want)
		}
	}
}

func TestCondemn(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{ErrBusy, false},
		{errors.New("other"), false},
		{fmt.Errorf("searching: %w", ErrDamaged), true},
		{&machineError{errors.New("no room"), syscall.EDQUOT}, false},
	} {
		dir := t.TempDir()
		if got := condemn(folder.At(dir), test.err); got != test.err {
			t.Errorf("condemn returns %v, want %v", got, test.err)
		}
		if _, err := os.Stat(filepath.Join(dir, damagedFile)); (err == nil) != test.want {
			t.Errorf("condemn(%v): the mark is there: %v, want %v", test.err, err == nil, test.want)
		}
	}
}

// A failure of the machine says nothing about the index, also when the engine
// passes on its text alone.
func TestMachineErrorByItsText(t *testing.T) {
	t.Parallel()
	full := &os.PathError{Op: "write", Path: "x.zap", Err: syscall.ENOSPC}
	for _, err := range []error{full, fmt.Errorf("segment: %w", full), fmt.Errorf("segment: %s persist err: %v", "x.zap", full)} {
		if got := classify(err); !errors.Is(got, syscall.ENOSPC) || errors.Is(got, ErrDamaged) || got.Error() != err.Error() {
			t.Errorf("classify(%v) = %v; want it to be ENOSPC, and not ErrDamaged", err, got)
		}
	}
}

// What the machine could not do condemns no generation, and is no damage, even where
// the engine has made it so.
func TestCondemnNotForTheMachine(t *testing.T) {
	t.Parallel()
	for _, cause := range []syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENOMEM, syscall.EIO} {
		for _, err := range []error{
			fmt.Errorf("%w: replacing x: %w", ErrDamaged, cause),
			fmt.Errorf("%w: the engine has stopped: %s", ErrDamaged, cause.Error()),
		} {
			dir := t.TempDir()
			got := condemn(folder.At(dir), err)
			if !errors.Is(got, cause) || errors.Is(got, ErrDamaged) || got.Error() != strings.TrimPrefix(err.Error(), ErrDamaged.Error()+": ") {
				t.Errorf("condemn(%v) = %v; want the cause, and no damage", err, got)
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("condemn(%v) left %v, %v", cause, left, err)
			}
		}
	}
}

package record_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"filebus/store/record"
)

const errLocked record.Reason = "door locked"

func TestError(t *testing.T) {
	cause := fmt.Errorf("the door: %w", io.ErrUnexpectedEOF)
	e := record.Conflict.Errorf("opening: %w", cause).Because(errLocked, "front", "back").With(7).Try("open {3}", "side")
	wrapped := fmt.Errorf("going in: %w", e)
	if got, want := wrapped.Error(), "going in: opening: the door: unexpected EOF"; got != want {
		t.Errorf("says %q, want %q", got, want)
	}
	for _, target := range []error{record.Conflict, errLocked, io.ErrUnexpectedEOF} {
		if !errors.Is(wrapped, target) {
			t.Errorf("%v is not found in %v", target, wrapped)
		}
	}
	for _, target := range []error{record.Busy, record.Reason("another"), record.Reason(""), io.EOF} {
		if errors.Is(wrapped, target) {
			t.Errorf("%q is found in %v", target, wrapped)
		}
	}
	var found *record.Error
	if !errors.As(wrapped, &found) || !slices.Equal(found.Names, []string{"front", "back", "side"}) || found.Hint != "open {3}" {
		t.Errorf("the names and the hint are %+v", found)
	}
	if got, want := errLocked.Error(), "door locked"; got != want {
		t.Errorf("the reason says %q, want %q", got, want)
	}
}

// An error of which all was said already says its code.
func TestErrorWithoutWords(t *testing.T) {
	for code, want := range map[record.Code]string{
		record.NotFound: "not found", record.UnsafeFS: "unsafe file system", record.Busy: "busy", record.TaskFailed: "task failed",
	} {
		silent := &record.Error{Code: code}
		if silent.Error() != want || !errors.Is(silent, code) || errors.Is(silent, record.Reason("")) {
			t.Errorf("%s: says %q, want %q", string(code), silent.Error(), want)
		}
	}
}

func TestCodes(t *testing.T) {
	codes := record.Codes()
	slices.Sort(codes)
	if len(codes) != 19 || len(slices.Compact(codes)) != 19 || slices.Contains(codes, "") {
		t.Errorf("the codes are %q, want each of the 19 once", codes)
	}
	if last := record.Codes()[18]; last != record.Failed {
		t.Errorf("the last code is %q: whatever is more exact than %q comes before it", last, record.Failed)
	}
}

func TestDetail(t *testing.T) {
	inner := record.Busy.Errorf("inner").With(7)
	outer := record.Failed.Errorf("outer: %w", inner).With("words")
	err := fmt.Errorf("around: %w", outer)
	if got, found := record.Detail[string](err); got != "words" || !found {
		t.Errorf("the words are %q, %v", got, found)
	}
	if got, found := record.Detail[int](err); got != 7 || !found {
		t.Errorf("the number is %d, %v", got, found)
	}
	if got, found := record.Detail[bool](err); got || found {
		t.Errorf("there is a detail of no error: %v, %v", got, found)
	}
	if _, found := record.Detail[int](io.EOF); found {
		t.Error("there is a detail of another error")
	}
}

func TestShellWord(t *testing.T) {
	for text, want := range map[string]string{
		"": "''", "note/a.md": "note/a.md", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'",
		"task-003~2": "task-003~2", "a#b": "a#b", "#a": "'#a'", "~a": "'~a'",
	} {
		if got := record.ShellWord(text); got != want {
			t.Errorf("record.ShellWord(%q) = %s; want %s", text, got, want)
		}
	}
}

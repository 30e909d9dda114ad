package result_test

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

func isMalformed(err error) bool {
	return errors.Is(err, record.Usage) && strings.HasPrefix(err.Error(), "malformed call: ")
}

// TestPutAgain makes the same call again: the reference stays the same.
func TestPutAgain(t *testing.T) {
	t.Parallel()
	text := "# Title\n\nThe first paragraph of the result.\n"
	tests := []struct {
		what    string
		call    result.Call
		version bool // a new one
	}{
		{"the same", result.Call{}, false},
		{"a shorter preview", result.Call{Preview: 10}, false},
		{"no agent", result.Call{Agent: "-"}, false},
		{"a tag", result.Call{Tags: []string{"one"}}, true},
		{"the same tag", result.Call{Tags: []string{"One "}}, false},
		{"another tag and another preview", result.Call{Tags: []string{"two"}, Preview: 5}, true},
		{"a tag that is there, in another preview", result.Call{Tags: []string{"one"}, Preview: 5}, false},
	}
	d := newDesk(t)
	base := result.Call{Agent: "Web Researcher", Conversation: "c1", ID: "k1"}
	first, err := result.Put(t.Context(), d.Workspace, base, store.Expect{}, strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	before := first.Ref
	for _, test := range tests {
		c := base
		c.Tags, c.Preview = test.call.Tags, test.call.Preview
		if test.call.Agent == "-" {
			c.Agent = ""
		}
		again, err := result.Put(t.Context(), d.Workspace, c, store.Expect{}, strings.NewReader(text))
		if err != nil {
			t.Errorf("%s: %v", test.what, err)
			continue
		}
		if diff := cmp.Diff(first.Reference(), again.Reference()); diff != "" || (again.Ref != before) != test.version {
			t.Errorf("%s: version %s after %s, a new one? want %t; reference (-first +again):\n%s",
				test.what, again.Ref.Short(), before.Short(), test.version, diff)
		}
		before = again.Ref
	}
	last, err := d.read.Resolve(t.Context(), "result/c1/k1", query.ResolveOptions{})
	if err != nil || !slices.Equal(last.Record.Tags, []string{"one", "two"}) || last.Record.Agent != "web_researcher" {
		t.Errorf("in the end: tags %q, agent %q, %v", last.Record.Tags, last.Record.Agent, err)
	}
	other := base
	other.Tags = []string{"three"}
	_, err = result.Put(t.Context(), d.Workspace, other, store.Expect{}, strings.NewReader("another text"))
	var conflict *store.ConflictError
	if !errors.As(err, &conflict) || !conflict.WriteOnce {
		t.Errorf("another text under the same call: %v, want a conflict", err)
	}
}

// TestMadeIDs checks the ids that calls get which have none: safe, unique, and in
// the order of time.
func TestMadeIDs(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	now := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	d := deskIn(t, materialize.Settings{}, func() time.Time { return now })
	seen := map[string]bool{}
	last := ""
	for i := range 300 {
		if i%10 == 0 {
			now = now.Add(time.Second / 8)
			last = slices.Max(append([]string{last}, idsOf(seen)...))
		}
		stored, err := result.Put(t.Context(), d.Workspace, result.Call{Conversation: "c1"}, store.Expect{}, strings.NewReader("x"))
		if err != nil {
			t.Fatal(err)
		}
		_, id, _ := strings.Cut(stored.Name.ID, "/")
		if len(id) != 10 || strings.Trim(id, "0123456789abcdefghijklmnopqrstuvwxyz") != "" || seen[id] {
			t.Errorf("made the id %q: 10 digits and letters, that nobody has? seen %t", id, seen[id])
		}
		if id <= last {
			t.Errorf("made the id %q after %q, an eighth of a second later", id, last)
		}
		seen[id] = true
	}
}

func idsOf(seen map[string]bool) (ids []string) {
	for id := range seen {
		ids = append(ids, id)
	}
	return ids
}

// brokenReader fails after some bytes.
type brokenReader struct{ left int }

func (b *brokenReader) Read(p []byte) (int, error) {
	if b.left == 0 {
		return 0, errors.New("the pipe burst")
	}
	n := min(b.left, len(p))
	b.left -= n
	return n, nil
}

var _ io.Reader = (*brokenReader)(nil)

func TestPutBroken(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 10, 3 << 20} {
		d := newDesk(t)
		c := result.Call{Conversation: "c1", ID: "k1", Tags: []string{"a"}}
		_, err := result.Put(t.Context(), d.Workspace, c, store.Expect{}, &brokenReader{size})
		if err == nil || !strings.Contains(err.Error(), "the pipe burst") || d.results() != 0 {
			t.Errorf("an output that breaks after %d bytes: %v, %d results", size, err, d.results())
		}
	}
}

func TestMalformedCalls(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, c := range []result.Call{
		{ID: "k1"}, {Conversation: "a/b"}, {Conversation: "c1", ID: "a/b"}, {Conversation: `a\b`, ID: "k"},
	} {
		if _, err := result.Put(t.Context(), d.Workspace, c, store.Expect{}, strings.NewReader("x")); !isMalformed(err) {
			t.Errorf("Put(%+v): %v, want a malformed call", c, err)
		}
	}
	for _, c := range []result.Call{
		{Conversation: "..", ID: "k"}, {Conversation: "c1", ID: ".."}, {Conversation: "c1", ID: "a\x00b"}, {Conversation: ".git", ID: "k"},
		{Conversation: "c1", ID: strings.Repeat("x", record.MaxID)},
	} {
		if _, err := result.Put(t.Context(), d.Workspace, c, store.Expect{}, strings.NewReader("x")); err == nil {
			t.Errorf("Put(%+v) was accepted", c)
		}
	}
}

// TestPutWithoutText previews what has nothing to read by what it is, whatever its
// size.
func TestPutWithoutText(t *testing.T) {
	t.Parallel()
	tests := []struct {
		what, text, want string
	}{
		{"nothing", "", "(no output)"},
		{"white space", " \n\t\r\n", "(no output)"},
		{"colour codes", "\x1b[31m\x1b[0m\n", "(no output)"},
		{"bytes", "\x00\x01", "(binary, 2 bytes)"},
		{"white space without end", strings.Repeat(" ", 1<<20+1), "(no text in the first 1048576 of 1048577 bytes)"},
	}
	d := newDesk(t)
	for _, test := range tests {
		stored, err := result.Put(t.Context(), d.Workspace, result.Call{}, store.Expect{}, strings.NewReader(test.text))
		if err != nil {
			t.Fatalf("%s: %v", test.what, err)
		}
		if got := stored.Reference().Preview; got != test.want {
			t.Errorf("%s: the preview is %q, want %q", test.what, got, test.want)
		}
	}
}

// TestPutIDs refuses ids that would be lost from the record or wrong in the
// reference, and takes all others.
func TestPutIDs(t *testing.T) {
	t.Parallel()
	tests := []struct {
		call result.Call
		want string // of the error; "": none
	}{
		{result.Call{Conversation: "\xff"}, "is not UTF-8"},
		{result.Call{Conversation: "c1", ID: "a\xff"}, "is not UTF-8"},
		{result.Call{Name: "c1/\xff"}, "is not UTF-8"},
		{result.Call{Conversation: "two\nlines", ID: "a"}, "control character"},
		{result.Call{Conversation: "c1", ID: "two\nlines"}, "control character"},
		{result.Call{Conversation: " ", ID: "a"}, "a space at an end"},
		{result.Call{Conversation: "c1 "}, "a space at an end"},
		{result.Call{Conversation: "..", ID: "a"}, "means a folder"},
		{result.Call{Conversation: "c1", ID: "."}, "means a folder"},
		{result.Call{Conversation: "~", ID: "a"}, "means a folder"},
		{result.Call{Conversation: strings.Repeat("c", 201)}, "at most 200 bytes"},
		{result.Call{Conversation: strings.Repeat("c", 200), ID: "a"}, ""},
		{result.Call{Conversation: "two words", ID: "#1: é*漢~2"}, ""},
		{result.Call{Conversation: "-x", ID: ".hidden"}, ""},
	}
	d := newDesk(t)
	for _, test := range tests {
		stored, err := result.Put(t.Context(), d.Workspace, test.call, store.Expect{}, strings.NewReader("one"))
		switch {
		case test.want != "":
			if !isMalformed(err) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("Put(%+v): %v, want a malformed call with %q", test.call, err, test.want)
			}
		case err != nil:
			t.Errorf("Put(%+v): %v", test.call, err)
		case stored.Record.Conversation != test.call.Conversation || textOf(t, stored) != "one":
			t.Errorf("Put(%+v): conversation %q, text %q", test.call, stored.Record.Conversation, textOf(t, stored))
		}
	}
}

// TestPutAgainAtOnce makes the same call many times at once, each with a tag of its
// own: none is lost.
func TestPutAgainAtOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	put := func(tags ...string) error {
		c := result.Call{Conversation: "c1", ID: "k1", Tags: tags}
		_, err := result.Put(t.Context(), d.Workspace, c, store.Expect{}, strings.NewReader("one"))
		return err
	}
	if err := put(); err != nil {
		t.Fatal(err)
	}
	const n = 30
	failed := make(chan error)
	for i := range n {
		go func() { failed <- put(fmt.Sprintf("t%02d", i)) }()
	}
	for range n {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	last, err := d.read.Resolve(t.Context(), "result/c1/k1", query.ResolveOptions{})
	if err != nil || len(last.Record.Tags) != n {
		t.Errorf("after %d calls with a tag each: %q, %v", n, last.Record.Tags, err)
	}
}

package result_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filebus/materialize/result"
	"filebus/store"
	"filebus/store/record"
)

// TestPlain puts what terminals, editors and shells have made of a text.
func TestPlain(t *testing.T) {
	t.Parallel()
	osc := "\x1b]8;;https://example.org\x1b\\the page\x1b]8;;\x1b\\"
	tests := []struct{ name, text, want string }{
		{"colours", "\x1b[32;1mok\x1b[0m  see " + osc + "\r\nb\r\n", "ok  see the page\r\nb\r\n"},
		{"redrawn", " 3%\r42%\r\x1b[K100% of 7\nnext\n", "100% of 7\nnext\n"},
		{"redrawn, ended by a carriage return", "a\r 99%\r", "a\r 99%\r"},
		{"redrawn, then CRLF", "1%\r2%\r\nb\n", "2%\r\nb\n"},
		{"line begun anew", "npm...\x1b[2K\x1b[1Gready\n", "ready\n"},
		{"backspaces", "wäö\b\büld, b\bbo\bol\bld\n\bx\n", "wüld, bold\nx\n"},
		{"title, charset, cursor", "\x1b]0;title\x07set\x1b(B\x1b[12;40H\x1b[?25h.\x1b7\n", "set.\n"},
		{"cut sequence", "a\x1b[3", "a\x1b[3"},
		{"UTF-8 mark", "\ufeff# Überschrift\r\n", "# Überschrift\r\n"},
		{"UTF-16", "\xff\xfeG\x00r\x00\xfc\x00n\x00\n\x00", "Grün\n"},
		{"UTF-16, big", "\xfe\xff\x00G\x00r\x00\xfc\x00n\x00\n", "Grün\n"},
		{"UTF-16 without a mark", "G\x00r\x00\xfc\x00n\x00\n\x00", "G\x00r\x00\xfc\x00n\x00\n\x00"},
		{"old line ends", "a\rb\rc", "a\rb\rc"},
		{"binary", "%PDF\n" + strings.Repeat("x", 9000) + "\x1b[31m\x00", "%PDF\n" + strings.Repeat("x", 9000) + "\x1b[31m\x00"},
		{"no UTF-8", "\x1b[31mcaf\xe9\x1b[0m\n", "caf\xe9\n"},
		{"empty", "", ""},
		{"plain", "a\r\n\tb", "a\r\n\tb"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWorkspace(t)
			for _, raw := range []bool{false, true} {
				c := result.Call{Conversation: "c1", ID: fmt.Sprint("raw-", raw), Raw: raw}
				stored, err := result.Put(t.Context(), w, c, store.Expect{}, strings.NewReader(test.text))
				if err != nil {
					t.Fatal(err)
				}
				want := test.want
				if raw {
					want = test.text
				}
				if got := textOf(t, stored); got != want {
					t.Errorf("raw %t: stored %q, want %q", raw, got, want)
				}
				if isTaken := stored.Record.Prev != (record.Ref{}); isTaken != (want != test.text) {
					t.Errorf("raw %t: there is a version before: %t", raw, isTaken)
				}
			}
		})
	}
}

// largeStream gives an envelope of so many rows of 1 MiB.
func largeStream(rows int) io.Reader {
	parts := []io.Reader{strings.NewReader(`{"type":"system","subtype":"init","session_id":"a","model":"m"}` + "\n")}
	row := `{"type":"user","message":"` + strings.Repeat("x", 1<<20) + "\"}\n"
	for range rows {
		parts = append(parts, strings.NewReader(row))
	}
	return io.MultiReader(append(parts, strings.NewReader(`{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"a"}`))...)
}

// TestLargeStream takes an envelope off that does not fit in memory: of a file. Nobody gives
// the beginning of a pipe again, so what is long there stays as it is.
func TestLargeStream(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	w := newWorkspace(t)
	file := filepath.Join(t.TempDir(), "stream.jsonl")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	size, err := io.Copy(f, largeStream(34))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	stored, err := result.Put(t.Context(), w, result.Call{Conversation: "c", ID: "file"}, store.Expect{}, f)
	if err != nil || textOf(t, stored) != "Done." || len(stored.Problems) > 0 {
		t.Errorf("Put of a file of %d bytes = %v, %v; want its text", size, stored, err)
	}
	stored, err = result.Put(t.Context(), w, result.Call{Conversation: "c", ID: "pipe"}, store.Expect{}, largeStream(34))
	if err != nil || stored.Record.Size != size {
		t.Errorf("Put of a pipe of %d bytes = %v, %v; want all of it", size, stored, err)
	}
}

// FuzzTakeIn puts texts of any kind: what was received is always there.
func FuzzTakeIn(f *testing.F) {
	for _, text := range []string{
		`{"type":"result","subtype":"success","is_error":false,"result":"x","session_id":"s"}`, "[", "[{}", `[{"type":"system","subtype":"i","session_id":"a"}`,
		"\x1b[0ma\r\nb\rc\n\b\b", "\xff\xfea\x00", "\xef\xbb\xbf[1,", `{"response":"","stats":{"models":{}}}`,
	} {
		f.Add([]byte(text))
	}
	w := newWorkspace(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		stored, err := result.Put(t.Context(), w, result.Call{Conversation: "c"}, store.Expect{}, bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		digest := stored.Record.Body
		if before := stored.Record.Prev; before != (record.Ref{}) {
			if err := w.Store.View(t.Context(), func(tx *store.Tx) error {
				v, err := tx.Get(before)
				digest = v.Record.Body
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
		if digest != record.DigestOf(text) {
			t.Errorf("%q is nowhere", text)
		}
	})
}

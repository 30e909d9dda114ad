package result_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filebus/cmd/filebus/result"
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

// largeStream gives an envelope of a session in which a tool has said much, in one row and in many.
func largeStream() io.Reader {
	parts := []io.Reader{strings.NewReader(`{"type":"system","subtype":"init","session_id":"a","model":"m","tools":["x",{"y":"]"}]}` + "\n")}
	for _, said := range []string{strings.Repeat(`a \"word\" \\`, 1<<20), "{", "x", strings.Repeat("}", 5<<20)} {
		parts = append(parts, strings.NewReader(`{"type":"user","message":["`+said+`",{"result":"no"}],"session_id":"a"}`+"\r\n"))
	}
	return io.MultiReader(append(parts, strings.NewReader(`{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"a","modelUsage":{"m":{}}}`))...)
}

// largeText gives lines of a terminal, some of which were redrawn, and what is to be read of them.
func largeText() (text, plain string) {
	line := "\x1b[32m12345678\x1b[0m" + strings.Repeat("é, ", 4_000) + "\r\n"
	return strings.Repeat(line+"10%\r100%\n", 100) + "a\rb",
		strings.Repeat(strings.ReplaceAll(strings.ReplaceAll(line, "\x1b[32m", ""), "\x1b[0m", "")+"100%\n", 100) + "b"
}

// TestLarge takes envelopes off, and what only a terminal understands, that are never in memory:
// of a file, and of a pipe.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	w := newWorkspace(t)
	stream, err := io.ReadAll(largeStream())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "stream.jsonl")
	if err := os.WriteFile(file, stream, 0o666); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	terminal, plain := largeText()
	answer := func(text string) string {
		return `{"type":"result","subtype":"success","is_error":false,"session_id":"a","result":"` + text + `"}`
	}
	some, much := strings.Repeat("word ", 100_000), answer(strings.Repeat("word ", 1<<20))
	for _, test := range []struct {
		name     string
		text     io.Reader
		want     string
		problems int
	}{
		{"file", f, "Done.", 0},
		{"pipe", io.MultiReader(bytes.NewReader(stream)), "Done.", 0},
		{"behind messages", io.MultiReader(strings.NewReader("Loaded cached credentials.\n"), bytes.NewReader(stream)), "Done.", 0},
		{"answer", strings.NewReader(answer(some)), some, 0},
		{"answer that is too long", strings.NewReader(much), much, 1},
		{"terminal", io.MultiReader(strings.NewReader(terminal)), plain, 0},
	} {
		stored, err := result.Put(t.Context(), w, result.Call{Conversation: "c"}, store.Expect{}, test.text)
		if err != nil {
			t.Fatalf("%s: %v", test.name, err)
		}
		if got := textOf(t, stored); got != test.want || len(stored.Problems) != test.problems {
			t.Errorf("%s: stored %d bytes, %.40q, with %q; want %d bytes, %.40q", test.name, len(got), got, stored.Problems, len(test.want), test.want)
		}
	}
	left, err := filepath.Glob(filepath.Join(w.Location.Store, "tmp", "*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// FuzzTakeIn puts texts of any kind: what was received is always there.
func FuzzTakeIn(f *testing.F) {
	for _, text := range []string{
		`{"type":"result","subtype":"success","is_error":false,"result":"x","session_id":"s"}`, "[", "[{}", `[{"type":"system","subtype":"i","session_id":"a"}`,
		"\x1b[0ma\r\nb\rc\n\b\b", "\xff\xfea\x00", "\xef\xbb\xbf[1,", `{"response":"","stats":{"models":{}}}`,
		`{"a":,"b" :[{"c":"}\""}],"response":"\u00e9","stats":{"models":{}}}`, "\xff\xfe{\x00", "x\r\x1b",
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

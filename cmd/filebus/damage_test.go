package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"filebus/cmd/filebus/cli"
)

// ranIn runs a command line inside the test and returns what it prints and how it ends.
func ranIn(t testing.TB, dir string, args ...string) (out, errText string, code int) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	env := docEnviron(dir, &stdout)
	env.Err, env.Now = &stderr, time.Now
	env.Getenv = func(name string) string {
		return map[string]string{"FILEBUS_STORE": filepath.Join(dir, ".filebus"), "FILEBUS_STATE": "off"}[name]
	}
	code = run(t.Context(), env, args)
	return stdout.String(), stderr.String(), code
}

// largeNote returns sections of lines that hardly compress, of about 2.2 MB.
func largeNote() string {
	random := make([]byte, 57)
	source := rand.NewChaCha8([32]byte{13})
	var text strings.Builder
	for i := range 27_000 {
		if i%3000 == 0 {
			fmt.Fprintf(&text, "## Part %d\n\n", i/3000)
		}
		source.Read(random)
		text.WriteString(base64.StdEncoding.EncodeToString(random) + "\n")
	}
	return text.String()
}

func glob(t testing.TB, pattern ...string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(pattern...))
	if err != nil || len(found) != 1 {
		t.Fatalf("files %q: %q, %v; want one", pattern, found, err)
	}
	return found[0]
}

// TestReadsOfDamaged flips bits all over the file of a large body: each command that
// reads it prints what it prints of the sound one, or the beginning of that and exit
// code 7.
func TestReadsOfDamaged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "big.md"), []byte(largeNote()), 0o666); err != nil {
		t.Fatal(err)
	}
	ranIn(t, dir, "put", "--name", "note/big.md", "big.md")
	if err := os.Remove(filepath.Join(dir, "big.md")); err != nil {
		t.Fatal(err)
	}
	reads := [][]string{
		{"get", "note/big.md", "--lines", "3-5"}, {"get", "note/big.md", "--lines", "14000-14010"}, {"get", "note/big.md", "--lines", "26990-"},
		{"get", "note/big.md", "--section", "Part 4", "--max-tokens", "200"}, {"get", "note/big.md", "--max-tokens", "100"},
		{"get", "note/big.md"}, {"show", "note/big.md"}, {"get", "note/big.md", "--lines", "20000-20001", "--json"},
		{"search", "--no-index", "Part 1"},
	}
	want := make([]string, len(reads))
	for i, args := range reads {
		reads[i] = append(args, "--no-sync")
		var code int
		var errText string
		if want[i], errText, code = ranIn(t, dir, reads[i]...); code != cli.ExitDone && i < 8 {
			t.Fatalf("%q of a sound body: exit code %d: %s", args, code, errText)
		}
	}
	file := glob(t, dir, ".filebus", "bodies", "*", "*.zst")
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	codes := map[int]int{}
	for range 8 {
		data := bytes.Clone(sound)
		at := chance(t).IntN(len(data))
		data[at] ^= 1 << chance(t).IntN(8)
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		for i, args := range reads[:8] {
			out, errText, code := ranIn(t, dir, args...)
			codes[code]++
			if code == cli.ExitDone && out != want[i] || code == cli.ExitDamaged && !strings.HasPrefix(want[i], out) ||
				code != cli.ExitDone && code != cli.ExitDamaged {
				t.Errorf("a flip at %d of %d: %q: exit code %d, %d bytes, want %d: %s", at, len(data), args, code, len(out), len(want[i]), errText)
			}
		}
	}
	if codes[cli.ExitDone] == 0 || codes[cli.ExitDamaged] == 0 {
		t.Errorf("exit codes %v: nothing was tried", codes)
	}
}

// TestHealed damages stored texts and gives them again, by each command that takes in a
// text: it says that they are whole again, and they are.
func TestHealed(t *testing.T) {
	t.Parallel()
	small := strings.Repeat("A line of a small note.\n", 5)
	for label, give := range map[string]struct {
		args []string
		age  bool // the file is looked at again
	}{
		"put":     {args: []string{"put", "--name", "note/big.md", "big.md"}},
		"tag":     {args: []string{"put", "--name", "note/big.md", "--tag", "seen", "big.md"}},
		"capture": {args: []string{"capture", "--tree", "lib", "src"}},
		"sync":    {args: []string{"sync"}, age: true},
	} {
		for size, text := range map[string]string{"small": small, "large": largeNote()} {
			t.Run(label+" "+size, func(t *testing.T) {
				dir := t.TempDir()
				for _, file := range []string{"big.md", "src/big.md"} {
					if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o777); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				of := "note/big.md"
				first := []string{"put", "--name", of, "--tag", "kept", "big.md"}
				if label == "capture" {
					of, first = "lib:note/big.md", give.args
				}
				if _, errText, code := ranIn(t, dir, first...); code != cli.ExitDone {
					t.Fatalf("%q: exit code %d: %s", first, code, errText)
				}
				if size == "large" {
					flipIn(t, glob(t, dir, ".filebus", "bodies", "*", "*.zst"), "")
				} else {
					flipIn(t, filepath.Join(dir, ".filebus", "store.db"), small[24:48])
				}
				if _, _, code := ranIn(t, dir, "verify", "--no-sync"); code != cli.ExitDamaged {
					t.Fatalf("verify of a damaged body: exit code %d", code)
				}
				if give.age {
					then := time.Now().Add(-time.Hour)
					if err := os.Chtimes(filepath.Join(dir, "big.md"), then, then); err != nil {
						t.Fatal(err)
					}
				}
				_, errText, code := ranIn(t, dir, give.args...)
				said := regexp.MustCompile(regexp.QuoteMeta(of) + `: the stored text was damaged; it is whole again`)
				if code != cli.ExitDone || !said.MatchString(errText) {
					t.Errorf("%q: exit code %d: %s; want it to say that %s is whole again", give.args, code, errText, of)
				}
				if out, errText, code := ranIn(t, dir, "get", of, "--no-sync"); code != cli.ExitDone || out != text {
					t.Errorf("get after that: exit code %d, %d bytes of %d: %s", code, len(out), len(text), errText)
				}
				if out, _, code := ranIn(t, dir, "verify", "--no-sync"); code != cli.ExitDone {
					t.Errorf("verify after that: exit code %d: %s", code, out)
				}
				if out, _, _ := ranIn(t, dir, "list", "--tag", "kept", "--no-sync"); (label == "sync") != strings.Contains(out, "note/big.md") && label == "sync" {
					t.Errorf("list --tag kept = %q after the %s", out, label)
				}
			})
		}
	}
}

// flipIn flips a bit in the middle of a file, or at each place where it has a text.
func flipIn(t testing.TB, file, where string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	flipped := 0
	if where == "" {
		data[len(data)/2] ^= 1
		flipped++
	}
	for at := 0; where != "" && at < len(data); {
		next := bytes.Index(data[at:], []byte(where))
		if next < 0 {
			break
		}
		data[at+next+3] ^= 1
		at, flipped = at+next+len(where), flipped+1
	}
	if flipped == 0 {
		t.Fatalf("%s does not hold %q", file, where)
	}
	if err := os.WriteFile(file, data, 0o666); err != nil {
		t.Fatal(err)
	}
}

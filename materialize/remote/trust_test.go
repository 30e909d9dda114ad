package remote

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store/folder"
	"filebus/store/record"
)

const (
	idA = record.StoreID("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	idB = record.StoreID("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb")
	idC = record.StoreID("cccccccccccccccccccccccccccccccc")
)

func loadTrust(t *testing.T, dir string) *Trust {
	t.Helper()
	trust, err := LoadTrust(folder.At(dir).Sub("remotes"))
	if err != nil {
		t.Fatalf("LoadTrust: %v", err)
	}
	return trust
}

func TestTrust(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	trust := loadTrust(t, dir)
	for _, trustee := range []Trustee{{idB, PublicKey{2}, "b"}, {idC, PublicKey{3}, "the label of c"}, {idA, PublicKey{1}, "ä"}, {idB, PublicKey{9}, "new"}} {
		if err := trust.Set(trustee); err != nil {
			t.Fatalf("Set(%v): %v", trustee, err)
		}
	}
	for range 2 {
		if err := trust.Remove(idC); err != nil {
			t.Fatalf("Remove: %v", err)
		}
	}
	want := []Trustee{{idA, PublicKey{1}, "ä"}, {idB, PublicKey{9}, "new"}}
	for label, trust := range map[string]*Trust{"changed": trust, "loaded": loadTrust(t, dir)} {
		if diff := cmp.Diff(want, trust.All()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", label, diff)
		}
		for _, test := range []struct {
			teller record.StoreID
			key    PublicKey
			want   error
		}{{idA, PublicKey{1}, nil}, {idB, PublicKey{9}, nil}, {idB, PublicKey{2}, ErrChangedKey}, {idC, PublicKey{3}, ErrUnknownKey}, {"", PublicKey{}, ErrUnknownKey}} {
			err := trust.Check(test.teller, test.key)
			if !errors.Is(err, test.want) || test.want != nil && (!errors.Is(err, record.Untrusted) || !strings.Contains(err.Error(), test.key.Fingerprint())) {
				t.Errorf("%s: Check(%s, %s) = %v, want %v", label, test.teller, test.key, err, test.want)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "remotes", "trusted"))
	if err != nil || string(text) != want[0].String()+"\n"+want[1].String()+"\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

func TestTrustRefuses(t *testing.T) {
	t.Parallel()
	trust := loadTrust(t, t.TempDir())
	for _, trustee := range []Trustee{{"", PublicKey{}, "a"}, {idA, PublicKey{}, ""}, {idA, PublicKey{}, "two\nlines"}, {idA, PublicKey{}, " a"}, {"x y", PublicKey{}, "a"}} {
		if err := trust.Set(trustee); !errors.Is(err, record.Usage) {
			t.Errorf("Set(%q) = %v, want a usage error", trustee, err)
		}
	}
	if len(trust.All()) != 0 {
		t.Errorf("trusted are now %v", trust.All())
	}
}

// TestTrustDamaged wants the line in the error; nobody is trusted from such a file.
func TestTrustDamaged(t *testing.T) {
	t.Parallel()
	good := Trustee{idB, PublicKey{2}, "b"}.String() + "\n"
	for label, text := range map[string]string{
		"cut": good + good[:40], "without its end": good + Trustee{idC, PublicKey{}, "c"}.String(), "twice": good + good,
		"out of order": good + Trustee{idA, PublicKey{}, "a"}.String() + "\n", "an empty line": good + "\n", "CR LF": good + strings.ReplaceAll(strings.ReplaceAll(good, "b", "c"), "\n", "\r\n"),
		"upper case": good + strings.ToUpper(good), "two spaces": good + strings.Replace(good, " ", "  ", 1), "no label": good + good[:98] + "\n", "a comment": good + "# b\n",
	} {
		dir := t.TempDir()
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "remotes"), 0o700), os.WriteFile(filepath.Join(dir, "remotes", "trusted"), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
		if trust, err := LoadTrust(folder.At(dir).Sub("remotes")); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%s: LoadTrust = %v, %v; want an error in line 2", label, trust, err)
		}
	}
}

func FuzzTrusted(f *testing.F) {
	f.Add([]byte(Trustee{idA, PublicKey{1}, "a"}.String() + "\n" + Trustee{idB, PublicKey{2}, "b c"}.String() + "\n"))
	f.Add([]byte("\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := parseTrusted("it", string(text))
		if err != nil {
			return
		}
		var again bytes.Buffer
		for _, trustee := range list {
			again.WriteString(trustee.String() + "\n")
		}
		if !bytes.Equal(again.Bytes(), text) {
			t.Errorf("%q was read and written as %q", text, &again)
		}
	})
}

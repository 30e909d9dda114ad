package remote_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"filebus/materialize/remote"
	"filebus/store/record"
)

// keyOf returns the key of a store, from a folder of its own.
func keyOf(t *testing.T, teller record.StoreID) remote.Key {
	t.Helper()
	key, err := remote.Keys{Dir: t.TempDir()}.Of(teller)
	if err != nil {
		t.Fatalf("Of(%s): %v", teller, err)
	}
	return key
}

func TestKeys(t *testing.T) {
	t.Parallel()
	keys := remote.Keys{Dir: filepath.Join(t.TempDir(), "state", "keys")}
	made, err := keys.Of(storeA)
	if err != nil {
		t.Fatal(err)
	}
	again, err := keys.Of(storeA)
	if err != nil || again.Public() != made.Public() {
		t.Errorf("the second time the key is %v, %v; want %v", again, err, made)
	}
	other, err := keys.Of(storeB)
	if err != nil || other.Public() == made.Public() {
		t.Errorf("another store has the key %v, %v", other, err)
	}
	entries, err := os.ReadDir(keys.Dir)
	if err != nil || len(entries) != 2 {
		t.Errorf("the folder has %v, %v; want two keys", entries, err)
	}
	file := filepath.Join(keys.Dir, string(storeA))
	for path, want := range map[string]os.FileMode{keys.Dir: 0o700, file: 0o600} {
		if info, err := os.Stat(path); runtime.GOOS != "windows" && (err != nil || info.Mode().Perm() != want) {
			t.Errorf("%s has the mode %v, %v; want %v", path, info.Mode().Perm(), err, want)
		}
	}
	if parsed, err := remote.ParsePublicKey(made.Public().String()); err != nil || parsed != made.Public() {
		t.Errorf("ParsePublicKey = %v, %v", parsed, err)
	}
	if print := made.Public().Fingerprint(); len(print) != len("SHA256:")+16 || made.String() != print {
		t.Errorf("Fingerprint = %q, String = %q", print, made)
	}
}

// TestKeysAtOnce has many ask for a key that is not there yet.
func TestKeysAtOnce(t *testing.T) {
	t.Parallel()
	keys := remote.Keys{Dir: t.TempDir()}
	var group sync.WaitGroup
	var got [16]remote.PublicKey
	for i := range got {
		group.Go(func() {
			key, err := keys.Of(storeA)
			if err != nil {
				t.Error(err)
				return
			}
			got[i] = key.Public()
		})
	}
	group.Wait()
	for _, key := range got {
		if key != got[0] {
			t.Errorf("some got %v, others %v", key, got[0])
		}
	}
}

// TestKeyDamaged cuts the file of a key everywhere and turns a bit of every byte. Never must
// there be a new key.
func TestKeyDamaged(t *testing.T) {
	t.Parallel()
	keys := remote.Keys{Dir: t.TempDir()}
	if _, err := keys.Of(storeA); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(keys.Dir, string(storeA))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	damaged := [][]byte{append(bytes.Clone(text), 'x'), bytes.Replace(text, []byte(storeA), []byte(storeB), 1), bytes.Repeat(text, 50)}
	for i := range text {
		flipped := bytes.Clone(text)
		flipped[i] ^= 1
		damaged = append(damaged, text[:i], flipped)
	}
	for _, text := range damaged {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if key, err := keys.Of(storeA); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("Of with %.200q = %v, %v; want an error with the file's name", text, key, err)
		}
		if now, err := os.ReadFile(file); err != nil || !bytes.Equal(now, text) {
			t.Fatalf("the damaged file is now %q, %v", now, err)
		}
	}
}

func TestKeyRefused(t *testing.T) {
	t.Parallel()
	for label, test := range map[string]struct {
		keys   remote.Keys
		teller record.StoreID
	}{
		"no folder": {remote.Keys{}, storeA}, "no store": {remote.Keys{Dir: t.TempDir()}, ""}, "a path": {remote.Keys{Dir: t.TempDir()}, "../x"},
	} {
		if key, err := test.keys.Of(test.teller); !errors.Is(err, record.Usage) {
			t.Errorf("%s: %v, %v", label, key, err)
		}
	}
	for _, text := range []string{"", "aa", strings.Repeat("A", 64), strings.Repeat("a", 66), strings.Repeat("a", 63), strings.Repeat("g", 64)} {
		if key, err := remote.ParsePublicKey(text); err == nil {
			t.Errorf("ParsePublicKey(%q) = %v", text, key)
		}
	}
}

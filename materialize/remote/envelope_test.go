package remote_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"filebus/materialize/remote"
	"filebus/store/folder"
	"filebus/store/record"
)

func seal(t *testing.T, key remote.Key, name remote.Name, content string) []byte {
	t.Helper()
	sealed, err := remote.Seal(key, name, []byte(content))
	if err != nil {
		t.Fatalf("Seal: %v", err)
	}
	return sealed
}

func segment(teller record.StoreID, from, to uint64) remote.Name {
	return remote.SegmentName(teller, remote.Span{Origin: storeA, First: from, Last: to})
}

// TestSealGolden makes a signature with nothing but what is documented.
func TestSealGolden(t *testing.T) {
	t.Parallel()
	key, name := keyOf(t, storeA), segment(storeA, 1, 9)
	sealed := string(seal(t, key, name, "abc\n"))
	lines := strings.SplitAfter(sealed, "\n")
	signature := strings.TrimSuffix(strings.TrimPrefix(lines[4], "signature 128 "), "\n")
	want := "filebus signed 1\npurpose 7 segment\nteller 32 " + string(storeA) + "\nkey 64 " + key.Public().String() + "\n" +
		"signature 128 " + signature + "\ncontent 4 abc\n\n"
	if sealed != want {
		t.Errorf("Seal = %q\nwant %q", sealed, want)
	}
	message := fmt.Sprintf("filebus signed 1\nsegment\n%s\n%s\n%s", storeA, name, record.DigestOf([]byte("abc\n")))
	bytes, err := hex.DecodeString(signature)
	if public := key.Public(); err != nil || !ed25519.Verify(public[:], []byte(message), bytes) {
		t.Errorf("%q (%v) is no signature of %q", signature, err, message)
	}
}

func TestUnseal(t *testing.T) {
	t.Parallel()
	key := keyOf(t, storeA)
	for _, name := range []remote.Name{remote.StateName(storeA), segment(storeA, 1, 9)} {
		for _, content := range []string{"", "abc", "\n", "content 3 abc\n", strings.Repeat("\x00", remote.MaxContent)} {
			got, by, err := remote.Unseal(name, seal(t, key, name, content))
			if err != nil || by != key.Public() || string(got) != content {
				t.Errorf("Unseal of %d bytes = %d bytes, %v, %v", len(content), len(got), by, err)
			}
		}
	}
}

// TestUnsealElsewhere offers a blob under every name that is not its own.
func TestUnsealElsewhere(t *testing.T) {
	t.Parallel()
	names := []remote.Name{
		remote.StateName(storeA), remote.StateName(storeB), segment(storeA, 1, 9), segment(storeA, 1, 8), segment(storeB, 1, 9), {},
		remote.BodyName(storeA, record.DigestOf(nil)), remote.SegmentName(storeA, remote.Span{Origin: storeB, First: 1, Last: 9}),
	}
	for _, name := range []remote.Name{names[0], names[2]} {
		sealed := seal(t, keyOf(t, storeA), name, "abc")
		for _, other := range names {
			if _, _, err := remote.Unseal(other, sealed); other != name && !errors.Is(err, remote.ErrForged) {
				t.Errorf("Unseal of %s under %q = %v, want that it is forged", name, other, err)
			}
		}
	}
}

// TestUnsealDamaged cuts a blob everywhere, and changes every byte of it to several others.
func TestUnsealDamaged(t *testing.T) {
	t.Parallel()
	name := remote.StateName(storeA)
	sealed := seal(t, keyOf(t, storeA), name, "content")
	refuses := func(text []byte) {
		t.Helper()
		content, _, err := remote.Unseal(name, text)
		isKnown := errors.Is(err, remote.ErrMalformed) || errors.Is(err, remote.ErrForged) || errors.Is(err, record.NewerStore)
		if content != nil || !isKnown || !strings.Contains(err.Error(), name.String()) {
			t.Errorf("Unseal(%q) = %q, %v", text, content, err)
		}
	}
	refuses(append(bytes.Clone(sealed), 'x'))
	refuses(append(bytes.Clone(sealed), sealed...))
	for i := range sealed {
		if _, _, err := remote.Unseal(name, sealed[:i]); !errors.Is(err, remote.ErrMalformed) {
			t.Errorf("Unseal of %d bytes = %v, want that it is malformed", i, err)
		}
		for _, change := range []byte{1, 0x20, 0x80, 0xff} {
			changed := bytes.Clone(sealed)
			changed[i] ^= change
			refuses(changed)
		}
	}
}

func TestUnsealMalformed(t *testing.T) {
	t.Parallel()
	name := remote.StateName(storeA)
	sealed := string(seal(t, keyOf(t, storeA), name, "abc"))
	keyLine, signatureLine := strings.SplitAfter(sealed, "\n")[3], strings.SplitAfter(sealed, "\n")[4]
	for label, test := range map[string]struct {
		old, new string
		want     error
	}{
		"newer":            {"signed 1", "signed 2", record.NewerStore},
		"version 0":        {"signed 1", "signed 0", remote.ErrMalformed},
		"version 01":       {"signed 1", "signed 01", remote.ErrMalformed},
		"CR LF":            {"1\n", "1\r\n", remote.ErrMalformed},
		"short key":        {keyLine, "key 2 aa\n", remote.ErrMalformed},
		"long key":         {keyLine, "key 66 " + strings.Repeat("aa", 33) + "\n", remote.ErrMalformed},
		"no key":           {keyLine, "", remote.ErrMalformed},
		"key of zeros":     {keyLine, "key 64 " + strings.Repeat("0", 64) + "\n", remote.ErrForged},
		"short signature":  {signatureLine, "signature 2 aa\n", remote.ErrMalformed},
		"signature first":  {keyLine + signatureLine, signatureLine + keyLine, remote.ErrMalformed},
		"signature twice":  {signatureLine, signatureLine + signatureLine, remote.ErrMalformed},
		"other content":    {"abc", "abd", remote.ErrForged},
		"length 03":        {"content 3", "content 03", remote.ErrMalformed},
		"length +3":        {"content 3", "content +3", remote.ErrMalformed},
		"negative length":  {"content 3", "content -3", remote.ErrMalformed},
		"length too great": {"content 3", "content 99999999999999999999", remote.ErrMalformed},
		"length of 31 bit": {"content 3", "content 2147483647", remote.ErrMalformed},
		"other purpose":    {"purpose 5 state", "purpose 7 segment", remote.ErrForged},
		"other teller":     {string(storeA), string(storeB), remote.ErrForged},
		"too long":         {"content 3 abc", fmt.Sprintf("content %d %s", remote.MaxContent+1, strings.Repeat("a", remote.MaxContent+1)), remote.ErrMalformed},
	} {
		if !strings.Contains(sealed, test.old) {
			t.Fatalf("%s: %q is not in the blob", label, test.old)
		}
		if _, _, err := remote.Unseal(name, []byte(strings.Replace(sealed, test.old, test.new, 1))); !errors.Is(err, test.want) {
			t.Errorf("%s: %v, want %v", label, err, test.want)
		}
	}
}

func TestSealRefuses(t *testing.T) {
	t.Parallel()
	key := keyOf(t, storeA)
	for _, name := range []remote.Name{{}, remote.StateName(storeB), segment(storeB, 1, 9), remote.BodyName(storeA, record.DigestOf(nil))} {
		if _, err := remote.Seal(key, name, nil); !errors.Is(err, record.Usage) {
			t.Errorf("Seal of %q = %v, want a usage error", name, err)
		}
	}
	if _, err := remote.Seal(key, remote.StateName(storeA), make([]byte, remote.MaxContent+1)); !errors.Is(err, record.Usage) {
		t.Errorf("Seal of too much = %v", err)
	}
	if _, err := remote.Seal(remote.Key{}, remote.Name{}, nil); !errors.Is(err, record.Usage) {
		t.Errorf("Seal with no key = %v", err)
	}
}

// TestFetch publishes a blob and reads it with and without trust, and what became of it.
func TestFetch(t *testing.T) {
	t.Parallel()
	memory, name, ctx := newMemory(), remote.StateName(storeA), t.Context()
	r, key, other := memory.Open(), keyOf(t, storeA), keyOf(t, storeA)
	trust, err := remote.LoadTrust(folder.At(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	wants := func(label string, want error) {
		t.Helper()
		if got, _, err := remote.Fetch(ctx, r, name, trust); !errors.Is(err, want) || (err == nil) != (string(got) == "abc") {
			t.Errorf("%s: Fetch = %q, %v; want %v", label, got, err, want)
		}
	}
	wants("absent", fs.ErrNotExist)
	if err := remote.Publish(ctx, r, key, name, []byte("abc")); err != nil {
		t.Fatal(err)
	}
	wants("nobody is trusted", remote.ErrUnknownKey)
	if got, by, err := remote.Fetch(ctx, r, name, nil); err != nil || string(got) != "abc" || by != key.Public() {
		t.Errorf("Fetch without trust = %q, %v, %v", got, by, err)
	}
	if err := trust.Set(remote.Trustee{Teller: storeA, Key: other.Public(), Label: "laptop"}); err != nil {
		t.Fatal(err)
	}
	wants("another key is trusted", remote.ErrChangedKey)
	if err := trust.Set(remote.Trustee{Teller: storeA, Key: key.Public(), Label: "laptop"}); err != nil {
		t.Fatal(err)
	}
	wants("trusted", nil)
	memory.Damage = func(_ remote.Name, text []byte) []byte { return text[:len(text)-1] }
	wants("cut", remote.ErrMalformed)
	memory.Damage = func(_ remote.Name, text []byte) []byte { return bytes.Replace(text, []byte("abc"), []byte("abd"), 1) }
	wants("forged", remote.ErrForged)
	memory.Damage = func(_ remote.Name, text []byte) []byte { return append(text, make([]byte, 10<<20)...) }
	wants("endless", remote.ErrMalformed)
	if err := remote.Publish(ctx, r, key, remote.StateName(storeB), nil); !errors.Is(err, record.Usage) {
		t.Errorf("Publish for another store = %v", err)
	}
}

func FuzzUnseal(f *testing.F) {
	key, err := remote.Keys{Dir: f.TempDir()}.Of(storeA)
	if err != nil {
		f.Fatal(err)
	}
	name := remote.StateName(storeA)
	for _, content := range []string{"", "abc"} {
		sealed, err := remote.Seal(key, name, []byte(content))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(sealed)
		f.Add(sealed[:len(sealed)/2])
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		content, by, err := remote.Unseal(name, text)
		if err != nil {
			return
		}
		if by == key.Public() {
			if again, err := remote.Seal(key, name, content); err != nil || !bytes.Equal(again, text) {
				t.Errorf("Seal of what %q holds = %q, %v", text, again, err)
			}
		}
	})
}

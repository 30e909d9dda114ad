package remote

import (
	"cmp"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base32"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"runtime"
	"strings"

	"filebus/store/folder"
	"filebus/store/record"
)

// A PublicKey verifies what a store has signed. It is one of ed25519.
type PublicKey [ed25519.PublicKeySize]byte

// ParsePublicKey reads the form that String writes, and no other.
func ParsePublicKey(text string) (key PublicKey, err error) {
	err = parseHex(key[:], text)
	return key, err
}

func parseHex(dst []byte, text string) error {
	bytes, err := hex.DecodeString(text)
	if err != nil || copy(dst, bytes) != len(bytes) || hex.EncodeToString(dst) != text {
		return fmt.Errorf("it is not %d lower-case hex digits", 2*len(dst))
	}
	return nil
}

// String returns the key as 64 lower-case hex digits.
func (k PublicKey) String() string { return hex.EncodeToString(k[:]) }

// Fingerprint returns what people compare: 80 bits of the key's digest.
func (k PublicKey) Fingerprint() string {
	digest := sha256.Sum256(k[:])
	return "SHA256:" + strings.ToLower(base32.StdEncoding.EncodeToString(digest[:10]))
}

// A Key signs for one store. It is secret.
type Key struct {
	teller  record.StoreID
	private ed25519.PrivateKey
}

// Public returns the key that verifies what this one signs.
func (k Key) Public() PublicKey { return PublicKey(k.private.Public().(ed25519.PublicKey)) }

// String returns the fingerprint, so that no message betrays the key.
func (k Key) String() string { return k.Public().Fingerprint() }

// encode returns the text of a key's file. The public key is there to find what is damaged.
func (k Key) encode() []byte {
	return appendFields([]byte("filebus key "+version),
		"origin", string(k.teller), "seed", hex.EncodeToString(k.private.Seed()), "public", k.Public().String())
}

// Keys are the keys of a user's stores, a file each.
type Keys struct {
	Dir string // absolute, outside of every store, so that who copies a store has no key
}

// Of returns the key of a store, which is made if there is none. Several processes that do so
// at once get the same. A file that is damaged, or open to others, is an error.
func (k Keys) Of(teller record.StoreID) (Key, error) {
	if _, err := record.ParseStoreID(string(teller)); err != nil || k.Dir == "" {
		return Key{}, record.Usage.Errorf("no key is kept for the store %q in the folder %q", teller, k.Dir)
	}
	key, err := k.known(teller)
	if isAbsent(err) {
		if err = makeKey(folder.At(k.Dir), teller); err == nil {
			key, err = k.known(teller)
		}
	}
	return key, err
}

// known returns the key of a store if it is here.
func (k Keys) known(teller record.StoreID) (key Key, err error) {
	if k.Dir == "" {
		return key, fs.ErrNotExist
	}
	dir := folder.At(k.Dir)
	file := dir.Path(string(teller))
	info, err := dir.Stat(string(teller))
	if err == nil && info.Mode()&0o077 != 0 && runtime.GOOS != "windows" {
		err = record.Untrusted.Errorf("others can get at the key %s (mode %04o)", file, info.Mode().Perm()).Try("chmod 600 {1}", file)
	}
	if err != nil {
		return key, err
	}
	text, err := dir.ReadUpTo(string(teller), 1<<10)
	if err != nil {
		return key, err
	}
	r := readFields("the key "+file, "filebus key ", string(text))
	key.teller = field(r, "origin", record.ParseStoreID)
	seed, public := field(r, "seed", ParsePublicKey), field(r, "public", ParsePublicKey) // they look alike
	key.private = ed25519.NewKeyFromSeed(seed[:])
	if err = r.end(); err == nil && (key.Public() != public || key.teller != teller) {
		err = malformed(r.what, "it is of another store, or its halves are of two keys")
	}
	if err != nil {
		return Key{}, err
	}
	return key, nil
}

// makeKey makes a key unless there is one: a second name for a file never takes another's.
func makeKey(dir folder.Folder, teller record.StoreID) error {
	_, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	tmp := folder.TemporaryName(".tmp")
	if err = cmp.Or(dir.Make("."), dir.Replace(tmp, Key{teller, private}.encode(), true)); err != nil {
		return err
	}
	if err = dir.Link(tmp, string(teller)); errors.Is(err, fs.ErrExist) {
		err = nil // another process was faster
	}
	return errors.Join(err, dir.Remove(tmp), dir.Sync("."))
}

// isAbsent reports whether an error says no more than that something is not there.
func isAbsent(err error) bool { return errors.Is(err, fs.ErrNotExist) }

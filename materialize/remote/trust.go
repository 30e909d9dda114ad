package remote

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"filebus/store/folder"
	"filebus/store/record"
)

// Why a key is not trusted. The error's Names are the store and the key.
const (
	ErrUnknownKey record.Reason = "unknown key" // nobody has trusted the store
	ErrChangedKey record.Reason = "changed key" // the store is trusted with another key
)

// trustFile is where Trust keeps what it knows, a line each.
const trustFile = "trusted"

// A Trustee is a store that is trusted, with its key.
type Trustee struct {
	Teller record.StoreID
	Key    PublicKey
	Label  Label
}

// String returns the trustee as a line, without its end.
func (t Trustee) String() string { return fmt.Sprintf("%s %s %s", t.Teller, t.Key, t.Label) }

// parseTrustee reads what String wrote, and nothing else.
func parseTrustee(line string) (t Trustee, err error) {
	parts := append(strings.SplitN(line, " ", 3), "", "")
	var errs [3]error
	t.Teller, errs[0] = record.ParseStoreID(parts[0])
	t.Key, errs[1] = ParsePublicKey(parts[1])
	t.Label, errs[2] = ParseLabel(parts[2])
	return t, cmp.Or(errs[:]...)
}

// Trust is whom one store trusts. What another process has changed since LoadTrust is lost with
// a Set: hold a lock from one to the other.
type Trust struct {
	dir   folder.Folder
	known map[record.StoreID]Trustee
}

// LoadTrust reads the file "trusted" of a folder below that of the store. Without it nobody is.
func LoadTrust(dir folder.Folder) (*Trust, error) {
	text, err := dir.ReadUpTo(trustFile, 8<<20)
	if err != nil && !isAbsent(err) {
		return nil, err
	}
	t := &Trust{dir, map[record.StoreID]Trustee{}}
	list, err := parseTrusted("the file "+dir.Path(trustFile), string(text))
	for _, trustee := range list {
		t.known[trustee.Teller] = trustee
	}
	return t, err
}

// parseTrusted reads what Set writes, and nothing else.
func parseTrusted(what, text string) (list []Trustee, err error) {
	for line := range strings.Lines(text) {
		line, isWhole := strings.CutSuffix(line, "\n")
		t, err := parseTrustee(line)
		if err != nil || !isWhole || len(list) > 0 && t.Teller <= list[len(list)-1].Teller {
			return nil, malformed(what, "line %d is not STORE KEY LABEL, or not in the order of the stores", len(list)+1)
		}
		list = append(list, t)
	}
	return list, nil
}

// All returns who is trusted, in the order of the ids.
func (t *Trust) All() []Trustee {
	return slices.SortedFunc(maps.Values(t.known), func(a, b Trustee) int { return cmp.Compare(a.Teller, b.Teller) })
}

// Knows reports whether a store is trusted with some key.
func (t *Trust) Knows(teller record.StoreID) bool { return t.known[teller] != Trustee{} }

// Check returns an error of ErrUnknownKey or ErrChangedKey unless a store is trusted with a key.
func (t *Trust) Check(teller record.StoreID, key PublicKey) error {
	known := t.known[teller]
	reason, err := ErrUnknownKey, record.Untrusted.Errorf("the store %s is not trusted; its key is %s", teller, key.Fingerprint())
	switch {
	case !t.Knows(teller):
	case known.Key == key:
		return nil
	default:
		reason, err = ErrChangedKey, record.Untrusted.Errorf("the store %s (%s) is trusted with the key %s, and now signs with %s: ask its user why",
			teller, known.Label, known.Key.Fingerprint(), key.Fingerprint())
	}
	return err.Because(reason, string(teller), key.String()).
		Try("ask its user for the key; if it is this one, filebus remote trust {1}", string(teller))
}

// Set trusts a store with a key, in place of its older one.
func (t *Trust) Set(trustee Trustee) error {
	if _, err := parseTrustee(trustee.String()); err != nil {
		return record.Usage.Errorf("trusting the store %q: %w", trustee.Teller, err)
	}
	t.known[trustee.Teller] = trustee
	return t.write()
}

// Remove trusts a store no more. That it was not trusted is no error.
func (t *Trust) Remove(teller record.StoreID) error {
	delete(t.known, teller)
	return t.write()
}

// vouch trusts a store that nobody has trusted yet, as long as t is used.
func (t *Trust) vouch(trustee Trustee) {
	if !t.Knows(trustee.Teller) {
		t.known[trustee.Teller] = trustee
	}
}

func (t *Trust) write() error {
	var text []byte
	for _, trustee := range t.All() {
		text = fmt.Appendln(text, trustee)
	}
	return cmp.Or(t.dir.Make("."), t.dir.Replace(trustFile, text, true))
}

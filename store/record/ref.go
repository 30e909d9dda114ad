package record

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"strings"
)

// A Ref names a record by the SHA-256 digest of its canonical encoding. The
// zero Ref names no record.
type Ref [sha256.Size]byte

// ShortRefLength is the number of hex digits that Short prints, and
// MinPrefixLength the fewest that ParsePrefix accepts.
const (
	ShortRefLength  = 12
	minPrefixLength = 8
)

// ParseRef reads the 64 lower-case hex digits that String writes, and nothing
// else.
func ParseRef(text string) (Ref, error) {
	sum, err := parseSum(text)
	if err != nil {
		return Ref{}, fmt.Errorf("malformed ref %q: %w", text, err)
	}
	return Ref(sum), nil
}

// String returns the ref as 64 lower-case hex digits.
func (r Ref) String() string { return hex.EncodeToString(r[:]) }

// Short returns the first ShortRefLength digits, for people to read and type.
func (r Ref) Short() string { return r.String()[:ShortRefLength] }

// IsZero reports whether r names no record.
func (r Ref) IsZero() bool { return r == Ref{} }

// MarshalText returns the form that ParseRef reads.
func (r Ref) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// UnmarshalText reads the form that String writes.
func (r *Ref) UnmarshalText(text []byte) error {
	parsed, err := ParseRef(string(text))
	*r = parsed
	return err
}

// A ShortRef is a Ref of which people are shown the first digits. Programs get all.
type ShortRef Ref

// MarshalText returns all digits.
func (r ShortRef) MarshalText() ([]byte, error) { return []byte(Ref(r).String()), nil }

func (r ShortRef) String() string { return Ref(r).Short() }

// A Prefix is the beginning of a ref as a user types it: MinPrefixLength to 64
// lower-case hex digits.
type Prefix string

// ParsePrefix reports whether text can be the beginning of a ref. It accepts
// upper-case digits, which people paste, and folds them.
func ParsePrefix(text string) (Prefix, bool) {
	if len(text) < minPrefixLength || len(text) > 2*sha256.Size {
		return "", false
	}
	folded := strings.ToLower(text)
	for _, c := range []byte(folded) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return "", false
		}
	}
	return Prefix(folded), true
}

// Seek returns the whole bytes of the prefix: every ref that Matches it sorts
// at or after them.
func (p Prefix) Seek() []byte {
	// The digits were checked by ParsePrefix, and an even number of them is taken.
	whole, _ := hex.DecodeString(string(p[:len(p)/2*2]))
	return whole
}

// Matches reports whether ref begins with the prefix.
func (p Prefix) Matches(ref Ref) bool { return strings.HasPrefix(ref.String(), string(p)) }

// A Digest is the SHA-256 of a body: what sha256sum prints for its file.
type Digest [sha256.Size]byte

// DigestOf returns the digest of body.
func DigestOf(body []byte) Digest { return sha256.Sum256(body) }

// ParseDigest reads the 64 lower-case hex digits that String writes.
func ParseDigest(text string) (Digest, error) {
	sum, err := parseSum(text)
	if err != nil {
		return Digest{}, fmt.Errorf("malformed digest %q: %w", text, err)
	}
	return Digest(sum), nil
}

// String returns the digest as 64 lower-case hex digits.
func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText returns the form that ParseDigest reads.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the form that String writes.
func (d *Digest) UnmarshalText(text []byte) error {
	parsed, err := ParseDigest(string(text))
	*d = parsed
	return err
}

func parseSum(text string) (sum [sha256.Size]byte, err error) {
	if len(text) != 2*sha256.Size {
		return sum, fmt.Errorf("%d digits instead of %d", len(text), 2*sha256.Size)
	}
	if text != strings.ToLower(text) {
		return sum, fmt.Errorf("upper-case digits")
	}
	_, err = hex.Decode(sum[:], []byte(text))
	return sum, err
}

// A Digester computes the Digest of what is written to it.
type Digester struct{ hash hash.Hash }

// NewDigester returns a Digester that nothing was written to.
func NewDigester() *Digester { return &Digester{sha256.New()} }

// Write never fails.
func (d *Digester) Write(p []byte) (int, error) { return d.hash.Write(p) }

// Digest returns the digest of what was written so far.
func (d *Digester) Digest() Digest { return Digest(d.hash.Sum(nil)) }

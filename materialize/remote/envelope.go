package remote

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"

	"filebus/store/record"
)

// MaxContent is the greatest length of what is signed, in bytes.
const MaxContent = 8 << 20

// ErrForged says that a blob is not what the owner of its key has signed under its name.
const ErrForged record.Reason = "forged blob"

// signedHeader begins a signed blob, and what is signed of it.
const signedHeader = "filebus signed "

// A Signed is a blob with a sound signature. Whose key that is remains to be asked.
type Signed struct {
	Name    Name
	Key     PublicKey
	content []byte
}

// Trusted returns what was signed if the teller is trusted with that key.
func (s Signed) Trusted(trust *Trust) ([]byte, error) {
	if err := trust.Check(s.Name.teller, s.Key); err != nil {
		return nil, err
	}
	return s.content, nil
}

// Claimed returns what was signed, by whoever it was: to show it to those who are to trust it.
func (s Signed) Claimed() []byte { return s.content }

// message is what is signed. With the name in it no blob counts under another.
func message(name Name, content string) []byte {
	return fmt.Appendf(nil, "%s%s%s\n%s\n%s\n%x", signedHeader, version, name.kind, name.teller, name, sha256.Sum256([]byte(content)))
}

// Seal signs content under a name of the key's own store.
func Seal(key Key, name Name, content []byte) ([]byte, error) {
	if name.teller != key.teller || name.kind != KindState && name.kind != KindSegment || len(content) > MaxContent {
		return nil, record.Usage.Errorf("the key of the store %q does not sign %d bytes as %q", key.teller, len(content), name)
	}
	signature := ed25519.Sign(key.private, message(name, string(content)))
	text := appendField([]byte(signedHeader+version), "purpose", string(name.kind))
	text = appendField(text, "teller", string(name.teller))
	text = appendField(text, "key", key.Public().String())
	text = appendField(text, "signature", hex.EncodeToString(signature))
	return appendField(text, "content", string(content)), nil
}

// Unseal reads what Seal has made for a name, and nothing else: what is cut or changed is
// ErrMalformed or ErrForged.
func Unseal(name Name, sealed []byte) (Signed, error) {
	r := readFields("the blob "+name.String(), signedHeader, string(sealed))
	kind, teller := field(r, "purpose", text), field(r, "teller", text)
	key, signature := field(r, "key", ParsePublicKey), field(r, "signature", parseSignature)
	content := field(r, "content", text)
	switch err := r.end(); {
	case err != nil:
		return Signed{}, err
	case len(content) > MaxContent:
		return Signed{}, malformed(r.what, "it holds more than %d bytes", MaxContent)
	case kind != string(name.kind) || teller != string(name.teller) || !ed25519.Verify(key[:], message(name, content), signature[:]):
		return Signed{}, record.Damaged.Errorf("%s is forged: the key in it has not signed it under this name", r.what).Because(ErrForged)
	}
	return Signed{name, key, []byte(content)}, nil
}

func parseSignature(text string) (signature [ed25519.SignatureSize]byte, err error) {
	err = parseHex(signature[:], text)
	return signature, err
}

// Publish signs content and puts it under a name of the key's own store.
func Publish(ctx context.Context, t Transport, key Key, name Name, content []byte) error {
	sealed, err := Seal(key, name, content)
	if err != nil {
		return err
	}
	return t.Put(ctx, name, int64(len(sealed)), bytes.NewReader(sealed))
}

// Fetch gets a signed blob, all of it in memory.
func Fetch(ctx context.Context, t Transport, name Name) (Signed, error) {
	blob, err := t.Get(ctx, name)
	if err != nil {
		return Signed{}, err
	}
	defer func() { _ = blob.Close() }() // only read
	sealed, err := io.ReadAll(io.LimitReader(blob, MaxContent+1<<10))
	if err != nil {
		return Signed{}, fmt.Errorf("reading the blob %s: %w", name, err)
	}
	return Unseal(name, sealed)
}

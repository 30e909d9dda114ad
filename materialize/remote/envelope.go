package remote

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"filebus/store"
	"filebus/store/record"
)

// MaxContent is the greatest length of what is signed, in bytes.
const MaxContent = 8 << 20

// ErrForged says that a blob is not what the owner of its key has signed under its name.
const ErrForged record.Reason = "forged blob"

// signedHeader begins a signed blob, and what is signed of it.
const signedHeader = "filebus signed "

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
	return appendFields([]byte(signedHeader+version), "purpose", string(name.kind), "teller", string(name.teller), "key", key.Public().String(),
		"signature", hex.EncodeToString(signature), "content", string(content)), nil
}

// Unseal reads what Seal has made for a name, and nothing else: what is cut or changed is
// ErrMalformed or ErrForged. Whose key it is that has signed remains to be asked.
func Unseal(name Name, sealed []byte) (content []byte, key PublicKey, err error) {
	r := readFields("the blob "+name.String(), signedHeader, string(sealed))
	kind, teller := field(r, "purpose", text), field(r, "teller", text)
	key, signature := field(r, "key", ParsePublicKey), field(r, "signature", parseSignature)
	signed := field(r, "content", text)
	switch err = r.end(); {
	case err != nil:
	case len(signed) > MaxContent:
		err = malformed(r.what, "it holds more than %d bytes", MaxContent)
	case kind != string(name.kind) || teller != string(name.teller) || !ed25519.Verify(key[:], message(name, signed), signature[:]):
		err = record.Damaged.Errorf("%s is forged: the key in it has not signed it under this name", r.what).Because(ErrForged)
	default:
		return []byte(signed), key, nil
	}
	return nil, PublicKey{}, err
}

// passName names entries of a log that pass.
func passName(origin record.StoreID, first, last uint64) Name {
	return Name{kind: kindPass, teller: origin, span: Span{origin, first, last}}
}

// vouch signs that entries of the key's own log pass.
func (k Key) vouch(first uint64, last store.Entry) string {
	name := passName(k.teller, first, last.Position)
	return hex.EncodeToString(ed25519.Sign(k.private, message(name, string(last.Encode()))))
}

// checkPass returns an error unless the owner of a log has signed that entries pass. Of a store that is not trusted
// it is the word of the one that tells of it.
func (t *Trust) checkPass(origin record.StoreID, pass store.Pass, last store.Entry) error {
	signature, err := parseSignature(pass.Signature)
	signed := message(passName(origin, pass.First, last.Position), string(last.Encode()))
	if key := t.known[origin].Key; err != nil || t.Knows(origin) && !ed25519.Verify(key[:], signed, signature[:]) {
		return record.Damaged.Errorf("entries %d to %d of the log of %s are missing, and its key has not signed that they pass", pass.First, last.Position, origin).
			Because(ErrForged)
	}
	return nil
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

// Fetch gets what a trusted store has signed, all of it in memory. Without trust, which is nil, it
// is what anybody has signed: to show it to those who are to trust the key.
func Fetch(ctx context.Context, t Transport, name Name, trust *Trust) (content []byte, key PublicKey, err error) {
	blob, err := t.Get(ctx, name)
	if err != nil {
		return nil, key, err
	}
	sealed, err := io.ReadAll(io.LimitReader(blob, MaxContent+1<<10))
	if err = errors.Join(err, blob.Close()); err != nil {
		return nil, key, fmt.Errorf("reading the blob %s: %w", name, err)
	}
	content, key, err = Unseal(name, sealed)
	if err == nil && trust != nil {
		err = trust.Check(name.teller, key)
	}
	if err != nil {
		return nil, key, err
	}
	return content, key, nil
}

package dialogue

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
)

// A derived file begins with a comment that holds the digest of what follows. By it
// a file that somebody has written or changed by hand is told from one that may be
// written again, wherever it was copied.
const (
	derivedHead = "<!-- filebus dialogue score: "
	derivedTail = " -->\n"
)

// derived returns the text of a derived file.
func derived(body []byte) []byte {
	return append([]byte(derivedHead+derivedDigest(body)+derivedTail), body...)
}

// isDerived reports whether a text is that of a derived file, unchanged. Line ends
// do not count: some tools change them.
func isDerived(text []byte) bool {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	head, body, _ := bytes.Cut(text, []byte("\n"))
	return string(head)+"\n" == derivedHead+derivedDigest(body)+derivedTail
}

func derivedDigest(body []byte) string {
	digest := sha256.Sum256(body)
	return hex.EncodeToString(digest[:4])
}

package layout

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"filebus/materialize/markdown"
)

// A block is a text between two comments of a document, which keeps its bytes:
//
//	<!-- turn muffin round 0 bytes:5 sha256:2cf24dba5fb0a30e -->
//	hello
//	<!-- end of turn muffin round 0 -->
//
// Behind the text comes one line break, and what closes the fences and comments
// that the text leaves open, so that the rest of the document is shown.
type block struct {
	name       string // behind "turn" or "text", before the bytes
	text       string
	exact      bool // the digest is that of the text
	start, end int  // of the block with its comments, in bytes
	at         int  // where the text begins
}

// The words that a block begins with.
const (
	blockTurn = "turn"
	blockText = "text"
)

// blockHead is the first line of a block.
var blockHead = Pattern(`(?m)^<!-- ((?:turn [^ \r\n]+ round \d{1,9})|text) bytes:(\d{1,12}) sha256:([0-9a-f]{16}) -->\r?\n`)

// blockTail is the last line of a block.
var blockTail = Pattern(`(?m)^<!-- end of ((?:turn [^ \r\n]+ round \d{1,9})|text) -->`)

// appendBlock appends a block.
func appendBlock(dst []byte, name string, text []byte) []byte {
	dst = fmt.Appendf(dst, "<!-- %s bytes:%d sha256:%s -->\n", name, len(text), shortDigest(text))
	dst = append(append(dst, text...), '\n')
	for _, closer := range markdown.OpenEnds(text) {
		dst = append(append(dst, closer...), '\n')
	}
	return append(append(dst, blockEnd(name)...), '\n')
}

func blockEnd(name string) string { return "<!-- end of " + name + " -->" }

// shortDigest returns the first 16 hex digits of a text's SHA-256 digest.
func shortDigest(text []byte) string {
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:8])
}

// findBlocks returns the blocks of a document in their order, and the document
// with spaces in their place, line by line. A block whose text was changed ends
// with its last line; one without that line is none.
func findBlocks(text []byte) (blocks []block, rest []byte) {
	rest = bytes.Clone(text)
	ends := blockEnds(text)
	for at := 0; at < len(text); {
		m := blockHead().FindSubmatchIndex(text[at:])
		if m == nil {
			break
		}
		b, found := newBlock(text, at, m, ends)
		if !found {
			at += m[1]
			continue
		}
		for i := b.start; i < b.end; i++ {
			if rest[i] != '\n' && rest[i] != '\r' {
				rest[i] = ' '
			}
		}
		blocks = append(blocks, b)
		at = b.end
	}
	return blocks, rest
}

// blockEnds returns where the last lines of blocks begin, by the block's name.
func blockEnds(text []byte) map[string][]int {
	ends := map[string][]int{}
	for _, m := range blockTail().FindAllSubmatchIndex(text, -1) {
		name := string(text[m[2]:m[3]])
		ends[name] = append(ends[name], m[0])
	}
	return ends
}

// newBlock returns the block whose first line was matched behind the offset at.
func newBlock(text []byte, at int, m []int, ends map[string][]int) (block, bool) {
	b := block{name: string(text[at+m[2] : at+m[3]]), start: at + m[0], at: at + m[1]}
	size, _ := strconv.Atoi(string(text[at+m[4] : at+m[5]])) // at most 12 digits
	from := b.at
	body := text[b.at:]
	b.exact = size < len(body) && body[size] == '\n' && shortDigest(body[:size]) == string(text[at+m[6]:at+m[7]])
	if b.exact {
		from += size + 1
	}
	i, _ := slices.BinarySearch(ends[b.name], from)
	if i == len(ends[b.name]) {
		return b, false
	}
	end := ends[b.name][i]
	b.end = end + len(blockEnd(b.name))
	if b.exact {
		b.text = string(body[:size])
	} else {
		b.text = strings.TrimSuffix(string(text[b.at:end]), "\n")
	}
	return b, true
}

// turnOf returns the agent that a block of a turn names.
func (b block) turnOf() (agent string, found bool) {
	words := strings.Fields(b.name)
	if len(words) != 4 || words[0] != blockTurn {
		return "", false
	}
	return unescapeName(words[1]), true
}

// escapeName returns a name of a file as a word that may stand in a comment and
// in a link.
func escapeName(name string) string {
	return strings.ReplaceAll(url.PathEscape(name), "--", "-%2D")
}

// unescapeName returns the name that escapeName was given.
func unescapeName(text string) string {
	name, err := url.PathUnescape(text)
	if err != nil {
		return text
	}
	return name
}

// sealLine is the last line of a document that filebus has written.
var sealLine = Pattern(`\n<!-- filebus dialogue sha256:([0-9a-f]{16}) -->\n\z`)

// appendSeal appends the line with the digest of dst from start on.
func appendSeal(dst []byte, start int) []byte {
	return fmt.Appendf(dst, "\n<!-- filebus dialogue sha256:%s -->\n", shortDigest(dst[start:]))
}

// CheckSeal reports whether a document is one that filebus has written, by hand
// changed or not, and whether it still is as it was written.
func CheckSeal(text []byte) (sealed, intact bool) {
	m := sealLine().FindSubmatchIndex(text)
	if m == nil {
		return bytes.Contains(text, []byte("\n<!-- filebus dialogue sha256:")), false
	}
	return true, shortDigest(text[:m[0]]) == string(text[m[2]:m[3]])
}

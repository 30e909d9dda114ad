package dialogue

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"

	"filebus/store"
	"filebus/store/record"
)

// A DerivedFile is a file that is computed from the turns and the scores.
type DerivedFile struct {
	Path      string // below the dialogue's folder
	Text      []byte
	File      string // absolute; "" if it was not written
	Unchanged bool
	Kept      bool // somebody wrote it by hand, so it was left alone
}

// Derive returns the files that are computed from the turns and the scores of a
// dialogue: scoreboard.md, tensions.md, and the summary of each round. The same
// records give the same bytes.
func (b *Board) Derive() []DerivedFile {
	if len(b.Rounds) == 0 {
		return nil
	}
	files := []DerivedFile{{Path: ScoreboardFile, Text: b.scoreboardText()}, {Path: TensionsFile, Text: b.tensionsText()}}
	for i, r := range b.Rounds {
		files = append(files, DerivedFile{Path: SummaryFile(r.Round), Text: b.summaryText(i)})
	}
	return files
}

// SummaryFile returns the name of the summary of a round, below the dialogue's folder.
func SummaryFile(round int) string { return roundFolder(round) + ".summary.md" }

// WriteDerived stores and writes the files of Derive. One that somebody has written or
// changed by hand is left alone, unless force is set. For a dialogue of a captured
// tree it returns ErrCaptured.
func (f *Forum) WriteDerived(ctx context.Context, b *Board, force bool) ([]DerivedFile, error) {
	key := b.Dialogue.Key
	if err := key.checkOwn(); err != nil {
		return nil, err
	}
	files := b.Derive()
	for i := range files {
		file := &files[i]
		name := fileName(key, file.Path)
		put, err := f.w.EditText(ctx, name.Kind, name.ID, record.SourcePut, func(old []byte, head *store.Version) ([]byte, error) {
			if head != nil && !isBlank(old) && !isDerived(old) && !force {
				return nil, errByHand
			}
			return file.Text, nil
		})
		switch {
		case errors.Is(err, errByHand):
			file.Kept = true
		case err != nil:
			return files, fmt.Errorf("writing %s: %w", file.Path, err)
		default:
			file.File, file.Unchanged = put.File, put.Unchanged
		}
	}
	return files, nil
}

// errByHand ends an edit of a file that somebody has written by hand.
var errByHand = errors.New("it was written by hand")

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

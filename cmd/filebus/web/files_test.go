package web_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestFilesOfOthers compares the files of others with the digests under which they were taken in.
func TestFilesOfOthers(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	decision, err := os.ReadFile(filepath.Join(root, "docs", "decisions", "0035-files-of-pages.md"))
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("\n- `([^`]+)`: .*sha256 `([0-9a-f]{64})`").FindAllStringSubmatch(string(decision), -1)
	if len(rows) != 3 {
		t.Errorf("the decision names %d files", len(rows))
	}
	for _, row := range rows {
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(row[1])))
		if err != nil {
			t.Error(err)
		} else if got := fmt.Sprintf("%x", sha256.Sum256(text)); got != row[2] {
			t.Errorf("%s has the digest %s, want %s", row[1], got, row[2])
		}
	}
}

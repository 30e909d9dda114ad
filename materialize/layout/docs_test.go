package layout

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// docExample returns the file that the page docs/layouts/<page>.md shows: the
// bytes inside its fence of four backticks whose info string names file, as in
// "````markdown file=issue_queue.md". It fails the test when the page or the
// fence is missing.
func docExample(t testing.TB, page, file string) []byte {
	t.Helper()
	name := filepath.Join("..", "..", "docs", "layouts", page+".md")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("reading the page %s: %v", page, err)
	}
	example, found := cutExample(text, file)
	if !found {
		t.Fatalf("%s has no complete fence ````… file=%s", name, file)
	}
	return example
}

// cutExample returns the lines between the fence for file and the fence that
// closes it.
func cutExample(page []byte, file string) (example []byte, found bool) {
	inside := false
	for line := range bytes.Lines(page) {
		text := strings.TrimSpace(string(line))
		switch {
		case inside && text == "````":
			return example, true
		case inside:
			example = append(example, line...)
		case strings.HasPrefix(text, "````") && hasWord(text, "file="+file):
			inside = true
		}
	}
	return nil, false
}

func hasWord(text, word string) bool {
	for field := range strings.FieldsSeq(text) {
		if field == word {
			return true
		}
	}
	return false
}

func TestCutExample(t *testing.T) {
	t.Parallel()
	page := "# Page\n\n````markdown file=a.md\n# A\n\n```\ncode\n```\n````\n\n````json file=b.json\n{}\n"
	tests := []struct {
		file, want string
		found      bool
	}{
		{"a.md", "# A\n\n```\ncode\n```\n", true},
		{"b.json", "", false}, // never closed
		{"c.md", "", false},
	}
	for _, test := range tests {
		got, found := cutExample([]byte(page), test.file)
		if string(got) != test.want || found != test.found {
			t.Errorf("cutExample(page, %q) = %q, %t, want %q, %t", test.file, got, found, test.want, test.found)
		}
	}
}

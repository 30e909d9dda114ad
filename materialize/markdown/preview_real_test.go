package markdown

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPreviewsOfOutputs reads testdata/preview: each file has the preview that an output
// should get, then a line of "=", then the output.
func TestPreviewsOfOutputs(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/preview/*.txt")
	if err != nil || len(names) < 150 {
		t.Fatalf("testdata/preview: %d files, %v; want at least 150", len(names), err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want, output, found := strings.Cut(string(text), "\n====\n")
		if !found {
			t.Fatalf("%s: no line ====", name)
		}
		if diff := cmp.Diff(want, "preview: "+Preview([]byte(output), 500)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

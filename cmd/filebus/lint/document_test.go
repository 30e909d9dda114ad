package lint_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/lint"
)

// TestChannelsDocument checks a document that describes the channels as they
// should be used and quotes what is forbidden: it is without findings. The same
// text with its prohibitions taken away has all of them.
func TestChannelsDocument(t *testing.T) {
	t.Parallel()
	tests := []struct {
		file string
		want []string
	}{
		{"channels.md", []string{}},
		{"orders.md", []string{
			"CLAUDE.md:7 agent-output", "CLAUDE.md:11 polling", "CLAUDE.md:17 polling", "CLAUDE.md:26 agent-output",
			"CLAUDE.md:32 whole-journal", "CLAUDE.md:36 polling",
		}},
	}
	for _, test := range tests {
		text, err := os.ReadFile(filepath.Join("testdata", test.file))
		if err != nil {
			t.Fatal(err)
		}
		got := found(t, write(t, map[string]string{"CLAUDE.md": string(text)}), lint.Options{})
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: findings (-want +got):\n%s", test.file, diff)
		}
	}
}

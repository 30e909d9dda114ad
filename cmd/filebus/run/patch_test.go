package run

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/layout"
)

const twoFiles = `diff --git a/a.txt b/a.txt
index 1..2 100644
--- a/a.txt
+++ b/a.txt
@@ -1,2 +1,2 @@
-diff --git a/x b/x
+++ b
 c
diff --git a/b c b/b c
new file mode 100755
index 0..3
--- /dev/null
+++ b/b c
@@ -0,0 +1,3 @@
+1
+2
+3
`

// TestPatchLimit cuts a patch that is too large: its files stay named and counted.
func TestPatchLimit(t *testing.T) {
	t.Parallel()
	whole := []layout.SnapshotChange{{Path: "a.txt", Status: "changed", Added: 1, Removed: 1}, {Path: "b c", Status: "added", Added: 3}}
	cut := []layout.SnapshotChange{whole[0], whole[1]}
	cut[1].Cut = true
	tests := []struct {
		limit   int
		want    string
		changes []layout.SnapshotChange
	}{
		{1 << 20, twoFiles, whole},
		{len(twoFiles) - 1, strings.Replace(twoFiles, "@@ -0,0 +1,3 @@\n+1\n+2\n+3\n", "# left out: 3 lines added, 0 removed\n", 1), cut},
	}
	for _, test := range tests {
		p := &patch{limit: test.limit}
		if err := eachLine(strings.NewReader(twoFiles), p.write); err != nil {
			t.Fatal(err)
		}
		p.end()
		if diff := cmp.Diff(test.want, string(p.text)); diff != "" {
			t.Errorf("at most %d bytes (-want +got):\n%s", test.limit, diff)
		}
		if diff := cmp.Diff(test.changes, p.changes); diff != "" || p.total != 2 || p.added != 4 || p.removed != 1 {
			t.Errorf("at most %d bytes: %d files, %d and %d lines, changes (-want +got):\n%s", test.limit, p.total, p.added, p.removed, diff)
		}
	}
}

// TestPatchOfManyFiles stays within its limit however many files there are.
func TestPatchOfManyFiles(t *testing.T) {
	t.Parallel()
	p := &patch{limit: 10_000}
	for i := range 2000 {
		text := fmt.Sprintf("diff --git a/f%d b/f%d\nindex 1..2\n--- a/f%d\n+++ b/f%d\n@@ -1 +1 @@\n-a\n+%s\n", i, i, i, i, strings.Repeat("b", 200_000*(i%2)))
		if err := eachLine(strings.NewReader(text), p.write); err != nil {
			t.Fatal(err)
		}
	}
	p.end()
	if p.total != 2000 || p.added != 2000 || len(p.changes) != maxChanges || len(p.text) > 12_000 || p.unnamed == 0 {
		t.Errorf("%d files, %d lines added, %d named changes, %d bytes, %d unnamed", p.total, p.added, len(p.changes), len(p.text), p.unnamed)
	}
}

package layout

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // tests leave much garbage, and little of it at a time
	m.Run()
}

// TestSingleGolden reads every file of the tree testdata/single at its place
// and compares what was found, and what was reported, with the file of the same
// name and ".golden". A new golden file is written when GOLDEN is set; review it.
func TestSingleGolden(t *testing.T) {
	t.Parallel()
	root := filepath.Join("testdata", "single")
	kinds := make(map[record.Kind]int)
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(name, ".golden") {
			return err
		}
		path, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		t.Run(filepath.ToSlash(path), func(t *testing.T) {
			kinds[checkSingleGolden(t, filepath.ToSlash(path), name)]++
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range record.Kinds() {
		if !kind.IsEntry() && kind != record.KindFrame && kinds[kind] == 0 {
			t.Errorf("no file of testdata/single is a %s", kind)
		}
	}
}

func checkSingleGolden(t *testing.T, path, name string) record.Kind {
	text := readGolden(t, name)
	place := Recognize(path)
	file, problems := place.Parse(path, text)
	if got := file.Append(nil); !bytes.Equal(got, text) {
		t.Errorf("the parts of %s are not the file (-want +got):\n%s", path, cmp.Diff(string(text), string(got)))
	}
	got := dumpSingle(place, file.Entries()[0], problems)
	if os.Getenv("GOLDEN") != "" {
		if err := os.WriteFile(name+".golden", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(string(readGolden(t, name+".golden")), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
	return place.Kind
}

// dumpSingle shows what is known of a single-record file, one fact a line.
func dumpSingle(place Location, e *Entry, problems []*SyntaxError) string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s/%s\n", place.Kind, place.ID)
	f := e.Facts
	for _, p := range []Property{
		{"agent", f.Agent}, {"conversation", f.Conversation}, {"session", f.Session}, {"run", f.Run}, {"loop", f.Loop}, {"task", f.Task},
		{"status", f.Status}, {"tags", strings.Join(f.Tags, ", ")}, {"title", f.Title}, {"summary", f.Summary},
	} {
		if p.Value != "" {
			fmt.Fprintf(&out, "%s: %s\n", p.Key, p.Value)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(f.Attributes)) {
		fmt.Fprintf(&out, "attribute %s: %s\n", key, f.Attributes[key])
	}
	switch place.Kind {
	case record.KindTurn:
		for _, m := range ParseMarkers(e.Text) {
			fmt.Fprintf(&out, "line %d: %s %q %q exact %t, body %q\n", m.Line, m.Kind, m.ID, m.Label, m.Exact, m.Body)
		}
	case record.KindHandoff:
		j, _ := ParseJournal(e.Text)
		for _, p := range j.Progress {
			fmt.Fprintf(&out, "progress %q %q\n", p.Time, p.Text)
		}
		if j.Handoff != nil {
			out.Write(appendHandoffYAML(nil, *j.Handoff))
		}
	}
	for _, p := range problems {
		fmt.Fprintln(&out, "problem", p)
	}
	return out.String()
}

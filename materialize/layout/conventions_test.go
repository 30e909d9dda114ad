package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// conventionPages is the folder with a page for each convention.
var conventionPages = filepath.Join("..", "..", "docs", "layouts", "conventions")

// TestConventionPages reads the example of each page, and compares its records with the page's list.
func TestConventionPages(t *testing.T) {
	t.Parallel()
	pages, err := filepath.Glob(filepath.Join(conventionPages, "*.md"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("%s: %d pages, %v", conventionPages, len(pages), err)
	}
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(page), ".md")
		example := regexp.MustCompile("(?s)\n````\\w+ file=([^\n]+)\n(.*?\n)````\n").FindStringSubmatch(string(text))
		if lines := strings.Count(string(text), "\n"); example == nil || lines > 45 {
			t.Errorf("%s has %d lines, and must have an example and 45 at most", page, lines)
			continue
		}
		place := Recognize(example[1])
		if place.Declared != name {
			t.Errorf("%s: its example is of the convention %q", page, place.Declared)
		}
		file, problems := place.Layout.Parse(example[1], []byte(example[2]))
		for _, p := range problems {
			t.Errorf("%s: its example is reported: %v", page, p)
		}
		var got [][]string
		for _, e := range file.Entries() {
			id, title := e.ID, e.Facts.Title
			if id == "" { // a file that is one record is named by its path
				id = place.ID
			}
			if title == "" {
				title = firstHeading(e.Text)
			}
			got = append(got, []string{string(e.Kind) + "/" + id, e.Facts.Status, title})
		}
		if diff := cmp.Diff(got, recordList(string(text))); diff != "" {
			t.Errorf("%s: the example's records and its list (-example +list):\n%s", page, diff)
		}
	}
}

// recordList returns record, status and title of the lines "- `record` (status): title" of a page.
func recordList(page string) (rows [][]string) {
	for _, m := range regexp.MustCompile("(?m)^- `(\\w+/[^`]+)`(?: \\((\\w+)\\))?: (.+)$").FindAllStringSubmatch(page, -1) {
		rows = append(rows, m[1:])
	}
	return rows
}

// TestConventionsHavePages finds a declaration without a page.
func TestConventionsHavePages(t *testing.T) {
	t.Parallel()
	for _, c := range conventions {
		if _, err := os.Stat(filepath.Join(conventionPages, c.file+".md")); err != nil {
			t.Errorf("declared/%s.toml: %v", c.file, err)
		}
	}
}

package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// conventionPages is the folder with a page for each convention.
var conventionPages = filepath.Join("..", "..", "docs", "layouts", "conventions")

// TestConventionPages reads the example of each page, and compares its records with those that the page names.
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
		var got []string
		for _, e := range file.Entries() {
			id, status := e.ID, e.Facts.Status
			if id == "" { // a file that is one record is named by its path
				id = place.ID
			}
			if status != "" {
				status = " (" + status + ")"
			}
			got = append(got, "`"+string(e.Kind)+"/"+id+"`"+status)
		}
		if want := "\n\nRecords: " + strings.Join(got, ", ") + "\n\n"; !strings.Contains(string(text), want) {
			t.Errorf("%s does not say what its example holds:%s", page, want)
		}
	}
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

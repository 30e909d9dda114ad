package web

import (
	"io/fs"
	"regexp"
	"slices"
	"testing"
)

// TestPlaces holds that templates show values only where they are escaped: in text, and in attributes in double quotes that
// run no code; and that an address begins in the template, or with a function that makes one.
func TestPlaces(t *testing.T) {
	t.Parallel()
	wrong := regexp.MustCompile(`\s[\w-]+=\s*\{\{|='[^']*\{\{|<!--|<style|<script[^>]*>[^<]|<script[^>]*\{\{|\s(?:on\w+|hx-on\S*|hx-vals|style|srcdoc)=`)
	address := regexp.MustCompile(`(?:href|src|action|hx-get|hx-post)="\{\{\s*(\S+?)[\s}]`)
	names, _ := fs.Glob(files, "pages/*.html")
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		if found := wrong.Find(text); found != nil {
			t.Errorf("%s: %q is no place for a value", name, found)
		}
		for _, found := range address.FindAllSubmatch(text, -1) {
			if !slices.Contains([]string{"to", "offset", "path", "if", ".URL"}, string(found[1])) {
				t.Errorf("%s: %q may begin with anything", name, found[0])
			}
		}
	}
	if len(names) == 0 {
		t.Error("there are no templates")
	}
}

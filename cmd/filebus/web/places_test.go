package web

import (
	"io/fs"
	"regexp"
	"slices"
	"testing"
)

// TestPlaces holds what html/template does not look at: no script or style stands in a page, which its policy would stop; no value
// stands in an attribute that htmx runs; and an address begins in the template, or with a function that makes one, so that none
// leads to another host.
func TestPlaces(t *testing.T) {
	t.Parallel()
	wrong := regexp.MustCompile(`<style|<script[^>]*>[^<]|<script[^>]*\{\{|\s(?:on\w+|hx-on\S*|hx-vals|style|srcdoc)=`)
	address := regexp.MustCompile(`(?:href|src|action|hx-get|hx-post)="\{\{\s*(\S+?)[\s}]`)
	names, _ := fs.Glob(files, "pages/*.html")
	for _, name := range names {
		text, err := fs.ReadFile(files, name)
		if err != nil {
			t.Fatal(err)
		}
		if found := wrong.Find(text); found != nil {
			t.Errorf("%s: %q has no place in a page", name, found)
		}
		for _, found := range address.FindAllSubmatch(text, -1) {
			if !slices.Contains([]string{"to", "offset", ".Path", "if", ".URL"}, string(found[1])) {
				t.Errorf("%s: %q may begin with anything", name, found[0])
			}
		}
	}
	if len(names) == 0 {
		t.Error("there are no templates")
	}
}

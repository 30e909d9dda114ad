package main

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestDocumented compares the suites, the flags and the fields of JSON with
// docs/benchmarks.md.
func TestDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	document := string(text)
	for _, s := range suites() {
		if !strings.Contains(document, "`"+s.name+"`") {
			t.Errorf("docs/benchmarks.md does not name the suite %q", s.name)
		}
	}
	var usage bytes.Buffer
	help(&usage)
	flags := regexp.MustCompile(`(?m)^  -([a-z-]+)`).FindAllStringSubmatch(usage.String(), -1)
	if len(flags) < 10 {
		t.Fatalf("got %d flags in\n%s", len(flags), usage.String())
	}
	for _, match := range flags {
		if !regexp.MustCompile("`-" + match[1] + "[ `]").MatchString(document) {
			t.Errorf("docs/benchmarks.md lacks the flag -%s", match[1])
		}
	}
	for i := range reflect.TypeFor[row]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[row]().Field(i).Tag.Get("json"), ",")
		if !strings.Contains(document, "`"+name+"`") {
			t.Errorf("docs/benchmarks.md lacks the field %q of a row", name)
		}
	}
}

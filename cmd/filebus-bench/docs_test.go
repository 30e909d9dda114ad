package main

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// TestDocumented compares the fields of JSON with docs/benchmarks.md.
func TestDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "benchmarks.md"))
	if err != nil {
		t.Fatal(err)
	}
	document := string(text)
	for i := range reflect.TypeFor[row]().NumField() {
		name, _, _ := strings.Cut(reflect.TypeFor[row]().Field(i).Tag.Get("json"), ",")
		if !strings.Contains(document, "`"+name+"`") {
			t.Errorf("docs/benchmarks.md lacks the field %q of a row", name)
		}
	}
}

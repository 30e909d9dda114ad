package query_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"filebus/query"
	"filebus/store/record"
)

func TestNearIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 30 {
		b.put(fmt.Sprintf("note/%02d/readme.md", i), fmt.Sprint(i))
	}
	b.put("lib:note/readme.md", "the same id")
	_, err := b.Resolve(t.Context(), "note/readme.md", query.ResolveOptions{})
	var notFound *record.Error
	if !errors.As(err, &notFound) {
		t.Fatalf("Resolve: %v; want not found", err)
	}
	if len(notFound.Names) != 10 || notFound.Names[0] != "lib:note/readme.md" {
		t.Errorf("near: %v; want ten, the same id first", notFound.Names)
	}
}

func TestComplete(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("note/a.md", "1")
	b.put("note/b.md", "2")
	b.put("issue/ISSUE-1", "3")
	b.put("lib:note/a.md", "4")
	b.put("note/gone.md", "5")
	b.retire("note/gone.md")
	for _, c := range []struct {
		typed string
		limit int
		want  []string
	}{
		{"", 10, []string{"issue/ISSUE-1", "note/a.md", "note/b.md", "lib:note/a.md"}},
		{"note/", 10, []string{"note/a.md", "note/b.md"}},
		{"note/", 1, []string{"note/a.md"}},
		{"lib:", 10, []string{"lib:note/a.md"}},
		{"note/g", 10, nil},
	} {
		got, err := b.Complete(t.Context(), c.typed, c.limit)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("Complete(%q, %d) = %v, %v; want %v", c.typed, c.limit, got, err, c.want)
		}
	}
}

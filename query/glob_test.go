package query_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

func TestGlob(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, of := range []string{
		"result/c1/b", "result/c1/a", "result/c1/a.pdf", "result/c10/a", "result/c2/[x]", "note/c1/a", "note/a.md", "lib:result/c1/a",
		"result/c1/gone",
	} {
		b.put(of, of)
	}
	b.retire("result/c1/gone")
	tests := []struct {
		pattern string
		want    []string
	}{
		{"result/c1/*", []string{"result/c1/a", "result/c1/a.pdf", "result/c1/b"}},
		{"result/c1/?", []string{"result/c1/a", "result/c1/b"}},
		{"result/c1/a", []string{"result/c1/a"}},
		{"result/c1/[ab]", []string{"result/c1/a", "result/c1/b"}},
		{"result/c1*/a", []string{"result/c1/a", "result/c10/a"}},
		{`result/c2/\[x\]`, []string{"result/c2/[x]"}},
		{"lib:result/*/*", []string{"lib:result/c1/a"}},
		{"*/c1/a", []string{"note/c1/a", "result/c1/a", "lib:result/c1/a"}},
		{"*.md", nil},
		{"note/*", []string{"note/a.md"}},
		{"result/c1/z*", nil},
		{"zebra/*", nil},
		{"", nil},
	}
	for _, test := range tests {
		versions, err := b.Glob(t.Context(), test.pattern)
		if err != nil {
			t.Errorf("Glob(%q): %v", test.pattern, err)
		}
		var got []string
		for _, v := range versions {
			got = append(got, v.Record.Name.String())
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("Glob(%q) (-want +got):\n%s", test.pattern, diff)
		}
	}
	if _, err := b.Glob(t.Context(), "result/[c"); !errors.Is(err, record.Usage) {
		t.Errorf("Glob of a malformed pattern: %v, want %v", err, record.Usage)
	}
}

func TestResolveAll(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one, two := b.put("result/c1/k1", "one"), b.put("result/c1/k2", "two")
	b.put("note/gone", "gone")
	b.retire("note/gone")
	dropped := b.put("note/dropped", "dropped")
	b.drop(dropped.Ref)
	texts := []string{"result/c1/k2", one.Ref.Short(), "result/c1/k1", "nothing", "note/gone", dropped.Ref.String(), "thing/x", "result/c1/k2"}
	got, err := b.ResolveAll(t.Context(), texts, query.ResolveOptions{})
	if err != nil || len(got) != len(texts) {
		t.Fatalf("ResolveAll: %d answers for %d texts, %v", len(got), len(texts), err)
	}
	for i, want := range []record.Ref{two.Ref, one.Ref, one.Ref, {}, {}, {}, {}, two.Ref} {
		if got[i].Version.Ref != want || (got[i].Err == nil) == want.IsZero() {
			t.Errorf("ResolveAll, %q = %s, %v; want %s", texts[i], got[i].Version.Ref.Short(), got[i].Err, want.Short())
		}
	}
	for i, want := range map[int]error{3: store.ErrNotFound, 4: store.ErrNotFound, 5: store.ErrDropped, 6: store.ErrNotFound} {
		if !errors.Is(got[i].Err, want) {
			t.Errorf("ResolveAll, %q: %v, want %v", texts[i], got[i].Err, want)
		}
	}
	if last, _ := record.Detail[store.Version](got[4].Err); last.Record == nil {
		t.Errorf("ResolveAll of a hidden name: %v, want an error with its last version", got[4].Err)
	}
}

func TestEach(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 5 {
		b.put(fmt.Sprintf("result/c1/k%d", i), fmt.Sprint(i))
	}
	b.put("note/a", "a")
	var got []string
	err := b.Each(t.Context(), store.FieldKind, "result", func(_ *store.Tx, v store.Version) bool {
		got = append(got, v.Record.Name.ID)
		return len(got) == 3
	})
	if diff := cmp.Diff([]string{"c1/k4", "c1/k3", "c1/k2"}, got); diff != "" || err != nil {
		t.Errorf("Each, three of the results: %v (-want +got):\n%s", err, diff)
	}
	values, err := b.Values(t.Context(), store.FieldKind, "")
	if diff := cmp.Diff([]store.Value{{Text: "note", Count: 1, Newest: 6, Places: 6}, {Text: "result", Count: 5, Newest: 5, Places: 15}}, values); diff != "" || err != nil {
		t.Errorf("Values of kinds: %v (-want +got):\n%s", err, diff)
	}
}

func TestFirstOf(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.put("note/a", "one")
	second := b.put("note/a", "two")
	third := b.put("note/a", "three")
	firstOf := func(v store.Version) (found store.Version) {
		b.update(func(tx *store.Tx) (err error) {
			found, err = query.FirstOf(tx, v)
			return err
		})
		return found
	}
	if got := firstOf(third); got.Ref != first.Ref {
		t.Errorf("FirstOf(third) = %s, want %s", got.Ref.Short(), first.Ref.Short())
	}
	if got := firstOf(first); got.Ref != first.Ref {
		t.Errorf("FirstOf(first) = %s, want itself", got.Ref.Short())
	}
	b.drop(first.Ref)
	if got := firstOf(third); got.Ref != second.Ref {
		t.Errorf("FirstOf(third) after the first was dropped = %s, want %s", got.Ref.Short(), second.Ref.Short())
	}
}

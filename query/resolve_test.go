package query_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

func TestResolve(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	first := b.put("note/docs/a b.md", "one", at("docs/a b.md"))
	b.put("note/docs/a b.md", "two", at("docs/a b.md"))
	result := b.put("result/c1/call", "r", at(".claude/agent_tool_results/c1/call.md"))
	b.put("handoff/task-003", "old", at(".claude/journal/task-003.md"))
	b.put("handoff/task-003~2", "new", at(".claude/journal/task-003.md"))
	b.put("marker/task-003", "done", at(".claude/agent_complete/task-003.done"))
	b.put("handoff/task-004", "x")
	b.put("task/task-004", "x")
	b.put("marker/only", "done")
	b.put("issue/both", "i")
	b.put("knowledge/both", "k")
	b.put("lib:note/docs/a b.md", "lib", at("docs/a b.md"))
	b.put("lib:handoff/task-009", "lib")
	b.put("lib:knowledge/pattern-001", "lib")
	b.put("note/readme.md", "r", at("readme.md"))
	b.put("note/sub/readme.md", "r", at("sub/readme.md"))
	b.put("note/gone", "g")
	b.retire("note/gone")
	b.putFile("queue.md", "# Queue\n", "slot issue/ISSUE-1", "### ISSUE-1\n")

	root := filepath.FromSlash("/work space")
	in := query.ResolveOptions{Root: root, Dir: filepath.Join(root, "sub")}
	for _, c := range []struct {
		text string
		opts query.ResolveOptions
		want string // a name, or the ref's text
	}{
		{text: first.Ref.String(), want: first.Ref.String()},
		{text: result.Ref.Short(), want: "result/c1/call"},
		{text: strings.ToUpper(result.Ref.String()[:8]), want: "result/c1/call"},
		{text: "note/docs/a b.md", want: "note/docs/a b.md"},
		{text: "lib:note/docs/a b.md", want: "lib:note/docs/a b.md"},
		{text: "docs/a b.md", want: "note/docs/a b.md"},
		{text: "./docs/../docs/a b.md", want: "note/docs/a b.md"},
		{text: "lib:docs/a b.md", want: "lib:note/docs/a b.md"},
		{text: ".claude/agent_tool_results/c1/call.md", want: "result/c1/call"},
		{text: ".claude/journal/task-003.md", want: "handoff/task-003~2"},
		{text: "handoff/task-003", want: "handoff/task-003"},
		{text: "003", want: "handoff/task-003~2"},
		{text: "task-003", want: "handoff/task-003~2"},
		{text: "task-004", want: "handoff/task-004"},
		{text: "lib:009", want: "lib:handoff/task-009"},
		{text: "lib:pattern-001", want: "lib:knowledge/pattern-001"},
		{text: "only", want: "marker/only"},
		{text: "c1/call", want: "result/c1/call"},
		{text: "ISSUE-1", want: "issue/ISSUE-1"},
		{text: "queue.md", want: "frame/queue.md"},
		{text: "readme.md", want: "note/readme.md"},
		{text: "readme.md", opts: query.ResolveOptions{Root: root, Dir: root}, want: "note/readme.md"},
		{text: "../docs/a b.md", opts: in, want: "note/docs/a b.md"},
		{text: filepath.Join(root, "sub", "readme.md"), opts: in, want: "note/sub/readme.md"},
	} {
		v, err := b.Resolve(t.Context(), c.text, c.opts)
		if err != nil {
			t.Errorf("Resolve(%q, %+v): %v; want %s", c.text, c.opts, err, c.want)
			continue
		}
		if v.Record.Name.String() != c.want && v.Ref.String() != c.want {
			t.Errorf("Resolve(%q, %+v) = %s; want %s", c.text, c.opts, v.Record.Name, c.want)
		}
	}
}

func TestResolveNotFound(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("lib:note/guide.md", "x")
	b.put("handoff/task-007", "x")
	b.put("lib:handoff/task-012", "x")
	b.put("result/c1/deep.md", "x")
	gone := b.put("note/gone", "x")
	b.retire("note/gone")
	for _, c := range []struct {
		text string
		near []string
	}{
		{"note/guide.md", []string{"lib:note/guide.md"}},
		{"other:guide.md", []string{"lib:note/guide.md"}},
		{"somewhere/Guide", []string{"lib:note/guide.md"}},
		{"012", []string{"lib:handoff/task-012"}},
		{"note/task-007", []string{"handoff/task-007"}},
		{"deep", []string{"result/c1/deep.md"}},
		{"note/gone", nil},
		{"nothing like it", nil},
		{"", nil},
		{"0123456789abcdef", nil},
		{strings.Repeat("0", 64), nil},
		{"\x00", nil},
		{"../../etc", nil},
	} {
		_, err := b.Resolve(t.Context(), c.text, query.ResolveOptions{Root: "/w", Dir: "/w"})
		var notFound *record.Error
		if !errors.As(err, &notFound) || !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Resolve(%q): %v; want not found", c.text, err)
			continue
		}
		isGone := c.text == "note/gone"
		if last, _ := record.Detail[store.Version](err); isGone != (last.Ref == gone.Ref) ||
			isGone != errors.Is(err, query.ErrRetired) {
			t.Errorf("Resolve(%q): retired = %s", c.text, last.Ref.Short())
		}
		if diff := cmp.Diff(c.near, notFound.Names, cmpopts.EquateEmpty()); !isGone && diff != "" {
			t.Errorf("Resolve(%q): near (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestResolveAmbiguous(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put("issue/both", "i")
	b.put("knowledge/both", "k")
	_, err := b.Resolve(t.Context(), "both", query.ResolveOptions{})
	var ambiguous *record.Error
	if !errors.As(err, &ambiguous) || ambiguous.Reason != query.ErrSeveral {
		t.Fatalf("Resolve(both): %v; want ambiguous", err)
	}
	if want := []string{"issue/both", "knowledge/both"}; !cmp.Equal(ambiguous.Names, want) {
		t.Errorf("Resolve(both): candidates %v; want %v", ambiguous.Names, want)
	}
	if want := `"both" is ambiguous: it can be issue/both, knowledge/both`; err.Error() != want {
		t.Errorf("error %q; want %q", err, want)
	}
}

func TestResolveDropped(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.put("note/a", "x")
	b.drop(v.Ref)
	if _, err := b.Resolve(t.Context(), v.Ref.String(), query.ResolveOptions{}); !errors.Is(err, store.ErrDropped) {
		t.Errorf("Resolve of a dropped ref: %v; want dropped", err)
	}
}

func TestResolveShortRefs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 20 {
		ref := b.put(fmt.Sprintf("note/%d", i), fmt.Sprint(i)).Ref
		if v, err := b.Resolve(t.Context(), ref.String()[:8], query.ResolveOptions{}); err != nil || v.Ref != ref {
			t.Errorf("Resolve(%s) = %s, %v; want %s", ref.String()[:8], v.Ref, err, ref)
		}
		if _, err := b.Resolve(t.Context(), ref.String()[:7], query.ResolveOptions{}); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("Resolve of seven digits: %v; want not found", err)
		}
	}
}

package issue

import (
	"fmt"
	"testing"

	"filebus/cmd/filebus/noun"
	"filebus/materialize/layout"
)

// shares returns ids with the shares of words.
func shares(like []noun.Likeness) string {
	out := "nothing"
	for i, l := range like {
		if i == 0 {
			out = ""
		}
		out += fmt.Sprintf("%s (%.2f, files %t) ", l.ID, l.Shared, l.Files)
	}
	return out
}

func TestLikely(t *testing.T) {
	t.Parallel()
	old := layout.Issue{Summary: "The upload handler has no size limit", Type: "security", Files: []string{"src/upload/handler.go", "docs/"}}
	for _, c := range []struct {
		name  string
		draft layout.Issue
		want  bool
	}{
		{"the same", old, true},
		{"other words of the same stems", layout.Issue{Summary: "Upload handlers have no size limits", Type: "security"}, true},
		{"other type", layout.Issue{Summary: old.Summary, Type: "bug"}, false},
		{"another thing", layout.Issue{Summary: "Passwords are logged", Type: "security"}, false},
		{"another thing in the same file", layout.Issue{Summary: "Passwords are logged", Type: "security", Files: old.Files}, false},
		{"half of it", layout.Issue{Summary: "Limit the size of imports", Type: "security"}, false},
		{"half of it in the same file", layout.Issue{Summary: "Limit the size of imports", Type: "security", Files: []string{"./src/upload/handler.go:12"}}, true},
		{"half of it in a file that a pattern matches", layout.Issue{Summary: "Limit the size of imports", Type: "security", Files: []string{"src/*/handler.go"}}, true},
		{"half of it below a folder", layout.Issue{Summary: "Limit the size of imports", Type: "security", Files: []string{"docs/a/b.md"}}, true},
		{"half of it in a deep pattern", layout.Issue{Summary: "Limit the size of imports", Type: "security", Files: []string{"src/**/x.go"}}, true},
		{"most of it elsewhere", layout.Issue{Summary: "The download handler has no size limit", Type: "security", Files: []string{"src/download.go"}}, false},
		{"most of it anywhere", layout.Issue{Summary: "The download handler has no size limit", Type: "security"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newQueue(t)
			f.mustAdd(t, layout.Issue{Summary: "Something else altogether", Type: "security"})
			id := f.mustAdd(t, old).ID
			like, err := f.Likely(t.Context(), c.draft)
			if err != nil || (len(like) == 1 && like[0].ID == id) != c.want || !c.want && len(like) > 0 {
				t.Errorf("%+v is like %s, %v; want like %s: %t", c.draft, shares(like), err, id, c.want)
			}
			f.mustDo(t, "done", id, noun.Act{})
			if like, err = f.Likely(t.Context(), c.draft); err != nil || len(like) > 0 {
				t.Errorf("like a closed issue: %s, %v", shares(like), err)
			}
		})
	}
}

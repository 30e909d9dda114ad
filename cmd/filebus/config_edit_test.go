package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestChange changes settings in files as people write them: all else stays as it is.
func TestChange(t *testing.T) {
	for _, test := range []struct{ text, name, values, want string }{
		{"", "notes", "docs|re search", "notes = [\"docs\", \"re search\"]\n"},
		{"", "retention.sessions", "3", "\n[retention]\nsessions = 3\n"},
		{"# mine\n\nprofile = 'blue'   # as\tever #1\nnotes=[ \"a#b\" ] # c\n", "profile", "claude",
			"# mine\n\nprofile = \"claude\"   # as\tever #1\nnotes=[ \"a#b\" ] # c\n"},
		{"notes=[ \"a#b\" ,'c]' ]# c\r\npreview = 3\r\n", "notes", "x|y", "notes=[\"x\", \"y\"]# c\r\npreview = 3\r\n"},
		{"notes = [\n  \"a\",\n  'b',\n] # last\n\n[retention]\nsessions = 1\n", "notes", "é\"q", "notes = [\"é\\\"q\"] # last\n\n[retention]\nsessions = 1\n"},
		{"profile = \"blue\"\n\n# for sessions\n[retention] # x\n# none\n", "preview", "10",
			"profile = \"blue\"\npreview = 10\n\n# for sessions\n[retention] # x\n# none\n"},
		{"[retention]\nsessions = 2", "retention.session_age", "30d", "[retention]\nsessions = 2\nsession_age = \"30d\"\n"},
		{"[retention]\nsessions = 2\n", "private", "true", "private = true\n[retention]\nsessions = 2\n"},
		{"\ufeffprofile = \"blue\"\r\n", "private", "true", "\ufeffprofile = \"blue\"\r\nprivate = true\r\n"},
		{"\ufeff# c\n[retention]\nsessions = 2\n", "private", "true", "\ufeffprivate = true\n# c\n[retention]\nsessions = 2\n"},
		{"profile = \"blue\" # gone\n# stays\nprivate = true", "profile", "", "# stays\nprivate = true"},
		{"kinds.\"docs/a\" = \"knowledge\"\n[trees]\n", "kinds.docs/b", "knowledge",
			"kinds.\"docs/a\" = \"knowledge\"\nkinds.\"docs/b\" = \"knowledge\"\n[trees]\n"},
		{"kinds . c = \"knowledge\"\nkinds.b = \"knowledge\"\n", "kinds.b", "", "kinds . c = \"knowledge\"\n"},
		{"# mine\n[kinds] # x\nb = \"knowledge\" # y\n\"a/b\" = \"knowledge\"\n# c\n[trees]\n", "kinds", "", "# mine\n# c\n[trees]\n"},
		{"[retention]\nsessions = 3\nfoo = 1\n", "retention.foo", "", "[retention]\nsessions = 3\n"},
		{"[bar]\nx = 1\n[trees]\nauto = true\n", "bar", "", "[trees]\nauto = true\n"},
		{"", "trees", "x", "error: settings of its own"},
		{"a.b", "profile", "blue", "error: toml:"},
		{"notes = [\n  \"a\", # why\n]\n", "notes", "b", "error: by hand"},
		{"retention = { sessions = 3 }\n", "retention.sessions", "4", "error: by hand"},
		{"\"profile\" = \"blue\"\n", "profile", "", "error: by hand"},
		{"pdf_dir = '''\nprofile = \"blue\"\n'''\n", "profile", "claude", "error: by hand"},
		{"", "preview", "1\nprivate = true", "error: a whole number"},
		{"", "preview", "many", "error: a whole number"},
		{"", "private", "1", "error: true or false"},
		{"", "retention.session_age", "soon", "error: an age"},
		{"root = \".x\"\n", "profile", "blue", "error: exclude each other"},
		{"", "notes", "docs|../x", "error: is not a folder"},
		{"", "Retention.sesions", "1", "error: the nearest is retention.sessions,"},
		{"", "", "1", "error: there is no setting"},
	} {
		var values []string
		if test.values != "" {
			values = strings.Split(test.values, "|")
		}
		got, err := change(test.text, test.name, values)
		if want, isError := strings.CutPrefix(test.want, "error: "); isError {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %q: %q, %v; want an error with %q", test.name, test.text, got, err, want)
			}
		} else if diff := cmp.Diff(got, test.want); err != nil || diff != "" {
			t.Errorf("%s of %q: %v, (-got +want):\n%s", test.name, test.text, err, diff)
		}
	}
}

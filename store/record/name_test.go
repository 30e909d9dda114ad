package record_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"filebus/store/record"
)

func TestParseName(t *testing.T) {
	for _, test := range []struct {
		text string
		want record.Name
	}{
		{"note/a", record.Name{Kind: "note", ID: "a"}},
		{"note/docs/a b.md", record.Name{Kind: "note", ID: "docs/a b.md"}},
		{"note/a:b", record.Name{Kind: "note", ID: "a:b"}},
		{"note/.hidden/..b/c...", record.Name{Kind: "note", ID: ".hidden/..b/c..."}},
		{"note/\xff\n\t", record.Name{Kind: "note", ID: "\xff\n\t"}},
		{"handoff/task-003~2", record.Name{Kind: "handoff", ID: "task-003~2"}},
		{"lib:note/a", record.Name{Tree: "lib", Kind: "note", ID: "a"}},
		{"my lib 2:result/c/1", record.Name{Tree: "my lib 2", Kind: "result", ID: "c/1"}},
		{"note:note/note", record.Name{Tree: "note", Kind: "note", ID: "note"}},
		{"...:note/a", record.Name{Tree: "...", Kind: "note", ID: "a"}},
		{"note/" + strings.Repeat("x", record.MaxID), record.Name{Kind: "note", ID: strings.Repeat("x", record.MaxID)}},
	} {
		got, err := record.ParseName(test.text)
		if err != nil || got != test.want {
			t.Errorf("ParseName(%q) = %#v, %v; want %#v", test.text, got, err, test.want)
		}
		if got.String() != test.text {
			t.Errorf("ParseName(%q).String() = %q", test.text, got.String())
		}
	}
}

func TestParseNameRefuses(t *testing.T) {
	for _, text := range []string{
		"", "note", "/", "/a", "note/", "note//a", "note/a/", "note/a//b", "note/.", "note/..", "note/a/../b", "note/./a",
		"note//", "thing/a", "Note/a", ":note/a", "lib:", "lib:note", "lib:/a", "lib::note/a", "a:b:note/c", " :note/a",
		".:note/a", "..:note/a", " lib:note/a", "lib :note/a", "l\x00b:note/a", "l\nb:note/a", "l\\b:note/a",
		"note/a\x00b", "note/" + strings.Repeat("x", record.MaxID+1), strings.Repeat("t", 101) + ":note/a",
	} {
		if got, err := record.ParseName(text); err == nil {
			t.Errorf("ParseName(%q) = %#v, want an error", text, got)
		}
	}
}

func FuzzParseName(f *testing.F) {
	for _, text := range []string{"note/a", "lib:note/a b", "a:b/c", "note/..", "x:note/\xff", ":", "/"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n, err := record.ParseName(text)
		if err != nil {
			return
		}
		if n.String() != text {
			t.Errorf("ParseName(%q).String() = %q", text, n.String())
		}
		if again, err := record.NewName(n.Tree, n.Kind, n.ID); err != nil || again != n {
			t.Errorf("NewName of the parts of %q = %#v, %v; want %#v", text, again, err, n)
		}
	})
}

func TestCheckID(t *testing.T) {
	for _, test := range []struct {
		id, want string // want is part of the error; empty for an id that is good
	}{
		{"a", ""}, {"a/b/c", ""}, {"a b", ""}, {"...", ""}, {"..a", ""}, {"a.", ""}, {"~", ""}, {"\xff\xfe", ""}, {"a\nb", ""},
		{`a\b`, ""}, {"C:", ""}, {" ", ""}, {"ÅÄÖ/日本", ""}, {strings.Repeat("a/", 2047) + "ab", ""},
		{"", "empty"}, {"/", "begins with /"}, {"/a", "begins with /"}, {"a/", "empty segment"}, {"a//b", "empty segment"},
		{".", `"."`}, {"..", `".."`}, {"a/..", `".."`}, {"../a", `".."`}, {"a/./b", `"."`}, {"a\x00", "NUL"},
		{strings.Repeat("a", 4097), "4097 bytes"},
	} {
		err := record.CheckID(test.id)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("CheckID(%q) = %v, want an error with %q", test.id, err, test.want)
		}
	}
}

func TestParseTree(t *testing.T) {
	for _, text := range []string{"lib", "a b", "...", "-x", "ü", strings.Repeat("t", 100)} {
		if got, err := record.ParseTree(text); err != nil || string(got) != text {
			t.Errorf("ParseTree(%q) = %q, %v; want it as it is", text, got, err)
		}
	}
	for _, text := range []string{"", ".", "..", "a/b", "a:b", `a\b`, " a", "a\u00a0", "a\tb", "a\x7f", strings.Repeat("t", 101)} {
		if got, err := record.ParseTree(text); err == nil {
			t.Errorf("ParseTree(%q) = %q, want an error", text, got)
		}
	}
}

func TestNameJSON(t *testing.T) {
	want := map[record.Name]record.Name{{Kind: "note", ID: "a b"}: {Tree: "lib", Kind: "issue", ID: "x"}}
	data, err := json.Marshal(want)
	if err != nil || string(data) != `{"note/a b":"lib:issue/x"}` {
		t.Fatalf("Marshal = %s, %v", data, err)
	}
	var got map[record.Name]record.Name
	if err := json.Unmarshal(data, &got); err != nil || got[record.Name{Kind: "note", ID: "a b"}].Tree != "lib" {
		t.Errorf("Unmarshal(%s) = %v, %v; want %v", data, got, err, want)
	}
	if err := json.Unmarshal([]byte(`{"note":"note/a"}`), &got); err == nil {
		t.Error("Unmarshal accepted a key that is no name")
	}
	if zero := (record.Name{}); !zero.IsZero() || (record.Name{Kind: "note", ID: "a"}).IsZero() {
		t.Error("IsZero is true of the zero Name and no other")
	}
}

// TestKinds freezes the words of kinds and sources: they are stored.
func TestKinds(t *testing.T) {
	want := []record.Kind{"result", "handoff", "marker", "task", "issue", "knowledge", "state",
		"component", "snapshot", "turn", "dialogue", "artifact", "note", "frame"}
	if got := record.Kinds(); !slices.Equal(got, want) {
		t.Errorf("Kinds() = %v, want %v", got, want)
	}
	entries := []record.Kind{"task", "issue", "knowledge", "component"}
	for _, kind := range want {
		if got, err := record.ParseKind(string(kind)); err != nil || got != kind {
			t.Errorf("ParseKind(%q) = %q, %v", kind, got, err)
		}
		if got := kind.IsEntry(); got != slices.Contains(entries, kind) {
			t.Errorf("%s.IsEntry() = %v", kind, got)
		}
	}
	for _, text := range []string{"", "Note", "notes", " note"} {
		if got, err := record.ParseKind(text); err == nil || !strings.Contains(err.Error(), "knowledge") {
			t.Errorf("ParseKind(%q) = %q, %v; want an error that lists the kinds", text, got, err)
		}
	}
	for _, text := range []string{"put", "exec", "hook", "capture", "sync", "mcp", "combine", "pdf", "transcript", "import"} {
		if err := sourced(text).Validate(); err != nil {
			t.Errorf("a record of source %q: %v", text, err)
		}
	}
	for _, text := range []string{"", "Put", "copy"} {
		if err := sourced(text).Validate(); err == nil {
			t.Errorf("a record of source %q is valid, want an error", text)
		}
	}
}

// sourced returns a record that came from a source.
func sourced(text string) *record.Record {
	r := minimal()
	r.Source = record.Source(text)
	return r
}

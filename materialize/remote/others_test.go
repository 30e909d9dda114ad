package remote_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"filebus/materialize"
	"filebus/store"
	"filebus/store/record"
)

// secretMark stands in each file of the victim, and in nothing else.
const secretMark = "VICTIM ghp_" + "xJ4kQ9vR2mT7wZ1nB8cL5pH3sD6fG0yA1eUo"

// plant puts a record of any name, path and tags, as a modified program can.
func (m *machine) plant(name record.Name, path, text string, tags ...string) bool {
	body, err := m.Store.Prepare(context.Background(), []byte(text))
	if err == nil {
		r := record.Record{Name: name, Path: path, MediaType: "text/markdown", Source: record.SourcePut, Tags: record.NormalizeTags(tags)}
		_, err = m.Store.Put(context.Background(), store.Draft{Record: r, Body: body, Replaces: true})
	}
	return err == nil
}

// texts returns all that a store has.
func (m *machine) texts() (all []string) {
	m.view(func(tx *store.Tx) error {
		for e, err := range tx.Log(1) {
			if err != nil {
				return err
			}
			if v, err := tx.Get(e.Ref); err == nil {
				text, _ := textOf(tx, v.Record) // else it is destroyed
				all = append(all, v.Record.Name.String()+"\n"+text)
			}
		}
		return nil
	})
	return all
}

// A member names a thousand files that another has: none of them leaves, whatever happens to them, and none is
// written or changed.
func TestNamesOfOthers(t *testing.T) {
	t.Parallel()
	all := newMemory()
	a, b := newMachine(t, "a", all.Open(), 0), newMachine(t, "b", all.Open(), 0)
	trusts(a, b)
	b.Settings.NoteFolders = []string{"docs"}
	secrets := []string{
		"salaries.csv", "config/prod.yaml", "src/größe.txt", "README.md", "CLAUDE.md", ".claude/settings.json", ".claude/agents/x.md",
		"deep/er/a b.md", ".git/config", ".git/HEAD", "package.json", "Makefile", "note", "日本/語.md", "x.md", "linked/target.txt",
	}
	mine := map[string]string{}
	for i, p := range secrets {
		mine[p] = fmt.Sprintf("%s %d\n", secretMark, i)
		file := filepath.Join(b.Root, filepath.FromSlash(p))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(mine[p]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Symlink("linked/target.txt", filepath.Join(b.Root, "link.txt"))                // where there are links
	_ = os.Link(filepath.Join(b.Root, "salaries.csv"), filepath.Join(b.Root, "hard.csv")) // as there
	outside := filepath.Join(t.TempDir(), "outside.txt")
	if err := os.WriteFile(outside, []byte(secretMark), 0o666); err != nil {
		t.Fatal(err)
	}
	names := append([]string{
		"link.txt", "hard.csv", ".filebus/store.db", ".filebus/config.toml", "~/x.md", "~", "docs/planted.md", "docs/AGENTS.md", "docs/.claude/commands/x.md",
		".claude/journal/task-7.md", "~/.claude/journal/task-5.md", "file:" + outside, outside, strings.TrimPrefix(outside, "/"),
	}, secrets...)
	twins := []func(string) string{
		strings.ToUpper, strings.ToLower, norm.NFD.String, norm.NFC.String,
		func(p string) string { return "./" + p }, func(p string) string { return "docs/../" + p }, func(p string) string { return "../b/" + p },
		func(p string) string { return p + " " }, func(p string) string { return filepath.Join(b.Root, p) }, func(p string) string { return "~/" + p },
		func(p string) string { return "docs/" + p }, func(p string) string { return p },
	}
	random, planted := rand.New(rand.NewPCG(1, 2)), 0
	for i := range 1000 {
		path := names[random.IntN(len(names))]
		if i >= len(names) {
			path = twins[random.IntN(len(twins))](path)
		}
		id := path
		if random.IntN(4) == 0 {
			id = fmt.Sprint("other/", i)
		}
		if a.plant(note(id), path, fmt.Sprintf("planted %d\n", i), [][]string{nil, {"public"}, {"private"}, {"x"}}[random.IntN(4)]...) {
			planted++
		}
	}
	if planted < 300 {
		t.Fatalf("%d records were planted", planted)
	}
	look := func(when string) {
		t.Helper()
		if err := b.sync(context.Background()); err != nil {
			t.Fatal(err)
		}
		b.push()
		a.pull()
		for _, text := range a.texts() {
			if strings.Contains(text, "VICTIM") {
				t.Fatalf("%s: the other one has %.200q", when, text)
			}
		}
		for _, p := range all.Paths() {
			if bytes.Contains(all.Blob(p), []byte("VICTIM")) {
				t.Fatalf("%s: %s has a text of the victim", when, p)
			}
		}
		for p, want := range mine {
			if text, err := os.ReadFile(filepath.Join(b.Root, filepath.FromSlash(p))); string(text) != want || err != nil {
				t.Fatalf("%s: %s is %q, %v", when, p, text, err)
			}
		}
		err := filepath.WalkDir(b.Root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(p)
			rel, _ := filepath.Rel(b.Root, p) // it is below
			if bytes.HasPrefix(text, []byte("planted")) && !strings.HasPrefix(rel, "docs"+string(filepath.Separator)) && !strings.HasPrefix(rel, ".claude"+string(filepath.Separator)+"journal") {
				t.Errorf("%s: %s was written", when, rel)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	a.push()
	b.pull()
	look("after a pull")
	for p := range mine { // its user goes on working
		mine[p] += "and " + secretMark + "\n"
		if err := os.WriteFile(filepath.Join(b.Root, filepath.FromSlash(p)), []byte(mine[p]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	look("after edits")
	for _, p := range names {
		_, _ = b.Tag(context.Background(), note(p), []string{"seen"}, nil) // where there is such a name
	}
	look("after tags")
	for _, file := range []string{"docs/AGENTS.md", "docs/.claude/commands/x.md", "~"} {
		if _, err := os.Lstat(filepath.Join(b.Root, file)); err == nil {
			t.Errorf("%s was made", file)
		}
	}
}

// Tags that let something leave, or not, count where they were given.
func TestTagsOfOthers(t *testing.T) {
	t.Parallel()
	all := newMemory()
	a, b := newMachine(t, "a", all.Open(), 0), newMachine(t, "b", all.Open(), 0)
	trusts(a, b)
	b.Settings.NoteFolders, a.Settings.NoteFolders = []string{"docs"}, []string{"docs"}
	write := func(m *machine, file, text string) {
		t.Helper()
		name := filepath.Join(m.Root, "docs", file)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := m.sync(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"open.md", "closed.md", "both.md"} {
		write(a, file, "# "+file+"\n")
	}
	for id, tag := range map[string]string{"docs/open.md": "public", "docs/closed.md": "private"} {
		a.plant(note(id), id, "# of a "+id+"\n", tag)
	}
	a.push()
	b.pull()
	write(b, "open.md", "# Open\n\ntoken: "+secretMark+"\n")
	write(b, "both.md", "# Both\n\nof b\n")
	b.push()
	a.pull()
	for _, text := range a.texts() {
		if strings.Contains(text, "VICTIM") {
			t.Errorf("what another store calls public has left: %q", text)
		}
	}
	if got := a.head("docs/both.md"); got != "# Both\n\nof b\n" {
		t.Errorf("an edit of an honest member has not come: %q", got)
	}
	if _, err := b.Tag(context.Background(), note("docs/open.md"), []string{materialize.TagPublic}, nil); err != nil {
		t.Fatal(err)
	}
	b.push()
	a.pull()
	if got := a.head("docs/open.md"); !strings.Contains(got, "VICTIM") {
		t.Errorf("what its user calls public has not left: %q", got)
	}
}

// An entry that cannot be taken in stops the log behind it alone: what stands before it is there, what is counted is what
// has come, and the entry is named, each time.
func TestStuckLog(t *testing.T) {
	t.Parallel()
	m := newMet(t)
	m.a.put("before", "the text before")
	if !m.a.plant(record.Name{Kind: record.KindFrame, ID: ".claude/issue_queue.md"}, ".claude/issue_queue.md", "no frame") {
		t.Fatal("nothing was planted")
	}
	m.a.put("behind", "the text behind")
	m.a.push()
	m.b.put("of-b-too", "another text of b")
	m.b.push()
	for range 2 {
		out := m.c.pull()
		if len(out.Refused) != 1 || !errors.Is(out.Refused[0].Error, materialize.ErrStuck) || !strings.Contains(out.Refused[0].Reason, "entry 5 of the log of "+string(m.a.id())) {
			t.Fatalf("refused: %+v, waiting: %+v", out.Refused, out.Waiting)
		}
		n := 0
		m.c.view(func(tx *store.Tx) error { n = int(tx.Position()); return nil })
		if got := out.Records[store.FateHead]; got != 0 && got != n {
			t.Errorf("%d records are told, and the log has %d entries", got, n)
		}
		for id, want := range map[string]string{"one": "the text of one", "before": "the text before", "behind": "", "of-b-too": "another text of b"} {
			if got := m.c.head(id); got != want {
				t.Errorf("%s: %q, want %q", id, got, want)
			}
		}
	}
}

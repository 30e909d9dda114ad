package plan_test

import (
	"fmt"
	"testing"

	"filebus/materialize/layout"
	"filebus/materialize/plan"
	"filebus/store"
	"filebus/store/record"
)

// A counted layout counts the bytes that it reads, and those that it writes.
type counted struct {
	layout.Aggregate
	bytes *int
}

func (c counted) Parse(path string, text []byte) (layout.File, []*layout.SyntaxError) {
	*c.bytes += len(text)
	return c.Aggregate.Parse(path, text)
}

func (c counted) Insert(f layout.File, entries ...layout.Entry) layout.File {
	f = c.Aggregate.Insert(f, entries...)
	*c.bytes += len(f.Append(nil))
	return f
}

// entriesOf puts the entries of a text that has none of the file's yet, without the frame around them, and returns their names.
func (b *bench) entriesOf(text string) []record.Name {
	b.Helper()
	p, err := b.File(b.Context(), b.file(text), func(*store.Tx) (*plan.State, error) { return nil, nil })
	if err == nil {
		p.Puts = p.Puts[:len(p.Puts)-1]
		err = p.CarryOut(b.Context(), b.Store)
	}
	if err != nil {
		b.Fatal(err)
	}
	return p.Names[:len(p.Names)-1]
}

// mend gives entries slots, and returns how many bytes the layout has read and written.
func (b *bench) mend(entries []record.Name) (work int) {
	b.Helper()
	at := layout.Recognize(b.path)
	at.Layout = counted{at.Layout.(layout.Aggregate), &work}
	err := b.Store.Update(b.Context(), func(tx *store.Tx) error {
		files := plan.Files{{Kind: record.KindFrame, ID: b.path}: entries}
		_, err := b.Mend(b.Context(), tx, files, func(string) layout.Location { return at })
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return work
}

// TestMendOfMany gives slots to many entries of a file, whose frame is not there yet, as that of a large file which
// another store has told in pieces: the file is read once and written once, not once for each of them.
func TestMendOfMany(t *testing.T) {
	t.Parallel()
	for file, each := range map[string]string{
		graphFile:                "### pattern-%04d\n- Type: pattern\n- Content: what was learned\n\n",
		".claude/issue_queue.md": "### ISSUE-20260302-%04d\n- **Status**: pending\n- **Summary**: what is wrong\n\n",
		".claude/task_queue.md":  "### BUILD-%04d: Something\n**Status:** pending\n\n",
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			b, text := newBench(t, file), "# T\n\n"
			const n = 500
			for i := range n {
				text += fmt.Sprintf(each, i+1)
			}
			if work := b.mend(b.entriesOf(text)); work > 2*len(text) || len(b.now().Entries) != n {
				t.Errorf("the layout has read and written %d bytes for %d entries in %d bytes", work, len(b.now().Entries), len(text))
			}
		})
	}
}

// TestMendKeepsLines adds entries to the sections of a file: the blank lines around the others stay, and those of a file
// that ended without a newline do not run into what follows.
func TestMendKeepsLines(t *testing.T) {
	t.Parallel()
	entry := func(kind string, n int) string {
		return fmt.Sprintf("### %s-%d\n- Type: %s\n- Content: what was learned", kind, n, kind)
	}
	b := newBench(t, graphFile)
	b.save("# G\n\n## Patterns\n\n" + entry("pattern", 1) + "\n\n\n" + entry("pattern", 2) + "\n\n## Gotchas\n\n" + entry("gotcha", 1) + "\n")
	b.mend(b.entriesOf("# H\n\n" + entry("gotcha", 3) + "\n\n" + entry("gotcha", 4) + "\n\n" + entry("pattern", 5) + "\n\n" + entry("pattern", 4)))
	want := "# G\n\n## Patterns\n\n" + entry("pattern", 1) + "\n\n\n" + entry("pattern", 2) + "\n\n" + entry("pattern", 4) + "\n\n" +
		entry("pattern", 5) + "\n\n## Gotchas\n\n" + entry("gotcha", 1) + "\n\n" + entry("gotcha", 3) + "\n\n" + entry("gotcha", 4) + "\n"
	if got := b.text(); got != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
}

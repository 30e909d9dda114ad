package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/materialize/plan"
	"filebus/store/record"
)

// saveBy stores a text of the file as if it came from a source.
func (b *bench) saveBy(source record.Source, text string) uint64 {
	b.Helper()
	f := b.file(text)
	f.Source = source
	p, err := b.Over(b.Context(), f, b.now())
	if err != nil {
		b.Fatalf("storing %q: %v", text, err)
	}
	return p.Position
}

// TestBaseOf says of texts which state they were made from. Commands have stored all
// states, and the file was in step with the last.
func TestBaseOf(t *testing.T) {
	states := []string{
		graph("G", "1=a"), graph("G", "1=a", "2=b"), graph("G", "1=a", "2=b", "3=c"), graph("G", "1=a", "2=claimed", "3=c"),
		graph("G", "1=a", "2=claimed", "3=c", "4=d"), graph("G", "1=a", "2=claimed", "3=c", "4=d", "5=e"),
	}
	type want struct {
		State                            int
		Gone, Common                     int
		IsStale, IsExact, AreTooManyGone bool
	}
	for label, test := range map[string]struct {
		text string
		want want
	}{
		"as it is, and one more":        {graph("G", "1=a", "2=claimed", "3=c", "4=d", "5=e", "6=f"), want{5, 0, 5, false, false, false}},
		"one was removed":               {graph("G", "1=a", "2=claimed", "4=d", "5=e"), want{5, 1, 4, false, false, false}},
		"one was edited":                {graph("G", "1=a", "2=claimed", "3=changed", "4=d", "5=e"), want{5, 0, 5, false, false, false}},
		"an old buffer, and one more":   {graph("G", "1=a", "2=b", "3=c", "7=g"), want{2, 0, 3, true, false, false}},
		"an old buffer, one edited":     {graph("G", "1=changed", "2=b", "3=c"), want{2, 0, 3, true, false, false}},
		"an old buffer, unchanged":      {graph("G", "1=a", "2=b"), want{1, 0, 2, true, true, false}},
		"the last two alone":            {graph("G", "4=d", "5=e"), want{5, 3, 2, false, false, false}},
		"the last alone":                {graph("G", "5=e"), want{5, 4, 1, false, false, true}},
		"none":                          {"# G\n", want{5, 5, 0, false, false, true}},
		"nothing at all":                {"", want{5, 5, 0, false, false, true}},
		"others in place of all":        {graph("G", "8=x", "9=y"), want{5, 5, 0, false, false, true}},
		"another heading, all the same": {graph("H", "1=a", "2=claimed", "3=c", "4=d", "5=e"), want{5, 0, 5, false, false, false}},
	} {
		t.Run(label, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, graphFile)
			var positions []uint64
			for _, text := range states {
				positions = append(positions, b.saveBy(record.SourcePut, text))
			}
			base, err := b.BaseOf(b.Context(), b.file(test.text), b.now(), positions[len(positions)-1])
			if err != nil || base.State == nil {
				t.Fatalf("BaseOf: %+v, %v", base, err)
			}
			got := want{-1, base.Gone, base.Common, base.Stale, base.Exact, base.TooManyGone()}
			for i, text := range states {
				if string(base.Text(base.Frame)) == text {
					got.State = i
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("the base of %q (-want +got):\n%s", test.text, diff)
			}
		})
	}
}

// TestOnto makes a command's changes in the text of another branch, which has other
// entries: none of the store's come into it, and none of its own go.
func TestOnto(t *testing.T) {
	t.Parallel()
	b := newBench(t, graphFile)
	b.saveBy(record.SourcePut, graph("G", "1=a", "2=b", "3=c"))
	before := b.now()
	b.saveBy(record.SourcePut, graph("G", "1=a", "2=changed", "4=new"))
	branch := b.file(graph("Branch", "2=b", "3=c", "9=theirs"))
	text, err := b.Onto(b.Context(), branch, before, b.now())
	added := "\n## Patterns\n\n### pattern-4\n- Type: pattern\n- Content: new\n" // where the layout puts one
	if want := graph("Branch", "2=changed", "9=theirs") + added; err != nil || string(text) != want {
		t.Errorf("Onto = %q, %v; want %q", text, err, want)
	}
	missing, err := b.Missing(b.Context(), branch, b.now())
	if err != nil || len(missing) != 2 || missing[0].ID != "pattern-1" || missing[1].ID != "pattern-4" {
		t.Errorf("Missing = %v, %v; want the first and the fourth", missing, err)
	}
}

// TestChangedByCommand tells what a command has changed from what was captured.
func TestChangedByCommand(t *testing.T) {
	t.Parallel()
	b := newBench(t, graphFile)
	first := b.saveBy(record.SourcePut, graph("G", "1=a"))
	second := b.save(graph("G", "1=a", "2=b"))
	now := b.now()
	if !now.ChangedByCommand(0) || now.ChangedByCommand(first) || now.Changed() > second || now.Changed() <= first {
		t.Errorf("changed at %d; by command since 0: %t, since %d: %t", now.Changed(), now.ChangedByCommand(0), first,
			now.ChangedByCommand(first))
	}
	var nothing plan.Base
	if nothing.TooManyGone() {
		t.Error("of nothing too many entries are gone")
	}
}

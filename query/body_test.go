package query_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/query"
	"filebus/store"
)

const journal = "# Task: one\n\n## Notes\n\nfirst\n\n## Round 2\n\n### Notes\n\nsecond\n\n## Handoff\n\nOutcome: completed\n"

func (b *bench) body(v store.Version, request query.BodyRequest) (string, query.BodyResult, error) {
	var out bytes.Buffer
	result, err := b.WriteBody(b.Context(), &out, v, request)
	return out.String(), result, err
}

func TestWriteBody(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.put("handoff/t", journal)
	for _, c := range []struct {
		name    string
		request query.BodyRequest
		want    string
		lines   query.Span
	}{
		{"all", query.BodyRequest{}, journal, query.Span{From: 1, To: 15}},
		{"section", query.BodyRequest{Section: "handoff"}, "## Handoff\n\nOutcome: completed\n", query.Span{From: 13, To: 15}},
		{"path", query.BodyRequest{Section: "Round 2/Notes"}, "### Notes\n\nsecond\n\n", query.Span{From: 9, To: 12}},
		{"ordinal", query.BodyRequest{Section: "Notes#2"}, "### Notes\n\nsecond\n\n", query.Span{From: 9, To: 12}},
		{"lines", query.BodyRequest{Lines: query.Span{From: 3, To: 5}}, "## Notes\n\nfirst\n", query.Span{From: 3, To: 5}},
		{"from a line on", query.BodyRequest{Lines: query.Span{From: 14}}, "\nOutcome: completed\n", query.Span{From: 14, To: 15}},
		{"up to a line", query.BodyRequest{Lines: query.Span{To: 1}}, "# Task: one\n", query.Span{From: 1, To: 1}},
		{"behind the end", query.BodyRequest{Lines: query.Span{From: 15, To: 99}}, "Outcome: completed\n", query.Span{From: 15, To: 15}},
		{"lines of a section", query.BodyRequest{Section: "Handoff", Lines: query.Span{From: 3, To: 3}}, "Outcome: completed\n", query.Span{From: 15, To: 15}},
		{"enough tokens", query.BodyRequest{MaxTokens: 30}, journal, query.Span{From: 1, To: 15}},
	} {
		got, result, err := b.body(v, c.request)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
		if result.Lines != c.lines || result.Bytes != int64(len(c.want)) || result.Left != 0 {
			t.Errorf("%s: result %+v; want lines %v and %d bytes", c.name, result, c.lines, len(c.want))
		}
	}
}

func TestWriteBodyNotThere(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.put("handoff/t", journal)
	_, _, err := b.body(v, query.BodyRequest{Section: "Handofs"})
	if !errors.Is(err, query.ErrNoPart) || !errors.Is(err, store.ErrNotFound) ||
		!strings.Contains(err.Error(), "it has: Task") {
		t.Errorf("missing section: %v; want the headings there are", err)
	}
	for _, c := range []struct {
		request query.BodyRequest
		last    int
	}{
		{query.BodyRequest{Lines: query.Span{From: 16, To: 20}}, 15},
		{query.BodyRequest{Section: "Handoff", Lines: query.Span{From: 4, To: 5}}, 3},
	} {
		_, _, err = b.body(v, c.request)
		if !errors.Is(err, query.ErrNoPart) || !strings.HasSuffix(err.Error(), fmt.Sprintf("the last is %d", c.last)) {
			t.Errorf("%+v: %v; want a last line of %d", c.request, err, c.last)
		}
	}
	plain := b.put("note/plain", "no headings")
	if _, _, err = b.body(plain, query.BodyRequest{Section: "x"}); !errors.Is(err, query.ErrNoPart) ||
		!strings.HasSuffix(err.Error(), "no headings at all") {
		t.Errorf("section of a text without headings: %v", err)
	}
	endless := b.put("note/endless", strings.Repeat("# a\n", 130_000))
	_, _, err = b.body(endless, query.BodyRequest{Section: "x"})
	if !errors.Is(err, query.ErrNoPart) || !strings.HasSuffix(err.Error(), "30000 headings were not looked at: give --lines") {
		t.Errorf("section of a text of 130,000 headings: %v", err)
	}
	d, err := b.reader(query.Options{}).Show(t.Context(), endless)
	if err != nil || len(d.Outline) != 10_000 || d.More != 120_000 {
		t.Errorf("outline of a text of 130,000 headings: %d and %d more, %v", len(d.Outline), d.More, err)
	}
}

func TestWriteBodyMaxTokens(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	lines := strings.Repeat("A line of twenty-four b.\n", 100)
	for _, c := range []struct {
		name, text string
		request    query.BodyRequest
		want       string
	}{
		{"at a line end", lines, query.BodyRequest{MaxTokens: 50},
			strings.Repeat("A line of twenty-four b.\n", 3) + "[about 607 more tokens; go on with --lines 4-]\n"},
		{"from a line on", lines, query.BodyRequest{Lines: query.Span{From: 98}, MaxTokens: 1000}, strings.Repeat("A line of twenty-four b.\n", 3)},
		{"one long line", strings.Repeat("é", 500), query.BodyRequest{MaxTokens: 35}, strings.Repeat("é", 10) + "\n[line 1 is cut; about 245 more tokens; go on with --lines 1+20-]\n"},
		{"less than the notice", lines, query.BodyRequest{MaxTokens: 1}, "A line of twenty\n[line 1 is cut; about 621 more tokens; go on with --lines 1+16-]\n"},
	} {
		got, result, err := b.body(b.put("note/x", c.text), c.request)
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
		if limit := c.request.MaxTokens; limit > 30 && len(got) > 4*limit {
			t.Errorf("%s: %d bytes for %d tokens; result %+v", c.name, len(got), limit, result)
		}
	}
}

func TestWriteBodyLarge(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	binary := make([]byte, 3<<20)
	random := rand.NewChaCha8([32]byte{7})
	if _, err := random.Read(binary); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(binary), strings.Repeat("filler of a large body\n", 100000) + "## Last\n\nwords\n", "\ufeffa\r\nb", ""} {
		v := b.put("note/x", text)
		if got, result, err := b.body(v, query.BodyRequest{}); err != nil || got != text || result.Bytes != int64(len(text)) {
			t.Errorf("body of %d bytes: got %d, %v", len(text), len(got), err)
		}
		if got, _, err := b.body(v, query.BodyRequest{Section: "Last"}); strings.HasSuffix(text, "words\n") && (err != nil || got != "## Last\n\nwords\n") {
			t.Errorf("section of a large body: %q, %v", got, err)
		}
	}
}

func TestWriteBodyDamaged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.put("note/large", strings.Repeat("large body\n", 200000))
	paths, err := filepath.Glob(filepath.Join(b.store.Dir(), "bodies", "*", "*.zst"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("body files %v, %v", paths, err)
	}
	good, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	bad := bytes.Clone(good)
	bad[len(bad)/2] ^= 0xff
	if err := os.WriteFile(paths[0], bad, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := b.body(v, query.BodyRequest{}); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("damaged body: %v; want damaged", err)
	}
	if err := os.WriteFile(paths[0], good, 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestWriteBodyFrame(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.putFile("q.md", "# Queue\n", "slot issue/A", "### A\n", "slot issue/B", "### B\n", "end")
	old, err := b.Resolve(t.Context(), "q.md", query.ResolveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	b.put("issue/A", "### A changed\n", at("q.md"))
	if got, _, err := b.body(old, query.BodyRequest{}); err != nil || got != "# Queue\n### A changed\n### B\nend" {
		t.Errorf("file with a changed entry: %q, %v", got, err)
	}
	b.putFile("q.md", "# Queue 2\n", "slot issue/A", "### A\n")
	if got, _, err := b.body(old, query.BodyRequest{}); err != nil || got != "# Queue\n### A changed\n### B\nend" {
		t.Errorf("older version of the file: %q, %v", got, err)
	}
	now, err := b.Resolve(t.Context(), "q.md", query.ResolveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, _, err := b.body(now, query.BodyRequest{}); err != nil || got != "# Queue 2\n### A\n" {
		t.Errorf("newest version of the file: %q, %v", got, err)
	}
	b.retire("frame/q.md")
	if got, _, err := b.body(now, query.BodyRequest{}); err != nil || got != "# Queue 2\n### A\n" {
		t.Errorf("file that is gone: %q, %v", got, err)
	}
	for _, bad := range []string{"x", "filebus frame 1\ntext 99 a\n", "filebus frame 1\nslot 1 a\n", "filebus frame 1\ntext"} {
		v := b.put("frame/bad.md", bad, at("bad.md"))
		if _, _, err := b.body(v, query.BodyRequest{}); !errors.Is(err, store.ErrDamaged) {
			t.Errorf("frame %q: %v; want damaged", bad, err)
		}
	}
}

func TestReads(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if got, err := b.Reads(time.Time{}); err != nil || len(got) != 0 {
		t.Errorf("reads of a new store: %v, %v", got, err)
	}
	noon := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
	want := []query.Read{
		{Time: noon, Op: "get", What: "note/a", Agent: "scout", Tokens: 12},
		{Time: noon.Add(time.Hour), Op: "search", What: "two\nlines", Session: "s", Task: "t", Tokens: 3},
	}
	for _, read := range want {
		b.NoteRead(read)
	}
	path := filepath.Join(b.store.Dir(), "reads.log")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("damaged\n{}\n"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	b.NoteRead(query.Read{Op: "get", What: strings.Repeat("é", 5000)})
	got, err := b.Reads(noon)
	if diff := cmp.Diff(want, got[:min(2, len(got))]); diff != "" || err != nil {
		t.Errorf("reads: %v (-want +got):\n%s", err, diff)
	}
	if all, err := b.Reads(time.Time{}); err != nil || len(all) != 3 || len(all[2].What) != 1024 || all[2].Time.IsZero() {
		t.Errorf("all reads: %d, %v; want the long one cut", len(all), err)
	}
	if late, err := b.Reads(noon.Add(time.Minute)); err != nil || len(late) != 1 {
		t.Errorf("reads since: %d, %v; want 1", len(late), err)
	}
}

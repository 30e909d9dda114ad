package query_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"filebus/index"
	"filebus/query"
)

// TestSection reads the lines of hits, whole and cut, also after another version
// has followed.
func TestSection(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	text := "# Birds\n\nMany.\n\n## Heron\n\nThe heron stands.\r\nIt is grey é.\n\nEnd of it"
	b.put("note/a", text)
	h := b.search(query.SearchRequest{Request: index.Request{Query: "heron"}}).Hits[0]
	whole := "## Heron\n\nThe heron stands.\r\nIt is grey é.\n\nEnd of it"
	b.put("note/a", "# Other\n\nNothing of it.\n")
	for size := range len(whole) + 3 {
		got, err := b.Section(t.Context(), &h, size)
		if err != nil {
			t.Fatalf("Section(%d): %v", size, err)
		}
		limit := size
		if size == 0 {
			limit = len(whole)
		}
		part := string(got.Text)
		if len(part) > limit || !strings.HasPrefix(whole, part) || got.Left != int64(len(whole)-len(part)) || !utf8.ValidString(part) {
			t.Errorf("Section(%d) = %q, %d left; want a part of %q", size, part, got.Left, whole)
		}
		if last := h.Lines.From + strings.Count(strings.TrimSuffix(part, "\n"), "\n"); part != "" && got.Last != last {
			t.Errorf("Section(%d) = %q: last line %d; want %d", size, part, got.Last, last)
		}
	}
	if got, err := b.Section(t.Context(), &query.Hit{Ref: h.Ref}, 100); err != nil || len(got.Text) > 0 {
		t.Errorf("Section without lines = %q, %v; want none", got.Text, err)
	}
}

// TestClip cuts snippets of random words to all sizes: marks stay on their words.
func TestClip(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var s query.Snippet
		for i := range random.IntN(30) {
			word := []string{"heron", "süß", "鳥", "a", strings.Repeat("long", 9)}[random.IntN(5)]
			if i > 0 && random.IntN(4) > 0 {
				s.Text += " "
			}
			if random.IntN(4) == 0 {
				s.Marks = append(s.Marks, query.ByteRun{Start: len(s.Text), End: len(s.Text) + len(word)})
			}
			s.Text += word
		}
		words := marked(s)
		for size := range len(s.Text) + 2 {
			got := s.Clip(size)
			if len(got.Text) > size+2*len("…") || !utf8.ValidString(got.Text) || !strings.Contains(s.Text, strings.Trim(got.Text, "…")) {
				t.Fatalf("Clip(%q, %d) = %q", s.Text, size, got.Text)
			}
			for _, word := range marked(got) {
				if !slices.Contains(words, word) {
					t.Fatalf("Clip(%q, %d) = %q: it marks %q; want some of %q", s.Text, size, got.Text, word, words)
				}
			}
			if len(words) > 0 && size >= 4*40 && len(got.Marks) == 0 {
				t.Fatalf("Clip(%q, %d) = %q: no mark of %q", s.Text, size, got.Text, words)
			}
		}
	}
}

// TestHistoryPages pages through ranked and scanned hits with near-duplicates: each
// is found once.
func TestHistoryPages(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	same := strings.Repeat("The same long text about a heron and many other birds of the lake. ", 30)
	for i := range 5 {
		b.put(fmt.Sprintf("note/same%d", i), same+"\n")
		b.put(fmt.Sprintf("note/other%d", i), fmt.Sprintf("A heron was seen at place %d\n", i))
		b.put(fmt.Sprintf("note/other%d", i), fmt.Sprintf("A heron was seen at place %d again\n", i))
	}
	for _, limit := range []int{1, 2, 3, 7, 20} {
		seen := map[string]int{}
		for offset := 0; ; offset += limit {
			page := b.search(query.SearchRequest{Request: index.Request{Query: "heron", Limit: limit, Offset: offset}, History: true})
			for _, h := range page.Hits {
				seen[h.Ref.String()]++
			}
			if len(page.Hits) < limit {
				break
			}
		}
		for ref, n := range seen {
			if n != 1 {
				t.Errorf("pages of %d: %s is on %d", limit, ref, n)
			}
		}
		if len(seen) != 15 {
			t.Errorf("pages of %d: %d hits; want 15", limit, len(seen))
		}
	}
}

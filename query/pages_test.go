package query_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/index"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// TestStalePages makes sure that pages fit together while the index is behind the
// store: nothing comes twice, what is there comes once, and what has other words or
// fields by now does not come.
func TestStalePages(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	b := newBench(t)
	for i := range 60 {
		b.put(fmt.Sprintf("note/%02d", i), fmt.Sprintf("heron number%d stands here", i), tagged("open"))
	}
	b.search(query.SearchRequest{Request: index.Request{Query: "heron"}})
	want := []string{}
	for i := range 60 {
		of := fmt.Sprintf("note/%02d", i)
		switch i % 6 {
		case 0:
			b.retire(of)
			continue
		case 1:
			b.put(of, fmt.Sprintf("falcon number%d flies there", i), tagged("open"))
			continue
		case 2:
			b.put(of, fmt.Sprintf("heron number%d stands here", i), tagged("done"))
			continue
		case 3:
			b.put(of, fmt.Sprintf("another heron number%d stands there", i), tagged("open"))
		}
		want = append(want, of)
	}
	for i := range 12 {
		of := fmt.Sprintf("note/new%02d", i)
		b.put(of, fmt.Sprintf("heron newer%d", i), tagged("open"))
		want = append(want, of)
	}
	slices.Sort(want)
	hurried := b.reader(query.Options{MaxWait: 1})
	for _, text := range []string{"heron", "heron stands"} {
		for _, limit := range []int{1, 3, 7, 10, 100} {
			got := []string{}
			for offset := 0; offset < 80; offset += limit {
				answer, err := hurried.Search(t.Context(), query.SearchRequest{Request: index.Request{Query: text, Filter: record.Filter{Tags: []string{"open"}}, Duplicates: true, Limit: limit, Offset: offset}})
				if err != nil {
					t.Fatal(err)
				}
				if answer.Unindexed == 0 {
					t.Fatal("the index is not behind")
				}
				got = append(got, found(answer)...)
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%q, pages of %d (-want +got):\n%s", text, limit, diff)
			}
		}
	}
}

// TestPhraseInADuplicate makes sure that a near-duplicate with the phrase is found
// that stands far behind one without it.
func TestPhraseInADuplicate(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	filler := " beside some river under many clouds of grey weather at noon" + strings.Repeat(" again", 40)
	b.put("note/first", "lapwing walks with dunlin"+filler, tagged("dunlin", "lapwing"))
	b.putMany("", 900, func(i int) string { return fmt.Sprintf("lapwing%d, dunlin, lapwing, number%d", i, i) })
	b.put("note/last", "walks with dunlin lapwing"+filler, func(d *store.Draft) { d.Description.Title = "" })
	for _, limit := range []int{1, 10, 1000} {
		answer := b.search(query.SearchRequest{Request: index.Request{Query: "dunlin lapwing", Phrases: []string{"with dunlin lapwing"}, Limit: limit}})
		if diff := cmp.Diff([]string{"note/last"}, found(answer)); diff != "" || answer.Total != 1 {
			t.Errorf("pages of %d: %d hits (-want +got):\n%s", limit, answer.Total, diff)
		}
	}
}

// TestPagesBehindTheEnd makes sure that there is none so far away that it overflows.
func TestPagesBehindTheEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	b := newBench(t)
	b.put("note/a", "heron")
	b.put("note/a", "heron again")
	for _, offset := range []int{0, 1, math.MaxInt - 5, math.MaxInt} {
		for _, limit := range []int{1, 10, math.MaxInt} {
			for _, text := range []string{"", "heron", "heron again"} {
				request := query.SearchRequest{Request: index.Request{Query: text, Offset: offset, Limit: limit}, History: true}
				answer := b.search(request)
				for range everywhere(t, request, b, newBench(t)).Hits {
					if offset > 1 {
						t.Errorf("%q, offset %d, limit %d: a hit everywhere", text, offset, limit)
					}
				}
				if want := max(0, min(limit, 2-min(offset, 2))); len(answer.Hits) != want || answer.Total != 2 {
					t.Errorf("%q, offset %d, limit %d: %d of %d hits, want %d of 2", text, offset, limit, len(answer.Hits), answer.Total, want)
				}
			}
		}
	}
}

// TestSearchOfAnUnreadableIndex makes sure that who may read the store and not its
// index gets an answer.
func TestSearchOfAnUnreadableIndex(t *testing.T) {
	t.Parallel()
	if os.Getuid() <= 0 {
		t.Skip("files cannot be made unreadable for this user")
	}
	b := newBench(t)
	b.put("note/a", "heron")
	b.search(query.SearchRequest{Request: index.Request{Query: "heron"}})
	current := filepath.Join(b.store.Dir(), "index", "CURRENT")
	if err := os.Chmod(current, 0); err != nil {
		t.Fatal(err)
	}
	answer := b.search(query.SearchRequest{Request: index.Request{Query: "heron"}})
	if got := found(answer); !slices.Equal(got, []string{"note/a"}) || answer.Unindexed != 1 {
		t.Errorf("search for heron: %v, %d unindexed; want note/a, 1 unindexed", got, answer.Unindexed)
	}
}

// TestPagesOfWhatCountsNoMore makes sure that pages are pieces of one order, in which nothing that is superseded stands
// before what supersedes it, and what else counts no more stands behind all that were judged.
func TestPagesOfWhatCountsNoMore(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for i := range 45 {
		b.put(fmt.Sprintf("note/%02d", i), fmt.Sprintf("A heron stands in pool number%d, among many other words of the day", i))
	}
	b.put("knowledge/new", "heron heron, and a longer text that says little of it, but of many other things at length, such as tea, ships and sails")
	b.put("knowledge/old", "heron heron heron", linked("superseded-by", "knowledge/new"))
	b.put("knowledge/elsewhere", "egret")
	b.put("knowledge/lone", "heron heron heron heron", linked("superseded-by", "knowledge/elsewhere"))
	b.put("note/past", "heron heron heron heron heron", with(func(r *record.Record) { r.Status = "superseded" }))
	for _, text := range []string{"heron", `"heron heron"`, "heron kind:knowledge", "kind:knowledge", ""} {
		whole := found(b.typed(b.Reader, text, 100, 0))
		if newer, older := slices.Index(whole, "knowledge/new"), slices.Index(whole, "knowledge/old"); newer > older {
			t.Errorf("%q: what is superseded comes at %d, before %d", text, older, newer)
		}
		if at := slices.Index(whole, "note/past"); text == "heron" && at < 28 {
			t.Errorf("%q: what counts no more comes at %d", text, at)
		}
		for _, limit := range []int{1, 2, 7, 29, 30, 31} {
			var pages []string
			for offset := 0; offset < len(whole); offset += limit {
				page := found(b.typed(b.Reader, text, limit+1, offset)) // as who wants to know whether there are more
				pages = append(pages, page[:min(limit, len(page))]...)
			}
			if diff := cmp.Diff(whole, pages); diff != "" {
				t.Errorf("%q, pages of %d (-want +got):\n%s", text, limit, diff)
			}
		}
	}
}

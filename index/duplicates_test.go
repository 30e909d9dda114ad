package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"filebus/store/record"
)

// prose returns n distinct words, of which no two seeds share many.
func prose(n int, seed uint64) []string {
	generator := rand.New(rand.NewPCG(seed, 7))
	var words []string
	for i := range n {
		word := []byte("q") // no stop word begins with it, and no suffix ends it
		for j := i + 1; j > 0; j /= 20 {
			word = append(word, "bcdfghjklmnpqrtvwxzk"[j%20])
		}
		for range 6 {
			word = append(word, "bcdfghjklmnpqrtvwxz"[generator.IntN(19)])
		}
		words = append(words, string(word))
	}
	return words
}

// changed returns words of which the first n are others.
func changed(words []string, n int) []string {
	words = slices.Clone(words)
	for i := range n {
		words[i] += "qq"
	}
	return words
}

func TestNearDuplicates(t *testing.T) {
	t.Parallel()
	text := func(words []string) string { return "common " + strings.Join(words, " ") }
	long, short := prose(400, 1), prose(30, 2)
	for _, test := range []struct {
		name, a, b string
		alike      bool
	}{
		{"the same", text(long), text(long), true},
		{"in another order and case", text(long), strings.ToUpper(strings.Join(long[200:], "\n")+" "+strings.Join(long[:200], ", ")) + " Common", true},
		{"two words in 400", text(long), text(changed(long, 2)), true},
		{"a sentence added", text(long), text(long) + " and eight words more of some other kind", true},
		{"half of it", text(long), text(changed(long, 200)), false},
		{"a third of it", text(long), text(changed(long, 130)), false},
		{"other words", text(long), text(prose(400, 3)), false},
		{"twice as long with the same words", text(long), text(long) + " " + text(long), false},
		{"a form of 30 words, the same", text(short), text(short), true},
		{"a form of 30 words, one another", text(short), text(changed(short, 1)), false},
		{"a form of 30 words, one more", text(short), text(short) + " qmoreq", false},
		{"a form of 60 words, one another", text(prose(59, 4)), text(changed(prose(59, 4), 1)), false},
		{"eight words", text(short[:7]), text(short[:7]), true},
		{"three words", text(short[:2]), text(short[:2]), true},
		{"three words, one another", text(short[:2]), text(changed(short[:2], 1)), false},
		{"two words", text(short[:1]), text(short[:1]), false},
		{"one word", "common", "common", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			first, second := note("first", test.a), note("second", test.b)
			second.Title = "Another title"
			second.Time = first.Time.Add(-time.Hour)
			x := build(t, first, second)
			for _, query := range []string{"common", ""} {
				result := find(t, x, Request{Query: query})
				var got []string
				for _, hit := range result.Hits {
					ids := []string{hit.Name.ID}
					for _, like := range hit.Like {
						ids = append(ids, like.ID)
					}
					slices.Sort(ids)
					got = append(got, strings.Join(ids, "+"))
				}
				slices.Sort(got)
				want := "first second"
				if test.alike {
					want = "first+second"
				}
				if strings.Join(got, " ") != want || result.Total != 2 {
					t.Errorf("hits for %q: %q of %d, want %q of 2", query, got, result.Total, want)
				}
				all := find(t, x, Request{Query: query, Duplicates: true})
				if len(all.Hits) != 2 || all.Hits[0].Like != nil || all.Hits[1].Like != nil || all.Total != 2 {
					t.Errorf("hits for %q with duplicates: %+v, want both alone", query, all)
				}
			}
		})
	}
}

// What has no body has nothing that could be alike.
func TestNoBodyNoDuplicate(t *testing.T) {
	t.Parallel()
	var documents []*Document
	for i := range 5 {
		d := note(fmt.Sprint("n", i), "")
		d.Title = "common title of many words that are all the same in every one of them here"
		d.Time = d.Time.Add(-time.Duration(i) * time.Hour)
		documents = append(documents, d)
	}
	if got := names(find(t, build(t, documents...), Request{Query: "common"})); got != "n0 n1 n2 n3 n4" {
		t.Errorf("hits are %q, want all", got)
	}
}

// duplicated returns documents of which many are near-duplicates of others, in
// groups of any size, with equal scores and times among them.
func duplicated(generator *rand.Rand, n int) []*Document {
	var documents []*Document
	var groups [][]string
	for i := range n {
		if len(groups) == 0 || generator.IntN(3) == 0 {
			groups = append(groups, prose(20+generator.IntN(150), generator.Uint64()))
		}
		words := groups[generator.IntN(len(groups))]
		if len(words) > 70 {
			words = changed(words, generator.IntN(3))
		}
		d := note(fmt.Sprintf("n%03d", generator.IntN(1e6)*1000+i), strings.Repeat("common ", 1+generator.IntN(2))+strings.Join(words, " "))
		d.Time = d.Time.Add(time.Duration(generator.IntN(4)) * time.Hour)
		documents = append(documents, d)
	}
	return documents
}

// Pages must fit together: page after page gives the hits that one large page
// has, none twice and none left out, and what is no hit is alike one before it.
func TestPagingOfDuplicates(t *testing.T) {
	t.Parallel()
	for seed := range uint64(6) {
		generator := rand.New(rand.NewPCG(seed, 11))
		documents := duplicated(generator, 20+generator.IntN(180))
		x := build(t, documents...)
		for _, request := range []Request{{Query: "common"}, {}, {Query: "common", HalfLife: time.Hour}} {
			request.Limit = len(documents)
			whole := find(t, x, request)
			seen := make(map[record.Name]bool)
			for _, hit := range whole.Hits {
				for _, name := range append(hit.Like, hit.Name) {
					if seen[name] {
						t.Fatalf("seed %d: %s is there twice", seed, name)
					}
					seen[name] = true
				}
			}
			if len(seen) != len(documents) || whole.Total != uint64(len(documents)) || len(whole.Hits) == len(documents) {
				t.Fatalf("seed %d: %d hits name %d of %d documents, total %d", seed, len(whole.Hits), len(seen), len(documents), whole.Total)
			}
			for _, size := range []int{1, 2, 3, 10, 1 + generator.IntN(50)} {
				checkPages(t, x, request, size, whole)
			}
		}
	}
}

// checkPages reads the pages of a size and compares them with one that has all.
func checkPages(t *testing.T, x *Index, request Request, size int, whole Result) {
	t.Helper()
	var got, want []record.Name
	for request.Limit, request.Offset = size, 0; ; request.Offset += size {
		page := find(t, x, request)
		if page.Total != whole.Total {
			t.Errorf("total %d at offset %d, want %d", page.Total, request.Offset, whole.Total)
		}
		if len(page.Hits) == 0 {
			break
		}
		for i, hit := range page.Hits {
			got = append(got, hit.Name)
			// A page names the near-duplicates that it came across.
			like := whole.Hits[request.Offset+i].Like
			if len(hit.Like) > len(like) || !slices.Equal(hit.Like, like[:len(hit.Like)]) {
				t.Errorf("%s: near-duplicates %v, want the first of %v", hit.Name, hit.Like, like)
			}
		}
	}
	for _, hit := range whole.Hits {
		want = append(want, hit.Name)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("pages of %d of %+v: -want +got\n%s", size, request, diff)
	}
}

// Whatever stands behind a hit is not the fault of how the index came to be.
func TestExactDuplicates(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	documents := duplicated(rand.New(rand.NewPCG(1, 12)), 120)
	var want Result
	for i, h := range []history{{"one batch", batched(1000)}, {"batches of 10", batched(10)}, {"single documents", batched(1)}} {
		dir := t.TempDir()
		h.apply(t, dir, documents)
		got := find(t, open(t, dir), Request{Query: "common", Limit: 30})
		if i == 0 {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%.2000s", h.name, diff)
		}
	}
}

// collapse finds by bands what comparing all with all finds.
func TestBands(t *testing.T) {
	t.Parallel()
	generator := rand.New(rand.NewPCG(5, 6))
	var prints []fingerprint
	for range 300 {
		var f fingerprint
		if len(prints) == 0 || generator.IntN(4) == 0 {
			for i := range f {
				f[i] = byte(generator.Uint32())
			}
		} else {
			f = prints[generator.IntN(len(prints))]
			for range generator.IntN(6) {
				f[generator.IntN(len(f))] ^= byte(1 << generator.IntN(8))
			}
		}
		prints = append(prints, f)
	}
	pairs := 0
	for _, a := range prints {
		for _, b := range prints {
			agree, band := 0, false
			for i := range bins {
				if a[i/2]>>(4*(i%2))&15 == b[i/2]>>(4*(i%2))&15 {
					agree++
				}
			}
			theirs := b.bands()
			for i, x := range a.bands() {
				band = band || x == theirs[i]
			}
			if got, want := a.like(&b), agree >= 29; got != want || want && !band {
				t.Fatalf("%x and %x agree in %d bins: alike %v, in a band %v", a, b, agree, got, band)
			}
			if agree >= 29 {
				pairs++
			}
		}
	}
	if pairs <= 300 || pairs == 300*300 {
		t.Errorf("%d pairs are alike: the test is empty", pairs)
	}
}

// A change of what facts hold must come with a new factsVersion; this is what
// version 5 gives.
func TestFactsVersion(t *testing.T) {
	t.Parallel()
	a := NewAnalyzer()
	var got []string
	for _, text := range []string{
		"seven words are not yet quite enough here", strings.Join(prose(20, 1), " "), strings.Join(prose(100, 1), " "),
	} {
		d := note("n", text)
		d.Position = 77
		e := a.entry(d)
		got = append(got, fmt.Sprintf("%d: %s", factsVersion, e.facts.encode()))
	}
	want := []string{
		"5: 25 tcu5cit 0 0 0 0 1 5#oqWPvB2fr2QaFzrFtHS2dQ",
		"5: 25 tcu5cit 0 0 0 0 1 k#jCbKyFzNQUZ8qy_wvnuZhQ",
		"5: 25 tcu5cit 0 0 0 0 1 2s#u1_w1wIuoFXSivQeucLPNA",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts: -want +got\n%s", diff)
	}
}

// TestCollapser puts together what a search has not: the same hits come out.
func TestCollapser(t *testing.T) {
	t.Parallel()
	words := prose(400, 1)
	x := build(t, note("a", "common "+strings.Join(words, " ")),
		note("b", "common "+strings.Join(changed(words, 2), " ")),
		note("c", "common "+strings.Join(prose(400, 3), " ")))
	var c Collapser
	for _, hit := range find(t, x, Request{Query: "common", Duplicates: true}).Hits {
		c.Add(hit)
	}
	want := find(t, x, Request{Query: "common"})
	if got := (Result{Hits: c.Hits}); names(got) != names(want) || len(got.Hits) != 2 {
		t.Fatalf("got %q, want %q", names(got), names(want))
	}
	for i, hit := range c.Hits {
		if diff := cmp.Diff(want.Hits[i].Like, hit.Like); diff != "" {
			t.Errorf("behind %s (-want +got):\n%s", hit.Name, diff)
		}
	}
}

package index

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	api "github.com/blevesearch/bleve_index_api"
	zap "github.com/blevesearch/zapx/v17"

	"filebus/store/record"
)

// Segments of texts that nobody would write are those that the engine would write.
func TestSegmentOfHostileTexts(t *testing.T) {
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	t.Parallel()
	for name, documents := range hostile() {
		analyzers := []*Analyzer{NewAnalyzer(), NewAnalyzer(), NewAnalyzer()}
		var entries []*entry
		var plains []api.Document
		for i, d := range documents {
			e := analyzers[i%3].entry(d)
			entries, plains = append(entries, e), append(plains, plain(e))
		}
		theirs, _, err := new(zap.ZapPlugin).New(plains)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := new(segmentWriter).write(entries)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		compareSegments(t, name, ours, theirs.(*zap.SegmentBase))
	}
}

// hostile returns documents by what is odd about them.
func hostile() map[string][]*Document {
	random := rand.New(rand.NewPCG(5, 8))
	distinct := strings.Builder{}
	for i := range 60_000 {
		fmt.Fprintf(&distinct, "w%xq ", i*2654435761)
	}
	all := map[string][]*Document{
		"one huge word":     {note("a", strings.Repeat("x", 1<<20))},
		"one word for 1 MB": {note("a", strings.Repeat("word ", 1<<18)), note("b", "word")},
		"distinct words":    {note("a", distinct.String()), note("b", distinct.String())},
		"empty":             {note("a", ""), note("b", ""), note("c", "x")},
		"long terms":        {note("a", strings.Repeat(strings.Repeat("y", 63)+"é ", 40)+strings.Repeat("é", 200))},
	}
	noise := func(n int) string {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte(random.IntN(256))
			if random.IntN(3) > 0 {
				text[i] = "ab 1._-/\n#é✅\xff\x00C+"[random.IntN(17)]
			}
		}
		return string(text)
	}
	for round := range 16 {
		var documents []*Document
		for i := range 1 + random.IntN(60) {
			d := note(fmt.Sprintf("%d-%s", i, strings.Repeat("i", random.IntN(90))), noise(random.IntN(3000)))
			d.Position, d.Title, d.Preview = uint64(i+1), noise(random.IntN(80)), noise(random.IntN(80))
			d.Agent, d.Session = noise(random.IntN(20)), noise(random.IntN(2000))
			d.Tags = record.NormalizeTags(strings.Fields(noise(random.IntN(60))))
			documents = append(documents, d)
		}
		all[fmt.Sprint("noise ", round)] = documents
	}
	return all
}

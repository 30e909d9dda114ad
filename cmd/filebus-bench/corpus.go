package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// A text is a file to be.
type text struct {
	path string // slash-separated
	body []byte
}

// A corpus is a folder of texts to work on.
type corpus struct {
	dir   string
	files []string // relative to dir
	bytes int64
}

// corpusOf writes the texts that next makes to a new folder for as long as more says so.
func (a *attempt) corpusOf(next func() text, more func(c *corpus) bool) *corpus {
	c := &corpus{dir: a.folder("texts")}
	for a.err == nil && more(c) {
		t := next()
		c.files = append(c.files, filepath.FromSlash(t.path))
		c.bytes += int64(len(t.body))
		a.write(filepath.Join(c.dir, filepath.FromSlash(t.path)), t.body)
	}
	return c
}

// upTo wants so many texts.
func upTo(n int) func(c *corpus) bool { return func(c *corpus) bool { return len(c.files) < n } }

// texts returns the corpus that most suites share. It must not be changed.
func (a *attempt) texts() *corpus {
	if a.made == nil {
		c := a.corpusOf(newGenerator(a.seed).next, upTo(a.docs))
		if a.err != nil {
			return c
		}
		fmt.Fprintf(a.progress, "  %d texts, %.1f MB, mean %.1f KB\n", len(c.files), c.megabytes(), c.meanKB())
		a.made = c
	}
	return a.made
}

// writeFile writes a file and the folders above it.
func writeFile(path string, body []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(path, body, 0o666)
}

// megabytes returns the size of all texts in units of 1,000,000 bytes.
func (c *corpus) megabytes() float64 { return float64(c.bytes) / 1e6 }

// meanKB returns the size of a text in units of 1,000 bytes.
func (c *corpus) meanKB() float64 { return float64(c.bytes) / 1e3 / float64(len(c.files)) }

// share returns a size as a share of that of all texts.
func (c *corpus) share(bytes int64) sample { return sample{float64(bytes) / float64(c.bytes)} }

var plainWord = regexp.MustCompile(`\b[a-z]{4,20}\b`)

// queries returns n searches of one to three words that stand near each other in
// some text, so that frequent words are as frequent in them as in the texts.
func (a *attempt) queries(c *corpus, n int) [][]string {
	queries, random := [][]string{}, rand.New(rand.NewPCG(a.seed, 1))
	for tries := 0; a.err == nil && len(queries) < n; tries++ {
		if tries > 100*n {
			a.check(fmt.Errorf("the texts in %s hold too few words for queries", c.dir))
			break
		}
		body, err := os.ReadFile(filepath.Join(c.dir, pick(random, c.files)))
		a.check(err)
		words := plainWord.FindAllString(string(body), -1)
		length := 1 + random.IntN(3)
		if len(words) <= length {
			continue
		}
		start := random.IntN(len(words) - length)
		queries = append(queries, slices.Compact(slices.Sorted(slices.Values(words[start:start+length]))))
	}
	return queries
}

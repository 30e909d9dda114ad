package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
)

// A corpus is a folder of texts to work on.
type corpus struct {
	dir   string
	files []string // relative to dir
	bytes int64
}

// texts returns a corpus of n files: made ones, or of the folder that the
// options name, from which at most n are copied. It is made once and must not be
// changed.
func (b *bench) texts(n int) (*corpus, error) {
	if c := b.corpora[n]; c != nil {
		return c, nil
	}
	dir, err := b.folder("texts")
	if err != nil {
		return nil, err
	}
	c := &corpus{dir: dir}
	if b.corpus != "" {
		err = c.copyFrom(b.corpus, n)
	} else {
		err = c.make(newGenerator(b.seed).next, n)
	}
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(b.progress, "  %d texts, %.1f MB, mean %.1f KB\n", len(c.files), c.megabytes(), c.megabytes()*1e3/float64(len(c.files)))
	b.corpora[n] = c
	return c, nil
}

// make adds n texts that next makes.
func (c *corpus) make(next func() text, n int) error {
	for range n {
		t := next()
		if err := c.add(filepath.FromSlash(t.path), t.body); err != nil {
			return err
		}
	}
	return nil
}

// copyFrom adds the first n regular files below a folder, in the order of their
// names. What git keeps there is left out.
func (c *corpus) copyFrom(dir string, n int) error {
	return c.copyWhile(dir, func() bool { return len(c.files) < n })
}

// copyWhile is copyFrom as long as more are wanted. None at all is an error.
func (c *corpus) copyWhile(dir string, more func() bool) error {
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() && entry.Name() == ".git" {
			return filepath.SkipDir
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		if !more() {
			return filepath.SkipAll
		}
		body, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		relative, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		return c.add(relative, body)
	})
	if err == nil && len(c.files) == 0 {
		err = fmt.Errorf("%s holds no files", dir)
	}
	return err
}

func (c *corpus) add(file string, body []byte) error {
	c.files = append(c.files, file)
	c.bytes += int64(len(body))
	return writeFile(filepath.Join(c.dir, file), body)
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

var plainWord = regexp.MustCompile(`\b[a-z]{4,20}\b`)

// queries returns n searches of one to three words that stand near each other in
// some text, so that frequent words are as frequent in them as in the texts.
func (c *corpus) queries(n int, seed uint64) ([][]string, error) {
	random := rand.New(rand.NewPCG(seed, 1))
	var queries [][]string
	for tries := 0; len(queries) < n; tries++ {
		if tries > 100*n {
			return nil, fmt.Errorf("the texts in %s hold too few words for queries", c.dir)
		}
		body, err := os.ReadFile(filepath.Join(c.dir, pick(random, c.files)))
		if err != nil {
			return nil, err
		}
		words := plainWord.FindAllString(string(body), -1)
		length := 1 + random.IntN(3)
		if len(words) <= length {
			continue
		}
		start := random.IntN(len(words) - length)
		query := slices.Compact(slices.Sorted(slices.Values(words[start : start+length])))
		queries = append(queries, query)
	}
	return queries, nil
}

// folderSize returns the bytes that the files below a folder take on disk.
func folderSize(dir string) (size int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		size += diskSize(info)
		return nil
	})
	return size, err
}

// bodies returns a source of bodies that all differ: made ones, or those of the
// folder that the options name. When all of these have been had they come again,
// each time with another last line.
func (b *bench) bodies() (next func() ([]byte, error), err error) {
	if b.corpus == "" {
		g := newGenerator(b.seed)
		return func() ([]byte, error) { return g.next().body, nil }, nil
	}
	texts, err := b.texts(b.docs)
	if err != nil {
		return nil, err
	}
	count := 0
	return func() ([]byte, error) {
		body, err := os.ReadFile(filepath.Join(texts.dir, texts.files[count%len(texts.files)]))
		if round := count / len(texts.files); round > 0 {
			body = fmt.Appendf(body, "\n%d\n", round)
		}
		count++
		return body, err
	}, nil
}

package main

import (
	"bytes"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// sampleTexts returns n texts of a seed.
func sampleTexts(seed uint64, n int) []text {
	g := newGenerator(seed)
	texts := make([]text, n)
	for i := range texts {
		texts[i] = g.next()
	}
	return texts
}

func TestGeneratorIsDeterministic(t *testing.T) {
	t.Parallel()
	first, again, other := sampleTexts(7, 5), sampleTexts(7, 5), sampleTexts(8, 5)
	for i := range first {
		if first[i].path != again[i].path || !bytes.Equal(first[i].body, again[i].body) {
			t.Errorf("text %d of seed 7: got two different ones: %s and %s", i, first[i].path, again[i].path)
		}
		if bytes.Equal(first[i].body, other[i].body) {
			t.Errorf("text %d: got the same for seeds 7 and 8, want different ones", i)
		}
	}
}

func TestGeneratorSizes(t *testing.T) {
	t.Parallel()
	total := 0
	texts := sampleTexts(1, 2000)
	for _, text := range texts {
		if len(text.body) < leastSize {
			t.Errorf("%s: got %d bytes, want at least %d", text.path, len(text.body), leastSize)
		}
		total += len(text.body)
	}
	if mean := total / len(texts); mean < 7400 || mean > 9500 {
		t.Errorf("mean of %d texts: got %d bytes, want about %d", len(texts), mean, meanSize)
	}
}

func TestGeneratorPathsAreDistinct(t *testing.T) {
	t.Parallel()
	valid := regexp.MustCompile(`^area-\d{3}/[a-z-]+-\d{6}\.md$`)
	seen := map[string]bool{}
	for _, text := range sampleTexts(1, 300) {
		if seen[text.path] || !valid.MatchString(text.path) {
			t.Errorf("path %q: got a repetition or an odd form", text.path)
		}
		seen[text.path] = true
	}
}

func TestGeneratorMakesMarkdown(t *testing.T) {
	t.Parallel()
	var all []byte
	for _, text := range sampleTexts(1, 100) {
		all = append(all, text.body...)
	}
	for what, pattern := range map[string]string{
		"title":         `(?m)^# [A-Z]`,
		"heading":       `(?m)^### [A-Z]`,
		"front matter":  `(?m)^---\nid: [0-9a-f]{8}\nagent: `,
		"list":          `(?m)^- [A-Z].*\n- `,
		"code":          "(?m)^```go\nfunc ",
		"table":         `(?m)^\|---\|---\|---\|$`,
		"camel case":    "`[a-z]+[A-Z][a-z]+`",
		"snake case":    "`[a-z]+_[a-z]+`",
		"path and line": "`[a-z]+/[a-z]+\\.go:\\d+`",
	} {
		if n := len(regexp.MustCompile(pattern).FindAll(all, -1)); n < 5 {
			t.Errorf("%s: got %d times in 100 texts, want more", what, n)
		}
	}
}

func TestVocabulary(t *testing.T) {
	t.Parallel()
	words := newGenerator(3).words
	if len(words) != vocabularySize {
		t.Errorf("vocabulary: got %d words, want %d", len(words), vocabularySize)
	}
	if distinct := len(slices.Compact(slices.Sorted(slices.Values(words)))); distinct != len(words) {
		t.Errorf("vocabulary: got %d distinct words of %d", distinct, len(words))
	}
	if words[0] != "the" {
		t.Errorf("most frequent word: got %q, want %q", words[0], "the")
	}
}

// Zipf's law: the rank-frequency curve is straight in logarithms, with a slope
// of about -1, and most of the vocabulary is used.
func TestGeneratorFollowsZipf(t *testing.T) {
	t.Parallel()
	counts := map[string]int{}
	total := 0
	for _, text := range sampleTexts(1, 1500) {
		for _, word := range strings.FieldsFunc(strings.ToLower(string(text.body)), notLetter) {
			counts[word]++
			total++
		}
	}
	if len(counts) < 20000 {
		t.Errorf("distinct words: got %d of %d, want at least 20000", len(counts), total)
	}
	var ranked []int
	for _, n := range counts {
		ranked = append(ranked, n)
	}
	slices.SortFunc(ranked, func(a, b int) int { return b - a })
	slope := math.Log(float64(ranked[9999])/float64(ranked[9])) / math.Log(1000)
	if slope > -0.7 || slope < -1.4 {
		t.Errorf("slope between ranks 10 and 10000: got %.2f, want about -1", slope)
	}
}

func notLetter(r rune) bool { return r < 'a' || r > 'z' }

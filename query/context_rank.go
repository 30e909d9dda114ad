package query

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"filebus/store"
	"filebus/store/record"
)

// IsAbsent reports whether an error says that a name has no version to read.
func IsAbsent(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDropped)
}

// What a candidate scores beside the text, of which the best hit has 1. They are
// set so that an entry that shares two tags or a file overtakes a middling hit,
// and that confidence and age decide only between near equals.
const (
	scoreTag      = 0.25 // each, up to four
	scoreFile     = 0.5
	scoreBase     = 0.25 // only the file's base name
	scoreHigh     = 0.1
	scoreMedium   = 0.05
	scoreNewest   = 0.1
	recencyWeeks  = 8.0 // after which the score for age has fallen to a third
	hoursOfAWeek  = 7 * 24
	scoreRelevant = 0.1 // without confidence and age; below it nothing connects a candidate with the task
	maxSharedTags = 4
)

// judge scores a candidate and says why.
func (k *candidate) judge(q *ContextRequest, newest time.Time) {
	if k.fixed > 0 {
		k.Score, k.relevance = k.fixed, k.fixed
		return
	}
	score := k.text
	if k.Section == sectionDepends {
		k.Why = append(k.Why, "the task depends on it")
	} else if k.text > 0 {
		k.Why = append(k.Why, fmt.Sprintf("text %.2f", k.text))
	}
	r := k.Version.Record
	var shared []string
	for _, tag := range q.Tags {
		if slices.Contains(r.Tags, tag) && len(shared) < maxSharedTags {
			shared = append(shared, tag)
		}
	}
	if len(shared) > 0 {
		score += scoreTag * float64(len(shared))
		k.Why = append(k.Why, "tags "+strings.Join(shared, ", "))
	}
	if file, full := sharedFile(k.files, q.Files); full {
		score += scoreFile
		k.Why = append(k.Why, "file "+file)
	} else if file != "" {
		score += scoreBase
		k.Why = append(k.Why, "a file named "+path.Base(file))
	}
	k.relevance = score
	switch confidence(k.Description.Attributes[record.AttributeConfidence]) {
	case confidence("high"):
		score += scoreHigh
		k.Why = append(k.Why, "high confidence")
	case confidence("medium"):
		score += scoreMedium
	}
	weeks := newest.Sub(r.Time).Hours() / hoursOfAWeek
	k.Score = score + scoreNewest*math.Exp(-weeks/recencyWeeks)
}

// sharedFile returns a file that both lists have, or one of which both have the
// base name.
func sharedFile(have, want []string) (file string, full bool) {
	for _, w := range want {
		for _, h := range have {
			if h == w || strings.HasSuffix(h, "/"+w) || strings.HasSuffix(w, "/"+h) && strings.Contains(h, "/") {
				return w, true
			}
			if path.Base(h) == path.Base(w) {
				file = w
			}
		}
	}
	return file, false
}

// componentScore ranks a row of the context map: 3 for a file of the request
// within the component, 2 for a word of the task in its name, 1 for one in its
// notes.
func componentScore(d record.Description, files []string, words map[string]bool) (score float64, why []string) {
	name := strings.Trim(d.Title, "/`")
	for _, file := range files {
		if name != "" && (file == name || strings.HasPrefix(file, name+"/")) {
			score += 3
			why = append(why, "holds "+file)
			break
		}
	}
	if word := firstShared(contextWords(d.Title), words); word != "" {
		score += 2
		why = append(why, fmt.Sprintf("named %q", word))
	}
	if word := firstShared(contextWords(d.Preview), words); word != "" {
		score++
		why = append(why, fmt.Sprintf("notes say %q", word))
	}
	return score, why
}

// firstShared returns the first word, in order, that both sets have.
func firstShared(a, b map[string]bool) string {
	first := ""
	for word := range a {
		if b[word] && (first == "" || word < first) {
			first = word
		}
	}
	return first
}

// contextWords returns the words of a text that say what it is about: of four
// letters or more, and no file extensions.
func contextWords(text string) map[string]bool {
	words := map[string]bool{}
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		if len(word) >= 4 && !slices.Contains(commonWords(), word) {
			words[word] = true
		}
	}
	return words
}

// commonWords are in the text of nearly every task.
func commonWords() []string {
	return []string{
		"about", "after", "also", "been", "before", "from", "have", "into", "make", "more", "must", "need", "only", "other",
		"should", "some", "task", "than", "that", "their", "them", "then", "there", "these", "they", "this", "when", "where",
		"which", "will", "with", "without", "work", "would", "your",
	}
}

// filesNamed returns the words of a text that look like files, each once: with a
// slash, or with an extension of letters.
func filesNamed(text string) []string {
	var files []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_./@*-:", r)
	}) {
		word = strings.Trim(word, "./:*-")
		if len(files) < maxNamedFiles && looksLikeFile(word) && !slices.Contains(files, word) {
			files = append(files, word)
		}
	}
	return files
}

func looksLikeFile(word string) bool {
	if strings.Contains(word, ":") { // an address, or a place within a file
		return false
	}
	extension := strings.TrimPrefix(path.Ext(word), ".")
	letters := strings.Trim(strings.ToLower(extension), "abcdefghijklmnopqrstuvwxyz") == ""
	return strings.Contains(word, "/") || extension != "" && letters && len(extension) <= 5 && len(word) > len(extension)+2
}

// maxNamedFiles bounds how many files of one item are looked at.
const maxNamedFiles = 8

// warn finds out which files of the candidates changed after they were written.
func (c *contextBuilder) warn(ctx context.Context) error {
	if c.request.Changed == nil {
		return nil
	}
	var files []string
	for _, k := range c.candidates {
		for _, file := range k.files {
			if !slices.Contains(files, file) && len(files) < maxCheckedFiles {
				files = append(files, file)
			}
		}
	}
	if len(files) == 0 {
		return nil
	}
	changed, err := c.request.Changed(ctx, files)
	if err != nil {
		return fmt.Errorf("looking for changed files: %w", err)
	}
	for i := range c.candidates {
		k := &c.candidates[i]
		for _, file := range k.files {
			if at, known := changed[file]; known && at.After(k.Version.Record.Time) {
				k.Changed = append(k.Changed, file)
			}
		}
	}
	return nil
}

// maxCheckedFiles bounds the files that are asked for.
const maxCheckedFiles = 200

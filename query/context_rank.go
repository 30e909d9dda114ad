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

	"filebus/materialize/markdown"
	"filebus/store"
	"filebus/store/record"
)

// IsAbsent reports whether an error says that a name has no version to read.
func IsAbsent(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDropped)
}

// judge scores a candidate and says why.
func (k *considered) judge(q *ContextRequest, newest time.Time) {
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
	switch record.Confidence(k.Description.Attributes[record.AttributeConfidence]) {
	case record.Confidence("high"):
		score += scoreHigh
		k.Why = append(k.Why, "high confidence")
	case record.Confidence("medium"):
		score += scoreMedium
	}
	weeks := newest.Sub(r.Date()).Hours() / hoursOfAWeek
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

// componentScore ranks a row of the context map: 3 of 4 for a file of the request
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
	return score / 4, why
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

// filesNamed returns the first files that a text names.
func filesNamed(text string) []string {
	files := mentions([]byte(text), "")
	return files[:min(len(files), 8)]
}

// warn finds out which files of the candidates changed after they were written.
func (c *contextBuilder) warn(ctx context.Context) error {
	if c.request.Changed == nil {
		return nil
	}
	var files []string
	const maxCheckedFiles = 200 // bounds the files that are asked for
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
			if at, known := changed[file]; known && at.After(endOf(k.Version.Record.Date())) {
				k.Changed = append(k.Changed, file)
			}
		}
	}
	return nil
}

// How long the text of an item may be, in characters: first the length that says
// all of most entries, then the one that still tells what it is about.
const (
	longItem  = 360
	shortItem = 120
)

// fit chooses the items that go into the context, the best first.
func (c *contextBuilder) fit() ContextAnswer {
	answer := ContextAnswer{LeftOut: c.leftOut, Unindexed: c.unindexed}
	answer.Tokens = c.size(&answer)
	limits := c.request.Complexity.limits()
	bySection := map[contextSection][]considered{}
	for _, k := range c.candidates {
		chosen := bySection[k.Section]
		switch twin := c.twin(chosen, k); {
		case twin != "":
			answer.omit(k, "says the same as "+twin)
		case len(chosen) == limits[k.Section]:
			answer.omit(k, fmt.Sprintf("not among the best %d", limits[k.Section]))
		case k.relevance < scoreRelevant:
			answer.omit(k, "has nothing to do with the task")
		default:
			bySection[k.Section] = append(chosen, k)
			if !c.take(&answer, k) {
				answer.omit(k, "no room")
				answer.NoRoom++
			}
		}
	}
	return answer
}

func (a *ContextAnswer) omit(k considered, reason string) {
	a.LeftOut = append(a.LeftOut, Omission{k.Version.Record.Name, reason, k.Section == sectionDepends})
}

// take adds an item behind those of its section if there is room for it, cut short if need be.
func (c *contextBuilder) take(a *ContextAnswer, k considered) bool {
	full, at := k.Text, len(a.Items)
	for i, item := range a.Items {
		if item.Section == k.Section {
			at = i + 1
		}
	}
	for _, length := range []int{longItem, shortItem} {
		k.Text = markdown.Clip(full, length)
		a.Items = slices.Insert(a.Items, at, k.contextItem)
		if tokens := c.size(a); tokens <= c.request.MaxTokens {
			a.Tokens = tokens
			return true
		}
		a.Items = slices.Delete(a.Items, at, at+1)
	}
	return false
}

// size returns how many tokens an answer has as it is printed, about.
func (c *contextBuilder) size(a *ContextAnswer) int {
	if c.request.Size != nil {
		return c.request.Size(a)
	}
	return record.EstimateTokens(int64(len(a.Append(nil))))
}

// twin returns the name of a chosen item that says nearly the same, or "".
func (c *contextBuilder) twin(chosen []considered, k considered) string {
	for _, other := range chosen {
		if other.Version.Record.Body == k.Version.Record.Body || similarity(other.Text, k.Text) > sameText {
			return other.Version.Record.Name.String()
		}
	}
	return ""
}

// similarity returns the share of runs of three words that two texts have in
// common, from 0 to 1.
func similarity(a, b string) float64 {
	first, second := shingles(a), shingles(b)
	if len(first) == 0 || len(second) == 0 {
		return 0
	}
	common := 0
	for s := range first {
		if second[s] {
			common++
		}
	}
	return float64(common) / float64(len(first)+len(second)-common)
}

func shingles(text string) map[string]bool {
	words := strings.Fields(strings.ToLower(text))
	set := map[string]bool{}
	for i := range max(0, len(words)-2) {
		set[strings.Join(words[i:i+3], " ")] = true
	}
	return set
}

// Append appends the context as Markdown: a section for each kind of item, and a
// line for each item with the name under which the rest is found.
func (a *ContextAnswer) Append(dst []byte) []byte {
	if len(a.Items) == 0 {
		return append(dst, "Nothing that is stored has to do with this task.\n"...)
	}
	var section contextSection
	for _, i := range a.Items {
		if i.Section != section {
			if section != "" {
				dst = append(dst, '\n')
			}
			section = i.Section
			dst = fmt.Appendf(dst, "## %s\n", section)
		}
		dst = fmt.Appendf(dst, "- %s%s: %s\n", i.handle(), i.note(), i.Text)
	}
	return dst
}

// maxHandle is the longest name, in bytes, that is worth its tokens: a longer one
// is made from the title that stands behind it.
const maxHandle = 48

// handle is what to ask for to read the rest: the name, or the ref where that is
// shorter.
func (i *contextItem) handle() string {
	if name := i.Version.Record.Name.String(); len(name) <= maxHandle {
		return name
	}
	return i.Version.Ref.Short()
}

// note says in brackets what to know of an item before reading it.
func (i *contextItem) note() string {
	var notes []string
	switch r := i.Version.Record; {
	case i.Section == sectionComponents && r.Task != "":
		notes = append(notes, "last "+r.Task)
	case i.Section == sectionResults, i.Section == sectionNotes:
		notes = append(notes, fmt.Sprintf("≈%d tokens", i.Tokens))
	case r.Status != "" && r.Name.Kind == record.KindHandoff:
		notes = append(notes, r.Status)
	}
	if confidence := i.Description.Attributes[record.AttributeConfidence]; confidence != "" {
		notes = append(notes, confidence)
	}
	if len(i.Changed) > 0 {
		notes = append(notes, "since then changed: "+strings.Join(i.Changed, ", "))
	}
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, "; ") + ")"
}

package query

import (
	"fmt"
	"slices"
	"strings"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// How long the text of an item may be, in characters: first the length that says
// all of most entries, then the one that still tells what it is about.
const (
	longItem  = 360
	shortItem = 120
)

// fit chooses the items that go into the context: the best of each section in
// turn, so that a small context has something of everything.
func (c *contextBuilder) fit() ContextAnswer {
	answer := ContextAnswer{LeftOut: c.leftOut, Unindexed: c.unindexed}
	answer.Tokens = c.size(&answer)
	limits := c.request.Complexity.limits()
	bySection := map[ContextSection][]candidate{}
	for _, k := range c.candidates {
		switch twin := c.twin(bySection[k.Section], k); {
		case twin != "":
			answer.omit(k, "says the same as "+twin)
		case len(bySection[k.Section]) == limits[k.Section]:
			answer.omit(k, fmt.Sprintf("not among the best %d", limits[k.Section]))
		case k.relevance < scoreRelevant:
			answer.omit(k, "has nothing to do with the task")
		default:
			bySection[k.Section] = append(bySection[k.Section], k)
		}
	}
	for rank := 0; ; rank++ {
		more := false
		for _, section := range contextSections() {
			if list := bySection[section]; rank < len(list) {
				more = true
				if !c.take(&answer, list[rank]) {
					answer.omit(list[rank], "no room")
					answer.NoRoom++
				}
			}
		}
		if !more {
			return answer
		}
	}
}

func (a *ContextAnswer) omit(k candidate, reason string) {
	a.LeftOut = append(a.LeftOut, Omission{k.Version.Record.Name, reason})
}

// take adds an item if there is room for it, cut short if need be.
func (c *contextBuilder) take(a *ContextAnswer, k candidate) bool {
	full := k.Text
	for _, length := range []int{longItem, shortItem} {
		k.Text = markdown.Clip(full, length)
		sections := contextSections()
		at := len(a.Items)
		for at > 0 && slices.Index(sections, a.Items[at-1].Section) > slices.Index(sections, k.Section) {
			at--
		}
		a.Items = slices.Insert(a.Items, at, k.ContextItem)
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
func (c *contextBuilder) twin(chosen []candidate, k candidate) string {
	for _, other := range chosen {
		if other.Version.Record.Body == k.Version.Record.Body || similarity(other.Text, k.Text) > sameText {
			return other.Version.Record.Name.String()
		}
	}
	return ""
}

// sameText is the share of runs of three words above which two texts say the same.
const sameText = 0.8

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
	var section ContextSection
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
func (i *ContextItem) handle() string {
	if name := i.Version.Record.Name.String(); len(name) <= maxHandle {
		return name
	}
	return i.Version.Ref.Short()
}

// note says in brackets what to know of an item before reading it.
func (i *ContextItem) note() string {
	var notes []string
	switch r := i.Version.Record; {
	case i.Section == sectionComponents && r.Task != "":
		notes = append(notes, "last "+r.Task)
	case i.Section == sectionResults:
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

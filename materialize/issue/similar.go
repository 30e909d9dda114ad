package issue

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"

	"filebus/index"
	"filebus/query"
	"filebus/store/record"
)

// A Likeness is an open issue that a new one may be the same as.
type Likeness struct {
	Issue Issue
	// Shared is the part of the words of both summaries that they share, from 0
	// to 1. Words are compared as the index has them: by their stems, and by the
	// parts of identifiers.
	Shared float64
	Files  bool // some file is named by both
}

// The shares of words from which on two issues of one type are likely to be the
// same: of any two, of two that name the same file, and of two that name files and
// none in common.
const (
	likelyShare    = 0.6
	likelyWithFile = 0.3
	likelyApart    = 0.8
)

// compare says how much a draft is like an issue, and whether it is likely to be
// the same.
func (d Draft) compare(i Issue) (l Likeness, likely bool) {
	if !i.Status.IsOpen() || i.Type != word(d.Type) {
		return Likeness{}, false
	}
	l = Likeness{Issue: i, Shared: sharedWords(oneLine(d.Summary), i.Summary), Files: filesOverlap(d.Files, i.Fields.Files)}
	need := likelyShare
	switch {
	case l.Files:
		need = likelyWithFile
	case len(d.Files) > 0 && len(i.Fields.Files) > 0:
		need = likelyApart
	}
	return l, l.Shared >= need
}

// sharedWords returns twice the number of terms that two texts share, divided by
// the number of terms of both.
func sharedWords(a, b string) float64 {
	termsA, termsB := terms(a), terms(b)
	if len(termsA)+len(termsB) == 0 {
		if strings.EqualFold(a, b) {
			return 1
		}
		return 0
	}
	shared := 0
	for term := range termsA {
		if termsB[term] {
			shared++
		}
	}
	return 2 * float64(shared) / float64(len(termsA)+len(termsB))
}

// terms returns what the index finds a text by.
func terms(text string) map[string]bool {
	all := map[string]bool{}
	for token := range index.Analyze([]byte(text)) {
		all[token.Term] = true
	}
	return all
}

// filesOverlap reports whether a file, pattern or folder of one list has something
// in common with one of the other.
func filesOverlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool {
		return slices.ContainsFunc(b, func(other string) bool { return fileOverlap(one, other) || fileOverlap(other, one) })
	})
}

// fileOverlap reports whether a file is another one, lies below it, or is matched
// by it.
func fileOverlap(file, other string) bool {
	file, other = cleanFile(file), cleanFile(other)
	if file == "" || other == "" {
		return false
	}
	matched, err := path.Match(other, file)
	folder, _, deep := strings.Cut(other, "**")
	return file == other || err == nil && matched || strings.HasPrefix(file, other+"/") ||
		deep && folder != "" && strings.HasPrefix(file, folder)
}

// cleanFile returns a path as agents name it in one form, without the lines that
// may follow it.
func cleanFile(file string) string {
	file, _, _ = strings.Cut(strings.Trim(oneLine(file), "`"), ":")
	if file == "" {
		return ""
	}
	return path.Clean(file)
}

// maxCandidates is how many issues the index is asked for.
const maxCandidates = 20

// Likely returns the open issues that a draft is likely to be the same as, the
// most alike first. Candidates come from a search for the summary.
func (q *Queue) Likely(ctx context.Context, d Draft) ([]Likeness, error) {
	if err := d.Check(); err != nil {
		return nil, err
	}
	answer, err := q.read.Search(ctx, query.SearchRequest{
		Query: oneLine(d.Summary), Filter: record.Filter{Kinds: []record.Kind{record.KindIssue}, Trees: []record.Tree{""}, Statuses: openStatuses()}, Limit: maxCandidates, Duplicates: true,
	})
	if err != nil {
		return nil, err
	}
	var like []Likeness
	for _, hit := range answer.Hits {
		i, err := q.Get(ctx, hit.Name.ID)
		if missing := (*NotFoundError)(nil); errors.As(err, &missing) {
			continue // it is gone since
		}
		if err != nil {
			return nil, err
		}
		if l, likely := d.compare(i); likely {
			like = append(like, l)
		}
	}
	sortLikenesses(like)
	return like, nil
}

// openStatuses returns the statuses of issues that a new one may be the same as.
func openStatuses() []string {
	return []string{string(Pending), string(Accepted), string(InProgress)}
}

func sortLikenesses(all []Likeness) {
	slices.SortStableFunc(all, func(a, b Likeness) int {
		return cmp.Or(cmp.Compare(b.score(), a.score()), strings.Compare(a.Issue.ID, b.Issue.ID))
	})
}

// score is what likenesses are sorted by.
func (l Likeness) score() float64 {
	if l.Files {
		return l.Shared + likelyWithFile
	}
	return l.Shared
}

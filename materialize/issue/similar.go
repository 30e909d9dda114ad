package issue

import (
	"context"
	"slices"
	"strings"

	"filebus/index"
	"filebus/materialize/layout"
	"filebus/materialize/likeness"
	"filebus/store/record"
)

// A Likeness is an open issue that a new one may be the same as.
type Likeness struct {
	ID      string      `json:"id"`
	Summary string      `json:"summary"`
	Shared  index.Share `json:"shared"` // of the words of both summaries, as the index has them
	Files   bool        `json:"files"`  // some file is named by both
	Status  Status      `json:"-"`
}

// The shares of words from which on two issues of one type are likely to be the
// same: of any two, of two that name the same file, and of two that name files and
// none in common.
const (
	likelyShare    = 0.6
	likelyWithFile = 0.3
	likelyApart    = 0.8
)

// compare says how much a checked draft is like an issue, and whether it is likely to be
// the same.
func (d Draft) compare(i Issue) (l Likeness, likely bool) {
	if !i.Status.IsOpen() || i.Type != d.Type {
		return Likeness{}, false
	}
	shared := sharedWords(d.Summary, i.Summary)
	l = Likeness{i.ID, i.Summary, shared, filesOverlap(d.Files, i.Files), i.Status}
	need := index.Share(likelyShare)
	switch {
	case l.Files:
		need = likelyWithFile
	case len(d.Files) > 0 && len(i.Files) > 0:
		need = likelyApart
	}
	return l, l.Shared >= need
}

// among returns the issues that a draft is like, the most alike first.
func (d Draft) among(issues []Issue) []Likeness {
	return likeness.Likely(issues, d.compare, Likeness.score)
}

// sharedWords returns the part of the words of two texts that they share.
func sharedWords(a, b string) index.Share {
	termsA, termsB := index.Terms(a), index.Terms(b)
	if len(termsA)+len(termsB) == 0 && strings.EqualFold(a, b) {
		return 1
	}
	return index.Shared(termsA, termsB)
}

// filesOverlap reports whether a file, pattern or folder of one list has something
// in common with one of the other.
func filesOverlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(one string) bool {
		return slices.ContainsFunc(b, func(other string) bool {
			one, other := plainFile(one), plainFile(other)
			return layout.Covers(one, other) || layout.Covers(other, one)
		})
	})
}

// plainFile returns a path without the lines that may follow it.
func plainFile(file string) string {
	file, _, _ = strings.Cut(layout.PlainPath(file), ":")
	return file
}

// Likely returns the open issues that a draft is likely to be the same as, the
// most alike first. Candidates come from a search for the summary.
func (q *Queue) Likely(ctx context.Context, d Draft) ([]Likeness, error) {
	d, _, err := d.checkNew(q.fields)
	if err != nil {
		return nil, err
	}
	found, err := likeness.Candidates(ctx, q.read, d.Summary, record.Filter{
		Kinds:    []record.Kind{record.KindIssue},
		Statuses: []string{string(pending), string(accepted), string(inProgress)},
	}, func(ctx context.Context, name record.Name) (Issue, error) { return q.Get(ctx, name.ID) })
	return d.among(found), err
}

// score orders likenesses.
func (l Likeness) score() (score index.Share, id string) {
	if l.Files {
		return l.Shared + likelyWithFile, l.ID
	}
	return l.Shared, l.ID
}

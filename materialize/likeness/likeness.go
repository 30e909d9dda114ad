// Package likeness tells how much two names or two texts are alike: whether the name of
// a file may be a slip of the pen, or what somebody says is known already. It owns what
// the nouns compare by, how candidates are found and in which order they are named; from
// when on two things count as alike is for the nouns to say. It writes nothing.
package likeness

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"unicode"

	"filebus/index"
	"filebus/query"
	"filebus/store/record"
)

// Words cuts a name at what is neither letter nor digit.
func Words(name string) []string {
	return strings.FieldsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// Pieces cuts a name into its words and numbers, the numbers without zeros at their
// beginning: BUILD-012b is BUILD, 12, b.
func Pieces(name string) []string {
	var all []string
	for _, word := range Words(name) {
		var last rune
		for _, r := range word {
			if last == 0 || unicode.IsDigit(r) != unicode.IsDigit(last) {
				all = append(all, "")
			}
			all[len(all)-1] += string(r)
			last = r
		}
	}
	for i, p := range all {
		all[i] = cmp.Or(strings.TrimLeft(p, "0"), p)
	}
	return all
}

// Contains reports whether part, of one word or more, is a run of words of all.
func Contains(all, part []string) bool {
	return len(part) > 0 && strings.Contains(" "+strings.Join(all, " ")+" ", " "+strings.Join(part, " ")+" ")
}

// IsMeant reports whether a name may be meant as another one: it has the same words among others,
// or it is a slip of the pen or two away. The numbers of both are the same, since they tell things
// apart: L001 is not 001. Case is for the caller.
func IsMeant(name, want string) bool {
	parts, wanted := Pieces(name), Pieces(want)
	switch {
	case len(wanted) == 0 || len(parts) == 0:
		return false
	case len(wanted) == 1 && numbers(wanted) != "":
		isWanted := func(word string) bool { return slices.Equal(Pieces(word), wanted) }
		return slices.ContainsFunc(Words(name), isWanted)
	case Contains(parts, wanted):
		return true
	}
	whole := strings.Join(wanted, "")
	return numbers(parts) == numbers(wanted) && Slips(strings.Join(parts, ""), whole) <= min(2, len(whole)/4)
}

// numbers returns the numbers among pieces, joined.
func numbers(parts []string) string {
	isWord := func(p string) bool { return p[0] < '0' || p[0] > '9' }
	return strings.Join(slices.DeleteFunc(slices.Clone(parts), isWord), " ")
}

// Slips returns how many slips of the pen make one word of another: see index.Slips.
func Slips(a, b string) int { return index.Slips(a, b) }

// Candidates returns the entries of the own tree that a search for a text finds and a
// filter picks. Get reads one; those that are gone since are left out.
func Candidates[T any](
	ctx context.Context, read *query.Reader, text string, f record.Filter,
	get func(ctx context.Context, name record.Name) (T, error),
) (found []T, err error) {
	f.Trees = []record.Tree{""}
	const maxCandidates = 20 // how many entries the index is asked for
	request := index.Request{Query: text, Limit: maxCandidates, Duplicates: true, Filter: f}
	answer, err := read.Search(ctx, query.SearchRequest{Request: request})
	for _, hit := range answer.Hits {
		entry, getErr := get(ctx, hit.Name)
		switch {
		case getErr == nil:
			found = append(found, entry)
		case !errors.Is(getErr, record.NotFound):
			return nil, getErr
		}
	}
	return found, err
}

// Likely returns what compare says of the entries that are likely to be the same, the
// most alike first, of equal scores by their ids.
func Likely[T, L any](
	entries []T, compare func(T) (l L, likely bool), score func(L) (s index.Share, id string),
) []L {
	var like []L
	for _, entry := range entries {
		if l, likely := compare(entry); likely {
			like = append(like, l)
		}
	}
	slices.SortStableFunc(like, func(a, b L) int {
		scoreA, idA := score(a)
		scoreB, idB := score(b)
		return cmp.Or(cmp.Compare(scoreB, scoreA), strings.Compare(idA, idB))
	})
	return like
}

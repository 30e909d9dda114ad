package query

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"filebus/index"
)

// FoldPassages puts hits with the same text in their lines as a better one of their store behind it, in Like.
func FoldPassages(hits []Hit) (folded []Hit, behind int) {
	for _, h := range hits {
		first := slices.IndexFunc(folded, func(f Hit) bool { return h.shown != "" && h.shown == f.shown && h.Store == f.Store })
		if first < 0 {
			folded = append(folded, h)
		} else {
			folded[first].Like = append(append(slices.Clip(folded[first].Like), h.Name), h.Like...)
			behind++
		}
	}
	return folded, behind
}

// wordsOf returns the words of a passage without its heading; "" for few, which say the same of many things.
func wordsOf(passage []byte) string {
	if bytes.HasPrefix(passage, []byte("#")) {
		_, passage, _ = bytes.Cut(passage, []byte("\n"))
	}
	var words []byte
	for w := range index.Words(passage) {
		words = append(append(words, w.Text...), ' ')
	}
	if least := 8; bytes.Count(words, []byte(" ")) < least {
		return ""
	}
	return string(words)
}

// narrow returns the values of filters, of fields that have none, that split the best hits most evenly.
func (c *catchUp) narrow(ctx context.Context, q *SearchRequest, hits []index.Hit) (out []index.Narrowing, err error) {
	having, most := map[index.Narrowing]uint64{}, 4
	found, err := c.candidates(ctx, hits, false)
	for _, f := range found {
		if f.gone {
			continue
		}
		for _, field := range []string{"kind", "tree", "tag", "agent"} {
			for _, value := range f.Version.Record.Values(field) {
				if len(q.Values(field)) == 0 && len(value) <= 20 && !strings.ContainsAny(value, ",\"\n") {
					having[index.Narrowing{Field: index.Facet(field), FacetCount: index.FacetCount{Value: value}}]++
				}
			}
		}
	}
	for of, n := range having {
		if all := uint64(len(hits)); n >= 3 && 20*n >= all && 2*n < all {
			out = append(out, of)
		}
	}
	slices.SortFunc(out, func(a, b index.Narrowing) int {
		return cmp.Or(cmp.Compare(having[b], having[a]), strings.Compare(string(a.Field)+a.Value, string(b.Field)+b.Value))
	})
	return out[:min(len(out), most)], err
}

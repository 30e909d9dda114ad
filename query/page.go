package query

import (
	"bytes"
	"cmp"
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

// A Narrowing is a value of a filter that leaves so many of the best hits, less than half of them.
type Narrowing struct {
	Field string `json:"field"`
	index.FacetCount
}

// narrow returns the filters, of fields that have none, that split the best hits most evenly.
func (q *SearchRequest) narrow(found []finding) (out []Narrowing) {
	having, most := map[[2]string]uint64{}, 4
	for _, f := range found {
		for field, values := range map[string][]string{
			"kind": {string(f.Name.Kind)}, "tree": {string(f.Name.Tree)}, "tag": f.Tags, "agent": {f.Agent},
		} {
			for _, value := range values {
				if !f.gone && len(q.Values(field)) == 0 && (value != "" || field == "tree") && len(value) <= 20 && !strings.ContainsAny(value, ",\"\n") {
					having[[2]string{field, value}]++
				}
			}
		}
	}
	for of, n := range having {
		if all := uint64(len(found)); n >= 3 && 20*n >= all && 2*n < all {
			out = append(out, Narrowing{of[0], index.FacetCount{Value: of[1], Count: n}})
		}
	}
	slices.SortFunc(out, func(a, b Narrowing) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Field+a.Value, b.Field+b.Value))
	})
	return out[:min(len(out), most)]
}

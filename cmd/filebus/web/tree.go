package web

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// The bounds of JSON that is shown as values: how deep it goes, and how many columns a table has.
const (
	maxDepth  = 40
	maxFields = 8
)

// parseTree reads JSON, or lines of it as a list. It reports whether a text is that, and not too deep.
func parseTree(text string) (root any, ok bool) {
	from, all := json.NewDecoder(strings.NewReader(text)), []any(nil)
	from.UseNumber()
	var err error
	for err == nil {
		var v any
		if err = from.Decode(&v); err == nil {
			all = append(all, v)
		}
	}
	if root = any(all); len(all) == 1 {
		root = all[0]
	}
	return root, errors.Is(err, io.EOF) && len(all) > 0 && !isDeep(root, maxDepth) && kindOf(root) != "text" && kindOf(root) != "word"
}

func isDeep(v any, left int) bool {
	deeper := func(v any) bool { return isDeep(v, left-1) }
	switch v := v.(type) {
	case []any:
		return left == 0 || slices.ContainsFunc(v, deeper)
	case map[string]any:
		for _, one := range v {
			if left == 0 || deeper(one) {
				return true
			}
		}
	}
	return false
}

// kindOf says how a value is shown: as a table, if it is a list of objects.
func kindOf(v any) string {
	switch v := v.(type) {
	case map[string]any:
		return "object"
	case string:
		return map[bool]string{true: "block", false: "text"}[strings.Contains(v, "\n")]
	case []any:
		isRow := func(one any) bool { return kindOf(one) == "object" }
		return map[bool]string{true: "table", false: "list"}[len(v) > 0 && !slices.ContainsFunc(v, func(one any) bool { return !isRow(one) })]
	}
	return "word"
}

// columnsOf returns the names that most of the objects of a list have.
func columnsOf(rows []any) (names []string) {
	counts := map[string]int{}
	for _, row := range rows {
		for name := range row.(map[string]any) { // as kindOf says
			counts[name]++
		}
	}
	for _, v := range counted(counts) {
		names = append(names, v.Value)
	}
	return names[:min(len(names), maxFields)]
}

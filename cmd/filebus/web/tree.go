package web

import (
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
)

// The bounds of JSON that is shown as values: of what holds others, and of the columns of a table.
const (
	maxHolders = 2_000
	maxFields  = 8
)

// parseTree reads JSON, or lines of it as a list. It reports whether a text is that, and not too much.
func parseTree(text string) (root any, ok bool) {
	all, err := decodeAll[any](strings.NewReader(text))
	if root = any(all); len(all) == 1 {
		root = all[0]
	}
	holders := strings.Count(text, "{") + strings.Count(text, "[")
	return root, err == nil && 0 < holders && holders <= maxHolders
}

// decodeAll reads JSON values up to the end.
func decodeAll[T any](in io.Reader) (all []T, err error) {
	from := json.NewDecoder(in)
	from.UseNumber()
	for err == nil {
		var one T
		if err = from.Decode(&one); err == nil {
			all = append(all, one)
		}
	}
	if errors.Is(err, io.EOF) {
		return all, nil
	}
	return all, err
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

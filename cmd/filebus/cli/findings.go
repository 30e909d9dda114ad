package cli

import (
	"fmt"
	"slices"
	"strings"

	"filebus/cmd/filebus/rule"
	"filebus/materialize/markdown"
)

// FindingsShown is how many findings are printed where --all prints the others.
const FindingsShown = 20

// FindingsText returns what a check has found as a table. Below each finding stands what mends
// it, once for those in a row that the same mends. Of those that were left out it says how many.
func (e *Environ) FindingsText(all []rule.Finding, more int) string {
	rows := markdown.Each(all, func(f rule.Finding) []string {
		if f.More > 0 {
			f.Message += fmt.Sprintf(" (and %d more)", f.More)
		}
		return []string{f.Place(), f.Rule, string(f.Level), f.Message}
	})
	for at := 3; at >= 0; at-- { // a column that no finding has
		if !slices.ContainsFunc(rows, func(row []string) bool { return row[at] != "" }) {
			rows = markdown.Each(rows, func(row []string) []string { return slices.Delete(row, at, at+1) })
		}
	}
	var out strings.Builder
	for i, line := range strings.SplitAfter(e.Table(rows), "\n")[:len(all)] {
		out.WriteString(line)
		if remedy := all[i].Remedy; remedy != "" && (i+1 == len(all) || all[i+1].Remedy != remedy) {
			out.WriteString("  " + OneLine(remedy) + "\n")
		}
	}
	if more > 0 {
		out.WriteString(e.Rest(more, "--all") + "\n")
	}
	return out.String()
}

package layout

import (
	"slices"
	"strings"

	"filebus/materialize/markdown"
)

// SetIssueField returns text, an entry of an issue queue, with another value
// for one field, such as Status or Assignee: the value's bytes alone change. A
// field that the entry lacks becomes a new row of its table, or a new bullet; a
// block that it lacks, such as Details, is added at its end. A value for a row is
// one line; an empty value stays as an empty field.
func SetIssueField(text []byte, field, value string) []byte {
	r := issueRules()
	if slices.Contains(r.Blocks, markdown.Key(field)) && !r.Has(text, field) {
		return r.AddBlock(text, field, value)
	}
	return r.Set(text, field, value)
}

// SetIssueCriteria is SetIssueField for the acceptance criteria, a list.
func SetIssueCriteria(text []byte, criteria []string) []byte {
	if r := issueRules(); !r.Has(text, "Acceptance Criteria") && r.Has(text, "Criteria") {
		return r.SetItems(text, "Criteria", criteria)
	}
	return issueRules().SetItems(text, "Acceptance Criteria", criteria)
}

// SetIssueFiles is SetIssueField for the files: paths between commas, or a list
// where a name would not be read back from a line.
func SetIssueFiles(text []byte, files []string) []byte {
	line := markdown.SingleSpaced(strings.Join(files, ", "))
	if slices.Equal(parseFiles(line), files) {
		return SetIssueField(text, "Files", line)
	}
	return issueRules().SetItems(text, "Files", files)
}

// DropIssueField returns text, an entry of an issue queue, without the lines of a
// field. A field that the entry lacks changes nothing.
func DropIssueField(text []byte, field string) []byte {
	return issueRules().Drop(text, field)
}

package issue

import "filebus/materialize/layout"

// SetFields gives the queue another table of the fields of issues.
func (q *Queue) SetFields(fields *layout.FieldTable[layout.Issue]) { q.fields = fields }

package main

import (
	"errors"

	"filebus/materialize/knowledge"
)

// explainKnowledge explains what the rules of knowledge and of the context map
// refuse.
func explainKnowledge(f *failure, err error) bool {
	var field *knowledge.FieldError
	var size *knowledge.SizeError
	var row *knowledge.RowSizeError
	var file *knowledge.FileError
	var captured *knowledge.CapturedError
	var broken *knowledge.BrokenError
	var known *knowledge.DuplicateError
	var link *knowledge.LinkError
	var superseded *knowledge.SupersededError
	var handoff *knowledge.NoHandoffError
	var number *knowledge.NumberError
	var component *knowledge.NoComponentError
	switch {
	case errors.As(err, &component):
		f.Exit, f.Code, f.Hint = exitNotFound, "not_found", "filebus component show"
	case errors.As(err, &handoff):
		f.Exit, f.Code, f.Hint = exitNotFound, "not_found", "filebus get "+quote(handoff.Name.String())
	case errors.As(err, &field):
		f.Exit, f.Code, f.Hint = exitUsage, "usage", fieldHint(field)
	case errors.As(err, &size):
		f.Exit, f.Code, f.Hint = exitUsage, "usage", "filebus put FILE"
	case errors.As(err, &row):
		f.Exit, f.Code, f.Hint = exitUsage, "usage", "the same with a shorter --notes"
	case errors.As(err, &file):
		f.Exit, f.Code, f.Hint = exitUsage, "usage", "the same without --into"
	case errors.As(err, &captured):
		f.Exit, f.Code, f.Hint = exitUsage, "usage", "filebus show "+quote(captured.Name.String())
	case errors.As(err, &number):
		f.Exit, f.Code, f.Hint = exitUsage, "usage", "the same without --add"
	case errors.As(err, &link):
		f.Exit, f.Code, f.Hint = exitUsage, "usage", "filebus knowledge related "+quote(link.From.ID)
	case errors.As(err, &broken):
		f.Exit, f.Code, f.Hint = exitConflict, "conflict", "filebus sync --problems"
	case errors.As(err, &known):
		f.Exit, f.Code, f.Hint = exitConflict, "conflict", "filebus knowledge show "+quote(known.Like[0].Entry.Name.ID)
	case errors.As(err, &superseded):
		f.Exit, f.Code, f.Hint = exitConflict, "conflict", "filebus knowledge show "+quote(superseded.By.ID)
	default:
		return false
	}
	return true
}

// fieldHint returns what to change of a command line.
func fieldHint(e *knowledge.FieldError) string {
	switch e.Field {
	case "link":
		return "filebus knowledge link A supersedes B"
	case "component":
		return "filebus component touch NAME"
	}
	return "the same with --" + e.Field + " " + knowledgeExample(e.Field)
}

// knowledgeExample returns a value of an entry's field.
func knowledgeExample(field string) string {
	switch field {
	case "type":
		return "gotcha"
	case "confidence":
		return "medium"
	case "source":
		return "003"
	case "format":
		return "dot"
	}
	return "TEXT"
}

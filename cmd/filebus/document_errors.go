package main

import (
	"errors"

	"filebus/materialize/dialogue"
)

// explainDocument explains what the rules of assembled documents refuse.
func explainDocument(f *failure, err error) bool {
	var edited *dialogue.EditedError
	if !errors.As(err, &edited) {
		return false
	}
	f.Exit, f.Code, f.Hint = exitConflict, "conflict", "the same with --force, or with --out FILE"
	return true
}

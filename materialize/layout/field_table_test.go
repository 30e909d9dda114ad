package layout

import "filebus/materialize/markdown"

// parseEntry reads an entry with what is wrong with it.
func parseEntry[T any](t *FieldTable[T], text []byte) (T, []*SyntaxError) {
	return t.parse(markdown.Lines(text))
}

// setOf returns a setter of one value.
func setOf[T any](t *FieldTable[T]) func(text []byte, field, value string) []byte {
	return func(text []byte, field, value string) []byte { return t.Set(text, field, value) }
}

package main

import (
	"time"

	"filebus/query"
)

// logRead notes what went into a reader's context. The operation is the command,
// without "filebus": budgets tell by it which channel was read, see
// query.Read.Channel.
func (w *workspace) logRead(op, what string, tokens int) {
	w.logWait(op, what, tokens, 0)
}

// logWait notes a read for which somebody waited.
func (w *workspace) logWait(op, what string, tokens int, took time.Duration) {
	if w.getenv("FILEBUS_NO_READS_LOG") != "" {
		return
	}
	w.read.NoteRead(query.Read{
		Op: op, What: what, Tokens: tokens, Seconds: max(took.Round(time.Millisecond), 0).Seconds(),
		Agent: w.or("", "FILEBUS_AGENT"), Session: w.or("", sessionVariables()...),
		Task: w.or("", "FILEBUS_TASK"), Run: w.or("", "FILEBUS_RUN"),
	})
}

// printRead prints a value as printJSON does, and notes it as a read.
func (w *workspace) printRead(op, what string, value any) error {
	_, err := w.present(presentation{op: op, what: what, json: func(int) any { return value }})
	return err
}

package main

import (
	"time"

	"filebus/query"
)

// logRead notes what went into a reader's context. The operation is the command,
// without "filebus": budgets tell by it which channel was read, see
// query.Read.Channel.
func (e *environ) logRead(s *session, op, what string, tokens int) {
	e.logWait(s, op, what, tokens, 0)
}

// logWait notes a read for which somebody waited.
func (e *environ) logWait(s *session, op, what string, tokens int, took time.Duration) {
	if e.getenv("FILEBUS_NO_READS_LOG") != "" {
		return
	}
	s.read.NoteRead(query.Read{
		Op: op, What: what, Tokens: tokens, Seconds: max(took.Round(time.Millisecond), 0).Seconds(),
		Agent: e.or("", "FILEBUS_AGENT"), Session: e.or("", sessionVariables()...),
		Task: e.or("", "FILEBUS_TASK"), Run: e.or("", "FILEBUS_RUN"),
	})
}

// printRead prints a value as printJSON does, and notes it as a read.
func (e *environ) printRead(s *session, op, what string, value any) error {
	_, err := e.present(s, presentation{op: op, what: what, json: func(int) any { return value }})
	return err
}

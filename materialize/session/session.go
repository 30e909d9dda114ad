// Package session holds the rules of sessions: the folders in which the agents of
// one command share files. It makes ids, stores artifacts, tells which are there,
// whether an agent can read what it was told to read, how a session stands, and
// what its files have saved.
//
// A session is the artifacts whose field for the session is its id. There is no
// current one: whoever works in a session names it.
package session

import (
	"time"

	"filebus/materialize"
	"filebus/query"
)

// A Registry is the sessions of a workspace.
type Registry struct {
	w    *materialize.Workspace
	read *query.Reader
	now  func() time.Time
}

// Open returns the Registry of a workspace.
func Open(w *materialize.Workspace, read *query.Reader, now func() time.Time) *Registry {
	return &Registry{w, read, now}
}

// Package session holds the rules of sessions: the folders in which the agents of
// one command share files. It makes ids, stores artifacts, tells which are there,
// whether an agent can read what it was told to read, how a session stands, and
// what its files have saved. It gathers what a session's records refer to, now or at
// a step of the log, and lays it out with an index.
//
// A session is the artifacts whose field for the session is its id. There is no
// current one: whoever works in a session names it. Its main types are Registry,
// Key and Session.
package session

import (
	"context"
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Registry is the sessions of a workspace.
type Registry struct {
	w    *materialize.Workspace
	read *query.Reader
	now  func() time.Time
}

// Open returns the Registry of a workspace. Without one, nil, it can check files.
func Open(w *materialize.Workspace, read *query.Reader, now func() time.Time) *Registry {
	return &Registry{w, read, now}
}

// open opens a body, which stays readable after the transaction.
func (r *Registry) open(ctx context.Context, file *record.Record) (io.ReadCloser, error) {
	var content store.Content
	err := r.w.Store.View(ctx, func(tx *store.Tx) (err error) {
		content, err = tx.Content(file)
		return err
	})
	if err != nil {
		return nil, err
	}
	return content.Open()
}

// A Key says which session is meant.
type Key struct {
	Tree   record.Tree
	Prefix string // the folders that its root lies in, if these are not the workspace's own
	Type   string
	ID     string
}

// String returns the key as it is typed: type/id.
func (k Key) String() string {
	text := path.Join(k.Prefix, k.Type, k.ID)
	if k.Tree != "" {
		text = string(k.Tree) + ":" + text
	}
	return text
}

// MarshalText returns what String does.
func (k Key) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// IsOwn reports whether the session is one of the workspace itself, whose files
// may be written.
func (k Key) IsOwn() bool { return k.Tree == "" }

// file returns the name of a file of the session.
func (k Key) file(name string) record.Name {
	return record.Name{Tree: k.Tree, Kind: record.KindArtifact, ID: path.Join(k.Prefix, layout.ArtifactID(k.Type, k.ID, name))}
}

// checkOwn refuses to write to a captured session.
func (k Key) checkOwn() error {
	if !k.IsOwn() {
		return record.Conflict.Errorf("the session %s is part of the captured tree %s, which does not change", k,
			k.Tree).
			Because(ErrCaptured, string(k.Tree))
	}
	return nil
}

// keyOf returns the session that a record belongs to, if it is one of its files.
func keyOf(e query.Summary) (Key, bool) {
	return keyIn(e.Version.Record.Name, e.Version.Record.Session, e.Description.Attributes)
}

func keyIn(name record.Name, id string, attributes map[string]string) (Key, bool) {
	k := Key{Tree: name.Tree, Type: attributes[layout.AttributeWorkflow], ID: id}
	if name.Kind != record.KindArtifact || k.Type == "" || k.ID == "" {
		return Key{}, false
	}
	if at := strings.Index("/"+name.ID, "/"+k.Type+"/"); at > 0 && !strings.HasPrefix(name.ID, "~/") {
		k.Prefix = name.ID[:at-1]
	}
	return k, true
}

// Reasons of errors of this package, with what they name.
const (
	ErrUnset         record.Reason = "session left out" // a text has no id, as where a variable is not set
	ErrWord          record.Reason = "no such word"     // for a type, the name of a session, an artifact
	ErrNoSession     record.Reason = "no such session"  // names those that come near, at most five
	ErrSeveral       record.Reason = "several sessions" // names them, at most five
	ErrTaken         record.Reason = "session taken"    // names it
	ErrCaptured      record.Reason = "session captured" // it does not change; names its tree
	ErrLongSummary   record.Reason = "summary too long"
	ErrEmpty         record.Reason = "artifact empty"
	ErrNotEnded      record.Reason = "session not ended"   // names it
	ErrFileTaken     record.Reason = "archive taken"       // a file stands there
	ErrNothingStored record.Reason = "nothing of session"  // names ids that may have been meant
	ErrTooEarly      record.Reason = "session begun later" // names it and the position of its first step
)

// Unset returns the error that a text leaves the id of a session out.
func Unset(text string) error {
	wrong := "empty"
	if text != "" {
		wrong = fmt.Sprintf("missing in %q", text)
	}
	return record.Usage.Errorf("the id of the session is %s: is the variable that holds it set?",
		wrong).Because(ErrUnset)
}

// noWord returns the error that a text cannot be what it is meant for.
func noWord(what, text, rule string) error {
	return record.Usage.Errorf("%q is no %s: %s", text, what, rule).Because(ErrWord)
}

// TooLong returns the error that a summary has too many words.
func TooLong(words int) error {
	const message = "the summary has %d words; it has to have fewer than %d, so nothing was stored"
	return record.Wanting.Errorf(message, words, MaxSummary+1).Because(ErrLongSummary)
}

// texts returns the first keys as they are typed.
func texts(keys []Key) []string {
	var all []string
	for _, k := range keys[:min(len(keys), 5)] {
		all = append(all, k.String())
	}
	return all
}

package result

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"filebus/materialize"
	"filebus/materialize/layout"
	"filebus/store"
	"filebus/store/record"
)

// A Call says whose output a result is and where it belongs. The zero Call is an
// output of which nothing is known; what is missing of its ids is made.
type Call struct {
	Agent              string // in any writing; it is stored as a slug
	Conversation       string // made if empty
	ID                 string // of the call within its conversation; made if empty
	Session, Task, Run string
	Status             string
	Tags               []string
	From               []record.Ref // what the output was made from
	Name               string       // the whole id of the result, in place of conversation and call
	Preview            int          // most characters of the preview; 0: the setting
	Structured         bool         // the output should be a JSON object
	Schema             *Schema      // that the output must fit; nil: any
}

// ErrCall says that the ids of a call cannot be those of a result.
var ErrCall = errors.New("malformed call")

// id returns the id of the result, with an empty part for what is to be made.
func (c Call) id() (string, error) {
	switch {
	case c.Name != "":
		return c.Name, nil
	case strings.ContainsAny(c.Conversation+c.ID, `/\`):
		return "", fmt.Errorf("%w: %q and %q: the ids of a conversation and a call are one word each, without a slash",
			ErrCall, c.Conversation, c.ID)
	case c.Conversation != "":
		return c.Conversation + "/" + c.ID, nil
	case c.ID != "":
		return "", fmt.Errorf("%w: call %q needs a conversation", ErrCall, c.ID)
	}
	return "", nil
}

// Facts returns what the call says of its output, but for the conversation, which
// the name of a result says.
func (c Call) Facts() layout.Facts {
	return layout.Facts{
		Agent: layout.Slug(c.Agent), Session: c.Session, Task: c.Task, Run: c.Run, Status: c.Status, Tags: c.Tags,
	}
}

// request returns what the call asks of the workspace.
func (c Call) request(source record.Source, output io.Reader) (materialize.PutRequest, error) {
	id, err := c.id()
	return materialize.PutRequest{
		Kind: record.KindResult, ID: id, Text: output, Facts: c.Facts(), From: c.From, Preview: c.Preview, Source: source,
	}, err
}

// A Stored is a result with what was found wrong with it.
type Stored struct {
	*materialize.PutResult
	Problems []string // where the output does not fit its schema, a line each
}

// Put stores an output and writes its file. An output that does not fit the
// call's schema is stored too, as invalid: what was received is never lost.
func Put(ctx context.Context, w *materialize.Workspace, c Call, expect store.Expect, output io.Reader) (*Stored, error) {
	r, err := c.request(record.SourcePut, output)
	if err != nil {
		return nil, err
	}
	r.Expect = expect
	return c.store(ctx, w, r)
}

// store examines the text of a request, if the call asks for it, and puts it.
func (c Call) store(ctx context.Context, w *materialize.Workspace, r materialize.PutRequest) (*Stored, error) {
	problems, err := c.examine(&r)
	if err != nil {
		return nil, err
	}
	put, err := w.Put(ctx, r)
	if err != nil {
		return nil, err
	}
	return &Stored{put, problems}, nil
}

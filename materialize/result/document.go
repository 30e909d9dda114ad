package result

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"strings"

	"filebus/materialize"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// A Document is a PDF that was made from Markdown.
type Document struct {
	Source   *store.Version // that the Markdown is stored as; nil: it is not
	Markdown []byte         // it gives the document its preview and words
	Title    string         // empty: that of the Markdown
	PDF      []byte
}

// DocumentAgent is whose result a document is unless the call says otherwise.
const DocumentAgent = "pdf"

// documentSuffix ends the call of a document, and so the name of its file.
const documentSuffix = ".pdf"

// PutDocument stores a document as a result that is derived from its source, in the
// conversation of the call, else in that of the source, else in a new one. If the
// same document of the same source is there already, it is the result.
func PutDocument(ctx context.Context, w *materialize.Workspace, read *query.Reader, c Call, d Document) (*Stored, error) {
	c.Agent = cmp.Or(c.Agent, DocumentAgent)
	c.Structured, c.Schema = false, nil // a PDF has no object
	if d.Source != nil {
		c.From = append([]record.Ref{d.Source.Ref}, c.From...)
		if c.Conversation == "" {
			c.Conversation = usableConversation(d.Source.Record.Conversation)
		}
	}
	r, err := c.request(record.SourcePDF, nil)
	if err != nil {
		return nil, err
	}
	r.About, r.Facts.Title = d.Markdown, d.Title
	if r.ID, err = documentID(ctx, read, c, record.DigestOf(d.PDF)); err != nil {
		return nil, err
	}
	if r.ID != "" {
		r.Text = bytes.NewReader(d.PDF)
		return c.put(ctx, w, r)
	}
	for {
		r.ID, r.Text, r.Expect = newDocumentID(w, c.Conversation), bytes.NewReader(d.PDF), store.Absent()
		stored, err := c.store(ctx, w, r)
		var taken *store.ConflictError
		if !errors.As(err, &taken) { // else another process made the same id
			return stored, err
		}
	}
}

// documentID returns the id that the call names, or that the document has already;
// empty: it needs a new one.
func documentID(ctx context.Context, read *query.Reader, c Call, body record.Digest) (string, error) {
	if c.ID == "" {
		before, err := c.madeBefore(ctx, read, record.SourcePDF)
		return idOfText(before, body), err
	}
	if !strings.HasSuffix(c.ID, documentSuffix) {
		c.ID += documentSuffix
	}
	name, err := resultName(c.Conversation, c.ID)
	return name.ID, err
}

func newDocumentID(w *materialize.Workspace, conversation string) string {
	if conversation == "" {
		conversation = w.NewID()
	}
	return conversation + "/" + w.NewID() + documentSuffix
}

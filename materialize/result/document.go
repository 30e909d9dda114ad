package result

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"

	"filebus/materialize"
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
func PutDocument(ctx context.Context, w *materialize.Workspace, c Call, d Document) (*Stored, error) {
	if c.Agent == "" {
		c.Agent = DocumentAgent
	}
	if d.Source != nil {
		c.From = append([]record.Ref{d.Source.Ref}, c.From...)
		if c.Conversation == "" {
			c.Conversation = d.Source.Record.Conversation
		}
	}
	r, err := c.request(record.SourcePDF, nil)
	if err != nil {
		return nil, err
	}
	r.About, r.Facts.Title = d.Markdown, d.Title
	if r.ID, err = documentID(ctx, w, c, record.DigestOf(d.PDF)); err != nil {
		return nil, err
	}
	for made := r.ID == ""; ; {
		if made {
			r.ID, r.Expect = newDocumentID(w, c.Conversation), store.Absent()
		}
		r.Text = bytes.NewReader(d.PDF)
		put, err := w.Put(ctx, r)
		if made && errors.Is(err, store.ErrConflict) {
			continue // another process made the same id
		}
		if err != nil {
			return nil, err
		}
		return &Stored{PutResult: put}, nil
	}
}

// documentID returns the id that the call names, or that the document has already;
// empty: it needs a new one.
func documentID(ctx context.Context, w *materialize.Workspace, c Call, body record.Digest) (string, error) {
	if c.ID == "" {
		return findDocument(ctx, w, c, body)
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

// findDocument looks for a document with these bytes of the same source: in the
// conversation, or, if that is to be made, among all of the agent.
func findDocument(ctx context.Context, w *materialize.Workspace, c Call, body record.Digest) (id string, err error) {
	field, value := store.FieldConversation, c.Conversation
	if value == "" {
		field, value = store.FieldAgent, c.Facts().Agent
	}
	err = w.Store.View(ctx, func(tx *store.Tx) error {
		for ref, err := range tx.Lookup(field, value) {
			if err != nil {
				return err
			}
			v, err := tx.Get(ref)
			if err != nil {
				return err
			}
			r := v.Record
			if r.Name.Tree == "" && r.Name.Kind == record.KindResult && r.Source == record.SourcePDF && r.Body == body &&
				r.Agent == c.Facts().Agent && slices.Equal(r.From, c.From) {
				id = r.Name.ID
				return nil
			}
		}
		return nil
	})
	return id, err
}

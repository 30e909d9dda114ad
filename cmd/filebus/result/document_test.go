package result_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"filebus/cmd/filebus/result"
	"filebus/materialize"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

func mustPutDocument(t *testing.T, w *materialize.Workspace, c result.Call, d result.Document) *result.Stored {
	t.Helper()
	stored, err := result.PutDocument(t.Context(), w, query.New(w.Store, query.Options{}), c, d)
	if err != nil {
		t.Fatalf("PutDocument(%+v): %v", c, err)
	}
	return stored
}

// sourceVersion stores a Markdown text in conversation c1.
func sourceVersion(t *testing.T, w *materialize.Workspace, text string) *store.Version {
	t.Helper()
	put, err := result.Put(t.Context(), w, result.Call{Conversation: "c1"}, store.Expect{}, strings.NewReader(text))
	if err != nil {
		t.Fatalf("Put: %v", err)
	}
	return &store.Version{Ref: put.Ref, Record: put.Record}
}

func TestPutDocument(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	source := sourceVersion(t, w, "# Of caches\n\nThey keep things.\n")
	d := result.Document{Source: source, Markdown: []byte("# Of caches\n\nThey keep things.\n"), Title: "Caches", PDF: []byte("%PDF-1.3 x")}
	first := mustPutDocument(t, w, result.Call{}, d)
	if !strings.HasPrefix(first.Name.ID, "c1/") || !strings.HasSuffix(first.Name.ID, ".pdf") {
		t.Errorf("the id is %q, want one of c1 that ends in .pdf", first.Name.ID)
	}
	want := record.Reference{Agent: "pdf", ResultFile: first.File, WordCount: 6, Preview: "They keep things."}
	if diff := cmp.Diff(want, first.Reference()); diff != "" {
		t.Errorf("reference (-want +got):\n%s", diff)
	}
	r := first.Record
	if r.Source != record.SourcePDF || r.MediaType != "application/pdf" || !cmp.Equal(r.From, []record.Ref{source.Ref}) {
		t.Errorf("the record is %+v, want a PDF from %s", r, source.Ref)
	}
	if got := first.Description.Title; got != "Caches" {
		t.Errorf("the title is %q, want Caches", got)
	}
	if text, err := os.ReadFile(first.File); err != nil || string(text) != "%PDF-1.3 x" {
		t.Errorf("the file holds %q, %v", text, err)
	}
}

// TestPutDocumentAgain tells what is the same document from what is another.
func TestPutDocumentAgain(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	source, other := sourceVersion(t, w, "one"), sourceVersion(t, w, "two")
	d := result.Document{Source: source, Markdown: []byte("one"), PDF: []byte("%PDF one")}
	first := mustPutDocument(t, w, result.Call{}, d)
	outside := result.Document{Markdown: []byte("one"), PDF: []byte("%PDF one")}
	firstOutside := mustPutDocument(t, w, result.Call{}, outside)
	tests := []struct {
		name string
		call result.Call
		d    result.Document
		want string // the id; empty: a new one
	}{
		{"the same", result.Call{}, d, first.Name.ID},
		{"its conversation", result.Call{Conversation: "c1"}, d, first.Name.ID},
		{"its id", result.Call{Conversation: "c1", ID: strings.TrimPrefix(first.Name.ID, "c1/")}, d, first.Name.ID},
		{"an id without the extension", result.Call{Conversation: "c1", ID: "doc"}, d, "c1/doc.pdf"},
		{"from outside of the store", result.Call{}, outside, firstOutside.Name.ID},
		{"another conversation", result.Call{Conversation: "c2"}, d, ""},
		{"another agent", result.Call{Agent: "Printer"}, d, ""},
		{"another source", result.Call{}, result.Document{Source: other, Markdown: d.Markdown, PDF: d.PDF}, ""},
		{"other bytes", result.Call{}, result.Document{Source: source, Markdown: d.Markdown, PDF: []byte("%PDF 2")}, ""},
	}
	seen := map[string]bool{first.Name.ID: true, firstOutside.Name.ID: true}
	for _, test := range tests {
		got := mustPutDocument(t, w, test.call, test.d).Name.ID
		if test.want != "" && got != test.want || test.want == "" && seen[got] {
			t.Errorf("%s: id %q, want %q", test.name, got, test.want)
		}
		seen[got] = true
	}
}

// TestPutDocumentTagged makes a document again that has got tags: it is the same
// result, with its preview.
func TestPutDocumentTagged(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	d := result.Document{Source: sourceVersion(t, w, "one"), Markdown: []byte("one"), PDF: []byte("%PDF one")}
	first := mustPutDocument(t, w, result.Call{}, d)
	if _, err := w.Tag(t.Context(), first.Name, []string{"printed"}, nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []result.Call{{}, {Tags: []string{"final"}, Preview: 1}} {
		again := mustPutDocument(t, w, c, d)
		if diff := cmp.Diff(first.Reference(), again.Reference()); diff != "" || again.Name != first.Name {
			t.Errorf("PutDocument(%+v) = %s, want %s; reference (-want +got):\n%s", c, again.Name, first.Name, diff)
		}
		if want := append([]string{"printed"}, c.Tags...); !slices.Contains(again.Record.Tags, want[len(want)-1]) || !slices.Contains(again.Record.Tags, "printed") {
			t.Errorf("PutDocument(%+v) has the tags %q, want %q", c, again.Record.Tags, want)
		}
	}
}

// TestPutDocumentConversation takes a new conversation where the source's cannot
// be that of a result.
func TestPutDocumentConversation(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	source := sourceVersion(t, w, "one")
	for _, conversation := range []string{"a/b", ".git", strings.Repeat("x", 250)} {
		odd := *source.Record
		odd.Conversation = conversation
		d := result.Document{Source: &store.Version{Ref: source.Ref, Record: &odd}, Markdown: []byte("one"), PDF: []byte("%PDF " + conversation)}
		id := mustPutDocument(t, w, result.Call{}, d).Name.ID
		if strings.HasPrefix(id, conversation) || strings.Count(id, "/") != 1 {
			t.Errorf("the id of a document from conversation %.20q is %q, want one of a new conversation", conversation, id)
		}
	}
}

func TestPutDocumentRefused(t *testing.T) {
	t.Parallel()
	w := newWorkspace(t)
	for _, c := range []result.Call{{ID: "x"}, {Conversation: "a/b"}, {Conversation: "c", ID: "a/b"}, {Conversation: ".git", ID: "x"}} {
		if stored, err := result.PutDocument(t.Context(), w, query.New(w.Store, query.Options{}), c, result.Document{PDF: []byte("%PDF")}); err == nil {
			t.Errorf("PutDocument(%+v) = %s, want an error", c, stored.Name)
		}
	}
}

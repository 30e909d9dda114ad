package query

import (
	"path/filepath"
	"testing"
	"time"

	"filebus/index"
	"filebus/store"
	"filebus/store/record"
)

// TestUpdateMeanwhile replaces a record between the moment at which the log's end
// was fixed and the one at which its entry is read: the name must be found all
// the same.
func TestUpdateMeanwhile(t *testing.T) {
	t.Parallel()
	s, err := store.Create(t.Context(), filepath.Join(t.TempDir(), ".filebus"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	put := func(text string) {
		t.Helper()
		body, err := s.Prepare(t.Context(), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		draft := store.Draft{Body: body, Record: record.Record{
			Name: record.Name{Kind: record.KindNote, ID: "a"}, Source: record.SourcePut,
		}}
		if _, err := s.Put(t.Context(), draft); err != nil {
			t.Fatal(err)
		}
	}
	put("an old ortolan")
	c, err := New(s, Options{}).newCatchUp(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	put("a new ortolan")
	var result index.Result
	err = c.ask(t.Context(), time.Now().Add(time.Minute), func(x *index.Index) (err error) {
		result, err = c.searchIn(t.Context(), x, &SearchRequest{Request: index.Request{Query: "ortolan", Limit: 5}})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(result.Hits) != 1 || result.Hits[0].Position != 2 || c.position != 1 {
		t.Errorf("hits %+v at position %d; want the newer version, at position 1", result.Hits, c.position)
	}
}

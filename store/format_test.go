package store_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"filebus/store"
	"filebus/store/record"
)

// section returns the text between two marks of docs/format.md.
func section(t *testing.T, begin, end string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "format.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), begin)
	inner, _, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("docs/format.md has nothing between %q and %q", begin, end)
	}
	return inner
}

// documented makes the store of the examples in docs/format.md.
func documented(t *testing.T) *store.Store {
	t.Helper()
	now := time.Date(2026, 3, 2, 9, 59, 59, 0, time.UTC)
	s, err := store.Create(t.Context(), filepath.Join(t.TempDir(), ".filebus"), store.Options{
		Random: strings.NewReader("\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f"),
		Now:    func() time.Time { now = now.Add(time.Second); return now },
	})
	if err != nil {
		t.Fatal(err)
	}
	now = now.Add(-time.Second) // creation looked at the clock too
	exit := 0
	outcome := put(t, s, "result/conv-1/call-1", "# Findings\n\nOne writer at a time.\n", tagged("locking", "sqlite"), func(d *store.Draft) {
		r := &d.Record
		r.Path, r.MediaType, r.Agent, r.Conversation = "agent_tool_results/conv-1/call-1.md", "text/markdown", "web_researcher", "conv-1"
		r.Exit, r.Links = &exit, []record.Link{{Type: "answers", Target: "task/task-003"}}
	})
	update(t, s, func(tx *store.Tx) error { return tx.Retire(outcome.Record.Name, store.Current(outcome.Ref)) })
	t.Cleanup(func() { mustCheck(t, s) })
	return s
}

// TestDocumentedStore holds the bytes of a database against the examples of
// docs/format.md, read with the database library alone.
func TestDocumentedStore(t *testing.T) {
	t.Parallel()
	db := openBolt(t, documented(t), true)
	t.Cleanup(func() { closeBolt(t, db) })
	example := section(t, "```record\n", "```")
	ref := record.RefOf([]byte(example))
	nameOf := "\x00result\x00conv-1/call-1"
	one, two := string(position(1)), string(position(2))
	err := db.View(func(tx *bbolt.Tx) error {
		for _, want := range []struct{ bucket, key, value string }{
			{"meta", "schema", "7"},
			{"meta", "origin", "000102030405060708090a0b0c0d0e0f"},
			{"meta", "created", "2026-03-02T10:00:00.000000000Z"},
			{"records", one, string(ref[:]) + example},
			{"digests", string(position(0)) + string(ref[:8]) + one, ""},
			{"names", nameOf, "r" + string(ref[:]) + two},
			{"history", nameOf + "\x00" + one, "p" + string(ref[:])},
			{"history", nameOf + "\x00" + two, "r" + string(ref[:])},
		} {
			if got := string(tx.Bucket([]byte(want.bucket)).Get([]byte(want.key))); got != want.value {
				t.Errorf("bucket %s, key %q = %q, want %q", want.bucket, want.key, got, want.value)
			}
		}
		digest := record.DigestOf([]byte("# Findings\n\nOne writer at a time.\n"))
		if got := string(tx.Bucket([]byte("bodies")).Get(position(1))); got != string(digest[:])+"\x00# Findings\n\nOne writer at a time.\n" {
			t.Errorf("body = %q, want the digest, codec 0 and the text", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestDocumentedLog compares the worked example of the log with what is stored.
func TestDocumentedLog(t *testing.T) {
	t.Parallel()
	s := documented(t)
	ids, err := s.Origins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	start := record.DigestOf([]byte("filebus log 1\n" + string(ids[0])))
	got := fmt.Sprintf("chain(0) = %v\n", start)
	db := openBolt(t, s, true)
	err = db.View(func(tx *bbolt.Tx) error {
		n := 0
		return tx.Bucket([]byte("log")).ForEach(func(k, v []byte) error {
			n++
			got += string(v[32:]) + fmt.Sprintf("chain(%d) = %s\n", n, hex.EncodeToString(v[:32]))
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
	closeBolt(t, db)
	if diff := cmp.Diff(section(t, "```log\n", "```"), got); diff != "" {
		t.Errorf("the log of docs/format.md (-documented +stored):\n%s", diff)
	}
}

// TestDocumentedBuckets holds the list of buckets and the list of look-up
// fields against the database.
func TestDocumentedBuckets(t *testing.T) {
	t.Parallel()
	var documentedBuckets []string
	for _, line := range strings.Split(section(t, "## 2. Buckets", "## 3. Records"), "\n") {
		if rest, found := strings.CutPrefix(line, "- `"); found {
			bucket, _, _ := strings.Cut(rest, "`")
			documentedBuckets = append(documentedBuckets, bucket)
		}
	}
	db := openBolt(t, documented(t), true)
	err := db.View(func(tx *bbolt.Tx) error {
		for _, bucket := range documentedBuckets {
			if tx.Bucket([]byte(bucket)) == nil {
				t.Errorf("docs/format.md has a bucket %s, the database has none", bucket)
			}
		}
		return tx.ForEach(func(bucket []byte, _ *bbolt.Bucket) error {
			if !strings.Contains(strings.Join(documentedBuckets, " "), string(bucket)) {
				t.Errorf("the database has a bucket %s, docs/format.md has none", bucket)
			}
			return nil
		})
	})
	if err != nil {
		t.Error(err)
	}
	closeBolt(t, db)
	for _, field := range []store.Field{store.FieldSession, store.FieldConversation, "task", "run", store.FieldTag,
		"agent", store.FieldKind, "status", store.FieldPath, store.FieldConflict} {
		if !strings.Contains(section(t, "## 5. Look-ups", "## 6."), "`"+string(field)+"`") {
			t.Errorf("docs/format.md does not tell of the look-up field %s", field)
		}
	}
}

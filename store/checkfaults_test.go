package store_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"filebus/store"
	"filebus/store/record"
)

// key returns name parts joined by NUL, as the database's keys are.
func key(parts ...string) []byte { return []byte(strings.Join(parts, "\x00")) }

func position(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// first returns the first key with a prefix, and its value.
func first(b *bbolt.Bucket, prefix []byte) (k, v []byte) {
	k, v = b.Cursor().Seek(prefix)
	if !bytes.HasPrefix(k, prefix) {
		return nil, nil
	}
	return bytes.Clone(k), bytes.Clone(v)
}

// A damage changes a database, and want is part of the fault that tells of it.
// The versions are those of note/a.
type damage struct {
	want   string
	tamper func(tx *bbolt.Tx, versions []store.Outcome) error
}

func bucket(tx *bbolt.Tx, name string) *bbolt.Bucket { return tx.Bucket([]byte(name)) }

// removeKey removes the first key with a prefix.
func removeKey(from string, prefix []byte) func(*bbolt.Tx, []store.Outcome) error {
	return func(tx *bbolt.Tx, _ []store.Outcome) error {
		k, _ := first(bucket(tx, from), prefix)
		if place, head := placeOf(tx, from, prefix); head != nil {
			k = place
		}
		if k == nil {
			return errors.New("the store of the test has no such key")
		}
		return bucket(tx, from).Delete(k)
	}
}

func addKey(to string, k, v []byte) func(*bbolt.Tx, []store.Outcome) error {
	return func(tx *bbolt.Tx, _ []store.Outcome) error {
		k, head := placeOf(tx, to, k)
		return bucket(tx, to).Put(k, append(bytes.Clone(head), v...))
	}
}

// changeValue edits the value of the first key with a prefix.
func changeValue(in string, prefix []byte, edit func(v []byte)) func(*bbolt.Tx, []store.Outcome) error {
	return func(tx *bbolt.Tx, _ []store.Outcome) error {
		k, v := first(bucket(tx, in), prefix)
		edit(v)
		return bucket(tx, in).Put(k, v)
	}
}

func flipLast(v []byte) { v[len(v)-1] ^= 1 }

func bodyKey(text string) []byte {
	digest := record.DigestOf([]byte(text))
	return digest[:]
}

// sharedBody is the key of a body that two records have, singleBody of one that
// one record has, and nobody a digest and ref of nothing.
func sharedBody() []byte { return bodyKey("shared") }
func singleBody() []byte { return bodyKey("two") }
func nobody() []byte     { return bytes.Repeat([]byte{7}, 32) }

// checkFinds makes one kind of damage at a time with the database library alone,
// as docs/format.md describes the buckets, and looks whether Check tells.
func checkFinds(t *testing.T, damages map[string]damage) {
	t.Helper()
	for label, test := range damages {
		t.Run(label, func(t *testing.T) {
			s := unchecked(t)
			versions := damageable(t, s)
			mustCheck(t, s)
			tamper(t, s, func(tx *bbolt.Tx) error { return test.tamper(tx, versions) })
			report, err := s.Check(t.Context(), nil)
			if err != nil || !errors.Is(report.Err(), store.ErrDamaged) || !strings.Contains(fmt.Sprint(report.Faults), test.want) {
				t.Errorf("Check = %q, %v; want a fault with %q", report.Faults, err, test.want)
			}
		})
	}
}

func TestCheckFindsLookups(t *testing.T) {
	t.Parallel()
	checkFinds(t, map[string]damage{
		"a removed look-up":      {"is missing", removeKey("lookups", key("tag", "red", ""))},
		"a removed path look-up": {"is missing", removeKey("lookups", key("path", ":a.md", ""))},
		"a removed conflict":     {"is missing", removeKey("lookups", key("conflict", ""))},
		"an extra look-up": {"not current", func(tx *bbolt.Tx, versions []store.Outcome) error {
			return bucket(tx, "lookups").Put(append(key("tag", "blue", ""), position(2)...), versions[1].Ref[:])
		}},
		"a look-up of an old version": {"not current", func(tx *bbolt.Tx, versions []store.Outcome) error {
			return bucket(tx, "lookups").Put(append(key("kind", "note", ""), position(1)...), versions[0].Ref[:])
		}},
		"a look-up of no record": {"not found", addKey("lookups", append(key("tag", "x", ""), position(1)...), nobody())},
		"a look-up cut short":    {"malformed look-up", addKey("lookups", append(key("tag", "x", ""), position(1)...), nobody()[:5])},
	})
}

func TestCheckFindsBodies(t *testing.T) {
	t.Parallel()
	checkFinds(t, map[string]damage{
		"a use count too high":        {"use count is 3", addKey("uses", sharedBody(), position(3))},
		"a use count removed":         {"use count is 1", removeKey("uses", sharedBody())},
		"a use count of a single use": {"its use count is", addKey("uses", singleBody(), position(1))},
		"a use count too many":        {"use count is 2", addKey("uses", singleBody(), position(2))},
		"a use count of no body":      {"belongs to no record", addKey("uses", nobody(), position(2))},
		"a look-up of nothing": {"leads to nothing", func(tx *bbolt.Tx, versions []store.Outcome) error {
			return bucket(tx, "digests").Put(slices.Concat(position(0), nobody()[:8], position(1)), nil)
		}},
		"a look-up in another run": {"leads to nothing", func(tx *bbolt.Tx, versions []store.Outcome) error {
			return bucket(tx, "digests").Put(slices.Concat(position(2048), versions[0].Ref[:8], position(1)), nil)
		}},
		"a malformed look-up":         {"malformed look-up", addKey("digests", nobody(), nil)},
		"a missing look-up of a body": {"is missing", removeKey("digests", slices.Concat(position(0), singleBody()[:8]))},
		"a body of no record":         {"belongs to no record", addKey("bodies", nobody(), []byte("\x00x"))},
		"a missing body":              {"is missing", removeKey("bodies", singleBody())},
		"a body of another codec":     {"unknown codec", addKey("bodies", singleBody(), []byte("\x09two"))},
		"a body without a codec":      {"no codec", addKey("bodies", singleBody(), nil)},
		"an altered body":             {"does not have its digest", addKey("bodies", singleBody(), []byte("\x00too"))},
		"a body file that is missing": {"file is missing", addKey("bodies", singleBody(), []byte{2})},
	})
}

func TestCheckFindsLog(t *testing.T) {
	t.Parallel()
	checkFinds(t, map[string]damage{
		"a broken chain":       {"chain is broken", changeValue("log", position(2), func(v []byte) { v[0] ^= 1 })},
		"an altered log entry": {"chain is broken", changeValue("log", position(2), func(v []byte) { v[bytes.Index(v, []byte("Z put"))-1] = '1' })},
		"a log entry of another ref": {"not found", changeValue("log", position(2), func(v []byte) {
			v[len(v)-2] = "123456789abcdef0"[strings.IndexByte("0123456789abcdef", v[len(v)-2])]
		})},
		"a malformed log entry": {"malformed log entry", changeValue("log", position(2), flipLast)},
		"an unknown operation":  {"unknown operation", changeValue("log", position(2), func(v []byte) { copy(v[32:], bytes.Replace(v[32:], []byte(" put "), []byte(" pot "), 1)) })},
		"a missing log entry":   {"from 2 on are missing", removeKey("log", position(2))},
		"a log entry at the wrong key": {"says that it is", func(tx *bbolt.Tx, versions []store.Outcome) error {
			_, v := first(bucket(tx, "log"), position(1))
			return bucket(tx, "log").Put(position(2), v)
		}},
		"a missing record": {"not found", func(tx *bbolt.Tx, versions []store.Outcome) error {
			return bucket(tx, "records").Delete(position(1))
		}},
		"an altered record": {"does not have its digest", func(tx *bbolt.Tx, versions []store.Outcome) error {
			return changeValue("records", position(1), flipLast)(tx, versions)
		}},
		"a record at another position": {"its log entry at", func(tx *bbolt.Tx, versions []store.Outcome) error {
			b, k, prefix := bucket(tx, "digests"), position(1), versions[0].Ref[:8]
			return errors.Join(bucket(tx, "records").Put(position(11), bucket(tx, "records").Get(k)), bucket(tx, "records").Delete(k),
				b.Put(slices.Concat(position(0), prefix, position(11)), nil), b.Delete(slices.Concat(position(0), prefix, k)))
		}},
		"a dropped ref not listed":  {"not listed as dropped", removeKey("dropped", nil)},
		"a dropped ref of no entry": {"listed as dropped", addKey("dropped", nobody(), position(3))},
		"a lost record called dropped": {"listed as dropped", func(tx *bbolt.Tx, versions []store.Outcome) error {
			return errors.Join(bucket(tx, "records").Delete(position(1)), bucket(tx, "dropped").Put(versions[0].Ref[:], position(1)))
		}},
	})
}

func TestCheckFindsNames(t *testing.T) {
	t.Parallel()
	checkFinds(t, map[string]damage{
		"a missing name":         {"name is missing", removeKey("names", key("", "note", "a"))},
		"a missing retired name": {"name is missing", removeKey("names", key("", "marker", "m"))},
		"a name of an old version": {"does not agree", func(tx *bbolt.Tx, versions []store.Outcome) error {
			return changeValue("names", key("", "note", "a"), func(v []byte) { copy(v[1:], versions[0].Ref[:]) })(tx, versions)
		}},
		"a name that was retired": {"does not agree", changeValue("names", key("", "note", "a"), func(v []byte) { v[0] = 'r' })},
		"a name of no record":     {"is missing or of another name", changeValue("names", key("", "note", "a"), func(v []byte) { copy(v[1:], nobody()) })},
		"a malformed name entry":  {"malformed name entry", addKey("names", key("", "note", "a"), []byte("h"))},
		"a name too long":         {"bytes", addKey("names", key("", "note", strings.Repeat("x", 30000)), bytes.Repeat([]byte{'h'}, 41))},
		"a malformed name":        {"malformed name", addKey("names", []byte("note/b"), bytes.Repeat([]byte{'h'}, 41))},
		"a name without history": {"does not agree", func(tx *bbolt.Tx, versions []store.Outcome) error {
			_, v := first(bucket(tx, "names"), key("", "note", "a"))
			return bucket(tx, "names").Put(key("", "note", "zzz"), v)
		}},
		"a missing first version":        {"its history lacks", removeKey("history", key("", "note", "a", ""))},
		"a missing retirement":           {"its history lacks", removeKey("history", append(key("", "marker", "m", ""), position(6)...))},
		"a name at another position":     {"stands at position", changeValue("names", key("", "note", "a"), func(v []byte) { v[40]++ })},
		"a history line too many":        {"which the log has not", addKey("history", append(key("", "note", "a", ""), position(3)...), append([]byte("p"), nobody()...))},
		"a line of a drop that was none": {"which the log has not", changeValue("history", key("", "note", "b", ""), func(v []byte) { v[0] = 'x' })},
		"a missing conflict":             {"its history lacks", removeKey("history", append(key("", "note", "a", ""), position(7)...))},
		"an altered history":             {"its history lacks", changeValue("history", key("", "note", "a", ""), flipLast)},
		"a malformed history":            {"malformed history", addKey("history", append(key("", "note", "a", ""), position(2)...), []byte("p"))},
	})
}

// damageable makes a store with something in every bucket:
//
//	1 put note/a   2 put note/a   3 put note/b   4 put lib:note/b, the same body
//	5 put marker/m   6 retire it   7 put a conflict version of note/a
//	8 put result/c/1   9 retire   10 drop it
func damageable(t *testing.T, s *store.Store) []store.Outcome {
	t.Helper()
	at := func(path string) func(*store.Draft) { return func(d *store.Draft) { d.Record.Path = path } }
	one := put(t, s, "note/a", "one", tagged("red"), at("a.md"))
	two := put(t, s, "note/a", "two", tagged("red"), at("a.md"))
	put(t, s, "note/b", "shared")
	put(t, s, "lib:note/b", "shared")
	put(t, s, "marker/m", "done")
	update(t, s, func(tx *store.Tx) error { return tx.Retire(name(t, "marker/m"), store.Expect{}) })
	put(t, s, "note/a", "side", conflictWith(two.Ref))
	gone := put(t, s, "result/c/1", "gone")
	update(t, s, func(tx *store.Tx) error { return tx.Drop(gone.Ref) })
	return []store.Outcome{one, two}
}

func conflictWith(head record.Ref) func(*store.Draft) {
	return func(d *store.Draft) {
		d.Record.Links = []record.Link{{Type: record.LinkConflict, Target: head.String()}}
	}
}

func TestCheckRemarksStrayFile(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	put(t, s, "note/large", randomText(store.InlineLimit+1))
	stray := filepath.Join(s.Dir(), "bodies", "ab", strings.Repeat("ab", 32)+".zst")
	for _, path := range []string{stray, filepath.Join(s.Dir(), "bodies", "ab", "odd name.zst")} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o777), os.WriteFile(path, []byte("x"), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	report := mustCheck(t, s)
	if len(report.Remarks) != 2 || !strings.Contains(fmt.Sprint(report.Remarks), stray+" belongs to no record") {
		t.Errorf("remarks = %q, want the two stray files and nothing else", report.Remarks)
	}
	if report.Err() != nil {
		t.Errorf("Err() = %v, want nil: a stray file costs only space", report.Err())
	}
}

// TestCheckBesideWriters drops and puts large bodies while a check goes on. What
// is sound at every moment must not be reported.
func TestCheckBesideWriters(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	var drops []record.Ref
	for i := range 6 {
		drops = append(drops, put(t, s, "note/large", strings.Repeat(string(rune('a'+i)), store.InlineLimit+1)).Ref)
	}
	var wg sync.WaitGroup
	begin := sync.OnceFunc(func() {
		wg.Go(func() {
			for i, ref := range slices.Backward(drops) { // the last is the last to be checked
				update(t, s, func(tx *store.Tx) error { return tx.Drop(ref) })
				put(t, s, "note/new", strings.Repeat(string(rune('A'+i)), store.InlineLimit+1))
			}
		})
		time.Sleep(5 * time.Millisecond) // the writer is at the gate
	})
	report, err := s.Check(t.Context(), func(done, total uint64) {
		if done > total || total != 6 {
			t.Errorf("progress %d of %d, want at most 6 of 6", done, total)
		}
		begin()
	})
	wg.Wait()
	if err != nil || len(report.Faults) > 0 {
		t.Errorf("Check beside a writer = %q, %v; want no faults", report.Faults, err)
	}
	for _, remark := range report.Remarks {
		if strings.Contains(remark.String(), "belongs to no record") {
			t.Errorf("Check beside a writer remarks %q", remark)
		}
	}
}

func TestCheckCancelled(t *testing.T) {
	t.Parallel()
	s, _ := testStore(t)
	put(t, s, "note/a", "text")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := s.Check(ctx, func(uint64, uint64) { cancel() })
	if err == nil || errors.Is(err, store.ErrDamaged) {
		t.Errorf("a cancelled Check = %v, want the context's error", err)
	}
}

// TestFaultsAreBounded checks a store in which everything is wrong.
func TestFaultsAreBounded(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	var drafts []store.Draft
	for range 150 {
		drafts = append(drafts, draft(t, s, "note/a"+strings.Repeat("x", len(drafts)), "text"))
	}
	if _, err := s.Put(t.Context(), drafts...); err != nil {
		t.Fatal(err)
	}
	tamper(t, s, func(tx *bbolt.Tx) error {
		return errors.Join(tx.DeleteBucket([]byte("records")), func() error { _, err := tx.CreateBucket([]byte("records")); return err }())
	})
	report, err := s.Check(t.Context(), nil)
	if err != nil || len(report.Faults) != 100 {
		t.Errorf("Check of a store without records: %d faults, %v; want the first 100", len(report.Faults), err)
	}
}

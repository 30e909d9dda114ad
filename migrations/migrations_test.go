package migrations_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"

	"filebus/migrations"
)

// database returns an empty database.
func database(t *testing.T) *bbolt.DB {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(t.TempDir(), "store.db"), 0o666, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// apply runs steps in one transaction.
func apply(db *bbolt.DB, steps []migrations.Step) (ran int, err error) {
	err = db.Update(func(tx *bbolt.Tx) (err error) {
		ran, err = migrations.Apply(tx, steps)
		return err
	})
	return ran, err
}

func version(t *testing.T, db *bbolt.DB) (n int, err error) {
	t.Helper()
	if viewErr := db.View(func(tx *bbolt.Tx) error {
		n, err = migrations.Version(tx)
		return nil
	}); viewErr != nil {
		t.Fatal(viewErr)
	}
	return n, err
}

// buckets returns the names of a database's buckets, in order.
func buckets(t *testing.T, db *bbolt.DB) (names []string) {
	t.Helper()
	err := db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, _ *bbolt.Bucket) error {
			names = append(names, string(name))
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// good is a step that leaves a trace.
func good(to int) migrations.Step {
	return migrations.Step{Version: to, Apply: func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("step" + strconv.Itoa(to)))
		return err
	}}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	for i, step := range migrations.Steps() {
		if step.Version != i+1 || step.Apply == nil {
			t.Errorf("step %d leads to schema %d, want %d", i, step.Version, i+1)
		}
	}
}

func TestVersion1(t *testing.T) {
	t.Parallel()
	db := database(t)
	if n, err := version(t, db); n != 0 || err != nil {
		t.Errorf("Version of an empty database = %d, %v; want 0", n, err)
	}
	steps := migrations.Steps()[:1]
	if ran, err := apply(db, steps); ran != 1 || err != nil {
		t.Fatalf("Apply = %d, %v; want 1 step", ran, err)
	}
	want := []string{"bodies", "descriptions", "dropped", "history", "log", "lookups", "meta", "names", "records", "uses"}
	if diff := cmp.Diff(want, buckets(t, db)); diff != "" {
		t.Errorf("buckets of schema 1 (-want +got):\n%s", diff)
	}
	if n, err := version(t, db); n != 1 || err != nil {
		t.Errorf("Version = %d, %v; want 1", n, err)
	}
	if ran, err := apply(db, steps); ran != 0 || err != nil {
		t.Errorf("Apply again = %d, %v; want no step", ran, err)
	}
}

// TestVersion2 gives many descriptions their digest, each once, whatever they hold.
func TestVersion2(t *testing.T) {
	t.Parallel()
	db := database(t)
	if _, err := apply(db, migrations.Steps()[:1]); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	err := db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte("descriptions"))
		for n := range 3001 {
			key := sha256.Sum256([]byte(strconv.Itoa(n)))
			value := strings.Repeat(strconv.Itoa(n), n%200)
			sum := sha256.Sum256([]byte(string(key[:]) + value))
			want[string(key[:])] = string(sum[:8]) + value
			if err := b.Put(key[:], []byte(value)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if ran, err := apply(db, migrations.Steps()[:2]); ran != 1 || err != nil {
		t.Fatalf("Apply = %d, %v; want 1 step", ran, err)
	}
	got := map[string]string{}
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.Bucket([]byte("descriptions")).ForEach(func(k, v []byte) error { got[string(k)] = string(v); return nil })
	})
	if err != nil || !maps.Equal(got, want) {
		t.Errorf("%d descriptions after the migration of %d, %v; or their bytes differ", len(got), len(want), err)
	}
}

// TestVersion6 copies many records, of which some share a body, one is damaged, and one lacks its body: each lies at
// its position then, a body at that of the first that has it, and digests lead there.
func TestVersion6(t *testing.T) {
	t.Parallel()
	const all = 12_000
	hash := func(of string, n int) []byte { sum := sha256.Sum256([]byte(of + strconv.Itoa(n))); return sum[:] }
	position := func(n uint64) string { return string(binary.BigEndian.AppendUint64(nil, n)) }
	from := database(t)
	if _, err := apply(from, migrations.Steps()[:5]); err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]string{"records": {}, "bodies": {}, "descriptions": {}, "digests": {}, "log": {position(all): "x"}}
	err := from.Update(func(tx *bbolt.Tx) (err error) {
		put := func(bucket string, key []byte, value string) {
			err = errors.Join(err, tx.Bucket([]byte(bucket)).Put(key, []byte(value)))
		}
		put("log", []byte(position(all)), "x")
		for n := 1; n <= all; n++ {
			at, ref, body := position(uint64(n)), string(hash("record", n)), string(hash("body", n-n%7%2)) // each seventh a few share one
			run := position(uint64(n) / 8192 * 8192)
			if n >= 8192 {
				run = position(min(uint64(n)/2048, 5) * 2048)
			}
			encoding := "filebus record 1\nid 3 a b\nbody 64 " + hex.EncodeToString([]byte(body)) + "\nsize 1 1\n"
			if n == 50 {
				encoding, body = "filebus record 1\nid 999 a", ""
			}
			put("records", []byte(ref), at+encoding)
			put("descriptions", []byte(ref), "described"+at)
			want["records"][at], want["descriptions"][at] = ref+encoding, "described"+at
			want["digests"][run+ref[:8]+at] = ""
			if body != string(hash("body", n)) || n == 60 {
				continue
			}
			put("bodies", []byte(body), "\x00text"+at)
			want["bodies"][at], want["digests"][run+body[:8]+at] = body+"\x00text"+at, ""
		}
		put("bodies", hash("nobody", 0), "\x00of no record")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	to := copied(t, from, migrations.Steps()[:6])
	for bucket, pairs := range want {
		got := map[string]string{}
		err := to.View(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(bucket)).ForEach(func(k, v []byte) error { got[string(k)] = string(v); return nil })
		})
		if err != nil || !maps.Equal(got, pairs) {
			t.Errorf("%s: %d pairs after the migration, want %d, or they differ: %v", bucket, len(got), len(pairs), err)
		}
	}
	for label, key := range map[string]string{"two at one position": position(7), "behind the log": position(all + 1), "nowhere": ""} {
		old, err := from.Begin(true)
		if err != nil {
			t.Fatal(err)
		}
		if err := old.Bucket([]byte("records")).Put(hash(label, 0), []byte(key+"x")); err != nil {
			t.Fatal(err)
		}
		err = migrations.Copy(old, migrations.Steps()[:6], func(string, []byte, []byte) error { return nil })
		if errors.Join(err, old.Rollback()) == nil {
			t.Errorf("%s: a record there is copied", label)
		}
	}
}

func TestApply(t *testing.T) {
	t.Parallel()
	stop := errors.New("stop")
	bad := migrations.Step{Version: 2, Apply: func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("half"))
		return errors.Join(err, stop)
	}}
	first := migrations.Steps()[0]
	for _, test := range []struct {
		label   string
		steps   []migrations.Step
		ran     int
		version int
		err     string // part of it
	}{
		{"one", []migrations.Step{first}, 1, 1, ""},
		{"three", []migrations.Step{first, good(2), good(3)}, 3, 3, ""},
		{"none", nil, 0, 0, ""},
		{"a gap", []migrations.Step{first, good(3)}, 1, 0, "no step from schema 1 to 3"},
		{"no beginning", []migrations.Step{good(2)}, 0, 0, "no step from schema 0 to 2"},
		{"one fails", []migrations.Step{first, bad, good(3)}, 1, 0, "migrating to schema 2: stop"},
		{"no meta bucket", []migrations.Step{good(1)}, 0, 0, "no meta bucket"},
	} {
		t.Run(test.label, func(t *testing.T) {
			db := database(t)
			ran, err := apply(db, test.steps)
			if ran != test.ran || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("Apply = %d, %v; want %d, %q", ran, err, test.ran, test.err)
			}
			if n, err := version(t, db); n != test.version || err != nil {
				t.Errorf("Version = %d, %v; want %d", n, err, test.version)
			}
			if test.err != "" && len(buckets(t, db)) != 0 {
				t.Errorf("a failed migration left %q", buckets(t, db))
			}
		})
	}
}

// TestApplyFromEach begins at every version on the way.
func TestApplyFromEach(t *testing.T) {
	t.Parallel()
	all := []migrations.Step{migrations.Steps()[0], good(2), good(3), good(4)}
	for from := range len(all) + 1 {
		db := database(t)
		if ran, err := apply(db, all[:from]); ran != from || err != nil {
			t.Fatalf("Apply of %d steps = %d, %v", from, ran, err)
		}
		if ran, err := apply(db, all); ran != len(all)-from || err != nil {
			t.Errorf("Apply from schema %d = %d, %v; want %d", from, ran, err, len(all)-from)
		}
		if n, err := version(t, db); n != len(all) || err != nil {
			t.Errorf("Version after a migration from %d = %d, %v", from, n, err)
		}
	}
}

// TestNewer shows that steps below a database's version change nothing: whoever
// opens a newer store looks at Version first.
func TestNewer(t *testing.T) {
	t.Parallel()
	db := database(t)
	if _, err := apply(db, []migrations.Step{migrations.Steps()[0], good(2)}); err != nil {
		t.Fatal(err)
	}
	if ran, err := apply(db, migrations.Steps()[:1]); ran != 0 || err != nil {
		t.Errorf("Apply of schema 1 to schema 2 = %d, %v; want nothing", ran, err)
	}
	if n, err := version(t, db); n != 2 || err != nil {
		t.Errorf("Version = %d, %v; want 2", n, err)
	}
}

func TestMalformedVersion(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "0", "-1", "one", "1.0", " 1", "99999999999999999999"} {
		db := database(t)
		err := db.Update(func(tx *bbolt.Tx) error {
			meta, err := tx.CreateBucket([]byte("meta"))
			return errors.Join(err, meta.Put([]byte("schema"), []byte(text)))
		})
		if err != nil {
			t.Fatal(err)
		}
		if n, err := version(t, db); err == nil {
			t.Errorf("Version of %q = %d, want an error", text, n)
		}
		if ran, err := apply(db, migrations.Steps()); err == nil || ran != 0 {
			t.Errorf("Apply to schema %q = %d, %v; want an error", text, ran, err)
		}
	}
}

// TestFixtures demands a frozen database of every schema, and brings each to the
// newest one.
func TestFixtures(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "testdata", "schema")
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var have []string
	for _, e := range entries {
		have = append(have, e.Name())
	}
	for _, step := range migrations.Steps() {
		number := strconv.Itoa(step.Version)
		if !slices.Contains(have, number) {
			t.Errorf("testdata/schema holds %q, no database of schema %s", have, number)
			continue
		}
		db := openCopy(t, filepath.Join(root, number, "store.db"))
		if n, err := version(t, db); n != step.Version || err != nil {
			t.Errorf("Version of the fixture %s = %d, %v", number, n, err)
		}
		if n := migrations.Copies(step.Version, migrations.Steps()); n > 0 { // docs/format.md says what it holds then
			db = copied(t, db, migrations.Steps()[:n])
		}
		if _, err := apply(db, migrations.Steps()); err != nil {
			t.Errorf("Apply to the fixture %s: %v", number, err)
		}
		if n, err := version(t, db); n != len(migrations.Steps()) || err != nil {
			t.Errorf("Version of the fixture %s = %d, %v afterwards", number, n, err)
		}
	}
}

// copied returns a database to which another one was copied by some steps.
func copied(t *testing.T, from *bbolt.DB, steps []migrations.Step) *bbolt.DB {
	t.Helper()
	to := database(t)
	if _, err := apply(to, steps); err != nil {
		t.Fatal(err)
	}
	old, err := from.Begin(true)
	if err == nil {
		err = to.Update(func(tx *bbolt.Tx) error {
			return migrations.Copy(old, steps, func(bucket string, key, value []byte) error {
				return tx.Bucket([]byte(bucket)).Put(key, value)
			})
		})
		err = errors.Join(err, old.Rollback())
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func openCopy(t *testing.T, path string) *bbolt.DB {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(t.TempDir(), "store.db")
	if err := os.WriteFile(copied, data, 0o666); err != nil {
		t.Fatal(err)
	}
	db, err := bbolt.Open(copied, 0o666, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // a copy
	return db
}

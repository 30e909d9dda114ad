package query_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"filebus/index"
	"filebus/query"
	"filebus/store"
	"filebus/store/record"
)

// fill leaves so many bytes of a disk.
func fill(t *testing.T, file string, room int) {
	t.Helper()
	_ = os.Remove(file) // none is there yet, or one of before
	if err := os.WriteFile(file, make([]byte, 64<<20), 0o666); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk = %v", err)
	}
	info, err := os.Stat(file)
	if err == nil {
		err = os.Truncate(file, max(info.Size()-int64(room), 0))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestSearchOnFullDisk fills the disk more and more while the index has to catch up, or
// is not there at all: every answer is complete and says why it was scanned, and when
// there is room again the index of before goes on.
func TestSearchOnFullDisk(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=6m"); err != nil {
		t.Skipf("mounting a small tmpfs: %v", err)
	}
	t.Cleanup(func() { _ = syscall.Unmount(disk, syscall.MNT_DETACH) }) // the folder's removal says the rest
	s, err := store.Create(t.Context(), filepath.Join(disk, ".filebus"), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r := query.New(s, query.Options{})
	filler, folder := filepath.Join(disk, "filler"), filepath.Join(s.Dir(), "index")
	put := func(n int) {
		body, err := s.Prepare(t.Context(), fmt.Appendf(nil, "An ortolan, the %dth.", n))
		if err == nil {
			name := record.Name{Kind: record.KindNote, ID: fmt.Sprint(n)}
			_, err = s.Put(t.Context(), store.Draft{Body: body, Record: record.Record{Name: name, Source: record.SourcePut}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	look := func(want int) (refused string) {
		t.Helper()
		request := query.SearchRequest{Request: index.Request{Query: "ortolan", Limit: 100, Duplicates: true}}
		answer, err := r.Search(t.Context(), request)
		if err != nil || len(answer.Hits) != want || answer.ScanIncomplete || (answer.Refused != "") != (answer.Unindexed > 0) {
			t.Errorf("%d hits of %d, %d not indexed (%s), incomplete %v: %v",
				len(answer.Hits), want, answer.Unindexed, answer.Refused, answer.ScanIncomplete, err)
		}
		return answer.Refused
	}
	put(0)
	look(1)
	current, err := os.ReadFile(filepath.Join(folder, "CURRENT"))
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for n := 1; n < 30; n++ {
		put(n)
		fill(t, filler, (n-1)*4096)
		if look(n+1) != "" {
			refused++
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if why := look(n + 1); why != "" {
			t.Errorf("with room again: %s", why)
		}
		if now, err := os.ReadFile(filepath.Join(folder, "CURRENT")); string(now) != string(current) {
			t.Fatalf("with %d bytes left the index became %s: %v; want %s", (n-1)*4096, now, err, current)
		}
	}
	if refused == 0 {
		t.Error("the disk was never full for the index")
	}
	for room := 0; room < 20; room++ {
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		fill(t, filler, room*8192)
		look(30)
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if why := look(30); why != "" {
			t.Errorf("with room again: %s", why)
		}
	}
	t.Logf("refused %d times of 29", refused)
}

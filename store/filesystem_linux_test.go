package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"filebus/store/record"
	"filebus/store/turnstile"
)

func TestUnsafeFileSystem(t *testing.T) {
	t.Parallel()
	smb2 := uint32(0xFE534D42)
	for _, test := range []struct {
		magic int64
		want  string
	}{
		{0x6969, "NFS"}, {0xFE534D42, "SMB2"}, {0xFF534D42, "CIFS"}, {0x517B, "CIFS"}, {0x01021997, "9p"}, {0x65735546, "FUSE"},
		{int64(int32(smb2)), "SMB2"}, // as statfs gives it where its fields have 32 bits
		{0xEF53, ""},                 // ext4
		{0x58465342, ""},             // XFS
		{0x9123683E, ""},             // btrfs
		{0x01021994, ""},             // tmpfs
		{0x794C7630, ""},             // overlayfs
		{0x2FC12FC1, ""},             // ZFS
		{0, ""},
	} {
		if got := unsafeFileSystem(test.magic); got != test.want {
			t.Errorf("unsafeFileSystem(%#x) = %q, want %q", test.magic, got, test.want)
		}
	}
}

func TestCheckFS(t *testing.T) {
	t.Parallel()
	if err := checkFS(t.TempDir()); err != nil && !errors.Is(err, errUnsafeFS) {
		t.Errorf("checkFS of a temporary folder = %v", err)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	if err := checkFS(missing); !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), missing) {
		t.Errorf("checkFS(%s) = %v, want an error that names it", missing, err)
	}
}

// smallDisk mounts a file system of 3 MB and returns a store on it.
func smallDisk(t *testing.T) *Store {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=3m"); err != nil {
		t.Skipf("mounting a small tmpfs: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmounting %s: %v", dir, err)
		}
	})
	s, err := Create(t.Context(), filepath.Join(dir, ".filebus"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// putNote stores a text that does not compress.
func putNote(t *testing.T, s *Store, id string, text []byte) error {
	t.Helper()
	body, err := s.Prepare(t.Context(), text)
	if err != nil {
		return err
	}
	r := record.Record{Name: record.Name{Kind: record.KindNote, ID: id}, Source: record.SourcePut}
	_, err = s.Put(t.Context(), Draft{Record: r, Body: body})
	return err
}

// noise returns bytes that look random and differ for every seed.
func noise(seed, size int) []byte {
	var text []byte
	for n := 0; len(text) < size; n++ {
		sum := record.DigestOf(fmt.Append(nil, seed, n))
		text = append(text, sum[:]...)
	}
	return text[:size]
}

func wantSound(t *testing.T, s *Store, records int) {
	t.Helper()
	report, err := s.Check(t.Context(), nil)
	if err != nil || report.Err() != nil || report.Records != records {
		t.Errorf("Check = %d records, %v, %v; want %d and no faults", report.Records, report.Err(), err, records)
	}
	left, err := s.own.ReadDir(tmpDir)
	if err != nil || len(left) != 0 {
		t.Errorf("left in the temporary folder: %v, %v", left, err)
	}
}

// TestDiskFull writes until the disk is full, with several sizes of records, so
// that writing fails at different points. Whatever was acknowledged is there,
// and the store goes on when there is room again.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("one goroutine, much work")
	}
	for _, size := range []int{1000, 20000, 300000, InlineLimit + 1} {
		t.Run(fmt.Sprint(size, " bytes"), func(t *testing.T) {
			s := smallDisk(t)
			filler := filepath.Join(filepath.Dir(s.Dir()), "filler")
			if err := os.WriteFile(filler, make([]byte, 1<<20), 0o666); err != nil {
				t.Fatal(err)
			}
			stored, failed := 0, 0
			for n := 0; failed < 5; n++ {
				switch err := putNote(t, s, fmt.Sprint(stored), noise(n, size)); {
				case err == nil:
					stored++
				case !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrDamaged) || errors.Is(err, turnstile.ErrBusy):
					t.Fatalf("put %d on a full disk = %v, want no space left", n, err)
				default:
					failed++
				}
				if n > 20000 {
					t.Fatal("the disk does not get full")
				}
			}
			wantSound(t, s, stored)
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
			if err := putNote(t, s, "after", noise(-1, size)); err != nil {
				t.Errorf("put after there was room again: %v", err)
			}
			wantSound(t, s, stored+1)
			t.Logf("%d records until the disk was full", stored)
		})
	}
}

// TestDiskFullAtMigration leaves less and less room for a migration: it happens or
// not, the store is read all the same, and migrated when there is room again.
func TestDiskFullAtMigration(t *testing.T) {
	t.Parallel()
	for _, room := range []int{0, 4, 32, 64, 72, 100, 132, 200} { // in KiB; the database has 64
		s := smallDisk(t)
		dir := s.Dir()
		if err := errors.Join(os.RemoveAll(dir), os.CopyFS(dir, os.DirFS(filepath.Join("..", "testdata", "schema", "1")))); err != nil {
			t.Fatal(err)
		}
		filler := filepath.Join(filepath.Dir(dir), "filler")
		if err := os.WriteFile(filler, make([]byte, 4<<20), 0o666); !errors.Is(err, syscall.ENOSPC) {
			t.Fatalf("filling the disk = %v", err)
		}
		info, err := os.Stat(filler)
		if err = errors.Join(err, os.Truncate(filler, info.Size()-int64(room)<<10)); err != nil {
			t.Fatal(err)
		}
		records := 5
		if err := putNote(t, s, "a", []byte("text")); err == nil {
			records++
		} else if !errors.Is(err, syscall.ENOSPC) || errors.Is(err, ErrDamaged) {
			t.Errorf("%d KiB of room: put = %v, want no space left", room, err)
		}
		if report, err := s.Check(t.Context(), nil); err != nil || report.Err() != nil || report.Records != records {
			t.Errorf("%d KiB of room: Check = %+v, %v", room, report, err)
		}
		copied := s.own.Path(databaseFile + ".schema1")
		if info, err := os.Stat(copied); err == nil && info.Size() != 65536 || err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%d KiB of room: the copy has %d bytes, %v", room, info.Size(), err)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		if err := putNote(t, s, "b", []byte("text")); err != nil {
			t.Errorf("put after there was room again: %v", err)
		}
		if _, err := os.Stat(copied); err != nil {
			t.Errorf("no copy after the migration: %v", err)
		}
		wantSound(t, s, records+1)
	}
}

// TestDiskFullAtCreation has no room for an empty store.
func TestDiskFullAtCreation(t *testing.T) {
	t.Parallel()
	s := smallDisk(t)
	filler := filepath.Join(filepath.Dir(s.Dir()), "filler")
	if err := os.WriteFile(filler, make([]byte, 3<<20), 0o666); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("filling the disk = %v", err)
	}
	dir := filepath.Join(filepath.Dir(s.Dir()), "second")
	if _, err := Create(t.Context(), dir, Options{}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Create on a full disk = %v, want no space left", err)
	}
	if _, err := Open(dir, Options{}); !errors.Is(err, ErrNoStore) {
		t.Errorf("Open after a failed Create = %v, want no store", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	if _, err := Create(t.Context(), dir, Options{}); err != nil {
		t.Errorf("Create after there was room again: %v", err)
	}
}

// TestReadOnlyFileSystem reads a store that cannot be written.
func TestReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	s := smallDisk(t)
	if err := putNote(t, s, "a", []byte("text")); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(s.Dir())
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
		t.Skipf("remounting: %v", err)
	}
	wantSound(t, s, 1)
	err := putNote(t, s, "b", []byte("text"))
	if !errors.Is(err, syscall.EROFS) || errors.Is(err, ErrDamaged) {
		t.Errorf("Put on a read-only file system = %v, want that error and no damage", err)
	}
	if _, err := s.PrepareReader(t.Context(), strings.NewReader(strings.Repeat("x", InlineLimit+1))); !errors.Is(err, syscall.EROFS) {
		t.Errorf("PrepareReader on a read-only file system = %v, want that error", err)
	}
}

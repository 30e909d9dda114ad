package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"filebus/store"
)

// A flipped bit in the page count of any page must not keep Check busy.
func TestCheckRunawayPages(t *testing.T) {
	t.Parallel()
	s := unchecked(t)
	for i := range 12 {
		put(t, s, "note/"+string(rune('a'+i)), randomText(9000+i))
	}
	database := filepath.Join(s.Dir(), "store.db")
	whole, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	damaged := 0
	for page := 2; page < min(len(whole)/4096, 60); page++ {
		broken := append([]byte(nil), whole...)
		broken[page*4096+15] ^= 0x40 // the highest byte of the page's overflow
		if err := os.WriteFile(database, broken, 0o666); err != nil {
			t.Fatal(err)
		}
		report, err := s.Check(t.Context(), nil)
		switch {
		case errors.Is(err, store.ErrDamaged), err == nil && report.Err() != nil:
			damaged++
		case err != nil:
			t.Errorf("page %d: Check = %v", page, err)
		}
	}
	if damaged < 10 { // free pages may hold anything
		t.Errorf("%d of the damaged pages were found", damaged)
	}
}

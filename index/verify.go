package index

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"filebus/store/record"
)

// Verify reads the whole index in dir and reports the first damage: a segment
// file whose checksum is wrong, which no other call notices, or statistics that
// are not those of the documents. The error names the file and is ErrDamaged,
// or what Open returns. The next OpenWriter replaces a damaged index.
func Verify(dir string, store record.StoreID) error {
	generation, err := currentGeneration(dir, store)
	if err != nil {
		return fmt.Errorf("index in %s: %w", dir, err)
	}
	// First what was noted as durable: opening a damaged segment can end the process.
	_, noted, err := readNoted(generation)
	if err != nil {
		return err
	}
	if err := verifySegments(generation, noted); err != nil {
		return err
	}
	x, err := Open(dir, store)
	if err != nil {
		return err
	}
	used, err := x.engine.segmentNames()
	if err == nil { // other files are what a killed writer left: they harm nobody
		used = slices.DeleteFunc(used, func(name string) bool { return slices.Contains(noted, name) })
		err = verifySegments(generation, used)
	}
	if err == nil {
		err = x.verifyTotals()
	}
	return errors.Join(err, x.Close())
}

// verifySegments verifies segments by their names. One that is not there was
// merged into another since, or the engine will go back; see checkSerial.
func verifySegments(generation string, names []string) error {
	for _, name := range names {
		err := verifySegment(filepath.Join(generation, engineFolder, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return condemn(generation, err)
		}
	}
	return nil
}

// verifyTotals compares the statistics with those of the documents.
func (x *Index) verifyTotals() error {
	err := guard(func() error {
		reader, err := x.engine.Reader()
		if err != nil {
			return err
		}
		defer reader.Close()
		counted, err := x.totals.recount(reader)
		if err != nil {
			return err
		}
		if counted != x.totals {
			return fmt.Errorf("statistics %v instead of %v", x.totals, counted)
		}
		return nil
	})
	if err != nil {
		return condemn(x.engine.generation, fmt.Errorf("verifying the statistics of the index: %w", classify(err)))
	}
	return nil
}

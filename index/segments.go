package index

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/blevesearch/bleve/v2/index/scorch"

	"filebus/store/folder"
	"filebus/store/record"
)

// The engine trusts its files. It opens damaged segments, asks for as much
// memory as a damaged number says, which ends the process, and where a segment
// cannot be opened it silently shows an older state. So a generation holds two
// files of ours beside the engine's:
//
//   - noted: the serial number of the last durable batch, then the names of the
//     segments it left, a line each. Segments that are not in it may be torn, as a
//     crash leaves them; the engine does not use those.
//   - checked: the name, size and modification time of each segment whose
//     checksum was found right. So each is read once, by the first who opens it.
//
// Both can be missing or torn by a crash. Then less is noticed.

// note records the state of the engine after the batch with a serial number.
func (e *engine) note(serial uint64) error {
	names, err := e.segmentNames()
	if err != nil {
		return err
	}
	text := strconv.AppendUint(nil, serial, 10)
	for _, name := range names {
		text = append(append(text, '\n'), name...)
	}
	return e.generation.WriteFile(notedFile, text)
}

// segmentNames returns the names of the segment files that the engine uses.
func (e *engine) segmentNames() (names []string, err error) {
	err = e.read(func(state *scorch.IndexSnapshot) error {
		for _, segment := range state.Segments() {
			if file, ok := segment.Segment().(interface{ Path() string }); ok {
				names = append(names, filepath.Base(file.Path()))
			}
		}
		return nil
	})
	return names, err
}

// readNoted returns what note recorded, or zeros.
func readNoted(generation folder.Folder) (serial uint64, segments []string, err error) {
	text, err := generation.ReadFile(notedFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, nil, err
	}
	first, rest, _ := strings.Cut(string(text), "\n")
	serial, err = strconv.ParseUint(first, 10, 64)
	if err != nil { // torn: it proves nothing
		return 0, nil, nil
	}
	for name := range strings.SplitSeq(rest, "\n") {
		if strings.HasSuffix(name, segmentSuffix) && filepath.Base(name) == name {
			segments = append(segments, name)
		}
	}
	return serial, segments, nil
}

// checkSerial reports whether the engine went back to a state before the last
// one that was noted. What is written after that would be lost again at the next
// opening.
func (e *engine) checkSerial(serial uint64) error {
	noted, _, err := readNoted(e.generation)
	if err == nil && noted > serial {
		return fmt.Errorf("%w: the state of batch %d is gone, batch %d is left", ErrDamaged, noted, serial)
	}
	return err
}

// checkSegments verifies the checksums of those segments of a generation that
// nobody has verified yet. It must come before the engine opens them.
func checkSegments(generation folder.Folder) error {
	_, segments, err := readNoted(generation)
	if err != nil {
		return err
	}
	// If it cannot be read, all are verified again.
	checked, _ := generation.ReadFile(checkedFile)
	known := make(map[string]bool)
	for stamp := range strings.SplitSeq(string(checked), "\n") {
		known[stamp] = true
	}
	var stamps []string
	fresh, engine := false, folder.At(generation.Path(engineFolder)) // the engine opens them by their paths too
	for _, name := range segments {
		stamp, err := checkSegment(engine, name, known)
		if err != nil {
			return condemn(generation, err)
		}
		if stamp != "" {
			stamps = append(stamps, stamp)
			fresh = fresh || !known[stamp]
		}
	}
	if fresh {
		// Best effort: where it cannot be written, all are verified again.
		_ = generation.Replace(checkedFile, []byte(strings.Join(stamps, "\n")+"\n"), false)
	}
	return nil
}

// checkSegment verifies the checksum of a segment unless its stamp is known. It
// returns the stamp, which is empty if the segment is not there: then it was
// merged into another since, or the engine will go back; see checkSerial.
func checkSegment(engine folder.Folder, name string, known map[string]bool) (stamp string, err error) {
	info, err := engine.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	stamp = fmt.Sprintf("%s %d %d", name, info.Size(), info.ModTime().UnixNano())
	if known[stamp] {
		return stamp, nil
	}
	return stamp, verifySegment(engine, name)
}

// verifySegment compares the checksum at the end of a segment file with that of
// its bytes: CRC-32 (IEEE), big-endian.
func verifySegment(engine folder.Folder, name string) error {
	file, err := engine.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if info.Size() < crc32.Size {
		return fmt.Errorf("%w: %s has %d bytes", ErrDamaged, file.Name(), info.Size())
	}
	sum := crc32.NewIEEE()
	reader := bufio.NewReaderSize(file, 1<<20)
	if _, err := io.CopyN(sum, reader, info.Size()-crc32.Size); err != nil {
		return fmt.Errorf("reading %s: %w", file.Name(), err)
	}
	var stored uint32
	if err := binary.Read(reader, binary.BigEndian, &stored); err != nil {
		return fmt.Errorf("reading %s: %w", file.Name(), err)
	}
	if stored != sum.Sum32() {
		return fmt.Errorf("%w: %s has the checksum %08x instead of %08x", ErrDamaged, file.Name(), sum.Sum32(), stored)
	}
	return nil
}

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
func verifySegments(generation folder.Folder, names []string) error {
	for _, name := range names {
		err := verifySegment(generation.Sub(engineFolder), name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return condemn(generation, err)
		}
	}
	return nil
}

// verifyTotals compares the statistics with those of the documents.
func (x *Index) verifyTotals() error {
	err := guard(func() error {
		return x.engine.read(func(state *scorch.IndexSnapshot) error {
			counted, err := x.totals.recount(state)
			if err == nil && counted != x.totals {
				err = fmt.Errorf("statistics %v instead of %v", x.totals, counted)
			}
			return err
		})
	})
	return x.engine.blame("verifying the statistics of the index", err)
}

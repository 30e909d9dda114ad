package index

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"runtime/debug"
	"strconv"
	"strings"

	"filebus/store/folder"
	"filebus/store/record"
)

const (
	currentFile  = "CURRENT"
	manifestFile = "manifest.json"
	engineFolder = "bleve"
	damagedFile  = "damaged" // see condemn
	notedFile    = "noted"   // see engine.note
	checkedFile  = "checked" // see checkSegments

	segmentSuffix = ".zap"

	// format is that of the folders and files around the engine's.
	format = 1
)

// A manifest says what a generation holds. It is written before the first
// batch and never changes.
type manifest struct {
	Format  int            `json:"format"`
	Mapping string         `json:"mapping"` // see mappingHash
	Store   record.StoreID `json:"store"`
	Bleve   string         `json:"bleve"` // the version that made it, for people
}

// mappingHash stands for everything that decides which terms and facts a document
// has.
func mappingHash() string {
	h := sha256.New()
	fmt.Fprintln(h, "analysis", analysisVersion, maxTerm, maxText, "keys", fieldKeys, factsVersion)
	for _, f := range scored {
		fmt.Fprintln(h, "scored", f.name)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// check reports whether this program can use a generation of m for store.
func (m *manifest) check(store record.StoreID) error {
	switch {
	case m.Format != format:
		return fmt.Errorf("%w: %d instead of %d", errFormat, m.Format, format)
	case m.Mapping != mappingHash():
		return fmt.Errorf("%w: mapping %s instead of %s", errFormat, m.Mapping, mappingHash())
	case m.Store != store:
		return fmt.Errorf("%w: %s instead of %s", errForeign, m.Store, store)
	}
	return nil
}

// currentGeneration returns the folder of the generation in use, after checking
// that its manifest fits.
func currentGeneration(dir string, store record.StoreID) (none folder.Folder, err error) {
	own := folder.Within(dir)
	text, err := own.ReadFile(currentFile)
	if errors.Is(err, fs.ErrNotExist) {
		return none, errNotExist
	}
	if err != nil {
		return none, err
	}
	name := strings.TrimSuffix(string(text), "\n")
	if _, ok := generationNumber(name); !ok {
		return none, fmt.Errorf("%w: %s names %q", ErrDamaged, currentFile, name)
	}
	generation := own.Sub(name)
	if reason, err := generation.ReadFile(damagedFile); err == nil {
		return none, fmt.Errorf("%w: generation %s: %s", ErrDamaged, name, reason)
	}
	text, err = generation.ReadFile(manifestFile)
	if errors.Is(err, fs.ErrNotExist) {
		return none, fmt.Errorf("%w: generation %s has no %s", ErrDamaged, name, manifestFile)
	}
	if err != nil {
		return none, err
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		return none, fmt.Errorf("%w: %s of generation %s: %w", ErrDamaged, manifestFile, name, err)
	}
	return generation, m.check(store)
}

// condemn makes sure that a generation in which damage was met is not used
// again, if err is that: most damage shows only in some searches, and opening
// damaged files can end in a panic that leaves them locked. It returns err. What
// the machine could not do is no damage, whatever else the error says.
func condemn(generation folder.Folder, err error) error {
	if !errors.Is(err, ErrDamaged) {
		return err
	}
	if cause := CauseOf(err); cause != 0 {
		return &machineError{errors.New(strings.Replace(err.Error(), ErrDamaged.Error()+": ", "", 1)), cause}
	}
	// Where this cannot be written, the damage will be met again.
	_ = generation.WriteFile(damagedFile, []byte(err.Error()))
	return err
}

// generationNumber reads the name of a generation's folder: g and its number.
func generationNumber(name string) (int, bool) {
	digits, found := strings.CutPrefix(name, "g")
	n, err := strconv.Atoi(digits)
	return n, found && err == nil && n > 0 && generationName(n) == name
}

// generationName returns the name of a generation, such as g000001.
func generationName(n int) string { return fmt.Sprintf("g%06d", n) }

// newGeneration makes an empty generation, makes it the current one and removes
// all others. It returns the opened engine.
func newGeneration(dir string, store record.StoreID) (*engine, error) {
	own := folder.Within(dir)
	name, err := freeName(own)
	if err != nil {
		return nil, err
	}
	generation := own.Sub(name)
	if err := own.Make(name); err != nil {
		return nil, err
	}
	text, err := json.Marshal(manifest{format, mappingHash(), store, bleveVersion()})
	if err != nil {
		return nil, err
	}
	if err := generation.Replace(manifestFile, append(text, '\n'), true); err != nil {
		return nil, err
	}
	engine, err := startEngine(generation)
	if err != nil {
		return nil, err
	}
	// Only now, with an engine that can be opened, does anybody see it.
	if err := own.Replace(currentFile, []byte(name+"\n"), true); err != nil {
		return nil, errors.Join(err, engine.Close())
	}
	sweep(own, name)
	return engine, nil
}

// startEngine opens the engine of a new generation and stores empty totals, by
// whose absence damage is seen later.
func startEngine(generation folder.Folder) (*engine, error) {
	engine, err := openEngine(generation, false)
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(totals{})
	if err == nil {
		err = guard(func() error { return engine.SetInternal([]byte(totalsKey), text) })
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("starting %s: %w", generation.Path("."), err), engine.Close())
	}
	return engine, nil
}

// freeName returns a name that no generation in dir has, in use or left over.
func freeName(dir folder.Folder) (string, error) {
	entries, err := dir.ReadDir(".")
	if err != nil {
		return "", err
	}
	last := 0
	for _, e := range entries {
		if n, ok := generationNumber(e.Name()); ok {
			last = max(last, n)
		}
	}
	return generationName(last + 1), nil
}

// sweep removes every generation but the one to keep, and temporary files that a crash
// left. What cannot be removed now (on Windows: a file that is still open) is left for
// the next time.
func sweep(dir folder.Folder, keep string) {
	entries, err := dir.ReadDir(".")
	if err != nil {
		return
	}
	for _, e := range entries {
		_, ok := generationNumber(e.Name())
		if ok && e.IsDir() && e.Name() != keep || folder.IsTemporary(e.Name()) && e.Type().IsRegular() {
			_ = dir.RemoveAll(e.Name()) // see above
		}
	}
}

// Remove removes the index in dir, which may not exist. The next OpenWriter
// begins at position 0.
func Remove(dir string) error {
	own := folder.Within(dir)
	if err := own.Remove(currentFile); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	entries, err := own.ReadDir(".")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if _, ok := generationNumber(e.Name()); !ok || !e.IsDir() {
			continue
		}
		if err := own.RemoveAll(e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// bleveVersion returns the version of Bleve that this program was built with.
func bleveVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/blevesearch/bleve/v2" {
				return module.Version
			}
		}
	}
	return "unknown"
}

package index

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/blevesearch/bleve/v2/index/scorch"
	api "github.com/blevesearch/bleve_index_api"

	"filebus/store/folder"
)

// The reasons why an index cannot be used. Any other error of this package is
// one of the machine (permission denied, disk full), and says nothing about
// the index.
var (
	errNotExist = errors.New("there is no index")
	errForeign  = errors.New("the index belongs to another store")
	errFormat   = errors.New("the index has another format")
	ErrDamaged  = errors.New("the index is damaged")
	ErrBusy     = errors.New("the index is busy") // retry; never a reason to rebuild
)

// MustRenew reports whether err says that there is no index that could be used, as
// opposed to one that cannot be had now.
func MustRenew(err error) bool {
	return errors.Is(err, errNotExist) || errors.Is(err, errForeign) || errors.Is(err, errFormat) || errors.Is(err, ErrDamaged)
}

// lockTimeout bounds the wait for the engine's own lock. Callers hold a lock
// of theirs, so only a foreign program can be in the way.
const lockTimeout = "1s"

// floorSegment is the number of documents below which a segment counts as that
// large when merges are planned: single puts are merged early.
const floorSegment = 500

// tier is how many segments of about one size there may be before ten of them are
// merged. Merging the segments of a bulk load took a third of its time, and a search
// of 60 takes no longer than one of 20; but a small one is in memory as a whole once it
// is open, of one that is ten times as large a sixteenth.
const tier = 20

// openEngine opens the engine of a generation. Its error is ErrBusy, ErrDamaged
// or one of the machine.
func openEngine(generation folder.Folder, readOnly bool) (*engine, error) {
	path := generation.Path(engineFolder)
	// The engine opens by their paths what lies there.
	err := generation.Check(engineFolder)
	if readOnly && err == nil {
		// A read-only engine would make the file that is missing.
		_, err = generation.Stat(engineFolder + "/root.bolt")
	}
	if err != nil && (readOnly || !errors.Is(err, fs.ErrNotExist)) {
		return nil, condemn(generation, classify(err))
	}
	usePlugin()
	lastFailures.Delete(path)
	e := &engine{generation: generation}
	if !readOnly {
		e.queue = api.NewAnalysisQueue(1)
	}
	err = guard(func() (err error) {
		e.Index, err = scorch.NewScorch(scorch.Name, map[string]any{
			"path":         path,
			"read_only":    readOnly,
			"bolt_timeout": lockTimeout,

			"asyncErrorCallbackName": keepFailure,
			// Segments go to disk as they are. A chunk of a bulk load makes one that
			// need not be merged soon.
			"scorchPersisterOptions": map[string]any{"MemoryPressurePauseThreshold": 0},
			"scorchMergePlanOptions": map[string]any{"FloorSegmentSize": floorSegment, "MaxSegmentsPerTier": tier},
		}, e.queue)
		if err != nil {
			return err
		}
		return e.Index.Open()
	})
	if err != nil {
		e.closeQueue()
		return nil, condemn(generation, fmt.Errorf("opening %s: %w", path, classify(err)))
	}
	return e, nil
}

// An engine is Bleve's index of one generation.
type engine struct {
	api.Index
	generation folder.Folder
	queue      *api.AnalysisQueue // nil if read-only; has nothing to do, since entries come analysed
}

// Close closes the engine. A batch in flight ends or is lost.
func (e *engine) Close() error {
	defer e.closeQueue()
	return guard(e.Index.Close)
}

// closeQueue ends the goroutine of the queue, if there is one.
func (e *engine) closeQueue() {
	if e.queue != nil {
		e.queue.Close()
	}
}

// merge merges all segments into as few as the engine allows.
func (e *engine) merge(ctx context.Context) error {
	merger, ok := e.Index.(*scorch.Scorch)
	if !ok {
		return errors.New("the engine cannot merge")
	}
	return merger.ForceMerge(ctx, nil)
}

// staleSegments returns how many segment files there are that the engine uses no
// more.
func (e *engine) staleSegments() (int, error) {
	files, err := filepath.Glob(e.generation.Path(engineFolder + "/*.zap"))
	if err != nil {
		return 0, err
	}
	used, err := e.segmentNames()
	return max(0, len(files)-len(used)), err
}

// failures returns how many errors the engine has reported so far.
func (e *engine) failures() any { return e.StatsMap()["TotOnErrors"] }

// read calls fn with the state of the engine as it is now.
func (e *engine) read(fn func(state *scorch.IndexSnapshot) error) error {
	reader, err := e.Reader()
	if err != nil {
		return err
	}
	defer reader.Close()
	state, ok := reader.(*scorch.IndexSnapshot)
	if !ok {
		return errors.New("the engine does not show its segments")
	}
	return fn(state)
}

// blame says what the engine could not do, and condemns its generation if that is
// damaged.
func (e *engine) blame(doing string, err error) error {
	if err == nil {
		return nil
	}
	return condemn(e.generation, fmt.Errorf("%s: %w", doing, classify(err)))
}

// readTotals returns the totals of an engine. Their absence means that the
// engine could not load what it had stored.
func readTotals(engine *engine) (t totals, err error) {
	err = guard(func() error {
		return engine.read(func(state *scorch.IndexSnapshot) error {
			text, err := state.GetInternal([]byte(totalsKey))
			if err != nil {
				return err
			}
			if t, err = decodeTotals(text); err != nil {
				return err
			}
			if err = engine.checkSerial(t.Serial); err != nil || !t.Unfinished {
				return err
			}
			t, err = t.recount(state)
			return err
		})
	})
	return t, engine.blame("reading the totals of "+engine.generation.Path("."), err)
}

// places returns a number above all document numbers.
func (e *engine) places() (places int, err error) {
	err = e.read(func(state *scorch.IndexSnapshot) error {
		for _, segment := range state.Segments() {
			places += int(segment.FullSize())
		}
		return nil
	})
	return places, err
}

// guard calls f, and turns a panic or a fault in mapped memory, with which
// Bleve meets damaged files, into ErrDamaged.
func guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", ErrDamaged, p)
		}
	}()
	return f()
}

// classify tells errors that come from what is stored, which become ErrDamaged,
// from those that do not.
func classify(err error) error {
	if err.Error() == "timeout" { // bbolt's ErrTimeout, which may not be imported here
		return fmt.Errorf("%w: another program holds it", ErrBusy)
	}
	for _, known := range []error{ErrDamaged, ErrBusy, fs.ErrPermission, folder.ErrForeign} {
		if errors.Is(err, known) {
			return err
		}
	}
	if cause := CauseOf(err); cause != 0 {
		return &machineError{err, cause}
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// CauseOf returns the failure of the machine that err comes from, or 0. The engine
// passes on only the text of some.
func CauseOf(err error) syscall.Errno {
	if err == nil {
		return 0
	}
	for _, cause := range []syscall.Errno{
		syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM, syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO,
	} {
		if errors.Is(err, cause) || strings.Contains(err.Error(), cause.Error()) {
			return cause
		}
	}
	return 0
}

// A machineError is an error whose cause is known by its text.
type machineError struct {
	error
	cause syscall.Errno
}

func (e *machineError) Unwrap() []error { return []error{e.error, e.cause} }

package store

import (
	"bytes"
	"errors"
	"iter"
	"math"
	"slices"

	"go.etcd.io/bbolt"
)

// Records, bodies and descriptions lie at positions of the log. Digests lead to them by runs: the
// entries of a run of positions lie together, in the order of their digests. New ones come to the last
// run, which is small, and runs that are full are joined to larger ones: an entry is written again a few
// times, where one tree of all digests would have another page written for each of them. Where the runs
// begin follows from the end of the log.
const (
	runLeast  = 2048               // positions of the smallest run
	runGrowth = 4                  // so many runs of one size become one
	runMost   = 64 * runLeast      // positions of the largest
	digestKey = 2*positionSize + 8 // bytes: where the run begins, the first 8 bytes of a digest, a position
)

// runsOf returns where the runs begin of a log that ends at a position. The last one takes what comes.
func runsOf(end uint64) []uint64 {
	end -= end % runLeast
	runs := []uint64{end}
	for end > 0 {
		size := uint64(runLeast)
		for size < runMost && end%(size*runGrowth) == 0 {
			size *= runGrowth
		}
		end -= size
		runs = append(runs, end)
	}
	slices.Reverse(runs)
	return runs
}

// runAt returns which of the runs a position is in.
func runAt(runs []uint64, position uint64) int {
	i, found := slices.BinarySearch(runs, position)
	if !found {
		i-- // the first run begins at 0
	}
	return i
}

// digests is the look-up from digests to positions, in runs. What is added waits for the end of the
// transaction. Of a digest it knows 8 bytes: what lies at the position tells whether it is the one.
type digests struct {
	*bbolt.Bucket          // as it was when the transaction began, but for what was removed; nil in an older schema
	runs          []uint64 // of the bucket
	waiting       map[[8]byte][]uint64
}

// find returns the positions that a digest, or all that begin with up to 8 bytes, may lie at: the
// newest run comes first.
func (d *digests) find(prefix []byte) iter.Seq[uint64] {
	prefix = prefix[:min(len(prefix), 8)]
	return func(yield func(uint64) bool) {
		for _, position := range d.inWaiting(prefix) {
			if !yield(position) {
				return
			}
		}
		c := d.Cursor()
		for _, run := range slices.Backward(d.runs) {
			from := append(appendPosition(nil, run), prefix...)
			for k, _ := c.Seek(from); bytes.HasPrefix(k, from) && len(k) == digestKey; k, _ = c.Next() {
				if !yield(readPosition(k[digestKey-positionSize:])) {
					return
				}
			}
		}
	}
}

// lookUp returns where a bucket has what a digest leads to, at the likely position or another, and what is behind the
// digest there; nil: it has it not.
func (d *digests) lookUp(in *bbolt.Bucket, digest []byte, likely uint64) (position uint64, value []byte) {
	if value, found := bytes.CutPrefix(in.Get(appendPosition(nil, likely)), digest); found {
		return likely, value
	}
	for position := range d.find(digest) {
		if value, found := bytes.CutPrefix(in.Get(appendPosition(nil, position)), digest); found {
			return position, value
		}
	}
	return 0, nil
}

func (d *digests) inWaiting(prefix []byte) (positions []uint64) {
	if len(prefix) == 8 {
		return d.waiting[[8]byte(prefix)]
	}
	for key, more := range d.waiting {
		if bytes.HasPrefix(key[:], prefix) {
			positions = append(positions, more...)
		}
	}
	return positions
}

func (d *digests) add(digest [32]byte, position uint64) {
	if d.waiting == nil {
		d.waiting = map[[8]byte][]uint64{}
	}
	key := [8]byte(digest[:8])
	d.waiting[key] = append(d.waiting[key], position)
}

func (d *digests) remove(digest [32]byte, position uint64) error {
	key := [8]byte(digest[:8])
	if all, waits := d.waiting[key]; waits {
		d.waiting[key] = slices.DeleteFunc(all, func(p uint64) bool { return p == position })
	}
	return d.Delete(keyIn(d.runs, digest[:8], position))
}

func keyIn(runs []uint64, prefix []byte, position uint64) []byte {
	key := appendPosition(make([]byte, 0, digestKey), runs[runAt(runs, position)])
	return appendPosition(append(key, prefix...), position)
}

// settle writes what waits, and the runs that are others since the log ends at a position.
func (d *digests) settle(end uint64) (err error) {
	runs, same := runsOf(end), 0
	for next := func(of []uint64) uint64 {
		if same+1 < len(of) {
			return of[same+1]
		}
		return math.MaxUint64
	}; same < len(runs) && next(d.runs) == next(runs); {
		same++
	}
	var keys [][]byte
	if same < len(runs) { // the run begins where it did, and ends elsewhere
		d.FillPercent = 1
		c := d.Cursor()
		for k, _ := c.Seek(appendPosition(nil, runs[same])); k != nil; k, _ = c.Next() {
			keys = append(keys, bytes.Clone(k))
		}
		for i, k := range keys {
			err = errors.Join(err, d.Delete(k))
			keys[i] = keyIn(runs, k[positionSize:][:8], readPosition(k[digestKey-positionSize:]))
		}
	}
	for prefix, positions := range d.waiting {
		for _, position := range positions {
			keys = append(keys, keyIn(runs, prefix[:], position))
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	for _, k := range keys {
		err = errors.Join(err, d.Put(k, nil))
	}
	d.runs, d.waiting = runs, nil
	return err
}

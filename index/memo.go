package index

import (
	"bytes"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
)

// A memo remembers what the runs of texts give: a hash table without deletion.
// Every word of every text is looked up in it, and most look-ups miss the caches
// of the processor: so what a short run gives, as most are, is found by one look
// at one place. A map of slices takes three times as long.
type memo struct {
	slots  []slot   // a power of two, at most two thirds full
	places []uint32 // by slot: of runs longer than a word, where they are in keys
	keys   []byte
	pieces []piece // of runs that give other than themselves
	count  int

	seed   maphash.Seed
	factor uint64 // odd

	single [1]piece // what find returns for a run that gives itself
}

// A slot is a run that is remembered.
type slot struct {
	word   uint64 // its first eight bytes
	first  uint32 // its pieces, or the term it gives
	pieces uint16 // how many, or itself
	length uint8  // in bytes; 0: the slot is free
}

const (
	wordSize  = 8
	leastMemo = 1 << 10
	itself    = 1<<16 - 1 // the run gives one term, for all of it
)

// newMemo returns a memo that remembers nothing.
func newMemo() *memo {
	return &memo{
		slots: make([]slot, leastMemo), places: make([]uint32, leastMemo),
		seed: maphash.MakeSeed(), factor: rand.Uint64() | 1,
	}
}

// find returns the pieces of a run of 1 to 255 bytes, until the next call. If it
// is not remembered, it returns the place for add.
func (m *memo) find(run []byte) (pieces []piece, place int, known bool) {
	word := firstWord(run)
	mask := len(m.slots) - 1
	for i := int(m.hash(run, word)) & mask; ; i = (i + 1) & mask {
		s := &m.slots[i]
		if s.length == 0 {
			return nil, i, false
		}
		if s.word != word || int(s.length) != len(run) || len(run) > wordSize && !bytes.Equal(m.key(i), run) {
			continue
		}
		if s.pieces == itself {
			m.single[0] = piece{term: s.first, end: uint32(len(run))}
			return m.single[:], i, true
		}
		return m.pieces[s.first : s.first+uint32(s.pieces)], i, true
	}
}

// key returns the run of a slot that is longer than a word.
func (m *memo) key(i int) []byte {
	return m.keys[m.places[i] : m.places[i]+uint32(m.slots[i].length)]
}

// hash spreads runs. It differs from memo to memo, so that no text can be made to
// be slow.
func (m *memo) hash(run []byte, word uint64) uint64 {
	if len(run) > wordSize {
		return maphash.Bytes(m.seed, run)
	}
	high, low := bits.Mul64(word+uint64(len(run)), m.factor)
	return high ^ low
}

// firstWord returns the first eight bytes of a run, with zeros behind a shorter
// one.
func firstWord(run []byte) uint64 {
	if cap(run) >= wordSize { // what follows in the text is cut off
		word := binary.LittleEndian.Uint64(run[:wordSize])
		if missing := wordSize - len(run); missing > 0 {
			word &= ^uint64(0) >> (8 * missing)
		}
		return word
	}
	var word uint64
	for i, c := range run {
		word |= uint64(c) << (8 * i)
	}
	return word
}

// add remembers the pieces of a run, at the place that find has returned.
func (m *memo) add(run []byte, place int, pieces []piece) {
	s := slot{word: firstWord(run), length: uint8(len(run))}
	if len(pieces) == 1 && pieces[0] == (piece{term: pieces[0].term, end: uint32(len(run))}) {
		s.first, s.pieces = pieces[0].term, itself
	} else {
		s.first, s.pieces = uint32(len(m.pieces)), uint16(len(pieces))
		m.pieces = append(m.pieces, pieces...)
	}
	m.slots[place] = s
	if len(run) > wordSize {
		m.places[place] = uint32(len(m.keys))
		m.keys = append(m.keys, run...)
	}
	if m.count++; 3*m.count > 2*len(m.slots) {
		m.grow()
	}
}

// grow doubles the table.
func (m *memo) grow() {
	old, size := *m, 2*len(m.slots)
	m.slots, m.places = make([]slot, size), make([]uint32, size)
	var short [wordSize]byte
	for i, s := range old.slots {
		if s.length == 0 {
			continue
		}
		run := binary.LittleEndian.AppendUint64(short[:0], s.word)
		if s.length > wordSize {
			run = old.key(i)
		}
		at := int(m.hash(run[:s.length], s.word)) & (size - 1)
		for m.slots[at].length != 0 {
			at = (at + 1) & (size - 1)
		}
		m.slots[at], m.places[at] = s, old.places[i]
	}
}

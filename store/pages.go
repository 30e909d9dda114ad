package store

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
)

// The pages of a bbolt file, as its package internal/common lays them out. This reader
// trusts nothing that it finds: bbolt follows a page that leads back to its parent until
// the stack is full, which ends the process.
const (
	pageHead    = 16 // id, kind, count of elements, number of further pages
	elementSize = 16
	branchPage  = 1
	leafPage    = 2
	freePage    = 16

	metaSize   = 64 // of which the last 8 bytes are the checksum
	metaMagic  = 0xED0CDAED
	metaFormat = 2

	maxKey   = 32768  // bytes
	maxDepth = 64     // of trees; one of 2^32 pages with two keys each has 32
	manyFree = 0xFFFF // this count says that the true one comes first

	orphaned = " " // stands for the bucket of leaves that no tree leads to
)

var order = binary.NativeEndian

// A metaPage is where a transaction left the database.
type metaPage struct {
	txid, root, free, end uint64 // end: the number of pages, free ones too
}

// readMeta returns the newest of the two meta pages that is valid. The other one is that
// of the transaction before, or was torn.
func readMeta(file io.ReaderAt) (newest metaPage, err error) {
	err = errors.New("no meta page is valid")
	for id := range int64(2) {
		data := make([]byte, metaSize)
		if _, err := file.ReadAt(data, id*pageSize+pageHead); err != nil {
			continue
		}
		sum := fnv.New64a()
		_, _ = sum.Write(data[:metaSize-8]) // never fails
		if order.Uint32(data) != metaMagic || order.Uint32(data[4:]) != metaFormat ||
			order.Uint32(data[8:]) != pageSize || order.Uint64(data[56:]) != sum.Sum64() {
			continue
		}
		m := metaPage{order.Uint64(data[48:]), order.Uint64(data[16:]), order.Uint64(data[32:]), order.Uint64(data[40:])}
		if err != nil || m.txid > newest.txid {
			newest, err = m, nil
		}
	}
	return newest, err
}

// A walker reads a database page by page. Of what is damaged it tells fault, and goes on
// with what is whole: no page is read twice, and nothing outside its own bounds, so that
// every walk ends. In a damaged database keys may come out of order, or be false.
type walker struct {
	file  io.ReaderAt
	meta  metaPage
	seen  []uint64                                      // a bit for each page that belongs to something
	leaf  func(bucket string, key, value []byte) error  // of each pair; nil: values are not read
	fault func(page uint64, format string, args ...any) // page 0: the database
	pause func() bool                                   // asked after each leaf; nil: never

	bucket  string // that is walked; "": the one of all buckets
	from    place  // what lies before it was walked
	changed bool   // since then: seen is not all of it
	heads   [maxDepth + 2][]byte
	faults  int
}

// A place in a database is a key in a bucket.
type place struct {
	bucket string
	key    []byte
}

// errPaused ends a walk that can go on from walker.from.
var errPaused = errors.New("paused")

// walkPages reads every pair of a database that can be read, bucket by bucket, and tells
// fault of each page that is damaged. The slices are valid only during the call. Leaves
// that no tree leads to any more come at the end, with the bucket orphaned. It returns leaf's
// error.
func walkPages(
	file io.ReaderAt, size int64, leaf func(bucket string, key, value []byte) error, fault func(page uint64, why string),
) error {
	w, err := newWalker(file, size, fault)
	w.leaf = leaf
	if err != nil { // any page may be a leaf
		fault(0, err.Error())
		return w.orphans()
	}
	if err := w.walk(); err != nil {
		return err
	}
	sound := w.faults == 0
	if err := w.checkFree(sound); err != nil {
		fault(w.meta.free, err.Error())
		sound = false // the tree may be a part of an older one
	}
	if sound || leaf == nil {
		return nil
	}
	return w.orphans()
}

func newWalker(file io.ReaderAt, size int64, fault func(page uint64, why string)) (*walker, error) {
	meta, err := readMeta(file)
	w := &walker{file: file, meta: meta}
	w.fault = func(page uint64, format string, args ...any) {
		w.faults++
		fault(page, fmt.Sprintf(format, args...))
	}
	pages := uint64(size) / pageSize
	if err != nil {
		w.meta.end = pages
	}
	if w.meta.end > pages {
		w.fault(0, "the database was cut short: %d of %d pages", pages, meta.end)
		w.meta.end = pages
	}
	w.seen = make([]uint64, w.meta.end/64+1)
	return w, err
}

// walk goes on from w.from to the end. It returns errPaused, or what leaf returns.
func (w *walker) walk() error {
	clear(w.seen)
	w.bucket = ""
	return w.tree(w.meta.root, nil, nil, 0)
}

func (w *walker) isSeen(id uint64) bool { return w.seen[id/64]&(1<<(id%64)) != 0 }

// claim marks pages as belonging to something, if nothing else has them.
func (w *walker) claim(id, pages uint64) bool {
	for i := id; i < id+pages; i++ {
		if w.isSeen(i) {
			return false
		}
	}
	for i := id; i < id+pages; i++ {
		w.seen[i/64] |= 1 << (i % 64)
	}
	return true
}

// A sheet is a page with those that continue it, or the page of a small bucket, which
// lies inside the value that stands for the bucket.
type sheet struct {
	id           uint64
	from         io.ReaderAt
	offset, size int64 // in it
	inline       bool
	kind, count  int
	head         []byte // its beginning: with all elements, but not all keys
}

// load reads the beginning of a page and makes sure of its own bounds. It tells fault
// and returns nil if the page is of no use.
func (w *walker) load(id uint64, depth int) *sheet {
	if id < 2 || id >= w.meta.end || depth > maxDepth {
		w.fault(id, "there is no such page, or it lies too deep: the database has %d pages", w.meta.end)
		return nil
	}
	if w.heads[depth] == nil {
		w.heads[depth] = make([]byte, pageSize)
	}
	head := w.heads[depth]
	if _, err := w.file.ReadAt(head, int64(id)*pageSize); err != nil {
		w.fault(id, "%v", err)
		return nil
	}
	if order.Uint64(head) != id {
		w.fault(id, "it says that it is page %d", order.Uint64(head))
		return nil
	}
	if !w.claim(id, 1) {
		w.fault(id, "it belongs to something else too")
		return nil
	}
	pages := uint64(order.Uint32(head[12:])) + 1
	if pages > w.meta.end-id {
		w.fault(id, "it claims to have %d pages, the database has %d", pages, w.meta.end)
		pages = w.meta.end - id
	}
	return w.open(&sheet{id: id, from: w.file, offset: int64(id) * pageSize, size: int64(pages) * pageSize, head: head})
}

// open makes sure of what a page says of its elements.
func (w *walker) open(s *sheet) *sheet {
	s.kind, s.count = int(order.Uint16(s.head[8:])), int(order.Uint16(s.head[10:]))
	elements := int64(pageHead + s.count*elementSize)
	if s.kind != leafPage && (s.kind != branchPage || s.count == 0 || s.inline) || elements > s.size {
		w.fault(s.id, "it is of kind %d with %d elements", s.kind, s.count)
		return nil
	}
	if elements > int64(len(s.head)) {
		head := make([]byte, elements)
		if _, err := s.from.ReadAt(head, s.offset); err != nil {
			w.fault(s.id, "%v", err)
			return nil
		}
		s.head = head
	}
	return s
}

// read returns bytes of a page.
func (s *sheet) read(at, length int64) ([]byte, error) {
	if at+length <= int64(len(s.head)) {
		return s.head[at : at+length], nil
	}
	data := make([]byte, length)
	_, err := s.from.ReadAt(data, s.offset+at)
	return data, err
}

// An element is a key of a page with a child or a value.
type element struct {
	key        []byte
	child      uint64 // of a branch
	flags      uint32 // of a leaf: 1 if the value is a bucket
	value      int64  // where it begins
	valueBytes int64
	low, high  []byte // what lies below the key: from low to before high
}

// elements returns the elements of a page that can be read. bbolt writes each right
// behind the one before and takes no page more than it needs: what is otherwise is told.
func (w *walker) elements(s *sheet, low, high []byte) []element {
	all := make([]element, 0, s.count)
	end := int64(pageHead + s.count*elementSize) // of what was read
	for i := range int64(s.count) {
		e, begin := s.element(i)
		if begin < end || e.value == begin || e.value-begin > maxKey || e.value+e.valueBytes > s.size {
			w.fault(s.id, "element %d lies outside of the page", i)
			continue
		}
		if begin != end {
			w.fault(s.id, "element %d does not follow the one before", i)
		}
		end = e.value + e.valueBytes
		key, err := s.read(begin, e.value-begin)
		if err != nil {
			w.fault(s.id, "%v", err)
			continue
		}
		e.key = key
		all = append(all, e)
	}
	more := uint64(end-1) / pageSize // is believed, rather than the one number in the head
	if !s.inline && more != uint64(s.size)/pageSize-1 || s.inline && end != s.size {
		w.fault(s.id, "its elements end after %d of %d bytes", end, s.size)
	}
	if !w.claim(s.id+1, more) {
		w.fault(s.id, "it runs on in pages of something else")
		return nil
	}
	w.setBounds(s.id, all, low, high)
	return all
}

// element reads an element, without its key, and where that begins.
func (s *sheet) element(i int64) (e element, begin int64) {
	at := pageHead + i*elementSize
	data := s.head[at:]
	if s.kind == branchPage {
		begin, e.child = at+int64(order.Uint32(data)), order.Uint64(data[8:])
		e.value = begin + int64(order.Uint32(data[4:]))
		return e, begin
	}
	e.flags, begin = order.Uint32(data), at+int64(order.Uint32(data[4:]))
	e.value, e.valueBytes = begin+int64(order.Uint32(data[8:])), int64(order.Uint32(data[12:]))
	return e, begin
}

// setBounds looks at the order of the keys. Where they are out of order they bound nothing.
func (w *walker) setBounds(id uint64, all []element, low, high []byte) {
	isOrdered := true
	for i, e := range all {
		if i == 0 && bytes.Compare(e.key, low) < 0 || i > 0 && bytes.Compare(e.key, all[i-1].key) <= 0 ||
			high != nil && bytes.Compare(e.key, high) >= 0 {
			w.fault(id, "the key %.40q is out of order", e.key)
			isOrdered = false
		}
	}
	for i := range all {
		e := &all[i]
		e.low, e.high = low, high
		if isOrdered {
			e.low = e.key
		}
		if isOrdered && i+1 < len(all) {
			e.high = all[i+1].key
		}
	}
}

// tree walks a page and what lies below it.
func (w *walker) tree(id uint64, low, high []byte, depth int) error {
	s := w.load(id, depth)
	if s == nil {
		return w.passed(high)
	}
	if s.count == 0 && (low != nil || high != nil) {
		w.fault(id, "it is empty")
	}
	all := w.elements(s, low, high)
	if s.kind == leafPage {
		if err := w.pairs(s, all, depth); err != nil {
			return err
		}
		return w.passed(high)
	}
	for _, e := range all {
		if e.high != nil && w.bucket == w.from.bucket && bytes.Compare(e.high, w.from.key) <= 0 {
			continue
		}
		if err := w.tree(e.child, e.low, e.high, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// passed says that everything before high was walked.
func (w *walker) passed(high []byte) error {
	if w.bucket == "" || high == nil {
		return nil
	}
	w.from = place{w.bucket, bytes.Clone(high)}
	if w.pause != nil && w.pause() {
		return errPaused
	}
	return nil
}

// pairs reads what a leaf holds: buckets, or keys with their values.
func (w *walker) pairs(s *sheet, all []element, depth int) error {
	for _, e := range all {
		bucket := w.bucket
		if bucket == "" && e.flags == 1 {
			if err := w.walkBucket(s, e, depth); err != nil {
				return err
			}
			continue
		}
		if bucket == "" {
			w.fault(s.id, "%.40q is no bucket", e.key)
			bucket = orphaned
		}
		if e.flags != 0 {
			w.fault(s.id, "the key %.40q has the flags %x", e.key, e.flags)
			continue
		}
		if w.leaf == nil {
			continue
		}
		value, err := s.read(e.value, e.valueBytes)
		if err != nil {
			w.fault(s.id, "%v", err)
			continue
		}
		if err := w.leaf(bucket, e.key, value); err != nil {
			return err
		}
	}
	return nil
}

// walkBucket walks the bucket that an element of the root's tree stands for.
func (w *walker) walkBucket(s *sheet, e element, depth int) error {
	const header = 16 // the root's page, which is 0 for a page inside the value, and a sequence
	name := string(e.key)
	if name < w.from.bucket {
		return nil
	}
	value, err := s.read(e.value, min(e.valueBytes, pageSize))
	if err != nil || len(value) < header {
		w.fault(s.id, "%.40q is no bucket", name)
		return nil
	}
	w.bucket = name
	root := order.Uint64(value)
	if root != 0 {
		err = w.tree(root, nil, nil, depth+1)
	} else if inside := value[header:]; len(inside) < pageHead || e.valueBytes >= pageSize || order.Uint64(inside) != 0 {
		w.fault(s.id, "the bucket %.40q is damaged", name)
	} else {
		page := &sheet{id: s.id, from: bytes.NewReader(inside), size: int64(len(inside)), inline: true, head: inside}
		if w.open(page) != nil {
			err = w.pairs(page, w.elements(page, nil, nil), depth)
		}
	}
	w.bucket = ""
	if err == nil {
		w.from = place{bucket: name + "\x00"}
	}
	return err
}

// orphans reads the leaves that nothing has claimed: what led to them is damaged.
func (w *walker) orphans() error {
	w.fault = func(uint64, string, ...any) {}
	w.bucket = orphaned
	for id := uint64(2); id < w.meta.end; id++ {
		if w.isSeen(id) {
			continue
		}
		if s := w.load(id, 0); s != nil && s.kind == leafPage {
			if err := w.pairs(s, w.elements(s, nil, nil), 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// readFree returns the list of free pages as it stands in the file: a page's head, and
// their numbers.
func readFree(file io.ReaderAt, m metaPage) (list, numbers []byte, err error) {
	if m.free < 2 || m.free >= m.end {
		return nil, nil, fmt.Errorf("page %d cannot be the list of free pages", m.free)
	}
	list = make([]byte, pageSize)
	if _, err := file.ReadAt(list, int64(m.free)*pageSize); err != nil {
		return nil, nil, err
	}
	begin, count := pageHead, uint64(order.Uint16(list[10:]))
	if count == manyFree {
		begin, count = pageHead+8, order.Uint64(list[pageHead:])
	}
	pages := uint64(order.Uint32(list[12:])) + 1
	if order.Uint64(list) != m.free || order.Uint16(list[8:]) != freePage || pages > m.end-m.free || count > m.end ||
		uint64(begin)+8*count > pages*pageSize {
		return nil, nil, fmt.Errorf("page %d is no list of free pages", m.free)
	}
	if end := begin + 8*int(count); end <= pageSize {
		list = list[:end]
	} else {
		list = make([]byte, end)
		_, err = file.ReadAt(list, int64(m.free)*pageSize)
	}
	return list, list[begin:], err
}

// checkFree compares the list of free pages with what walk has reached: if that was
// sound, each page is one or the other.
func (w *walker) checkFree(sound bool) error {
	list, numbers, err := readFree(w.file, w.meta)
	if err != nil {
		return err
	}
	if !w.claim(w.meta.free, uint64(order.Uint32(list[12:]))+1) {
		return errors.New("the list of free pages belongs to something else too")
	}
	for ; len(numbers) > 0; numbers = numbers[8:] {
		id := order.Uint64(numbers)
		if id < 2 || id >= w.meta.end || !w.claim(id, 1) {
			return fmt.Errorf("page %d is in use, or is none, and is listed as free", id)
		}
	}
	for id := uint64(2); sound && id < w.meta.end; id++ {
		if !w.isSeen(id) {
			return fmt.Errorf("page %d is neither in use nor listed as free", id)
		}
	}
	return nil
}

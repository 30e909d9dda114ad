// Package bundle is the file format in which log entries of one store travel, with the records
// and bodies that they put: see docs/format.md. Write makes a bundle and a Reader verifies one.
// It changes no store; memory does not grow with the size of a bundle, but by 32 bytes for each body.
package bundle

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"filebus/store"
	"filebus/store/record"
)

const header = "filebus bundle "

// The versions that are known.
const (
	version     = "1"
	passVersion = "2" // with entries of store.OpPass
	packVersion = "3" // of a piece that is packed: see Pack
)

// ErrMalformed says that a file is no bundle, or not as it was written.
const ErrMalformed record.Reason = "malformed bundle"

// A Place is a position of a log with the chain there.
type Place struct {
	Position uint64        `json:"position"`
	Chain    record.Digest `json:"-"`
}

func (p Place) String() string { return fmt.Sprintf("%d %s", p.Position, p.Chain) }

// ParsePlace reads what String wrote, and nothing else.
func ParsePlace(text string) (p Place, err error) {
	position, link, _ := strings.Cut(text, " ")
	p.Position, err = strconv.ParseUint(position, 10, 64)
	if err == nil {
		p.Chain, err = record.ParseDigest(link)
	}
	if err == nil && p.String() != text {
		err = errors.New("malformed place")
	}
	return p, err
}

// An Item is a log entry with what travels of it. A draft has no description.
type Item struct {
	store.Step
	Head []byte // the beginning of the body's text, or all; nil: an earlier item had the body
}

// A Reader reads a bundle and verifies all of it on the way. Large bodies are kept, to be put, if
// Keep is set.
type Reader struct {
	Origin record.StoreID
	Past   string // the earlier ones, as store.Tx.Past has them
	Before Place
	At     Place // of the entry that was read last
	Keep   bool
	// Apart opens the body of a record that travels by itself. Nil: none does.
	Apart func(context.Context, record.Digest) (io.ReadCloser, error)
	// Passed verifies who has signed a pass of a log. Nil: none passes.
	Passed func(record.StoreID, store.Pass, store.Entry) error

	in   *bufio.Reader
	s    *store.Store
	had  map[record.Digest]bool
	key  string // of the field that comes next, and the length of its value
	size int64
	err  error // the first one; io.EOF behind the end

	passes bool // it is of passVersion
}

// NewReader reads the beginning of a bundle. The store lends its means to unpack bodies.
func NewReader(s *store.Store, in io.Reader) (*Reader, error) {
	r := &Reader{in: bufio.NewReaderSize(in, 1<<16), s: s, had: map[record.Digest]bool{}}
	line, err := r.word('\n', len(header)+20)
	number, found := strings.CutPrefix(line, header)
	switch {
	case err != nil || !found:
		return nil, malformed("it does not begin as one")
	case number != version && number != passVersion:
		return nil, record.NewerStore.Errorf("the bundle is of version %.20q; this filebus knows %s", number, passVersion)
	}
	r.passes = number == passVersion
	r.next()
	r.Origin, r.Past = record.StoreID(r.value("origin")), r.value("origins")
	r.Before, err = ParsePlace(r.value("before"))
	r.At = r.Before
	first, pastErr := store.FirstOrigin(r.Origin, r.Past)
	_, originErr := record.ParseStoreID(string(r.Origin))
	if r.Before.Position == 0 && r.Before.Chain != store.FirstChain(first) || cmp.Or(err, pastErr, originErr) != nil {
		r.fail("its origins or the place before it are wrong")
	}
	return r, r.err
}

func malformed(format string, args ...any) error {
	return record.Damaged.Errorf("the bundle is malformed: %s", fmt.Sprintf(format, args...)).Because(ErrMalformed)
}

func (r *Reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = malformed(format, args...)
	}
}

// word reads up to a delimiter, which is taken away.
func (r *Reader) word(end byte, most int) (string, error) {
	var text []byte
	for len(text) <= most {
		c, err := r.in.ReadByte()
		if err != nil || c == end {
			return string(text), err
		}
		text = append(text, c)
	}
	return "", errors.New("a word is too long")
}

// next reads the key and the length of the next field.
func (r *Reader) next() {
	var err error
	if r.key, err = r.word(' ', 16); err != nil {
		r.fail("it ends without an end, or: %v", err)
		return
	}
	digits, err := r.word(' ', 19)
	if err == nil {
		r.size, err = strconv.ParseInt(digits, 10, 64)
	}
	if err != nil || r.size < 0 || strconv.FormatInt(r.size, 10) != digits {
		r.fail("the field %q has a wrong length", r.key)
	}
}

// maxValue bounds the values that are held in memory, but for the digests of large bodies.
const maxValue = 2 << 20

// value reads the value of a field that must come now, and the head of the next one, if there is one.
func (r *Reader) value(key string) string {
	if r.err != nil || r.key != key || r.size > maxValue {
		r.fail("a field %q of %d bytes where %q is expected", r.key, r.size, key)
		return ""
	}
	text := make([]byte, r.size+1)
	if _, err := io.ReadFull(r.in, text); err != nil || text[r.size] != '\n' {
		r.fail("the field %q is cut short or runs on", key)
	} else if text = text[:r.size]; key != "end" {
		r.next()
	}
	return string(text)
}

// Next returns the next item. The error is io.EOF behind the last one, if all is right.
func (r *Reader) Next(ctx context.Context) (item Item, err error) {
	if r.err == nil {
		r.err = ctx.Err()
	}
	switch {
	case r.err != nil:
	case r.key == "end":
		text := r.value("end")
		if _, err := r.in.ReadByte(); text != r.At.String() || !errors.Is(err, io.EOF) {
			r.fail("it does not end with the chain of its entries")
		}
		r.err = cmp.Or(r.err, io.EOF)
	default:
		item = r.item(ctx)
	}
	return item, r.err
}

func (r *Reader) item(ctx context.Context) (item Item) {
	var err error
	text := r.value("entry")
	item.Entry, err = store.ParseEntry([]byte(text))
	isNext := item.Position == r.At.Position+1 || item.Op == store.OpPass && item.Position > r.At.Position
	if err != nil || !isNext {
		r.fail("entry %d is followed by %.200q", r.At.Position, text)
		return item
	}
	if item.Op == store.OpPass {
		r.pass(&item)
	}
	r.At = Place{item.Position, store.NextChain(r.At.Chain, item.Entry)}
	if r.key == "trace" && item.Op != store.OpRetire {
		trace, err := store.ParseTrace(r.value("trace"))
		item.Trace = &trace
		r.check(item, err)
	}
	for r.key == "known" && item.Op == store.OpPut && r.passes && r.err == nil {
		ref, text, _ := strings.Cut(r.value("known"), " ")
		known := store.Known{}
		known.Ref, err = record.ParseRef(ref)
		trace, traceErr := store.ParseTrace(text)
		known.Trace = trace
		r.check(item, cmp.Or(err, traceErr))
		item.Known = append(item.Known, known)
	}
	switch {
	case item.Op == store.OpPut && r.key == "name":
		item.Name, err = record.ParseName(r.value("name"))
		r.check(item, err)
	case item.Op == store.OpPut && r.key == "record":
		r.record(ctx, &item)
	}
	return item
}

// pass reads what is said of entries that were passed over. They may begin before what was read last.
func (r *Reader) pass(item *Item) {
	pass, err := store.ParsePass(r.value("pass"))
	if err == nil && (!r.passes || r.Passed == nil || pass.First > r.At.Position+1) {
		err = errors.New("entries are missing")
	}
	if r.check(*item, err); r.err == nil {
		item.Pass, r.err = &pass, r.Passed(r.Origin, pass, item.Entry)
	}
}

func (r *Reader) check(item Item, err error) {
	if err != nil {
		r.fail("entry %d: %v", item.Position, err)
	}
}

// record reads a record, and its body, if that travels.
func (r *Reader) record(ctx context.Context, item *Item) {
	encoding := []byte(r.value("record"))
	made, err := record.Decode(encoding)
	hasBody := r.key == "body" || r.key == "apart"
	if err == nil && record.RefOf(encoding) != item.Ref {
		err = errors.New("the record does not have its digest")
	} else if err == nil && r.had[made.Body] == hasBody {
		err = errors.New("its body is missing, or comes twice")
	}
	if r.check(*item, err); r.err != nil {
		return
	}
	item.Draft = &store.Draft{Record: *made, Body: store.BodyOf(made)}
	if r.had[made.Body] = true; hasBody {
		r.body(ctx, item)
	}
}

func (r *Reader) body(ctx context.Context, item *Item) {
	var packed string
	if r.key == "body" {
		packed = r.value("body")
	}
	switch {
	case r.key == "apart":
		r.apart(ctx, item, packed)
	case !store.IsFile([]byte(packed)):
		r.receive(ctx, item, packed, nil)
	case r.key != "file":
		r.fail("entry %d: its body has no file", item.Position)
	default:
		r.receive(ctx, item, packed, io.LimitReader(r.in, r.size))
		r.size = 0 // the line end is left of it
		r.value("file")
	}
}

// apart reads a body that travels by itself.
func (r *Reader) apart(ctx context.Context, item *Item, packed string) {
	if none := r.value("apart"); none != "" || r.Apart == nil {
		r.fail("entry %d: its body is not in it", item.Position)
	}
	if r.err != nil {
		return
	}
	body, err := r.Apart(ctx, item.Draft.Record.Body)
	if err != nil {
		r.err = err
		return
	}
	var file io.Reader = body
	if !store.IsFile([]byte(packed)) {
		text, readErr := io.ReadAll(io.LimitReader(body, maxValue+1))
		packed, file, r.err = string(text), nil, readErr
	}
	r.receive(ctx, item, packed, file)
	r.err = errors.Join(r.err, body.Close())
}

// receive verifies a body.
func (r *Reader) receive(ctx context.Context, item *Item, packed string, file io.Reader) {
	if r.err != nil {
		return
	}
	d := item.Draft
	d.Body, item.Head, r.err = r.s.Receive(ctx, &d.Record, []byte(packed), file, r.Keep)
	if failed := (*fs.PathError)(nil); errors.As(r.err, &failed) { // the disk here is full, or the like
		r.err = failed
	} else if errors.Is(r.err, record.Damaged) {
		r.err = malformed("entry %d: %v", item.Position, r.err)
	}
	if item.Head == nil {
		item.Head = []byte{}
	}
}

// leastPacked is how long a piece is at least that is packed.
const leastPacked = 16 << 10

// Pack packs a piece of a log as bodies are, if it is worth it, since the records in it are much alike.
func Pack(s *store.Store, text []byte) []byte {
	if leastPacked <= len(text) && len(text) <= store.InlineLimit {
		text = append([]byte(header+packVersion+"\n"), s.Pack(text)...)
	}
	return text
}

// Unpack returns the piece that Pack was given.
func Unpack(s *store.Store, text []byte) ([]byte, error) {
	packed, isPacked := bytes.CutPrefix(text, []byte(header+packVersion+"\n"))
	if !isPacked {
		return text, nil
	}
	text, err := s.Unpack(packed)
	if err != nil {
		return nil, malformed("it cannot be unpacked: %v", err)
	}
	return text, nil
}

// Bodies returns the bodies of a bundle that travel by themselves, by the records that have them. Nothing
// is verified.
func Bodies(text []byte) map[record.Ref]record.Digest {
	all, last := map[record.Ref]record.Digest{}, []byte(nil)
	r := &Reader{in: bufio.NewReader(bytes.NewReader(text))}
	_, r.err = r.word('\n', len(header)+20)
	for r.next(); r.err == nil && r.key != "end"; {
		key := r.key
		value := r.value(key)
		if key == "record" {
			last = []byte(value)
		} else if made, err := record.Decode(last); key == "apart" && err == nil {
			all[record.RefOf(last)] = made.Body
		}
	}
	return all
}

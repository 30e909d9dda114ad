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

// version is the newest that is known.
const version = "1"

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

// An Item is a log entry with what travels of it.
type Item struct {
	store.Entry
	Name   record.Name    // of a record whose content is destroyed
	Trace  *store.Trace   // of one that does not travel, or is dropped; nil: not known
	Record *record.Record // nil: the entry alone
	Body   store.Body     // of the record
	Head   []byte         // the beginning of the body's text, or all; nil: an earlier item had the body
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

	in    *bufio.Reader
	s     *store.Store
	had   map[record.Digest]bool
	key   string // of the field that comes next, and the length of its value
	size  int64
	state error // io.EOF behind the end
}

// NewReader reads the beginning of a bundle. The store lends its means to unpack bodies.
func NewReader(s *store.Store, in io.Reader) (*Reader, error) {
	r := &Reader{in: bufio.NewReaderSize(in, 1<<16), s: s, had: map[record.Digest]bool{}}
	line, err := r.word('\n', len(header)+20)
	number, found := strings.CutPrefix(line, header)
	switch {
	case err != nil || !found:
		return nil, malformed("it does not begin as one")
	case number != version:
		return nil, record.NewerStore.Errorf("the bundle is of version %.20q; this filebus knows %s", number, version)
	}
	var origin, before string
	err = cmp.Or(r.next(), r.value("origin", &origin), r.value("origins", &r.Past), r.value("before", &before))
	if err != nil {
		return nil, err
	}
	r.Before, err = ParsePlace(before)
	first, pastErr := store.FirstOrigin(record.StoreID(origin), r.Past)
	if r.Origin, r.At = record.StoreID(origin), r.Before; err == nil && pastErr == nil {
		_, err = record.ParseStoreID(origin)
	}
	if r.Before.Position == 0 && r.Before.Chain != store.FirstChain(first) || err != nil || pastErr != nil {
		return nil, malformed("its origins or the place before it are wrong")
	}
	return r, nil
}

func malformed(format string, args ...any) error {
	return record.Damaged.Errorf("the bundle is malformed: %s", fmt.Sprintf(format, args...)).Because(ErrMalformed)
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
func (r *Reader) next() (err error) {
	r.key, err = r.word(' ', 16)
	if err != nil {
		return malformed("it ends without an end, or: %v", err)
	}
	digits, err := r.word(' ', 19)
	if err == nil {
		r.size, err = strconv.ParseInt(digits, 10, 64)
	}
	if err != nil || r.size < 0 || strconv.FormatInt(r.size, 10) != digits {
		return malformed("the field %q has a wrong length", r.key)
	}
	return nil
}

// maxValue bounds the values that are held in memory, but for the digests of large bodies.
const maxValue = 2 << 20

// value reads the value of a field that must come now, and the head of the next one, if there is one.
func (r *Reader) value(key string, value *string) error {
	if r.key != key || r.size < 0 || r.size > maxValue {
		return malformed("a field %q of %d bytes where %q is expected", r.key, r.size, key)
	}
	text := make([]byte, r.size+1)
	if _, err := io.ReadFull(r.in, text); err != nil || text[r.size] != '\n' {
		return malformed("the field %q is cut short or runs on", key)
	}
	*value = string(text[:r.size])
	if key == "end" {
		return nil
	}
	return r.next()
}

// Next returns the next item. The error is io.EOF behind the last one, if all is right.
func (r *Reader) Next(ctx context.Context) (Item, error) {
	item, err := Item{}, r.state
	if err == nil {
		err = ctx.Err()
	}
	if err == nil && r.key == "end" {
		err = r.end()
	} else if err == nil {
		item, err = r.item(ctx)
	}
	r.state = err
	return item, err
}

func (r *Reader) end() error {
	var text string
	if err := r.value("end", &text); err != nil {
		return err
	}
	if _, err := r.in.ReadByte(); text != r.At.String() || !errors.Is(err, io.EOF) {
		return malformed("it does not end with the chain of its entries")
	}
	return io.EOF
}

func (r *Reader) item(ctx context.Context) (item Item, err error) {
	var text string
	if err = r.value("entry", &text); err != nil {
		return item, err
	}
	if item.Entry, err = store.ParseEntry([]byte(text)); err != nil || item.Position != r.At.Position+1 {
		return item, malformed("entry %d is followed by %.200q", r.At.Position, text)
	}
	r.At = Place{item.Position, store.NextChain(r.At.Chain, item.Entry)}
	if r.key == "trace" && item.Op != store.OpRetire {
		if err = r.value("trace", &text); err != nil {
			return item, err
		}
		trace, err := store.ParseTrace(text)
		if item.Trace = &trace; err != nil {
			return item, malformed("entry %d: %v", item.Position, err)
		}
	}
	switch {
	case item.Op == store.OpPut && r.key == "name":
		if err = r.value("name", &text); err == nil {
			if item.Name, err = record.ParseName(text); err != nil {
				err = malformed("entry %d: %v", item.Position, err)
			}
		}
	case item.Op == store.OpPut && r.key == "record":
		if err = r.value("record", &text); err == nil {
			err = r.record(ctx, &item, []byte(text))
		}
	}
	return item, err
}

// record reads a record's body, if it travels.
func (r *Reader) record(ctx context.Context, item *Item, encoding []byte) (err error) {
	item.Record, err = record.Decode(encoding)
	switch {
	case err == nil && record.RefOf(encoding) != item.Ref:
		err = errors.New("the record does not have its digest")
	case err == nil && r.had[item.Record.Body] == (r.key == "body" || r.key == "apart"):
		err = errors.New("its body is missing, or comes twice")
	}
	if err != nil {
		return malformed("entry %d: %v", item.Position, err)
	}
	item.Body = store.BodyOf(item.Record)
	if r.key != "body" && r.key != "apart" {
		return nil
	}
	r.had[item.Record.Body] = true
	var packed string
	if r.key == "body" {
		if err = r.value("body", &packed); err != nil {
			return err
		}
	}
	if r.key == "apart" {
		return r.apart(ctx, item, packed)
	}
	var file io.Reader
	if store.IsFile([]byte(packed)) {
		if r.key != "file" {
			return malformed("entry %d: its body has no file", item.Position)
		}
		file = io.LimitReader(r.in, r.size)
	}
	err = r.receive(ctx, item, packed, file)
	if err == nil && file != nil {
		var none string
		r.key, r.size = "file", 0 // the line end is left of it
		err = r.value("file", &none)
	}
	return err
}

// apart reads a body that travels by itself.
func (r *Reader) apart(ctx context.Context, item *Item, packed string) error {
	var none string
	if err := r.value("apart", &none); err != nil || none != "" || r.Apart == nil {
		return cmp.Or(err, malformed("entry %d: its body is not in it", item.Position))
	}
	body, err := r.Apart(ctx, item.Record.Body)
	if err != nil {
		return err
	}
	var file io.Reader = body
	if !store.IsFile([]byte(packed)) {
		text, readErr := io.ReadAll(io.LimitReader(body, maxValue+1))
		packed, file, err = string(text), nil, readErr
	}
	if err == nil {
		err = r.receive(ctx, item, packed, file)
	}
	return errors.Join(err, body.Close())
}

// receive verifies a body.
func (r *Reader) receive(ctx context.Context, item *Item, packed string, file io.Reader) (err error) {
	item.Body, item.Head, err = r.s.Receive(ctx, item.Record, []byte(packed), file, r.Keep)
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) { // the disk here is full, or the like
		err = failed
	} else if err != nil && errors.Is(err, record.Damaged) {
		err = malformed("entry %d: %v", item.Position, err)
	}
	if item.Head == nil {
		item.Head = []byte{}
	}
	return err
}

// Bodies returns the bodies of a bundle that travel by themselves, by the records that have them. Nothing
// is verified.
func Bodies(text []byte) map[record.Ref]record.Digest {
	all, last := map[record.Ref]record.Digest{}, []byte(nil)
	r := &Reader{in: bufio.NewReader(bytes.NewReader(text))}
	_, err := r.word('\n', len(header)+20)
	for err == nil && r.next() == nil {
		value := make([]byte, min(r.size, maxValue)+1)
		if _, err = io.ReadFull(r.in, value); err != nil {
			break
		}
		switch value = value[:len(value)-1]; r.key {
		case "record":
			last = value
		case "apart":
			if made, decodeErr := record.Decode(last); decodeErr == nil {
				all[record.RefOf(last)] = made.Body
			}
		}
	}
	return all
}

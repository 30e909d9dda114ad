package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// header begins every encoded record.
const header = "filebus record 1\n"

// timeLayout is RFC 3339 in UTC with nine digits.
const timeLayout = "2006-01-02T15:04:05.000000000Z"

// FormatTime returns t in the one form that is stored: RFC 3339, UTC, nine
// fractional digits.
func FormatTime(t time.Time) string { return t.UTC().Format(timeLayout) }

// ParseTime reads the form that FormatTime writes, and no other.
func ParseTime(text string) (time.Time, error) {
	t, err := time.Parse(timeLayout, text)
	if err != nil || FormatTime(t) != text {
		return time.Time{}, fmt.Errorf("malformed time %q", text)
	}
	return t, nil
}

// RefOf returns the ref of an encoded record.
func RefOf(encoding []byte) Ref { return sha256.Sum256(encoding) }

// Encode returns the canonical encoding: the header, then each present field
// as "key SP length SP bytes LF", in the order of fieldRules. Equal records
// have equal encodings. The record must be valid.
func (r *Record) Encode() []byte { return r.encode(512) }

// encode makes room for size bytes, so that a good guess costs one allocation.
func (r *Record) encode(size int) []byte {
	e := encoder(append(make([]byte, 0, size), header...))
	e.text("origin", string(r.Origin))
	e.text("tree", string(r.Name.Tree))
	e.text("kind", string(r.Name.Kind))
	e.text("id", r.Name.ID)
	e.text("path", r.Path)
	e.sum("body", r.Body)
	e.field("size", strconv.FormatInt(r.Size, 10))
	e.text("media", r.MediaType)
	if !r.Prev.IsZero() {
		e.sum("prev", r.Prev)
	}
	e.field("time", FormatTime(r.Time))
	if !r.Written.IsZero() {
		e.field("written", FormatTime(r.Written))
	}
	for _, f := range r.words()[1:] {
		e.text(f.key, f.value)
	}
	if r.Exit != nil {
		e.field("exit", strconv.Itoa(*r.Exit))
	}
	for _, tag := range r.Tags {
		e.field("tag", tag)
	}
	for _, l := range r.Links {
		e.field("link", l.Type+" "+l.Target)
	}
	for _, from := range r.From {
		e.sum("from", from)
	}
	e.text("source", string(r.Source))
	return e
}

type encoder []byte

// text encodes a field that is absent when empty.
func (e *encoder) text(key, value string) {
	if value != "" {
		e.field(key, value)
	}
}

func (e *encoder) field(key, value string) {
	e.begin(key, len(value))
	*e = append(append(*e, value...), '\n')
}

// sum encodes a ref or a digest.
func (e *encoder) sum(key string, sum [sha256.Size]byte) {
	e.begin(key, hex.EncodedLen(len(sum)))
	*e = append(hex.AppendEncode(*e, sum[:]), '\n')
}

func (e *encoder) begin(key string, length int) {
	*e = append(append(*e, key...), ' ')
	*e = append(strconv.AppendInt(*e, int64(length), 10), ' ')
}

// A fieldRule says where a field stands, whether it must be there and how its
// value is read.
type fieldRule struct {
	key      string
	required bool
	repeats  bool
	read     func(r *Record, value string) error
}

// fieldRules returns the fields in the order in which they are encoded. None
// of the functions captures anything, so that the table costs a copy and no
// allocation.
func fieldRules() [23]fieldRule {
	return [...]fieldRule{
		{"origin", true, false, func(r *Record, v string) (err error) { r.Origin, err = ParseStoreID(v); return err }},
		{"tree", false, false, func(r *Record, v string) (err error) { r.Name.Tree, err = ParseTree(v); return err }},
		{"kind", true, false, func(r *Record, v string) (err error) { r.Name.Kind, err = ParseKind(v); return err }},
		{"id", true, false, func(r *Record, v string) error { r.Name.ID = v; return nil }},
		{"path", false, false, func(r *Record, v string) error { r.Path = v; return nil }},
		{"body", true, false, func(r *Record, v string) (err error) { r.Body, err = ParseDigest(v); return err }},
		{"size", true, false, readSize},
		{"media", false, false, func(r *Record, v string) error { r.MediaType = v; return nil }},
		{"prev", false, false, func(r *Record, v string) (err error) { r.Prev, err = ParseRef(v); return err }},
		{"time", true, false, func(r *Record, v string) (err error) { r.Time, err = ParseTime(v); return err }},
		{"written", false, false, func(r *Record, v string) (err error) { r.Written, err = ParseTime(v); return err }},
		{"agent", false, false, func(r *Record, v string) error { r.Agent = v; return nil }},
		{"conversation", false, false, func(r *Record, v string) error { r.Conversation = v; return nil }},
		{"session", false, false, func(r *Record, v string) error { r.Session = v; return nil }},
		{"run", false, false, func(r *Record, v string) error { r.Run = v; return nil }},
		{"loop", false, false, func(r *Record, v string) error { r.Loop = v; return nil }},
		{"task", false, false, func(r *Record, v string) error { r.Task = v; return nil }},
		{"status", false, false, func(r *Record, v string) error { r.Status = v; return nil }},
		{"exit", false, false, readExit},
		{"tag", false, true, func(r *Record, v string) error { r.Tags = append(r.Tags, v); return nil }},
		{"link", false, true, readLink},
		{"from", false, true, readFrom},
		{"source", true, false, func(r *Record, v string) (err error) { r.Source, err = parseSource(v); return err }},
	}
}

func readSize(r *Record, value string) (err error) {
	r.Size, err = strconv.ParseInt(value, 10, 64)
	return err
}

func readExit(r *Record, value string) error {
	code, err := strconv.Atoi(value)
	r.Exit = &code
	return err
}

func readLink(r *Record, value string) error {
	kind, target, found := strings.Cut(value, " ")
	if !found {
		return errors.New("a link without a target")
	}
	r.Links = append(r.Links, Link{kind, target})
	return nil
}

func readFrom(r *Record, value string) error {
	ref, err := ParseRef(value)
	r.From = append(r.From, ref)
	return err
}

// Decode reads what Encode wrote, and nothing else: unknown, misordered,
// repeated or malformed fields are errors, as are bytes that Encode would
// write differently.
func Decode(data []byte) (*Record, error) {
	text := string(data) // one copy; the record's fields are parts of it
	rest, found := strings.CutPrefix(text, header)
	if !found {
		return nil, errors.New("decoding record: the header is missing")
	}
	r := new(Record)
	table := fieldRules()
	rules := table[:]
	for len(rest) > 0 {
		key, value, after, err := nextField(rest)
		if err != nil {
			return nil, fmt.Errorf("decoding record at byte %d: %w", len(text)-len(rest), err)
		}
		if rules, err = applyField(rules, r, key, value); err != nil {
			return nil, fmt.Errorf("decoding record: field %q: %w", key, err)
		}
		rest = after
	}
	for _, rule := range rules {
		if rule.required {
			return nil, fmt.Errorf("decoding record: field %q is missing", rule.key)
		}
	}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("decoding record: %w", err)
	}
	if !bytes.Equal(r.encode(len(data)), data) {
		return nil, errors.New("decoding record: the encoding is not canonical")
	}
	return r, nil
}

// applyField reads one field into r by the first of rules that has its key and
// returns the rules that may still follow.
func applyField(rules []fieldRule, r *Record, key, value string) ([]fieldRule, error) {
	for i, rule := range rules {
		if rule.key == key {
			if !rule.repeats {
				i++
			}
			return rules[i:], rule.read(r, value)
		}
		if rule.required {
			return nil, fmt.Errorf("stands before %q, which is missing", rule.key)
		}
	}
	return nil, errors.New("unknown, repeated or out of order")
}

// nextField cuts one "key SP length SP bytes LF" off the front of text.
func nextField(text string) (key, value, rest string, err error) {
	key, rest, found := strings.Cut(text, " ")
	if !found || len(key) > 32 {
		return "", "", "", errors.New("a field without a key")
	}
	digits, rest, found := strings.Cut(rest, " ")
	if !found {
		return "", "", "", fmt.Errorf("field %q has no length", key)
	}
	n, err := strconv.ParseUint(digits, 10, 31)
	if err != nil || n >= uint64(len(rest)) || rest[n] != '\n' {
		return "", "", "", fmt.Errorf("field %q has a wrong length", key)
	}
	return key, rest[:n], rest[n+1:], nil
}

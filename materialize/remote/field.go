package remote

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"filebus/store/record"
)

// ErrMalformed says that a text is cut short, or not as it was written.
const ErrMalformed record.Reason = "malformed blob"

func malformed(what, format string, args ...any) error {
	return record.Damaged.Errorf("%s is malformed: %s", what, fmt.Sprintf(format, args...)).Because(ErrMalformed)
}

// appendFields adds fields, keys with their values, each as "key SP length SP value LF".
func appendFields(dst []byte, pairs ...string) []byte {
	for pair := range slices.Chunk(pairs, 2) {
		dst = fmt.Appendf(dst, "%s %d %s\n", pair[0], len(pair[1]), pair[1])
	}
	return dst
}

// version ends the first line of every text here: the newest that is known.
const version = "1\n"

// A fieldReader takes a text of fields apart, in the one form that appendFields writes. It keeps
// its first error and returns nothing from then on.
type fieldReader struct {
	what string // is read, for messages
	rest string
	err  error
}

// readFields begins to read a text. Its first line is a header and a version.
func readFields(what, header, text string) *fieldReader {
	r := &fieldReader{what: what}
	rest, found := strings.CutPrefix(text, header)
	line, after, isWhole := strings.Cut(rest, "\n")
	n, err := strconv.ParseUint(line, 10, 31)
	switch {
	case !found || !isWhole || err != nil || strconv.FormatUint(n, 10) != line || n == 0:
		r.err = malformed(what, "it does not begin as one")
	case n > 1:
		r.err = record.NewerStore.Errorf("%s is of version %d, which a newer filebus has made; upgrade this one", what, n)
	}
	r.rest = after
	return r
}

// has reports whether a field of that key comes next.
func (r *fieldReader) has(key string) bool { return r.err == nil && strings.HasPrefix(r.rest, key+" ") }

// field reads the field that must come next.
func field[T any](r *fieldReader, key string, read func(string) (T, error)) (value T) {
	if r.err != nil {
		return value
	}
	rest, found := strings.CutPrefix(r.rest, key+" ")
	digits, rest, _ := strings.Cut(rest, " ")
	n, err := strconv.ParseUint(digits, 10, 31)
	if !found || err != nil || strconv.FormatUint(n, 10) != digits || n >= uint64(len(rest)) || rest[n] != '\n' {
		r.err = malformed(r.what, "the field %q is missing or cut short", key)
		return value
	}
	if value, err = read(rest[:n]); err != nil {
		r.err = malformed(r.what, "the field %q: %v", key, err)
	}
	r.rest = rest[n+1:]
	return value
}

// text is how a field is read of which nothing is known.
func text(value string) (string, error) { return value, nil }

// end returns the error of the reading; that something is left is one.
func (r *fieldReader) end() error {
	if r.err == nil && r.rest != "" {
		return malformed(r.what, "something follows its end")
	}
	return r.err
}

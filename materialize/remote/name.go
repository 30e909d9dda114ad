package remote

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"filebus/store/record"
)

// A Kind says what a blob is. Its text is part of what is signed: never rename one.
type Kind string

// The kinds of blobs. The first two are signed.
const (
	KindState   Kind = "state"   // what a store says of itself: TELLER/state
	KindSegment Kind = "segment" // log entries: TELLER/log/ORIGIN/FIRST-LAST
	KindBody    Kind = "body"    // a large body: TELLER/bodies/ab/DIGEST

	kindPass Kind = "pass" // no blob: what the owner of a log signs within a segment
)

const bodiesFolder = "bodies" // the only one that is not listed

// A Name names a blob. It is one that ParseName accepts, or the zero Name, which names none.
type Name struct {
	kind   Kind
	teller record.StoreID
	span   Span          // of a segment
	digest record.Digest // of a body
}

// A Span is a piece of the log of one store: the entries from First to Last, both included.
type Span struct {
	Origin      record.StoreID
	First, Last uint64
}

// String returns the positions with 20 digits each, so that texts sort as numbers do.
func (s Span) String() string { return fmt.Sprintf("%020d-%020d", s.First, s.Last) }

func (s Span) compare(o Span) int {
	return cmp.Or(cmp.Compare(s.First, o.First), cmp.Compare(s.Last, o.Last))
}

// parseSpan reads what String wrote, and nothing else.
func parseSpan(origin, text string) (Span, bool) {
	if len(text) != 41 || text[20] != '-' {
		return Span{}, false
	}
	id, err := record.ParseStoreID(origin)
	first, err2 := strconv.ParseUint(text[:20], 10, 64)
	last, err3 := strconv.ParseUint(text[21:], 10, 64)
	return Span{id, first, last}, cmp.Or(err, err2, err3) == nil && 0 < first && first <= last
}

// StateName returns the name of the state of a store. Of an id that is none it is the zero
// Name; so are those of SegmentName and BodyName, and that of an empty span.
func StateName(teller record.StoreID) Name { return proven(Name{kind: KindState, teller: teller}) }

// SegmentName returns the name of a piece of a log, of the teller or of another store.
func SegmentName(teller record.StoreID, span Span) Name {
	return proven(Name{kind: KindSegment, teller: teller, span: span})
}

// BodyName returns the name of a large body.
func BodyName(teller record.StoreID, digest record.Digest) Name {
	return proven(Name{kind: KindBody, teller: teller, digest: digest})
}

func proven(n Name) Name {
	n, _ = ParseName(n.String()) // the zero Name, if it is wrong
	return n
}

// ParseName reads the form that String writes, and no other.
func ParseName(text string) (Name, error) {
	parts := strings.SplitN(text, "/", 5)
	teller, err := record.ParseStoreID(parts[0])
	n, ok := Name{teller: teller}, false
	switch {
	case len(parts) == 2 && parts[1] == "state":
		n.kind, ok = KindState, true
	case len(parts) == 4 && parts[1] == "log":
		n.kind = KindSegment
		n.span, ok = parseSpan(parts[2], parts[3])
	case len(parts) == 4 && parts[1] == bodiesFolder:
		digest, bad := record.ParseDigest(parts[3])
		n.kind, n.digest, ok = KindBody, digest, bad == nil && parts[2] == parts[3][:2]
	}
	if err != nil || !ok {
		return Name{}, record.Usage.Errorf("%.200q names no blob of a remote", text)
	}
	return n, nil
}

// String returns the name as a path, slash-separated; "" of the zero Name.
func (n Name) String() string {
	switch n.kind {
	case KindState:
		return string(n.teller) + "/state"
	case KindSegment, kindPass:
		return fmt.Sprintf("%s/log/%s/%s", n.teller, n.span.Origin, n.span)
	case KindBody:
		return fmt.Sprintf("%s/bodies/%.2s/%[2]s", n.teller, n.digest.String())
	}
	return ""
}

// MarshalText returns the form that ParseName reads.
func (n Name) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads it.
func (n *Name) UnmarshalText(text []byte) (err error) {
	*n, err = ParseName(string(text))
	return err
}

// Check refuses the zero Name: what every transport does first.
func (n Name) Check() error {
	if n == (Name{}) {
		return record.Usage.Errorf("no blob of a remote is named")
	}
	return nil
}

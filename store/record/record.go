package record

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Record is the envelope of one stored text: everything about it but its
// bytes. It is immutable; its Ref is the digest of its canonical encoding. A
// zero field is absent and not encoded.
type Record struct {
	Origin    StoreID // the store that made the record
	Name      Name
	Path      string // slash-separated, below the tree's root; raw bytes
	Body      Digest
	Size      int64 // of the body, in bytes
	MediaType string
	Prev      Ref       // the version this one follows under its name
	Time      time.Time // when it was stored
	Written   time.Time // when the text was written, if anything tells; see Date

	Agent        string
	Conversation string
	Session      string
	Run          string
	Loop         string
	Task         string
	Status       string
	Exit         *int // the exit code of the command whose output this is

	Tags   []string // sorted and unique; see NormalizeTags
	Links  []Link   // sorted by type, then target
	From   []Ref    // what the body was made from, in the order given
	Source Source
}

// A Link is a typed reference to another record or thing.
type Link struct {
	Type   string // a word, such as "supersedes"; no spaces
	Target string // a name, a ref or a path
}

// MarshalText returns the type and the target, with a space between them.
func (l Link) MarshalText() ([]byte, error) { return []byte(l.Type + " " + l.Target), nil }

// LinkConflict is the type of the link that makes a record a conflict version:
// a side version of its name, kept beside the head. Its target is the ref that
// stayed head.
const LinkConflict = "conflict"

// LinkCommand is the type of the link to the command of an output: a digest of its arguments.
const LinkCommand = "command"

// LinkMode is the type of the link that says who may use a file when it was stored, if not everybody may read it. Its
// target is the mode in octal. Of several all hold.
const LinkMode = "mode"

// SetMode says which mode the file of r has.
func (r *Record) SetMode(mode fs.FileMode) {
	if mode &^= 0o111; mode != 0 && mode&0o044 != 0o044 {
		r.Links = append(r.Links, Link{LinkMode, fmt.Sprintf("%o", mode|0o600)})
		SortLinks(r.Links)
	}
}

// Mode returns the widest mode that a file of r may have; its owner may always read and write it.
func (r *Record) Mode() fs.FileMode {
	mode := fs.FileMode(0o777)
	for _, l := range r.Links {
		if bits, err := strconv.ParseUint(l.Target, 8, 9); err == nil && l.Type == LinkMode {
			mode &= fs.FileMode(bits) | 0o711
		}
	}
	return mode
}

// A StoreID tells one store from all others: 32 lower-case hex digits.
type StoreID string

// ParseStoreID reads a store id.
func ParseStoreID(text string) (StoreID, error) {
	if len(text) != 32 || strings.Trim(text, "0123456789abcdef") != "" {
		return "", fmt.Errorf("malformed store id %q", text)
	}
	return StoreID(text), nil
}

// Date returns when the text was written, if that is known, else when it was stored.
func (r *Record) Date() time.Time {
	if r.Written.IsZero() {
		return r.Time
	}
	return r.Written
}

// Within reports whether a date lies from since on and before until, of which either may
// be zero. Midnight in UTC is a day without a time: it counts as that day where the
// bounds are.
func Within(date, since, until time.Time) bool {
	in := func(bound time.Time) time.Time {
		if y, m, d := date.UTC().Date(); date.Equal(time.Date(y, m, d, 0, 0, 0, 0, time.UTC)) {
			return time.Date(y, m, d, 0, 0, 0, 0, bound.Location())
		}
		return date
	}
	return (since.IsZero() || !in(since).Before(since)) && (until.IsZero() || in(until).Before(until))
}

// Ref returns the digest of the record's encoding.
func (r *Record) Ref() Ref { return RefOf(r.Encode()) }

// IsConflict reports whether r is a conflict version, which never becomes the
// head of its name.
func (r *Record) IsConflict() bool {
	return slices.ContainsFunc(r.Links, func(l Link) bool { return l.Type == LinkConflict })
}

// LinkMerged is the type of the links of a version that a store makes by itself of what several
// stores have made: what it was made of.
const LinkMerged = "merged"

// IsMerged reports whether r is such a version, which each store makes anew.
func (r *Record) IsMerged() bool {
	return slices.ContainsFunc(r.Links, func(l Link) bool { return l.Type == LinkMerged })
}

// WithoutLinks returns the links but for those of some types, as a copy.
func WithoutLinks(links []Link, types ...string) []Link {
	return slices.DeleteFunc(slices.Clone(links), func(l Link) bool { return slices.Contains(types, l.Type) })
}

// Follows returns the versions that r goes on from.
func (r *Record) Follows() (refs []Ref) {
	if !r.Prev.IsZero() {
		refs = append(refs, r.Prev)
	}
	for _, l := range r.Links {
		if ref, err := ParseRef(l.Target); err == nil && l.Type == LinkMerged && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// Validate reports the first thing that keeps r from being encoded.
func (r *Record) Validate() error {
	if _, err := ParseStoreID(string(r.Origin)); err != nil {
		return err
	}
	if _, err := NewName(r.Name.Tree, r.Name.Kind, r.Name.ID); err != nil {
		return err
	}
	if r.Path != "" {
		if err := CheckID(r.Path); err != nil {
			return fmt.Errorf("malformed path %q of %s: %w", r.Path, r.Name, err)
		}
	}
	if err := r.validateFields(); err != nil {
		return fmt.Errorf("record %s: %w", r.Name, err)
	}
	return nil
}

func (r *Record) validateFields() error {
	if r.Size < 0 {
		return fmt.Errorf("size %d is negative", r.Size)
	}
	if year := r.Time.UTC().Year(); r.Time.IsZero() || year < 0 || year > 9999 {
		return fmt.Errorf("time %v is missing or out of range", r.Time)
	}
	if year := r.Written.UTC().Year(); year < 0 || year > 9999 {
		return fmt.Errorf("time %v of writing is out of range", r.Written)
	}
	if _, err := parseSource(string(r.Source)); err != nil {
		return err
	}
	for _, f := range r.words() {
		if len(f.value) > maxWord || hasControl(f.value) {
			return fmt.Errorf("field %s holds control characters or more than %d bytes", f.key, maxWord)
		}
	}
	if !slices.IsSorted(r.Tags) || len(slices.Compact(slices.Clone(r.Tags))) != len(r.Tags) {
		return errors.New("tags are not sorted and unique")
	}
	for _, tag := range r.Tags {
		if tag == "" || len(tag) > maxWord || hasControl(tag) {
			return fmt.Errorf("malformed tag %q", tag)
		}
	}
	if !slices.IsSortedFunc(r.Links, compareLinks) {
		return errors.New("links are not sorted")
	}
	for _, l := range r.Links {
		if l.Type == "" || strings.ContainsAny(l.Type, " \n") || hasControl(l.Type) || strings.IndexByte(l.Target, 0) >= 0 {
			return fmt.Errorf("malformed link %q %q", l.Type, l.Target)
		}
	}
	return nil
}

// maxWord bounds the fields that stand for one word or id, in bytes: they
// become keys of look-ups.
const maxWord = 1024

type field struct{ key, value string }

// words returns the one-line fields that look-ups are made of.
func (r *Record) words() []field {
	return []field{
		{"media", r.MediaType}, {"agent", r.Agent}, {"conversation", r.Conversation},
		{"session", r.Session}, {"run", r.Run}, {"loop", r.Loop}, {"task", r.Task}, {"status", r.Status},
	}
}

// NormalizeTags returns tags as they are stored: trimmed, in lower case,
// sorted, unique, empty ones left out.
func NormalizeTags(tags []string) []string {
	var out []string
	for _, tag := range tags {
		if tag = strings.ToLower(strings.TrimSpace(tag)); tag != "" {
			out = append(out, tag)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// AddTags gives a record tags beside its own.
func (r *Record) AddTags(tags []string) { r.Tags = NormalizeTags(slices.Concat(r.Tags, tags)) }

// SortLinks orders links as they are stored.
func SortLinks(links []Link) { slices.SortFunc(links, compareLinks) }

func compareLinks(a, b Link) int {
	if c := strings.Compare(a.Type, b.Type); c != 0 {
		return c
	}
	return strings.Compare(a.Target, b.Target)
}

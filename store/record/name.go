package record

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
)

// A Tree names a set of files that came in together. The empty Tree is the
// project's own; others are captured ones.
type Tree string

// ParseTree reads the name of a captured tree: 1 to 100 bytes without "/",
// ":", control characters or white space at either end, and not "." or "..".
func ParseTree(text string) (Tree, error) {
	switch {
	case text == "" || text == "." || text == "..":
		return "", fmt.Errorf("malformed tree name %q", text)
	case len(text) > 100:
		return "", fmt.Errorf("tree name of %d bytes is longer than 100", len(text))
	case strings.ContainsAny(text, "/:\\") || hasControl(text) || strings.TrimSpace(text) != text:
		return "", fmt.Errorf("malformed tree name %q: it holds one of / : \\ or white space", text)
	}
	return Tree(text), nil
}

// A Name is the thing that records are versions of. Tree and Kind hold no NUL,
// "/" or ":", so its text form can be read back.
type Name struct {
	Tree Tree
	Kind Kind
	ID   string // slash-separated raw bytes; see CheckID
}

// MaxID is the greatest length of an id and of a path, in bytes.
const MaxID = 4096

// NewName checks the parts of a name and joins them.
func NewName(tree Tree, kind Kind, id string) (Name, error) {
	if tree != "" {
		if _, err := ParseTree(string(tree)); err != nil {
			return Name{}, err
		}
	}
	if _, err := ParseKind(string(kind)); err != nil {
		return Name{}, err
	}
	if err := CheckID(id); err != nil {
		return Name{}, fmt.Errorf("malformed name %q: %w", string(kind)+"/"+id, err)
	}
	return Name{tree, kind, id}, nil
}

// WholeFile begins the id of a whole file of a kind whose other records are entries of
// files; the rest is its path.
const WholeFile = "~/"

// IsEntry reports whether what is named lives inside an aggregate file, so that several
// share one path.
func (n Name) IsEntry() bool { return n.Kind.IsEntry() && !strings.HasPrefix(n.ID, WholeFile) }

// ParseName reads the forms that String writes: "kind/id" and "tree:kind/id".
func ParseName(text string) (Name, error) {
	head, id, found := strings.Cut(text, "/")
	if !found {
		return Name{}, fmt.Errorf("malformed name %q: it has no kind, as in note/%s", text, text)
	}
	tree, kind, captured := strings.Cut(head, ":")
	if !captured {
		if _, err := ParseKind(head); err != nil {
			return Name{}, fmt.Errorf("%w; the name of a file is its path behind a kind, as in note/%s", err, text)
		}
		return NewName("", Kind(head), id)
	}
	if _, err := ParseTree(tree); err != nil {
		return Name{}, err
	}
	return NewName(Tree(tree), Kind(kind), id)
}

// String returns "kind/id" in the project's own tree and "tree:kind/id" in a
// captured one.
func (n Name) String() string {
	if n.Tree == "" {
		return string(n.Kind) + "/" + n.ID
	}
	return string(n.Tree) + ":" + string(n.Kind) + "/" + n.ID
}

// Compare orders names by tree, kind and id.
func (n Name) Compare(other Name) int {
	return cmp.Or(cmp.Compare(n.Tree, other.Tree), cmp.Compare(n.Kind, other.Kind), cmp.Compare(n.ID, other.ID))
}

// IsZero reports whether n names nothing.
func (n Name) IsZero() bool { return n == Name{} }

// MarshalText returns the form that ParseName reads.
func (n Name) MarshalText() ([]byte, error) { return []byte(n.String()), nil }

// UnmarshalText reads the form that String writes.
func (n *Name) UnmarshalText(text []byte) error {
	parsed, err := ParseName(string(text))
	*n = parsed
	return err
}

// CheckID reports what is wrong with id as the id of a name. An id is 1 to
// MaxID bytes in slash-separated segments, none of them empty, "." or "..";
// it holds no NUL. Any other byte is allowed: a note's id is its path.
func CheckID(id string) error {
	switch {
	case id == "":
		return errors.New("the id is empty")
	case len(id) > MaxID:
		return fmt.Errorf("the id has %d bytes, more than %d", len(id), MaxID)
	case strings.HasPrefix(id, "/"):
		return errors.New("the id begins with /")
	case strings.IndexByte(id, 0) >= 0:
		return errors.New("the id holds a NUL byte")
	}
	for segment := range strings.SplitSeq(id, "/") {
		switch segment {
		case "":
			return errors.New("the id has an empty segment")
		case ".", "..":
			return fmt.Errorf("the id has a segment %q", segment)
		}
	}
	return nil
}

func hasControl(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return r < 0x20 || r == 0x7f })
}

package layout

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"filebus/materialize/markdown"
	"filebus/store/record"
)

// A Location says what the file at a path is, from the path alone.
type Location struct {
	Kind   record.Kind // KindFrame for an aggregate file, KindNote for a file no template knows
	ID     string
	Layout Layout
	Facts  Facts  // what the path says: task, session, round, ...
	Root   string // the folders before a nested root

	Declared string // the convention that declares the file, which filebus only reads; "": none

	Entries record.Kind // what the file holds: Kind, or those of an aggregate file's entries
}

// Recognize returns what the default profile takes the file at path to be. It
// always answers: a path that no template matches is a note with the path as
// its id.
func Recognize(path string) Location { return Claude().Recognize(path) }

// literal begins the id of a file whose plain id would name another file; the
// rest of the id is the whole path.
const literal = "~/"

// Recognize returns what the file at path is: slash-separated, below the
// tree's root, or below one of the profile's outside roots.
//
// A template is matched on the tail of the path, whose last root counts. The
// id is what the template names, behind the folders that stand before the
// root: sub/proj/.claude/journal/task-1.md is sub/proj/task-1. Where the root
// is not the profile's own, its first folder stands between them, so that two
// roots in one tree never share a name: for Claude, claude/journal/task-1.md is
// claude/task-1 and .orchestrator/complete/B-1.done is .orchestrator/B-1.
//
// Two paths never have the same kind and id: a file whose plain id Path would
// lay out at another path has "~/" and its whole path as id.
func (p Profile) Recognize(path string) Location {
	place, root, found := p.find(path)
	if place, isDeclared := declaredAt(path, p.Own); !found && isDeclared && record.CheckID(place.ID) == nil {
		return place
	}
	if !found {
		return Note(path)
	}
	place.Root = root.prefix
	if place.Kind == record.KindFrame {
		place.ID = path
		return place
	}
	place.ID = join(root.prefix, root.mark, place.ID)
	back, err := p.locate(place.Kind, place.ID)
	if err != nil || back != path || strings.HasPrefix(place.ID, literal) {
		place.ID = literal + path
	}
	if record.CheckID(place.ID) != nil {
		return Note(path)
	}
	return place
}

// Within returns what the file at path is when the captured folder is itself
// one of the profile's roots and path is below it: the main root (journal/
// task-1.md), or an outside root of dialogues (slug/round-0/muffin.md) or
// results (conversation/call.md). What matches none of them is a note. The ids
// are those of Recognize; frames and notes keep their own path.
func (p Profile) Within(path string) Location {
	roots := []string{p.Root}
	for _, root := range []string{p.Dialogues, p.Results} {
		if isOutside(root) {
			roots = append(roots, root)
		}
	}
	for _, root := range roots {
		place := p.Recognize(root + "/" + path)
		switch {
		case place.Kind == record.KindNote || record.CheckID(path) != nil:
		// A file of a dialogue by its folder alone could as well be a result: slug/anything.md.
		case root == p.Dialogues && place.Kind == record.KindDialogue && strings.Count(path, "/") == 1 &&
			strings.HasSuffix(path, ".md") && place.Facts.Attributes["part"] == "":
		case place.Kind == record.KindFrame:
			place.ID = path
			return place
		default:
			return place
		}
	}
	return Note(path)
}

// Parse reads the file at a path with the place's Layout and completes the entry
// of a single-record file with what its path says, which wins over the text.
func (pl Location) Parse(name string, text []byte) (File, []*SyntaxError) {
	file, problems := pl.Layout.Parse(name, text)
	if what := unreadable(pl.Kind, name, text); what != "" {
		problems = []*SyntaxError{{File: name, Line: 1, Err: record.Wanting.Errorf("%s: save it as UTF-8", what).Because(ErrEncoding)}}
	}
	if pl.Kind != record.KindFrame {
		for _, e := range file.Entries() {
			e.Facts = pl.Facts.Or(e.Facts)
		}
	}
	return file, problems
}

// ErrEncoding says that a text is in an encoding of which not all can be read.
const ErrEncoding record.Reason = "an unknown encoding"

// unreadable says why a text cannot be read as its layout has it, or, of prose, be searched.
func unreadable(kind record.Kind, name string, text []byte) string {
	isProse := slices.Contains([]string{".md", ".markdown", ".txt"}, path.Ext(name))
	switch plain, wide := markdown.Decode(text), markdown.Wide(text); {
	case kind != record.KindNote && wide != "":
		return "the text is " + wide + ", of which nothing is read but by a search"
	case isProse && markdown.IsBinary(plain):
		return "the file is no text, or in an unknown encoding"
	case isProse && !utf8.Valid(plain):
		return "the encoding of the text is unknown, and not all its words are found"
	}
	return ""
}

// Or returns f with its zero fields taken from other, and the tags and
// attributes of both.
func (f Facts) Or(other Facts) Facts {
	f.Agent, f.Conversation = cmp.Or(f.Agent, other.Agent), cmp.Or(f.Conversation, other.Conversation)
	f.Session, f.Run, f.Loop = cmp.Or(f.Session, other.Session), cmp.Or(f.Run, other.Run), cmp.Or(f.Loop, other.Loop)
	f.Task, f.Status = cmp.Or(f.Task, other.Task), cmp.Or(f.Status, other.Status)
	f.Title, f.Summary = cmp.Or(f.Title, other.Title), cmp.Or(f.Summary, other.Summary)
	f.Tags = append(slices.Clone(f.Tags), other.Tags...)
	f.Links = append(slices.Clone(f.Links), other.Links...)
	f.Dates = append(slices.Clone(f.Dates), other.Dates...)
	if len(other.Attributes) > 0 {
		attributes := maps.Clone(other.Attributes)
		maps.Copy(attributes, f.Attributes)
		f.Attributes = attributes
	}
	return f
}

// A rootMatch is where a root was found in a path.
type rootMatch struct {
	prefix string // the folders before the root
	mark   string // the root's first folder, "" for the profile's own root
}

// find returns the place of the last root in path that is followed by the rest
// of a template. The id of the place lacks what stands before it.
func (p Profile) find(path string) (Location, rootMatch, bool) {
	if record.CheckID(strings.TrimPrefix(path, "/")) != nil {
		return Location{}, rootMatch{}, false
	}
	own := p.roots()
	for end := strings.LastIndexByte(path, '/'); end > 0; end = strings.LastIndexByte(path[:end], '/') {
		head, rest := path[:end], path[end+1:]
		foreign, of := foreignRoot(head)
		for f := range familyCount {
			s := rootMatch{}
			prefix, found := cutSegments(head, own[f])
			switch outside := isOutside(own[f]); {
			case found && (outside && prefix == "" || !outside && head[0] != '/'):
				s.prefix = prefix
			case of != f || head[0] == '/':
				continue
			default:
				s = foreign
			}
			if place, found := f.read(rest); found {
				return place, s, true
			}
		}
	}
	return Location{}, rootMatch{}, false
}

// cutSegments removes whole segments, if there are any to remove, from the end of
// head.
func cutSegments(head, tail string) (rest string, found bool) {
	n := len(head) - len(tail)
	if tail == "" || n < 0 || head[n:] != tail || n > 0 && head[n-1] != '/' {
		return "", false
	}
	return head[:max(n-1, 0)], true
}

// Path returns where the profile keeps what is named, whether or not it exists:
// below the tree's root, or at an outside root of the profile. An entry's path
// is that of its aggregate file, where new ones go. It is the inverse of
// Recognize: Path of a recognised kind and id is the path again, and a path of
// a fresh id is recognised as that id. Two ids have no such path: a "~2" at the
// end of a handoff's id is left out, since the next task under a name takes the
// same place, and an id whose form belongs to no file of its kind is an error.
func (p Profile) Path(kind record.Kind, id string) (string, error) {
	if err := record.CheckID(id); err != nil {
		return "", fmt.Errorf("finding a path for %s/%s: %w", kind, id, err)
	}
	if rest, isWhole := strings.CutPrefix(id, record.WholeFile); isWhole && kind.IsEntry() {
		return rest, nil
	}
	for i := range templates {
		if templates[i].entries == kind && kind != "" {
			return p.Root + "/" + string(templates[i].path), nil
		}
	}
	if kind == record.KindNote || kind == record.KindFrame {
		return id, nil
	}
	place, err := p.locate(kind, id)
	if rest, found := strings.CutPrefix(id, literal); found {
		if at := p.Recognize(rest); at.Kind == kind && at.ID == id {
			return rest, nil
		}
		err = fmt.Errorf("no %s lies at %q", kind, rest)
	}
	if err != nil {
		return "", fmt.Errorf("finding a path for %s/%s: %w", kind, id, err)
	}
	return place, nil
}

// locate returns the one path that a plain id of a single-record file stands for.
func (p Profile) locate(kind record.Kind, id string) (string, error) {
	err := fmt.Errorf("unknown kind %q", kind)
	own := p.roots()
	for i := range templates {
		t := &templates[i]
		if t.kind != kind || t.id == "" {
			continue
		}
		err = errors.New("the id has too few segments")
		before, bindings, fits := t.cut(id)
		if !fits || t.first && before != "" && (strings.Contains(before, "/") || !own.isMark(t.family, before)) {
			continue
		}
		if t.refusal != "" {
			return "", errors.New(t.refusal)
		}
		root, prefix := own.behind(t.family, before)
		switch {
		case root == "" && t.family == familyDocs: // where dialogues have no place of their own for them
			continue
		case root == "":
			return "", fmt.Errorf("the profile %s has no root for it", p.Name)
		case isOutside(root) && prefix != "":
			return "", fmt.Errorf("%s lies outside of %s", root, prefix)
		}
		return join(prefix, root, t.path.fill(bindings, false)), nil
	}
	return "", err
}

// join joins the parts that are not empty.
func join(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), "/")
}

// Note returns the place of a file that no template knows, or that is to be a note.
func Note(path string) Location {
	place := Location{Kind: record.KindNote, ID: path, Layout: notes, Entries: record.KindNote}
	if IsJSONLines(path) {
		place.Layout = jsonLines
	}
	return place
}

// TooLarge returns the place of a file that is too large to be cut into entries: it is a
// note, and that is reported.
func TooLarge(path string) Location {
	place := Note(path)
	place.Layout = &single{record.KindNote, func(name string, _ []byte) (Facts, []*SyntaxError) {
		const text = "the file is too large to be cut into entries: it is one note"
		return Facts{Title: titleOf(name)}, []*SyntaxError{wrong(1, text)}
	}}
	return place
}

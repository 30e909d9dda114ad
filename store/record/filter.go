package record

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Filter picks records by their envelope. Of several values of a field any is
// enough, of Tags all are needed; different fields must all match. The zero Filter
// picks every record.
type Filter struct {
	Kinds         []Kind
	Trees         []Tree   // the own tree is Tree("")
	Tags          []string // all of them, as NormalizeTags gives them
	Agents        []string
	Conversations []string
	Sessions      []string
	NotSessions   []string // none of them
	Tasks         []string
	Runs          []string
	Loops         []string
	Dialogues     []string // the names of their folders: see Name.isOfDialogue
	Statuses      []string
	Since, Until  time.Time // of Record.Date; zero: no bound; Until is not included
}

// Any returns the values of a field of a Filter, in which "" stands for any.
func Any(value string) []string {
	if value == "" {
		return nil
	}
	return []string{value}
}

// FilterFields returns the names of the fields that a Filter has values of.
func FilterFields() []string {
	return []string{
		"kind", "tree", "tag", "agent", "conversation", "session", "not-session", "task", "run", "loop", "dialogue",
		"status",
	}
}

// list returns where the values of a field of plain text are.
func (f *Filter) list(field string) *[]string {
	return map[string]*[]string{
		"tag": &f.Tags, "agent": &f.Agents, "conversation": &f.Conversations, "session": &f.Sessions,
		"not-session": &f.NotSessions, "task": &f.Tasks,
		"run": &f.Runs, "loop": &f.Loops, "dialogue": &f.Dialogues, "status": &f.Statuses,
	}[field]
}

// Values returns the values of a field by its name.
func (f *Filter) Values(field string) []string {
	switch field {
	case "kind":
		return plain(f.Kinds)
	case "tree":
		return plain(f.Trees)
	}
	return *f.list(field)
}

// Values returns what a record has in a field of a Filter: nothing where that is empty, but for the own tree.
func (r *Record) Values(field string) []string {
	switch field {
	case "tree":
		return []string{string(r.Name.Tree)}
	case "tag":
		return r.Tags
	}
	return Any(map[string]string{
		"kind": string(r.Name.Kind), "agent": r.Agent, "conversation": r.Conversation, "session": r.Session,
		"task": r.Task, "run": r.Run, "loop": r.Loop, "status": r.Status,
	}[field])
}

func plain[T ~string](list []T) []string {
	var texts []string
	for _, text := range list {
		texts = append(texts, string(text))
	}
	return texts
}

// Add adds values to a field by its name, all or, beside an error, none. A dot is
// the own tree.
func (f *Filter) Add(field string, values ...string) error {
	switch field {
	case "kind":
		return addParsed(&f.Kinds, values, ParseKind)
	case "tree":
		return addParsed(&f.Trees, values, func(text string) (Tree, error) {
			if text == "." {
				return "", nil
			}
			return ParseTree(text)
		})
	}
	list := f.list(field)
	if list == nil {
		return fmt.Errorf("records have no %q to be picked by", field)
	}
	*list = append(*list, values...)
	return nil
}

func addParsed[T any](list *[]T, values []string, parse func(string) (T, error)) error {
	var parsed []T
	for _, v := range values {
		one, err := parse(v)
		if err != nil {
			return err
		}
		parsed = append(parsed, one)
	}
	*list = append(*list, parsed...)
	return nil
}

// Clear takes the values of a field away.
func (f *Filter) Clear(field string) {
	switch field {
	case "kind":
		f.Kinds = nil
	case "tree":
		f.Trees = nil
	default:
		*f.list(field) = nil
	}
}

// IsZero reports whether the filter picks every record.
func (f *Filter) IsZero() bool {
	asks := func(field string) bool { return len(f.Values(field)) > 0 }
	return !slices.ContainsFunc(FilterFields(), asks) && f.Since.IsZero() && f.Until.IsZero()
}

// Accepts reports whether a record passes the filter.
func (f *Filter) Accepts(r *Record) bool {
	for _, tag := range f.Tags {
		if _, has := slices.BinarySearch(r.Tags, tag); !has {
			return false
		}
	}
	return anyOf(f.Kinds, r.Name.Kind) && anyOf(f.Trees, r.Name.Tree) && anyOf(f.Agents, r.Agent) &&
		anyOf(f.Conversations, r.Conversation) && anyOf(f.Sessions, r.Session) &&
		(r.Session == "" || !slices.Contains(f.NotSessions, r.Session)) && anyOf(f.Tasks, r.Task) &&
		anyOf(f.Runs, r.Run) && anyOf(f.Loops, r.Loop) && anyOf(f.Statuses, r.Status) &&
		(len(f.Dialogues) == 0 || slices.ContainsFunc(f.Dialogues, r.Name.isOfDialogue)) &&
		Within(r.Date(), f.Since, f.Until)
}

// isOfDialogue reports whether a name is that of a file in the folder of a dialogue, or of the document made of
// it. The slug may be without the time that the folder's name begins with, and have a tree before it.
func (n Name) isOfDialogue(slug string) bool {
	if tree, rest, found := strings.Cut(slug, ":"); found && tree == string(n.Tree) {
		slug = rest
	}
	parts, slug := strings.Split(n.ID, "/"), slug[strings.LastIndexByte(slug, '/')+1:]
	document, _, isDocument := strings.Cut(parts[len(parts)-1], ".dialogue.")
	if parts = parts[:len(parts)-1]; isDocument {
		parts = append(parts, document)
	}
	return (n.Kind == KindTurn || n.Kind == KindDialogue) &&
		slices.ContainsFunc(parts, func(part string) bool { return IsSlug(part, slug) })
}

// IsSlug reports whether a slug is the name of a dialogue's folder, or that without the time that it begins with.
func IsSlug(folder, slug string) bool {
	stamp, found := strings.CutSuffix(folder, slug)
	return found && (stamp == "" || len(stamp) > len(time.DateOnly) && strings.Trim(stamp, "0123456789-TZ") == "")
}

// anyOf reports whether value is one of those wanted, if any are.
func anyOf[T comparable](wanted []T, value T) bool {
	return len(wanted) == 0 || slices.Contains(wanted, value)
}

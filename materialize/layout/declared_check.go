package layout

import (
	"cmp"
	"errors"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"filebus/store/record"
)

// ParseDeclaration reads a declaration. What it does not know, a pattern that is none, and a name that nothing has are
// errors, each with its line.
func ParseDeclaration(text []byte) (*Declaration, error) {
	d := &Declaration{text: string(text)}
	known, err := toml.Decode(d.text, d)
	var broken toml.ParseError
	if errors.As(err, &broken) {
		line := 1 + strings.Count(d.text[:min(broken.Position.Start, len(d.text))], "\n")
		return nil, record.Usage.Errorf("line %d: %s", line, cmp.Or(broken.Message, err.Error()))
	} else if err != nil {
		return nil, record.Usage.Errorf("%s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	for _, key := range known.Undecoded() {
		if len(key) <= 2 { // the others are captures, and facts
			of := map[string]any{"file": FileRule{}, "place": Place{}}[key[0]]
			if of == nil {
				of = *d
			}
			return nil, d.wrong(-1, key[len(key)-1], "%s is no key of a declaration: here stand %s", key, keysOf(of))
		}
	}
	for n, r := range d.File {
		if r.layout = d; len(r.Path) == 0 {
			return nil, d.wrong(n, "[[file]]", "a [[file]] of %s has no path: write path = [\"work/{name}.md\"]", d.Layout)
		}
		if word, err := r.check(); err != nil {
			return nil, d.wrong(n, word, "%w", err)
		}
	}
	return d, nil
}

// wrong returns an error of a declaration, with the line of its nth [[file]] that has a word; -1: of any.
func (d *Declaration) wrong(n int, word, format string, args ...any) error {
	line, at := 1, -1
	has := regexp.MustCompile(`(^|\W)` + regexp.QuoteMeta(word) + `(\W|$)`)
	for i, l := range strings.Split(d.text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(l), "[[file]]") {
			at++
		}
		if n >= 0 && n != at {
			continue
		}
		if has.MatchString(l) {
			line = i + 1
			break
		}
	}
	return record.Usage.Errorf("line %d: "+format, slices.Insert(args, 0, any(line))...)
}

// keysOf returns the keys of a table.
func keysOf(table any) string {
	var keys []string
	for _, f := range reflect.VisibleFields(reflect.TypeOf(table)) {
		if f.IsExported() {
			keys = append(keys, strings.ToLower(f.Name))
		}
	}
	return strings.Join(keys, ", ")
}

// check reports a pattern that is none, a word that a key does not have, and a name that nothing captures, with a word
// of the line.
func (r *FileRule) check() (word string, err error) {
	patterns := slices.Concat(r.Skip, r.Not, []string{r.Match, r.Heading},
		slices.Sorted(maps.Values(r.Above)), slices.Sorted(maps.Values(r.Find)))
	for _, p := range r.Path {
		r.said = append(r.said, len(templateVariable().ReplaceAllString(p, "")))
		r.paths = append(r.paths, templatePattern(p))
		if _, err := regexp.Compile(templatePattern(p)); err != nil {
			return p, err
		}
	}
	r.sources = map[string]source{}
	for fact, s := range r.Fields {
		r.sources[fact] = sourceOf(s)
		patterns = append(patterns, r.sources[fact].Find)
	}
	r.facts = slices.Sorted(maps.Keys(r.Fields))
	slices.Reverse(r.facts)
	for _, p := range patterns {
		if _, err := regexp.Compile(p); err != nil {
			return p, err
		}
	}
	for _, of := range []struct{ key, word, words string }{
		{"entries", r.Entries, "items, sections, lines, json, jsonl, yaml"},
		{"need", r.Need, "id, id?"},
		{"nest", r.Nest, "part"},
	} {
		if of.word != "" && !slices.Contains(strings.Split(of.words, ", "), of.word) {
			return of.key, record.Usage.Errorf("%s = %q is none of %s", of.key, of.word, of.words)
		}
	}
	switch example := pointsAt[r.Entries]; {
	case len(r.At) == 0 && example != "":
		return "entries", record.Usage.Errorf("entries = %q needs at: write at = [%q]", r.Entries, example)
	case len(r.At) > 0 && example == "":
		return "at", record.Usage.Errorf("at says nothing where entries = %q: take it out", r.Entries)
	case r.Key != "" && !strings.HasPrefix(r.Entries, "json"):
		return "key", record.Usage.Errorf("key says nothing where entries = %q: it is of json and jsonl", r.Entries)
	}
	return r.checkNames()
}

// pointsAt has examples of what stands in "at", for the entries that need it.
var pointsAt = map[string]string{"sections": "2", "json": "/tasks/*", "yaml": "/tasks"}

// capturedOf are the captures that entries have by themselves.
var capturedOf = map[string][]string{"json": {"id"}, "jsonl": {"id"}, "yaml": {"key"}}

// placeNames are the places of facts, and whether a name stands behind.
var placeNames = map[string]bool{
	"match": true, "path": true, "above": true, "front": true, "label": true, "section": true, "json": true, "field": true,
	"box": false, "boxes": false, "heading": false, "key": false, "value": false, "bold": false, "text": false,
}

// checkNames reports a name that nothing has: a capture, a fact, a place, or words of a field.
func (r *FileRule) checkNames() (word string, err error) {
	captured := append([]string{"prefix"}, capturedOf[r.Entries]...)
	if r.Match == "" {
		captured = append(captured, "title")
	}
	captured = slices.AppendSeq(captured, maps.Keys(r.Above))
	captured = slices.AppendSeq(captured, maps.Keys(r.Find))
	captured = slices.AppendSeq(captured, maps.Keys(r.Default))
	for _, p := range slices.Concat(r.paths, []string{r.Match, r.Heading}) {
		captured = append(captured, compiled(p).SubexpNames()...)
	}
	for _, at := range r.At {
		for _, m := range compiled(`\{(\w+)\}`).FindAllStringSubmatch(at, -1) {
			captured = append(captured, m[1])
		}
	}
	for _, template := range []string{r.ID, r.Parent, r.Task} {
		for _, m := range compiled(`\{(\w+)(?:-1)?\}`).FindAllStringSubmatch(template, -1) {
			if !slices.Contains(captured, m[1]) {
				const none = "nothing captures the %s of %q: name a group of match (?P<%[1]s>…)"
				return template, record.Usage.Errorf(none, m[1], template)
			}
		}
	}
	for _, fact := range r.Set {
		if r.Heading == "" && (r.Entries != "" || r.Kind != record.KindKnowledge) {
			return "set", record.Usage.Errorf("set is for knowledge that is a file each, and for sections among items: take it out")
		}
		if r.Fields[fact] == nil {
			return fact, record.Usage.Errorf("set names %q, which is no fact below [file.fields]", fact)
		}
	}
	for _, fact := range r.facts {
		src := r.sources[fact]
		if word, err := r.checkSource(src, captured); err != nil {
			return word, record.Usage.Errorf("%s: %w", fact, err)
		}
		table, _ := r.Fields[fact].(map[string]any)
		for key := range table {
			if known := keysOf(src); !slices.Contains(strings.Split(known, ", "), key) {
				return key, record.Usage.Errorf("%s is no key of the fact %s: here stand %s", key, fact, known)
			}
		}
	}
	return "", nil
}

// checkSource reports a place that there is not, or of which nothing has the name.
func (r *FileRule) checkSource(src source, captured []string) (word string, err error) {
	if src.Map != "" && r.layout.Map[src.Map] == nil {
		return src.Map, record.Usage.Errorf("there are no words [map.%s]", src.Map)
	}
	for _, from := range src.From {
		place, _, _ := strings.Cut(from, " | ")
		of, name, _ := strings.Cut(place, ".")
		isNamed, isPlace := placeNames[of]
		switch {
		case strings.HasPrefix(from, "="):
		case !isPlace || isNamed != (name != ""):
			return from, record.Usage.Errorf("%q is no place: those are box, boxes, heading, match.x, path.x, above.x, front.KEY, "+
				"label.NAME, section.TITLE, json./POINTER, key, value, bold, text, field.NAME, =WORD", place)
		case of == "field" && r.Fields[name] == nil, of == "match" && !slices.Contains(captured, name),
			of == "above" && r.Above[name] == "", of == "path" && !slices.Contains(captured, name):
			return from, record.Usage.Errorf("nothing has the name of %q", place)
		}
	}
	return "", nil
}

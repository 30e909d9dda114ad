package result

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// tellOne says what one keyword of a schema found wrong.
func (t *teller) tellOne(err *jsonschema.ValidationError) {
	path := err.InstanceLocation
	switch k := err.ErrorKind.(type) {
	case *kind.Type:
		t.add(path, "should be %s, is %s", orList(k.Want), t.show(path))
	case *kind.Required:
		t.tellMissing(err, k.Missing)
	case *kind.AdditionalProperties:
		t.tellUnknown(err, k.Properties)
	case *kind.FalseSchema:
		t.add(path, "is not allowed here")
	case *kind.Enum:
		t.add(path, "should be one of %s, is %s", list(k.Want), compactJSON(k.Got))
	case *kind.Const:
		t.add(path, "should be %s, is %s", compactJSON(k.Want), compactJSON(k.Got))
	case *kind.Pattern:
		t.add(path, "should match the pattern %s, is %s", k.Want, compactJSON(k.Got))
	case *kind.Format:
		if k.Want == "regex" {
			t.add(path, "should be a regular expression as Go reads them (RE2, without look-ahead and back references), is %s", compactJSON(k.Got))
			return
		}
		t.add(path, "should be of the format %s, is %s", k.Want, compactJSON(k.Got))
	case *kind.DependentRequired:
		t.add(path, "%s missing, which %q needs", keys("key", k.Missing), k.Prop)
	case *kind.Dependency:
		t.add(path, "%s missing, which %q needs", keys("key", k.Missing), k.Prop)
	case *kind.PropertyNames:
		t.add(t.ownerOf(path, k.Property), "has a key with a name that is not allowed, %q", k.Property)
	case *kind.UniqueItems:
		t.add(path, "should have no item twice; items %d and %d are equal", k.Duplicates[0], k.Duplicates[1])
	case *kind.OneOf:
		t.add(path, "fits more than one of the alternatives, where it should fit one")
	case *kind.Not:
		t.add(path, `is what "not" in the schema excludes`)
	case *kind.Contains:
		t.add(path, `should have an item that fits "contains" in the schema`)
	default:
		t.tellSize(err)
	}
}

// tellSize says what is wrong with a length, a number of things or a number.
func (t *teller) tellSize(err *jsonschema.ValidationError) {
	path := err.InstanceLocation
	switch k := err.ErrorKind.(type) {
	case *kind.MinLength:
		t.add(path, "should have at least %s, has %d", count(k.Want, "character"), k.Got)
	case *kind.MaxLength:
		t.add(path, "should have at most %s, has %d", count(k.Want, "character"), k.Got)
	case *kind.MinItems:
		t.add(path, "should have at least %s, has %d", count(k.Want, "item"), k.Got)
	case *kind.MaxItems:
		t.add(path, "should have at most %s, has %d", count(k.Want, "item"), k.Got)
	case *kind.AdditionalItems:
		t.add(path, "has %s more than the schema allows", count(k.Count, "item"))
	case *kind.MinProperties:
		t.add(path, "should have at least %s, has %d", count(k.Want, "key"), k.Got)
	case *kind.MaxProperties:
		t.add(path, "should have at most %s, has %d", count(k.Want, "key"), k.Got)
	case *kind.Minimum:
		t.add(path, "should be at least %s, is %s", number(k.Want), number(k.Got))
	case *kind.Maximum:
		t.add(path, "should be at most %s, is %s", number(k.Want), number(k.Got))
	case *kind.ExclusiveMinimum:
		t.add(path, "should be more than %s, is %s", number(k.Want), number(k.Got))
	case *kind.ExclusiveMaximum:
		t.add(path, "should be less than %s, is %s", number(k.Want), number(k.Got))
	case *kind.MultipleOf:
		t.add(path, "should be a multiple of %s, is %s", number(k.Want), number(k.Got))
	case nil:
		t.add(path, "does not fit the schema")
	default:
		t.add(path, "%s", err.BasicOutput().Error)
	}
}

// tellMissing names missing keys, each with the key that may have been meant for it.
func (t *teller) tellMissing(err *jsonschema.ValidationError, missing []string) {
	object, _ := at(t.value, err.InstanceLocation).(map[string]any)
	known := t.known(err.SchemaURL)
	for _, key := range missing {
		there := slices.DeleteFunc(slices.Sorted(maps.Keys(object)), func(k string) bool { return slices.Contains(known, k) })
		if near := nearest(key, there); near != "" {
			t.add(err.InstanceLocation, "missing key %q; is %q meant for it?", key, near)
		} else {
			t.add(err.InstanceLocation, "missing key %q", key)
		}
	}
}

// tellUnknown names keys that are not allowed, each with the nearest that is.
func (t *teller) tellUnknown(err *jsonschema.ValidationError, unknown []string) {
	known := t.known(err.SchemaURL)
	unknown = slices.Sorted(slices.Values(unknown))
	for i, key := range unknown {
		near := ""
		if i < maxProblems { // no more of them are ever shown
			near = nearest(key, known)
		}
		switch {
		case near != "":
			t.add(err.InstanceLocation, "unknown key %q; the nearest allowed is %q", key, near)
		case len(known) > 0:
			t.add(err.InstanceLocation, "unknown key %q; allowed: %s", key, strings.Join(known, ", "))
		default:
			t.add(err.InstanceLocation, "unknown key %q", key)
		}
	}
}

// known returns the keys that the properties of a part of the schema name, sorted.
func (t *teller) known(url string) []string {
	_, fragment, _ := strings.Cut(url, "#")
	schema, _ := resolvePointer(t.document, "#"+fragment)
	object, _ := schema.(map[string]any)
	properties, _ := object["properties"].(map[string]any)
	return slices.Sorted(maps.Keys(properties))
}

// at returns the value at a path, or nil.
func at(value any, path []string) any {
	for _, key := range path {
		switch v := value.(type) {
		case map[string]any:
			value = v[key]
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i < 0 || i >= len(v) {
				return nil
			}
			value = v[i]
		default:
			return nil
		}
	}
	return value
}

// ownerOf returns the path of an object that has a key. The validator may have
// lost the path of a wrong name, but not how deep it is.
func (t *teller) ownerOf(path []string, key string) []string {
	if object, ok := at(t.value, path).(map[string]any); ok {
		if _, found := object[key]; found {
			return path
		}
	}
	found, _ := findKey(t.value, key, len(path))
	return found
}

// findKey returns the path of the first object at a depth that has a key.
func findKey(value any, key string, depth int) (path []string, found bool) {
	if depth < 0 {
		return nil, false
	}
	switch v := value.(type) {
	case map[string]any:
		if _, has := v[key]; depth == 0 {
			return nil, has
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if path, found = findKey(v[name], key, depth-1); found {
				return append([]string{name}, path...), true
			}
		}
	case []any:
		for i, item := range v {
			if path, found = findKey(item, key, depth-1); found {
				return append([]string{strconv.Itoa(i)}, path...), true
			}
		}
	}
	return nil, false
}

// show says what stands at a path: its type, and a simple value itself.
func (t *teller) show(path []string) string {
	value := at(t.value, path)
	switch v := value.(type) {
	case nil, map[string]any, []any:
		return typeOf(value)
	case string:
		return "the string " + compactJSON(v)
	case json.Number:
		return "the number " + v.String()
	}
	return "the boolean " + compactJSON(value)
}

// number writes a number as people do.
func number(r *big.Rat) string {
	if r.IsInt() && r.Num().BitLen() < 64 {
		return r.Num().String()
	}
	f, _ := r.Float64()
	return strconv.FormatFloat(f, 'g', -1, 64)
}

// orList names types: "a string or null".
func orList(types []string) string {
	var names []string
	for _, t := range types {
		article := "a "
		switch t {
		case "null":
			article = ""
		case "array", "object", "integer":
			article = "an "
		}
		if name := article + t; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, " or ")
}

// maxListed is how many values of an enumeration are listed.
const maxListed = 20

func list(values []any) string {
	var shown []string
	for _, v := range values[:min(len(values), maxListed)] {
		shown = append(shown, compactJSON(v))
	}
	if more := len(values) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(shown, ", ")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func keys(noun string, names []string) string {
	var quoted []string
	for _, name := range names {
		quoted = append(quoted, strconv.Quote(name))
	}
	if len(names) > 1 {
		noun += "s"
	}
	return noun + " " + strings.Join(quoted, ", ")
}

// shortURL returns the place in a schema that a URL of a compiler names.
func shortURL(url string) string {
	if _, fragment, found := strings.Cut(url, "#"); found && fragment != "" {
		return fragment
	}
	return "its top"
}

// maxNear is the longest key that others are compared with.
const maxNear = 40

// nearest returns the candidate that is a slip of key, or "".
func nearest(key string, candidates []string) string {
	key = normalKey(key)
	best, near := 1+(len(key)+1)/3, "" // one slip in two letters, two in five
	if len(key) > maxNear {
		return ""
	}
	for _, c := range candidates {
		if len(c) > maxNear {
			continue
		}
		if d := slips(key, normalKey(c)); d < best {
			best, near = d, c
		}
	}
	return near
}

// normalKey returns a key without what writers of keys disagree on.
func normalKey(key string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(key))
}

// slips counts the letters to insert, delete or replace to make b of a.
func slips(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

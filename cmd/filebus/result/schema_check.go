package result

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/kaptinlin/jsonschema"

	"filebus/cmd/filebus/rule"
	"filebus/materialize/markdown"
)

// problemAt returns the finding that a value of an output is not as the keyword of its schema
// has it. The path is a JSON pointer; "" is the whole output.
func problemAt(path, keyword, message string) rule.Finding {
	message = markdown.Clip(strings.Join(strings.Fields(message), " "), maxMessage)
	return rule.Finding{Rule: keyword, Level: rule.Must, Path: &path, Message: message}
}

// noJSON returns the finding that an output has not the JSON that it is to have.
func noJSON(format string, args ...any) *rule.Finding {
	return new(problemAt("", "json", fmt.Sprintf(format, args...)))
}

// How many problems are told one by one, and how much of each.
const (
	maxProblems = 20
	maxMessage  = 300 // characters
)

// Check returns where an output does not fit the schema, its summary included, in
// the order of their paths: at most 20, and one more that says how many are left.
// The output may have its JSON object in a fence, or within other text.
func (s *Schema) Check(output []byte) []rule.Finding {
	object, problem := FindObject(output)
	if problem != nil {
		return []rule.Finding{*problem}
	}
	return s.checkObject(object)
}

func (s *Schema) checkObject(object []byte) []rule.Finding {
	root, problem := decodeJSON(object)
	if problem != nil {
		return []rule.Finding{*problem}
	}
	all, err := s.compiled.problems(root.Data())
	if err != nil {
		return []rule.Finding{problemAt("", "schema", err.Error())}
	}
	if more := len(all) - maxProblems; more > 0 {
		all = append(all[:maxProblems], problemAt("", "schema", fmt.Sprintf("and %d more", more)))
	}
	return all
}

// problems returns what is wrong with a value, in the order of the paths, each once.
func (v *validator) problems(value any) ([]rule.Finding, error) {
	result, err := v.validate(value)
	if err != nil {
		return nil, err
	}
	all := problemsOf(result, "", value)
	compare := func(a, b rule.Finding) int {
		return cmp.Or(slices.CompareFunc(strings.Split(*a.Path, "/"), strings.Split(*b.Path, "/"), compareKeys),
			strings.Compare(a.Message, b.Message))
	}
	slices.SortFunc(all, compare)
	return slices.CompactFunc(all, func(a, b rule.Finding) bool { return compare(a, b) == 0 }), nil
}

// problemsOf goes down to what is really wrong: the errors above only say that
// there is something.
func problemsOf(result *jsonschema.EvaluationResult, path string, value any) []rule.Finding {
	var all []rule.Finding
	explained := map[string]bool{}
	for _, part := range result.Details {
		keyword := keywordOf(part)
		if err := result.Errors[keyword]; part.Valid || err == nil || err.Code == "one_of_multiple_matches" {
			continue
		}
		explained[keyword] = keyword != "anyOf" && keyword != "oneOf" // of these, any one has to fit
		key, isBelow := strings.CutPrefix(part.InstanceLocation, "/")
		child, found := childOf(value, key)
		switch {
		case isForbidden(part, keyword):
			all = append(all, problemAt(path, keyword, fmt.Sprintf("key %q is not allowed", key)))
		case !isBelow || keyword == "dependentSchemas":
			all = append(all, problemsOf(part, path, value)...)
		case found: // else it is missing, which is told of the object
			all = append(all, problemsOf(part, path+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(key), child)...)
		}
	}
	for keyword, err := range result.Errors {
		if !explained[keyword] {
			all = append(all, problemAt(path, keyword, err.Error()))
		}
	}
	return all
}

// keywordOf returns the keyword of the error that a result stands for.
func keywordOf(part *jsonschema.EvaluationResult) string {
	keyword, _, _ := strings.Cut(strings.TrimPrefix(part.EvaluationPath, "/"), "/")
	switch keyword {
	case "":
		return "$ref"
	case "patternProperties":
		return "properties"
	}
	return keyword
}

// isForbidden reports whether it is the key of an object that is wrong, not its value.
func isForbidden(part *jsonschema.EvaluationResult, keyword string) bool {
	switch keyword {
	case "propertyNames":
		return true
	case "additionalProperties", "unevaluatedProperties":
		return part.Errors["schema"] != nil
	}
	return false
}

func childOf(value any, key string) (child any, found bool) {
	switch value := value.(type) {
	case map[string]any:
		child, found = value[key]
	case []any:
		if i, err := strconv.Atoi(key); err == nil && i < len(value) {
			child, found = value[i], true
		}
	}
	return child, found
}

// compareKeys orders the parts of paths, those that are numbers as such.
func compareKeys(a, b string) int {
	if len(a) != len(b) && isIndex(a) && isIndex(b) {
		return len(a) - len(b)
	}
	return strings.Compare(a, b)
}

func isIndex(key string) bool {
	return key != "" && strings.Trim(key, "0123456789") == "" && (key[0] != '0' || key == "0")
}

// maxSteps is how often the parts of a schema are applied to the values of an
// output. References that branch can multiply a few parts beyond any number.
const maxSteps = 250_000

// A validator is a compiled schema that gives up in time. Any number of
// goroutines may use it, one after the other.
type validator struct {
	schema *jsonschema.Schema
	mu     sync.Mutex
	left   int // steps of the validation that is under way
}

// errSteps says that a schema is too much work. The library can only be stopped
// by a panic, which validate ends.
var errSteps = fmt.Errorf("checking it takes more than %d steps: the references of the schema branch too often",
	maxSteps)

// compile compiles a JSON Schema, of draft 2020-12 unless it says another. Nothing
// that it refers to is loaded.
func compile(document any) (*validator, error) {
	text, err := json.Marshal(document)
	if err != nil {
		return nil, err // what was decoded can be encoded
	}
	v := &validator{}
	c := jsonschema.NewCompiler()
	clear(c.Loaders)
	if v.schema, err = c.Compile(text); err != nil {
		return nil, errors.New(strings.Join(strings.Fields(err.Error()), " "))
	}
	if refs := v.schema.UnresolvedReferenceURIs(); len(refs) > 0 {
		return nil, fmt.Errorf("%q is not in the schema, and nothing is loaded", slices.Min(refs))
	}
	c.SetAssertFormat(slices.Contains([]jsonschema.Dialect{jsonschema.Draft4, jsonschema.Draft6, jsonschema.Draft7},
		v.schema.Dialect()))
	eachSchema(reflect.ValueOf(v.schema), map[*jsonschema.Schema]bool{}, func(s *jsonschema.Schema) {
		for _, name := range s.Type {
			if !slices.Contains(strings.Split(jsonTypes, ", "), name) {
				err = fmt.Errorf("unknown type %q: one of %s", name, jsonTypes)
			}
		}
		v.bound(c, s)
	})
	return v, err
}

// bound makes each use of a part of a schema count. The library calls back for
// formats alone, so each part has one.
func (v *validator) bound(c *jsonschema.Compiler, s *jsonschema.Schema) {
	s.ContentEncoding, s.ContentMediaType, s.ContentSchema = nil, nil, nil // they describe
	fixed, patterns := weigh(s)
	name, fits := fmt.Sprintf("part %p", s), func(any) bool { return true }
	if fixed == 1 && s.Format != nil && jsonschema.Formats[*s.Format] != nil {
		name, fits = *s.Format, jsonschema.Formats[*s.Format]
	}
	c.RegisterFormat(name, func(value any) bool {
		v.left -= fixed
		switch value := value.(type) {
		case string:
			v.left -= len(value) / 256
		case map[string]any:
			v.left -= len(value) * patterns / 16
			if patterns > 0 {
				v.left -= len(value) * len(value) / 2000
			}
		}
		if v.left < 0 {
			panic(errSteps)
		}
		return fits(value)
	})
	s.Format = &name
}

// weigh returns how many steps a use of a part of a schema is worth: what the
// library writes into messages, and what it compares, takes time as well.
func weigh(s *jsonschema.Schema) (fixed, patterns int) {
	fixed = 1 + len(fmt.Sprint(s.Enum, s.Required))/256 + 2*len(s.Enum)
	if s.Properties != nil {
		fixed += len(*s.Properties) * (64 + len(s.Required)) / 1000
	}
	if s.PatternProperties != nil {
		patterns = len(*s.PatternProperties)
	}
	return fixed, patterns
}

// eachSchema visits all parts of a schema, and what they refer to, once.
func eachSchema(v reflect.Value, seen map[*jsonschema.Schema]bool, visit func(*jsonschema.Schema)) {
	switch v.Kind() {
	case reflect.Map:
		for _, key := range v.MapKeys() {
			eachSchema(v.MapIndex(key), seen, visit)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachSchema(v.Index(i), seen, visit)
		}
	case reflect.Pointer:
		s, ok := v.Interface().(*jsonschema.Schema)
		switch {
		case v.IsNil() || seen[s]:
		case !ok:
			eachSchema(v.Elem(), seen, visit)
		default:
			seen[s] = true
			visit(s)
			for i := range v.Elem().NumField() {
				if field := v.Elem().Field(i); field.CanInterface() {
					eachSchema(field, seen, visit)
				}
			}
		}
	}
}

const jsonTypes = "array, boolean, integer, null, number, object, string"

// validate returns what it found at a value, or errSteps.
func (v *validator) validate(value any) (found *jsonschema.EvaluationResult, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.left = maxSteps
	defer func() {
		thrown := recover()
		if thrown == errSteps {
			err = errSteps
		} else if thrown != nil {
			panic(thrown)
		}
	}()
	return v.schema.Validate(value), nil
}

package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/kaptinlin/jsonschema"
)

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
	size, properties := 0, 0
	for _, value := range s.Enum {
		size += len(fmt.Sprint(value))
	}
	for _, key := range s.Required {
		size += len(key)
	}
	if s.Properties != nil {
		properties = len(*s.Properties)
	}
	if s.PatternProperties != nil {
		patterns = len(*s.PatternProperties)
	}
	return 1 + size/256 + 2*len(s.Enum) + properties/16 + properties*len(s.Required)/1000, patterns
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
